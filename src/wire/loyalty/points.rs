//! Decides how what several documents of loyalty programs share is read: how many points, periods of the calendar, hours. It must
//! not know which document has it.
//!
//! loyalty-v2.md sections 4 and 4.1.

use crate::facts::earning::{Amount, Base, Points};
use crate::json::Node;
use crate::model::incentive::Validity;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::points::proportional::Worth;
use crate::points::{CurrentPeriod, MOST};
use crate::text::{Decimal, Text};
use crate::time::DailyHours;
use crate::wire::cursor::{Cursor, Words, read};
use crate::wire::loyalty::expiration::read_expiration;

/// A fixed number of points on a card.
pub fn read_points(at: &Cursor<'_>) -> Points {
    at.object();
    Points {
        card_definition_id: at.need("card_definition_id", read::name),
        amount: Amount::Fixed(at.need("value", read::whole_number)),
        expiration: at.option("points_expiration", read_expiration),
    }
}

#[derive(Clone, Copy, Default)]
enum Calculation {
    #[default]
    OrderAmount,
    OrderTotal,
    OrderData,
    CustomerData,
    EventData,
    LinesAmount,
    LinesSubtotal,
    LinesQuantity,
}

const CALCULATIONS: Words<Calculation> = &[
    ("PRE_DISCOUNT_ORDER_AMOUNT", Calculation::OrderAmount),
    ("POST_DISCOUNT_ORDER_AMOUNT", Calculation::OrderTotal),
    ("ORDER_METADATA_VALUE", Calculation::OrderData),
    ("CUSTOMER_METADATA_VALUE", Calculation::CustomerData),
    ("CUSTOM_EVENT_METADATA_VALUE", Calculation::EventData),
    ("PRE_DISCOUNT_ORDER_ITEMS_AMOUNT", Calculation::LinesAmount),
    ("POST_DISCOUNT_ORDER_ITEMS_AMOUNT", Calculation::LinesSubtotal),
    ("ORDER_ITEMS_QUANTITY", Calculation::LinesQuantity),
];

impl Calculation {
    /// Where its block stands.
    fn path(self) -> [&'static str; 2] {
        match self {
            Calculation::OrderAmount => ["order", "amount"],
            Calculation::OrderTotal => ["order", "total_amount"],
            Calculation::OrderData => ["order", "metadata"],
            Calculation::CustomerData => ["customer", "metadata"],
            Calculation::EventData => ["custom_event", "metadata"],
            Calculation::LinesAmount => ["order_items", "amount"],
            Calculation::LinesSubtotal => ["order_items", "subtotal_amount"],
            Calculation::LinesQuantity => ["order_items", "quantity"],
        }
    }
}

/// A number of points in proportion to something.
pub fn read_proportional(at: &Cursor<'_>) -> Points {
    at.object();
    let calculation = at.need("calculation_type", |at| at.one_of(CALCULATIONS));
    let [outer, inner] = calculation.path();
    let block = |at: &Cursor<'_>| {
        at.object();
        let property = || at.need("property", read::name);
        let goods = || read_all_goods(at);
        let base = match calculation {
            Calculation::OrderAmount => Base::OrderAmount,
            Calculation::OrderTotal => Base::OrderTotal,
            Calculation::OrderData => Base::OrderData(property()),
            Calculation::CustomerData => Base::CustomerData(property()),
            Calculation::EventData => Base::EventData(property()),
            Calculation::LinesAmount => Base::LinesAmount(goods()),
            Calculation::LinesSubtotal => Base::LinesSubtotal(goods()),
            Calculation::LinesQuantity => Base::LinesQuantity(goods()),
        };
        Amount::Proportional { base, every: at.need("every", read_every), worth: at.need("value", read_worth) }
    };
    let amount = match at.get(outer) {
        None => {
            at.missing(outer);
            None
        }
        Some(around) => {
            around.object();
            let found = around.get(inner).map(|at| block(&at));
            if found.is_none() {
                around.missing(inner);
            }
            found
        }
    };
    Points {
        card_definition_id: at.need("card_definition_id", read::name),
        amount: amount.unwrap_or(Amount::Fixed(0)),
        expiration: at.option("points_expiration", read_expiration),
    }
}

