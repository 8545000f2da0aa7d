//! Decides which rule names there are and what each looks at: one table. It must not know how anything is compared.
//!
//! validation-rules.md section 4.

use crate::rules::ast::Needs;

/// What a test looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// What is left of the order amount.
    Amount,
    /// What is left after the redeemable itself.
    TotalAmount,
    /// The order amount before any discount.
    InitialAmount,
    /// A figure of lines.
    Lines(Figure, Over),
    /// How often, or for how much, something was redeemed, this time included.
    Count(Counter, Period),
    /// Custom data.
    Data(Data),
    /// Custom data of a line.
    LineData(Over),
    /// Custom data of the SKU or product of a line.
    GoodsData,
    /// Which goods there are.
    Goods(Pick),
    /// Whether the customer belongs to one of these.
    Member(Membership),
    /// Through what a request came.
    Channel(ChannelPart),
    /// Whether the code was published to the customer.
    Linked,
    /// Puts what the test around it matched into the scope of the discount; it tests nothing.
    Scopes,
    /// Makes the test around it about every line; it tests nothing.
    MatchAll,
}

/// A figure of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Figure {
    /// Unit price.
    Price,
    /// Units.
    Quantity,
    /// What is left to pay, discounts of the line off.
    Amount,
}

/// How lines answer together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Over {
    /// At least one does.
    Any,
    /// All do, and there is one.
    Each,
    /// As the test around it says.
    Inherit,
    /// Their sum does.
    Sum,
}

/// Which goods a test is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pick {
    /// At least one line matches.
    Any,
    /// Every line does.
    Every,
    /// No line does.
    None,
    /// One of those with the lowest unit price does.
    Cheapest,
    /// One of those with the highest unit price does.
    MostExpensive,
    /// The cart has one of these products.
    Product,
    /// The cart has one of these SKUs.
    Sku,
}

/// Whose custom data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Data {
    /// The customer's.
    Customer,
    /// The order's.
    Order,
    /// The redemption's.
    Redemption,
    /// A custom event's.
    Event,
    /// The member's of a loyalty programme.
    Member,
}

/// What a customer may belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Membership {
    /// A segment.
    Segment,
    /// A tier of a loyalty programme.
    Tier,
}

/// What is known of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChannelPart {
    /// The id of its key.
    Key,
    /// The login of the user.
    User,
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counter {
    /// Redemptions of the incentive.
    Incentive,
    /// Redemptions of the incentive by the customer.
    IncentiveOfCustomer,
    /// Redemptions of the incentive through the caller's key.
    IncentiveOfKey,
    /// Redemptions of the incentive by the caller's user.
    IncentiveOfUser,
    /// Redemptions in the campaign.
    Campaign,
    /// Redemptions in the campaign by the customer.
    CampaignOfCustomer,
    /// The value of orders made with the campaign.
    Orders,
    /// Discounts granted in the campaign.
    Discounted,
    /// Gift credits spent in the campaign.
    GiftAmount,
    /// Points spent to pay for orders.
    Points,
}

/// Over which time it is counted, by the calendar of the project's zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Period {
    /// Always.
    Ever,
    /// Today.
    Day,
    /// Since Monday.
    Week,
    /// Since the first of the month.
    Month,
}

use Counter as C;
use Kind as K;
use Period as P;

