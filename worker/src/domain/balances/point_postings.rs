//! Keeps the lots of loyalty cards (v1) in step with the ledger: transfers take points from lots and refund points to them.

use crate::domain::balances::points::{
    apply_operation, find_account_balance, read_loyalty_card, record_change, stable_name,
};
use crate::domain::clock::LocalTime;
use crate::domain::due::settlement_fault;
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::Store;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::store::transfer_rows::TransferRow;
use scrip::facts::{part_of, points_account};
use scrip::ledger::{Entry, Transfer};
use scrip::points::{
    CardOutcome, CardRefusal, CardStep, DebitReason, Expiry, Lot, LotPart, Now, PointsCard, SpentPoints,
};
use scrip::time::Instant;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Kind of the rows that name the lots from which a transfer took points. A row has the id of its transfer.
const TAKEN_LOTS: &str = "points_taken";

/// Returns the id of the card to which an account of points belongs.
fn card_of_account(account: &str) -> Option<&str> {
    let (kind, id, what) = part_of(account)?;
    (kind == "voucher" && what == "points").then_some(id)
}

/// Returns the card whose points a transfer moves, with the change of its balance.
fn card_change(post: &TransferRow) -> Result<Option<(&str, i64)>, Fault> {
    Ok(match (card_of_account(&post.debit), card_of_account(&post.credit)) {
        (Some(card), _) => Some((card, amount::negated(post.amount)?)),
        (None, Some(card)) => Some((card, post.amount)),
        (None, None) => None,
    })
}

/// Tests if a transfer moves points of a card.
pub fn moves_points(post: &TransferRow) -> bool {
    card_of_account(&post.debit).or_else(|| card_of_account(&post.credit)).is_some()
}

/// Applies posted transfers to the lots of their cards.
pub fn apply_to_lots(call: &mut Call<'_, '_>, posts: &[TransferRow]) -> Result<(), Fault> {
    let mut cards: BTreeMap<&str, Vec<(&TransferRow, i64)>> = BTreeMap::new();
    for post in posts {
        if let Some((card, by)) = card_change(post)? {
            cards.entry(card).or_default().push((post, by));
        }
    }
    for (id, posts) in cards {
        let Some(mut card) = call.store.document(VOUCHER.object, id)? else { continue };
        let is_timed = read_loyalty_card(&card).is_some_and(|stored| stored.is_timed());
        if !is_timed && posts.iter().all(|(_, by)| *by < 0) {
            continue;
        }
        let present = LocalTime::of(call)?;
        let net = amount::total(posts.iter().map(|(_, by)| *by))?;
        let mut account_balance = find_account_balance(call.store, &card)?.minus(net)?;
        for (post, by) in posts {
            apply_transfer(call, &present, &mut card, account_balance, post, by)?;
            account_balance = account_balance.plus(by)?;
        }
        call.store.update(VOUCHER.object, &card);
    }
    Ok(())
}

fn apply_transfer(
    call: &mut Call<'_, '_>,
    present: &LocalTime,
    card: &mut Document,
    account_balance: i64,
    post: &TransferRow,
    by: i64,
) -> Result<(), Fault> {
    let change = if by < 0 {
        apply_operation(present, card, account_balance, |points, now| {
            points.take(DebitReason::Spend, by.unsigned_abs(), now)
        })
    } else {
        let reversed = post.reverses.as_deref().map(|reversed| find_taken_lots(call.store, reversed)).transpose()?;
        let Some(parts) = reversed.flatten() else { return Ok(()) };
        apply_operation(present, card, account_balance, |points, now| {
            refund_lots(points, &parts, by.unsigned_abs(), now)
        })
    };
    let Some(change) = change.map_err(|refused| settlement_fault(&card.id, &refused))? else { return Ok(()) };
    if by < 0 {
        let taken = change.outcome.steps.iter().flat_map(CardStep::debited);
        let named = |part: LotPart| json!([stable_name(&change.outcome.card, &part.lot).as_str(), part.points]);
        let parts: Vec<Json> = taken.map(named).collect();
        let body = json!({ "parts": parts });
        let body = body.as_object().cloned().unwrap_or_default();
        let mut row = Document::new(post.id.clone(), None, call.now_ms(), body);
        row.parent = Some(card.id.clone());
        call.store.insert(TAKEN_LOTS, &row);
    }
    record_change(call.store, present, card, &change, Some(&mut call.ids))
}

/// Returns the parts of the lots that a transfer took; `None` when no row was written for it.
fn find_taken_lots(store: &Store<'_>, transfer: &str) -> Result<Option<Vec<LotPart>>, Fault> {
    let Some(row) = store.document(TAKEN_LOTS, transfer)? else { return Ok(None) };
    let part = |part: &Json| {
        let lot = part.get(0)?.as_str()?;
        Some(LotPart { lot: lot.into(), points: part.get(1)?.as_u64()? })
    };
    Ok(row.as_transaction().debited_lots().map(|lots| lots.iter().filter_map(part).collect()))
}

/// Refunds points to the lots from which they were taken. A lot that is not stored any more has expired.
fn refund_lots(points: &PointsCard, parts: &[LotPart], amount: u64, now: &Now<'_>) -> Result<CardOutcome, CardRefusal> {
    let mut points = points.clone();
    for part in parts {
        if let (Some(at), false) = (Instant::parse(&part.lot), points.lots.iter().any(|lot| lot.id == part.lot)) {
            let (id, expiry) = (part.lot.clone(), Expiry::Rolling(at));
            points.lots.push(Lot { id, points: 0, credited_at: now.at, expiry, is_closed: at <= now.at, expired: 0 });
        }
    }
    points.refund(&SpentPoints { parts: parts.to_vec(), refunded: 0 }, amount, now)
}

/// Refunds points to a card document by transfers that are not posted yet.
pub fn refund_queued(call: &Call<'_, '_>, card: &mut Document, entries: &[Entry]) -> Result<(), CallError> {
    let account = points_account(&card.id);
    let credits_card = |entry: &Entry| match entry {
        Entry::Post(transfer) if transfer.credit == account => Some(transfer.clone()),
        Entry::Post(_) | Entry::Hold(_) | Entry::Release(_) => None,
    };
    let transfers: Vec<Transfer> = entries.iter().filter_map(credits_card).collect();
    let mut account_balance = if transfers.is_empty() { 0 } else { find_account_balance(call.store, card)? };
    for transfer in transfers {
        let Some(reversed) = &transfer.reverses else { continue };
        if let Some(parts) = find_taken_lots(call.store, reversed)? {
            let present = LocalTime::of(call)?;
            let change = apply_operation(&present, card, account_balance, |points, now| {
                refund_lots(points, &parts, transfer.amount, now)
            });
            change.map_err(|refused| settlement_fault(&card.id, &refused))?;
        }
        account_balance = account_balance.plus(amount::signed(transfer.amount)?)?;
    }
    Ok(())
}
