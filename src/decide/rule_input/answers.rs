//! Answers the queries of rules from the facts of a redeemable. Rules: docs/spec/validation-rules.md sections 4 and 12.

use crate::decide::case::goods_sets::set_fact;
use crate::decide::case::stored::Absence;
use crate::decide::rule_input::groups::{self, GroupMembership};
use crate::decide::rule_input::offer_facts::OfferFacts;
use crate::facts::Known;
use crate::model::customer::ProfilePart;
use crate::model::order::{Item, Metadata, RelatedObject};
use crate::money::Money;
use crate::rules::{CountPeriod, Counter, LineAmounts, RequiredFacts, RuleFacts, RuleInput};
use crate::text::joined;

impl<'v> OfferFacts<'v> {
    /// Returns the input of rules. `passes` are the tests that pass without evaluation.
    #[inline]
    pub fn input(&'v self, passes: RequiredFacts) -> RuleInput<'v> {
        let customer = || self.case.request_customer.customer.as_deref()?.id.as_ref();
        let holder = self.offer.and_then(|offer| offer.incentive.holder_id.as_ref());
        RuleInput {
            request_facts: self.running_order.visible_facts(),
            linked: holder.is_some() && holder == customer(),
            after: self.effect.and_then(|effect| effect.total),
            items: self.running_order.visible_items().order_lines(),
            passes,
            earning: None,
            facts: self,
        }
    }

    /// Returns whether the customer belongs to a group, and records the reason if that is unknown.
    fn known(&self, belongs: GroupMembership) -> Option<bool> {
        match belongs {
            GroupMembership::Is(is) => Some(is),
            GroupMembership::IfNew(is) => {
                self.member_if_new.set(true);
                Some(is)
            }
            GroupMembership::Withheld => {
                self.withheld.set(true);
                None
            }
            GroupMembership::Missing(name) => {
                self.add_missing(name);
                Some(false)
            }
            GroupMembership::Unreadable(why) => {
                if why.is_some() {
                    self.unreadable.replace(why);
                }
                None
            }
        }
    }

    /// Returns whether a customer that a client names without proof meets the condition of a number.
    fn meets_as_named(&self, number: &str) -> Option<bool> {
        match (self.case.facts.new_customer_condition(number), self.case.request_customer.absence()) {
            (Known::Is(false), _) => Some(false),
            (Known::Is(true), Absence::Known) => Some(true),
            (Known::Is(true), Absence::IfNew) => {
                self.if_new.set(true);
                Some(true)
            }
            (Known::Is(true), Absence::Withheld) => {
                self.withheld.set(true);
                None
            }
            (Known::Absent | Known::Unknown | Known::Unreadable, _) => {
                self.add_missing(joined(&["condition/", number]));
                None
            }
        }
    }

    /// Returns the line at this position of the order, or among those that unit effects have added.
    fn item(&self, position: usize) -> Option<&'v Item> {
        let order = self.case.order.as_deref()?;
        order.items.iter().chain(self.running_order.cart.added()).nth(position)
    }
}

impl RuleFacts for OfferFacts<'_> {
    fn amount(&self) -> Option<Money> {
        self.running_order.visible_cart().total()
    }

    fn line_amounts(&self, line: usize) -> LineAmounts {
        let position = self.running_order.visible_items().position(line);
        self.running_order.visible_cart().lines.get(position).map_or(LineAmounts::default(), |line| LineAmounts {
            price: line.price,
            quantity: line.quantity,
            subtotal: line.amount.map(|_| line.subtotal()),
        })
    }

    fn goods_data(&self, line: usize, property: &str) -> [Option<&Metadata>; 4] {
        let line = self.running_order.visible_items().position(line);
        let item = self.item(line);
        if let Some(hidden) = self.case.hidden_of_goods(line, item, property) {
            self.missing.borrow_mut().extend(hidden.into_iter().flatten());
        }
        let sent = |kind| item.and_then(|item| item.goods(kind));
        let priced = &self.case.priced;
        let [sku, product] = [RelatedObject::Sku, RelatedObject::Product].map(sent);
        let found = [sku, priced.sku(line), product, priced.product(line)];
        found.map(|goods| goods.map(|goods| &goods.metadata))
    }

    fn is_in_goods_set(&self, line: usize, number: u64, without: Option<bool>) -> bool {
        let position = self.running_order.visible_items().position(line);
        let item = self.item(position);
        self.case.meets_set(position, item, number, without).unwrap_or_else(|| {
            self.add_missing(set_fact(number));
            false
        })
    }

    fn is_published(&self) -> bool {
        // A code with a holder was published only to them.
        let Some(offer) = self.offer.filter(|offer| offer.incentive.holder_id.is_none()) else { return false };
        match self.case.publication(&offer.incentive) {
            Known::Is(_) => true,
            Known::Absent | Known::Unreadable => false,
            Known::Unknown => {
                self.add_missing(joined(&["publication/", &offer.incentive.id]));
                false
            }
        }
    }

    fn is_customer_data_complete(&self) -> bool {
        match self.case.request_customer.absence() {
            Absence::Known => true,
            Absence::IfNew => {
                self.if_new.set(true);
                true
            }
            Absence::Withheld => {
                self.withheld.set(true);
                false
            }
        }
    }

    fn record_passed_membership(&self) {
        self.if_new.set(self.if_new.get() || self.member_if_new.get());
    }

    fn is_in_segment(&self, id: &str) -> Option<bool> {
        self.known(groups::is_in_segment(self.case, id))
    }

    fn is_in_tier(&self, id: &str) -> Option<bool> {
        self.known(groups::is_in_tier(self.case, id))
    }

    fn meets_condition(&self, number: &str) -> Option<bool> {
        // Fields of a request count before those of the stored profile, which the result is about.
        let has_sent =
            |part: &ProfilePart| self.case.request.customer.as_ref().is_some_and(|sent| sent.has_sent(*part));
        let changed: Vec<ProfilePart> =
            [ProfilePart::Metadata, ProfilePart::Fields].into_iter().filter(has_sent).collect();
        if changed.is_empty() && self.case.request_customer.named.is_some() {
            return self.meets_as_named(number);
        }
        let customer = self.case.request_customer.customer.as_deref().and_then(|customer| customer.id.as_deref());
        let stays = |customer: &&str| {
            changed.iter().all(|part| self.case.facts.is_condition_independent_of(customer, number, *part))
        };
        match customer
            .filter(stays)
            .map_or(Known::Unknown, |customer| self.case.facts.customer_condition(customer, number))
        {
            Known::Is(is_met) => Some(is_met),
            Known::Absent | Known::Unknown | Known::Unreadable => {
                self.add_missing(joined(&["condition/", number]));
                None
            }
        }
    }

    fn count(&self, counter: Counter, period: CountPeriod) -> Option<u64> {
        self.counted(counter, period)
    }
}
