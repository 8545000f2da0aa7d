//! Defines the rule names: one row contains all properties of a name.
//!
//! docs/spec/validation-rules.md#4. Parsing, the lint, the index of many rules, evaluation and refusals use these rows.

use crate::model::scope::GoodsObject;
use crate::refusal::Reason;
use crate::rules::kind::{
    ChannelPart, CountPeriod, Counter, EarningFact, FactKind, GoodsQuantifier, LineAmount, LineQuantifier,
    MetadataOwner,
};
use crate::rules::needs::RequiredFacts;
use crate::rules::operator::Operators;
use crate::rules::subject;

/// The type of a test's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Values {
    /// Amounts of money, in minor units.
    Money,
    /// Other numbers.
    Count,
    /// Goods; those without a type have this one.
    Goods(Option<GoodsObject>),
    /// Values of any metadata property, so that the test must name one.
    Property,
    /// Texts or flags.
    Any,
}

impl Values {
    /// Returns whether they are numbers: then a missing one fails.
    pub fn are_numbers(self) -> bool {
        match self {
            Values::Money | Values::Count => true,
            Values::Goods(_) | Values::Property | Values::Any => false,
        }
    }
}

/// A rule name.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct RuleName {
    /// The name as written in rules.
    pub text: &'static str,
    /// The kind, which finds the value.
    pub kind: FactKind,
    /// The type of its values.
    pub values: Values,
    /// The allowed operators.
    pub operators: Operators,
    /// The parts of a request that it needs: if one is missing, the refusal names it.
    pub needs: RequiredFacts,
    /// Its subjects, by which a qualification skips it.
    pub subject: u8,
    /// The refusal of a failure.
    pub refusal: Reason,
}

impl RuleName {
    /// Returns the row of a name; `None` for an unknown name, whose rule is refused.
    pub fn find(text: &str) -> Option<&'static RuleName> {
        NAMES.iter().find(|row| row.text == text)
    }

    /// Returns the row of a name in a bundle.
    pub fn find_in_bundle(text: &str) -> Option<&'static RuleName> {
        OF_BUNDLES.into_iter().find(|row| row.text == text).or_else(|| RuleName::find(text))
    }
}

/// A condition about the customer whose content only the service knows; its property is the number. Only bundles have it.
pub static CUSTOMER_CONDITION: RuleName =
    row("customer.condition", K::CustomerCondition, DATA, CUSTOMER, subject::CUSTOMER, CUSTOMER_RULE);

/// A condition on metadata of goods whose content only the service knows; its property is the number of a set of goods. Only bundles
/// have it. Its one condition, `$is` with `true` or `false`, defines whether goods without that metadata meet it.
pub static GOODS_SET: RuleName = row("goods.set", K::GoodsSet, DATA, GOODS_DATA, subject::GOODS, ORDER_RULE);

/// The names that only bundles have.
const OF_BUNDLES: [&RuleName; 2] = [&CUSTOMER_CONDITION, &GOODS_SET];

/// Returns whether tests of this name are conditions on stored metadata of goods.
pub fn is_about_goods_data(name: &str) -> bool {
    RuleName::find(name).is_some_and(|row| row.kind == K::GoodsData)
}

/// Returns whether tests of this name are conditions about the customer.
pub fn is_about_customer(name: &str) -> bool {
    let kind = RuleName::find(name).map(|row| row.kind);
    matches!(kind, Some(K::Segment | K::Tier | K::Data(MetadataOwner::Customer)))
}

/// Every name, for the shape.
pub const TEST_NAMES: &[&str] = &test_names();

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
const fn test_names() -> [&'static str; NAMES.len()] {
    let mut all = [""; NAMES.len()];
    let mut position = 0;
    while position < NAMES.len() {
        all[position] = NAMES[position].text;
        position += 1;
    }
    all
}

/// Returns every name.
pub fn all() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|row| row.text)
}

/// Kind of values and the operators that may compare them.
#[derive(Clone, Copy)]
struct Comparison {
    values: Values,
    operators: Operators,
}

