//! Runs one call: finds its route, calls the handler and commits. It contains no `await`.

use crate::access::client::{self, response_filter};
use crate::access::failed_attempts::WRONG_CODES;
use crate::access::idempotency::{self, IdempotentCall, ResponseLookup};
use crate::access::keys::WebhookSecretUpdate;
use crate::commit;
use crate::domain::bundle::build_job::BundleDemand;
use crate::domain::bundle::{box_keys, build_job, kv_copies};
use crate::domain::webhooks::subscriptions;
use crate::http::caller::{Caller, CredentialClass, FORWARD_TO_PROJECT};
use crate::http::name_limits;
use crate::http::public::answer_public;
use crate::http::query::Query;
use crate::http::reply::{self, CallError, error_reply, unauthorized};
use crate::http::request::{Reply, Request};
use crate::http::request_checks::{self, header};
use crate::http::route::{Call, Response, ResponseBody, Route};
use crate::job_runner;
use crate::jobs::queue_metrics::{self, QueueMetrics};
use crate::jobs::{outbox, queue, replay_setting, retention};
use crate::routes::TABLE;
use crate::store::Store;
use crate::store::facts::Catalogue;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::id::{Ids, first_number_at};
use std::cell::Cell;
use std::rc::Rc;

/// Answers an admitted request. All of its writes are committed, or none; after a `Fault` the host must undo the transaction.
pub fn serve(request: &Request, store: &mut Store<'_>, context: &Context) -> Result<Reply, Fault> {
    begin(store, context);
    insert_initial_documents(store, context)?;
    if request.path == subscriptions::WEBHOOK_TOKEN_PATH {
        let WebhookSecretUpdate { project, signing, settings } = serde_json::from_slice(&request.body)
            .map_err(|error| Fault(format!("a secret cannot be read: {error}")))?;
        if let Some(settings) = settings {
            replay_setting::adopt(store, &project, &settings, context.now.millis())?;
        }
        subscriptions::store_secret(store, &project, &signing, context.now.millis());
        commit::run_internal(store, context)?;
        return Ok(reply::empty_reply(204));
    }
    if request.path == build_job::DEMAND_PATH {
        let unread = |error| Fault(format!("a demand to build the bundle cannot be read: {error}"));
        let caller: Caller =
            serde_json::from_str(header(request, "scrip-caller").unwrap_or_default()).map_err(unread)?;
        let demand: BundleDemand = serde_json::from_slice(&request.body).map_err(unread)?;
        replay_setting::adopt(store, &caller.project, &caller.settings, context.now.millis())?;
        build_job::demand(store, context, &caller, demand)?;
        commit::run_internal(store, context)?;
        return Ok(reply::empty_reply(204));
    }
    // The notice of a changed setting may be lost, and a setup sends none: each call brings it, and is also one that is refused.
    let caller = find_caller(request);
    if let Some(caller) = &caller {
        replay_setting::adopt(store, &caller.project, &caller.settings, context.now.millis())?;
        if store.is_dirty() {
            commit::run_internal(store, context)?;
        }
    }
    let [work_at, deliveries_at] = store.alarms();
    let reply = serve_caller(request, caller.as_deref(), store, context)?;
    // A refused call drops what it queued, also its alarms; those of what was written before it stay.
    work_at.into_iter().for_each(|at_ms| store.schedule_jobs_at(at_ms));
    deliveries_at.into_iter().for_each(|at_ms| store.schedule_deliveries_at(at_ms));
    Ok(reply)
}

/// Sets the number of the first record that this call may store.
fn begin(store: &mut Store<'_>, context: &Context) {
    store.first_number = context.first_number.unwrap_or_else(|| first_number_at(context.now.millis()));
}

/// Returns the queue metrics of a project; the call may be the first one of the project.
pub fn queue_metrics(store: &mut Store<'_>, context: &Context) -> Result<QueueMetrics, Fault> {
    insert_initial_documents(store, context)?;
    queue_metrics::find_queue_metrics(store, context.now.millis())
}

/// Writes the initial documents of a new project: stacking rules with an id, and a key for tracking ids.
fn insert_initial_documents(store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    if !store.take_new() {
        return Ok(());
    }
    crate::domain::stacking_rules::insert_defaults(store, context, &mut Ids::new(context));
    crate::store::access::credentials::insert_tracking_key(store, context.now.millis());
    commit::run_internal(store, context)
}

