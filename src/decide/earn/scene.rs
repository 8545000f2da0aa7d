//! Decides what an event is to earning rules: the order with its goods, the customer, a custom event, as tests look at them. It must
//! not know members or what anything is worth.
//!
//! `order.amount` is the amount before discounts, and `order.total_amount` what is to pay: the order is final.

use crate::decide::case::{Buyer, Case};
use crate::decide::earn::verdict::Mismatch;
use crate::decide::items::Items;
use crate::decide::rule_input::{OfferFacts, RunningOrder};
use crate::decide::running::Running;
use crate::facts::Fact;
use crate::facts::earning::{Earning, Membership};
use crate::model::customer::Customer;
use crate::model::order::{Metadata, Order};
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::money::Money;
use crate::pricing::lines::Trust;
use crate::pricing::{Cart, price};
use crate::refusal::Refusal;
use crate::rules::{Counter, EarningInput, Figures, Needs, Period, RequestFacts, Rule, RuleFacts};
use crate::text::Text;

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum What<'a> {
    /// An order is paid: as it is stored.
    OrderPaid(&'a Order),
    /// A custom event.
    CustomEvent {
        /// Its schema; without one it stands for an event of any, which only examining asks.
        schema_id: Option<&'a str>,
        /// Its custom data.
        metadata: &'a Metadata,
    },
    /// The customer entered a segment; without one any, which only examining asks.
    SegmentEntered(Option<&'a str>),
}

impl<'a> What<'a> {
    /// The order.
    pub fn order(self) -> Option<&'a Order> {
        match self {
            What::OrderPaid(order) => Some(order),
            What::CustomEvent { .. } | What::SegmentEntered(_) => None,
        }
    }

    /// The custom data of the event.
    pub fn event_data(self) -> Option<&'a Metadata> {
        match self {
            What::CustomEvent { metadata, .. } => Some(metadata),
            What::OrderPaid(_) | What::SegmentEntered(_) => None,
        }
    }
}

/// Puts customer and order into a case, and looks the goods up.
pub fn settle<'a>(case: &mut Case<'a>, customer: &'a Customer, what: What<'a>) -> Result<(), Refusal> {
    case.buyer = Buyer { customer: Some(Fact::Lent(customer)), stored: true, ..Buyer::default() };
    let Some(order) = what.order() else { return Ok(()) };
    let mut lacks = Vec::new();
    price(order, case.facts, Trust::Sent, &mut |name| lacks.push(name), &mut case.priced)?;
    lacks.into_iter().for_each(|name| case.lacks.add(name));
    case.order = Some(Fact::Lent(order));
    Ok(())
}

/// The scene of an event, as all memberships have it.
pub struct Scene<'s> {
    /// What happened.
    pub what: What<'s>,
    /// Customer, order and moment.
    pub case: &'s Case<'s>,
    /// The lines.
    pub items: &'s Items<'s>,
    /// What does not depend on a rule.
    pub setting: &'s RequestFacts<'s>,
    /// Nothing is applied.
    pub running: &'s Running,
    /// All tiers that the customer holds.
    pub tiers: &'s [Text],
}

/// What tests see: as of a redeemable, but for the amount.
struct Seen<'v> {
    view: &'v OfferFacts<'v>,
    amount: Option<Money>,
}

impl RuleFacts for Seen<'_> {
    fn amount(&self) -> Option<Money> {
        self.amount
    }

    fn figures(&self, line: usize) -> Figures {
        self.view.figures(line)
    }

    fn goods_data(&self, line: usize, property: &str) -> [Option<&Metadata>; 4] {
        self.view.goods_data(line, property)
    }

    /// Rules see the tiers of the member themselves, where something is earned.
    fn is_in_tier(&self, _id: &str) -> Option<bool> {
        None
    }

    fn is_in_segment(&self, id: &str) -> Option<bool> {
        self.view.is_in_segment(id)
    }

    fn count(&self, counter: Counter, period: Period) -> Option<u64> {
        self.view.count(counter, period)
    }
}

impl Scene<'_> {
    /// The amounts of the order, when one is what happened.
    pub fn cart(&self) -> Option<&Cart> {
        self.case.order.as_ref().map(|_| &self.case.priced.cart)
    }

    /// Whether nobody can say what is in one of these collections.
    pub fn is_unreadable(&self, goods: &[GoodsRef]) -> bool {
        let named = |one: &GoodsRef| one.object == GoodsObject::Collection && self.items.unreadable.contains(&one.id);
        !self.items.lacks().is_empty() || goods.iter().any(named)
    }

    /// Whether an earning is this member's, by tier and by its rules.
    pub fn check(&self, earning: &Earning, member: &Membership<'_>) -> Result<(), Mismatch> {
        let holds = |structure_id: &Text, tier_ids: &[Text]| {
            member.tiers.iter().any(|held| held.structure_id == *structure_id && tier_ids.contains(&held.tier_id))
        };
        let any = |tiers: &Vec<crate::facts::earning::Tiers>| {
            tiers.iter().any(|tiers| holds(&tiers.structure_id, &tiers.tier_ids))
        };
        if !earning.tiers.as_ref().is_none_or(any) {
            return Err(Mismatch::Tier);
        }
        if self.names_unreadable(&earning.rule) {
            return Err(Mismatch::Unreadable);
        }
        let running_order = RunningOrder {
            cart: &self.case.priced.cart,
            items: self.items,
            request_facts: self.setting,
            running: self.running,
        };
        let view = OfferFacts::new(self.case, None, &running_order);
        let verdict = self.test(&earning.rule, member, &view);
        match view.is_certain() {
            true => verdict,
            false => Err(Mismatch::Unreadable),
        }
    }

    fn test(&self, rule: &Rule, member: &Membership<'_>, view: &OfferFacts<'_>) -> Result<(), Mismatch> {
        let seen = Seen { view, amount: self.cart().and_then(|cart| cart.amount) };
        let mut input = view.input(Needs::NOTHING);
        input.facts = &seen;
        input.after = self.cart().and_then(Cart::total);
        input.earning =
            Some(EarningInput { tiers: self.tiers, member: &member.metadata, event: self.what.event_data() });
        let told = |failure: crate::rules::Failure<'_>| {
            Mismatch::Rule(failure.blamed(&input).leaf.map(|leaf| leaf.key.clone()))
        };
        rule.check(&input).and_then(|()| rule.check_after(&input)).map_err(told)
    }

    fn names_unreadable(&self, rule: &Rule) -> bool {
        let mut unreadable = false;
        if rule.needs.meets(Needs::COLLECTIONS) {
            rule.each_goods(&mut |goods| unreadable |= self.is_unreadable(std::slice::from_ref(goods)));
        }
        unreadable
    }
}
