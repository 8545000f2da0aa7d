//! Reads and writes the stored rows of a card's lots and pending points. The ledger has their points.

use serde_json::{Value, json};

use crate::points::{Expiration, Expiry, Lot, PendingPoints, PendingUntil, SlidingExpiry};
use crate::wire::cursor::{JsonCursor, NameTable, read};
use crate::wire::loyalty::expiration::{
    EXPIRATION_TYPES, ExpirationType, expiration_type, read_expiration, read_sliding, write_expiration, write_sliding,
};

/// Reads a lot, without its points.
pub fn read_lot(at: &JsonCursor<'_>) -> Lot {
    at.object();
    Lot {
        id: at.need("id", read::name),
        points: 0,
        credited_at: at.need("arrived_at", read::instant),
        expiry: read_expiry(at),
        is_closed: at.need("is_closed", read::flag),
        expired: at.need("lapsed", read::whole_number),
    }
}

fn read_expiry(at: &JsonCursor<'_>) -> Expiry {
    let expires_at = || at.need("lapses_at", read::instant);
    match at.need("type", |kind| kind.one_of(EXPIRATION_TYPES)) {
        ExpirationType::Never => Expiry::Never,
        ExpirationType::Rolling => Expiry::Rolling(expires_at()),
        ExpirationType::Calendar => Expiry::Calendar(expires_at()),
        ExpirationType::Sliding => Expiry::Sliding(expires_at(), at.need("sliding_expiration", read_sliding)),
    }
}

/// Writes a lot, in the format that is read.
pub fn write_lot(lot: &Lot) -> Value {
    let sliding: Option<&SlidingExpiry> = match &lot.expiry {
        Expiry::Never | Expiry::Rolling(_) | Expiry::Calendar(_) => None,
        Expiry::Sliding(_, sliding) => Some(sliding),
    };
    json!({
        "id": lot.id.as_str(), "arrived_at": lot.credited_at.to_string(), "type": expiration_type(&lot.expiry),
        "lapses_at": lot.expiry.expires_at().map(|at| at.to_string()), "sliding_expiration": sliding.map(write_sliding),
        "is_closed": lot.is_closed, "lapsed": lot.expired,
    })
}

/// The type of a pending condition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum PendingCondition {
    #[default]
    Period,
    FixedDate,
    Event,
}

const PENDING_CONDITIONS: NameTable<PendingCondition> = &[
    ("PERIOD_BASED", PendingCondition::Period),
    ("FIXED_DATES", PendingCondition::FixedDate),
    ("EVENT_BASED", PendingCondition::Event),
];

/// Returns the name of a pending condition's type.
pub fn pending_type(condition: &PendingUntil) -> &'static str {
    match condition {
        PendingUntil::Period(_) => "PERIOD_BASED",
        PendingUntil::FixedDate(_) => "FIXED_DATES",
        PendingUntil::Event { .. } => "EVENT_BASED",
    }
}

/// Reads pending points, without their number.
pub fn read_pending(at: &JsonCursor<'_>) -> PendingPoints {
    at.object();
    let until = at.need("until", read::instant);
    let condition = match at.need("type", |kind| kind.one_of(PENDING_CONDITIONS)) {
        PendingCondition::Period => PendingUntil::Period(until),
        PendingCondition::FixedDate => PendingUntil::FixedDate(until),
        PendingCondition::Event => PendingUntil::Event { types: at.need("types", read::texts), until },
    };
    PendingPoints {
        id: at.need("id", read::name),
        points: 0,
        earned_at: at.need("earned_at", read::instant),
        condition,
        lot: at.need("lot", read::name),
        expiration: at.option("expiration", read_expiration).unwrap_or(Expiration::Never),
    }
}

/// Writes pending points, in the format that is read.
pub fn write_pending(pending: &PendingPoints) -> Value {
    let (until, types) = match &pending.condition {
        PendingUntil::Period(at) | PendingUntil::FixedDate(at) => (*at, [].as_slice()),
        PendingUntil::Event { types, until } => (*until, types.as_slice()),
    };
    let types: Vec<&str> = types.iter().map(|kind| kind.as_str()).collect();
    json!({
        "id": pending.id.as_str(), "earned_at": pending.earned_at.to_string(), "type": pending_type(&pending.condition),
        "until": until.to_string(), "types": types, "lot": pending.lot.as_str(),
        "expiration": write_expiration(&pending.expiration),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::{CustomActivity, Period, Unit};
    use crate::time::Instant;
    use crate::wire::document::read_document;

    #[test]
    fn written_values_are_read_back() {
        let at = Instant::parse("2026-05-17T10:00:00.123Z").unwrap_or_default();
        let period = Period { value: 1, unit: Unit::Month };
        let sliding = SlidingExpiry { earning: false, spending: true, custom: CustomActivity::Any, period };
        let expiries = [
            Expiry::Never,
            Expiry::Rolling(at),
            Expiry::Calendar(Instant::LATEST),
            Expiry::Sliding(at, sliding.clone()),
        ];
        for expiry in expiries {
            let lot = Lot { id: "lcpeb_1".into(), points: 0, credited_at: at, expiry, is_closed: true, expired: 7 };
            assert_eq!(read_document(&write_lot(&lot).to_string(), read_lot).ok(), Some(lot));
        }
        let event = PendingUntil::Event { types: vec!["ms_1".into()], until: at };
        for condition in [PendingUntil::Period(at), PendingUntil::FixedDate(at), event] {
            let (id, lot, expiration) = ("lcppb_1".into(), "lcpeb_1".into(), Expiration::Sliding(sliding.clone()));
            let pending = PendingPoints { id, points: 0, earned_at: at, condition, lot, expiration };
            assert_eq!(read_document(&write_pending(&pending).to_string(), read_pending).ok(), Some(pending));
        }
    }
}
