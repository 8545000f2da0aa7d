//! Decides how the points of a loyalty card of the older interface are read, and how those are kept that come and go by time. It must not
//! know what is spent of them.
//!
//! objects.md section 6.

use serde_json::{Value, json};

use crate::model::card::{Card, CardLot, Lapse, Waiting};
use crate::wire::cursor::{Cursor, read};

/// Reads a card.
pub fn read_card(at: &Cursor<'_>) -> Card {
    at.object();
    let mut card = Card::default();
    at.fill("points", &mut card.points, read::whole_number);
    at.fill("subtracted_points", &mut card.subtracted_points, read::whole_number);
    at.fill("expired_points", &mut card.expired_points, read::whole_number);
    at.fill_list("lots", &mut card.lots, read_card_lot);
    at.fill_list("waiting", &mut card.waiting, read_waiting);
    card
}

/// Reads points that lapse together.
fn read_card_lot(at: &Cursor<'_>) -> CardLot {
    at.object();
    CardLot {
        lapse: read_lapse(at),
        points: at.need("points", read::whole_number),
        arrived_at: at.need("arrived_at", read::instant),
        changed_at: at.option("changed_at", read::instant),
    }
}

fn read_lapse(at: &Cursor<'_>) -> Lapse {
    Lapse { at: at.need("lapses_at", read::instant), last_day: at.need("last_day", read::name) }
}

/// Reads points that wait.
fn read_waiting(at: &Cursor<'_>) -> Waiting {
    at.object();
    Waiting {
        id: at.need("id", read::name),
        points: at.need("points", read::whole_number),
        activates_at: at.need("activates_at", read::instant),
        lapse: at.get("lapses_at").map(|_| read_lapse(at)),
    }
}

/// Writes points that lapse together, as they are read.
pub fn write_card_lot(lot: &CardLot) -> Value {
    let mut written = json!({
        "lapses_at": lot.lapse.at.to_string(), "last_day": lot.lapse.last_day.as_str(), "points": lot.points,
        "arrived_at": lot.arrived_at.to_string(),
    });
    if let (Some(written), Some(at)) = (written.as_object_mut(), lot.changed_at) {
        written.insert("changed_at".into(), at.to_string().into());
    }
    written
}

/// Writes points that wait, as they are read.
pub fn write_waiting(one: &Waiting) -> Value {
    let mut written = json!({
        "id": one.id.as_str(), "points": one.points, "activates_at": one.activates_at.to_string(),
    });
    if let (Some(written), Some(lapse)) = (written.as_object_mut(), &one.lapse) {
        written.insert("lapses_at".into(), lapse.at.to_string().into());
        written.insert("last_day".into(), lapse.last_day.as_str().into());
    }
    written
}
