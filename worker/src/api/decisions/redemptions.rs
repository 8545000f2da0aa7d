//! Validations and redemptions, from the server and from a page: the request goes to the engine, and what it changes is written.
//! It must not know how anything is decided.

use crate::access::page;
use crate::api::decisions::{admission, failures, sessions};
use crate::document::fields::{BEFORE_AFTER, KEY, LIMIT, PAGE_99};
use crate::document::index::{campaign_name_of_redemption, campaign_of_redemption};
use crate::document::resource::{self, plain_key};
use crate::document::shapes;
use crate::http::caller::Class;
use crate::http::listing::{Filter, List};
use crate::http::reply::{CallError, duplicate};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, Switch, get, post};
use crate::http::shape::{INT_MAX, Kind, may};
use crate::shop::reward_fulfilment::{self, Handed};
use crate::shop::{decision, overrides, redeemed, referrals, summary};
use crate::store::document::Document;
use crate::store::facts::{ById, StoreFacts};
use scrip::Context;
use scrip::decide::{self, Changes, Evaluated, Tally, Validated};
use scrip::json::Node;
use scrip::model::order::Order;
use scrip::model::request::Redeemables;
use scrip::text::hex;
use scrip::wire::decision::write_validation;
use scrip::wire::failure::write_failure;
use scrip::wire::problem::MOST_VALUES;
use scrip::wire::record::{Form, Recorded, Written};
use scrip::wire::redemption::record;
use scrip::wire::request::{REDEEMABLES, read_redeemables_node};
use serde_json::{Map, Value as Json, json};

/// A redemption or a rollback.
pub(super) const RECORD: Kind = Kind::Either(&[scrip::wire::redemption::REDEMPTION, scrip::wire::redemption::ROLLBACK]);

/// What points are exchanged for, where the card is named elsewhere.
pub const ASSIGNED_REWARD: Kind =
    Kind::Object(&[may("id", KEY), may("assignment_id", KEY), may("points", Kind::Int(0, INT_MAX))]);

/// The cart, the customer and the lock of the older operations are those of the newer.
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
            Filter::Name("campaign", campaign_of_redemption!(), "campaign"),
            Filter::Name("customer", "holder", "customer"),
            Filter::Moment("created_at", "created_at"),
        ],
        conditions: &[
            ("voucher_code", "json_extract(body, '$.voucher.code')"),
            ("related_object_id", "json_extract(body, '$.related_object_id')"),
            ("related_object_parent_id", campaign_of_redemption!()),
            ("parent_redemption_id", "json_extract(body, '$.redemption')"),
            ("failure_code", "json_extract(body, '$.failure_code')"),
            ("result", "json_extract(body, '$.result')"),
            ("object", "json_extract(body, '$.object')"),
            ("customer_id", "holder"),
            ("campaign_name", campaign_name_of_redemption!()),
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
        .body(REDEEMABLES.fields())
        .answers(200, scrip::wire::decision::VALIDATION),
    post("/client/v1/validations", "Validate redeemables from a page", validate)
        .for_classes(CLIENT)
        .names_codes()
        .scope("validations")
        .body(REDEEMABLES.fields())
        .answers(200, scrip::wire::decision::VALIDATION),
    get("/v1/redemptions", "List redemptions and rollbacks", resource::list)
        .of(&REDEMPTION)
        .listed(shapes::TOTAL)
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
        .body(REDEEMABLES.fields())
        .answers(200, scrip::wire::redemption::REDEMPTIONS),
    post("/client/v1/redemptions", "Redeem redeemables from a page", redeem)
        .for_classes(CLIENT)
        .names_codes()
        .scope("redemptions")
        .switched(Switch::Redeem)
        .body(REDEEMABLES.fields())
        .answers(200, scrip::wire::redemption::REDEMPTIONS),
    get("/v1/redemptions/{redemptionId}", "Get a redemption or a rollback", resource::get)
        .of(&REDEMPTION)
        .scope("redemptions"),
];

pub(super) fn read(call: &Call<'_, '_>, body: &[u8]) -> Result<Redeemables, CallError> {
    // A body that is not there says nothing, and the first thing that it fails to say is what is wrong with it.
    let body = if body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { body };
    receive(call, &Node::read_within(body, MOST_VALUES)?)
}

