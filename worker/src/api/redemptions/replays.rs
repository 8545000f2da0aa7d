//! Replay of a redemption: the kept request is answered again with the kept facts, or decided under today's rules. Nothing is written.

use crate::access::client::response_filter;
use crate::access::roles::REPLAY;
use crate::documents::common_fields::KEY;
use crate::domain::decisions::facts;
use crate::domain::decisions::outcome::{OutcomeDifferences, outcome};
use crate::domain::decisions::redemption_input::RedemptionInput;
use crate::domain::decisions::todays_rules::TodaysRules;
use crate::http::caller::Caller;
use crate::http::decision_observer::{DecidedRedemption, DecisionObserver};
use crate::http::query::Query;
use crate::http::reply::{self, CallError, ErrorBody, error, error_reply, not_found};
use crate::http::request::Request;
use crate::http::route::{Call, FindRoute, HandlerResult, Response, ResponseBody, Route, post};
use crate::http::shape::Nulls;
use crate::jobs::replay_setting;
use crate::store::Store;
use crate::store::documents::redemptions::{self, FoundInput};
use crate::store::facts::Catalogue;
use crate::store::kept_reads::KeptReads;
use crate::store::records::RedemptionRecord;
use crate::store::redemption_inputs::{ROW_BYTES_MAX, retained_ms};
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::Context;
use scrip::bundle::{DECIDES, WRITES};
use scrip::decide;
use scrip::id::Ids;
use scrip::model::client::ClientContext;
use scrip::model::request::Redeemables;
use scrip::shape;
use scrip::shape::{COUNT, FieldType, INT_MAX, may, must, object};
use serde::Serialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use std::cell::{Cell, RefCell};

/// Rules that a replay decides by.
const RULES: &[&str] = &["kept", "today"];

const VERSIONS: FieldType = shape!(
    "EngineVersions",
    "Versions of the engine: decisions of one version agree, and answers of one version have equal bytes.",
    &[
        must("decides", FieldType::Int(0, INT_MAX)).description("Version of the decisions."),
        must("writes", FieldType::Int(0, INT_MAX)).description("Version of the bytes of answers."),
    ]
);

const DIFFERENCE: FieldType = shape!(
    "OutcomeDifference",
    "Difference of two outcomes of a redemption. A value that one of them does not have is absent.",
    &[
        must("path", FieldType::Text).description(
            "JSON pointer (RFC 6901) into the outcome: `valid`, `result`, `failure_code`, and `redeemables`, `inapplicable_redeemables`, `skipped_redeemables` and `order` as a validation returns them."
        ),
        may("kept", FieldType::Any).or_null().description("Value under the rules of the redemption."),
        may("today", FieldType::Any).or_null().description("Value under the rules of today."),
    ]
);

/// The replay of a redemption.
const REDEMPTION_REPLAY: FieldType = shape!(
    "RedemptionReplay",
    "Replay of a redemption: the answer that the kept data gives again, and the differences under the requested rules.",
    &[
        must("redemption_id", KEY).description("ID of the redemption, as requested."),
        must("rules", FieldType::OneOf(RULES)).description("Rules that the redemption was compared with."),
        must("date", FieldType::DateTime).description("Moment of the redemption, at which the replay decides."),
        must("engine", VERSIONS).description("Versions of the engine that decided the redemption."),
        must("current_engine", VERSIONS).description("Versions of the engine that decides the replay."),
        must("is_same", FieldType::Bool).description(
            "`true` if `answer` is the answer of the redemption, byte for byte. Can be `false` only when the service has changed since."
        ),
        must("status", FieldType::Int(100, 599)).description("HTTP status of the answer."),
        must("answer", FieldType::Map).description(
            "Answer of the redemption, or the error of a failed one, in the bytes in which the caller got it."
        ),
        must("differences", FieldType::List(&DIFFERENCE, 0, 200)).description(
            "Differences of the outcome under the rules of today, at most 200. Empty with `rules` `kept`."
        ),
        must("difference_count", COUNT).description("Number of all differences."),
        object(&["redemption_replay"]),
    ]
);

/// The routes of the area.
pub const ROUTES: &[Route] = &[post(REPLAY, "Replay a redemption", replay)
    .describe(
        "replayRedemption",
        "Decides a redemption again, from the request, instant, seed and facts that were kept with it, and returns the same answer. With `rules` `today`, the differences under the rules of today as well: counts, customer and order stay as they were. Nothing is written. An unknown ID is refused with `not_found`; `replay_not_kept` means that nothing is kept of the redemption, `replay_outdated` that a later version of the service reads other data.",
    )
    .returns("The answer of the redemption, and the differences under the requested rules.")
    .scope("redemptions")
    .body(&[may("rules", FieldType::OneOf(RULES)).description(
        "Rules to decide by: `kept` for those of the redemption, `today` to compare with the rules that are stored now. Default `kept`.",
    )])
    .answers(200, REDEMPTION_REPLAY)];