const fn row(
    text: &'static str,
    kind: FactKind,
    comparison: Comparison,
    needs: RequiredFacts,
    subject: u8,
    refusal: Reason,
) -> RuleName {
    let Comparison { values, operators } = comparison;
    RuleName { text, kind, values, operators, needs, subject, refusal }
}

use CountPeriod as P;
use Counter as C;
use FactKind as K;
use LineAmount as F;
use LineQuantifier::{Any, Each, Inherit, Sum};
use Operators as O;
use Reason::{CustomerRulesViolated as CUSTOMER_RULE, OrderRulesViolated as ORDER_RULE};
use Reason::{NotPublishedTo as PUBLICATION_RULE, RedemptionRulesViolated as REDEMPTION_RULE};
use Values as V;

// Types of values and their operators.
const MONEY: Comparison = Comparison { values: V::Money, operators: O::Numbers };
const COUNT: Comparison = Comparison { values: V::Count, operators: O::Numbers };
const DATA: Comparison = Comparison { values: V::Property, operators: O::All };
const TEXT: Comparison = Comparison { values: V::Any, operators: O::All };
const NAMED: Comparison = Comparison { values: V::Any, operators: O::Equal };
const FLAG: Comparison = Comparison { values: V::Any, operators: O::Equal };
const GOODS: Comparison = Comparison { values: V::Goods(None), operators: O::Goods };
const PRODUCT: Comparison = Comparison { values: V::Goods(Some(GoodsObject::Product)), operators: O::GoodsOrNot };
const SKU: Comparison = Comparison { values: V::Goods(Some(GoodsObject::Sku)), operators: O::GoodsOrNot };

// Combinations of facts.
const NOTHING: RequiredFacts = RequiredFacts::NOTHING;
const CUSTOMER: RequiredFacts = RequiredFacts::CUSTOMER;
const ORDER: RequiredFacts = RequiredFacts::ORDER;
const AMOUNT: RequiredFacts = ORDER.and(RequiredFacts::AMOUNT);
const AFTER: RequiredFacts = AMOUNT.and(RequiredFacts::AFTER);
const LINES: RequiredFacts = ORDER.and(RequiredFacts::LINES);
const GOODS_DATA: RequiredFacts = LINES.and(RequiredFacts::GOODS_DATA);
const REDEMPTION: RequiredFacts = RequiredFacts::REDEMPTION;
const CHANNEL: RequiredFacts = REDEMPTION.and(RequiredFacts::CHANNEL);
const OF_CUSTOMER: RequiredFacts = REDEMPTION.and(RequiredFacts::CUSTOMER).and(RequiredFacts::BUDGET);
const BUDGET: RequiredFacts = REDEMPTION.and(RequiredFacts::BUDGET);
const ORDERS: RequiredFacts = BUDGET.and(RequiredFacts::ORDER);
const DISCOUNTED: RequiredFacts = BUDGET.and(RequiredFacts::AFTER);
const SPENT: RequiredFacts = REDEMPTION.and(RequiredFacts::AFTER);
const EARNING: RequiredFacts = RequiredFacts::EARNING;