/// The same of what was sent in another form.
pub(super) fn read_fields(call: &Call<'_, '_>, body: &Map<String, Json>) -> Result<Redeemables, CallError> {
    receive(call, &Node::of(body, MOST_VALUES)?)
}

fn receive(call: &Call<'_, '_>, body: &Node<'_>) -> Result<Redeemables, CallError> {
    page::check_body(call, body)?;
    let mut request = read_redeemables_node(body)?;
    decide::receive(&mut request, decision::channel(call))?;
    Ok(request)
}

/// Decides a validation: what is written of it, with the lock that it sets written down at the commit.
pub(super) fn check<T>(
    call: &mut Call<'_, '_>,
    request: &Redeemables,
    write: impl FnOnce(&Validated<'_>, &Context) -> T,
) -> Result<T, CallError> {
    admission::check(call, request)?;
    let facts = decision::facts(call)?;
    let decided = decide::validate(&facts, request, call.context);
    match &decided {
        Ok(decision) => call.store.decided("validation", refused(&decision.answer.evaluated)),
        Err(refusal) => call.store.decided("validation", Some(refusal.reason.key())),
    }
    let decided = decided.map(|decision| {
        let evaluated = &decision.answer.evaluated;
        count_guesses(call, evaluated);
        let promised = if evaluated.valid { decide::promised(evaluated) } else { Vec::new() };
        let body = write(&decision.answer, call.context);
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

/// Why a request as a whole does not hold, whatever a page is told.
fn refused(evaluated: &Evaluated<'_>) -> Option<&'static str> {
    let first = || evaluated.first_refusal().map(|(_, truth)| truth.reason.key());
    (!evaluated.valid).then(|| first().unwrap_or("nothing_applies"))
}

/// Adds what a page has named in vain.
fn count_guesses(call: &Call<'_, '_>, evaluated: &Evaluated<'_>) {
    call.guesses.set(call.guesses.get().saturating_add(evaluated.guesses()));
}

fn validate(call: &mut Call<'_, '_>) -> Outcome {
    let request = read(call, &call.request.body)?;
    let mut answer = Answer::bytes(check(call, &request, write_validation)?);
    // With these a page makes the same bytes. They say nothing of what is secret: no redemption and no code comes from this seed.
    let told = json!({ "now": call.context.now.to_string(), "seed": hex(&call.context.seed) });
    answer.headers.push(("scrip-context", told.to_string()));
    Ok(answer)
}

fn redeem(call: &mut Call<'_, '_>) -> Outcome {
    let mut request = read(call, &call.request.body)?;
    run(call, &mut request, Form::Whole)
}

/// What a redemption came to.
enum Redeemed {
    Done(Box<Recorded>),
    Failed(Written),
}

/// Decides a redemption, and writes what follows at the commit; `form` is what of it is answered.
pub(super) fn run(call: &mut Call<'_, '_>, request: &mut Redeemables, form: Form) -> Outcome {
    admission::check(call, request)?;
    if let Some(order) = request.order.as_mut().filter(|order| overrides::any(order) && !decision::is_bare(call)) {
        overrides::name(call, order)?;
    }
    let request = &*request;
    let facts = decision::facts(call)?;
    let decided = decide::redeem(&facts, request, call.context);
    match &decided {
        Ok(decision) => {
            let failure = decision.answer.failure.as_ref();
            call.store.decided("redemption", failure.map(|failure| failure.reason.key()));
        }
        Err(refusal) => call.store.decided("redemption", Some(refusal.reason.key())),
    }
    let decided = decided.map_err(CallError::from).and_then(|decision| {
        let redeemed = &decision.answer;
        count_guesses(call, &redeemed.evaluated);
        let outcome = match &redeemed.failure {
            Some(failure) => {
                let hash = failures::order_hash(call);
                Redeemed::Failed(write_failure(redeemed, failure, call.context, hash.as_deref()))
            }
            None => {
                let order = redeemed.evaluated.order.as_deref();
                let named = order.map_or(Ok(true), |order| is_named(call, &facts, order))?;
                Redeemed::Done(Box::new(record(redeemed, call.context, named)))
            }
        };
        Ok((outcome, redeemed.customer_id.clone(), decision.changes.unwrap_or_default()))
    });
    let customers = facts.finish()?;
    let (outcome, customer_id, changes) = decided?;
    let recorded = match outcome {
        Redeemed::Failed(written) => return fail(call, written, (&customers, customer_id.as_deref())),
        Redeemed::Done(recorded) => recorded,
    };
    let customer = changes.customer.as_deref();
    let counts = (&changes.tally, &*changes.orders);
    let mut customer = decision::write_customer(call, &customers, customer, customer_id.as_deref(), counts)?;
    // Otherwise what costs further looks is left out of what is redeemed (objects.md, section 11); a page is told no more either way.
    let is_expanded = request.expand.redeemable && call.page.is_none() && !decision::is_bare(call);
    let written = commit(call, *recorded, &changes, (customer.as_mut(), form), is_expanded)?;
    decision::count_orders(call, &customers, customer.as_ref().map(|customer| &*customer.id), &changes.orders)?;
    summary::find_last_orders(call.store, &changes.orders, call.context.now.millis());
    if let Some(order) = request.order.as_ref().filter(|order| overrides::any(order)) {
        overrides::persist(call, &mut order.clone(), "order.")?;
    }
    Ok(Answer::written(written.status, written.answer))
}

/// Whether an order is stored under its `source_id`. One that is new, and whose `source_id` another one has, is refused; a page is
/// not told that there is one, and its own is stored without the name.
fn is_named(call: &Call<'_, '_>, facts: &StoreFacts<'_, '_>, order: &Order) -> Result<bool, CallError> {
    let (Some(id), Some(source_id)) = (&order.id, &order.source_id) else { return Ok(true) };
    if facts.has_seen_order(id) {
        return Ok(true);
    }
    match call.store.document_by_name("order", source_id, id)? {
        Some(other) if other.id != id.as_str() && call.page.is_none() => {
            Err(duplicate("order", "id", source_id).into())
        }
        Some(other) => Ok(other.id == id.as_str()),
        None => Ok(true),
    }
}

/// Writes down what was redeemed: the ledger, what comes of a referral, the rewards, the records.
fn commit(
    call: &mut Call<'_, '_>,
    mut recorded: Recorded,
    changes: &Changes,
    (mut customer, form): (Option<&mut Document>, Form),
    is_expanded: bool,
) -> Result<Written, CallError> {
    call.store.apply(&changes.entries, None, call.now_ms());
    if is_expanded {
        recorded.tell_redeemed(|object, id| redeemed::stored(call, (object, id), &changes.entries))?;
    }
    let referred = match customer.as_deref_mut() {
        Some(customer) => referrals::settle(call, customer, &changes.referrals)?,
        None => Vec::new(),
    };
    let mut handed = Handed::to(customer.as_deref(), &changes.entries);
    for (redemption_id, reward) in recorded.rewards() {
        recorded.tell_reward(&redemption_id, reward_fulfilment::stored(call, &reward)?);
    }
    for grant in &changes.grants {
        let voucher = handed.hand(call, grant)?;
        let shown = handed.show(call, voucher)?;
        recorded.tell_reward(&grant.redemption_id, vec![("voucher", shown)]);
    }
    let vouchers = recorded.vouchers();
    let mut written = recorded.print(form);
    decision::put(call, vouchers.iter().map(|id| id.as_str()).collect(), std::mem::take(&mut written.records));
    referrals::hand_over(call, &referred, &mut handed)?;
    Ok(written)
}

/// Writes down that a redemption failed. A name that nobody proves says nothing of who has failed.
fn fail(call: &mut Call<'_, '_>, written: Written, (customers, customer_id): (&ById, Option<&str>)) -> Outcome {
    if failures::is_kept(call)? {
        decision::put(call, Vec::new(), written.records);
    }
    if decision::is_believed(call) {
        let tally = Tally { failed: 1, ..Tally::default() };
        decision::write_customer(call, customers, None, customer_id, (&tally, &[]))?;
    }
    Ok(Answer::written(written.status, written.answer))
}
