//! Describes the operations of points in plain numbers that both models read, and builds the engine's types from them.

use proptest::prelude::*;
use scrip::points::{CustomActivity, DateOfYear, Delay, Expiration, Period, Rounding, SlidingExpiry, Unit};
use scrip::text::Text;

/// A number of units: `D`, `M` or `Y`.
pub type Span = (u32, char);

/// Days and months of dates of the year.
pub type Dates = Vec<(u32, u32)>;

/// The expiration of points. A rounding is the number of months of its block, or the month to which it extends.
#[derive(Debug, Clone, PartialEq)]
pub enum Plan {
    Never,
    Rolling(Span, Option<Round>),
    Calendar(Dates),
    /// Earning, spending, custom events (`None` is all).
    Sliding(Span, bool, bool, Option<Vec<&'static str>>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Round {
    Months(u32),
    To(u32),
}

/// The condition that points wait for.
#[derive(Debug, Clone, PartialEq)]
pub enum Hold {
    No,
    For(Span),
    Dates(Dates),
    Event(Vec<&'static str>, Span),
}

pub fn period((value, unit): Span) -> Period {
    let unit = match unit {
        'D' => Unit::Day,
        'M' => Unit::Month,
        _ => Unit::Year,
    };
    Period { value, unit }
}

fn dates(dates: &Dates) -> Vec<DateOfYear> {
    dates.iter().map(|(day, month)| DateOfYear::new(*day, *month).unwrap()).collect()
}

fn texts(texts: &[&str]) -> Vec<Text> {
    texts.iter().map(|text| Text::from(*text)).collect()
}

impl Plan {
    pub fn expiration(&self) -> Expiration {
        match self {
            Plan::Never => Expiration::Never,
            Plan::Rolling(span, round) => {
                let rounding = round.map(|round| match round {
                    Round::Months(1) => Rounding::Month,
                    Round::Months(3) => Rounding::Quarter,
                    Round::Months(6) => Rounding::HalfYear,
                    Round::Months(_) => Rounding::Year,
                    Round::To(month) => Rounding::ParticularMonth(month),
                });
                Expiration::Rolling { period: period(*span), rounding }
            }
            Plan::Calendar(list) => Expiration::Calendar(dates(list)),
            Plan::Sliding(span, earning, spending, custom) => {
                let custom = match custom.as_deref() {
                    None => CustomActivity::Any,
                    Some([]) => CustomActivity::No,
                    Some(types) => CustomActivity::Of(texts(types)),
                };
                Expiration::Sliding(SlidingExpiry {
                    earning: *earning,
                    spending: *spending,
                    custom,
                    period: period(*span),
                })
            }
        }
    }
}

impl Hold {
    pub fn delay(&self) -> Delay {
        match self {
            Hold::No => Delay::Immediate,
            Hold::For(span) => Delay::Period(period(*span)),
            Hold::Dates(list) => Delay::FixedDates(dates(list)),
            Hold::Event(types, span) => Delay::Event { types: texts(types), cancel: period(*span) },
        }
    }
}

pub fn span() -> impl Strategy<Value = Span> {
    let units = prop_oneof![3 => Just('D'), 2 => Just('M'), 1 => Just('Y')];
    let value = prop_oneof![4 => 1..4_u32, 1 => 5..100_u32];
    (value, units).prop_map(|(value, unit)| if unit == 'Y' { (value.min(8), unit) } else { (value, unit) })
}

fn some_dates() -> impl Strategy<Value = Dates> {
    let day = prop_oneof![Just(1_u32), Just(28), Just(29), Just(30), Just(31), 1..=31_u32];
    let month = prop_oneof![2 => Just(2_u32), 1 => Just(12), 3 => 1..=12_u32];
    prop::collection::vec((day, month), 1..4)
}

pub fn plan() -> impl Strategy<Value = Plan> {
    let round = prop_oneof![
        prop::sample::select(vec![1_u32, 3, 6, 12]).prop_map(Round::Months),
        (1..=12_u32).prop_map(Round::To),
    ];
    let custom = prop_oneof![Just(None), Just(Some(vec![])), Just(Some(vec!["ms_a"]))];
    prop_oneof![
        1 => Just(Plan::Never),
        4 => (span(), prop::option::of(round)).prop_map(|(span, round)| Plan::Rolling(span, round)),
        2 => some_dates().prop_map(Plan::Calendar),
        3 => (span(), any::<bool>(), any::<bool>(), custom).prop_map(|(span, earning, spending, custom)| {
            Plan::Sliding(span, earning, spending, custom)
        }),
    ]
}

pub fn hold() -> impl Strategy<Value = Hold> {
    let types = prop_oneof![Just(vec!["ms_a"]), Just(vec!["ms_b"]), Just(vec!["ms_a", "ms_b"])];
    prop_oneof![
        2 => Just(Hold::No),
        2 => span().prop_map(Hold::For),
        1 => some_dates().prop_map(Hold::Dates),
        2 => (types, span()).prop_map(|(types, span)| Hold::Event(types, span)),
    ]
}
