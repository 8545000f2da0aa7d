//! Decides the parts of a scenario: its candidates, the evaluated tests of their rules, and their required relation to
//! the products of the order.
//!
//! docs/spec/calculation.md#13.

use crate::model::discount::{Discount, UnitOff};
use crate::model::qualification::{
    Candidate, CandidateObject, Compare, QualificationField, QualificationFilter, QualificationRequest, Scenario,
};
use crate::model::redeemable::Grant;
use crate::model::scope::{GoodsObject, GoodsRef, ScopeEntry};
use crate::rules::{OrderLines, RequiredFacts, ResolvedLine, Rule, subject};

use super::super::case::Offer;

/// The required relation of a candidate to the products of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Products {
    /// No relation.
    Any,
    /// It discounts or requires one of them.
    Related,
    /// It discounts one of them.
    Discounted,
}

impl Scenario {
    /// Returns the kinds of tests that are evaluated, as in [`subject`]. Tests of counts never are. Those of the
    /// products scenarios only check the products and whether the customer is excluded.
    pub fn facts(self) -> u8 {
        match self {
            Scenario::All | Scenario::CustomerWallet | Scenario::PromotionStacks => {
                subject::EVERYTHING & !subject::COUNTED
            }
            Scenario::AudienceOnly => subject::CUSTOMER,
            Scenario::Products | Scenario::ProductsDiscount => subject::EXCLUSION,
            Scenario::ProductsByCustomer | Scenario::ProductsDiscountByCustomer => {
                subject::EXCLUSION | subject::CUSTOMER
            }
        }
    }

    /// Returns the tests that pass without evaluation when a rule is checked for one candidate.
    pub fn passes(self) -> RequiredFacts {
        match self.uses_order() {
            true => RequiredFacts::BUDGET,
            false => {
                let order = RequiredFacts::ORDER
                    .and(RequiredFacts::LINES)
                    .and(RequiredFacts::GOODS_DATA)
                    .and(RequiredFacts::AMOUNT);
                order
                    .and(RequiredFacts::AFTER)
                    .and(RequiredFacts::REDEMPTION)
                    .and(RequiredFacts::BUDGET)
                    .and(RequiredFacts::EARNING)
            }
        }
    }

    /// Returns whether the whole order matters.
    pub fn uses_order(self) -> bool {
        self.facts() & subject::ORDER != 0
    }

    /// Returns the required relation to the products of the order.
    pub fn products(self) -> Products {
        match self {
            Scenario::Products | Scenario::ProductsByCustomer => Products::Related,
            Scenario::ProductsDiscount | Scenario::ProductsDiscountByCustomer => Products::Discounted,
            Scenario::All | Scenario::CustomerWallet | Scenario::PromotionStacks | Scenario::AudienceOnly => {
                Products::Any
            }
        }
    }

    /// Returns whether a scenario considers this candidate for this customer. Codes with a holder are returned to no other
    /// customer, and of a campaign with a code for each customer only the campaign is returned. `public` is `true` if every
    /// such caller gets the candidate.
    pub fn considers(self, candidate: &Candidate, customer: Option<&str>, public: bool) -> bool {
        let holder = candidate.holder_id.as_deref();
        let given = candidate.passed_on || candidate.published && holder.is_none();
        let is_own = customer.is_some() && (given || holder == customer);
        match self {
            Scenario::PromotionStacks => candidate.object == CandidateObject::PromotionStack && public,
            Scenario::CustomerWallet => candidate.object == CandidateObject::Voucher && is_own,
            Scenario::All
            | Scenario::AudienceOnly
            | Scenario::Products
            | Scenario::ProductsDiscount
            | Scenario::ProductsByCustomer
            | Scenario::ProductsDiscountByCustomer => {
                candidate.object != CandidateObject::PromotionStack && (public || is_own)
            }
        }
    }
}

