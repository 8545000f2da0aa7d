//! Points of loyalty cards of the older interface that the ledger moves: the lots follow what is spent and what comes back. It must not
//! know routes, nor what points are spent on.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::card_changes::broken;
use crate::shop::card_lots::{change, note, said, spent, stable_name};
use crate::shop::cards::Present;
use crate::shop::vouchers::VOUCHER;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::post::Post;
use crate::store::sql::Fault;
use scrip::facts::{part_of, points_account};
use scrip::ledger::{Entry, Transfer};
use scrip::points::{Card, Expiry, Lot, Now, Outcome, Part, Refused, Spent, Step, Take};
use scrip::time::Instant;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// The kind of the rows that say from which lots a transfer took points, whose id is the transfer's.
const TAKEN: &str = "points_taken";

/// The card of an account of points.
fn card_of_account(account: &str) -> Option<&str> {
    let (kind, id, what) = part_of(account)?;
    (kind == "voucher" && what == "points").then_some(id)
}

/// The card whose points a transfer moves, and how many more it has by that.
fn moved(post: &Post) -> Option<(&str, i64)> {
    match (card_of_account(&post.debit), card_of_account(&post.credit)) {
        (Some(card), _) => Some((card, post.amount.saturating_neg())),
        (None, Some(card)) => Some((card, post.amount)),
        (None, None) => None,
    }
}

/// Whether a transfer moves points of a card.
pub fn is_about_points(post: &Post) -> bool {
    moved(post).is_some()
}

/// Brings the lots of cards up to date with transfers that are in the ledger by now.
pub fn follow(call: &mut Call<'_, '_>, posts: &[Post]) -> Result<(), Fault> {
    let mut cards: BTreeMap<&str, Vec<(&Post, i64)>> = BTreeMap::new();
    for post in posts {
        if let Some((card, by)) = moved(post) {
            cards.entry(card).or_default().push((post, by));
        }
    }
    for (id, posts) in cards {
        let Some(mut card) = call.store.document(VOUCHER.object, id)? else { continue };
        let is_timed = said(&card).is_some_and(|said| said.is_timed());
        if !is_timed && posts.iter().all(|(_, by)| *by < 0) {
            continue;
        }
        let present = Present::of(call)?;
        let net = posts.iter().fold(0, |sum: i64, (_, by)| sum.saturating_add(*by));
        let mut spent = spent(call.store, &card)?.saturating_sub(net);
        for (post, by) in posts {
            follow_one(call, &present, (&mut card, spent), (post, by))?;
            spent = spent.saturating_add(by);
        }
        call.store.update(VOUCHER.object, &card);
    }
    Ok(())
}

fn follow_one(
    call: &mut Call<'_, '_>,
    present: &Present,
    (card, spent): (&mut Document, i64),
    (post, by): (&Post, i64),
) -> Result<(), Fault> {
    let changed = if by < 0 {
        change(present, card, spent, |points, now| points.take(Take::Spend, by.unsigned_abs(), now))
    } else {
        let undone = post.reverses.as_deref().map(|undone| taken(call.store, undone)).transpose()?;
        let Some(parts) = undone.flatten() else { return Ok(()) };
        change(present, card, spent, |points, now| refund(points, (&parts, by.unsigned_abs()), now))
    };
    let Some(changed) = changed.map_err(|refused| broken(&card.id, &refused))? else { return Ok(()) };
    if by < 0 {
        let taken = changed.outcome.steps.iter().flat_map(Step::taken);
        let named = |part: Part| json!([stable_name(&changed.outcome.card, &part.lot).as_str(), part.points]);
        let parts: Vec<Json> = taken.map(named).collect();
        let body = json!({ "parts": parts });
        let body = body.as_object().cloned().unwrap_or_default();
        let mut row = Document::new(post.id.clone(), None, call.now_ms(), body);
        row.parent = Some(card.id.clone());
        call.store.insert(TAKEN, &row);
    }
    note(call.store, present, card, &changed, Some(&mut call.ids))
}

/// From which lots a transfer took points; nothing where none of them lapses.
fn taken(store: &Store<'_>, transfer: &str) -> Result<Option<Vec<Part>>, Fault> {
    let Some(row) = store.document(TAKEN, transfer)? else { return Ok(None) };
    let part = |part: &Json| {
        let lot = part.get(0)?.as_str()?;
        Some(Part { lot: lot.into(), points: part.get(1)?.as_u64()? })
    };
    let parts = row.body.get("parts").and_then(Json::as_array);
    Ok(parts.map(|parts| parts.iter().filter_map(part).collect()))
}

/// Points go back to their lots; one that is not kept any more has lapsed.
fn refund(points: &Card, (parts, amount): (&[Part], u64), now: &Now<'_>) -> Result<Outcome, Refused> {
    let mut points = points.clone();
    for part in parts {
        if let (Some(at), false) = (Instant::parse(&part.lot), points.lots.iter().any(|lot| lot.id == part.lot)) {
            let (id, expiry) = (part.lot.clone(), Expiry::Rolling(at));
            points.lots.push(Lot { id, points: 0, arrived_at: now.at, expiry, is_closed: at <= now.at, lapsed: 0 });
        }
    }
    points.refund(&Spent { parts: parts.to_vec(), refunded: 0 }, amount, now)
}

/// A card as it will be when transfers that the ledger does not have yet have given points back to it.
pub fn give_back(call: &Call<'_, '_>, card: &mut Document, entries: &[Entry]) -> Result<(), CallError> {
    let account = points_account(&card.id);
    let back = |entry: &Entry| match entry {
        Entry::Post(transfer) if transfer.credit == account => Some(transfer.clone()),
        Entry::Post(_) | Entry::Hold(_) | Entry::Release(_) => None,
    };
    let transfers: Vec<Transfer> = entries.iter().filter_map(back).collect();
    let mut spent = if transfers.is_empty() { 0 } else { spent(call.store, card)? };
    for transfer in transfers {
        let Some(undone) = &transfer.reverses else { continue };
        if let Some(parts) = taken(call.store, undone)? {
            let present = Present::of(call)?;
            let changed = change(&present, card, spent, |points, now| refund(points, (&parts, transfer.amount), now));
            changed.map_err(|refused| broken(&card.id, &refused))?;
        }
        spent = spent.saturating_add(i64::try_from(transfer.amount).unwrap_or(i64::MAX));
    }
    Ok(())
}
