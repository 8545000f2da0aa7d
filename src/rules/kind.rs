//! Decides how a test finds what it looks at: the kinds, of which many names can be one. It must not know names, or how anything is
//! compared.
//!
//! validation-rules.md section 4.

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
    /// Whether the customer is in one of these segments.
    Segment,
    /// Through what a request came.
    Channel(ChannelPart),
    /// Whether the code was published to the customer.
    Linked,
    /// Puts what the test around it matched into the scope of the discount; it tests nothing.
    Scopes,
    /// Makes the test around it about every line; it tests nothing.
    MatchAll,
    /// What only earning points has: nothing that is redeemed can answer it, so that it never holds there.
    Earning(Asked),
}

/// What only earning points has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asked {
    /// The tiers that the customer holds.
    Tier,
    /// The member's custom data.
    Member,
    /// The custom event's.
    Event,
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
