//! Custom events: received from a server or a client, checked against their schema, stored, and counted for
//! referral programs.

use crate::access::client;
use crate::access::quota::Quota;
use crate::documents::common_fields::{CUSTOMER_OBJECT, KEY};
use crate::documents::shapes;
use crate::domain::caller;
use crate::domain::customers::customer;
use crate::domain::decisions::facts;
use crate::domain::event_schemas;
use crate::domain::event_schemas::NAME;
use crate::domain::referrals;
use crate::domain::rewards::v1_fulfilment::RequestFulfilments;
use crate::domain::vouchers::{referral_holders, voucher};
use crate::http::caller::CredentialClass;
use crate::http::reply::{CallError, ErrorBody, error, invalid_payload, not_found};
use crate::http::route::{Call, ClientSwitch, HandlerResult, Response, Route, post};
use crate::http::shape::{self, Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::store::records::{CustomEventRecord, CustomerRecord};
use crate::timestamp;
use scrip::decide::referral::{self, CustomEvent};
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json, json};

const BODY: &[Field] = &[
    must("event", NAME).description("Name of the event schema. The schema must exist."),
    must("customer", CUSTOMER_OBJECT)
        .description("Customer that the event is about, identified by `id`, `source_id` or email address. From a client, the customer of the token."),
    may(
        "referral",
        FieldType::Object(&[
            must("code", KEY).description("Referral code that the customer received."),
            may("referrer_id", KEY).description("ID or `source_id` of the referrer. Must be the holder of the code."),
        ]),
    )
    .description("Referral through which the customer came. Evaluated if the referral program of the code counts this event."),
    may(
        "loyalty",
        FieldType::Object(&[must("code", KEY).description("Code of a loyalty card that the customer holds.")]),
    )
    .description("Loyalty card that the event concerns."),
    may("metadata", FieldType::Map).description("Properties of the event, as the event schema defines them."),
];

/// Quotas of events of one client key that are stored: of clients without a proven customer, and of proven customers. Neither
/// uses the other's quota.
const QUOTAS_UNVERIFIED: [Quota; 2] = [
    Quota { name: "events of a minute", window_ms: 60_000, most: 600 },
    Quota { name: "events of a day", window_ms: 86_400_000, most: 50_000 },
];
const QUOTAS_VERIFIED: [Quota; 2] = [
    Quota { name: "proven events of a minute", window_ms: 60_000, most: 600 },
    Quota { name: "proven events of a day", window_ms: 86_400_000, most: 50_000 },
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/events", "Track a custom event", track)
        .describe(
            "trackEvent",
            "Records a custom event of a customer, which must match the event schema, and creates or updates the customer. Earning rules that wait for the event give points or rewards; with `referral`, a referral program that counts the event rewards referrer and referee. An unknown event name is refused with `invalid_payload`, metadata against the event schema with `metadata_validation_failed`.",
        )
        .returns("The event as recorded.")
        .scope("events")
        .body(BODY)
        .answers(200, shapes::customers::EVENT),
    post("/client/v1/events", "Track a custom event from a client", track)
        .describe(
            "trackClientEvent",
            "Records a custom event of a customer, which must match the event schema. Points and rewards follow only if a customer token proves the customer, or the customer trust of the project is `open`; otherwise no customer is created or changed. A closed switch is refused with `forbidden`, a key that sends events too fast with `too_many_events`.",
        )
        .returns("The event as recorded.")
        .for_classes(&[CredentialClass::Client, CredentialClass::OAuth])
        .names_codes()
        .scope("events")
        .allowed_by(ClientSwitch::Events)
        .body(BODY)
        .answers(200, shapes::customers::EVENT),
];

fn track(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = read(call)?;
    let name = CustomEventRecord::of(&body).event().to_owned();
    let schema = event_schemas::find_of_event(call, &name)?;
    let data = body.remove("metadata").unwrap_or_else(|| json!({}));
    event_schemas::check(&schema, &data)?;
    let sent = CustomEventRecord::of(&body).customer().cloned().unwrap_or_default();
    consume_quota(call)?;
    let (customer, named) = if caller::trusts_customer(call) {
        let mut customer = customer::upsert_named(call, sent)?;
        record_event_referral(call, &mut customer, &schema, &body)?;
        check_card(call, &customer, &body)?;
        let named = customer::summary_json(customer.as_customer());
        (Some(customer), named)
    } else {
        // Nothing is stored about a customer that a client only names, and the event has no effect.
        (None, json!({ "source_id": CustomerRecord::of(&sent).source_id(), "object": "customer" }))
    };
    let event = json!({ "object": "event", "type": name, "customer": named, "referral": null, "loyalty": null, "metadata": data });
    write(call, &schema, customer.as_ref(), &body, &event);
    Ok(Response::json(event))
}

fn read(call: &Call<'_, '_>) -> Result<Map<String, Json>, CallError> {
    let mut source = call.source()?;
    client::write_verified_customer(call, &mut source)?;
    client::remove_unverified_customer(call.client.as_ref(), &mut source);
    let body = shape::read(BODY, source, Nulls::Dropped)?;
    match CustomEventRecord::of(&body).customer().is_some_and(|customer| !customer.is_empty()) {
        true => Ok(body),
        false => Err(Problem::missing("customer", "source_id").into()),
    }
}

