//! Webhook deliveries: a row for each webhook and event, in the order of the events. Of one entity only the earliest row has a time for its
//! next try. Does not depend on the events, nor on the way in which they are sent.

use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault, SqlRow};
use serde_json::json;

/// The kind of documents that are webhooks.
pub const WEBHOOK: &str = "webhook";
/// The id of the secret that signs deliveries.
pub const TOKEN: &str = "webhook_token";
/// The time of a delivery without a try: it is due at any time, also after the clock was set back.
pub const AT_ONCE: i64 = 0;

/// An event that is to be sent to a webhook.
#[derive(Debug, Clone)]
pub struct WebhookDelivery {
    /// Its own id.
    pub id: String,
    /// The webhook.
    pub webhook: String,
    /// The document that the event is about: deliveries about one document arrive in order.
    pub entity: String,
    /// The name of the event.
    pub event: &'static str,
    /// The customer of the event, so that erasure finds it.
    pub customer: Option<String>,
    /// The text that is sent.
    pub body: String,
}

/// A delivery that is due.
#[derive(Debug)]
pub struct DueDelivery {
    /// Its place in the outbox.
    pub seq: i64,
    /// The text that is sent.
    pub body: String,
}

/// A delivery that was sent and is not dead.
#[derive(Debug)]
pub struct SentDelivery {
    /// The webhook.
    pub webhook: String,
    /// The document that it is about.
    pub entity: String,
    /// The number of failed attempts.
    pub attempts: i64,
    /// The time of the first attempt, or now.
    pub first_at: i64,
}

/// The next attempt of a delivery that failed.
#[derive(Debug)]
pub struct FailedAttempt<'a> {
    /// The number of failed attempts.
    pub attempts: i64,
    /// The time of the first one.
    pub first_at: i64,
    /// The time of the next one, if there is one.
    pub next_at: Option<i64>,
    /// The reason of the failure.
    pub failure: &'a str,
}

/// A key's share of the deliveries of a webhook: the key, and its newest delivery that is too many.
#[derive(Debug)]
pub struct KeyOverflow {
    /// The key that caused the deliveries.
    pub cause: String,
    /// The place of that delivery.
    pub until: i64,
}

/// A waiting delivery.
#[derive(Debug)]
pub struct WaitingDelivery {
    /// Its place in the outbox.
    pub seq: i64,
    /// The document that it is about.
    pub entity: String,
}

/// Lists all webhooks of the project, the oldest first.
pub fn list_webhooks(store: &Store<'_>) -> Result<Vec<Document>, Fault> {
    store.select("kind = +?1 ORDER BY created_at, seq", &[WEBHOOK.into()])
}

/// Queues a delivery, at the flush, in the share of the key that caused its event.
pub fn insert(store: &mut Store<'_>, delivery: WebhookDelivery, cause: &str, now_ms: i64) {
    store.write(
        "INSERT INTO outbox (id, webhook, entity, type, customer, body, created_at, attempts, cause, at)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8, CASE WHEN EXISTS
           (SELECT 1 FROM outbox WHERE webhook = +?2 AND entity = +?3 AND dead_at IS NULL) THEN NULL ELSE ?9 END",
        vec![
            delivery.id.into(),
            delivery.webhook.into(),
            delivery.entity.into(),
            delivery.event.into(),
            delivery.customer.into(),
            delivery.body.into(),
            now_ms.into(),
            cause.into(),
            AT_ONCE.into(),
        ],
    );
}

/// Counts the deliveries that wait.
pub fn count_waiting(store: &Store<'_>) -> Result<i64, Fault> {
    store.row("SELECT COUNT(*) FROM outbox WHERE dead_at IS NULL", &[])?.map_or(Ok(0), |row| sql::int(&row, 0))
}

/// Counts the dead letters.
pub fn count_dead(store: &Store<'_>) -> Result<i64, Fault> {
    store.row("SELECT COUNT(*) FROM outbox WHERE dead_at IS NOT NULL", &[])?.map_or(Ok(0), |row| sql::int(&row, 0))
}

