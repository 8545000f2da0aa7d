//! Defines the terms of a redeemable and its campaign: grant, validity, quantity. Usage is counted in the ledger.
//!
//! docs/spec/objects.md sections 5 and 6.

use crate::model::card::LoyaltyCard;
use crate::model::discount::{Discount, GiftCard};
use crate::model::order::Metadata;
use crate::model::referral::ReferralProgram;
use crate::model::visibility::Visibility;
use crate::text::Text;
use crate::time::{DailyHours, Instant, TimeZone, Timeframe};

/// The grant of a voucher or tier.
#[derive(Debug, Clone, PartialEq)]
pub enum Grant {
    /// A discount.
    Discount(Discount),
    /// Credits of a gift card.
    Gift(GiftCard),
    /// Points of a loyalty card.
    Loyalty(LoyaltyCard),
}

impl Grant {
    /// Returns the grant at an instant: points of a card change by time.
    pub fn at(mut self, now: Instant) -> Grant {
        if let Grant::Loyalty(card) = &mut self {
            card.advance_to(now);
        }
        self
    }
}

/// The validity of an object (docs/spec/validation-rules.md#10).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Validity {
    /// The start, inclusive.
    pub start_date: Option<Instant>,
    /// The end, exclusive.
    pub expiration_date: Option<Instant>,
    /// Recurring periods counted from the start date.
    pub timeframe: Option<Timeframe>,
    /// Weekdays, 0 for Sunday to 6 for Saturday; `None` for every day.
    pub days_of_week: Option<Vec<u8>>,
    /// Hours of the day; `None` for all day.
    pub hours: Option<Vec<DailyHours>>,
}

impl Validity {
    /// Returns whether an instant is at the start or later.
    pub fn has_started(&self, now: Instant) -> bool {
        self.start_date.is_none_or(|start| start <= now)
    }

    /// Returns whether an instant is at the end or later.
    pub fn has_ended(&self, now: Instant) -> bool {
        self.expiration_date.is_some_and(|end| end <= now)
    }

    /// Returns whether an instant is in every recurring window.
    pub fn recurs(&self, now: Instant, zone: &TimeZone) -> bool {
        let in_frame = match (self.timeframe, self.start_date) {
            (Some(frame), Some(start)) => frame.covers(start, now, zone),
            // The recurrence is undefined; a document without a start is not readable.
            (Some(_), None) => false,
            (None, _) => true,
        };
        let on_day =
            self.days_of_week.as_ref().is_none_or(|days| zone.weekday(now).is_some_and(|today| days.contains(&today)));
        let in_hours = self.hours.as_ref().is_none_or(|hours| hours.iter().any(|hours| hours.covers(now, zone)));
        in_frame && on_day && in_hours
    }

    /// Returns whether there is any recurring window.
    pub fn is_recurring(&self) -> bool {
        self.timeframe.is_some() || self.days_of_week.is_some() || self.hours.is_some()
    }

    /// Returns whether it is valid at an instant.
    pub fn holds(&self, now: Instant, zone: &TimeZone) -> bool {
        self.has_started(now) && !self.has_ended(now) && self.recurs(now, zone)
    }
}

/// A redeemable: a voucher, or a promotion tier (docs/spec/validation-rules.md#4.5 calls either an incentive).
#[derive(Debug, Clone, PartialEq)]
pub struct RedeemableTerms {
    /// The type: voucher or tier.
    pub object: IncentiveObject,
    /// Assigned by the service.
    pub id: Text,
    /// The code as the customer enters it; in a bundle as it was entered. Of a tier it is the id.
    pub code: Text,
    /// Its campaign, if it has one.
    pub campaign_id: Option<Text>,
    /// Its own category; without one the campaign's counts.
    pub category_id: Option<Text>,
    /// The grant.
    pub grant: Grant,
    /// The active flag.
    pub active: bool,
    /// The validity.
    pub validity: Validity,
    /// The maximum number of redemptions; `None` without a limit.
    pub quantity: Option<u64>,
    /// The holder.
    pub holder_id: Option<Text>,
    /// The referrer, who may pass it on and not use it: of a referral code, the customer it was published to.
    pub referrer_id: Option<Text>,
    /// The visibility to clients that its document declares.
    pub visibility: Option<Visibility>,
    /// The data that only a tier has.
    pub tier: Option<Box<PromotionTier>>,
    /// Metadata.
    pub metadata: Metadata,
    /// The stored document as text, for answers with the voucher; a decision reads only the fields above.
    pub document: Box<str>,
}

/// The type of a redeemable: voucher or tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncentiveObject {
    /// A voucher.
    Voucher,
    /// A promotion tier: valid without a code, and never counted by quantity.
    PromotionTier,
}

/// The data that a tier has and a voucher has not (docs/spec/objects.md#7).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromotionTier {
    /// Its name.
    pub name: Text,
    /// Its text for customers.
    pub banner: Option<Text>,
    /// Its rank within the promotion, 1 the first.
    pub hierarchy: u64,
}

impl RedeemableTerms {
    /// Returns the terms at an instant.
    pub fn at(mut self, now: Instant) -> RedeemableTerms {
        self.grant = self.grant.at(now);
        self
    }

    /// Returns whether it can be published: it has no holder, is active, and has not ended.
    pub fn is_free(&self, now: Instant) -> bool {
        self.holder_id.is_none() && self.active && !self.validity.has_ended(now)
    }

    /// Returns its type for the details of a refused rule (docs/spec/validation-rules.md#8).
    pub fn kind_name(&self, campaign: Option<&Campaign>) -> &'static str {
        let is_referral = campaign.is_some_and(|campaign| campaign.campaign_type == CampaignType::ReferralProgram);
        match (self.object, &self.grant) {
            (IncentiveObject::PromotionTier, _) => "Promotion Tier",
            (_, Grant::Gift(_)) => "Gift Card",
            (_, Grant::Loyalty(_)) => "Loyalty Card",
            _ if is_referral || self.referrer_id.is_some() => "Referral Code",
            _ => "Discount Coupon",
        }
    }
}

/// The type of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CampaignType {
    /// Discount coupons.
    #[default]
    DiscountCoupons,
    /// Gift cards.
    GiftVouchers,
    /// Loyalty cards.
    LoyaltyProgram,
    /// Referral codes.
    ReferralProgram,
    /// Promotion tiers, without codes.
    Promotion,
}

/// The campaign of a redeemable, as a decision needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct Campaign {
    /// Assigned by the service.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// The type.
    pub campaign_type: CampaignType,
    /// The active flag.
    pub active: bool,
    /// The validity.
    pub validity: Validity,
    /// Its category.
    pub category_id: Option<Text>,
    /// `true` if its codes are public, so that clients may see refusals of them.
    pub public: bool,
    /// `true` if it generates codes on demand.
    pub makes_codes: bool,
    /// `true` if a voucher's own window, made when it was published, replaces this one's.
    pub activity_after_publishing: bool,
    /// The visibility to clients that its document declares.
    pub visibility: Option<Visibility>,
    /// The referral program, if the campaign defines one.
    pub referral: Option<Box<ReferralProgram>>,
}

/// A group of campaigns for stacking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// Assigned by the service.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// The rank, 0 for the highest.
    pub hierarchy: u64,
    /// The creation time, if known.
    pub created_at: Option<Instant>,
    /// The time of the last change.
    pub updated_at: Option<Instant>,
}
