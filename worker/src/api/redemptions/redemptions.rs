//! Validations and redemptions, from servers and from clients: the engine decides the request, and its effects
//! are written.

use crate::access::client;
use crate::api::redemptions::{admission, failures, sessions};
use crate::documents::common_fields::{BEFORE_AFTER, KEY, LIMIT, PAGE_99};
use crate::documents::resource::{self, plain_key};
use crate::documents::shapes;
use crate::domain::caller;
use crate::domain::catalogue::order_overrides;
use crate::domain::customers::summary;
use crate::domain::decisions::{expanded, facts, order_returns, redemption_input};
use crate::domain::referrals;
use crate::domain::rewards::v1_fulfilment;
use crate::domain::rewards::v1_fulfilment::RequestFulfilments;
use crate::http::caller::CredentialClass;
use crate::http::list_options::{List, ListFilter};
use crate::http::reply::{CallError, duplicate};
use crate::http::route::{Call, ClientSwitch, HandlerResult, Resource, Response, Route, get, post};
use crate::http::shape::{FieldType, INT_MAX, may};
use crate::store::document::Document;
use crate::store::document_list::column::member;
use crate::store::document_list::index::{campaign_name_of_redemption, campaign_of_redemption};
use crate::store::document_list::voucher_columns::CODE;
use crate::store::facts::{DocumentsById, StoreFacts, VoucherDetails};
use crate::store::records::ObjectReference;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::decide::{self, Effects, Evaluation, SummaryDelta, ValidationDecision};
use scrip::json::Node;
use scrip::model::order::Order;
use scrip::model::redeemable::IncentiveObject;
use scrip::model::request::Redeemables;
use scrip::wire::decision::write_validation;
use scrip::wire::problem::VALUES_MAX;
use scrip::wire::redemptions::failure::write_failure;
use scrip::wire::redemptions::record::{PrintedAnswer, RecordForm, RecordedOrder};
use scrip::wire::redemptions::redemption::record;
use scrip::wire::request::{REDEEMABLES, read_redeemables_node};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// A redemption or a rollback.
pub const RECORD: FieldType = FieldType::Either(&[
    scrip::wire::redemptions::redemption::REDEMPTION,
    scrip::wire::redemptions::redemption::ROLLBACK,
]);

/// Reward of an exchange of points, for requests that name the card elsewhere.
pub const ASSIGNED_REWARD: FieldType = FieldType::Object(&[
    may("id", KEY).description("ID of the reward. With `assignment_id`, the assignment must be of this reward."),
    may("assignment_id", KEY).description("ID of the reward assignment, which can replace the `id` of the reward."),
    may("points", FieldType::Int(0, INT_MAX)).description(
        "Number of points to spend on a reward of type `COIN`. Absent means the highest number that order and card allow.",
    ),
]);

/// Shapes that legacy operations share with current ones.
pub use scrip::wire::order::ORDER;
pub use scrip::wire::request::{CREDITS as GIFT, OPTIONS, SESSION};

const ORDERS: &[&str] = &[
    "created_at",
    "-created_at",
    "id",
    "-id",
    "voucher_code",
    "-voucher_code",
    "tracking_id",
    "-tracking_id",
    "customer_id",
    "-customer_id",
];

/// Redemptions and rollbacks as a resource.
pub const REDEMPTION: Resource = Resource {
    object: "redemption",
    shape: RECORD.described(),
    parameter: "redemptionId",
    key: plain_key,
    to_json: resource::bodies_to_json,
    list: List {
        data_ref: "redemptions",
        page_max: 99,
        orders: &[
            ("created_at", "created_at"),
            ("id", "id"),
            ("voucher_code", member!("voucher.code")),
            ("tracking_id", member!("tracking_id")),
            ("customer_id", "holder"),
        ],
        filters: &[
            ListFilter::Is("result", member!("result")),
            ListFilter::Name("campaign", campaign_of_redemption!(), "campaign"),
            ListFilter::Name("customer", "holder", "customer"),
            ListFilter::Instant("created_at", "created_at"),
        ],
        conditions: &[
            ("voucher_code", CODE),
            ("related_object_id", member!("related_object_id")),
            ("related_object_parent_id", campaign_of_redemption!()),
            ("parent_redemption_id", member!("redemption")),
            ("failure_code", member!("failure_code")),
            ("result", member!("result")),
            ("object", member!("object")),
            ("customer_id", "holder"),
            ("campaign_name", campaign_name_of_redemption!()),
            ("user_login", member!("user.login")),
        ],
    },
};

