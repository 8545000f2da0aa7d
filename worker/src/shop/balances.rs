//! What is on a card, moved and written down. It must not know why.

use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::Call;
use crate::http::shape::INT_MAX;
use crate::moment;
use crate::shop::decision;
use crate::store::document::Document;
use scrip::facts::{credits_account, points_account};
use scrip::model::incentive::Grant;
use scrip::wire::voucher::card_of;
use serde_json::{Value as Json, json};

/// The two kinds of cards: the block that holds the balance, the field of all that was ever loaded, the field of what was taken
/// off, and the names on the wire.
pub struct Purse {
    /// The block of the document that holds it.
    pub block: &'static str,
    /// The field of all that was ever loaded.
    pub total: &'static str,
    /// The field of what was taken off.
    pub subtracted: &'static str,
    /// What such a card is called on the wire.
    pub kind: &'static str,
    /// What it counts, as transactions name it.
    pub unit: &'static str,
}

/// Gift cards and loyalty cards.
pub const PURSES: &[Purse] = &[
    Purse { block: "gift", total: "amount", subtracted: "subtracted_amount", kind: "gift_voucher", unit: "CREDITS" },
    Purse {
        block: "loyalty_card",
        total: "points",
        subtracted: "subtracted_points",
        kind: "loyalty_card",
        unit: "POINTS",
    },
];

/// Loads a card with what a reward adds, and writes it down; the card itself is left to the caller. What has no balance is
/// left as it is.
pub fn load(call: &mut Call<'_, '_>, card: &mut Document, added: u64) -> Result<(), CallError> {
    let purse = PURSES.iter().find(|purse| card.body.get(purse.block).is_some_and(Json::is_object));
    let (Some(purse), true) = (purse, added > 0) else { return Ok(()) };
    let field = if purse.block == "gift" { "amount" } else { "points" };
    let added = i64::try_from(added).unwrap_or(i64::MAX);
    let (total, balance) = move_balance(call, card, purse, added, field)?;
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
pub fn note(call: &mut Call<'_, '_>, card: &Document, kind: String, [source_id, reason]: [Json; 2], balance: &Json) {
    let id = call.ids.hex18("vtx_").to_string();
    let body = json!({
        "id": id, "source_id": source_id, "voucher_id": card.id, "campaign_id": card.parent, "source": decision::channel(call).id,
        "reason": reason, "type": kind, "details": { "balance": balance }, "related_transaction_id": null,
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
    let account = if purse.block == "gift" { credits_account(&card.id) } else { points_account(&card.id) };
    let standings = call.store.standings(&[account.to_string()], call.now_ms(), "")?;
    let standing = standings.get(account.as_str()).copied().unwrap_or_default();
    let (total, subtracted, allotment) = match card_of(&card.body) {
        Some(Grant::Gift(gift)) => (gift.amount.minor(), gift.subtracted_amount.minor(), gift.allotment().minor()),
        Some(Grant::Loyalty(card)) => (card.points, card.subtracted_points, card.allotment()),
        Some(Grant::Discount(_)) | None => return Ok((0, 0)),
    };
    let [total, subtracted, allotment] =
        [total, subtracted, allotment].map(|count| i64::try_from(count).unwrap_or(INT_MAX));
    let Some(block) = card.body.get_mut(purse.block).and_then(Json::as_object_mut) else { return Ok((0, 0)) };
    let left = allotment.saturating_add(standing.balance);
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

/// A change of a balance that is refused.
pub fn refused(details: String) -> ErrorBody {
    error(400, "invalid_add_balance_params", "Invalid add balance params", details)
}
