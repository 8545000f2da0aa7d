//! Queue of webhook deliveries: one row for each webhook and event, written in the commit of its cause. Delivery is at least
//! once, and in order for one entity.
//!
//! Only the earliest row of an entity has a due time; the next one gets it after that delivery, so that the order is preserved.
//! After a day of failures a delivery becomes a dead letter and its webhook is deactivated, as published. Deliveries that
//! waited become dead letters too, so that all can be viewed and sent again.
//! Each key has its share of a webhook's queue, from which its own oldest deliveries are dropped. Times and numbers of free slots
//! saturate.

use crate::constant_time::hex;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::store::webhooks::outbox::{
    self, AT_ONCE, DueDelivery, FailedAttempt, SentDelivery, TOKEN, WEBHOOK, WebhookDelivery,
};
use crate::timestamp;
use hmac::{Hmac, KeyInit, Mac};
use scrip::Context;
use scrip::count::Countable;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::Sha256;
use std::collections::BTreeSet;

/// Times of retries in minutes after the first attempt: as published, up to a day.
const AGAIN_MIN: [i64; 12] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_440];
/// Maximum delay of a retry in milliseconds.
const AGAIN_MAX_MS: i64 = 1_440 * 60_000;
/// Maximum number of concurrent deliveries: the platform's limit for one event.
const SLOTS: usize = 6;
/// Maximum number for one webhook when there are others.
const SLOTS_OF_ONE: usize = 4;
/// Maximum number for all webhooks whose last delivery failed, so that they do not block the others.
const SLOTS_OF_FAILING: usize = 2;
/// Maximum number of deliveries, waiting or dead, of one key for a failing webhook. Beyond it the oldest of the key are dropped.
pub const OF_KEY_MAX: i64 = 100_000;
/// Maximum number dropped after one failure, because the object answers no calls meanwhile.
const DROPPED_MAX: i64 = 5_000;
/// Maximum length of a stored failure text in characters.
const FAILURE_MAX: usize = 200;

/// Queues deliveries in the share of the key that caused them, and schedules the dispatcher.
pub fn enqueue(store: &mut Store<'_>, now_ms: i64, cause: &str, queued_deliveries: Vec<WebhookDelivery>) {
    if queued_deliveries.is_empty() {
        return;
    }
    for delivery in queued_deliveries {
        outbox::insert(store, delivery, cause, now_ms);
    }
    store.schedule_deliveries_at(now_ms);
}

/// Requests the alarm for the next delivery. Needed when the alarm is set for another reason.
pub fn schedule_alarm(store: &mut Store<'_>, now_ms: i64) -> Result<(), Fault> {
    for webhook in outbox::list_webhooks(store)? {
        if let Some(at) = next_of(store, &webhook.id, now_ms)? {
            store.schedule_deliveries_at(at);
        }
    }
    Ok(())
}

