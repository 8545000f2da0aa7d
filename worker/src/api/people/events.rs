//! Custom events: told by a server or by a page, held against their schema, written down, and counted where a referral program
//! counts them. It must not know who earns what by one.

use crate::access::allowance::Allowance;
use crate::access::page;
use crate::document::fields::{BUYER, KEY};
use crate::document::shapes;
use crate::http::caller::Class;
use crate::http::reply::{CallError, ErrorBody, error, invalid_payload, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, Switch, post};
use crate::http::shape::{self, Field, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::event_schemas::{self, NAME};
use crate::shop::reward_fulfilment::Handed;
use crate::shop::{customers, decision, holders, referrals, vouchers};
use crate::store::document::Document;
use scrip::decide::referral::{self, CustomEvent};
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json, json};

const BODY: &[Field] = &[
    must("event", NAME).says("The name of its schema"),
    must("customer", BUYER),
    may("referral", Kind::Object(&[must("code", KEY), may("referrer_id", KEY)]))
        .says("The code that was passed on to the customer"),
    may("loyalty", Kind::Object(&[must("code", KEY)])),
    may("metadata", Kind::Map),
];

/// Events of pages through one key that are written down: of pages whose customer nobody proves, and of proven customers. Neither
/// takes the other's share.
const OF_ANYBODY: [Allowance; 2] = [
    Allowance { name: "events of a minute", window_ms: 60_000, most: 600 },
    Allowance { name: "events of a day", window_ms: 86_400_000, most: 50_000 },
];
const OF_PROVEN: [Allowance; 2] = [
    Allowance { name: "proven events of a minute", window_ms: 60_000, most: 600 },
    Allowance { name: "proven events of a day", window_ms: 86_400_000, most: 50_000 },
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/events", "Tell of a custom event", track)
        .scope("events")
        .body(BODY)
        .answers(200, shapes::customers::EVENT),
    post("/client/v1/events", "Tell of a custom event from a page", track)
        .for_classes(&[Class::Client, Class::OAuth])
        .names_codes()
        .scope("events")
        .switched(Switch::Events)
        .body(BODY)
        .answers(200, shapes::customers::EVENT),
];

fn track(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = read(call)?;
    let name = body.get("event").and_then(Json::as_str).unwrap_or_default().to_owned();
    let schema = event_schemas::of_event(call, &name)?;
    let data = body.remove("metadata").unwrap_or_else(|| json!({}));
    event_schemas::check(&schema, &data)?;
    let sent = body.get("customer").and_then(Json::as_object).cloned().unwrap_or_default();
    take_share(call)?;
    let (customer, named) = if decision::is_believed(call) {
        let mut customer = customers::upsert(call, sent)?;
        refer(call, &mut customer, &schema, &body)?;
        check_card(call, &customer, &body)?;
        let named = customers::reduced(&customer.body);
        (Some(customer), named)
    } else {
        // Whom a page only names nothing is written of, and nothing comes of the event.
        (None, json!({ "source_id": sent.get("source_id"), "object": "customer" }))
    };
    let event = json!({ "object": "event", "type": name, "customer": named, "referral": null, "loyalty": null, "metadata": data });
    write(call, &schema, customer.as_ref(), (&body, &event));
    Ok(Answer::json(event))
}

fn read(call: &Call<'_, '_>) -> Result<Map<String, Json>, CallError> {
    let mut source = call.source()?;
    page::name_proven(call, &mut source)?;
    page::settle_customer(call.page.as_ref(), &mut source);
    let body = shape::read(BODY, source, Nulls::Dropped)?;
    match body.get("customer").and_then(Json::as_object).is_some_and(|customer| !customer.is_empty()) {
        true => Ok(body),
        false => Err(Problem::missing("customer", "source_id").into()),
    }
}

/// A page's key is public, so that it has a share of what can be written down.
fn take_share(call: &mut Call<'_, '_>) -> Result<(), CallError> {
    let Some(page) = &call.page else { return Ok(()) };
    let shares = if page.proven.is_some() { &OF_PROVEN } else { &OF_ANYBODY };
    let now_ms = call.now_ms();
    let Some(seconds) = Allowance::take_of_all(shares, call.store, call.caller, now_ms)? else { return Ok(()) };
    let told = "more events have come from pages than are written down; try again later";
    let mut refusal = error(429, "too_many_events", "Too many events", told);
    refusal.retry_after = Some(seconds);
    Err(refusal.into())
}

