//! Webhooks: create, get, list, change, delete, and their dead letters.

use crate::documents::common_fields::{KEY, LIMIT};
use crate::documents::keyset_list;
use crate::documents::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::documents::resource;
use crate::documents::shapes;
use crate::documents::shapes::project::{DEAD_DELIVERY, RESENT};
use crate::domain::stacking_rules::check_project;
use crate::domain::webhooks::subscriptions::{NAMES, WEBHOOK, WEBHOOKS_MAX, current_name, store_token};
use crate::http::caller::CredentialClass;
use crate::http::reply::{CallError, ErrorBody, error, invalid_payload, invalid_query, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::jobs::{outbox, webhook_url};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::records::WebhookRecord;
use crate::store::sql::Fault;
use crate::store::webhooks::outbox::{self as stored, DeadLetter, delete_of_webhook, list_webhooks};
use crate::timestamp;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json, json};

const FIELDS: &[Field] = &[
    must("target_url", FieldType::Text).description(
        "Address that deliveries are sent to: public https, without credentials or fragment, at most 2,048 bytes.",
    ),
    must("events", FieldType::List(&FieldType::OneOf(NAMES), 1, NAMES.len()))
        .description("Names of the events that are sent. Repeated names count once."),
    may("active", FieldType::Bool)
        .description("`true` when events are sent. Default `true`; on update the value stays when absent."),
];
/// Maximum number of dead letters that a call names.
const NAMED_MAX: usize = 100;
const RESEND: &[Field] = &[may("ids", FieldType::List(&KEY, 1, NAMED_MAX))
    .description("IDs of the dead letters to send again. Absent means all dead letters of the webhook.")];

const MANAGEMENT: &[CredentialClass] = &[CredentialClass::Management];
const PATH: &str = "/management/v1/projects/{projectId}/webhooks";
const ONE: &str = "/management/v1/projects/{projectId}/webhooks/{webhookId}";
const DEAD: &str = "/management/v1/projects/{projectId}/webhooks/{webhookId}/dead-letters";
const AGAIN: &str = "/management/v1/projects/{projectId}/webhooks/{webhookId}/dead-letters/resend";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(PATH, "List webhooks", list)
        .of(&WEBHOOK)
        .lists_resource(shapes::TOTAL)
        .for_classes(MANAGEMENT)
        .describe(
            "listWebhooks",
            "Returns all webhooks of a project, newest first, without pages. An unknown project is refused with `not_found`.",
        )
        .returns("The webhooks of the project, and the total."),
    post(PATH, "Create a webhook", create)
        .of(&WEBHOOK)
        .for_classes(MANAGEMENT)
        .body(FIELDS)
        .describe(
            "createWebhook",
            "Creates a webhook. Later events are sent to its address at least once, in order for each object, signed with HMAC-SHA256 in the header `scrip-signature`. A delivery that fails is repeated with growing pauses for one day; then it becomes a dead letter and the webhook is set inactive. A project has up to 20 webhooks (`too_many_webhooks`); an address that is not public https is refused with `invalid_payload`.",
        )
        .returns("The new webhook."),
    get(ONE, "Get a webhook", read)
        .of(&WEBHOOK)
        .for_classes(MANAGEMENT)
        .describe("getWebhook", "Returns a webhook of a project. An unknown project or webhook is refused with `not_found`.")
        .returns("The webhook."),
    put(ONE, "Update a webhook", update)
        .of(&WEBHOOK)
        .for_classes(MANAGEMENT)
        .body(FIELDS)
        .describe(
            "updateWebhook",
            "Replaces the address and the events of a webhook; `active` stays when it is not sent. When the webhook is set inactive, its waiting deliveries become dead letters. An unknown webhook is refused with `not_found`, an address that is not public https with `invalid_payload`.",
        )
        .returns("The webhook after the change."),
    delete(ONE, "Delete a webhook", remove)
        .of(&WEBHOOK)
        .for_classes(MANAGEMENT)
        .answers(204, shapes::EMPTY)
        .describe(
            "deleteWebhook",
            "Deletes a webhook with its waiting deliveries and dead letters. An unknown project or webhook is refused with `not_found`.",
        )
        .returns("No content: the webhook is deleted."),
    get(DEAD, "List the dead letters of a webhook", list_dead)
        .for_classes(MANAGEMENT)
        .describe(
            "listDeadLetters",
            "Returns the deliveries of a webhook that were given up, oldest first. Dead letters are kept for 30 days. An unknown webhook is refused with `not_found`, an unknown `starting_after_id` with `invalid_query_params`.",
        )
        .returns("The dead letters of this page, and whether more follow.")
        .query(&[
            LIMIT,
            may("starting_after_id", KEY)
                .description("ID of a dead letter of the webhook; the page begins with the next one."),
        ])
        .lists("data", DEAD_DELIVERY, shapes::MORE),
    post(AGAIN, "Resend the dead letters of a webhook", resend)
        .for_classes(MANAGEMENT)
        .body(RESEND)
        .answers(200, RESENT)
        .describe(
            "resendDeadLetters",
            "Schedules dead letters of a webhook for delivery again, all of them or those in `ids`. The webhook must be active (`webhook_not_active`). If an ID is unknown, none is sent (`not_found`).",
        )
        .returns("The number of dead letters that are sent again."),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let found = WEBHOOK.list.select_all(call.store, Clause::of_kind(WEBHOOK.object))?;
    let total = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let webhooks_json = (WEBHOOK.to_json)(call, found)?;
    Ok(Response::json(Json::Object(WEBHOOK.list.envelope(webhooks_json, total))))
}