/// Credentials of clients.
pub const CLIENT: &[CredentialClass] = &[CredentialClass::Client, CredentialClass::OAuth];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/validations", "Validate vouchers and promotions", validate)
        .describe(
            "validate",
            "Evaluates up to 30 redeemables on an order under the stacking rules and returns a verdict on each, without redeeming any. With a session of type `LOCK`, the quantities, credits and points are reserved until the session expires. Inapplicable redeemables are part of the answer, not an error. A redeemable that is named twice is refused with `duplicated_redeemables`, a malformed body with `invalid_payload`.",
        )
        .returns("The verdict on the request and on each redeemable, and the order with discounts applied if the request is valid.")
        .scope("validations")
        .body(REDEEMABLES.fields())
        .answers(200, scrip::wire::decision::VALIDATION),
    post("/client/v1/validations", "Validate vouchers and promotions from a client", validate)
        .describe(
            "clientValidate",
            "Evaluates up to 30 redeemables on an order under the stacking rules and returns a verdict on each, without redeeming any. With a session of type `LOCK`, the quantities, credits and points are reserved until the session expires. Inapplicable redeemables are part of the answer, not an error. Codes that the client may not use read as unknown codes. A customer other than that of the token is refused with `customer_mismatch`, too many open sessions with `too_many_sessions`.",
        )
        .returns("The verdict on the request and on each redeemable, reduced to fields that a client may see. The header `Scrip-Answered` is `edge` if it was decided by copies of the rules and `object` otherwise, `Scrip-Revision` identifies the rules, and `Scrip-Context` has the instant and the seed of the decision.")
        .for_classes(CLIENT)
        .names_codes()
        .scope("validations")
        .body(REDEEMABLES.fields())
        .answers(200, scrip::wire::decision::VALIDATION),
    get("/v1/redemptions", "List redemptions and rollbacks", resource::list)
        .describe(
            "listRedemptions",
            "Returns redemptions and rollbacks, failed ones included, the newest first by default. All conditions of the query must be met. An unknown order or filter and a page above 99 are refused with `invalid_query_params`.",
        )
        .returns("The redemptions and rollbacks of this page and the total.")
        .of(&REDEMPTION)
        .lists_resource(shapes::TOTAL)
        .scope("redemptions")
        .query(&[
            LIMIT,
            PAGE_99,
            may("order", FieldType::OneOf(ORDERS))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
            may("result", FieldType::Text)
                .description("Result, `SUCCESS` or `FAILURE`. Only records with this result are listed."),
            may("campaign", KEY).description("Name or ID of a campaign. Only records of this campaign are listed."),
            may("customer", KEY)
                .description("ID or `source_id` of a customer. Only records of this customer are listed."),
            may("created_at", BEFORE_AFTER).description("Bounds on the moment of the redemption, in UTC."),
            may("filters", FieldType::Map).description(
                "Conditions by field of the record, joined by `junction`. They apply in addition to the other parameters.",
            ),
        ]),
    post("/v1/redemptions", "Redeem vouchers and promotions", redeem)
        .describe(
            "redeem",
            "Applies up to 30 redeemables to an order and records one redemption for each. By default all of them succeed or none does, and the order is stored as `PAID`. Send an `Idempotency-Key` so that a retry is not counted twice. The webhook event `redemption.succeeded` or `redemption.failed` follows. An expired voucher is refused with `voucher_expired`, a used-up voucher with `quantity_exceeded`. A failed redemption is recorded.",
        )
        .returns("The redemptions, and the order with discounts applied.")
        .scope("redemptions")
        .keeps_input()
        .body(REDEEMABLES.fields())
        .answers(200, scrip::wire::redemptions::redemption::REDEMPTIONS),
    post("/client/v1/redemptions", "Redeem vouchers and promotions from a client", redeem)
        .describe(
            "clientRedeem",
            "Applies up to 30 redeemables to an order and records one redemption for each. By default all of them succeed or none does, and the order is stored as `PAID`. Send an `Idempotency-Key` so that a retry is not counted twice. The webhook event `redemption.succeeded` or `redemption.failed` follows. A closed switch is refused with `forbidden`, a code that the client may not use with `not_found`.",
        )
        .returns("The redemptions, and the order with discounts applied, reduced to fields that a client may see.")
        .for_classes(CLIENT)
        .names_codes()
        .scope("redemptions")
        .keeps_input()
        .allowed_by(ClientSwitch::Redeem)
        .body(REDEEMABLES.fields())
        .answers(200, scrip::wire::redemptions::redemption::REDEMPTIONS),
    get("/v1/redemptions/{redemptionId}", "Get a redemption or a rollback", resource::get)
        .describe(
            "getRedemption",
            "Returns one redemption or rollback as recorded. An unknown ID is refused with `not_found`.",
        )
        .returns("The redemption or the rollback.")
        .of(&REDEMPTION)
        .scope("redemptions"),
];

