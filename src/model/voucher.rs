//! Decides what a voucher and its campaign are to a decision: what they grant, when they hold, how often.
//! It must not know whether one has been used; what is counted lives in the ledger.
//!
//! objects.md sections 5 and 6, calculation.md section 4.

use crate::model::order::Metadata;
use crate::money::{Money, Percent};
use crate::text::Text;
use crate::time::{DailyHours, Instant, Timeframe};

/// What a discount voucher takes off.
#[derive(Debug, Clone, PartialEq)]
pub enum Discount {
    /// A share of the base.
    Percent {
        /// The share.
        percent_off: Percent,
        /// The most it may take off: of the order, or of each line.
        amount_limit: Option<Money>,
        /// The most it may take off all lines together.
        aggregated_amount_limit: Option<Money>,
        /// Where it acts; `None` lets the scope decide (calculation.md section 4).
        effect: Option<PercentEffect>,
    },
    /// A fixed amount.
    Amount {
        /// How much.
        amount_off: Money,
        /// The most it may take off all lines together.
        aggregated_amount_limit: Option<Money>,
        /// Where it acts; `None` lets the scope decide.
        effect: Option<AmountEffect>,
    },
}

/// Where a percentage acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PercentEffect {
    /// On the running total.
    ApplyToOrder,
    /// On each line in scope.
    ApplyToItems,
}

/// Where an amount acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountEffect {
    /// On the running total.
    ApplyToOrder,
    /// Once per line in scope.
    ApplyToItems,
    /// One pot, shared by line subtotal.
    ApplyToItemsProportionally,
    /// One pot, shared by quantity.
    ApplyToItemsProportionallyByQuantity,
    /// Once per unit in scope.
    ApplyToItemsByQuantity,
}

/// A gift card's money.
#[derive(Debug, Clone, PartialEq)]
pub struct Gift {
    /// All that was ever loaded.
    pub amount: Money,
    /// What was taken off by hand.
    pub subtracted_amount: Money,
    /// Whether credits cover the order or its lines.
    pub effect: GiftEffect,
}

impl Gift {
    /// What may be spent in the card's whole life.
    pub fn allotment(&self) -> Money {
        self.amount.less(self.subtracted_amount)
    }
}

/// Where gift credits act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GiftEffect {
    /// On the running total.
    #[default]
    ApplyToOrder,
    /// On the lines in scope.
    ApplyToItems,
}

/// What a voucher grants.
#[derive(Debug, Clone, PartialEq)]
pub enum Grant {
    /// A discount.
    Discount(Discount),
    /// Credits of a gift card.
    Gift(Gift),
}

/// When something holds (validation-rules.md section 10).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Validity {
    /// Not before.
    pub start_date: Option<Instant>,
    /// Not after.
    pub expiration_date: Option<Instant>,
    /// Recurring periods counted from the start date.
    pub timeframe: Option<Timeframe>,
    /// 0 for Sunday to 6 for Saturday; `None` is every day.
    pub days_of_week: Option<Vec<u8>>,
    /// Hours of the day; `None` is all day.
    pub hours: Option<Vec<DailyHours>>,
}

/// A voucher as a decision reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Voucher {
    /// Assigned by the service.
    pub id: Text,
    /// What the customer types; in a bundle it is what was typed.
    pub code: Text,
    /// Its campaign, if it has one.
    pub campaign_id: Option<Text>,
    /// Its own category; the campaign's counts when there is none.
    pub category_id: Option<Text>,
    /// What it grants.
    pub grant: Grant,
    /// The manual switch.
    pub active: bool,
    /// When it holds.
    pub validity: Validity,
    /// How often it may be redeemed; `None` is without limit.
    pub quantity: Option<u64>,
    /// The customer who holds it.
    pub holder_id: Option<Text>,
    /// Custom data.
    pub metadata: Metadata,
    /// The stored document as text, for answers that show the voucher; a decision reads only the fields above.
    pub document: Box<str>,
}

/// A campaign as a decision about one of its vouchers reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Campaign {
    /// Assigned by the service.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// The manual switch.
    pub active: bool,
    /// When it holds.
    pub validity: Validity,
    /// Its category.
    pub category_id: Option<Text>,
    /// Whether a voucher's own window, made when it was published, stands in place of this one's.
    pub activity_after_publishing: bool,
}

/// A group of campaigns for stacking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// Assigned by the service.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// 0 is the strongest.
    pub hierarchy: u64,
}