/// Finds the time of the next delivery to a webhook.
pub fn find_next_time(store: &Store<'_>, webhook: &str) -> Result<Option<i64>, Fault> {
    let row = store.row("SELECT MIN(at) FROM outbox WHERE webhook = +?1 AND at IS NOT NULL", &[webhook.into()])?;
    row.map_or(Ok(None), |row| sql::int_or_null(&row, 0))
}

/// Returns a statement that selects the due deliveries whose time fits a condition, except those in progress.
fn due_within(condition: &str) -> String {
    format!(
        "SELECT * FROM (SELECT seq, body FROM outbox WHERE webhook = +?1 AND at IS NOT NULL AND {condition}
           AND NOT EXISTS (SELECT 1 FROM json_each(?4) AS busy WHERE busy.value = outbox.seq) ORDER BY at, seq LIMIT +?5)"
    )
}

/// Finds the due deliveries to a webhook without those that are on their way: retries first, so that new deliveries do not keep them waiting.
/// A retry after `latest_ms` was put off by a clock that was ahead.
pub fn find_due(
    store: &Store<'_>,
    webhook: &str,
    busy: &[i64],
    most: i64,
    now_ms: i64,
    latest_ms: i64,
) -> Result<Vec<DueDelivery>, Fault> {
    let statements = ["at > +?3", "at > 0 AND at <= +?2", "at = 0"].map(due_within);
    let statement = format!("{} LIMIT +?5", statements.join(" UNION ALL "));
    let params = [webhook.into(), now_ms.into(), latest_ms.into(), json!(busy).to_string().into(), most.into()];
    let due = |row: &SqlRow| Ok(DueDelivery { seq: sql::int(row, 0)?, body: sql::text(row, 1)?.to_owned() });
    store.rows(&statement, &params)?.iter().map(due).collect()
}

/// Finds a delivery by its place, unless it is dead.
pub fn find_sent(store: &Store<'_>, seq: i64, now_ms: i64) -> Result<Option<SentDelivery>, Fault> {
    let row = store.row(
        "SELECT webhook, entity, attempts, COALESCE(first_at, ?2) FROM outbox WHERE seq = +?1 AND dead_at IS NULL",
        &[seq.into(), now_ms.into()],
    )?;
    let Some(row) = row else { return Ok(None) };
    let (webhook, entity) = (sql::text(&row, 0)?.to_owned(), sql::text(&row, 1)?.to_owned());
    Ok(Some(SentDelivery { webhook, entity, attempts: sql::int(&row, 2)?, first_at: sql::int(&row, 3)? }))
}

/// Deletes a delivery. Runs at once.
pub fn delete(store: &Store<'_>, seq: i64) -> Result<(), Fault> {
    store.write_now("DELETE FROM outbox WHERE seq = +?1", &[seq.into()])
}

/// Gives the earliest delivery of an entity its time. Runs at once.
pub fn advance_entity(store: &Store<'_>, webhook: &str, entity: &str) -> Result<(), Fault> {
    store.write_now(
        "UPDATE outbox SET at = ?3 WHERE seq =
           (SELECT MIN(seq) FROM outbox WHERE webhook = +?1 AND entity = +?2 AND dead_at IS NULL) AND at IS NULL",
        &[webhook.into(), entity.into(), AT_ONCE.into()],
    )
}

/// Records a failed attempt. Runs at once.
pub fn update_attempt(store: &Store<'_>, seq: i64, attempt: &FailedAttempt<'_>) -> Result<(), Fault> {
    let FailedAttempt { attempts, first_at, next_at, failure } = *attempt;
    store.write_now(
        "UPDATE outbox SET attempts = ?2, first_at = ?3, at = ?4, failure = ?5 WHERE seq = +?1",
        &[seq.into(), attempts.into(), first_at.into(), next_at.into(), failure.into()],
    )
}

