//! Rules asked in a scene that has an amount, lines and perhaps a customer, and knows nothing else.

use scrip::json::Members;
use scrip::money::Money;
use scrip::rules::{Basket, Clock, Figures, GoodsIndex, Needs, RequestFacts, Rule, RuleFacts, RuleInput};
use scrip::rules::{Counter, Period};
use scrip::time::{Instant, TimeZone};

/// A moment in this zone.
pub fn clock(zone: &TimeZone) -> Clock<'_> {
    Clock { now: Instant::from_millis(1_774_746_000_000).unwrap(), zone, work: None }
}

struct Nothing(Option<Money>);

impl RuleFacts for Nothing {
    fn amount(&self) -> Option<Money> {
        self.0
    }

    fn figures(&self, _line: usize) -> Figures {
        Figures::default()
    }

    fn goods_data(&self, _line: usize, _property: &str) -> [Option<&Members>; 4] {
        [None; 4]
    }

    fn is_in_segment(&self, _id: &str) -> Option<bool> {
        Some(false)
    }

    fn count(&self, _counter: Counter, _period: Period) -> Option<u64> {
        None
    }
}

/// Whether a rule holds.
pub fn check(rule: &Rule, amount: i64, items: Basket<'_>, index: Option<&GoodsIndex>) -> bool {
    check_for(rule, None, amount, items, index)
}

/// The same for a customer with this data.
pub fn check_for(
    rule: &Rule,
    customer: Option<&Members>,
    amount: i64,
    items: Basket<'_>,
    index: Option<&GoodsIndex>,
) -> bool {
    let (zone, data) = (TimeZone::default(), Members::default());
    let setting = RequestFacts {
        clock: clock(&zone),
        customer,
        identified: customer.is_some(),
        order: Some(&data),
        initial_amount: Money::new(amount),
        redemption: &data,
        channel: [None, None],
    };
    let scene = RuleInput {
        request_facts: &setting,
        linked: false,
        after: None,
        items: items.with(index),
        passes: Needs::default(),
        earning: None,
        facts: &Nothing(Money::new(amount)),
    };
    assert_eq!(rule.tests_hold(&scene), rule.check(&scene).is_ok());
    rule.tests_hold(&scene)
}
