//! What is on a card, moved and written down. It must not know why.

use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::Call;
use crate::http::shape::INT_MAX;
use crate::moment;
use crate::shop::decision;
use crate::shop::purses::{CARD, Loaded, PURSES, Purse};
use crate::store::document::Document;
use scrip::ledger::{Entry, Transfer};
use serde_json::{Value as Json, json};

/// Loads a card with what a reward adds, and writes it down; the card itself is left to the caller. What has no balance is
/// left as it is. The ledger does not have yet what the same request moves.
pub fn load(call: &mut Call<'_, '_>, card: &mut Document, added: u64, moved: &[Entry]) -> Result<(), CallError> {
    let purse = PURSES.iter().find(|purse| card.body.get(purse.block).is_some_and(Json::is_object));
    let (Some(purse), true) = (purse, added > 0) else { return Ok(()) };
    let field = if purse.block == "gift" { "amount" } else { "points" };
    let added = i64::try_from(added).unwrap_or(i64::MAX);
    let (total, balance) = move_balance(call, card, purse, added, field)?;
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

/// How much of an account some lines of the ledger take.
fn taken(moved: &[Entry], account: &str) -> i64 {
    let amount = |transfer: &Transfer| i64::try_from(transfer.amount).unwrap_or(i64::MAX);
    let of = |entry: &Entry| match entry {
        Entry::Post(transfer) if transfer.debit.as_str() == account => amount(transfer),
        Entry::Post(transfer) if transfer.credit.as_str() == account => amount(transfer).saturating_neg(),
        Entry::Post(_) | Entry::Hold(_) | Entry::Release(_) => 0,
    };
    moved.iter().map(of).fold(0, i64::saturating_add)
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
    let id = call.ids.hex18("vtx_").to_string();
    let body = json!({
        "id": id, "source_id": source_id, "voucher_id": card.id, "campaign_id": card.parent, "source": decision::channel(call).id,
        "reason": reason, "type": kind, "details": details, "related_transaction_id": null,
        "created_at": moment::text(call.now_ms()),
    });
    let transaction = Document {
        id,
        key: None,
        parent: Some(card.id.clone()),
        holder: card.parent.clone(),
        created_at: call.now_ms(),
        updated_at: None,
        body: body.as_object().cloned().unwrap_or_default(),
    };
    call.store.insert("voucher_transaction", &transaction);
}

/// Moves the balance within its bounds; gives all that was ever loaded and what is left.
pub fn move_balance(
    call: &Call<'_, '_>,
    card: &mut Document,
    purse: &Purse,
    delta: i64,
    field: &str,
) -> Result<(i64, i64), CallError> {
    let account = (purse.account)(&card.id).to_string();
    let standings = call.store.standings(std::slice::from_ref(&account), call.now_ms(), "")?;
    let standing = standings.get(&account).copied().unwrap_or_default();
    let Some(loaded) = purse.loaded(card) else { return Ok((0, 0)) };
    let (left, Loaded { total, subtracted, .. }) = (loaded.left(standing), loaded);
    let Some(block) = card.body.get_mut(purse.block).and_then(Json::as_object_mut) else { return Ok((0, 0)) };
    let bound = |sign: &str, bound: i64| {
        refused(format!("Property .{field} must be {sign} {bound} (actual value is `{delta}`)"))
    };
    if delta > 0 {
        let most = INT_MAX.saturating_sub(total);
        if delta > most {
            return Err(bound("<=", most).into());
        }
        let total = total.saturating_add(delta);
        block.insert(purse.total.into(), total.into());
        return Ok((total, left.saturating_add(delta)));
    }
    let least = left.saturating_sub(standing.held).max(0).saturating_neg();
    if delta < least {
        return Err(bound(">=", least).into());
    }
    block.insert(purse.subtracted.into(), subtracted.saturating_sub(delta).into());
    Ok((total, left.saturating_add(delta)))
}

/// The points of a card that can be taken off it now: a lock is never taken from.
pub fn free_points(call: &Call<'_, '_>, card: &Document) -> Result<i64, CallError> {
    let account = (CARD.account)(&card.id).to_string();
    let standings = call.store.standings(std::slice::from_ref(&account), call.now_ms(), "")?;
    let standing = standings.get(&account).copied().unwrap_or_default();
    Ok(CARD.loaded(card).map_or(0, |loaded| loaded.left(standing).saturating_sub(standing.held).max(0)))
}

/// A change of a balance that is refused.
pub fn refused(details: String) -> ErrorBody {
    error(400, "invalid_add_balance_params", "Invalid add balance params", details)
}
