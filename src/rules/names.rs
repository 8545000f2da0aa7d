//! Decides which rule names there are: one row says everything of one. It must not know how anything is found or compared.
//!
//! validation-rules.md section 4. Reading, the lint, the index of many rules, evaluation and refusals go by these rows.

use crate::model::scope::GoodsObject;
use crate::refusal::Reason;
use crate::rules::about;
use crate::rules::kind::{Asked, ChannelPart, Counter, Data, Figure, Kind, Over, Period, Pick};
use crate::rules::needs::Needs;
use crate::rules::operator::Operators;

/// What the values of a test are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Values {
    /// Amounts of money, in minor units.
    Money,
    /// Numbers of anything else.
    Count,
    /// Goods; those that do not say what they are, are these.
    Goods(Option<GoodsObject>),
    /// Whatever a property of custom data is, so that the test must name one.
    Property,
    /// Texts or flags.
    Any,
}

impl Values {
    /// Whether they are numbers: then a missing one fails.
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
    /// As it is written.
    pub text: &'static str,
    /// How what it looks at is found.
    pub kind: Kind,
    /// What its values are.
    pub values: Values,
    /// How they may be compared.
    pub operators: Operators,
    /// What of a request it looks at: where that is missing, the refusal says so.
    pub needs: Needs,
    /// What it is about: by this a qualification passes over it.
    pub about: u8,
    /// Which refusal a failure is.
    pub refusal: Reason,
}

impl RuleName {
    /// The row of a name; nothing is known of any other, and a rule with one is refused.
    pub fn find(text: &str) -> Option<&'static RuleName> {
        NAMES.iter().find(|row| row.text == text)
    }
}

/// Every name, as a shape lists them.
pub const WORDS: &[&str] = &words();

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
const fn words() -> [&'static str; NAMES.len()] {
    let mut all = [""; NAMES.len()];
    let mut place = 0;
    while place < NAMES.len() {
        all[place] = NAMES[place].text;
        place += 1;
    }
    all
}

/// Every name.
pub fn all() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|row| row.text)
}

const fn row(
    text: &'static str,
    kind: Kind,
    (values, operators): (Values, Operators),
    needs: Needs,
    about: u8,
    refusal: Reason,
) -> RuleName {
    RuleName { text, kind, values, operators, needs, about, refusal }
}

use Counter as C;
use Figure as F;
use Kind as K;
use Operators as O;
use Over::{Any, Each, Inherit, Sum};
use Period as P;
use Reason::{CustomerRulesViolated as CUSTOMER_RULE, OrderRulesViolated as ORDER_RULE};
use Reason::{NotPublishedTo as PUBLICATION_RULE, RedemptionRulesViolated as REDEMPTION_RULE};
use Values as V;

// What values are and how they may be compared.
const MONEY: (Values, Operators) = (V::Money, O::Numbers);
const COUNT: (Values, Operators) = (V::Count, O::Numbers);
const DATA: (Values, Operators) = (V::Property, O::All);
const TEXT: (Values, Operators) = (V::Any, O::All);
const NAMED: (Values, Operators) = (V::Any, O::Equal);
const FLAG: (Values, Operators) = (V::Any, O::Equal);
const GOODS: (Values, Operators) = (V::Goods(None), O::Goods);
const PRODUCT: (Values, Operators) = (V::Goods(Some(GoodsObject::Product)), O::GoodsOrNot);
const SKU: (Values, Operators) = (V::Goods(Some(GoodsObject::Sku)), O::GoodsOrNot);

// What is looked at together.
const NOTHING: Needs = Needs::NOTHING;
const CUSTOMER: Needs = Needs::CUSTOMER;
const ORDER: Needs = Needs::ORDER;
const AMOUNT: Needs = ORDER.and(Needs::AMOUNT);
const AFTER: Needs = AMOUNT.and(Needs::AFTER);
const LINES: Needs = ORDER.and(Needs::LINES);
const GOODS_DATA: Needs = LINES.and(Needs::GOODS_DATA);
const REDEMPTION: Needs = Needs::REDEMPTION;
const OF_CUSTOMER: Needs = REDEMPTION.and(Needs::CUSTOMER).and(Needs::BUDGET);
const BUDGET: Needs = REDEMPTION.and(Needs::BUDGET);
const ORDERS: Needs = BUDGET.and(Needs::ORDER);
const DISCOUNTED: Needs = BUDGET.and(Needs::AFTER);
const SPENT: Needs = REDEMPTION.and(Needs::AFTER);
const EARNING: Needs = Needs::EARNING;