/// Reads the redeemables of a request body.
pub fn read(call: &Call<'_, '_>, body: &[u8]) -> Result<Redeemables, CallError> {
    // An absent body reads as an empty object, so that the error names its first missing member.
    let body = if body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { body };
    receive(call, &Node::read_within(body, VALUES_MAX)?)
}

/// Reads the redeemables of a request that was sent in another form.
pub fn read_fields(call: &Call<'_, '_>, body: &Map<String, Json>) -> Result<Redeemables, CallError> {
    receive(call, &Node::of(body, VALUES_MAX)?)
}

fn receive(call: &Call<'_, '_>, body: &Node<'_>) -> Result<Redeemables, CallError> {
    client::check_body(call, body)?;
    let mut request = read_redeemables_node(body)?;
    decide::receive(&mut request, caller::channel(call))?;
    Ok(request)
}

/// Decides a validation and queues the holds of its lock; `write` formats the decision.
pub fn check<T>(
    call: &mut Call<'_, '_>,
    request: &Redeemables,
    write: impl FnOnce(&ValidationDecision<'_>, &Context) -> T,
) -> Result<T, CallError> {
    admission::check_overrides(call, request)?;
    let facts = admission::admit(call, request)?;
    let decided = decide::validate(&facts, request, call.context);
    match &decided {
        Ok(decision) => call.store.count_decision("validation", refusal_key(&decision.answer.evaluated)),
        Err(refusal) => call.store.count_decision("validation", Some(refusal.reason.key())),
    }
    let decided = decided.map(|decision| {
        let evaluated = &decision.answer.evaluated;
        count_failed_attempts(call, evaluated);
        let fulfilments = if evaluated.valid { decide::expected_grants(evaluated) } else { Vec::new() };
        let body = write(&decision.answer, call.context);
        (body, decision.changes.unwrap_or_default().entries, fulfilments)
    });
    facts.end()?;
    let (body, entries, fulfilments) = decided?;
    if !fulfilments.is_empty() {
        call.dry_run(|call| v1_fulfilment::fulfil_all(call, &fulfilments))?;
    }
    let origin = sessions::check_limit(call, &entries)?;
    call.store.apply(&entries, origin.as_deref(), call.now_ms())?;
    Ok(body)
}

/// Returns the reason for which all of a request is refused, independent of the disclosure to clients.
fn refusal_key(evaluated: &Evaluation<'_>) -> Option<&'static str> {
    let first = || evaluated.first_refusal().map(|(_, truth)| truth.reason.key());
    (!evaluated.valid).then(|| first().unwrap_or("nothing_applies"))
}

/// Adds the codes that a client named without success.
fn count_failed_attempts(call: &Call<'_, '_>, evaluated: &Evaluation<'_>) {
    // Saturates: beyond every limit of attempts.
    call.failed_attempts.set(call.failed_attempts.get().saturating_add(evaluated.failed_attempts()));
}

fn validate(call: &mut Call<'_, '_>) -> HandlerResult {
    let request = read(call, &call.request.body)?;
    let body = check(call, &request, write_validation)?;
    client::with_decision_headers(call, Response::bytes(body))
}

fn redeem(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut request = read(call, &call.request.body)?;
    run(call, &mut request, RecordForm::Full)
}

/// Result of a redemption.
enum RedemptionResult {
    Done(Box<RecordedOrder>),
    Failed(PrintedAnswer),
}

/// Decides a redemption and queues its effects; `form` selects the parts of the response.
pub fn run(call: &mut Call<'_, '_>, request: &mut Redeemables, form: RecordForm) -> HandlerResult {
    admission::check_overrides(call, request)?;
    if let Some(order) = request
        .order
        .as_mut()
        .filter(|order| order_overrides::has_overrides(order) && !caller::is_engine_comparison(call))
    {
        order_overrides::assign_ids(call, order)?;
    }
    let request = &*request;
    let facts = admission::admit(call, request)?;
    let decided = decide::redeem(&facts, request, call.context);
    if let Some(observe) = call.observer {
        observe(request, &decided);
    }
    match &decided {
        Ok(decision) => {
            let failure = decision.answer.failure.as_ref();
            call.store.count_decision("redemption", failure.map(|failure| failure.reason.key()));
        }
        Err(refusal) => call.store.count_decision("redemption", Some(refusal.reason.key())),
    }
    let decided = decided.map_err(CallError::from).and_then(|decision| {
        let redeemed = &decision.answer;
        count_failed_attempts(call, &redeemed.evaluated);
        let outcome = match &redeemed.failure {
            Some(failure) => {
                let hash = failures::order_hash(call);
                RedemptionResult::Failed(write_failure(redeemed, failure, call.context, hash.as_deref()))
            }
            None => {
                let order = redeemed.evaluated.order.as_deref();
                let named = order.map_or(Ok(true), |order| keeps_source_id(call, &facts, order))?;
                RedemptionResult::Done(Box::new(record(redeemed, call.context, named)))
            }
        };
        let returned = decision.answer.returned;
        Ok((outcome, decision.answer.customer_id, decision.changes.unwrap_or_default(), returned))
    });
    let details = facts.take_details();
    let mut customers = facts.finish()?;
    let (outcome, customer_id, changes, returned) = decided?;
    let recorded = match outcome {
        RedemptionResult::Failed(printed) => return write_failed(call, printed, &customers, customer_id.as_deref()),
        RedemptionResult::Done(recorded) => recorded,
    };
    // Several redemptions of a request have one input, that of their parent.
    let decision_id = recorded.parent.as_ref().or(recorded.redemptions.first()).map(|redemption| redemption.id.clone());
    // Units of an earlier redemption that the request omits are refunded first; the customer is written once more with both.
    if let Some(outcome) = returned {
        let customer = order_returns::write_refunds(call, &outcome, &customers)?;
        customers.extend(customer.map(|customer| (customer.id.clone(), customer)));
    }
    let customer = changes.customer.as_deref();
    let (summary_delta, orders) = (&changes.summary_delta, &changes.orders);
    let mut customer =
        facts::write_customer(call, &customers, customer, customer_id.as_deref(), summary_delta, orders)?;
    // Servers receive complete vouchers and tiers; a client receives only its disclosure.
    let details = Some(details).filter(|_| call.client.is_none() && !caller::is_engine_comparison(call));
    let printed = write_redemption(call, *recorded, &changes, customer.as_mut(), form, details)?;
    facts::count_orders(call, &customers, customer.as_ref().map(|customer| &*customer.id), &changes.orders)?;
    summary::find_last_orders(call.store, &changes.orders, call.context.now.millis());
    if let Some(order) = request.order.as_ref().filter(|order| order_overrides::has_overrides(order)) {
        order_overrides::write(call, &mut order.clone(), "order.")?;
    }
    redemption_input::keep(call, decision_id.as_deref(), printed.status, &printed.answer)?;
    Ok(Response::with_bytes(printed.status, printed.answer))
}

/// Returns true if an order is stored under its `source_id`. A new order with the `source_id` of another one is refused. A client
/// does not learn of the other one, and its order is stored without the name.
fn keeps_source_id(call: &Call<'_, '_>, facts: &StoreFacts<'_, '_>, order: &Order) -> Result<bool, CallError> {
    let (Some(id), Some(source_id)) = (&order.id, &order.source_id) else { return Ok(true) };
    if facts.has_read_order(id) {
        return Ok(true);
    }
    match call.store.document_by_name("order", source_id, id)? {
        Some(other) if other.id != id.as_str() && call.client.is_none() => {
            Err(duplicate("order", "id", source_id).into())
        }
        Some(other) => Ok(other.id == id.as_str()),
        None => Ok(true),
    }
}

/// Queues the writes of a redemption: ledger, referral, rewards and records.
fn write_redemption(
    call: &mut Call<'_, '_>,
    mut recorded: RecordedOrder,
    changes: &Effects,
    mut customer: Option<&mut Document>,
    form: RecordForm,
    details: Option<BTreeMap<String, VoucherDetails>>,
) -> Result<PrintedAnswer, CallError> {
    call.store.apply(&changes.entries, None, call.now_ms())?;
    if let Some(details) = details {
        recorded.write_redeemed(|object, json| {
            let id = ObjectReference::of(json).id().unwrap_or_default();
            match object {
                IncentiveObject::Voucher => {
                    let voucher = Document::new(id.to_owned(), None, call.now_ms(), json.clone());
                    let details =
                        details.get(id).cloned().ok_or_else(|| Fault(format!("the voucher `{id}` was not read")))?;
                    expanded::expand_voucher(call, &voucher, details)
                }
                IncentiveObject::PromotionTier => expanded::expand_tier(call, id, &changes.entries),
            }
        })?;
    }
    let referred = match customer.as_deref_mut() {
        Some(customer) => referrals::record_referrals(call, customer, &changes.referrals)?,
        None => Vec::new(),
    };
    let mut fulfilments = RequestFulfilments::new(customer.as_deref(), &changes.entries);
    for (redemption_id, reward) in recorded.rewards() {
        recorded.write_reward(&redemption_id, v1_fulfilment::stored_members(call, &reward)?);
    }
    for grant in &changes.grants {
        let voucher = fulfilments.fulfil(call, grant)?;
        voucher.record_bought(call, &grant.redemption_id)?;
        let json = fulfilments.voucher_json(call, voucher)?;
        recorded.write_reward(&grant.redemption_id, vec![("voucher", json)]);
    }
    let vouchers = recorded.vouchers();
    let mut printed = recorded.print(form);
    facts::write_records(call, vouchers.iter().map(|id| id.as_str()).collect(), std::mem::take(&mut printed.records));
    referrals::fulfil_rewards(call, &referred, &mut fulfilments)?;
    Ok(printed)
}

/// Stores a failed redemption. An unverified name does not identify the customer who failed.
fn write_failed(
    call: &mut Call<'_, '_>,
    printed: PrintedAnswer,
    customers: &DocumentsById,
    customer_id: Option<&str>,
) -> HandlerResult {
    let mut stored_id = None;
    if failures::is_stored(call)? {
        stored_id = printed.records.first().map(|record| record.id.clone());
        facts::write_records(call, Vec::new(), printed.records);
    }
    if caller::trusts_customer(call) {
        let summary_delta = SummaryDelta { failed: 1, ..SummaryDelta::default() };
        facts::write_customer(call, customers, None, customer_id, &summary_delta, &[])?;
    }
    // Last, so that all reads are kept.
    redemption_input::keep(call, stored_id.as_deref(), printed.status, &printed.answer)?;
    Ok(Response::with_bytes(printed.status, printed.answer))
}
