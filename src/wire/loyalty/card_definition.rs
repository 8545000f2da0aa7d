//! Reads card definitions.
//!
//! docs/spec/loyalty.md#3.

use crate::formula::Formula;
use crate::points::limits::{EarningLimits, GlobalLimit, SpendingLimits};
use crate::points::{CardDefinition, CurrentPeriod, Delay, RefundExpiry, Revocation};
use crate::wire::cursor::{JsonCursor, NameTable, read};
use crate::wire::loyalty::expiration::{read_dates, read_expiration, read_period};

/// Reads a card definition from its document. Absent sections have their defaults.
pub fn read_card_definition(at: &JsonCursor<'_>) -> CardDefinition {
    at.object();
    let mut definition = CardDefinition { id: at.need("id", read::name), ..CardDefinition::default() };
    at.fill("points_expiration", &mut definition.expiration, read_expiration);
    at.fill("pending_points", &mut definition.delay, read_delay);
    at.fill("earning_limits", &mut definition.earning, read_earning);
    at.fill("spending_limits", &mut definition.spending, read_spending);
    if let Some((spent, earned)) = at.option("refunds", |refunds| {
        refunds.object();
        let spent = refunds.option("spent_points", read_spent_back).flatten();
        (spent, refunds.option("earned_points", read_earned_back).flatten())
    }) {
        (definition.refund_expiry, definition.revocation) = (spent, earned);
    }
    at.fill("balance_settings", &mut definition.below_zero, |balance| balance.need("allow_negative", read::flag));
    at.fill("pay_with_points", &mut definition.payment, read_payment);
    definition
}

#[derive(Debug, Clone, Copy, Default)]
enum ActivationRule {
    #[default]
    Not,
    Period,
    Dates,
    Event,
}

const ACTIVATION_RULES: NameTable<ActivationRule> = &[
    ("IMMEDIATE", ActivationRule::Not),
    ("PERIOD_BASED", ActivationRule::Period),
    ("FIXED_DATES", ActivationRule::Dates),
    ("EVENT_BASED", ActivationRule::Event),
];

fn read_delay(at: &JsonCursor<'_>) -> Delay {
    match at.need("type", |kind| kind.one_of(ACTIVATION_RULES)) {
        ActivationRule::Not => Delay::Immediate,
        ActivationRule::Period => at.need("period_based", |period| Delay::Period(period.need("period", read_period))),
        ActivationRule::Dates => at.need("fixed_dates", |dates| Delay::FixedDates(dates.need("dates", read_dates))),
        ActivationRule::Event => at.need("event_based", |event| Delay::Event {
            types: event.need("event_types", read::texts),
            cancel: event.need("cancel_period", read_period),
        }),
    }
}

/// One of the limits of a section.
#[derive(Debug, Clone, Copy, Default)]
enum Limit {
    #[default]
    None,
    Total(u64),
    Current(CurrentPeriod, u64),
    Points(u64),
    LeastAmount(u64),
}

#[derive(Debug, Clone, Copy, Default)]
enum LimitType {
    #[default]
    Total,
    Time,
    Points,
    Amount,
}

const LIMITS: NameTable<LimitType> = &[
    ("BALANCE_BASED", LimitType::Total),
    ("SPENDING_BASED", LimitType::Total),
    ("TIME_BASED", LimitType::Time),
    ("POINTS", LimitType::Points),
    ("SPENDING", LimitType::Amount),
];

const PERIODS: &[(&str, Option<CurrentPeriod>)] = &[
    ("DAY", Some(CurrentPeriod::Day)),
    ("WEEK", Some(CurrentPeriod::Week)),
    ("MONTH", Some(CurrentPeriod::Month)),
    ("QUARTER", Some(CurrentPeriod::Quarter)),
    ("YEAR", Some(CurrentPeriod::Year)),
];

/// Reads the unit of a current calendar period.
pub fn read_current_period(at: &JsonCursor<'_>) -> CurrentPeriod {
    at.object();
    let unit = at.need("current_period", |period| period.need("unit", |unit| unit.one_of(PERIODS)));
    unit.unwrap_or(CurrentPeriod::Day)
}

fn read_limit(at: &JsonCursor<'_>) -> Limit {
    match at.need("type", |kind| kind.one_of(LIMITS)) {
        LimitType::Total => Limit::Total(at.need("max", read::whole_number)),
        LimitType::Points => Limit::Points(at.need("max", read::whole_number)),
        LimitType::Amount => Limit::LeastAmount(at.need("min_amount", read::whole_number)),
        LimitType::Time => {
            let most = at.need("points", |points| points.need("max", read::whole_number));
            Limit::Current(at.need("period", read_current_period), most)
        }
    }
}