/// Body of the answer. Its member `answer` has the bytes of the redemption's answer.
#[derive(Serialize)]
struct ReplayAnswer<'a> {
    redemption_id: &'a str,
    rules: &'a str,
    date: String,
    engine: EngineVersions,
    current_engine: EngineVersions,
    is_same: bool,
    status: u16,
    answer: Box<RawValue>,
    differences: &'a [Json],
    difference_count: usize,
    object: &'static str,
}

/// Versions of the engine.
#[derive(Serialize)]
struct EngineVersions {
    decides: u32,
    writes: u32,
}

fn replay(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let rules = body.get("rules").and_then(Json::as_str).unwrap_or("kept");
    let id = call.param("redemptionId").to_owned();
    let input = load(call, &id)?;
    let replay = Replay::new(&input, call.find_route, call.caller)?;
    let driver = call.store.driver_of(input.reads()?);
    let (answer, differences) = match rules {
        "today" => replay.compare(call.store, &driver, call.caller)?,
        _ => (replay.repeat(&driver, None)?, OutcomeDifferences::default()),
    };
    let RepeatedAnswer { status, body, is_same } = answer;
    let [decides, writes] = input.engine;
    let body = ReplayAnswer {
        redemption_id: &id,
        rules,
        date: timestamp::text(replay.context.now.millis()),
        engine: EngineVersions { decides, writes },
        current_engine: EngineVersions { decides: DECIDES, writes: WRITES },
        is_same,
        status,
        answer: raw(body)?,
        differences: &differences.listed,
        difference_count: differences.count,
        object: "redemption_replay",
    };
    Ok(Response::bytes(serde_json::to_vec(&body).map_err(|error| Fault(error.to_string()))?))
}

fn raw(body: Vec<u8>) -> Result<Box<RawValue>, Fault> {
    let text = String::from_utf8(body).map_err(|error| Fault(error.to_string()))?;
    RawValue::from_string(text).map_err(|error| Fault(format!("a repeated answer is no JSON: {error}")))
}

/// Loads the input of a redemption, or of the parent that it shares with others.
fn load(call: &Call<'_, '_>, id: &str) -> Result<RedemptionInput, CallError> {
    let Some(document) = call.store.document("redemption", id)? else { return Err(not_found("redemption", id).into()) };
    let record = RedemptionRecord::of(&document.body);
    if record.is_rollback() {
        return Err(not_kept(format!("`{id}` is a rollback; a replay needs a redemption")).into());
    }
    let decision = record.parent().unwrap_or(id);
    let days = replay_setting::find_days(call.store, &call.caller.project, &call.caller.settings)?;
    if days == 0 {
        return Err(not_kept("the project keeps no data of redemptions: `replay_days` is `0`".to_owned()).into());
    }
    let Some(FoundInput { created_at, bytes, body }) = redemptions::find_input(call.store, decision)? else {
        return Err(not_kept(format!("no data of the redemption `{decision}` is kept")).into());
    };
    if timestamp::elapsed(created_at, call.now_ms()) > retained_ms(days) {
        return Err(not_kept(format!("the redemption `{decision}` is older than `{days}` days (`replay_days`)")).into());
    }
    if body.is_empty() {
        let most = format!("its data needs `{bytes}` bytes, and at most {ROW_BYTES_MAX} are kept");
        return Err(not_kept(format!("the redemption `{decision}` is too large: {most}")).into());
    }
    Ok(RedemptionInput::read(&body)?)
}

fn not_kept(details: String) -> ErrorBody {
    error(409, "replay_not_kept", "Redemption cannot be replayed", details)
}

/// Refusal of an input that this version of the service cannot repeat.
fn outdated() -> ErrorBody {
    let details = "a later version of the service reads other data than the redemption read";
    error(409, "replay_outdated", "Redemption cannot be replayed", details)
}

/// Answer of a repeated redemption.
struct RepeatedAnswer {
    status: u16,
    body: Vec<u8>,
    /// True if it is that of the redemption, byte for byte.
    is_same: bool,
}

/// Redemption that is repeated.
struct Replay<'r> {
    input: &'r RedemptionInput,
    find_route: Option<FindRoute>,
    route: &'static Route,
    params: Vec<(&'static str, String)>,
    request: Request,
    caller: Caller,
    client: Option<ClientContext>,
    context: Context,
}

