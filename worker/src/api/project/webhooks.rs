//! Webhooks: create, get, list, change, delete, and what could not be delivered to them. It must not know what they are told, nor how.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT};
use crate::document::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::document::onward;
use crate::document::resource;
use crate::document::shapes;
use crate::document::shapes::project::{DEAD_LETTER, RESENT};
use crate::http::caller::Class;
use crate::http::reply::{CallError, ErrorBody, error, invalid_payload, invalid_query, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::stacking_rules::check_project;
use crate::shop::webhooks::{NAMES, WEBHOOK, WEBHOOKS_MAX, keep_token, spelt};
use crate::store::document::Document;
use crate::store::sql::{self, Fault, Row};
use crate::work::{outbox, target};
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json, json};

const FIELDS: &[Field] = &[
    must("target_url", Kind::Text).says("Where it is sent: https, and never into a private network"),
    must("events", Kind::List(&Kind::OneOf(NAMES), 1, NAMES.len())).says("What it is told of"),
    may("active", Kind::Bool).says("Whether it is told of anything"),
];
/// Dead letters that are named, at most.
const NAMED_MAX: usize = 100;
const RESEND: &[Field] = &[may("ids", Kind::List(&KEY, 1, NAMED_MAX)).says("Which; all where none are named")];

const MANAGEMENT: &[Class] = &[Class::Management];
const PATH: &str = "/management/v1/projects/{projectId}/webhooks";
const ONE: &str = "/management/v1/projects/{projectId}/webhooks/{webhookId}";
const DEAD: &str = "/management/v1/projects/{projectId}/webhooks/{webhookId}/dead-letters";
const AGAIN: &str = "/management/v1/projects/{projectId}/webhooks/{webhookId}/dead-letters/resend";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(PATH, "List webhooks", list).of(&WEBHOOK).listed(shapes::TOTAL).for_classes(MANAGEMENT),
    post(PATH, "Create a webhook", create).of(&WEBHOOK).for_classes(MANAGEMENT).body(FIELDS),
    get(ONE, "Get a webhook", read).of(&WEBHOOK).for_classes(MANAGEMENT),
    put(ONE, "Update a webhook", update).of(&WEBHOOK).for_classes(MANAGEMENT).body(FIELDS),
    delete(ONE, "Delete a webhook", remove).of(&WEBHOOK).for_classes(MANAGEMENT).answers(204, shapes::EMPTY),
    get(DEAD, "List what could not be delivered to a webhook", list_dead)
        .for_classes(MANAGEMENT)
        .query(&[LIMIT, may("starting_after_id", KEY)])
        .lists("data", DEAD_LETTER, shapes::MORE),
    post(AGAIN, "Send again what could not be delivered to a webhook", resend)
        .for_classes(MANAGEMENT)
        .body(RESEND)
        .answers(200, RESENT),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let found = WEBHOOK.list.select_all(call.store, Clause::of_kind(WEBHOOK.object))?;
    let total = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let shown = (WEBHOOK.show)(call, found)?;
    Ok(Answer::json(Json::Object(WEBHOOK.list.envelope(shown, total))))
}

fn read(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    resource::get(call)
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let mut body = sent(call)?;
    let known = outbox::webhooks(call.store)?.len();
    if known >= WEBHOOKS_MAX {
        let told = format!("A project has at most {WEBHOOKS_MAX} webhooks (actual number is `{known}`)");
        return Err(error(400, "too_many_webhooks", "Too many webhooks", told).into());
    }
    let id = call.ids.alphanumeric("wh_", 24).to_string();
    body.entry("active").or_insert(Json::Bool(true));
    let mut whole = json!({ "id": id }).as_object().cloned().unwrap_or_default();
    whole.append(&mut body);
    whole.insert("created_at".into(), moment::text(call.now_ms()).into());
    whole.insert("updated_at".into(), Json::Null);
    whole.insert("object".into(), WEBHOOK.object.into());
    let webhook = Document::new(id, None, call.now_ms(), whole);
    keep_token(call)?;
    call.store.insert(WEBHOOK.object, &webhook);
    Ok(Answer::json(Json::Object(webhook.body)))
}

/// One that does not say whether it is active stays as it is. What waits for one that rests from now on becomes dead letters.
fn update(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let body = sent(call)?;
    let mut webhook = WEBHOOK.find(call)?;
    webhook.body.extend(body);
    call.touch(&mut webhook);
    keep_token(call)?;
    call.store.update(WEBHOOK.object, &webhook);
    if webhook.body.get("active").and_then(Json::as_bool) == Some(false) {
        outbox::bury(call.store, &webhook.id, call.context.now.millis());
    }
    Ok(Answer::json(Json::Object(webhook.body)))
}

