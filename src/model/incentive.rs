//! Decides what an incentive and its campaign are to a decision: what they grant, when they hold, how often.
//! It must not know whether one has been used; what is counted lives in the ledger.
//!
//! objects.md sections 5 and 6.

use crate::model::card::Card;
use crate::model::discount::{Discount, Gift};
use crate::model::order::Metadata;
use crate::model::referral::ReferralProgram;
use crate::text::Text;
use crate::time::{DailyHours, Instant, TimeZone, Timeframe};

/// What a voucher grants.
#[derive(Debug, Clone, PartialEq)]
pub enum Grant {
    /// A discount.
    Discount(Discount),
    /// Credits of a gift card.
    Gift(Gift),
    /// Points of a loyalty card.
    Loyalty(Card),
}

impl Grant {
    /// What it is at a moment: points of a card come and go by time.
    pub fn at(mut self, now: Instant) -> Grant {
        if let Grant::Loyalty(card) = &mut self {
            card.go_on(now);
        }
        self
    }
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

impl Validity {
    /// Whether the moment is not before the beginning.
    pub fn has_begun(&self, now: Instant) -> bool {
        self.start_date.is_none_or(|start| start <= now)
    }

    /// Whether the moment is at the end or later.
    pub fn has_ended(&self, now: Instant) -> bool {
        self.expiration_date.is_some_and(|end| end <= now)
    }

    /// Whether the moment lies in every recurring window.
    pub fn recurs(&self, now: Instant, zone: &TimeZone) -> bool {
        let in_frame = match (self.timeframe, self.start_date) {
            (Some(frame), Some(start)) => frame.covers(start, now, zone),
            // Nobody can say when it recurs; no document without a beginning reads.
            (Some(_), None) => false,
            (None, _) => true,
        };
        let on_day =
            self.days_of_week.as_ref().is_none_or(|days| zone.weekday(now).is_some_and(|today| days.contains(&today)));
        let in_hours = self.hours.as_ref().is_none_or(|hours| hours.iter().any(|hours| hours.covers(now, zone)));
        in_frame && on_day && in_hours
    }

    /// Whether it holds at a moment.
    pub fn holds(&self, now: Instant, zone: &TimeZone) -> bool {
        self.has_begun(now) && !self.has_ended(now) && self.recurs(now, zone)
    }
}

/// What can be redeemed: a voucher by its code, or a tier of a promotion (validation-rules.md section 4.5 calls either
/// an incentive).
#[derive(Debug, Clone, PartialEq)]
pub struct Incentive {
    /// Which of the two it is.
    pub object: IncentiveObject,
    /// Assigned by the service.
    pub id: Text,
    /// What the customer types; in a bundle it is what was typed. Of a tier it is the id.
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
    /// The customer who may pass it on and not use it: of a referral code, whoever it was published to.
    pub referrer_id: Option<Text>,
    /// What only a tier has.
    pub tier: Option<Box<Tier>>,
    /// Custom data.
    pub metadata: Metadata,
    /// The stored document as text, for answers that show the voucher; a decision reads only the fields above.
    pub document: Box<str>,
}

/// Whether an incentive is a code or a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncentiveObject {
    /// A code.
    Voucher,
    /// A tier of a promotion: valid without a code, and never counted by quantity.
    PromotionTier,
}

/// What a tier has and a code has not (objects.md section 7).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tier {
    /// Its name.
    pub name: Text,
    /// What customers are told of it.
    pub banner: Option<Text>,
    /// Its rank within the promotion, 1 the first.
    pub hierarchy: u64,
}

impl Incentive {
    /// What it is at a moment.
    pub fn at(mut self, now: Instant) -> Incentive {
        self.grant = self.grant.at(now);
        self
    }

    /// Whether it can be handed over to somebody: nobody has it, it is switched on, and its end does not lie behind.
    pub fn is_free(&self, now: Instant) -> bool {
        self.holder_id.is_none() && self.active && !self.validity.has_ended(now)
    }

    /// What it is called in the details of a refused rule (validation-rules.md section 8).
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

/// What a campaign is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CampaignType {
    /// Codes for a discount.
    #[default]
    DiscountCoupons,
    /// Gift cards.
    GiftVouchers,
    /// Loyalty cards.
    LoyaltyProgram,
    /// Codes that customers pass on.
    ReferralProgram,
    /// Tiers, without codes.
    Promotion,
}

/// A campaign as a decision about one of its incentives reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Campaign {
    /// Assigned by the service.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// What it is made of.
    pub campaign_type: CampaignType,
    /// The manual switch.
    pub active: bool,
    /// When it holds.
    pub validity: Validity,
    /// Its category.
    pub category_id: Option<Text>,
    /// Whether its codes are for everybody, so that a page may know what becomes of them.
    pub public: bool,
    /// Whether it makes a code whenever one is needed.
    pub makes_codes: bool,
    /// Whether a voucher's own window, made when it was published, stands in place of this one's.
    pub activity_after_publishing: bool,
    /// What counts as a referral and what comes of it, where it says so.
    pub referral: Option<Box<ReferralProgram>>,
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
    /// When it was created, as far as that is known.
    pub created_at: Option<Instant>,
    /// When it was changed last.
    pub updated_at: Option<Instant>,
}
