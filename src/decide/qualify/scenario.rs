//! Decides what a scenario looks at: which candidates, which tests of their rules, and what they must have to do with
//! the products of the order. It must not know amounts.
//!
//! calculation.md section 13.

use crate::model::discount::{Discount, UnitOff};
use crate::model::incentive::Grant;
use crate::model::qualification::{Candidate, CandidateObject, Compare, Field, Filter, Qualify, Scenario};
use crate::model::scope::{Entry, GoodsObject, GoodsRef};
use crate::rules::{Basket, Needs, ResolvedLine, Rule, about};

use super::super::case::Offer;

/// What a candidate must have to do with the products of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Products {
    /// Nothing.
    Any,
    /// It discounts one of them, or asks for one of them.
    Concerned,
    /// It discounts one of them.
    Discounted,
}

impl Scenario {
    /// What tests of rules are looked at, as [`about`] says it. Counts never are; those of the products scenarios ask
    /// only whether the products have to do with it, and whether the customer may.
    pub fn facts(self) -> u8 {
        match self {
            Scenario::All | Scenario::CustomerWallet | Scenario::PromotionStacks => about::EVERYTHING & !about::COUNTED,
            Scenario::AudienceOnly => about::CUSTOMER,
            Scenario::Products | Scenario::ProductsDiscount => about::BARRED,
            Scenario::ProductsByCustomer | Scenario::ProductsDiscountByCustomer => about::BARRED | about::CUSTOMER,
        }
    }

    /// The tests that hold without being asked when a rule is looked at for one candidate alone.
    pub fn passes(self) -> Needs {
        match self.asks_order() {
            true => Needs::BUDGET,
            false => {
                let order = Needs::ORDER.and(Needs::LINES).and(Needs::GOODS_DATA).and(Needs::AMOUNT);
                order.and(Needs::AFTER).and(Needs::REDEMPTION).and(Needs::BUDGET).and(Needs::EARNING)
            }
        }
    }

    /// Whether the order as a whole matters.
    pub fn asks_order(self) -> bool {
        self.facts() & about::ORDER != 0
    }

    /// What the products of the order matter.
    pub fn products(self) -> Products {
        match self {
            Scenario::Products | Scenario::ProductsByCustomer => Products::Concerned,
            Scenario::ProductsDiscount | Scenario::ProductsDiscountByCustomer => Products::Discounted,
            Scenario::All | Scenario::CustomerWallet | Scenario::PromotionStacks | Scenario::AudienceOnly => {
                Products::Any
            }
        }
    }

    /// Whether a scenario looks at this candidate for this customer. Codes that belong to somebody are told to nobody
    /// else, and of a campaign with a code for each customer the campaign is told. A page is told only the codes of its
    /// customer: whoever opens it could list all others (errors-and-auth.md, client-side keys are public).
    pub fn looks_at(self, candidate: &Candidate, customer: Option<&str>, page: bool) -> bool {
        let holder = candidate.holder_id.as_deref();
        let given = candidate.passed_on || candidate.published && holder.is_none();
        let theirs = customer.is_some() && (given || holder == customer);
        let public = candidate.public && !(page && candidate.object == CandidateObject::Voucher);
        match self {
            Scenario::PromotionStacks => candidate.object == CandidateObject::PromotionStack,
            Scenario::CustomerWallet => candidate.object == CandidateObject::Voucher && theirs,
            Scenario::All
            | Scenario::AudienceOnly
            | Scenario::Products
            | Scenario::ProductsDiscount
            | Scenario::ProductsByCustomer
            | Scenario::ProductsDiscountByCustomer => {
                candidate.object != CandidateObject::PromotionStack && (public || theirs)
            }
        }
    }
}

impl Qualify {
    /// Whether a candidate is what the filters want.
    pub fn wants(&self, candidate: &Candidate, customer: Option<&str>) -> bool {
        let mut passed = self.filters.iter().map(|filter| passes(filter, candidate, customer));
        if self.any_filter && !self.filters.is_empty() {
            passed.any(|passed| passed)
        } else {
            passed.all(|passed| passed)
        }
    }
}

fn passes(filter: &Filter, candidate: &Candidate, customer: Option<&str>) -> bool {
    let found = match filter.field {
        Field::CategoryId => candidate.category_id.as_deref(),
        Field::CampaignId => candidate.campaign_id.as_deref(),
        Field::CampaignType => candidate.campaign_type.as_deref(),
        Field::ResourceId => Some(candidate.id.as_str()),
        Field::ResourceType => Some(candidate.object.name()),
        Field::VoucherType => candidate.voucher_type.as_deref(),
        Field::Code => Some(candidate.code.as_str()).filter(|_| candidate.object == CandidateObject::Voucher),
        Field::HolderRole => role(candidate, customer),
    };
    let among = || found.is_some_and(|found| filter.values.iter().any(|value| value == found));
    match filter.compare {
        Compare::In => among(),
        Compare::NotIn => !among(),
        Compare::HasValue => found.is_some(),
        Compare::IsUnknown => found.is_none(),
    }
}

/// What a customer is to a voucher: who passes a referral code on, who was referred with it, or its owner.
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

/// Whether an offer has to do with the products of the order in this way.
pub fn concerns(products: Products, offer: &Offer<'_>, items: Basket<'_>) -> bool {
    match products {
        Products::Any => true,
        Products::Discounted => discounts(offer, items),
        Products::Concerned => discounts(offer, items) || offer.rules.iter().any(|rule| requires(rule, items)),
    }
}

/// Whether the discount acts on lines, and on one of these.
fn discounts(offer: &Offer<'_>, items: Basket<'_>) -> bool {
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
    let among = |list: &[Entry], item: &ResolvedLine<'_>| list.iter().any(|entry| item.is(&entry.goods));
    let everything = scope.included_all || scope.included.is_empty();
    items.iter().any(|item| (everything || among(&scope.included, item)) && !among(&scope.excluded, item))
}

/// Whether a rule asks for one of the lines by name.
fn requires(rule: &Rule, items: Basket<'_>) -> bool {
    let asked = rule.tests.leaves.iter().map(|leaf| &leaf.test).filter(|test| test.about() == about::GOODS);
    let wanted = asked.flat_map(|test| test.conditions.iter()).filter(|condition| !condition.operator.is_negative());
    wanted.into_iter().any(|condition| items.has_any(&condition.goods))
}
