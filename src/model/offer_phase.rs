//! Decides the phase of an offer in its time: the flags and windows of a redeemable and of its campaign.
//!
//! docs/spec/validation-rules.md#10.

use crate::model::redeemable::{Campaign, RedeemableTerms, Validity};
use crate::time::Instant;

/// The phase of an offer at an instant. Recurring windows count as one, from the start to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferPhase {
    /// The offer or its campaign is switched off.
    Disabled,
    /// A start is still to come; the offer begins at this instant, the latest of its starts.
    NotStarted(Instant),
    /// An end has passed.
    Ended,
    /// Between its starts and its ends.
    InForce,
}

impl OfferPhase {
    /// Returns the phase of windows that must all hold: starts are judged before ends.
    fn of<'a>(windows: impl Iterator<Item = &'a Validity> + Clone, now: Instant) -> OfferPhase {
        let starts = windows.clone().filter(|window| !window.has_started(now)).filter_map(|window| window.start_date);
        match starts.max() {
            Some(start) => OfferPhase::NotStarted(start),
            None if windows.clone().any(|window| window.has_ended(now)) => OfferPhase::Ended,
            None => OfferPhase::InForce,
        }
    }
}

impl RedeemableTerms {
    /// Returns the windows that count: its own, and that of its campaign.
    pub fn validity_windows<'a>(
        &'a self,
        campaign: Option<&'a Campaign>,
    ) -> impl Iterator<Item = &'a Validity> + Clone {
        // A window made when the voucher was published replaces the campaign's.
        let overrides = self.validity.expiration_date.is_some();
        let campaign = campaign.filter(|campaign| !(campaign.activity_after_publishing && overrides));
        [Some(&self.validity), campaign.map(|campaign| &campaign.validity)].into_iter().flatten()
    }

    /// Returns the phase of a redeemable of a campaign.
    pub fn phase(&self, campaign: Option<&Campaign>, now: Instant) -> OfferPhase {
        if !self.active || campaign.is_some_and(|campaign| !campaign.active) {
            return OfferPhase::Disabled;
        }
        OfferPhase::of(self.validity_windows(campaign), now)
    }
}

impl Campaign {
    /// Returns the phase of a campaign itself, as its future codes have it.
    pub fn phase(&self, now: Instant) -> OfferPhase {
        if self.active { OfferPhase::of([&self.validity].into_iter(), now) } else { OfferPhase::Disabled }
    }
}
