//! Decides which route answers a request, and turns what it says into a reply.
//! It must not know the runtime that called it, and it awaits nothing.

use crate::access::guesses::GUESSES;
use crate::access::idempotency::{self, Asked, Memory};
use crate::access::keys::Signed;
use crate::access::page::{self, shown};
use crate::http::caller::{Caller, Class, ONWARD};
use crate::http::intake::{self, header};
use crate::http::names;
use crate::http::public::answer_public;
use crate::http::query::Query;
use crate::http::reply::{self, CallError, error_reply, unauthorized};
use crate::http::request::{Reply, Request};
use crate::http::route::{Answer, Body, Call};
use crate::shop::webhooks;
use crate::store::Store;
use crate::store::facts::Catalogue;
use crate::store::sql::Fault;
use crate::table::TABLE;
use crate::work::figures::{self, Waiting};
use crate::work::{outbox, sweep};
use scrip::Context;
use scrip::id::Ids;
use std::cell::Cell;

/// Answers a request that has been admitted. Everything that it writes is written at its end, or not at all; a `Fault` means that
/// the host must undo the transaction.
pub fn serve(request: &Request, store: &mut Store<'_>, context: &Context) -> Result<Reply, Fault> {
    begin(store, context)?;
    if request.path == webhooks::SIGNED {
        let Signed { project, signing } =
            serde_json::from_slice(&request.body).map_err(|error| Fault(format!("a secret does not read: {error}")))?;
        webhooks::sign_with(store, &project, &signing, context.now.millis());
        store.commit()?;
        return Ok(reply::empty_reply(204));
    }
    serve_call(request, store, context)
}

/// How much waits in a project; whoever asks may be the first who does.
pub fn waiting(store: &mut Store<'_>, context: &Context) -> Result<Waiting, Fault> {
    begin(store, context)?;
    figures::waiting(store, context.now.millis())
}

/// Writes what a project begins with, where it is new: stacking rules that have an id, and a key for tracking ids.
fn begin(store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    if !store.take_new() {
        return Ok(());
    }
    crate::shop::stacking_rules::begin(store, context, &mut Ids::new(context));
    crate::store::tracking::Tracker::begin(store, context.now.millis());
    store.commit()
}

/// The same in an object that is no project's: the directory.
pub fn serve_call(request: &Request, store: &mut Store<'_>, context: &Context) -> Result<Reply, Fault> {
    #[cfg(feature = "rehearsal")]
    {
        store.rehearsed = header(request, "scrip-rehearsal-fault").and_then(crate::store::rehearsal::Rehearsed::named);
    }
    // One event has one name: the engine writes it into its answers as well.
    let request_id = context.request_id();
    let request_id = request_id.as_str();
    let caller = header(request, "scrip-caller").and_then(|text| serde_json::from_str::<Caller>(text).ok());
    let guesses = Cell::new(0);
    let mut reply = match answer(request, caller.as_ref(), store, context, (request_id, &guesses)) {
        Ok(reply) => reply,
        Err(CallError::Refused(body)) => {
            store.discard();
            error_reply(&body, request_id)
        }
        Err(CallError::Fault(fault)) => {
            // Nothing has been written yet: a statement that is too long is refused before the commit, and so is a request that
            // reads too much.
            let spent = store.is_spent().then(reply::reads_too_much);
            let Some(body) = spent.or_else(|| reply::check_row(store.longest_asked(), "ask for names").err()) else {
                return Err(fault);
            };
            store.discard();
            error_reply(&body, request_id)
        }
    };
    reply::set_header(&mut reply, "x-request-id", request_id);
    if guesses.get() > 0 {
        // For the entry alone, also of what was refused or failed for another reason in the end.
        reply::set_header(&mut reply, GUESSES, &guesses.get().to_string());
    }
    if let Some(origin) = caller.as_ref().and_then(|caller| caller.origin.as_deref()) {
        reply::allow_origin(&mut reply, origin);
    }
    Ok(reply)
}

