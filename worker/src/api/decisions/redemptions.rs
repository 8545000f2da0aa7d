//! Validations and redemptions, from the server and from a page: the request goes to the engine, and what it changes is written.
//! It must not know how anything is decided.

use crate::access::page;
use crate::api::decisions::{admission, failures, sessions};
use crate::document::fields::{BEFORE_AFTER, CUSTOMER, KEY, LIMIT, PAGE_99};
use crate::document::resource::{self, plain_key};
use crate::http::caller::Class;
use crate::http::listing::{Filter, List};
use crate::http::reply::CallError;
use crate::http::route::{Answer, Call, Outcome, Resource, Route, Switch, get, post};
use crate::http::shape::{Field, INT_MAX, Kind, may, must};
use crate::shop::decision::{self, Tally};
use crate::shop::{overrides, reward_fulfilment};
use crate::store::facts::ById;
use scrip::decide::{self, Evaluated, RedeemedPart, RewardGrant};
use scrip::model::request::Redeemables;
use scrip::text::hex;
use scrip::wire::decision::write_validation;
use scrip::wire::redemption::{Written, write_redemption};
use scrip::wire::request::read_redeemables;
use serde_json::{Map, Value as Json, json};

/// An amount, in minor units.
pub const AMOUNT: Kind = Kind::Int(0, INT_MAX);

/// Where an order is in its life.
pub const STATUS: Kind = Kind::OneOf(&["CREATED", "PAID", "CANCELED", "FULFILLED"]);

const GOODS: Kind = Kind::Object(&[
    may("id", KEY),
    may("source_id", KEY),
    may("override", Kind::Bool),
    may("name", Kind::Text),
    may("sku", Kind::Text),
    may("price", AMOUNT),
    may("metadata", Kind::Map),
]);

/// A line of an order as it is sent.
pub const ITEM: Kind = Kind::Object(&[
    may("product_id", KEY),
    may("sku_id", KEY),
    may("source_id", KEY),
    may("related_object", Kind::OneOf(&["product", "sku"])),
    may("quantity", Kind::Int(0, INT_MAX)),
    may("discount_quantity", Kind::Int(0, INT_MAX)),
    may("initial_quantity", Kind::Int(0, INT_MAX)),
    may("amount", AMOUNT),
    may("discount_amount", AMOUNT),
    may("initial_amount", AMOUNT),
    may("price", AMOUNT),
    may("product", GOODS),
    may("sku", GOODS),
    may("metadata", Kind::Map),
]);

/// An order as it is sent.
pub const ORDER: Kind = Kind::Object(&[
    may("id", KEY),
    may("source_id", KEY),
    may("status", STATUS),
    may("amount", AMOUNT),
    may("initial_amount", AMOUNT),
    may("discount_amount", AMOUNT),
    may("items", Kind::List(&ITEM, 0, 500)),
    may("metadata", Kind::Map),
    may("created_at", Kind::DateTime),
    may("customer_id", KEY),
    may("referrer_id", KEY),
    // Who buys, where the request says it nowhere else.
    may("customer", Kind::Object(CUSTOMER)),
    // Thanks to whom: only the id is read.
    may("referrer", Kind::Map),
]);

/// A lock as it is sent.
pub const SESSION: Kind = Kind::Object(&[
    may("type", Kind::OneOf(&["LOCK"])),
    may("key", KEY),
    may("ttl", Kind::Int(0, INT_MAX)),
    may(
        "ttl_unit",
        Kind::OneOf(&["DAYS", "HOURS", "MINUTES", "SECONDS", "MILLISECONDS", "MICROSECONDS", "NANOSECONDS"]),
    ),
]);
/// What a caller wants to see.
pub const OPTIONS: Kind = Kind::Object(&[may("expand", Kind::List(&Kind::Text, 0, 100))]);
/// What is spent of a gift card.
pub const GIFT: Kind = Kind::Object(&[may("credits", Kind::Int(0, INT_MAX))]);
/// What points are exchanged for.
pub const REWARD: Kind = Kind::Object(&[must("id", KEY), may("points", Kind::Int(0, INT_MAX))]);
/// The same in the older forms, where the reward may be named by its assignment.
pub const ASSIGNED_REWARD: Kind =
    Kind::Object(&[may("id", KEY), may("assignment_id", KEY), may("points", Kind::Int(0, INT_MAX))]);

