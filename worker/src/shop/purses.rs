//! What is left on a card, and on all cards that a customer holds. It must not know what moves a balance.

use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::Call;
use crate::http::shape::INT_MAX;
use crate::store::document::Document;
use crate::store::ledger::Standing;
use scrip::facts::{credits_account, points_account};
use scrip::ledger::AccountId;
use scrip::model::incentive::Grant;
use scrip::time::Instant;
use scrip::wire::voucher::card_of;
use serde_json::Value as Json;
use std::collections::HashMap;

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
    /// The account of what was redeemed of a card.
    pub account: fn(&str) -> AccountId,
}

/// Gift cards and loyalty cards.
pub const PURSES: &[Purse] = &[GIFT, CARD];

/// Gift cards.
pub const GIFT: Purse = Purse {
    block: "gift",
    total: "amount",
    subtracted: "subtracted_amount",
    kind: "gift_voucher",
    unit: "CREDITS",
    account: credits_account,
};

/// Loyalty cards.
pub const CARD: Purse = Purse {
    block: "loyalty_card",
    total: "points",
    subtracted: "subtracted_points",
    kind: "loyalty_card",
    unit: "POINTS",
    account: points_account,
};

/// What a card was loaded with, what was taken off it by hand, and what both leave.
pub struct Loaded {
    /// All that was ever loaded.
    pub total: i64,
    /// What was taken off by hand.
    pub subtracted: i64,
    allotment: i64,
}

impl Loaded {
    /// What is left, locks not looked at.
    pub fn left(&self, standing: Standing) -> i64 {
        self.allotment.saturating_add(standing.balance)
    }
}

/// The purse that the cards of a campaign have; other codes have no balance.
pub fn of_campaign(campaign: &Document) -> Result<&'static Purse, ErrorBody> {
    match campaign.body.get("campaign_type").and_then(Json::as_str) {
        Some("LOYALTY_PROGRAM") => Ok(&CARD),
        Some("GIFT_VOUCHERS") => Ok(&GIFT),
        _ => {
            let told = "Transactions are allowed only for loyalty or gift campaigns";
            Err(error(403, "forbidden", "Forbidden", told))
        }
    }
}

impl Purse {
    /// What a card of this kind was loaded with by a moment; nothing of another one, or of one that does not read.
    pub fn loaded(&self, card: &Document, now: Instant) -> Option<Loaded> {
        let [total, subtracted, allotment] = match card_of(&card.body, now)? {
            Grant::Gift(gift) if self.block == GIFT.block => {
                [gift.amount.minor(), gift.subtracted_amount.minor(), gift.allotment().minor()]
            }
            Grant::Loyalty(card) if self.block == CARD.block => [card.points, card.subtracted_points, card.allotment()],
            Grant::Gift(_) | Grant::Loyalty(_) | Grant::Discount(_) => return None,
        }
        .map(|count| i64::try_from(count).unwrap_or(INT_MAX));
        Some(Loaded { total, subtracted, allotment })
    }
}

/// What is left on the cards of customers: credits and points, by the customer's id.
pub fn held(call: &Call<'_, '_>, customers: &[&str]) -> Result<HashMap<String, (i64, i64)>, CallError> {
    let cards = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = 'voucher' AND holder IN (SELECT value FROM json_each(?1))
           AND 'object' IN (json_type(body, '$.gift'), json_type(body, '$.loyalty_card'))",
        &[Json::from(customers.to_vec()).to_string().into()],
    )?;
    let account = |purse: &Purse, card: &Document| (purse.account)(&card.id).to_string();
    let accounts = cards.iter().flat_map(|card| PURSES.iter().map(|purse| account(purse, card)));
    let standings = call.store.standings(&accounts.collect::<Vec<_>>(), call.now_ms(), "")?;
    let on = |purse: &Purse, card: &Document| {
        let standing = standings.get(&account(purse, card)).copied().unwrap_or_default();
        purse.loaded(card, call.context.now).map_or(0, |loaded| loaded.left(standing).max(0))
    };
    let mut all: HashMap<String, (i64, i64)> = HashMap::new();
    for card in &cards {
        let (credits, points) = all.entry(card.holder.clone().unwrap_or_default()).or_default();
        *credits = credits.saturating_add(on(&GIFT, card));
        *points = points.saturating_add(on(&CARD, card));
    }
    Ok(all)
}
