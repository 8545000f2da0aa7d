//! Decides what a session lock sets aside, for how long and under which key. It must not know why anything may be used.
//!
//! calculation.md section 12.

use crate::decide::case::{Case, Offer};
use crate::decide::finding::Findings;
use crate::decide::postings::{Posting, reserved};
use crate::facts::Known;
use crate::ledger::{self, Book, Hold};
use crate::model::page::Page;
use crate::model::request::{Redeemables, Session, TtlUnit};
use crate::refusal::{Reason, Refusal};
use crate::stacking::{Outcome, Walk};
use crate::text::{Text, is_longer, joined};
use crate::time::Instant;

/// How long a lock lasts when the request does not say (objects.md section 2).
const DEFAULT_TTL: (u64, TtlUnit) = (7, TtlUnit::Days);
/// Letters that the key of a page's lock may have.
const PAGE_KEY_LETTERS: usize = 255;

/// The session of a validation, as it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionAnswer {
    /// The key to redeem with.
    pub key: Text,
    /// How long the lock lasts, in `unit`s.
    pub ttl: u64,
    /// The unit of `ttl`.
    pub unit: TtlUnit,
}

/// How long a lock lasts. Whoever opens a shop can lock: a page's lock lasts as long as its project allows, and ends.
fn life(session: &Session, page: Option<&Page>) -> Result<(u64, TtlUnit), Refusal> {
    let asked = session.ttl.map(|ttl| (ttl, session.unit.unwrap_or_default()));
    let Some(page) = page else { return Ok(asked.unwrap_or(DEFAULT_TTL)) };
    let longest = page.terms.session_seconds;
    let Some((ttl, unit)) = asked else { return Ok((longest, TtlUnit::Seconds)) };
    let bound = match unit.millis(ttl) {
        0 => Text::from("must be >= 1 MILLISECONDS"),
        millis if millis > TtlUnit::Seconds.millis(longest) => {
            joined(&["must be <= ", &longest.to_string(), " SECONDS"])
        }
        _ => return Ok((ttl, unit)),
    };
    Err(wrong_session("ttl", &bound, &["value is `", &ttl.to_string(), " ", unit.name()]))
}

/// Refuses a name for a page's lock that is longer than any that a page needs.
fn check_key(key: Option<&Text>, page: Option<&Page>) -> Result<(), Refusal> {
    match key.filter(|key| page.is_some() && is_longer(key, PAGE_KEY_LETTERS)) {
        Some(key) => {
            let bound = joined(&["must NOT have more than ", &PAGE_KEY_LETTERS.to_string(), " characters"]);
            Err(wrong_session("key", &bound, &["length is `", &key.chars().count().to_string()]))
        }
        None => Ok(()),
    }
}

fn wrong_session(field: &str, bound: &str, actual: &[&str]) -> Refusal {
    let told = joined(&["Property .session.", field, " ", bound, " (actual ", &actual.concat(), "`)"]);
    Refusal::new(Reason::InvalidPayload, told)
}

/// The lock that a request asks for, or what is wrong with it, whether it comes to be set or not.
pub(super) fn wanted(request: &Redeemables, new_key: impl FnOnce() -> Text) -> Result<Option<SessionAnswer>, Refusal> {
    let Some(session) = request.session.as_ref().filter(|session| session.lock) else { return Ok(None) };
    let page = request.channel.page.as_ref();
    check_key(session.key.as_ref(), page)?;
    let (ttl, unit) = life(session, page)?;
    let key = session.key.clone().unwrap_or_else(new_key);
    Ok(Some(SessionAnswer { key, ttl, unit }))
}

/// Sets aside what each applied incentive would spend. The same key holds anew: what it held before is given back
/// first, and was not counted against it.
pub(super) fn lock(
    case: &mut Case<'_>,
    (walk, found): (&Walk, &Findings),
    session: &SessionAnswer,
    now: Instant,
) -> Result<Vec<ledger::Entry>, Refusal> {
    let owner = case.request.channel.page.as_ref().map(Page::owner);
    let own = ledger::Session { key: session.key.clone(), owner: owner.clone() };
    let mut book = Book::default();
    book.release(own.clone());
    let ttl = i64::try_from(session.unit.millis(session.ttl)).unwrap_or(i64::MAX);
    let customer_id = case.buyer.counted_as().cloned();
    let mut unknown = Vec::new();
    for step in &walk.steps {
        let Outcome::Applied(gain) = &step.outcome else { continue };
        let Some(offer) = case.offer(step.place) else { continue };
        let given = gain.total().unwrap_or_default().minor();
        let reserved = reserved(offer, found.get(step.place), given, customer_id.as_deref());
        for Posting { debit: account, allotment, amount, .. } in reserved {
            // A lock that only the server can set is lacking, also on an account without a limit.
            let held = case.facts.held(&account, now, Some(&own));
            match (case.standing(&account, allotment), held) {
                (Known::Is(standing), Known::Is(_)) => book.open(account.clone(), standing),
                _ => unknown.push(account.clone()),
            }
            let owner = owner.clone().unwrap_or_default();
            let hold = Hold { key: session.key.clone(), owner, account, amount, expires_at: now.later(ttl) };
            // The walk took each from what was left for the next, so that there is enough for all. What could not be held
            // would be refused.
            book.hold(hold).map_err(|_| case.told(step.place, exceeded(offer)))?;
        }
    }
    for account in unknown {
        case.lacks.add(Text::from(account.as_str()));
    }
    Ok(book.into_entries())
}

/// There is not enough for an incentive after all. What an account is called is nobody's business.
pub(super) fn exceeded(offer: &Offer<'_>) -> Refusal {
    Refusal::new(Reason::QuantityExceeded, offer.incentive.code.as_str())
}
