//! The points of a loyalty card of the older interface by when they lapse, as they are listed. It must not know how they come to lapse.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::moment;
use crate::shop::card_lots::{NEVER, lot_id, points, spent};
use crate::shop::cards::Present;
use crate::store::document::Document;
use scrip::model::card::CardLot;
use scrip::model::incentive::Grant;
use scrip::text::{hex, sha256};
use scrip::wire::voucher::card_of;
use serde_json::{Value as Json, json};

/// The points of a card as they are listed: those that lapse, those first that lapse first, and at last those that never do.
pub fn buckets(call: &Call<'_, '_>, card: &Document) -> Result<Vec<Json>, CallError> {
    let Some(Grant::Loyalty(now)) = card_of(&card.body, call.context.now) else { return Ok(Vec::new()) };
    let bucket = |name: &str, points: u64, at: [Option<Json>; 3]| {
        let digest = sha256(&[card.id.as_bytes(), b"/bucket/", name.as_bytes()]);
        let [expires_at, created_at, updated_at] = at;
        let mut told = json!({
            "id": format!("lopb_{}", hex(digest.get(..12).unwrap_or_default())), "voucher_id": card.id, "campaign_id": card.parent,
            "bucket": { "total_points": points }, "status": "ACTIVE", "created_at": created_at, "updated_at": updated_at,
            "object": "loyalty_points_bucket",
        });
        if let (Some(told), Some(day)) = (told.as_object_mut(), expires_at) {
            told.insert("expires_at".into(), day);
        }
        told
    };
    let lot = |lot: &CardLot| {
        let times = [
            Some(lot.lapse.last_day.as_str().into()),
            Some(lot.arrived_at.to_string().into()),
            lot.changed_at.map(|at| at.to_string().into()),
        ];
        bucket(lot_id(lot.lapse.at).as_str(), lot.points, times)
    };
    let mut all: Vec<Json> = now.lots.iter().map(lot).collect();
    let present = Present::of(call)?;
    let points = points((&now, &present.zone), card, spent(call.store, card)?);
    if let Some(never) = points.lots.iter().find(|lot| lot.id == NEVER && lot.points > 0) {
        all.push(bucket(NEVER, never.points, [None, Some(moment::text(card.created_at).into()), None]));
    }
    Ok(all)
}
