//! Decides which amounts a session lock holds, for how long and under which key.
//!
//! docs/spec/calculation.md#12.

use crate::decide::case::{Case, Offer};
use crate::decide::finding::Findings;
use crate::decide::postings::{Posting, reserved_postings};
use crate::facts::Known;
use crate::ledger::{self, Book, Hold};
use crate::model::client::ClientContext;
use crate::model::request::{Redeemables, Session, TtlUnit};
use crate::refusal::{Reason, Refusal};
use crate::stacking::{ApplyOutcome, Walk};
use crate::text::{Text, is_longer};
use crate::time::Instant;

/// The duration of a lock when the request has none (docs/spec/objects.md#2).
const DEFAULT_TTL: (u64, TtlUnit) = (7, TtlUnit::Days);
/// Characters that the key of a client's lock may have.
const CLIENT_KEY_MAX_CHARACTERS: usize = 255;

/// The session of a validation, as answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionAnswer {
    /// The key to redeem with.
    pub key: Text,
    /// The duration of the lock, in `unit`s.
    pub ttl: u64,
    /// The unit of `ttl`.
    pub unit: TtlUnit,
}

/// Returns the duration of a lock. Anyone with a public key can lock, so a client's lock lasts at most as long as its
/// project allows.
fn lock_duration(session: &Session, client: Option<&ClientContext>) -> Result<(u64, TtlUnit), Refusal> {
    let requested = session.ttl.map(|ttl| (ttl, session.unit.unwrap_or_default()));
    let Some(client) = client else { return Ok(requested.unwrap_or(DEFAULT_TTL)) };
    let longest = client.policy.session_seconds;
    let Some((ttl, unit)) = requested else { return Ok((longest, TtlUnit::Seconds)) };
    let bound = match unit.millis(ttl) {
        0 => "must be >= 1 MILLISECONDS".to_owned(),
        millis if millis > TtlUnit::Seconds.millis(longest) => format!("must be <= {longest} SECONDS"),
        _ => return Ok((ttl, unit)),
    };
    Err(wrong_session("ttl", &bound, &format!("value is `{ttl} {}`", unit.name())))
}

/// Refuses a key for a client's lock that is too long.
fn check_key(key: Option<&Text>, client: Option<&ClientContext>) -> Result<(), Refusal> {
    match key.filter(|key| client.is_some() && is_longer(key, CLIENT_KEY_MAX_CHARACTERS)) {
        Some(key) => {
            let bound = format!("must NOT have more than {CLIENT_KEY_MAX_CHARACTERS} characters");
            Err(wrong_session("key", &bound, &format!("length is `{}`", key.chars().count())))
        }
        None => Ok(()),
    }
}

fn wrong_session(field: &str, bound: &str, actual: &str) -> Refusal {
    let details = format!("Property .session.{field} {bound} (actual {actual})");
    Refusal::new(Reason::InvalidPayload, details)
}

/// Returns the lock that a request sets, or refuses an invalid one even if no lock is set.
pub(in crate::decide) fn requested_lock(
    request: &Redeemables,
    new_key: impl FnOnce() -> Text,
) -> Result<Option<SessionAnswer>, Refusal> {
    let Some(session) = request.session.as_ref().filter(|session| session.lock) else { return Ok(None) };
    let client = request.channel.client.as_ref();
    check_key(session.key.as_ref(), client)?;
    let (ttl, unit) = lock_duration(session, client)?;
    let key = session.key.clone().unwrap_or_else(new_key);
    Ok(Some(SessionAnswer { key, ttl, unit }))
}

/// Holds the amounts that each applied redeemable would spend. With the same key, earlier holds are released first and
/// do not count against the new ones.
pub(in crate::decide) fn lock(
    case: &mut Case<'_>,
    walk: &Walk,
    found: &Findings,
    session: &SessionAnswer,
    now: Instant,
) -> Result<Vec<ledger::Entry>, Refusal> {
    let owner = case.request.channel.client.as_ref().map(ClientContext::owner);
    let own = ledger::HoldOwner { key: session.key.clone(), owner: owner.clone(), servers: false };
    let mut book = Book::default();
    book.release(own.clone());
    // A lock beyond 64 bits of milliseconds never ends.
    let ttl = i64::try_from(session.unit.millis(session.ttl)).unwrap_or(i64::MAX);
    let customer_id = case.request_customer.counted_name().cloned();
    let mut unknown = Vec::new();
    for step in &walk.steps {
        let ApplyOutcome::Applied(gain) = &step.outcome else { continue };
        let Some(offer) = case.offer(step.position) else { continue };
        let given = case.budget.checked(gain.total()).minor();
        let reserved = reserved_postings(offer, found.get(step.position), given, customer_id.as_deref());
        for Posting { debit: account, quota, amount, .. } in reserved {
            // A lock that only the server can set is a missing fact, also on an account without a limit.
            let held = case.facts.held(&account, now, Some(&own));
            match (case.account_state(&account, quota), held) {
                (Known::Is(account_state), Known::Is(_)) => book.open(account.clone(), account_state),
                _ => unknown.push(account.clone()),
            }
            let owner = owner.clone().unwrap_or_default();
            let hold = Hold { key: session.key.clone(), owner, account, amount, expires_at: now.later(ttl) };
            // The walk took each amount from the rest of the earlier ones, so all fit. An amount that cannot be held is
            // refused.
            book.hold(hold).map_err(|_| case.for_client(step.position, quantity_exceeded(offer)))?;
        }
    }
    for account in unknown {
        case.missing.add(Text::from(account.as_str()));
    }
    Ok(book.into_entries())
}

/// Returns the refusal of a redeemable whose quantity is used up after all. It names no account.
pub(in crate::decide) fn quantity_exceeded(offer: &Offer<'_>) -> Refusal {
    Refusal::new(Reason::QuantityExceeded, offer.incentive.code.as_str())
}