/// Finds the newest delivery beyond the share of the key that caused a delivery.
pub fn find_overflow(store: &Store<'_>, seq: i64, share: i64) -> Result<Option<KeyOverflow>, Fault> {
    let beyond = store.row(
        "SELECT one.cause, kept.seq FROM outbox AS one JOIN outbox AS kept ON kept.webhook = one.webhook AND kept.cause = one.cause
         WHERE one.seq = +?1 ORDER BY kept.seq DESC LIMIT 1 OFFSET +?2",
        &[seq.into(), share.into()],
    )?;
    let Some(row) = beyond else { return Ok(None) };
    Ok(Some(KeyOverflow { cause: sql::text(&row, 0)?.to_owned(), until: sql::int(&row, 1)? }))
}

/// Lists the oldest deliveries beyond the share of a key.
pub fn list_overflow(
    store: &Store<'_>,
    webhook: &str,
    overflow: &KeyOverflow,
    most: i64,
) -> Result<Vec<WaitingDelivery>, Fault> {
    let oldest =
        "SELECT seq, entity FROM outbox WHERE webhook = +?1 AND cause = +?2 AND seq <= +?3 ORDER BY seq LIMIT +?4";
    let params = [webhook.into(), overflow.cause.as_str().into(), overflow.until.into(), most.into()];
    let waiting = |row: &SqlRow| Ok(WaitingDelivery { seq: sql::int(row, 0)?, entity: sql::text(row, 1)?.to_owned() });
    store.rows(oldest, &params)?.iter().map(waiting).collect()
}

/// Marks all waiting deliveries to a webhook as dead letters, at the flush.
pub fn mark_dead(store: &mut Store<'_>, webhook: &str, now_ms: i64) {
    store.write(
        "UPDATE outbox SET dead_at = ?2, at = NULL WHERE webhook = +?1 AND dead_at IS NULL",
        vec![webhook.into(), now_ms.into()],
    );
}

/// Makes dead letters of a webhook wait again, at the flush: all, or those with these ids. The earliest of each entity is tried, as it may be
/// earlier than the deliveries that wait now.
pub fn revive(store: &mut Store<'_>, webhook: &str, ids: Option<&[&str]>) {
    let (which, ids) = match ids {
        Some(ids) => ("id IN (SELECT value FROM json_each(?2))", json!(ids).to_string()),
        None => ("?2 = ''", String::new()),
    };
    store.write(
        format!(
            "UPDATE outbox SET dead_at = NULL, at = NULL, attempts = 0, first_at = NULL, failure = NULL
             WHERE webhook = +?1 AND dead_at IS NOT NULL AND {which}"
        ),
        vec![webhook.into(), ids.into()],
    );
    store.write(
        "UPDATE outbox SET at = CASE WHEN seq IN
           (SELECT MIN(seq) FROM outbox WHERE webhook = +?1 AND dead_at IS NULL GROUP BY entity) THEN COALESCE(at, ?2) ELSE NULL END
         WHERE webhook = +?1 AND dead_at IS NULL",
        vec![webhook.into(), AT_ONCE.into()],
    );
}

/// Deletes all deliveries to a webhook, at the flush.
pub fn delete_of_webhook(store: &mut Store<'_>, webhook: &str) {
    store.write("DELETE FROM outbox WHERE webhook = +?1", vec![webhook.into()]);
}

/// Deletes all deliveries about a customer, at the flush. The earliest remaining delivery of each entity is tried.
pub fn delete_of_customer(store: &mut Store<'_>, customer: &str) {
    store.write("DELETE FROM outbox WHERE customer = +?1", vec![customer.into()]);
    store.write(
        "UPDATE outbox SET at = ?1 WHERE at IS NULL AND dead_at IS NULL AND NOT EXISTS
           (SELECT 1 FROM outbox AS before WHERE before.webhook = outbox.webhook AND before.entity = outbox.entity
              AND before.dead_at IS NULL AND before.seq < outbox.seq)",
        vec![AT_ONCE.into()],
    );
}

/// Shortens waits that are longer than the pause of their attempt, after the clock was set back. A pause is twice as long as the one before.
/// Runs at once.
pub fn shorten_waits(store: &Store<'_>, webhook: &str, now_ms: i64) -> Result<(), Fault> {
    store.write_now(
        "UPDATE outbox SET at = ?2 + (1 << MAX(attempts - 2, 0)) * 60000
         WHERE webhook = +?1 AND at > +?2 AND at > ?2 + (1 << MAX(attempts - 2, 0)) * 60000",
        &[webhook.into(), now_ms.into()],
    )
}