/// What it should be told goes with it.
fn remove(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let webhook = WEBHOOK.find(call)?;
    outbox::forget(call.store, &webhook.id);
    call.store.remove(WEBHOOK.object, &webhook.id);
    Ok(Answer::empty(204))
}

/// What is sent of a webhook, each event once under its right name.
fn sent(call: &Call<'_, '_>) -> Result<Map<String, Json>, ErrorBody> {
    let mut body = call.body(Nulls::Dropped)?;
    let url = body.get("target_url").and_then(Json::as_str).unwrap_or_default();
    target::check(url, call.caller.local).map_err(|told| {
        invalid_payload(format!("Property .target_url {told} (actual value is `{}`)", shortened(url)))
    })?;
    let named = body.get("events").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let mut events: Vec<&str> = Vec::new();
    for name in named.map(spelt) {
        if !events.contains(&name) {
            events.push(name);
        }
    }
    let events = Json::from(events);
    body.insert("events".into(), events);
    Ok(body)
}

fn list_dead(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let webhook = WEBHOOK.find(call)?;
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let after = match call.query.get("starting_after_id") {
        None => 0,
        Some(id) => place(call, &webhook.id, id)?,
    };
    let rows = call.store.rows(
        "SELECT id, type, entity, created_at, dead_at, attempts, failure, body FROM outbox
         WHERE webhook = +?1 AND dead_at IS NOT NULL AND seq > +?2 ORDER BY seq LIMIT +?3",
        &[webhook.id.into(), after.into(), limit.saturating_add(1).into()],
    )?;
    let most = usize::try_from(limit).unwrap_or(0);
    let shown = rows.iter().take(most).map(show_dead).collect::<Result<Vec<Json>, Fault>>()?;
    Ok(Answer::json(Json::Object(onward::envelope(shown, rows.len() > most))))
}

/// Where a dead letter stands among those of its webhook.
fn place(call: &Call<'_, '_>, webhook: &str, id: &str) -> Result<i64, CallError> {
    let row = call.store.row(
        "SELECT seq FROM outbox WHERE id = +?1 AND webhook = +?2 AND dead_at IS NOT NULL",
        &[id.into(), webhook.into()],
    )?;
    let unknown =
        || invalid_query(format!("Property .starting_after_id must be a dead letter (actual value is `{id}`)"));
    Ok(sql::int(&row.ok_or_else(unknown)?, 0)?)
}

fn show_dead(row: &Row) -> Result<Json, Fault> {
    let body: Json = serde_json::from_str(sql::text(row, 7)?).map_err(|error| Fault::new(error.to_string()))?;
    Ok(json!({
        "id": sql::text(row, 0)?, "type": sql::text(row, 1)?, "entity_id": sql::text(row, 2)?,
        "created_at": moment::text(sql::int(row, 3)?), "dead_at": moment::text(sql::int(row, 4)?),
        "attempts": sql::int(row, 5)?, "failure": sql::text_or_null(row, 6)?, "body": body, "object": "dead_letter",
    }))
}

/// Sends again what could not be delivered: all of it, or what is named, to a webhook that is active.
fn resend(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let body = call.body(Nulls::Dropped)?;
    let webhook = WEBHOOK.find(call)?;
    if webhook.body.get("active").and_then(Json::as_bool) != Some(true) {
        let told = format!("The webhook `{}` is not active: set `active` first", webhook.id);
        return Err(error(400, "webhook_not_active", "Webhook is not active", told).into());
    }
    let ids = body.get("ids").and_then(Json::as_array);
    let ids: Option<Vec<&str>> = ids.map(|ids| ids.iter().filter_map(Json::as_str).collect());
    for id in ids.iter().flatten() {
        let known = call.store.row(
            "SELECT 1 FROM outbox WHERE id = +?1 AND webhook = +?2 AND dead_at IS NOT NULL",
            &[(*id).into(), webhook.id.as_str().into()],
        )?;
        known.ok_or_else(|| not_found("dead_letter", id))?;
    }
    let all = "SELECT COUNT(*) FROM outbox WHERE webhook = +?1 AND dead_at IS NOT NULL";
    let count = match &ids {
        Some(ids) => {
            let mut ids = ids.clone();
            ids.sort_unstable();
            ids.dedup();
            i64::try_from(ids.len()).unwrap_or(i64::MAX)
        }
        None => call.store.row(all, &[webhook.id.as_str().into()])?.map_or(Ok(0), |row| sql::int(&row, 0))?,
    };
    outbox::resend(call.store, &webhook.id, ids.as_deref(), call.context.now.millis());
    Ok(Answer::json(json!({ "count": count })))
}