const LIMITED: NameTable<bool> = &[("NO_LIMIT", false), ("LIMITED", true)];

fn read_limits(at: &JsonCursor<'_>) -> Vec<Limit> {
    let is_limited = at.need("type", |kind| kind.one_of(LIMITED));
    if is_limited { at.list("limits", read_limit) } else { Vec::new() }
}

fn read_global(at: &JsonCursor<'_>) -> GlobalLimit {
    match read_limits(at).as_slice() {
        [] => GlobalLimit::None,
        [Limit::Total(most)] => GlobalLimit::Total(*most),
        [Limit::Current(period, most)] => GlobalLimit::Current(*period, *most),
        _ => {
            at.problem("must have one limit at most, of the card or of a period");
            GlobalLimit::None
        }
    }
}

fn read_earning(at: &JsonCursor<'_>) -> EarningLimits {
    at.object();
    let mut limits = EarningLimits::default();
    at.fill("global", &mut limits.global, read_global);
    for limit in at.option("transactions", read_limits).unwrap_or_default() {
        match limit {
            Limit::Points(most) => limits.most = Some(most),
            Limit::LeastAmount(least) => limits.min_amount = Some(least),
            Limit::None | Limit::Total(_) | Limit::Current(..) => {
                at.problem("must limit single earnings by points or by what is spent");
            }
        }
    }
    limits
}

fn read_spending(at: &JsonCursor<'_>) -> SpendingLimits {
    at.object();
    let mut limits = SpendingLimits::default();
    at.fill("global", &mut limits.global, read_global);
    for limit in at.option("transactions", read_limits).unwrap_or_default() {
        match limit {
            Limit::Points(most) => limits.most = Some(most),
            Limit::None | Limit::Total(_) | Limit::Current(..) | Limit::LeastAmount(_) => {
                at.problem("must limit single spendings by points");
            }
        }
    }
    limits
}

const REFUNDED: NameTable<bool> = &[("NONE", false), ("REFUNDABLE", true)];
const SPENT: NameTable<RefundExpiry> =
    &[("REFUND_ALL", RefundExpiry::All), ("REFUND_ITEM", RefundExpiry::Item), ("REFUND_AMOUNT", RefundExpiry::Amount)];

/// Reads the single method of a section of refunds; `None` without refunds.
fn read_method<T>(at: &JsonCursor<'_>, read: fn(&JsonCursor<'_>) -> T) -> Option<T> {
    let is_refunded = at.need("type", |kind| kind.one_of(REFUNDED));
    if is_refunded { at.list("methods", read).into_iter().next() } else { None }
}

fn read_spent_back(at: &JsonCursor<'_>) -> Option<RefundExpiry> {
    read_method(at, |method| method.need("mode", |mode| mode.one_of(SPENT)))
}

const FROM_PENDING: NameTable<bool> = &[("REVOKE_FROM_BALANCE", false), ("REVOKE_FROM_PENDING", true)];
const BELOW_ZERO: NameTable<bool> = &[("REVOKE_TO_ZERO", false), ("REVOKE_BELOW_ZERO", true)];

fn read_earned_back(at: &JsonCursor<'_>) -> Option<Revocation> {
    read_method(at, |method| {
        if method.need("type", |kind| kind.one_of(FROM_PENDING)) {
            return Revocation::FromPending;
        }
        let below_zero = method.need("mode", |mode| mode.one_of(BELOW_ZERO));
        if below_zero { Revocation::BelowZero } else { Revocation::ToZero }
    })
}

const PAID: NameTable<bool> = &[("NO_PAYMENTS", false), ("EXCHANGE_RATIO", true)];

fn read_payment(at: &JsonCursor<'_>) -> Option<Formula> {
    if !at.need("type", |kind| kind.one_of(PAID)) {
        return None;
    }
    at.need("exchange_ratio", |ratio| ratio.need("formula", read_formula))
}