/// Takes the quota of a client key, which is public and so may store only a limited number of events.
fn consume_quota(call: &mut Call<'_, '_>) -> Result<(), CallError> {
    let Some(client) = &call.client else { return Ok(()) };
    let quotas = if client.proven.is_some() { &QUOTAS_VERIFIED } else { &QUOTAS_UNVERIFIED };
    let now_ms = call.now_ms();
    let Some(seconds) = Quota::take_of_all(quotas, call.store, call.caller, now_ms)? else { return Ok(()) };
    let message = "more events have come from pages than are written down; try again later";
    let mut refusal = error(429, "too_many_events", "Too many events", message);
    refusal.retry_after = Some(seconds);
    Err(refusal.into())
}

/// Records the referral of an event with a code, if its program counts such events.
fn record_event_referral(
    call: &mut Call<'_, '_>,
    customer: &mut Document,
    schema: &Document,
    body: &Map<String, Json>,
) -> Result<(), CallError> {
    let event = CustomEventRecord::of(body);
    if !event.has_referral() {
        return Ok(());
    }
    let code = event.referral_code();
    let found = find_referral(call, code, event.referrer_id(), customer, schema);
    let Some(referral) = conceal_refusal(call, code, found)?.filter(|referral| referral.counts) else { return Ok(()) };
    let grants = referrals::record_referrals(call, customer, &[referral])?;
    let customer = customer.clone();
    referrals::fulfil_rewards(call, &grants, &mut RequestFulfilments::new(Some(&customer), &[]))
}

fn find_referral(
    call: &Call<'_, '_>,
    code: &str,
    referrer: Option<&str>,
    customer: &Document,
    schema: &Document,
) -> Result<Option<referral::Referral>, CallError> {
    let voucher = referral_holders::find_code(call, voucher::find_by_name(call, code)?, code)?;
    let known = referral_holders::require_referrer(&voucher)?;
    if let Some(named) = referrer {
        let named_id = call.store.document_by_name("customer", named, named)?.map(|customer| customer.id);
        if named_id.as_deref() != Some(known) {
            let named = shortened(named);
            let message =
                format!("Property .referral.referrer_id must be who passes the code on (actual value is `{named}`)");
            return Err(invalid_payload(message).into());
        }
    }
    let name = schema.key.as_deref().unwrap_or_default();
    let event = CustomEvent { schema_id: &schema.id, name, customer_id: &customer.id };
    let facts = facts::facts(call)?;
    let decided = referral::by_event(&facts, code, &event, call.context);
    facts.end()?;
    Ok(decided?)
}

/// Conceals from a client why a code is refused: it looks like an unknown one. Counts a failed attempt.
fn conceal_refusal<T>(call: &Call<'_, '_>, code: &str, found: Result<T, CallError>) -> Result<T, CallError> {
    match (found, &call.client) {
        (Err(CallError::Refused(refusal)), Some(client)) => {
            // Saturates: beyond every limit of attempts.
            call.failed_attempts.set(call.failed_attempts.get().saturating_add(1));
            Err(if client.policy.reasons { refusal } else { not_found("voucher", code) }.into())
        }
        (found, _) => found,
    }
}

/// Checks that the card that an event names belongs to the customer.
fn check_card(call: &Call<'_, '_>, customer: &Document, body: &Map<String, Json>) -> Result<(), CallError> {
    let Some(code) = CustomEventRecord::of(body).card_code() else {
        return Ok(());
    };
    let found = voucher::find_by_name(call, code).and_then(|card| match is_card_of(&card, customer) {
        true => Ok(()),
        false => Err(not_holder(code).into()),
    });
    conceal_refusal(call, code, found)
}

fn is_card_of(card: &Document, customer: &Document) -> bool {
    card.as_voucher().is_loyalty_card() && card.holder.as_ref() == Some(&customer.id)
}

fn not_holder(code: &str) -> ErrorBody {
    error(400, "invalid_customer", "Customer must be a holder of a loyalty card.", code)
}

/// Queues the write of an event with its schema, its customer and the named objects.
fn write(
    call: &mut Call<'_, '_>,
    schema: &Document,
    customer: Option<&Document>,
    sent: &Map<String, Json>,
    event: &Json,
) {
    let id = call.ids.record("evnt_").to_string();
    let now_ms = call.now_ms();
    let mut body = event.as_object().cloned().unwrap_or_default();
    for name in ["referral", "loyalty"] {
        // The referral and the loyalty card that an unproven client names belong to no customer.
        body.insert(name.into(), sent.get(name).filter(|_| customer.is_some()).cloned().unwrap_or(Json::Null));
    }
    body.insert("id".into(), id.as_str().into());
    body.insert("schema_id".into(), schema.id.as_str().into());
    body.insert("created_at".into(), timestamp::text(now_ms).into());
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
