//! Reads the points of a v1 loyalty card, and writes its lots and pending points.
//!
//! docs/spec/objects.md#6.

use serde_json::{Value, json};

use crate::model::card::{CardLot, LotExpiry, LoyaltyCard, PendingLot};
use crate::wire::cursor::{JsonCursor, read};

/// Reads a card.
pub fn read_card(at: &JsonCursor<'_>) -> LoyaltyCard {
    at.object();
    let mut card = LoyaltyCard::default();
    at.fill("points", &mut card.points, read::whole_number);
    at.fill("subtracted_points", &mut card.subtracted_points, read::whole_number);
    at.fill("expired_points", &mut card.expired_points, read::whole_number);
    at.fill_list("lots", &mut card.lots, read_card_lot);
    at.fill_list("waiting", &mut card.pending, read_pending_lot);
    if !card.is_within_bounds() {
        at.problem("must have at most 9007199254740991 points");
        return LoyaltyCard::default();
    }
    card
}

/// Reads points that expire together.
fn read_card_lot(at: &JsonCursor<'_>) -> CardLot {
    at.object();
    CardLot {
        expiry: read_lot_expiry(at),
        points: at.need("points", read::whole_number),
        credited_at: at.need("arrived_at", read::instant),
        changed_at: at.option("changed_at", read::instant),
    }
}

fn read_lot_expiry(at: &JsonCursor<'_>) -> LotExpiry {
    LotExpiry { at: at.need("lapses_at", read::instant), last_day: at.need("last_day", read::name) }
}

/// Reads pending points.
fn read_pending_lot(at: &JsonCursor<'_>) -> PendingLot {
    at.object();
    PendingLot {
        id: at.need("id", read::name),
        points: at.need("points", read::whole_number),
        activates_at: at.need("activates_at", read::instant),
        expiry: at.get("lapses_at").map(|_| read_lot_expiry(at)),
    }
}

/// Writes points that expire together, in the format that is read.
pub fn write_card_lot(lot: &CardLot) -> Value {
    let mut written = json!({
        "lapses_at": lot.expiry.at.to_string(), "last_day": lot.expiry.last_day.as_str(), "points": lot.points,
        "arrived_at": lot.credited_at.to_string(),
    });
    if let (Some(written), Some(at)) = (written.as_object_mut(), lot.changed_at) {
        written.insert("changed_at".into(), at.to_string().into());
    }
    written
}

/// Writes pending points, in the format that is read.
pub fn write_pending_lot(one: &PendingLot) -> Value {
    let mut written = json!({
        "id": one.id.as_str(), "points": one.points, "activates_at": one.activates_at.to_string(),
    });
    if let (Some(written), Some(expiry)) = (written.as_object_mut(), &one.expiry) {
        written.insert("lapses_at".into(), expiry.at.to_string().into());
        written.insert("last_day".into(), expiry.last_day.as_str().into());
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::document::read_document;

    #[test]
    fn points_that_cannot_be_counted_together_are_not_read() {
        let card = |points: u64| {
            let pending = r#"[{ "id": "p_1", "points": 9007199254740991, "activates_at": "2026-01-01T00:00:00Z" }]"#;
            format!(r#"{{ "points": {points}, "waiting": {pending} }}"#)
        };
        assert!(read_document(&card(0), read_card).is_ok());
        assert!(read_document(&card(1), read_card).is_err());
    }
}
