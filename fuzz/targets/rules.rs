//! Reads any text as a validation rule, a filter, a segment or a collection. It is refused with a message or read. The lint of the result
//! and its decision on an adverse order both end.

use scrip::json::JsonMembers;
use scrip::money::{LARGEST, Money};
use scrip::rules::{
    Clock, GoodsIndex, LineAmounts, OrderLines, RequestFacts, RequiredFacts, ResolvedLine, RuleFacts, RuleInput, lint,
};
use scrip::rules::{CountPeriod, Counter, EarningInput};
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};
use scrip::wire::customer::read_customer;
use scrip::wire::document::read_document;
use scrip::wire::rules::{read_collection, read_filter, read_rule, read_segment};

struct Adverse {
    data: JsonMembers,
    amount: Option<Money>,
}

impl RuleFacts for Adverse {
    fn amount(&self) -> Option<Money> {
        self.amount
    }

    fn line_amounts(&self, line: usize) -> LineAmounts {
        let price = Money::new(if line == 0 { LARGEST } else { 0 });
        LineAmounts { price, quantity: u64::MAX, subtotal: price.filter(|_| line != 1) }
    }

    fn goods_data(&self, _line: usize, _property: &str) -> [Option<&JsonMembers>; 4] {
        [None, Some(&self.data), None, Some(&self.data)]
    }

    fn is_in_segment(&self, id: &str) -> Option<bool> {
        Some(id.len().is_multiple_of(2))
    }

    fn is_in_tier(&self, id: &str) -> Option<bool> {
        (!id.is_empty()).then(|| id.len().is_multiple_of(2))
    }

    fn count(&self, _counter: Counter, period: CountPeriod) -> Option<u64> {
        (period != CountPeriod::Day).then_some(u64::MAX)
    }
}

const CUSTOMER: &str =
    r#"{"id":"c","metadata":{"p":["a",1,null,{"q":-0.5}],"d":"2026-03-29","n":{"p":"2026-03-29T00:30:00Z"}}}"#;

/// Checks the properties of one text.
pub fn run(text: &str) {
    let zone = TimeZone {
        name: "Europe/Warsaw".into(),
        offset: 3600,
        transitions: vec![(Instant::from_millis(1_774_746_000_000).unwrap_or_default(), 7200)],
    };
    let clock = Clock {
        now: Instant::from_millis(1_774_746_000_000).unwrap_or_default(),
        zone: &zone,
        zone_use: None,
        budget: None,
    };
    let Ok(customer) = read_document(CUSTOMER, read_customer) else { return };
    let _ = (read_document(text, read_segment), read_document(text, read_collection));
    if let Ok(filter) = read_document(text, read_filter) {
        let _ = filter.passes(&customer.document, &customer.metadata, &|_| 1, &clock);
    }
    let Ok(rule) = read_document(text, read_rule) else { return };
    let _ = lint(&rule);
    let names = ["A", "A-1", "a", ""].map(Text::from);
    let [product, sku, source, nothing] = &names;
    let items = [
        ResolvedLine::new([Some(product), None], [Some(sku), Some(source)]),
        ResolvedLine::new([None, Some(nothing)], [None, None]),
        ResolvedLine::default(),
    ];
    let items = OrderLines::of(&items);
    let index = GoodsIndex::new(items);
    for (amount, with_index) in [(None, false), (Money::new(0), true), (Money::new(LARGEST), true)] {
        let facts = Adverse { data: customer.metadata.clone(), amount };
        let request_facts = RequestFacts {
            clock,
            customer: amount.map(|_| &customer.metadata),
            identified: with_index,
            order: amount.map(|_| &facts.data),
            initial_amount: amount,
            redemption: &facts.data,
            channel: [Some("key"), None],
        };
        let input = RuleInput {
            request_facts: &request_facts,
            linked: with_index,
            after: amount,
            items: if amount.is_some() { items.with(with_index.then_some(&index)) } else { OrderLines::of(&[]) },
            passes: RequiredFacts::default(),
            earning: with_index.then_some(EarningInput {
                tiers: &names,
                member: &facts.data,
                event: amount.map(|_| &facts.data),
            }),
            facts: &facts,
        };
        for verdict in [rule.check(&input), rule.check_after(&input)] {
            if let Err(failure) = verdict {
                let why = failure.failing_test(&input).explain(&input);
                assert!(why.is_none_or(|why| why.change.is_none_or(|change| !change.text().is_empty())));
            }
        }
    }
}