fn read(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    resource::get(call)
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let mut body = sent(call)?;
    let known = list_webhooks(call.store)?.len();
    if known >= WEBHOOKS_MAX {
        let message = format!("A project has at most {WEBHOOKS_MAX} webhooks (actual number is `{known}`)");
        return Err(error(400, "too_many_webhooks", "Too many webhooks", message).into());
    }
    let id = call.ids.alphanumeric("wh_", 24).to_string();
    body.entry("active").or_insert(Json::Bool(true));
    let mut members = json!({ "id": id }).as_object().cloned().unwrap_or_default();
    members.append(&mut body);
    members.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    members.insert("updated_at".into(), Json::Null);
    members.insert("object".into(), WEBHOOK.object.into());
    let webhook = Document::new(id, None, call.now_ms(), members);
    store_token(call)?;
    call.store.insert(WEBHOOK.object, &webhook);
    Ok(Response::json(Json::Object(webhook.body)))
}

/// Updates a webhook. Without `active` its status stays. Pending deliveries of one that becomes inactive become dead letters.
fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let body = sent(call)?;
    let mut webhook = WEBHOOK.find(call)?;
    webhook.body.extend(body);
    call.touch(&mut webhook);
    store_token(call)?;
    call.store.update(WEBHOOK.object, &webhook);
    if webhook.as_webhook().is_active() == Some(false) {
        outbox::mark_dead(call.store, &webhook.id, call.context.now.millis());
    }
    Ok(Response::json(Json::Object(webhook.body)))
}

/// Deletes a webhook with its pending deliveries.
fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let webhook = WEBHOOK.find(call)?;
    delete_of_webhook(call.store, &webhook.id);
    call.store.delete(WEBHOOK.object, &webhook.id);
    Ok(Response::empty(204))
}

/// Reads the sent webhook, with each event once under its current name.
fn sent(call: &Call<'_, '_>) -> Result<Map<String, Json>, ErrorBody> {
    let mut body = call.body(Nulls::Dropped)?;
    let url = WebhookRecord::of(&body).target_url();
    webhook_url::check(url, call.caller.local).map_err(|message| {
        invalid_payload(format!("Property .target_url {message} (actual value is `{}`)", shortened(url)))
    })?;
    let named = WebhookRecord::of(&body).events();
    let mut events: Vec<&str> = Vec::new();
    for name in named.map(current_name) {
        if !events.contains(&name) {
            events.push(name);
        }
    }
    let events = Json::from(events);
    body.insert("events".into(), events);
    Ok(body)
}

fn list_dead(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let webhook = WEBHOOK.find(call)?;
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let after = match call.query.parameter("starting_after_id") {
        None => 0,
        Some(id) => place(call, &webhook.id, id)?,
    };
    // One row more than the page: it exists if another page follows.
    let found = stored::list_dead(call.store, &webhook.id, after, limit.saturating_add(1))?;
    let most = usize::try_from(limit).unwrap_or(0);
    let has_more = found.len() > most;
    let deliveries_json =
        found.into_iter().take(most).map(dead_delivery_to_json).collect::<Result<Vec<Json>, Fault>>()?;
    Ok(Response::json(Json::Object(keyset_list::envelope(deliveries_json, has_more))))
}

/// Returns the position of a dead letter among those of its webhook.
fn place(call: &Call<'_, '_>, webhook: &str, id: &str) -> Result<i64, CallError> {
    let unknown =
        || invalid_query(format!("Property .starting_after_id must be a dead letter (actual value is `{id}`)"));
    Ok(stored::find_dead_position(call.store, webhook, id)?.ok_or_else(unknown)?)
}

fn dead_delivery_to_json(delivery: DeadLetter) -> Result<Json, Fault> {
    let DeadLetter { id, event_type, entity_id, created_at, dead_at, attempts, failure, body } = delivery;
    let body: Json = serde_json::from_str(&body).map_err(|error| Fault::new(error.to_string()))?;
    Ok(json!({
        "id": id, "type": event_type, "entity_id": entity_id, "created_at": timestamp::text(created_at),
        "dead_at": timestamp::text(dead_at), "attempts": attempts, "failure": failure, "body": body, "object": "dead_letter",
    }))
}

/// Sends dead letters again, all or the named ones, to an active webhook.
fn resend(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let body = call.body(Nulls::Dropped)?;
    let webhook = WEBHOOK.find(call)?;
    if webhook.as_webhook().is_active() != Some(true) {
        let message = format!("The webhook `{}` is not active: set `active` first", webhook.id);
        return Err(error(400, "webhook_not_active", "Webhook is not active", message).into());
    }
    let ids = body.get("ids").and_then(Json::as_array);
    let ids: Option<Vec<&str>> = ids.map(|ids| ids.iter().filter_map(Json::as_str).collect());
    for id in ids.iter().flatten() {
        let known = stored::find_dead_position(call.store, &webhook.id, id)?;
        known.ok_or_else(|| not_found("dead_letter", id))?;
    }
    let count = match &ids {
        Some(ids) => {
            let mut ids = ids.clone();
            ids.sort_unstable();
            ids.dedup();
            i64::try_from(ids.len()).unwrap_or(i64::MAX)
        }
        None => stored::count_dead_of(call.store, &webhook.id)?,
    };
    outbox::resend(call.store, &webhook.id, ids.as_deref(), call.context.now.millis());
    Ok(Response::json(json!({ "count": count })))
}