/// The engine reads these bodies itself; the fields are here for the description.
const REDEEMABLES: &[Field] = &[
    must(
        "redeemables",
        Kind::List(
            &Kind::Object(&[
                must("object", Kind::OneOf(&["voucher", "promotion_tier", "promotion_stack"])),
                must("id", KEY),
                may("gift", GIFT),
                may("reward", REWARD),
            ]),
            1,
            30,
        ),
    ),
    may("order", ORDER),
    may("customer", Kind::Object(CUSTOMER)),
    may("session", SESSION),
    may("tracking_id", Kind::Text),
    may("metadata", Kind::Map),
    may("options", OPTIONS),
];

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
    parameter: "redemptionId",
    key: plain_key,
    show: resource::show_body,
    list: List {
        data_ref: "redemptions",
        page_max: 99,
        orders: &[
            ("created_at", "created_at"),
            ("id", "id"),
            ("voucher_code", "json_extract(body, '$.voucher.code')"),
            ("tracking_id", "json_extract(body, '$.tracking_id')"),
            ("customer_id", "holder"),
        ],
        filters: &[
            Filter::Is("result", "json_extract(body, '$.result')"),
            Filter::Name("campaign", "json_extract(body, '$.voucher.campaign_id')", "campaign"),
            Filter::Name("customer", "holder", "customer"),
            Filter::Moment("created_at", "created_at"),
        ],
        conditions: &[
            ("voucher_code", "json_extract(body, '$.voucher.code')"),
            ("related_object_id", "json_extract(body, '$.related_object_id')"),
            (
                "related_object_parent_id",
                "COALESCE(json_extract(body, '$.related_object_parent_id'), json_extract(body, '$.voucher.campaign_id'))",
            ),
            ("parent_redemption_id", "json_extract(body, '$.redemption')"),
            ("failure_code", "json_extract(body, '$.failure_code')"),
            ("result", "json_extract(body, '$.result')"),
            ("object", "json_extract(body, '$.object')"),
            ("customer_id", "holder"),
            ("campaign_name", "json_extract(body, '$.voucher.campaign')"),
            ("user_login", "json_extract(body, '$.user.login')"),
        ],
    },
};

/// The credentials of pages.
pub const CLIENT: &[Class] = &[Class::Client, Class::OAuth];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/validations", "Validate redeemables", validate)
        .scope("validations")
        .body(REDEEMABLES)
        .answers(200, "validation"),
    post("/client/v1/validations", "Validate redeemables from a page", validate)
        .for_classes(CLIENT)
        .names_codes()
        .scope("validations")
        .body(REDEEMABLES)
        .answers(200, "validation"),
    get("/v1/redemptions", "List redemptions and rollbacks", resource::list)
        .of(&REDEMPTION)
        .scope("redemptions")
        .query(&[
            LIMIT,
            PAGE_99,
            may("order", Kind::OneOf(ORDERS)),
            may("result", Kind::Text),
            may("campaign", KEY),
            may("customer", KEY),
            may("created_at", BEFORE_AFTER),
            may("filters", Kind::Map),
        ]),
    post("/v1/redemptions", "Redeem redeemables", redeem)
        .scope("redemptions")
        .body(REDEEMABLES)
        .answers(200, "redemptions"),
    post("/client/v1/redemptions", "Redeem redeemables from a page", redeem)
        .for_classes(CLIENT)
        .names_codes()
        .scope("redemptions")
        .switched(Switch::Redeem)
        .body(REDEEMABLES)
        .answers(200, "client_redemptions"),
    get("/v1/redemptions/{redemptionId}", "Get a redemption or a rollback", resource::get)
        .of(&REDEMPTION)
        .scope("redemptions"),
];

pub(super) fn read(call: &Call<'_, '_>, body: &[u8]) -> Result<Redeemables, CallError> {
    // A body that is not there says nothing, and the first thing that it fails to say is what is wrong with it.
    let body = if body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { body };
    page::check_body(call, body)?;
    let mut request = read_redeemables(body)?;
    decide::receive(&mut request, decision::channel(call))?;
    Ok(request)
}

/// Decides a validation: its answer, with the lock that it sets written at the commit.
pub(super) fn check(call: &mut Call<'_, '_>, request: &Redeemables) -> Result<Vec<u8>, CallError> {
    admission::check(call, request)?;
    let facts = decision::facts(call)?;
    let decided = decide::validate(&facts, request, call.context).map(|decision| {
        let evaluated = &decision.answer.evaluated;
        count_guesses(call, evaluated);
        let promised = if evaluated.valid { decide::promised(evaluated) } else { Vec::new() };
        let body = write_validation(&decision.answer, call.context).to_json();
        (body, decision.changes.unwrap_or_default().entries, promised)
    });
    facts.end()?;
    let (body, entries, promised) = decided?;
    if !promised.is_empty() {
        call.rehearse(|call| reward_fulfilment::hand_over(call, &promised))?;
    }
    let origin = sessions::admit(call, &entries)?;
    call.store.apply(&entries, origin.as_deref(), call.now_ms());
    Ok(body)
}

/// Adds what a page has named in vain.
fn count_guesses(call: &Call<'_, '_>, evaluated: &Evaluated<'_>) {
    call.guesses.set(call.guesses.get().saturating_add(evaluated.guesses()));
}