/// Every rule name.
const NAMES: &[(&str, Kind)] = &[
    ("customer.segment", K::Member(Membership::Segment)),
    // The older spelling.
    ("customer_segment", K::Member(Membership::Segment)),
    ("customer.metadata", K::Data(Data::Customer)),
    ("customer.loyalty.tier", K::Member(Membership::Tier)),
    ("publication.redeemable_by_linked_customer", K::Linked),
    ("order.amount", K::Amount),
    ("order.total_amount", K::TotalAmount),
    ("order.initial_amount", K::InitialAmount),
    ("order.metadata", K::Data(Data::Order)),
    // Units, not lines [inferred from "number of products in the cart"].
    ("order.items.count", K::Lines(Figure::Quantity, Over::Sum)),
    ("order.items.price_any", K::Lines(Figure::Price, Over::Any)),
    ("order.items.price_each", K::Lines(Figure::Price, Over::Each)),
    ("order.items.metadata_any", K::LineData(Over::Any)),
    ("order.items.metadata_each", K::LineData(Over::Each)),
    ("order.items.any", K::Goods(Pick::Any)),
    ("order.items.every", K::Goods(Pick::Every)),
    ("order.items.none", K::Goods(Pick::None)),
    ("order.items.cheapest", K::Goods(Pick::Cheapest)),
    ("order.items.most_expensive", K::Goods(Pick::MostExpensive)),
    ("order.items.aggregated_amount", K::Lines(Figure::Amount, Over::Sum)),
    ("order.items.aggregated_quantity", K::Lines(Figure::Quantity, Over::Sum)),
    ("order.items.price", K::Lines(Figure::Price, Over::Inherit)),
    ("order.items.quantity", K::Lines(Figure::Quantity, Over::Inherit)),
    ("order.items.metadata", K::LineData(Over::Inherit)),
    ("product.id", K::Goods(Pick::Product)),
    ("sku.id", K::Goods(Pick::Sku)),
    ("product.price", K::Lines(Figure::Price, Over::Any)),
    ("sku.price", K::Lines(Figure::Price, Over::Any)),
    // The product's units, over all lines that have it [inferred].
    ("product.quantity", K::Lines(Figure::Quantity, Over::Sum)),
    ("sku.quantity", K::Lines(Figure::Quantity, Over::Sum)),
    ("product.discount_applicable", K::Scopes),
    ("sku.discount_applicable", K::Scopes),
    ("product.metadata", K::GoodsData),
    ("product.metadata.aggregated_quantity", K::Lines(Figure::Quantity, Over::Sum)),
    ("product.metadata.aggregated_amount", K::Lines(Figure::Amount, Over::Sum)),
    ("product.metadata.discount_applicable", K::Scopes),
    ("product.metadata.match_all", K::MatchAll),
    ("redemption.count.daily", K::Count(C::Incentive, P::Day)),
    ("redemption.count.weekly", K::Count(C::Incentive, P::Week)),
    ("redemption.count.monthly", K::Count(C::Incentive, P::Month)),
    ("redemption.count.per_customer", K::Count(C::IncentiveOfCustomer, P::Ever)),
    ("redemption.count.per_customer.daily", K::Count(C::IncentiveOfCustomer, P::Day)),
    ("redemption.count.per_customer.weekly", K::Count(C::IncentiveOfCustomer, P::Week)),
    ("redemption.count.per_customer.monthly", K::Count(C::IncentiveOfCustomer, P::Month)),
    ("redemption.count.per_api_key", K::Count(C::IncentiveOfKey, P::Ever)),
    ("redemption.count.per_user", K::Count(C::IncentiveOfUser, P::Ever)),
    ("redemption.api_key", K::Channel(ChannelPart::Key)),
    ("redemption.user.login", K::Channel(ChannelPart::User)),
    ("redemption.metadata", K::Data(Data::Redemption)),
    ("redemption.gift.amount", K::Count(C::GiftAmount, P::Ever)),
    ("redemption.reward.pay_with_points.points_used", K::Count(C::Points, P::Ever)),
    ("campaign.orders.amount", K::Count(C::Orders, P::Ever)),
    ("campaign.orders.amount_discounted", K::Count(C::Discounted, P::Ever)),
    ("campaign.redemptions.count", K::Count(C::Campaign, P::Ever)),
    ("campaign.redemptions.count.daily", K::Count(C::Campaign, P::Day)),
    ("campaign.redemptions.count.weekly", K::Count(C::Campaign, P::Week)),
    ("campaign.redemptions.count.monthly", K::Count(C::Campaign, P::Month)),
    ("campaign.redemptions.customers_count", K::Count(C::CampaignOfCustomer, P::Ever)),
    ("campaign.redemptions.customers_count.daily", K::Count(C::CampaignOfCustomer, P::Day)),
    ("campaign.redemptions.customers_count.weekly", K::Count(C::CampaignOfCustomer, P::Week)),
    ("campaign.redemptions.customers_count.monthly", K::Count(C::CampaignOfCustomer, P::Month)),
    ("custom_event.metadata", K::Data(Data::Event)),
    ("member.metadata", K::Data(Data::Member)),
];