fn read_formula(at: &JsonCursor<'_>) -> Option<Formula> {
    let text = at.str();
    match Formula::parse(text) {
        Ok(formula) => Some(formula),
        Err(error) => {
            at.problem(&error.text());
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::{CustomActivity, DateOfYear, Expiration, Period, Rounding, SlidingExpiry, Unit};
    use crate::wire::document::read_document;
    use crate::wire::loyalty::expiration::write_expiration;

    fn read(text: &str) -> CardDefinition {
        read_document(text, read_card_definition).unwrap_or_default()
    }

    #[test]
    fn an_empty_definition_has_the_defaults() {
        let definition = read(r#"{ "id": "lcdef_1" }"#);
        assert_eq!(definition, CardDefinition { id: "lcdef_1".into(), ..CardDefinition::default() });
    }

    #[test]
    fn every_section_is_read() {
        let definition = read(
            r#"{ "id": "lcdef_1",
            "points_expiration": { "type": "ROLLING_EXPIRATION", "rolling_expiration": {
              "period": { "value": 3, "unit": "MONTH" }, "rounding": { "type": "END_OF_PARTICULAR_MONTH", "value": 2 } } },
            "pending_points": { "type": "EVENT_BASED", "event_based": { "event_types": ["ms_1"], "cancel_period": { "value": 1, "unit": "YEAR" } } },
            "earning_limits": {
              "global": { "type": "LIMITED", "limits": [{ "type": "TIME_BASED", "points": { "max": 7 }, "period": { "type": "CURRENT_PERIOD", "current_period": { "unit": "WEEK" } } }] },
              "transactions": { "type": "LIMITED", "limits": [{ "type": "POINTS", "max": 5 }, { "type": "SPENDING", "min_amount": 100 }] } },
            "spending_limits": {
              "global": { "type": "LIMITED", "limits": [{ "type": "SPENDING_BASED", "max": 9 }] },
              "transactions": { "type": "NO_LIMIT", "limits": [] } },
            "refunds": { "spent_points": { "type": "REFUNDABLE", "methods": [{ "type": "RETURN_POINTS", "mode": "REFUND_ITEM" }] },
              "earned_points": { "type": "REFUNDABLE", "methods": [{ "type": "REVOKE_FROM_BALANCE", "mode": "REVOKE_BELOW_ZERO" }] } },
            "balance_settings": { "allow_negative": true },
            "pay_with_points": { "type": "EXCHANGE_RATIO", "exchange_ratio": { "formula": "10" } } }"#,
        );
        let (rounding, unit) = (Some(Rounding::ParticularMonth(2)), Unit::Month);
        assert_eq!(definition.expiration, Expiration::Rolling { period: Period { value: 3, unit }, rounding });
        let cancel = Period { value: 1, unit: Unit::Year };
        assert_eq!(definition.delay, Delay::Event { types: vec!["ms_1".into()], cancel });
        let global = GlobalLimit::Current(CurrentPeriod::Week, 7);
        assert_eq!(definition.earning, EarningLimits { global, most: Some(5), min_amount: Some(100) });
        assert_eq!(definition.spending, SpendingLimits { global: GlobalLimit::Total(9), most: None });
        assert_eq!(definition.refund_expiry, Some(RefundExpiry::Item));
        assert_eq!(definition.revocation, Some(Revocation::BelowZero));
        assert!(definition.below_zero && definition.payment.is_some());
    }

    #[test]
    fn a_written_expiration_is_read_back() {
        let period = Period { value: 2, unit: Unit::Day };
        let sliding = |custom| Expiration::Sliding(SlidingExpiry { earning: true, spending: false, custom, period });
        let dates = [DateOfYear::new(31, 12), DateOfYear::new(30, 6)];
        let mut all = vec![
            Expiration::Never,
            Expiration::Rolling { period, rounding: None },
            Expiration::Calendar(dates.into_iter().flatten().collect()),
            sliding(CustomActivity::No),
            sliding(CustomActivity::Any),
            sliding(CustomActivity::Of(vec!["ms_1".into()])),
        ];
        let roundings = [Rounding::Month, Rounding::Quarter, Rounding::HalfYear, Rounding::Year];
        let roundings = roundings.into_iter().chain([Rounding::ParticularMonth(3)]);
        all.extend(roundings.map(|rounding| Expiration::Rolling { period, rounding: Some(rounding) }));
        for expiration in all {
            let written = write_expiration(&expiration).to_string();
            assert_eq!(read_document(&written, read_expiration).ok(), Some(expiration), "{written}");
        }
    }

    #[test]
    fn two_limits_of_a_card_are_refused() {
        let text = r#"{ "id": "lcdef_1", "earning_limits": { "global": { "type": "LIMITED",
          "limits": [{ "type": "BALANCE_BASED", "max": 1 }, { "type": "BALANCE_BASED", "max": 2 }] } } }"#;
        assert!(read_document(text, read_card_definition).is_err());
    }
}
