//! Defines how a test finds its value: the kinds, each of which several rule names may share.
//!
//! docs/spec/validation-rules.md#4.

/// The value that a test uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FactKind {
    /// The remaining order amount.
    Amount,
    /// The remaining amount after the redeemable itself.
    TotalAmount,
    /// The order amount before any discount.
    InitialAmount,
    /// An amount of lines.
    Lines(LineAmount, LineQuantifier),
    /// The number or amount of redemptions, including this one.
    Count(Counter, CountPeriod),
    /// Metadata.
    Data(MetadataOwner),
    /// Metadata of a line.
    LineData(LineQuantifier),
    /// Metadata of the SKU or product of a line.
    GoodsData,
    /// The same, where only a number names what it is compared with, as in a bundle.
    GoodsSet,
    /// The goods of the order.
    Goods(GoodsQuantifier),
    /// Membership in one of these segments.
    Segment,
    /// Membership in one of these loyalty tiers.
    Tier,
    /// A condition about the customer that only its number names, as in a bundle.
    CustomerCondition,
    /// The channel of the request.
    Channel(ChannelPart),
    /// Publication of the code to the customer.
    Linked,
    /// Puts the matches of the surrounding test into the scope of the discount; it tests nothing.
    Scopes,
    /// Makes the surrounding test apply to every line; it tests nothing.
    MatchAll,
    /// Data that only earning points has: it never passes for a redemption.
    Earning(EarningFact),
}

/// Data that only earning points has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EarningFact {
    /// The member's metadata.
    Member,
    /// The custom event's metadata.
    Event,
}

/// An amount of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineAmount {
    /// Unit price.
    Price,
    /// Units.
    Quantity,
    /// The remaining amount, less discounts of the line.
    Amount,
}

/// The number of lines that must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineQuantifier {
    /// At least one.
    Any,
    /// All, and at least one.
    Each,
    /// As the surrounding test requires.
    Inherit,
    /// Their sum.
    Sum,
}

/// The goods that a test requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GoodsQuantifier {
    /// At least one line matches.
    Any,
    /// Every line matches.
    Every,
    /// No line matches.
    None,
    /// One of the lines with the lowest unit price matches.
    Cheapest,
    /// One of the lines with the highest unit price matches.
    MostExpensive,
    /// The cart has one of these products.
    Product,
    /// The cart has one of these SKUs.
    Sku,
}

/// The owner of metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetadataOwner {
    /// The customer's.
    Customer,
    /// The order's.
    Order,
    /// The redemption's.
    Redemption,
}

/// The part of the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChannelPart {
    /// The id of the caller's key.
    Key,
    /// The login of the user.
    User,
}

/// The value that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counter {
    /// Redemptions of the redeemable.
    Incentive,
    /// Redemptions of the redeemable by the customer.
    IncentiveOfCustomer,
    /// Redemptions of the redeemable through the caller's key.
    IncentiveOfKey,
    /// Redemptions of the redeemable by the caller's user.
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
    /// Points spent to pay for the order.
    Points,
}

/// The period of a count, by the calendar of the project's zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CountPeriod {
    /// The whole lifetime.
    Ever,
    /// The present day.
    Day,
    /// Since Monday.
    Week,
    /// Since the first of the month.
    Month,
}