/// Every name.
pub fn all() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| *name)
}

impl Kind {
    /// What the rule of this name looks at, and the name as it is kept.
    pub fn named(name: &str) -> Option<(&'static str, Kind)> {
        NAMES.iter().find(|(known, _)| *known == name).copied()
    }

    /// Whether it is about a property.
    pub fn has_property(self) -> bool {
        matches!(self, K::Data(_) | K::LineData(_) | K::GoodsData)
    }

    /// Whether it is a number: its operators compare, and a missing one fails.
    pub fn is_number(self) -> bool {
        matches!(self, K::Amount | K::TotalAmount | K::InitialAmount | K::Lines(..) | K::Count(..))
    }

    /// Whether it is an amount of money.
    pub fn is_money(self) -> bool {
        matches!(
            self,
            K::Amount
                | K::TotalAmount
                | K::InitialAmount
                | K::Lines(Figure::Price | Figure::Amount, _)
                | K::Count(C::Orders | C::Discounted | C::GiftAmount, _)
        )
    }

    /// What it looks at.
    pub fn needs(self) -> Needs {
        const LINES: Needs = Needs::ORDER.and(Needs::LINES);
        match self {
            K::Amount | K::InitialAmount => Needs::ORDER.and(Needs::AMOUNT),
            K::TotalAmount => Needs::ORDER.and(Needs::AMOUNT).and(Needs::AFTER),
            K::Lines(..) | K::LineData(_) | K::Goods(_) => LINES,
            K::GoodsData => LINES.and(Needs::GOODS_DATA),
            K::Data(Data::Order) => Needs::ORDER,
            K::Data(Data::Customer) | K::Member(_) | K::Linked => Needs::CUSTOMER,
            K::Data(Data::Event | Data::Member) => Needs::EARNING,
            K::Data(Data::Redemption) | K::Channel(_) => Needs::REDEMPTION,
            K::Count(counter, _) => counter.needs(),
            K::Scopes | K::MatchAll => Needs::default(),
        }
    }
}

impl Counter {
    fn needs(self) -> Needs {
        let needs = match self {
            C::IncentiveOfCustomer | C::CampaignOfCustomer => Needs::CUSTOMER.and(Needs::BUDGET),
            C::Campaign => Needs::BUDGET,
            C::Orders => Needs::ORDER.and(Needs::BUDGET),
            C::Discounted => Needs::AFTER.and(Needs::BUDGET),
            C::GiftAmount | C::Points => Needs::AFTER,
            C::Incentive | C::IncentiveOfKey | C::IncentiveOfUser => Needs::default(),
        };
        needs.and(Needs::REDEMPTION)
    }
}

/// The three groups of refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Area {
    /// Who buys.
    Customer,
    /// What is bought.
    Order,
    /// How it is redeemed.
    Redemption,
}

impl Area {
    /// The area of what a test looks at [inferred grouping]. A code published to somebody else is about the customer.
    pub fn of(kind: Kind) -> Area {
        match kind {
            K::Data(Data::Customer | Data::Member) | K::Member(_) | K::Linked => Area::Customer,
            K::Data(Data::Redemption | Data::Event) | K::Count(..) | K::Channel(_) => Area::Redemption,
            _ => Area::Order,
        }
    }
}