fn answer(
    request: &Request,
    caller: Option<&Caller>,
    store: &mut Store<'_>,
    context: &Context,
    (request_id, guesses): (&str, &Cell<usize>),
) -> Result<Reply, CallError> {
    intake::check_head(request)?;
    let matched = TABLE.find(&request.method, &request.path)?;
    let route = matched.route;
    let Some(caller) = caller.filter(|_| !route.classes.is_empty()) else {
        return answer_public(route, request_id).ok_or_else(|| unauthorized().into());
    };
    if request.body.len() > reply::BODY_BYTES_MAX {
        return Ok(reply::too_large(request_id));
    }
    let query = Query::read(&request.query);
    let file = route.file.filter(|_| matches!(caller.class, Class::Link | Class::Image));
    intake::check_media(request, route.sent(), file.map(|(media, _)| media))?;
    names::check_names(request, &matched, &query)?;
    if !route.upload {
        intake::check_size(request, route.many)?;
    }
    // Who asks is settled before anything is given again: a kept answer is told to the customer alone to whom it was told.
    let page = page::asking(route, caller, request, store, context.now.millis())?;
    let proven = page.as_ref().and_then(|page| page.proven.as_deref().map(str::to_owned));
    let asked = Asked { caller, route, proven: proven.as_deref(), now_ms: context.now.millis() };
    let memory = match idempotency::recall(request, &asked, store)? {
        Memory::Answered(reply) => return Ok(reply),
        memory => memory,
    };
    // What was answered before is given again whole; from here on a request reads no more than it may.
    store.bound();
    let mut call = Call {
        route,
        request,
        caller,
        query,
        store,
        context,
        ids: Ids::beside(context),
        request_id,
        params: matched.params,
        page,
        guesses,
        catalogue: Catalogue::default(),
        #[cfg(feature = "rehearsal")]
        run_due: TABLE.run_due,
    };
    let mut answer = (route.run)(&mut call)?;
    if let Some(page) = &call.page {
        shown::keep(route, page, &mut answer)?;
    }
    reply::check_writes(call.store, 0)?;
    let reply = written(answer);
    reply::check_answer(&reply)?;
    // What another project is to answer is remembered there.
    if !reply.headers.iter().any(|(name, _)| name == ONWARD) {
        idempotency::remember(memory, &reply, &asked, call.store)?;
    }
    sweep::arm(call.store, context.now.millis())?;
    (TABLE.commit)(&mut call)?;
    Ok(reply)
}

fn written(answer: Answer) -> Reply {
    let mut reply = match answer.body {
        Body::Value(body) => reply::json_reply(answer.status, &body),
        Body::Written(body) if body.is_empty() => reply::empty_reply(answer.status),
        Body::Written(body) => reply::bytes_reply(answer.status, body),
    };
    for (name, value) in answer.headers {
        reply::set_header(&mut reply, name, &value);
    }
    reply
}

/// Runs one piece of the work that is due, of `rows` rows at most, and says through [`Store::alarm`] when the next is.
pub fn alarm(store: &mut Store<'_>, context: &Context, rows: u64) -> Result<(), Fault> {
    (TABLE.run_due)(store, context, rows)
}

/// Settles what came of letters to webhooks, and gives what is to be sent next.
pub fn letters(store: &mut Store<'_>, context: &Context, carried: &outbox::Carried) -> Result<outbox::Round, Fault> {
    let round = outbox::round(store, context, carried)?;
    sweep::arm(store, context.now.millis())?;
    store.commit()?;
    Ok(round)
}

/// Records, in a transaction of its own, that [`alarm`] ended with a fault and was undone; the work is tried again later.
pub fn alarm_failed(store: &mut Store<'_>, context: &Context, what: &str) -> Result<(), Fault> {
    crate::work::jobs::note_failure(store, context, what)
}