fn read_every(at: &Cursor<'_>) -> u64 {
    at.or_wrong(at.number().filter(|every| *every > 0), "must be an integer from 1 to 9007199254740991")
}

fn read_worth(at: &Cursor<'_>) -> Worth {
    let worth = match at.node {
        Node::Fraction(digits) => Decimal::read(digits).as_ref().and_then(Worth::read),
        Node::Whole(_) => at.number().filter(|points| *points <= MOST).map(Worth::of),
        Node::Null | Node::Flag(_) | Node::Text(_) | Node::List(_) | Node::Object(_) => None,
    };
    at.or_wrong(worth, "must be a number from 0 to 9007199254740991 with at most 9 decimals")
}

const GOODS: Words<GoodsObject> =
    &[("product", GoodsObject::Product), ("sku", GoodsObject::Sku), ("products_collection", GoodsObject::Collection)];

/// The goods that a block is about: one at least.
fn read_all_goods(at: &Cursor<'_>) -> Vec<GoodsRef> {
    let all = at.need("applicable_to", |at| at.all(read_goods));
    if all.is_empty() {
        at.need("applicable_to", |at| at.wrong("must NOT have fewer than 1 items"));
    }
    all
}

fn read_goods(at: &Cursor<'_>) -> GoodsRef {
    at.object();
    let object = at.need("type", |at| at.one_of(GOODS));
    let id: Text = at.need(object.name(), |at| {
        at.object();
        at.need("id", read::name)
    });
    GoodsRef::new(object, id, None)
}

/// A number from 1 on.
pub fn read_count(at: &Cursor<'_>) -> u32 {
    at.or_wrong(small(at).filter(|count| *count > 0), "must be an integer from 1 to 4294967295")
}

fn small(at: &Cursor<'_>) -> Option<u32> {
    at.number().and_then(|number| u32::try_from(number).ok())
}

const CURRENT: &[(&str, CurrentPeriod)] = &[
    ("DAY", CurrentPeriod::Day),
    ("WEEK", CurrentPeriod::Week),
    ("MONTH", CurrentPeriod::Month),
    ("QUARTER", CurrentPeriod::Quarter),
    ("YEAR", CurrentPeriod::Year),
];

/// A period of the calendar that is running.
pub fn read_current(at: &Cursor<'_>) -> CurrentPeriod {
    at.object();
    at.need("type", |at| at.one_of(&[("CURRENT_PERIOD", ())]));
    let unit = at.get("current_period").and_then(|around| {
        around.object();
        let unit = around.get("unit")?;
        let known = CURRENT.iter().find(|(word, _)| unit.node.as_str() == Some(word));
        if known.is_none() {
            unit.wrong("must be one of DAY, WEEK, MONTH, QUARTER, YEAR");
        }
        Some(known.map_or(CurrentPeriod::Day, |(_, period)| *period))
    });
    unit.unwrap_or_else(|| {
        at.missing("current_period");
        CurrentPeriod::Day
    })
}

/// When a program, a rule or a reward holds: its dates, and hours in the older form or in the later.
pub fn read_window(at: &Cursor<'_>) -> Validity {
    let mut validity = Validity::default();
    at.fill_some("start_date", &mut validity.start_date, read::instant);
    at.fill_some("end_date", &mut validity.expiration_date, read::instant);
    validity.hours = at
        .option("validity_hours", |at| {
            at.object();
            let any_time = at.option("type", |at| at.one_of(&[("ANY_TIME", true), ("DAILY", false)]));
            match any_time {
                Some(true) => None,
                Some(false) | None => Some(at.need("daily", |at| at.all(read_daily))),
            }
        })
        .flatten();
    validity
}

fn read_daily(at: &Cursor<'_>) -> DailyHours {
    let clock = |at: &Cursor<'_>| at.parsed(DailyHours::parse_clock, "must be a time HH:mm");
    at.object();
    let days = at.need("days_of_week", |at| {
        at.all(|at| {
            let day = at.number().and_then(|number| u8::try_from(number).ok());
            at.or_wrong(day.filter(|day| *day <= 6), "must be an integer from 0 to 6")
        })
    });
    DailyHours { start: at.need("start_time", clock), end: at.need("end_time", clock), days }
}
