//! What webhooks are to be told: a row for each webhook and event, written in the commit of its cause, delivered at least once and, of
//! one entity, in order. It must not know which events there are, nor how anything is sent.
//!
//! Of an entity only the earliest row has a moment; the next is given one when that has arrived, so that none overtakes it. What could
//! not be delivered for a day becomes a dead letter and its webhook rests, as published; what waited behind it becomes one too, so that
//! all of it can be looked at and sent again.

use crate::digest::hex;
use crate::moment;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault, Row};
use hmac::{Hmac, KeyInit, Mac};
use scrip::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use sha2::Sha256;

/// The kind of documents that webhooks are.
pub const WEBHOOK: &str = "webhook";
/// The place among the project's secrets of the one by which receivers know us.
pub const TOKEN: &str = "webhook_token";
/// When it is tried again, in minutes after the first try: as published, up to a day.
const AGAIN_MIN: [i64; 12] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_440];
/// Letters on their way at once: as many as the platform lets an event have.
const SLOTS: usize = 6;
/// Of one webhook, where there are others.
const SLOTS_OF_ONE: usize = 4;
/// Of all webhooks together whose last letter did not arrive: what hangs takes the ways of nobody else.
const SLOTS_OF_FAILING: usize = 2;
/// Letters that may wait for a webhook that fails: beyond it is disabled before its day is over.
const WAITING_MAX: i64 = 100_000;
/// Characters that are kept of what went wrong.
const FAILURE_MAX: usize = 200;

/// Something that a webhook is to be told.
#[derive(Debug, Clone)]
pub struct Letter {
    /// Its own id.
    pub id: String,
    /// The webhook.
    pub webhook: String,
    /// The document that it is about: of one, letters arrive in order.
    pub entity: String,
    /// The name of the event.
    pub event: &'static str,
    /// The customer of whom it tells, so that erasure finds it.
    pub customer: Option<String>,
    /// What is sent.
    pub body: String,
}

/// Notes letters at the commit, and wakes whoever delivers them.
pub fn post(store: &mut Store<'_>, now_ms: i64, letters: Vec<Letter>) {
    if letters.is_empty() {
        return;
    }
    for letter in letters {
        store.write(
            "INSERT INTO outbox (id, webhook, entity, type, customer, body, created_at, attempts, at)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, CASE WHEN EXISTS
               (SELECT 1 FROM outbox WHERE webhook = +?2 AND entity = +?3 AND dead_at IS NULL) THEN NULL ELSE ?7 END",
            vec![
                letter.id.into(),
                letter.webhook.into(),
                letter.entity.into(),
                letter.event.into(),
                letter.customer.into(),
                letter.body.into(),
                now_ms.into(),
            ],
        );
    }
    store.carry_at(now_ms);
}

/// Asks for the alarm of what waits to be tried, for whoever sets it to another moment.
pub fn wake(store: &mut Store<'_>) -> Result<(), Fault> {
    for webhook in webhooks(store)? {
        if let Some(at) = next_of(store, &webhook.id)? {
            store.carry_at(at);
        }
    }
    Ok(())
}