fn validate(call: &mut Call<'_, '_>) -> Outcome {
    let request = read(call, &call.request.body)?;
    let mut answer = Answer::bytes(check(call, &request)?);
    // With these a page makes the same bytes. They say nothing of what is secret: no redemption and no code comes from this seed.
    let told = json!({ "now": call.context.now.to_string(), "seed": hex(&call.context.seed) });
    answer.headers.push(("scrip-context", told.to_string()));
    Ok(answer)
}

/// A redemption on its way out.
pub(super) struct Redemption {
    pub(super) status: u16,
    pub(super) answer: Vec<u8>,
}

fn redeem(call: &mut Call<'_, '_>) -> Outcome {
    let mut request = read(call, &call.request.body)?;
    let redemption = run(call, &mut request)?;
    Ok(Answer { status: redemption.status, body: redemption.answer, headers: Vec::new() })
}

pub(super) fn run(call: &mut Call<'_, '_>, request: &mut Redeemables) -> Result<Redemption, CallError> {
    admission::check(call, request)?;
    if let Some(order) = request.order.as_mut().filter(|order| overrides::any(order) && !decision::is_bare(call)) {
        overrides::name(call, order)?;
    }
    let request = &*request;
    let facts = decision::facts(call)?;
    let decided = decide::redeem(&facts, request, call.context).map(|decision| {
        count_guesses(call, &decision.answer.evaluated);
        let written = write_redemption(&decision.answer, call.context);
        let changes = decision.changes.unwrap_or_default();
        let parts = decision.answer.parts.iter();
        let sum = |spent: &dyn Fn(&RedeemedPart) -> Option<u64>| {
            let all = parts.clone().filter_map(spent).fold(0, u64::saturating_add);
            i64::try_from(all).unwrap_or(i64::MAX)
        };
        let succeeded = i64::try_from(parts.len()).unwrap_or(0);
        let tally = Tally {
            succeeded,
            failed: i64::from(succeeded == 0),
            credits: sum(&|part| part.credits),
            points: sum(&|part| part.points),
            referrals: changes.referrals.clone(),
            ..Tally::default()
        };
        (written, changes, decision.answer.customer_id.clone(), tally)
    });
    let (customers, orders) = facts.finish()?;
    let (mut written, changes, customer_id, mut tally) = decided?;
    if let Some(order) = written.documents.iter().find(|document| document.kind == "order") {
        count_order(&order.body, &orders, &mut tally);
    }
    call.store.apply(&changes.entries, None, call.now_ms());
    if !changes.grants.is_empty() {
        let vouchers = reward_fulfilment::hand_over(call, &changes.grants)?;
        tell_rewards(&mut written, &changes.grants, &vouchers);
    }
    if tally.succeeded == 0 {
        failures::keep(call, &mut written.documents)?;
    }
    decision::put(call, written.documents, &orders)?;
    decision::write_referrers(call, &changes.referrals)?;
    if let Some(order) = request.order.as_ref().filter(|order| tally.succeeded > 0 && overrides::any(order)) {
        overrides::persist(call, &mut order.clone(), "order.")?;
    }
    // A name that nobody proves says nothing of who has failed.
    if decision::is_believed(call) || tally.succeeded > 0 {
        decision::write_customer(call, &customers, changes.customer.as_deref(), customer_id.as_deref(), &tally)?;
    }
    Ok(Redemption { status: written.status, answer: written.answer })
}

/// Rewards that were handed over are shown where the redemption of their points is.
fn tell_rewards(written: &mut Written, grants: &[RewardGrant], vouchers: &[Json]) {
    let mut answer: Json = serde_json::from_slice(&written.answer).unwrap_or(Json::Null);
    for (grant, voucher) in grants.iter().zip(vouchers) {
        let listed = answer.get_mut("redemptions").and_then(Json::as_array_mut).into_iter().flatten();
        let listed = listed.filter_map(Json::as_object_mut);
        let stored = written.documents.iter_mut().map(|document| &mut document.body);
        for redemption in listed.chain(stored) {
            if redemption.get("id").and_then(Json::as_str) == Some(&grant.redemption_id) {
                reward_fulfilment::tell(redemption, voucher);
            }
        }
    }
    written.answer = answer.to_string().into_bytes();
}

/// An order counts once, when it becomes paid.
fn count_order(body: &Map<String, Json>, orders: &ById, tally: &mut Tally) {
    let is_paid = |body: &Map<String, Json>| body.get("status").and_then(Json::as_str) == Some("PAID");
    let was_paid =
        body.get("id").and_then(Json::as_str).and_then(|id| orders.get(id)).is_some_and(|order| is_paid(&order.body));
    if is_paid(body) && !was_paid {
        tally.order_total =
            Some(body.get("total_amount").or_else(|| body.get("amount")).and_then(Json::as_i64).unwrap_or(0));
        tally.orders = 1;
    }
}
