//! What is on a card, moved and written down. It must not know why.

use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::Call;
use crate::http::shape::INT_MAX;
use crate::shop::purses::{CARD, Loaded, PURSES, Purse};
use crate::shop::voucher_transactions::{Moved, put};
use crate::shop::{card_lots, decision};
use crate::store::document::Document;
use crate::store::ledger::taken;
use scrip::ledger::Entry;
use scrip::points::Expiration;
use serde_json::{Value as Json, json};

/// Loads a card with what a reward adds, and writes it down; the card itself is left to the caller. What has no balance is
/// left as it is. The ledger does not have yet what the same request moves.
pub fn load(call: &mut Call<'_, '_>, card: &mut Document, added: u64, moved: &[Entry]) -> Result<(), CallError> {
    let purse = PURSES.iter().find(|purse| card.body.get(purse.block).is_some_and(Json::is_object));
    let (Some(purse), true) = (purse, added > 0) else { return Ok(()) };
    let field = if purse.block == "gift" { "amount" } else { "points" };
    let added = i64::try_from(added).unwrap_or(i64::MAX);
    let expiration = if purse.block == CARD.block { card_lots::rules_of(call.store, card)? } else { Expiration::Never };
    let (total, balance) = move_balance(call, card, purse, added, (field, &expiration))?;
    let balance = balance.saturating_sub(taken(moved, (purse.account)(&card.id).as_str()));
    let mut told = json!({
        "total": total, "balance": balance, "type": purse.kind, "operation_type": "AUTOMATIC", "object": "balance",
        "related_object": { "type": "voucher", "id": card.id },
    });
    if let Some(told) = told.as_object_mut() {
        told.insert(field.into(), added.into());
    }
    note(call, card, format!("{}_ADDITION", purse.unit), [Json::Null, Json::Null], &told);
    Ok(())
}

/// Writes a change of a balance down; `said` is the caller's own identifier and reason.
pub fn note(call: &mut Call<'_, '_>, card: &Document, kind: String, said: [Json; 2], balance: &Json) {
    note_with(call, card, kind, said, &json!({ "balance": balance }));
}

/// Writes it down with all that is told of it.
pub fn note_with(
    call: &mut Call<'_, '_>,
    card: &Document,
    kind: String,
    [source_id, reason]: [Json; 2],
    details: &Json,
) {
    let id = call.ids.hex18("vtx_");
    let source = decision::channel(call).id;
    let moved = Moved { id: &id, kind: &kind, source: Some(&source), at_ms: call.now_ms() };
    put(call.store, card, &moved, [source_id, reason], details);
}

/// Moves the balance within its bounds; gives all that was ever loaded and what is left. Points that come to a loyalty card lapse as is
/// said.
pub fn move_balance(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    purse: &Purse,
    delta: i64,
    (field, expiration): (&str, &Expiration),
) -> Result<(i64, i64), CallError> {
    let account = (purse.account)(&card.id).to_string();
    let standings = call.store.standings(std::slice::from_ref(&account), call.now_ms(), "")?;
    let standing = standings.get(&account).copied().unwrap_or_default();
    let Some(loaded) = purse.loaded(card, call.context.now) else { return Ok((0, 0)) };
    let (left, Loaded { total, subtracted, .. }) = (loaded.left(standing), loaded);
    let bound = |sign: &str, bound: i64| {
        refused(format!("Property .{field} must be {sign} {bound} (actual value is `{delta}`)"))
    };
    if delta > 0 {
        let most = INT_MAX.saturating_sub(total);
        if delta > most {
            return Err(bound("<=", most).into());
        }
    }
    let least = left.saturating_sub(standing.held).max(0).saturating_neg();
    if delta < least {
        return Err(bound(">=", least).into());
    }
    let total = total.saturating_add(delta.max(0));
    if purse.block == CARD.block {
        card_lots::shift(call, card, (standing.balance, delta), expiration)?;
    } else if let Some(block) = card.body.get_mut(purse.block).and_then(Json::as_object_mut) {
        let (name, sum) =
            if delta > 0 { (purse.total, total) } else { (purse.subtracted, subtracted.saturating_sub(delta)) };
        block.insert(name.into(), sum.into());
    }
    Ok((total, left.saturating_add(delta)))
}

/// The points of a card that can be taken off it now: a lock is never taken from.
pub fn free_points(call: &Call<'_, '_>, card: &Document) -> Result<i64, CallError> {
    let account = (CARD.account)(&card.id).to_string();
    let standings = call.store.standings(std::slice::from_ref(&account), call.now_ms(), "")?;
    let standing = standings.get(&account).copied().unwrap_or_default();
    Ok(CARD
        .loaded(card, call.context.now)
        .map_or(0, |loaded| loaded.left(standing).saturating_sub(standing.held).max(0)))
}

/// A change of a balance that is refused.
pub fn refused(details: String) -> ErrorBody {
    error(400, "invalid_add_balance_params", "Invalid add balance params", details)
}