impl QualificationRequest {
    /// Returns whether a candidate passes the filters.
    pub fn matches(&self, candidate: &Candidate, customer: Option<&str>) -> bool {
        let mut passed = self.filters.iter().map(|filter| passes(filter, candidate, customer));
        if self.any_filter && !self.filters.is_empty() {
            passed.any(|passed| passed)
        } else {
            passed.all(|passed| passed)
        }
    }
}

fn passes(filter: &QualificationFilter, candidate: &Candidate, customer: Option<&str>) -> bool {
    let found = match filter.field {
        QualificationField::CategoryId => candidate.category_id.as_deref(),
        QualificationField::CampaignId => candidate.campaign_id.as_deref(),
        QualificationField::CampaignType => candidate.campaign_type.as_deref(),
        QualificationField::ResourceId => Some(candidate.id.as_str()),
        QualificationField::ResourceType => Some(candidate.object.name()),
        QualificationField::VoucherType => candidate.voucher_type.as_deref(),
        QualificationField::Code => {
            Some(candidate.code.as_str()).filter(|_| candidate.object == CandidateObject::Voucher)
        }
        QualificationField::HolderRole => role(candidate, customer),
    };
    let contains = || found.is_some_and(|found| filter.values.iter().any(|value| value == found));
    match filter.compare {
        Compare::In => contains(),
        Compare::NotIn => !contains(),
        Compare::HasValue => found.is_some(),
        Compare::IsUnknown => found.is_none(),
    }
}

/// Returns the role of a customer for a voucher: referrer, referee or owner.
fn role(candidate: &Candidate, customer: Option<&str>) -> Option<&'static str> {
    let customer = customer?;
    let is_referral = candidate.campaign_type.as_deref() == Some("REFERRAL_PROGRAM");
    if candidate.referrer_id.as_deref() == Some(customer) {
        return Some("REFERRER");
    }
    if candidate.passed_on {
        return Some("REFEREE");
    }
    (candidate.holder_id.as_deref() == Some(customer)).then_some(if is_referral { "REFEREE" } else { "OWNER" })
}

/// Returns whether an offer has the required relation to the products of the order.
pub fn is_related_to(products: Products, offer: &Offer<'_>, items: OrderLines<'_>) -> bool {
    match products {
        Products::Any => true,
        Products::Discounted => discounts(offer, items),
        Products::Related => discounts(offer, items) || offer.rules.iter().any(|rule| requires(rule, items)),
    }
}

/// Returns whether the discount applies to lines, and to one of these.
pub(super) fn discounts(offer: &Offer<'_>, items: OrderLines<'_>) -> bool {
    let Grant::Discount(discount) = &offer.incentive.grant else { return false };
    let is_one = |unit: &UnitOff| {
        let kinds = [GoodsObject::Sku, GoodsObject::Product, GoodsObject::Collection];
        let named = kinds.map(|object| GoodsRef::new(object, unit.unit_type.clone(), None));
        items.has_any(&named)
    };
    match discount {
        Discount::Unit(unit) => return is_one(unit),
        Discount::Units(units) => return units.iter().any(is_one),
        _ => {}
    }
    let scope = offer.scope();
    let Some(scope) = scope.filter(|_| discount.acts_on_lines(scope.is_some())) else {
        return discount.acts_on_lines(scope.is_some()) && !items.is_empty();
    };
    let contains = |list: &[ScopeEntry], item: &ResolvedLine<'_>| list.iter().any(|entry| item.is(&entry.goods));
    let everything = scope.included_all || scope.included.is_empty();
    items.iter().any(|item| (everything || contains(&scope.included, item)) && !contains(&scope.excluded, item))
}

/// Returns whether a rule requires one of the lines by name.
fn requires(rule: &Rule, items: OrderLines<'_>) -> bool {
    let query = rule.tests.leaves.iter().map(|leaf| &leaf.test).filter(|test| test.subject() == subject::GOODS);
    let wanted = query.flat_map(|test| test.conditions.iter()).filter(|condition| !condition.operator.is_negative());
    wanted.into_iter().any(|condition| items.has_any(&condition.goods))
}