/// Every rule name: text, kind, values and operators, needs, subject, refusal.
const NAMES: &[RuleName] = &[
    row("customer.segment", K::Segment, NAMED, CUSTOMER, subject::CUSTOMER, CUSTOMER_RULE),
    // An older spelling.
    row("customer_segment", K::Segment, NAMED, CUSTOMER, subject::CUSTOMER, CUSTOMER_RULE),
    row("customer.metadata", K::Data(MetadataOwner::Customer), DATA, CUSTOMER, subject::CUSTOMER, CUSTOMER_RULE),
    row("customer.loyalty.tier", K::Tier, NAMED, CUSTOMER, subject::CUSTOMER, CUSTOMER_RULE),
    row("publication.redeemable_by_linked_customer", K::Linked, FLAG, CUSTOMER, subject::OWN, PUBLICATION_RULE),
    row("order.amount", K::Amount, MONEY, AMOUNT, subject::ORDER, ORDER_RULE),
    row("order.total_amount", K::TotalAmount, MONEY, AFTER, subject::OWN, ORDER_RULE),
    row("order.initial_amount", K::InitialAmount, MONEY, AMOUNT, subject::ORDER, ORDER_RULE),
    row("order.metadata", K::Data(MetadataOwner::Order), DATA, ORDER, subject::ORDER, ORDER_RULE),
    // Units, not lines [inferred from "number of products in the cart"].
    row("order.items.count", K::Lines(F::Quantity, Sum), COUNT, LINES, subject::GOODS, ORDER_RULE),
    row("order.items.price_any", K::Lines(F::Price, Any), MONEY, LINES, subject::GOODS, ORDER_RULE),
    row("order.items.price_each", K::Lines(F::Price, Each), MONEY, LINES, subject::GOODS, ORDER_RULE),
    row("order.items.metadata_any", K::LineData(Any), DATA, LINES, subject::GOODS, ORDER_RULE),
    row("order.items.metadata_each", K::LineData(Each), DATA, LINES, subject::GOODS, ORDER_RULE),
    row("order.items.any", K::Goods(GoodsQuantifier::Any), GOODS, LINES, subject::GOODS, ORDER_RULE),
    row("order.items.every", K::Goods(GoodsQuantifier::Every), GOODS, LINES, subject::GOODS, ORDER_RULE),
    row("order.items.none", K::Goods(GoodsQuantifier::None), GOODS, LINES, subject::EXCLUSION, ORDER_RULE),
    row("order.items.cheapest", K::Goods(GoodsQuantifier::Cheapest), GOODS, LINES, subject::GOODS, ORDER_RULE),
    row(
        "order.items.most_expensive",
        K::Goods(GoodsQuantifier::MostExpensive),
        GOODS,
        LINES,
        subject::GOODS,
        ORDER_RULE,
    ),
    row("order.items.aggregated_amount", K::Lines(F::Amount, Sum), MONEY, LINES, subject::GOODS, ORDER_RULE),
    row("order.items.aggregated_quantity", K::Lines(F::Quantity, Sum), COUNT, LINES, subject::GOODS, ORDER_RULE),
    row("order.items.price", K::Lines(F::Price, Inherit), MONEY, LINES, subject::GOODS, ORDER_RULE),
    row("order.items.quantity", K::Lines(F::Quantity, Inherit), COUNT, LINES, subject::GOODS, ORDER_RULE),
    row("order.items.metadata", K::LineData(Inherit), DATA, LINES, subject::GOODS, ORDER_RULE),
    row("product.id", K::Goods(GoodsQuantifier::Product), PRODUCT, LINES, subject::GOODS, ORDER_RULE),
    row("sku.id", K::Goods(GoodsQuantifier::Sku), SKU, LINES, subject::GOODS, ORDER_RULE),
    row("product.price", K::Lines(F::Price, Any), MONEY, LINES, subject::GOODS, ORDER_RULE),
    row("sku.price", K::Lines(F::Price, Any), MONEY, LINES, subject::GOODS, ORDER_RULE),
    // The product's units, over all lines that have it [inferred].
    row("product.quantity", K::Lines(F::Quantity, Sum), COUNT, LINES, subject::GOODS, ORDER_RULE),
    row("sku.quantity", K::Lines(F::Quantity, Sum), COUNT, LINES, subject::GOODS, ORDER_RULE),
    row("product.discount_applicable", K::Scopes, FLAG, NOTHING, subject::ORDER, ORDER_RULE),
    row("sku.discount_applicable", K::Scopes, FLAG, NOTHING, subject::ORDER, ORDER_RULE),
    row("product.metadata", K::GoodsData, DATA, GOODS_DATA, subject::GOODS, ORDER_RULE),
    row("product.metadata.aggregated_quantity", K::Lines(F::Quantity, Sum), COUNT, LINES, subject::GOODS, ORDER_RULE),
    row("product.metadata.aggregated_amount", K::Lines(F::Amount, Sum), MONEY, LINES, subject::GOODS, ORDER_RULE),
    row("product.metadata.discount_applicable", K::Scopes, FLAG, NOTHING, subject::ORDER, ORDER_RULE),
    row("product.metadata.match_all", K::MatchAll, FLAG, NOTHING, subject::ORDER, ORDER_RULE),
    counted("redemption.count.daily", C::Incentive, P::Day, COUNT, REDEMPTION, subject::OWN),
    counted("redemption.count.weekly", C::Incentive, P::Week, COUNT, REDEMPTION, subject::OWN),
    counted("redemption.count.monthly", C::Incentive, P::Month, COUNT, REDEMPTION, subject::OWN),
    of_customer("redemption.count.per_customer", C::IncentiveOfCustomer, P::Ever),
    of_customer("redemption.count.per_customer.daily", C::IncentiveOfCustomer, P::Day),
    of_customer("redemption.count.per_customer.weekly", C::IncentiveOfCustomer, P::Week),
    of_customer("redemption.count.per_customer.monthly", C::IncentiveOfCustomer, P::Month),
    counted("redemption.count.per_api_key", C::IncentiveOfKey, P::Ever, COUNT, CHANNEL, subject::OWN),
    counted("redemption.count.per_user", C::IncentiveOfUser, P::Ever, COUNT, CHANNEL, subject::OWN),
    row("redemption.api_key", K::Channel(ChannelPart::Key), TEXT, CHANNEL, subject::ORDER, REDEMPTION_RULE),
    row("redemption.user.login", K::Channel(ChannelPart::User), TEXT, CHANNEL, subject::ORDER, REDEMPTION_RULE),
    row("redemption.metadata", K::Data(MetadataOwner::Redemption), DATA, REDEMPTION, subject::ORDER, REDEMPTION_RULE),
    counted("redemption.gift.amount", C::GiftAmount, P::Ever, MONEY, SPENT, subject::OWN),
    counted("redemption.reward.pay_with_points.points_used", C::Points, P::Ever, COUNT, SPENT, subject::OWN),
    counted("campaign.orders.amount", C::Orders, P::Ever, MONEY, ORDERS, subject::COUNTED),
    counted("campaign.orders.amount_discounted", C::Discounted, P::Ever, MONEY, DISCOUNTED, subject::COUNTED),
    counted("campaign.redemptions.count", C::Campaign, P::Ever, COUNT, BUDGET, subject::COUNTED),
    counted("campaign.redemptions.count.daily", C::Campaign, P::Day, COUNT, BUDGET, subject::COUNTED),
    counted("campaign.redemptions.count.weekly", C::Campaign, P::Week, COUNT, BUDGET, subject::COUNTED),
    counted("campaign.redemptions.count.monthly", C::Campaign, P::Month, COUNT, BUDGET, subject::COUNTED),
    of_customer("campaign.redemptions.customers_count", C::CampaignOfCustomer, P::Ever),
    of_customer("campaign.redemptions.customers_count.daily", C::CampaignOfCustomer, P::Day),
    of_customer("campaign.redemptions.customers_count.weekly", C::CampaignOfCustomer, P::Week),
    of_customer("campaign.redemptions.customers_count.monthly", C::CampaignOfCustomer, P::Month),
    row("custom_event.metadata", K::Earning(EarningFact::Event), DATA, EARNING, subject::ORDER, REDEMPTION_RULE),
    row("member.metadata", K::Earning(EarningFact::Member), DATA, EARNING, subject::ORDER, CUSTOMER_RULE),
];

/// Returns a row for a count over a period.
const fn counted(
    text: &'static str,
    counter: Counter,
    period: CountPeriod,
    comparison: Comparison,
    needs: RequiredFacts,
    subject: u8,
) -> RuleName {
    row(text, K::Count(counter, period), comparison, needs, subject, REDEMPTION_RULE)
}

/// Returns a row for a count of one customer.
const fn of_customer(text: &'static str, counter: Counter, period: CountPeriod) -> RuleName {
    counted(text, counter, period, COUNT, OF_CUSTOMER, subject::COUNTED)
}