/// A letter that is sent now.
#[derive(Debug, Serialize)]
pub struct Sent {
    /// Its place in the outbox.
    pub seq: i64,
    /// The webhook.
    pub webhook: String,
    /// Where it goes.
    pub url: String,
    /// With which headers.
    pub headers: Vec<(&'static str, String)>,
    /// What is sent.
    pub body: String,
}

/// What came of one.
#[derive(Debug, Deserialize)]
pub struct Outcome {
    /// Its place in the outbox.
    pub seq: i64,
    /// The status of the answer, where there was one.
    #[serde(default)]
    pub status: Option<u16>,
    /// Why there was none.
    #[serde(default)]
    pub failure: Option<String>,
}

/// What whoever carries letters has on its way, and knows of webhooks.
#[derive(Debug, Default, Deserialize)]
pub struct Carried {
    /// The letters that are on their way, and their webhooks.
    #[serde(default)]
    pub busy: Vec<(i64, String)>,
    /// The webhooks whose last letter did not arrive.
    #[serde(default)]
    pub failing: Vec<String>,
    /// What came of letters.
    #[serde(default)]
    pub outcomes: Vec<Outcome>,
    /// Whether nothing more is taken.
    #[serde(default)]
    pub closing: bool,
}

/// What is to be sent now, and when there is more: the moment is past when something waits for a way that is free.
#[derive(Debug, Serialize)]
pub struct Round {
    /// What is to be sent.
    pub letters: Vec<Sent>,
    /// When the next is due.
    pub next: Option<i64>,
    /// Whether all ways are taken, so that nothing new can leave before something has come of a letter.
    pub full: bool,
}

/// Settles what came of letters, and gives what is to be sent next; all in one commit.
pub fn round(store: &mut Store<'_>, context: &Context, carried: &Carried) -> Result<Round, Fault> {
    settle(store, context, &carried.outcomes)?;
    let settled = |seq: i64| carried.outcomes.iter().any(|outcome| outcome.seq == seq);
    let busy: Vec<&(i64, String)> = carried.busy.iter().filter(|(seq, _)| !settled(*seq)).collect();
    let now_ms = context.now.millis();
    let mut round = Round { letters: Vec::new(), next: None, full: false };
    let mut webhooks = webhooks(store)?;
    webhooks.retain(|webhook| webhook.body.get("active").and_then(Json::as_bool) == Some(true));
    let of = |id: &str| busy.iter().filter(|(_, webhook)| webhook == id).count();
    let fails = |id: &str| carried.failing.iter().any(|failing| failing == id);
    // Who has least on its way comes first, and who fails comes last.
    webhooks.sort_by_key(|webhook| (fails(&webhook.id), of(&webhook.id)));
    let mut free = if carried.closing { 0 } else { SLOTS.saturating_sub(busy.len()) };
    let failing = busy.iter().filter(|(_, webhook)| fails(webhook)).count();
    let mut free_of_failing = SLOTS_OF_FAILING.saturating_sub(failing);
    let mut token = None;
    for webhook in &webhooks {
        let of_one = if webhooks.len() == 1 { SLOTS } else { SLOTS_OF_ONE };
        let mut most = free.min(of_one.saturating_sub(of(&webhook.id)));
        if fails(&webhook.id) {
            most = most.min(free_of_failing);
        }
        if most > 0 {
            let rows = due(store, &webhook.id, now_ms, most, &busy)?;
            free = free.saturating_sub(rows.len());
            if fails(&webhook.id) {
                free_of_failing = free_of_failing.saturating_sub(rows.len());
            }
            if !rows.is_empty() && token.is_none() {
                token = Some(token_of(store)?);
            }
            for row in &rows {
                round.letters.push(sent(row, webhook, token.as_deref().unwrap_or_default(), now_ms)?);
            }
        }
        if let Some(at) = next_of(store, &webhook.id)? {
            round.next = Some(round.next.map_or(at, |earlier| earlier.min(at)));
        }
    }
    round.full = free == 0;
    Ok(round)
}

/// All webhooks of the project, of which there are few.
pub fn webhooks(store: &Store<'_>) -> Result<Vec<Document>, Fault> {
    store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 ORDER BY created_at, seq",
        &[WEBHOOK.into()],
    )
}

fn next_of(store: &Store<'_>, webhook: &str) -> Result<Option<i64>, Fault> {
    let row = store.row("SELECT MIN(at) FROM outbox WHERE webhook = +?1 AND at IS NOT NULL", &[webhook.into()])?;
    row.map_or(Ok(None), |row| sql::int_or_null(&row, 0))
}

/// What is due for a webhook and not on its way.
fn due(store: &Store<'_>, webhook: &str, now_ms: i64, most: usize, busy: &[&(i64, String)]) -> Result<Vec<Row>, Fault> {
    let busy: Vec<i64> = busy.iter().map(|(seq, _)| *seq).collect();
    store.rows(
        "SELECT seq, body FROM outbox WHERE webhook = +?1 AND at IS NOT NULL AND at <= +?2
           AND NOT EXISTS (SELECT 1 FROM json_each(?3) AS busy WHERE busy.value = outbox.seq) ORDER BY at, seq LIMIT +?4",
        &[webhook.into(), now_ms.into(), json!(busy).to_string().into(), i64::try_from(most).unwrap_or(0).into()],
    )
}

