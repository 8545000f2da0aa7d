//! Decides what clients may know of an offer: by its setting and that of its campaign, or by the kind of the offer. It limits lists
//! and bundles; a code that a shopper types is decided as before.

use crate::model::offer_phase::OfferPhase;
use crate::model::redeemable::{Campaign, CampaignType, Grant, IncentiveObject, RedeemableTerms};
use crate::model::visibility::{ListedTime, Visibility};
use crate::time::Instant;

/// Why an offer has its visibility.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisibilityReason {
    /// The document of the offer declares it.
    Own,
    /// The document of its campaign declares it, and that is not wider than the offer's own.
    OfCampaign,
    /// A promotion is public by default.
    Promotion,
    /// The one code of a campaign, or a code without a campaign, of unlimited quantity is sealed by default.
    UnlimitedCode,
    /// A code of limited quantity.
    LimitedCode,
    /// One of many codes of a campaign, or a code with a holder. No setting makes it known.
    PrivateCode,
    /// A gift card, a loyalty card or a referral code.
    Card,
    /// The offer or its campaign is disabled.
    Disabled,
    /// The offer begins later.
    NotStarted(Instant),
    /// The offer has ended.
    Ended,
}

/// The visibility of an offer at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectiveVisibility {
    /// The visibility.
    pub visibility: Visibility,
    /// Its reason.
    pub reason: VisibilityReason,
}

impl EffectiveVisibility {
    const fn new(visibility: Visibility, reason: VisibilityReason) -> EffectiveVisibility {
        EffectiveVisibility { visibility, reason }
    }
}

impl RedeemableTerms {
    /// Returns the visibility of an offer of a campaign at an instant: what is not in force is known only to the server.
    pub fn visibility_at(&self, campaign: Option<&Campaign>, now: Instant) -> EffectiveVisibility {
        let reason = match self.phase(campaign, now) {
            OfferPhase::InForce => return self.visibility_in_force(campaign),
            OfferPhase::Disabled => VisibilityReason::Disabled,
            OfferPhase::NotStarted(start) => VisibilityReason::NotStarted(start),
            OfferPhase::Ended => VisibilityReason::Ended,
        };
        EffectiveVisibility::new(Visibility::Server, reason)
    }

    /// Returns the visibility of an offer of a campaign while the offer is in force: the narrower one of both documents, or the default.
    pub fn visibility_in_force(&self, campaign: Option<&Campaign>) -> EffectiveVisibility {
        let is_voucher = self.object == IncentiveObject::Voucher;
        let is_one_of_many = is_voucher && campaign.is_some_and(|campaign| !campaign.public);
        if is_one_of_many || self.holder_id.is_some() || self.referrer_id.is_some() {
            return EffectiveVisibility::new(Visibility::Server, self.reason_of_private(campaign));
        }
        let of_campaign = campaign.and_then(|campaign| campaign.visibility);
        match (of_campaign.max(self.visibility), of_campaign) {
            (Some(own), Some(of_campaign)) if own == of_campaign => {
                EffectiveVisibility::new(own, VisibilityReason::OfCampaign)
            }
            (Some(own), _) => EffectiveVisibility::new(own, VisibilityReason::Own),
            (None, _) if !is_voucher => EffectiveVisibility::new(Visibility::Public, VisibilityReason::Promotion),
            (None, _) if !matches!(self.grant, Grant::Discount(_)) => {
                EffectiveVisibility::new(Visibility::Server, VisibilityReason::Card)
            }
            (None, _) if self.quantity.is_some() => {
                EffectiveVisibility::new(Visibility::Server, VisibilityReason::LimitedCode)
            }
            (None, _) => EffectiveVisibility::new(Visibility::Sealed, VisibilityReason::UnlimitedCode),
        }
    }

    fn reason_of_private(&self, campaign: Option<&Campaign>) -> VisibilityReason {
        let is_referral = |campaign: &Campaign| campaign.campaign_type == CampaignType::ReferralProgram;
        let is_card = !matches!(self.grant, Grant::Discount(_)) || self.referrer_id.is_some();
        if is_card || campaign.is_some_and(is_referral) {
            VisibilityReason::Card
        } else {
            VisibilityReason::PrivateCode
        }
    }

    /// Returns the time in which every client sees a promotion tier in lists; `None` for one that they never see.
    pub fn listed_time(&self, campaign: Option<&Campaign>) -> Option<ListedTime> {
        let is_active = self.active && campaign.is_none_or(|campaign| campaign.active);
        let is_public = self.visibility_in_force(campaign).visibility == Visibility::Public;
        (is_active && is_public).then(|| ListedTime {
            from: self
                .validity_windows(campaign)
                .filter_map(|window| window.start_date)
                .max()
                .unwrap_or(Instant::default()),
            until: self.validity_windows(campaign).filter_map(|window| window.expiration_date).min(),
        })
    }
}