/// Every rule name: text, kind, values and operators, needs, about, refusal.
const NAMES: &[RuleName] = &[
    row("customer.segment", K::Segment, NAMED, CUSTOMER, about::CUSTOMER, CUSTOMER_RULE),
    // The older spelling.
    row("customer_segment", K::Segment, NAMED, CUSTOMER, about::CUSTOMER, CUSTOMER_RULE),
    row("customer.metadata", K::Data(Data::Customer), DATA, CUSTOMER, about::CUSTOMER, CUSTOMER_RULE),
    row("customer.loyalty.tier", K::Earning(Asked::Tier), NAMED, CUSTOMER, about::CUSTOMER, CUSTOMER_RULE),
    row("publication.redeemable_by_linked_customer", K::Linked, FLAG, CUSTOMER, about::OWN, PUBLICATION_RULE),
    row("order.amount", K::Amount, MONEY, AMOUNT, about::ORDER, ORDER_RULE),
    row("order.total_amount", K::TotalAmount, MONEY, AFTER, about::OWN, ORDER_RULE),
    row("order.initial_amount", K::InitialAmount, MONEY, AMOUNT, about::ORDER, ORDER_RULE),
    row("order.metadata", K::Data(Data::Order), DATA, ORDER, about::ORDER, ORDER_RULE),
    // Units, not lines [inferred from "number of products in the cart"].
    row("order.items.count", K::Lines(F::Quantity, Sum), COUNT, LINES, about::GOODS, ORDER_RULE),
    row("order.items.price_any", K::Lines(F::Price, Any), MONEY, LINES, about::GOODS, ORDER_RULE),
    row("order.items.price_each", K::Lines(F::Price, Each), MONEY, LINES, about::GOODS, ORDER_RULE),
    row("order.items.metadata_any", K::LineData(Any), DATA, LINES, about::GOODS, ORDER_RULE),
    row("order.items.metadata_each", K::LineData(Each), DATA, LINES, about::GOODS, ORDER_RULE),
    row("order.items.any", K::Goods(Pick::Any), GOODS, LINES, about::GOODS, ORDER_RULE),
    row("order.items.every", K::Goods(Pick::Every), GOODS, LINES, about::GOODS, ORDER_RULE),
    row("order.items.none", K::Goods(Pick::None), GOODS, LINES, about::BARRED, ORDER_RULE),
    row("order.items.cheapest", K::Goods(Pick::Cheapest), GOODS, LINES, about::GOODS, ORDER_RULE),
    row("order.items.most_expensive", K::Goods(Pick::MostExpensive), GOODS, LINES, about::GOODS, ORDER_RULE),
    row("order.items.aggregated_amount", K::Lines(F::Amount, Sum), MONEY, LINES, about::GOODS, ORDER_RULE),
    row("order.items.aggregated_quantity", K::Lines(F::Quantity, Sum), COUNT, LINES, about::GOODS, ORDER_RULE),
    row("order.items.price", K::Lines(F::Price, Inherit), MONEY, LINES, about::GOODS, ORDER_RULE),
    row("order.items.quantity", K::Lines(F::Quantity, Inherit), COUNT, LINES, about::GOODS, ORDER_RULE),
    row("order.items.metadata", K::LineData(Inherit), DATA, LINES, about::GOODS, ORDER_RULE),
    row("product.id", K::Goods(Pick::Product), PRODUCT, LINES, about::GOODS, ORDER_RULE),
    row("sku.id", K::Goods(Pick::Sku), SKU, LINES, about::GOODS, ORDER_RULE),
    row("product.price", K::Lines(F::Price, Any), MONEY, LINES, about::GOODS, ORDER_RULE),
    row("sku.price", K::Lines(F::Price, Any), MONEY, LINES, about::GOODS, ORDER_RULE),
    // The product's units, over all lines that have it [inferred].
    row("product.quantity", K::Lines(F::Quantity, Sum), COUNT, LINES, about::GOODS, ORDER_RULE),
    row("sku.quantity", K::Lines(F::Quantity, Sum), COUNT, LINES, about::GOODS, ORDER_RULE),
    row("product.discount_applicable", K::Scopes, FLAG, NOTHING, about::ORDER, ORDER_RULE),
    row("sku.discount_applicable", K::Scopes, FLAG, NOTHING, about::ORDER, ORDER_RULE),
    row("product.metadata", K::GoodsData, DATA, GOODS_DATA, about::GOODS, ORDER_RULE),
    row("product.metadata.aggregated_quantity", K::Lines(F::Quantity, Sum), COUNT, LINES, about::GOODS, ORDER_RULE),
    row("product.metadata.aggregated_amount", K::Lines(F::Amount, Sum), MONEY, LINES, about::GOODS, ORDER_RULE),
    row("product.metadata.discount_applicable", K::Scopes, FLAG, NOTHING, about::ORDER, ORDER_RULE),
    row("product.metadata.match_all", K::MatchAll, FLAG, NOTHING, about::ORDER, ORDER_RULE),
    counted("redemption.count.daily", (C::Incentive, P::Day), COUNT, REDEMPTION, about::OWN),
    counted("redemption.count.weekly", (C::Incentive, P::Week), COUNT, REDEMPTION, about::OWN),
    counted("redemption.count.monthly", (C::Incentive, P::Month), COUNT, REDEMPTION, about::OWN),
    of_customer("redemption.count.per_customer", C::IncentiveOfCustomer, P::Ever),
    of_customer("redemption.count.per_customer.daily", C::IncentiveOfCustomer, P::Day),
    of_customer("redemption.count.per_customer.weekly", C::IncentiveOfCustomer, P::Week),
    of_customer("redemption.count.per_customer.monthly", C::IncentiveOfCustomer, P::Month),
    counted("redemption.count.per_api_key", (C::IncentiveOfKey, P::Ever), COUNT, REDEMPTION, about::OWN),
    counted("redemption.count.per_user", (C::IncentiveOfUser, P::Ever), COUNT, REDEMPTION, about::OWN),
    row("redemption.api_key", K::Channel(ChannelPart::Key), TEXT, REDEMPTION, about::ORDER, REDEMPTION_RULE),
    row("redemption.user.login", K::Channel(ChannelPart::User), TEXT, REDEMPTION, about::ORDER, REDEMPTION_RULE),
    row("redemption.metadata", K::Data(Data::Redemption), DATA, REDEMPTION, about::ORDER, REDEMPTION_RULE),
    counted("redemption.gift.amount", (C::GiftAmount, P::Ever), MONEY, SPENT, about::OWN),
    counted("redemption.reward.pay_with_points.points_used", (C::Points, P::Ever), COUNT, SPENT, about::OWN),
    counted("campaign.orders.amount", (C::Orders, P::Ever), MONEY, ORDERS, about::COUNTED),
    counted("campaign.orders.amount_discounted", (C::Discounted, P::Ever), MONEY, DISCOUNTED, about::COUNTED),
    counted("campaign.redemptions.count", (C::Campaign, P::Ever), COUNT, BUDGET, about::COUNTED),
    counted("campaign.redemptions.count.daily", (C::Campaign, P::Day), COUNT, BUDGET, about::COUNTED),
    counted("campaign.redemptions.count.weekly", (C::Campaign, P::Week), COUNT, BUDGET, about::COUNTED),
    counted("campaign.redemptions.count.monthly", (C::Campaign, P::Month), COUNT, BUDGET, about::COUNTED),
    of_customer("campaign.redemptions.customers_count", C::CampaignOfCustomer, P::Ever),
    of_customer("campaign.redemptions.customers_count.daily", C::CampaignOfCustomer, P::Day),
    of_customer("campaign.redemptions.customers_count.weekly", C::CampaignOfCustomer, P::Week),
    of_customer("campaign.redemptions.customers_count.monthly", C::CampaignOfCustomer, P::Month),
    row("custom_event.metadata", K::Earning(Asked::Event), DATA, EARNING, about::ORDER, REDEMPTION_RULE),
    row("member.metadata", K::Earning(Asked::Member), DATA, EARNING, about::ORDER, CUSTOMER_RULE),
];

/// What is counted, over which time.
const fn counted(
    text: &'static str,
    (counter, period): (Counter, Period),
    values: (Values, Operators),
    needs: Needs,
    about: u8,
) -> RuleName {
    row(text, K::Count(counter, period), values, needs, about, REDEMPTION_RULE)
}

/// What is counted of one customer.
const fn of_customer(text: &'static str, counter: Counter, period: Period) -> RuleName {
    counted(text, (counter, period), COUNT, OF_CUSTOMER, about::COUNTED)
}
