//! Evaluates rules with an amount, lines and an optional customer as the only facts.

use scrip::json::JsonMembers;
use scrip::money::Money;
use scrip::rules::{
    Clock, GoodsIndex, LineAmounts, OrderLines, RequestFacts, RequiredFacts, Rule, RuleFacts, RuleInput,
};
use scrip::rules::{CountPeriod, Counter};
use scrip::time::{Instant, TimeZone};

/// Returns the clock of an instant in this zone.
pub fn clock(zone: &TimeZone) -> Clock<'_> {
    Clock { now: Instant::from_millis(1_774_746_000_000).unwrap(), zone, zone_use: None, budget: None }
}

struct Nothing(Option<Money>);

impl RuleFacts for Nothing {
    fn amount(&self) -> Option<Money> {
        self.0
    }

    fn line_amounts(&self, _line: usize) -> LineAmounts {
        LineAmounts::default()
    }

    fn goods_data(&self, _line: usize, _property: &str) -> [Option<&JsonMembers>; 4] {
        [None; 4]
    }

    fn is_in_segment(&self, _id: &str) -> Option<bool> {
        Some(false)
    }

    fn is_in_tier(&self, _id: &str) -> Option<bool> {
        Some(false)
    }

    fn count(&self, _counter: Counter, _period: CountPeriod) -> Option<u64> {
        None
    }
}

/// Returns the result of a rule.
pub fn check(rule: &Rule, amount: i64, items: OrderLines<'_>, index: Option<&GoodsIndex>) -> bool {
    check_for(rule, None, amount, items, index)
}

/// Returns the result of a rule for a customer with this data.
pub fn check_for(
    rule: &Rule,
    customer: Option<&JsonMembers>,
    amount: i64,
    items: OrderLines<'_>,
    index: Option<&GoodsIndex>,
) -> bool {
    let (zone, data) = (TimeZone::default(), JsonMembers::default());
    let setting = RequestFacts {
        clock: clock(&zone),
        customer,
        identified: customer.is_some(),
        order: Some(&data),
        initial_amount: Money::new(amount),
        redemption: &data,
        channel: [None, None],
    };
    let rule_input = RuleInput {
        request_facts: &setting,
        linked: false,
        after: None,
        items: items.with(index),
        passes: RequiredFacts::default(),
        earning: None,
        facts: &Nothing(Money::new(amount)),
    };
    assert_eq!(rule.tests_hold(&rule_input), rule.check(&rule_input).is_ok());
    rule.tests_hold(&rule_input)
}
