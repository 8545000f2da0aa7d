//! Decides how the lots of a card and what waits on it are kept: what a row says of one beside how many points there are, which its
//! account says. It must not know what is shown of them.

use serde_json::{Value, json};

use crate::points::{Expiration, Expiry, Lot, Pending, Sliding, Wait};
use crate::text::Text;
use crate::time::Instant;
use crate::wire::cursor::{Cursor, Words, read};
use crate::wire::loyalty::expiration::{
    LAPSES, Lapse, expiration_type, read_expiration, read_sliding, write_expiration, write_sliding,
};

/// Reads a lot, without its points.
pub fn read_lot(at: &Cursor<'_>) -> Lot {
    at.object();
    Lot {
        id: at.need("id", read::name),
        points: 0,
        arrived_at: at.need("arrived_at", read::instant),
        expiry: read_expiry(at),
        is_closed: at.need("is_closed", read::flag),
        lapsed: at.need("lapsed", read::whole_number),
    }
}

fn read_expiry(at: &Cursor<'_>) -> Expiry {
    let lapses_at = || at.need("lapses_at", read::instant);
    match at.need("type", |lapse| lapse.one_of(LAPSES)) {
        Lapse::Never => Expiry::Never,
        Lapse::Rolling => Expiry::Rolling(lapses_at()),
        Lapse::Calendar => Expiry::Calendar(lapses_at()),
        Lapse::Sliding => Expiry::Sliding(lapses_at(), at.need("sliding_expiration", read_sliding)),
    }
}

/// Writes a lot, as it is read.
pub fn write_lot(lot: &Lot) -> Value {
    let sliding: Option<&Sliding> = match &lot.expiry {
        Expiry::Never | Expiry::Rolling(_) | Expiry::Calendar(_) => None,
        Expiry::Sliding(_, sliding) => Some(sliding),
    };
    json!({
        "id": lot.id.as_str(), "arrived_at": lot.arrived_at.to_string(), "type": expiration_type(&lot.expiry),
        "lapses_at": lot.expiry.lapses_at().map(|at| at.to_string()), "sliding_expiration": sliding.map(write_sliding),
        "is_closed": lot.is_closed, "lapsed": lot.lapsed,
    })
}

/// What points wait for, without when.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Waiting {
    #[default]
    Period,
    FixedDate,
    Event,
}

const WAITS: Words<Waiting> =
    &[("PERIOD_BASED", Waiting::Period), ("FIXED_DATES", Waiting::FixedDate), ("EVENT_BASED", Waiting::Event)];

/// The word for what points wait for.
pub fn pending_type(wait: &Wait) -> &'static str {
    match wait {
        Wait::Period(_) => "PERIOD_BASED",
        Wait::FixedDate(_) => "FIXED_DATES",
        Wait::Event { .. } => "EVENT_BASED",
    }
}

/// Reads what waits, without its points.
pub fn read_pending(at: &Cursor<'_>) -> Pending {
    at.object();
    let until = at.need("until", read::instant);
    let wait = match at.need("type", |kind| kind.one_of(WAITS)) {
        Waiting::Period => Wait::Period(until),
        Waiting::FixedDate => Wait::FixedDate(until),
        Waiting::Event => Wait::Event { types: at.need("types", read::texts), until },
    };
    Pending {
        id: at.need("id", read::name),
        points: 0,
        earned_at: at.need("earned_at", read::instant),
        wait,
        lot: at.need("lot", read::name),
        expiration: at.option("expiration", read_expiration).unwrap_or(Expiration::Never),
    }
}

/// Writes what waits, as it is read.
pub fn write_pending(pending: &Pending) -> Value {
    let (until, types): (Instant, &[Text]) = match &pending.wait {
        Wait::Period(at) | Wait::FixedDate(at) => (*at, &[]),
        Wait::Event { types, until } => (*until, types),
    };
    let types: Vec<&str> = types.iter().map(|kind| kind.as_str()).collect();
    json!({
        "id": pending.id.as_str(), "earned_at": pending.earned_at.to_string(), "type": pending_type(&pending.wait),
        "until": until.to_string(), "types": types, "lot": pending.lot.as_str(),
        "expiration": write_expiration(&pending.expiration),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::{Custom, Period, Unit};
    use crate::wire::document::read_document;

    #[test]
    fn what_is_written_is_read_again() {
        let at = Instant::parse("2026-05-17T10:00:00.123Z").unwrap_or_default();
        let period = Period { value: 1, unit: Unit::Month };
        let sliding = Sliding { earning: false, spending: true, custom: Custom::Any, period };
        let expiries = [
            Expiry::Never,
            Expiry::Rolling(at),
            Expiry::Calendar(Instant::LATEST),
            Expiry::Sliding(at, sliding.clone()),
        ];
        for expiry in expiries {
            let lot = Lot { id: "lcpeb_1".into(), points: 0, arrived_at: at, expiry, is_closed: true, lapsed: 7 };
            assert_eq!(read_document(&write_lot(&lot).to_string(), read_lot).ok(), Some(lot));
        }
        let event = Wait::Event { types: vec!["ms_1".into()], until: at };
        for wait in [Wait::Period(at), Wait::FixedDate(at), event] {
            let (id, lot, expiration) = ("lcppb_1".into(), "lcpeb_1".into(), Expiration::Sliding(sliding.clone()));
            let pending = Pending { id, points: 0, earned_at: at, wait, lot, expiration };
            assert_eq!(read_document(&write_pending(&pending).to_string(), read_pending).ok(), Some(pending));
        }
    }
}