/// Answers a request without project set-up: the directory calls it directly.
pub fn serve_call(request: &Request, store: &mut Store<'_>, context: &Context) -> Result<Reply, Fault> {
    begin(store, context);
    serve_caller(request, find_caller(request).as_deref(), store, context)
}

fn serve_caller(
    request: &Request,
    caller: Option<&Caller>,
    store: &mut Store<'_>,
    context: &Context,
) -> Result<Reply, Fault> {
    #[cfg(feature = "test-hooks")]
    {
        store.injected_fault =
            header(request, "scrip-test-fault").and_then(crate::store::fault_injection::InjectedFault::parse);
    }
    // A request has one id: the engine writes it into its answers too.
    let request_id = context.request_id();
    let request_id = request_id.as_str();
    if let Some(caller) = caller {
        store.fold_code_keys(caller.settings.case_sensitive_codes)?;
    }
    let failed_attempts = Cell::new(0);
    let mut reply = match answer(request, caller, store, context, request_id, &failed_attempts) {
        Ok(reply) => reply,
        Err(CallError::Refused(body)) => {
            store.discard();
            error_reply(&body, request_id)
        }
        Err(CallError::Fault(fault)) => {
            // No write has run yet: a statement that is too long, and a request that reads too much, are
            // refused before the commit.
            let spent = store.exceeds_read_limit().then(reply::reads_too_much);
            let Some(body) = spent.or_else(|| reply::check_row(store.longest_read_parameter(), "ask for names").err())
            else {
                return Err(fault);
            };
            store.discard();
            store.undo_at_end();
            error_reply(&body, request_id)
        }
    };
    reply::set_header(&mut reply, "x-request-id", request_id);
    if failed_attempts.get() > 0 {
        // For the entry only, also when the call was refused or failed for another reason.
        reply::set_header(&mut reply, WRONG_CODES, &failed_attempts.get().to_string());
    }
    if let Some(origin) = caller.and_then(|caller| caller.origin.as_deref()) {
        reply::allow_origin(&mut reply, origin);
    }
    Ok(reply)
}

fn find_caller(request: &Request) -> Option<Rc<Caller>> {
    header(request, "scrip-caller").and_then(Caller::of_header)
}

fn answer(
    request: &Request,
    caller: Option<&Caller>,
    store: &mut Store<'_>,
    context: &Context,
    request_id: &str,
    failed_attempts: &Cell<usize>,
) -> Result<Reply, CallError> {
    request_checks::check_head(request)?;
    let matched = TABLE.find(&request.method, &request.path)?;
    let route = matched.route;
    let Some(caller) = caller.filter(|_| !route.classes.is_empty()) else {
        return answer_public(route, request_id).ok_or_else(|| unauthorized().into());
    };
    if request.body.len() > reply::BODY_BYTES_MAX {
        return Ok(reply::too_large(request_id));
    }
    let query = Query::read(&request.query);
    let is_file = route.answers.fields().is_empty() || caller.class == CredentialClass::Link;
    let file = route.file.filter(|_| is_file);
    request_checks::check_media(request, route.media_kind(), file.map(|(media, _)| media))?;
    name_limits::check_names(request, &matched, &query)?;
    if !route.upload {
        request_checks::check_size(request, route.many)?;
    }
    // The customer is verified before a stored response is repeated: only the customer who got it may get it again.
    let client = client::client_context(route, caller, request, store, context.now.millis())?;
    let proven = client.as_ref().and_then(|client| client.proven.as_deref().map(str::to_owned));
    let idempotent_call = IdempotentCall { caller, route, proven: proven.as_deref(), now_ms: context.now.millis() };
    let lookup = match idempotency::find_response(request, &idempotent_call, store)? {
        ResponseLookup::Answered(reply) => return Ok(reply),
        lookup => lookup,
    };
    let keeps_input = route.keeps_input && replay_setting::find_days(store, &caller.project, &caller.settings)? > 0;
    // A repeated response is returned whole; from here on the reads of a request are limited.
    store.bound();
    let mut call = Call {
        route,
        request,
        caller,
        query,
        store,
        context,
        ids: Ids::independent(context),
        request_id,
        params: matched.params,
        client,
        failed_attempts,
        catalogue: Catalogue::default(),
        find_route: Some(find_route),
        observer: None,
        #[cfg(feature = "test-hooks")]
        run_due: Some(job_runner::run_due),
    };
    if keeps_input {
        call.store.record_reads();
    }
    let mut answer = (route.run)(&mut call)?;
    if let Some(client) = &call.client {
        response_filter::apply(route, client, &mut answer)?;
    }
    reply::check_writes(call.store)?;
    let reply = to_reply(answer);
    reply::check_answer(&reply)?;
    // A response of another project's object is stored there.
    if !reply.headers.iter().any(|(name, _)| name == FORWARD_TO_PROJECT) {
        idempotency::store_response(lookup, &reply, &idempotent_call, call.store)?;
    }
    commit::run(&mut call)?;
    Ok(reply)
}

