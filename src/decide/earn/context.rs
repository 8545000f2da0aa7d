//! Provides the data of an event to earning rules: the order with its goods, the customer, a custom event.
//!
//! `order.amount` is the amount before discounts, and `order.total_amount` the amount to pay: the order is final.

use crate::decide::case::{Case, RequestCustomer};
use crate::decide::earn::verdict::EarningMismatch;
use crate::decide::items::Items;
use crate::decide::request_usage::RequestUsage;
use crate::decide::rule_input::{OfferFacts, RunningOrder};
use crate::facts::Fact;
use crate::facts::earning::{Earning, Membership};
use crate::model::customer::Customer;
use crate::model::order::{Metadata, Order};
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::money::Money;
use crate::pricing::lines::PriceSource;
use crate::pricing::{Cart, price};
use crate::refusal::Refusal;
use crate::rules::{CountPeriod, Counter, EarningInput, LineAmounts, RequestFacts, RequiredFacts, Rule, RuleFacts};
use crate::text::Text;

/// The content of an event that may earn.
#[derive(Debug, Clone, Copy)]
pub enum EarningEvent<'a> {
    /// An order is paid; the stored order.
    OrderPaid(&'a Order),
    /// A custom event.
    CustomEvent {
        /// Its schema; `None` stands for an event of any schema, as in an estimate.
        schema_id: Option<&'a str>,
        /// Its metadata.
        metadata: &'a Metadata,
    },
    /// The customer entered a segment; `None` stands for any segment, as in an estimate.
    SegmentEntered(Option<&'a str>),
}

impl<'a> EarningEvent<'a> {
    /// Returns the order.
    pub fn order(self) -> Option<&'a Order> {
        match self {
            EarningEvent::OrderPaid(order) => Some(order),
            EarningEvent::CustomEvent { .. } | EarningEvent::SegmentEntered(_) => None,
        }
    }

    /// Returns the metadata of the event.
    pub fn event_data(self) -> Option<&'a Metadata> {
        match self {
            EarningEvent::CustomEvent { metadata, .. } => Some(metadata),
            EarningEvent::OrderPaid(_) | EarningEvent::SegmentEntered(_) => None,
        }
    }
}

/// Puts customer and order into a case, and finds the goods.
pub fn settle<'a>(case: &mut Case<'a>, customer: &'a Customer, event: EarningEvent<'a>) -> Result<(), Refusal> {
    case.request_customer =
        RequestCustomer { customer: Some(Fact::Borrowed(customer)), stored: true, ..RequestCustomer::default() };
    let Some(order) = event.order() else { return Ok(()) };
    let mut missing = Vec::new();
    price(order, case.facts, PriceSource::Sent, &mut |name| missing.push(name), &mut case.priced)?;
    missing.into_iter().for_each(|name| case.missing.add(name));
    case.order = Some(Fact::Borrowed(order));
    Ok(())
}

/// The data of an event that all memberships share.
pub struct EarningContext<'s> {
    /// The content of the event.
    pub event: EarningEvent<'s>,
    /// Customer, order and instant.
    pub case: &'s Case<'s>,
    /// The lines of the order.
    pub items: &'s Items<'s>,
    /// The facts that do not depend on a rule.
    pub setting: &'s RequestFacts<'s>,
    /// Usage of the request: nothing is applied.
    pub usage: &'s RequestUsage,
    /// All tiers of the customer.
    pub tiers: &'s [Text],
}

/// The facts that tests see: those of a redeemable, but with the amount of the event's order.
struct EarningRuleInput<'v> {
    view: &'v OfferFacts<'v>,
    amount: Option<Money>,
}

impl RuleFacts for EarningRuleInput<'_> {
    fn amount(&self) -> Option<Money> {
        self.amount
    }

    fn line_amounts(&self, line: usize) -> LineAmounts {
        self.view.line_amounts(line)
    }

    fn goods_data(&self, line: usize, property: &str) -> [Option<&Metadata>; 4] {
        self.view.goods_data(line, property)
    }

    fn is_in_goods_set(&self, line: usize, number: u64, without: Option<bool>) -> bool {
        self.view.is_in_goods_set(line, number, without)
    }

    /// Earning rules see the tiers of the member in `EarningInput` instead.
    fn is_in_tier(&self, _id: &str) -> Option<bool> {
        None
    }

    fn is_in_segment(&self, id: &str) -> Option<bool> {
        self.view.is_in_segment(id)
    }

    fn count(&self, counter: Counter, period: CountPeriod) -> Option<u64> {
        self.view.count(counter, period)
    }
}

impl EarningContext<'_> {
    /// Returns the amounts of the order, if the event has one.
    pub fn cart(&self) -> Option<&Cart> {
        self.case.order.as_ref().map(|_| &self.case.priced.cart)
    }

    /// Returns whether the content of one of these collections cannot be read.
    pub fn is_unreadable(&self, goods: &[GoodsRef]) -> bool {
        let named = |one: &GoodsRef| one.object == GoodsObject::Collection && self.items.unreadable.contains(&one.id);
        !self.items.missing().is_empty() || goods.iter().any(named)
    }

    /// Checks whether an earning applies to this member, by tier and by its rules.
    pub fn check(&self, earning: &Earning, member: &Membership<'_>) -> Result<(), EarningMismatch> {
        let holds = |structure_id: &Text, tier_ids: &[Text]| {
            member.tiers.iter().any(|held| held.structure_id == *structure_id && tier_ids.contains(&held.tier_id))
        };
        let any = |tiers: &Vec<crate::facts::earning::RequiredTiers>| {
            tiers.iter().any(|tiers| holds(&tiers.structure_id, &tiers.tier_ids))
        };
        if !earning.tiers.as_ref().is_none_or(any) {
            return Err(EarningMismatch::Tier);
        }
        if self.names_unreadable(&earning.rule) {
            return Err(EarningMismatch::Unreadable);
        }
        let running_order = RunningOrder {
            cart: &self.case.priced.cart,
            items: self.items,
            request_facts: self.setting,
            usage: self.usage,
            paid: None,
        };
        let view = OfferFacts::new(self.case, None, &running_order);
        let verdict = self.test(&earning.rule, member, &view);
        match view.is_certain() {
            true => verdict,
            false => Err(EarningMismatch::Unreadable),
        }
    }

    fn test(&self, rule: &Rule, member: &Membership<'_>, view: &OfferFacts<'_>) -> Result<(), EarningMismatch> {
        let rule_facts = EarningRuleInput { view, amount: self.cart().and_then(|cart| cart.amount) };
        let mut input = view.input(RequiredFacts::NOTHING);
        input.facts = &rule_facts;
        input.after = self.cart().and_then(Cart::total);
        input.earning =
            Some(EarningInput { tiers: self.tiers, member: &member.metadata, event: self.event.event_data() });
        let details = |failure: crate::rules::RuleFailure<'_>| {
            EarningMismatch::Rule(failure.failing_test(&input).leaf.map(|leaf| leaf.key.clone()))
        };
        rule.check(&input).and_then(|()| rule.check_after(&input)).map_err(details)
    }

    fn names_unreadable(&self, rule: &Rule) -> bool {
        let mut unreadable = false;
        if rule.needs.meets(RequiredFacts::COLLECTIONS) {
            rule.each_goods(&mut |goods| unreadable |= self.is_unreadable(std::slice::from_ref(goods)));
        }
        unreadable
    }
}