impl<'r> Replay<'r> {
    fn new(input: &'r RedemptionInput, find_route: Option<FindRoute>, now: &Caller) -> Result<Replay<'r>, CallError> {
        let request = input.request();
        let found = find_route.and_then(|find| find(&request.method, &request.path));
        // A route may end with a later version.
        let (route, params) = found.ok_or_else(outdated)?;
        let caller = input.caller(now);
        let client = input.client(route, &caller)?;
        Ok(Replay { input, find_route, route, params, request, caller, client, context: input.context()? })
    }

    /// Runs a function with the call of the redemption over a store, in the name of a caller.
    fn with_call<'c, 's, T>(
        &'c self,
        store: &'c mut Store<'s>,
        caller: &'c Caller,
        observer: Option<DecisionObserver<'c>>,
        act: impl FnOnce(&mut Call<'_, 's>) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let request_id = self.context.request_id();
        let failed_attempts = Cell::new(0);
        let mut call = Call {
            route: self.route,
            request: &self.request,
            caller,
            query: Query::read(&self.request.query),
            store,
            context: &self.context,
            ids: Ids::independent(&self.context),
            request_id: request_id.as_str(),
            params: self.params.clone(),
            client: self.client.clone(),
            failed_attempts: &failed_attempts,
            catalogue: Catalogue::default(),
            find_route: self.find_route,
            observer,
            #[cfg(feature = "test-hooks")]
            run_due: None,
        };
        act(&mut call)
    }

    /// Answers the request again from kept reads. The writes stay queued in a store that never runs them.
    fn repeat(
        &self,
        driver: &KeptReads<'_>,
        observer: Option<DecisionObserver<'_>>,
    ) -> Result<RepeatedAnswer, CallError> {
        let mut store = Store::new(driver);
        driver.take_missed();
        let answered = self.with_call(&mut store, &self.caller, observer, |call| (self.route.run)(call));
        let mut answer = match answered {
            Ok(answer) => answer,
            Err(_) if driver.take_missed() => return Err(outdated().into()),
            // Another version of the engine may refuse the whole request, of which nothing was kept then.
            Err(CallError::Refused(body)) => {
                let reply = error_reply(&body, "");
                return Ok(RepeatedAnswer { status: reply.status, body: reply.body, is_same: false });
            }
            Err(fault) => return Err(fault),
        };
        let is_same = self.input.is_answer(answer.status, &bytes_of(&answer.body));
        if let Some(client) = &self.client {
            response_filter::apply(self.route, client, &mut answer)?;
        }
        Ok(RepeatedAnswer { status: answer.status, body: bytes_of(&answer.body).into_owned(), is_same })
    }

    /// Answers the request again from kept reads, and decides it under the rules of today.
    fn compare(
        &self,
        store: &mut Store<'_>,
        driver: &KeptReads<'_>,
        now: &Caller,
    ) -> Result<(RepeatedAnswer, OutcomeDifferences), CallError> {
        self.with_call(store, now, None, |today_call| {
            let today = facts::facts(today_call)?;
            let mut kept_store = Store::new(driver);
            let compared = self.with_call(&mut kept_store, &self.caller, None, |kept_call| {
                let kept = facts::facts(kept_call)?;
                let (at, store) = (self.context.now, &*today_call.store);
                let rules = TodaysRules { kept: &kept, driver, today: &today, store, at, fault: RefCell::default() };
                let found: RefCell<Option<Result<OutcomeDifferences, Fault>>> = RefCell::default();
                let observe = |request: &Redeemables, decided: &DecidedRedemption<'_>| {
                    found.replace(Some(self.differences(&rules, request, decided)));
                };
                let answer = self.repeat(driver, Some(&observe))?;
                if let Some(fault) = rules.fault.take() {
                    return Err(fault.into());
                }
                let differences = found.take().transpose()?;
                Ok((answer, differences.ok_or_else(outdated)?))
            })?;
            today.end()?;
            Ok(compared)
        })
    }

    /// Compares a decision with that under the rules of today.
    fn differences(
        &self,
        rules: &TodaysRules<'_, '_>,
        request: &Redeemables,
        decided: &DecidedRedemption<'_>,
    ) -> Result<OutcomeDifferences, Fault> {
        let today = decide::redeem(rules, request, &self.context);
        Ok(OutcomeDifferences::of(&outcome(decided, &self.context)?, &outcome(&today, &self.context)?))
    }
}

/// Returns the bytes of a body as they are sent.
fn bytes_of(body: &ResponseBody) -> std::borrow::Cow<'_, [u8]> {
    match body {
        ResponseBody::Written(written) => written.as_slice().into(),
        ResponseBody::Value(value) => reply::json_reply(200, value).body.into(),
    }
}