/// Delivery to be sent now.
#[derive(Debug, Serialize)]
pub struct DeliveryRequest {
    /// Sequence number in the outbox.
    pub seq: i64,
    /// Id of the webhook.
    pub webhook: String,
    /// URL of the webhook.
    pub url: String,
    /// Headers of the request.
    pub headers: Vec<(&'static str, String)>,
    /// Body of the request.
    pub body: String,
}

/// Outcome of a delivery.
#[derive(Debug, Deserialize)]
pub struct DeliveryOutcome {
    /// Sequence number in the outbox.
    pub seq: i64,
    /// Status of the response, if there was one.
    #[serde(default)]
    pub status: Option<u16>,
    /// Reason why there was no response.
    #[serde(default)]
    pub failure: Option<String>,
}

/// Report of the dispatcher: deliveries in progress, failing webhooks and outcomes.
#[derive(Debug, Default, Deserialize)]
pub struct DispatchReport {
    /// Deliveries in progress, each with its webhook.
    #[serde(default)]
    pub busy: Vec<(i64, String)>,
    /// Webhooks whose last delivery failed.
    #[serde(default)]
    pub failing: Vec<String>,
    /// Outcomes of deliveries.
    #[serde(default)]
    pub outcomes: Vec<DeliveryOutcome>,
    /// True when the dispatcher accepts no further deliveries.
    #[serde(default)]
    pub closing: bool,
}

/// Deliveries to be sent now. The next due time is in the past when a delivery waits for a free slot.
#[derive(Debug, Serialize)]
pub struct DispatchBatch {
    /// Deliveries to be sent.
    pub deliveries: Vec<DeliveryRequest>,
    /// Due time of the next delivery.
    pub next: Option<i64>,
    /// True when no slot is free until an outcome is reported.
    pub full: bool,
}

/// Returns the next deliveries, when the outcomes of the report are recorded.
pub fn next_batch(store: &Store<'_>, context: &Context, report: &DispatchReport) -> Result<DispatchBatch, Fault> {
    let is_reported = |seq: i64| report.outcomes.iter().any(|outcome| outcome.seq == seq);
    let busy: Vec<&(i64, String)> = report.busy.iter().filter(|(seq, _)| !is_reported(*seq)).collect();
    let now_ms = context.now.millis();
    let mut round = DispatchBatch { deliveries: Vec::new(), next: None, full: false };
    let mut webhooks = outbox::list_webhooks(store)?;
    webhooks.retain(|webhook| webhook.body.get("active").and_then(Json::as_bool) == Some(true));
    let of = |id: &str| busy.iter().filter(|(_, webhook)| webhook == id).count();
    let fails = |id: &str| report.failing.iter().any(|failing| failing == id);
    // Webhooks with the fewest deliveries in progress come first, failing ones last.
    webhooks.sort_by_key(|webhook| (fails(&webhook.id), of(&webhook.id)));
    let mut free = if report.closing { 0 } else { SLOTS.remaining_after(busy.len()) };
    let failing = busy.iter().filter(|(_, webhook)| fails(webhook)).count();
    let mut free_of_failing = SLOTS_OF_FAILING.remaining_after(failing);
    let mut token = None;
    for webhook in &webhooks {
        let of_one = if webhooks.len() == 1 { SLOTS } else { SLOTS_OF_ONE };
        let mut most = free.min(of_one.remaining_after(of(&webhook.id)));
        if fails(&webhook.id) {
            most = most.min(free_of_failing);
        }
        if most > 0 {
            let rows = due(store, &webhook.id, now_ms, most, &busy)?;
            free = free.remaining_after(rows.len());
            if fails(&webhook.id) {
                free_of_failing = free_of_failing.remaining_after(rows.len());
            }
            if !rows.is_empty() && token.is_none() {
                token = Some(token_of(store)?);
            }
            for row in rows {
                round.deliveries.push(sent(row, webhook, token.as_deref().unwrap_or_default(), now_ms)?);
            }
        }
        if let Some(at) = next_of(store, &webhook.id, now_ms)? {
            round.next = Some(round.next.map_or(at, |earlier| earlier.min(at)));
        }
    }
    round.full = free == 0;
    Ok(round)
}

/// Returns when the next delivery of a webhook is due; at most the maximum delay from now.
fn next_of(store: &Store<'_>, webhook: &str, now_ms: i64) -> Result<Option<i64>, Fault> {
    let at = outbox::find_next_time(store, webhook)?;
    let latest = timestamp::later(now_ms, AGAIN_MAX_MS);
    Ok(at.map(|at| if at == AT_ONCE || at > latest { now_ms } else { at }))
}

/// Returns due deliveries of a webhook that are not in progress. Retries come first; their delays bound their number, so new
/// deliveries do not block them. A retry beyond the maximum delay was scheduled by a clock that was ahead.
fn due(
    store: &Store<'_>,
    webhook: &str,
    now_ms: i64,
    most: usize,
    busy: &[&(i64, String)],
) -> Result<Vec<DueDelivery>, Fault> {
    let busy: Vec<i64> = busy.iter().map(|(seq, _)| *seq).collect();
    let most = i64::try_from(most).unwrap_or(0);
    outbox::find_due(store, webhook, &busy, most, now_ms, timestamp::later(now_ms, AGAIN_MAX_MS))
}

/// Returns the secret that signs deliveries.
fn token_of(store: &Store<'_>) -> Result<String, Fault> {
    let secret = store.document("secret", TOKEN)?;
    let token = secret.and_then(|secret| secret.body.get("secret").and_then(Json::as_str).map(str::to_owned));
    token.ok_or_else(|| Fault::new("the project has webhooks and no token to sign with"))
}

fn sent(due: DueDelivery, webhook: &Document, token: &str, now_ms: i64) -> Result<DeliveryRequest, Fault> {
    let DueDelivery { seq, body } = due;
    let url = webhook.body.get("target_url").and_then(Json::as_str).unwrap_or_default().to_owned();
    let seconds = now_ms.div_euclid(1_000).to_string();
    let headers = vec![
        ("content-type", "application/json".to_owned()),
        ("user-agent", "Scrip-Webhooks/1".to_owned()),
        ("x-voucherify-signature", seal(token, &[&body])?),
        ("scrip-signature", format!("t={seconds},v1={}", seal(token, &[&seconds, ".", &body])?)),
    ];
    Ok(DeliveryRequest { seq, webhook: webhook.id.clone(), url, headers, body })
}

/// Returns the HMAC-SHA256 in lowercase hexadecimal.
fn seal(token: &str, parts: &[&str]) -> Result<String, Fault> {
    let mut seal = Hmac::<Sha256>::new_from_slice(token.as_bytes()).map_err(|error| Fault::new(error.to_string()))?;
    parts.iter().for_each(|part| seal.update(part.as_bytes()));
    Ok(hex(&seal.finalize().into_bytes()))
}

/// Records outcomes, and makes the deliveries after them due.
pub fn record_outcomes(store: &mut Store<'_>, context: &Context, outcomes: &[DeliveryOutcome]) -> Result<(), Fault> {
    let now_ms = context.now.millis();
    let mut disabled = BTreeSet::new();
    for outcome in outcomes {
        // The webhook may have been deleted meanwhile.
        let Some(delivery) = outbox::find_sent(store, outcome.seq, now_ms)? else { continue };
        // All deliveries of a webhook become dead letters with its first one.
        if disabled.contains(&delivery.webhook) {
            continue;
        }
        if outcome.status.is_some_and(|status| (200..300).contains(&status)) {
            outbox::delete(store, outcome.seq)?;
            outbox::advance_entity(store, &delivery.webhook, &delivery.entity)?;
        } else {
            let is_last = fail(store, outcome.seq, &delivery, &failure_of(outcome), now_ms)?;
            if is_last {
                disabled.insert(delivery.webhook);
            }
        }
    }
    Ok(())
}

/// Returns the reason of a failure as a short text.
fn failure_of(outcome: &DeliveryOutcome) -> String {
    let message = match (&outcome.failure, outcome.status) {
        (Some(failure), _) => failure.clone(),
        (None, Some(status)) => format!("the answer had the status {status}"),
        (None, None) => "there was no answer".to_owned(),
    };
    message.chars().take(FAILURE_MAX).collect()
}

/// Schedules the retry of a failed delivery, or queues that it becomes a dead letter and its webhook inactive. Returns true for the latter.
fn fail(store: &mut Store<'_>, seq: i64, delivery: &SentDelivery, failure: &str, now_ms: i64) -> Result<bool, Fault> {
    let SentDelivery { webhook, attempts, first_at, .. } = delivery;
    let tried = attempts.saturating_add(1); // Attempts are few.
    // A first attempt by a clock that was ahead would delay all retries.
    let first_at = now_ms.min(*first_at);
    let again = usize::try_from(*attempts).ok().and_then(|place| AGAIN_MIN.get(place));
    let next_at = again.map(|minutes| {
        // Minutes of a constant list.
        timestamp::later(first_at, minutes.saturating_mul(60_000)).max(timestamp::later(now_ms, 1))
    });
    outbox::update_attempt(store, seq, &FailedAttempt { attempts: tried, first_at, next_at, failure })?;
    if next_at.is_none() {
        disable(store, webhook, now_ms)?;
        return Ok(true);
    }
    enforce_key_share(store, webhook, seq)?;
    Ok(false)
}

/// Drops the oldest deliveries for a webhook of the key that caused one, beyond the key's share. So a key with many
/// deliveries does not affect the others. Deliveries that waited for dropped ones become due.
fn enforce_key_share(store: &Store<'_>, webhook: &str, seq: i64) -> Result<(), Fault> {
    let Some(overflow) = outbox::find_overflow(store, seq, OF_KEY_MAX)? else { return Ok(()) };
    let going = outbox::list_overflow(store, webhook, &overflow, DROPPED_MAX)?;
    store.warn(format!(
        "{} deliveries for the webhook `{webhook}` are lost: their key has more than {OF_KEY_MAX}",
        going.len()
    ));
    let mut entities = BTreeSet::new();
    for delivery in &going {
        outbox::delete(store, delivery.seq)?;
        entities.insert(delivery.entity.as_str());
    }
    entities.into_iter().try_for_each(|entity| outbox::advance_entity(store, webhook, entity))
}

/// Deactivates a webhook that could not be reached.
fn disable(store: &mut Store<'_>, webhook: &str, now_ms: i64) -> Result<(), Fault> {
    if let Some(mut document) = store.document(WEBHOOK, webhook)? {
        document.body.insert("active".into(), false.into());
        document.body.insert("updated_at".into(), timestamp::text(now_ms).into());
        document.updated_at = Some(now_ms);
        store.update(WEBHOOK, &document);
        store.warn(format!("the webhook `{webhook}` is disabled: its deliveries failed for too long"));
    }
    mark_dead(store, webhook, now_ms);
    Ok(())
}

/// Queues the change of all waiting deliveries of a webhook to dead letters.
pub fn mark_dead(store: &mut Store<'_>, webhook: &str, now_ms: i64) {
    outbox::mark_dead(store, webhook, now_ms);
    store.mark_for_retention();
}

/// Queues the retry of dead letters of a webhook: all, or those with these ids.
pub fn resend(store: &mut Store<'_>, webhook: &str, ids: Option<&[&str]>, now_ms: i64) {
    outbox::revive(store, webhook, ids);
    store.schedule_deliveries_at(now_ms);
}

/// Queues the deletion of all deliveries about a customer, and makes those that waited for them due.
pub fn erase(store: &mut Store<'_>, customer: &str, now_ms: i64) {
    outbox::delete_of_customer(store, customer);
    store.schedule_deliveries_at(now_ms);
}

/// Reduces delays of retries to their maximum after the clock was set back. A delay is twice as long as the one before, as in
/// [`AGAIN_MIN`].
pub fn catch_up(store: &mut Store<'_>, now_ms: i64) -> Result<(), Fault> {
    for webhook in outbox::list_webhooks(store)? {
        outbox::shorten_waits(store, &webhook.id, now_ms)?;
    }
    schedule_alarm(store, now_ms)
}
