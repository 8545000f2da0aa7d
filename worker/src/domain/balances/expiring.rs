//! Lists the points of a loyalty card (v1) by their expiration.

use crate::domain::balances::points::{NEVER, find_account_balance, lot_id, points_card};
use crate::domain::clock::LocalTime;
use crate::domain::due::settlement_fault;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::document::Document;
use crate::timestamp;
use scrip::model::card::CardLot;
use scrip::model::redeemable::Grant;
use scrip::text::{hex, sha256};
use scrip::wire::voucher::card_of;
use serde_json::{Value as Json, json};

/// Returns the buckets of a card: those that expire first come first, the points that never expire last.
pub fn list_buckets(call: &Call<'_, '_>, card: &Document) -> Result<Vec<Json>, CallError> {
    let Some(Grant::Loyalty(stored)) = card_of(&card.body, call.context.now) else { return Ok(Vec::new()) };
    let bucket = |name: &str, points: u64, at: [Option<Json>; 3]| {
        let digest = sha256(&[card.id.as_bytes(), b"/bucket/", name.as_bytes()]);
        let [expires_at, created_at, updated_at] = at;
        let mut details = json!({
            "id": format!("lopb_{}", hex(digest.get(..12).unwrap_or_default())), "voucher_id": card.id, "campaign_id": card.parent,
            "bucket": { "total_points": points }, "status": "ACTIVE", "created_at": created_at, "updated_at": updated_at,
            "object": "loyalty_points_bucket",
        });
        if let (Some(details), Some(day)) = (details.as_object_mut(), expires_at) {
            details.insert("expires_at".into(), day);
        }
        details
    };
    let lot = |lot: &CardLot| {
        let times = [
            Some(lot.expiry.last_day.as_str().into()),
            Some(lot.credited_at.to_string().into()),
            lot.changed_at.map(|at| at.to_string().into()),
        ];
        bucket(lot_id(lot.expiry.at).as_str(), lot.points, times)
    };
    let mut all: Vec<Json> = stored.lots.iter().map(lot).collect();
    let present = LocalTime::of(call)?;
    let points = points_card(&stored, &present.zone, card, find_account_balance(call.store, card)?);
    let points = points.map_err(|refused| settlement_fault(&card.id, &refused))?;
    if let Some(never) = points.lots.iter().find(|lot| lot.id == NEVER && lot.points > 0) {
        all.push(bucket(NEVER, never.points, [None, Some(timestamp::text(card.created_at).into()), None]));
    }
    Ok(all)
}