/// Settles the referral of an event that names a code, where that is what its program counts.
fn refer(
    call: &mut Call<'_, '_>,
    customer: &mut Document,
    schema: &Document,
    body: &Map<String, Json>,
) -> Result<(), CallError> {
    let Some(sent) = body.get("referral") else { return Ok(()) };
    let text = |name: &str| sent.get(name).and_then(Json::as_str);
    let code = text("code").unwrap_or_default();
    let found = find_referral(call, code, text("referrer_id"), (customer, schema));
    let Some(referral) = concealed(call, code, found)?.filter(|referral| referral.counts) else { return Ok(()) };
    let grants = referrals::settle(call, customer, &[referral])?;
    let customer = customer.clone();
    referrals::hand_over(call, &grants, &mut Handed::to(Some(&customer), &[]))
}

fn find_referral(
    call: &Call<'_, '_>,
    code: &str,
    referrer: Option<&str>,
    (customer, schema): (&Document, &Document),
) -> Result<Option<referral::Referral>, CallError> {
    let voucher = holders::find_code(call, vouchers::find_named(call, code)?, code)?;
    let known = holders::referrer(&voucher)?;
    if let Some(named) = referrer {
        let named_id = call.store.document_by_name("customer", named, named)?.map(|customer| customer.id);
        if named_id.as_deref() != Some(known) {
            let named = shortened(named);
            let told =
                format!("Property .referral.referrer_id must be who passes the code on (actual value is `{named}`)");
            return Err(invalid_payload(told).into());
        }
    }
    let name = schema.key.as_deref().unwrap_or_default();
    let event = CustomEvent { schema_id: &schema.id, name, customer_id: &customer.id };
    let facts = decision::facts(call)?;
    let decided = referral::by_event(&facts, code, &event, call.context);
    facts.end()?;
    Ok(decided?)
}

/// A page is told of a code that is of no use to it as of one that there is not, and has guessed.
fn concealed<T>(call: &Call<'_, '_>, code: &str, found: Result<T, CallError>) -> Result<T, CallError> {
    match (found, &call.page) {
        (Err(CallError::Refused(why)), Some(page)) => {
            call.guesses.set(call.guesses.get().saturating_add(1));
            Err(if page.terms.reasons { why } else { not_found("voucher", code) }.into())
        }
        (found, _) => found,
    }
}

/// The card that an event names is the customer's.
fn check_card(call: &Call<'_, '_>, customer: &Document, body: &Map<String, Json>) -> Result<(), CallError> {
    let Some(code) = body.get("loyalty").and_then(|card| card.get("code")).and_then(Json::as_str) else {
        return Ok(());
    };
    let found = vouchers::find_named(call, code).and_then(|card| match is_card_of(&card, customer) {
        true => Ok(()),
        false => Err(not_holder(code).into()),
    });
    concealed(call, code, found)
}

fn is_card_of(card: &Document, customer: &Document) -> bool {
    card.body.get("loyalty_card").is_some_and(Json::is_object) && card.holder.as_ref() == Some(&customer.id)
}

fn not_holder(code: &str) -> ErrorBody {
    error(400, "invalid_customer", "Customer must be a holder of a loyalty card.", code)
}

/// Writes an event down: by its schema and its customer, with what it named.
fn write(
    call: &mut Call<'_, '_>,
    schema: &Document,
    customer: Option<&Document>,
    (sent, event): (&Map<String, Json>, &Json),
) {
    let id = call.ids.hex18("evnt_").to_string();
    let now_ms = call.now_ms();
    let mut body = event.as_object().cloned().unwrap_or_default();
    for name in ["referral", "loyalty"] {
        // What a page that proves nobody names is nobody's.
        body.insert(name.into(), sent.get(name).filter(|_| customer.is_some()).cloned().unwrap_or(Json::Null));
    }
    body.insert("id".into(), id.as_str().into());
    body.insert("schema_id".into(), schema.id.as_str().into());
    body.insert("created_at".into(), moment::text(now_ms).into());
    let document = Document {
        id,
        key: None,
        parent: Some(schema.id.clone()),
        holder: customer.map(|customer| customer.id.clone()),
        created_at: now_ms,
        updated_at: None,
        body,
    };
    call.store.insert("event", &document);
}