/// The secret by which receivers know us.
fn token_of(store: &Store<'_>) -> Result<String, Fault> {
    let kept = store.document("secret", TOKEN)?;
    let token = kept.and_then(|kept| kept.body.get("secret").and_then(Json::as_str).map(str::to_owned));
    token.ok_or_else(|| Fault::new("the project has webhooks and no token to sign with"))
}

fn sent(row: &Row, webhook: &Document, token: &str, now_ms: i64) -> Result<Sent, Fault> {
    let body = sql::text(row, 1)?.to_owned();
    let url = webhook.body.get("target_url").and_then(Json::as_str).unwrap_or_default().to_owned();
    let seconds = now_ms.div_euclid(1_000).to_string();
    let headers = vec![
        ("content-type", "application/json".to_owned()),
        ("user-agent", "Scrip-Webhooks/1".to_owned()),
        ("x-voucherify-signature", seal(token, &[&body])?),
        ("scrip-signature", format!("t={seconds},v1={}", seal(token, &[&seconds, ".", &body])?)),
    ];
    Ok(Sent { seq: sql::int(row, 0)?, webhook: webhook.id.clone(), url, headers, body })
}

/// HMAC-SHA256 in lowercase hexadecimal.
fn seal(token: &str, parts: &[&str]) -> Result<String, Fault> {
    let mut seal = Hmac::<Sha256>::new_from_slice(token.as_bytes()).map_err(|error| Fault::new(error.to_string()))?;
    parts.iter().for_each(|part| seal.update(part.as_bytes()));
    Ok(hex(&seal.finalize().into_bytes()))
}

/// Writes down what came of letters, and lets what waited behind them be tried.
fn settle(store: &mut Store<'_>, context: &Context, outcomes: &[Outcome]) -> Result<(), Fault> {
    if outcomes.is_empty() {
        return Ok(());
    }
    let now_ms = context.now.millis();
    for outcome in outcomes {
        let found = store.row(
            "SELECT webhook, entity, attempts, COALESCE(first_at, ?2) FROM outbox WHERE seq = +?1 AND dead_at IS NULL",
            &[outcome.seq.into(), now_ms.into()],
        )?;
        // Its webhook may have been removed while it was on its way.
        let Some(row) = found else { continue };
        let (webhook, entity) = (sql::text(&row, 0)?, sql::text(&row, 1)?);
        if outcome.status.is_some_and(|status| (200..300).contains(&status)) {
            store.write_now("DELETE FROM outbox WHERE seq = +?1", &[outcome.seq.into()])?;
            advance(store, (webhook, entity), now_ms)?;
        } else {
            let tries = (sql::int(&row, 2)?, sql::int(&row, 3)?);
            let failure = failure_of(outcome);
            fail(store, (outcome.seq, webhook), tries, &failure, now_ms)?;
        }
    }
    Ok(())
}

/// Gives the earliest letter of an entity its moment.
fn advance(store: &Store<'_>, (webhook, entity): (&str, &str), now_ms: i64) -> Result<(), Fault> {
    store.write_now(
        "UPDATE outbox SET at = ?3 WHERE seq =
           (SELECT MIN(seq) FROM outbox WHERE webhook = +?1 AND entity = +?2 AND dead_at IS NULL) AND at IS NULL",
        &[webhook.into(), entity.into(), now_ms.into()],
    )
}

/// What went wrong, in a few words.
fn failure_of(outcome: &Outcome) -> String {
    let told = match (&outcome.failure, outcome.status) {
        (Some(failure), _) => failure.clone(),
        (None, Some(status)) => format!("the answer had the status {status}"),
        (None, None) => "there was no answer".to_owned(),
    };
    told.chars().take(FAILURE_MAX).collect()
}