fn find_route(method: &str, path: &str) -> Option<(&'static Route, Vec<(&'static str, String)>)> {
    TABLE.find(method, path).ok().map(|matched| (matched.route, matched.params))
}

fn to_reply(answer: Response) -> Reply {
    let mut reply = match answer.body {
        ResponseBody::Value(body) => reply::json_reply(answer.status, &body),
        ResponseBody::Written(body) if body.is_empty() => reply::empty_reply(answer.status),
        ResponseBody::Written(body) => reply::bytes_reply(answer.status, body),
    };
    for (name, value) in answer.headers {
        reply::set_header(&mut reply, name, &value);
    }
    reply
}

/// Requests the alarms of all queues when the object has just started: an earlier alarm may have been set by another clock.
pub fn schedule_alarms(store: &mut Store<'_>, now_ms: i64) -> Result<(), Fault> {
    retention::resume(store, now_ms)?;
    queue::schedule_next(store, now_ms)?;
    if let Some(at_ms) = kv_copies::find_next_time(store, now_ms)? {
        store.schedule_jobs_at(at_ms);
    }
    if box_keys::is_waiting(store)? {
        store.schedule_jobs_at(now_ms);
    }
    outbox::schedule_alarm(store, now_ms)
}

/// Resets times that a clock set back since had delayed.
pub fn catch_up(store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    queue::catch_up(store, context.now.millis())
}

/// Runs one slice of a due job, of at most `rows` rows; [`Store::alarm`] returns when the next is due.
pub fn alarm(store: &mut Store<'_>, context: &Context, rows: u64) -> Result<(), Fault> {
    begin(store, context);
    job_runner::run_due(store, context, rows)
}

/// Records outcomes of webhook deliveries, and returns the next deliveries.
pub fn deliveries(
    store: &mut Store<'_>,
    context: &Context,
    report: &outbox::DispatchReport,
) -> Result<outbox::DispatchBatch, Fault> {
    outbox::record_outcomes(store, context, &report.outcomes)?;
    commit::run_internal(store, context)?;
    outbox::next_batch(store, context, report)
}

/// Records what the last step of copying the bundle to KV has done, and returns the next one. When there is none, it schedules the alarm of
/// the next pass. `edge_secret` is the secret of the Worker for the part of the entry.
pub fn copy_bundle(
    store: &mut Store<'_>,
    context: &Context,
    report: &kv_copies::CopyReport,
    edge_secret: Option<&str>,
) -> Result<Option<kv_copies::CopyStep>, Fault> {
    let now_ms = context.now.millis();
    kv_copies::record(store, report, now_ms)?;
    commit::settle_row(store)?;
    let step = kv_copies::next(store, edge_secret)?;
    commit::run_internal(store, context)?;
    if step.is_none()
        && let Some(at_ms) = kv_copies::find_next_time(store, now_ms)?
    {
        store.schedule_jobs_at(at_ms);
    }
    Ok(step)
}

/// Stores the keys of sealed boxes that the last step has derived, and returns the next step; `None` when there is none.
pub fn derive_box_keys(
    store: &mut Store<'_>,
    context: &Context,
    report: &box_keys::DerivationReport,
) -> Result<Option<box_keys::DerivationStep>, Fault> {
    box_keys::record(store, report)?;
    commit::run_internal(store, context)?;
    build_job::wake_if_marked(store)?;
    box_keys::next(store)
}

/// Records, in a transaction of its own, that [`alarm`] ended with a fault and was undone; the job is retried later. Returns its kind.
pub fn record_alarm_failure(store: &mut Store<'_>, context: &Context, reason: &str) -> Result<Option<String>, Fault> {
    job_runner::record_failure(store, context, reason)
}
