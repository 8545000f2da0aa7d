//! Changes balances of gift cards and loyalty cards (v1) and records each change as a transaction of the card.

use crate::domain::balances::kinds::{self, BalanceKind, CARD, CreditedTotal};
use crate::domain::balances::points;
use crate::domain::balances::transactions::{TransactionHead, insert};
use crate::domain::caller;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::Call;
use crate::http::shape::INT_MAX;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::Document;
use crate::store::ledger::net_debit;
use crate::store::sql::Fault;
use scrip::ledger::Entry;
use scrip::points::Expiration;
use serde_json::{Value as Json, json};

/// Adds `added` units to a card and records the transaction; without a balance or with 0 units it does nothing. The caller
/// writes the card document. `entries` are those of the same request that are not posted yet.
pub fn credit_card(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    added: u64,
    entries: &[Entry],
) -> Result<(), CallError> {
    let (Some(balance_kind), true) = (kinds::of_card(card), added > 0) else { return Ok(()) };
    let field = if balance_kind.block == "gift" { "amount" } else { "points" };
    let added = amount::signed(added)?;
    let expiration =
        if balance_kind.block == CARD.block { points::find_expiration(call.store, card)? } else { Expiration::Never };
    let (total, balance) = move_balance(call, card, balance_kind, added, field, &expiration)?;
    let balance = balance.minus(net_debit(entries, (balance_kind.account)(&card.id).as_str())?)?;
    let mut members = json!({
        "total": total, "balance": balance, "type": balance_kind.kind, "operation_type": "AUTOMATIC", "object": "balance",
        "related_object": { "type": "voucher", "id": card.id },
    });
    if let Some(members) = members.as_object_mut() {
        members.insert(field.into(), added.into());
    }
    record_balance_change(call, card, format!("{}_ADDITION", balance_kind.unit), [Json::Null, Json::Null], &members);
    Ok(())
}

/// Records a change of a balance; `source_and_reason` is the caller's own identifier and reason.
pub fn record_balance_change(
    call: &mut Call<'_, '_>,
    card: &Document,
    kind: String,
    source_and_reason: [Json; 2],
    balance: &Json,
) {
    record_transaction(call, card, kind, source_and_reason, &json!({ "balance": balance }));
}

/// Records a transaction of a card with its details.
pub fn record_transaction(
    call: &mut Call<'_, '_>,
    card: &Document,
    kind: String,
    [source_id, reason]: [Json; 2],
    details: &Json,
) {
    let id = call.ids.record("vtx_");
    let source = caller::channel(call).id;
    let head = TransactionHead { id: &id, kind: &kind, source: Some(&source), at_ms: call.now_ms() };
    insert(call.store, card, &head, [source_id, reason], details);
}

/// Changes a balance by `delta` within its bounds; returns the total ever credited and the remaining balance. Points added to
/// a loyalty card expire by `expiration`. Fails when `delta` is out of bounds.
pub fn move_balance(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    balance_kind: &BalanceKind,
    delta: i64,
    field: &str,
    expiration: &Expiration,
) -> Result<(i64, i64), CallError> {
    let account = (balance_kind.account)(&card.id).to_string();
    let account_balance = call.store.account_balance(&account, call.now_ms())?;
    let Some(credited) = balance_kind.credited_total(card, call.context.now)? else {
        return Err(Fault::new(format!("the balance of `{}` cannot be read", card.id)).into());
    };
    let (left, CreditedTotal { total, pending, subtracted, .. }) = (credited.balance(account_balance)?, credited);
    let bound = |sign: &str, bound: i64| {
        change_refusal(format!("Property .{field} must be {sign} {bound} (actual value is `{delta}`)"))
    };
    if delta > 0 {
        // Pending points are added to the total when they become active.
        let highest = INT_MAX.minus(total)?.minus(pending)?;
        if delta > highest {
            return Err(bound("<=", highest).into());
        }
    }
    let lowest = amount::negated(left.minus(account_balance.held)?.max(0))?;
    if delta < lowest {
        return Err(bound(">=", lowest).into());
    }
    let total = total.plus(delta.max(0))?;
    if balance_kind.block == CARD.block {
        points::adjust(call, card, account_balance.balance, delta, expiration)?;
    } else if let Some(block) = card.body.get_mut(balance_kind.block).and_then(Json::as_object_mut) {
        let (name, sum) =
            if delta > 0 { (balance_kind.total, total) } else { (balance_kind.subtracted, subtracted.minus(delta)?) };
        block.insert(name.into(), sum.into());
    }
    Ok((total, left.plus(delta)?))
}

/// Points of a loyalty card.
#[derive(Debug, Clone, Copy, Default)]
pub struct CardPoints {
    /// Total ever credited.
    pub total: i64,
    /// The balance.
    pub balance: i64,
    /// The part of the balance that no lock reserves.
    pub free: i64,
}

/// Returns the points of a loyalty card at the instant of the call; zero for other vouchers.
pub fn find_points(call: &Call<'_, '_>, card: &Document) -> Result<CardPoints, Fault> {
    let account = (CARD.account)(&card.id).to_string();
    let account_balance = call.store.account_balance(&account, call.now_ms())?;
    let Some(credited) = CARD.credited_total(card, call.context.now)? else { return Ok(CardPoints::default()) };
    let balance = credited.balance(account_balance)?;
    Ok(CardPoints { total: credited.total, balance, free: balance.minus(account_balance.held)?.max(0) })
}

/// Returns the points that can be taken from a card now; points that a lock reserves cannot.
pub fn find_free_points(call: &Call<'_, '_>, card: &Document) -> Result<i64, CallError> {
    Ok(find_points(call, card)?.free)
}

/// Returns the error of a refused change of a balance.
pub fn change_refusal(details: String) -> ErrorBody {
    error(400, "invalid_add_balance_params", "Invalid add balance params", details)
}