/// A letter that did not arrive is tried again, or is a dead one, and its webhook rests.
fn fail(
    store: &mut Store<'_>,
    (seq, webhook): (i64, &str),
    (attempts, first_at): (i64, i64),
    failure: &str,
    now_ms: i64,
) -> Result<(), Fault> {
    let tried = attempts.saturating_add(1);
    let again = usize::try_from(attempts).ok().and_then(|place| AGAIN_MIN.get(place));
    let at = again.map(|minutes| first_at.saturating_add(minutes.saturating_mul(60_000)).max(now_ms.saturating_add(1)));
    store.write_now(
        "UPDATE outbox SET attempts = ?2, first_at = ?3, at = ?4, failure = ?5 WHERE seq = +?1",
        &[seq.into(), tried.into(), first_at.into(), at.into(), failure.into()],
    )?;
    if at.is_none() || is_overfull(store, webhook)? {
        disable(store, webhook, now_ms)?;
    }
    Ok(())
}

fn is_overfull(store: &Store<'_>, webhook: &str) -> Result<bool, Fault> {
    let row = store.row(
        "SELECT 1 FROM outbox WHERE webhook = +?1 AND dead_at IS NULL LIMIT 1 OFFSET ?2",
        &[webhook.into(), WAITING_MAX.into()],
    )?;
    Ok(row.is_some())
}

/// Lets a webhook rest that has not been reached.
fn disable(store: &mut Store<'_>, webhook: &str, now_ms: i64) -> Result<(), Fault> {
    if let Some(mut document) = store.document(WEBHOOK, webhook)? {
        document.body.insert("active".into(), false.into());
        document.body.insert("updated_at".into(), moment::text(now_ms).into());
        document.updated_at = Some(now_ms);
        store.update(WEBHOOK, &document);
        store.note(format!("the webhook `{webhook}` is disabled: what it should be told did not arrive"));
    }
    bury(store, webhook, now_ms);
    store.commit()
}

/// Makes dead letters of all that waits for a webhook, at the commit.
pub fn bury(store: &mut Store<'_>, webhook: &str, now_ms: i64) {
    store.write(
        "UPDATE outbox SET dead_at = ?2, at = NULL WHERE webhook = +?1 AND dead_at IS NULL",
        vec![webhook.into(), now_ms.into()],
    );
    store.leaves_later();
}

/// Lets dead letters of a webhook be tried again at the commit: all, or those with these ids.
pub fn resend(store: &mut Store<'_>, webhook: &str, ids: Option<&[&str]>, now_ms: i64) {
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
    // The earliest of each entity is tried, as it may be earlier than what waits now.
    store.write(
        "UPDATE outbox SET at = CASE WHEN seq IN
           (SELECT MIN(seq) FROM outbox WHERE webhook = +?1 AND dead_at IS NULL GROUP BY entity) THEN COALESCE(at, ?2) ELSE NULL END
         WHERE webhook = +?1 AND dead_at IS NULL",
        vec![webhook.into(), now_ms.into()],
    );
    store.carry_at(now_ms);
}

/// Forgets all that a webhook should be told, at the commit.
pub fn forget(store: &mut Store<'_>, webhook: &str) {
    store.write("DELETE FROM outbox WHERE webhook = +?1", vec![webhook.into()]);
}

/// Forgets all that tells of a customer, at the commit: what waited behind it is tried.
pub fn erase(store: &mut Store<'_>, customer: &str, now_ms: i64) {
    store.write("DELETE FROM outbox WHERE customer = +?1", vec![customer.into()]);
    store.write(
        "UPDATE outbox SET at = ?1 WHERE at IS NULL AND dead_at IS NULL AND NOT EXISTS
           (SELECT 1 FROM outbox AS before WHERE before.webhook = outbox.webhook AND before.entity = outbox.entity
              AND before.dead_at IS NULL AND before.seq < outbox.seq)",
        vec![now_ms.into()],
    );
    store.carry_at(now_ms);
}