/// Writes a secret that the database generates to sign the deliveries of a project, at the flush, unless there is one.
pub fn insert_token(store: &mut Store<'_>, project: &str, now_ms: i64) {
    store.write(
        "INSERT INTO document (seq, kind, id, created_at, body)
         VALUES ((SELECT seq FROM next_document), 'secret', ?1, ?2, json_object('secret', 'whtk_' || lower(hex(randomblob(32))), 'project', ?3))
         ON CONFLICT (kind, id) DO NOTHING",
        vec![TOKEN.into(), now_ms.into(), project.into()],
    );
}

/// Writes the secret that signs the deliveries of a project since a time, at the flush, unless a later one is stored.
pub fn update_token(store: &mut Store<'_>, project: &str, token: &str, since_ms: i64, now_ms: i64) {
    store.write(
        "INSERT INTO document (seq, kind, id, created_at, body)
         VALUES ((SELECT seq FROM next_document), 'secret', ?1, ?2, json_object('secret', ?3, 'project', ?4, 'since_ms', ?5))
         ON CONFLICT (kind, id) DO UPDATE SET updated_at = ?2, body = excluded.body
         WHERE COALESCE(json_extract(body, '$.since_ms'), 0) <= ?5",
        vec![TOKEN.into(), now_ms.into(), token.into(), project.into(), since_ms.into()],
    );
}

/// A delivery that was given up.
#[derive(Debug)]
pub struct DeadLetter {
    /// Its id.
    pub id: String,
    /// Type of the event.
    pub event_type: String,
    /// The entity that it is about.
    pub entity_id: String,
    /// Time of the event, in milliseconds since 1970.
    pub created_at: i64,
    /// Time at which it was given up.
    pub dead_at: i64,
    /// Number of attempts.
    pub attempts: i64,
    /// Reason of the last failure.
    pub failure: Option<String>,
    /// The body, as JSON.
    pub body: String,
}

/// Lists the dead letters of a webhook after a position, up to a number.
pub fn list_dead(store: &Store<'_>, webhook_id: &str, after: i64, limit: i64) -> Result<Vec<DeadLetter>, Fault> {
    let rows = store.rows(
        "SELECT id, type, entity, created_at, dead_at, attempts, failure, body FROM outbox
         WHERE webhook = +?1 AND dead_at IS NOT NULL AND seq > +?2 ORDER BY seq LIMIT +?3",
        &[webhook_id.into(), after.into(), limit.into()],
    )?;
    rows.iter().map(read_dead).collect()
}

fn read_dead(row: &SqlRow) -> Result<DeadLetter, Fault> {
    Ok(DeadLetter {
        id: sql::text(row, 0)?.to_owned(),
        event_type: sql::text(row, 1)?.to_owned(),
        entity_id: sql::text(row, 2)?.to_owned(),
        created_at: sql::int(row, 3)?,
        dead_at: sql::int(row, 4)?,
        attempts: sql::int(row, 5)?,
        failure: sql::text_or_null(row, 6)?.map(str::to_owned),
        body: sql::text(row, 7)?.to_owned(),
    })
}

/// Finds the position of a dead letter of a webhook.
pub fn find_dead_position(store: &Store<'_>, webhook_id: &str, id: &str) -> Result<Option<i64>, Fault> {
    let row = store.row(
        "SELECT seq FROM outbox WHERE id = +?1 AND webhook = +?2 AND dead_at IS NOT NULL",
        &[id.into(), webhook_id.into()],
    )?;
    row.map(|row| sql::int(&row, 0)).transpose()
}

/// Counts the dead letters of a webhook.
pub fn count_dead_of(store: &Store<'_>, webhook_id: &str) -> Result<i64, Fault> {
    let row =
        store.row("SELECT COUNT(*) FROM outbox WHERE webhook = +?1 AND dead_at IS NOT NULL", &[webhook_id.into()])?;
    row.map_or(Ok(0), |row| sql::int(&row, 0))
}
