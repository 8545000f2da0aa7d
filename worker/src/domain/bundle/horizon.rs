//! The horizon of a core: the time for which it has all offers in force. It ends before the first offer that it leaves out begins.

use crate::domain::bundle::read_documents::ReadDocument;
use crate::store::sql::Fault;
use scrip::model::offer_phase::OfferPhase;
use scrip::model::redeemable::{Campaign, CampaignType, Grant};
use scrip::model::visibility::Visibility;
use scrip::time::Instant;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Maximum length of a horizon.
pub const HORIZON_MAX_MS: i64 = 12 * 60 * 60 * 1_000;

/// Horizon of a core, from `from` until before `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Horizon {
    /// The second of the build: a client may know the time of the service only in seconds.
    pub from: Instant,
    /// The earliest begin of an offer that is left out, or the maximum.
    pub to: Instant,
    /// Time of the build.
    pub built: Instant,
}

impl Horizon {
    /// Returns the longest horizon of a bundle that is built at `built`.
    pub fn of_build(built: Instant) -> Result<Horizon, Fault> {
        let outside = || Fault::new("the horizon of a bundle ends after the calendar");
        let from = built.millis().checked_sub(built.millis().rem_euclid(1_000)).ok_or_else(outside)?;
        let to = from.checked_add(HORIZON_MAX_MS).ok_or_else(outside)?;
        let instant = |millis| Instant::from_millis(millis).ok_or_else(outside);
        Ok(Horizon { from: instant(from)?, to: instant(to)?, built })
    }

    /// Returns true if a time is in the horizon, and not before the build: a clock may be set back.
    pub fn includes(&self, now: Instant) -> bool {
        (self.built..self.to).contains(&now)
    }

    /// Returns the time before which an ended code is not known as ended any more.
    pub fn ended_since_ms(&self) -> i64 {
        // Saturates at the start of time.
        self.from.millis().saturating_sub(ENDED_KNOWN_MS)
    }

    /// Returns true if an offer in this phase at the beginning is in force when the bundle is built, or was since the beginning.
    fn is_open(&self, phase: OfferPhase) -> bool {
        match phase {
            OfferPhase::InForce => true,
            OfferPhase::NotStarted(start) => start <= self.built,
            OfferPhase::Disabled | OfferPhase::Ended => false,
        }
    }

    /// Returns true if an offer in this phase at the beginning is in force at some time of the horizon. One that is still to
    /// begin ends the horizon, so that it is in force at no time of it.
    fn admits(&mut self, phase: OfferPhase) -> bool {
        let is_open = self.is_open(phase);
        if let (false, OfferPhase::NotStarted(start)) = (is_open, phase) {
            self.to = self.to.min(start);
        }
        is_open
    }
}

/// Time for which a code that has ended stays known as ended.
const ENDED_KNOWN_MS: i64 = 90 * 24 * 60 * 60 * 1_000;
/// Maximum number of codes that are known as ended, and of their campaigns, because a key is derived for each.
const ENDED_MAX: usize = 1_000;

/// Campaigns of which an offer may be in force, by id.
#[derive(Debug, Default)]
pub struct OpenCampaigns {
    open: BTreeMap<String, Rc<ReadDocument>>,
    /// The newest campaigns of codes that have ended.
    ended: BTreeMap<String, Rc<ReadDocument>>,
    /// True if there are more of these.
    has_more_ended: bool,
}

impl OpenCampaigns {
    /// Selects the campaigns in force whose offers a client may get. One whose codes may have windows of their own is kept for these,
    /// unless it is disabled. The others are known only to the server, and do not end the horizon.
    pub fn select(&mut self, documents: &mut Vec<Rc<ReadDocument>>, horizon: &mut Horizon) -> Result<(), Fault> {
        let mut kept = Vec::new();
        for document in documents.drain(..) {
            let campaign = document.campaign()?;
            let has_private_codes = campaign.campaign_type != CampaignType::Promotion && !campaign.public;
            if has_private_codes || campaign.visibility == Some(Visibility::Server) {
                continue;
            }
            let phase = campaign.phase(horizon.from);
            let has_own_windows = campaign.activity_after_publishing && phase != OfferPhase::Disabled;
            let id = document.document.id.clone();
            if horizon.admits(phase) || has_own_windows {
                self.open.insert(id, Rc::clone(&document));
                kept.push(document);
            } else if phase == OfferPhase::Ended && campaign.public {
                if self.ended.len() < ENDED_MAX {
                    self.ended.insert(id, Rc::clone(&document));
                    kept.push(document);
                } else {
                    self.has_more_ended = true;
                }
            }
        }
        *documents = kept;
        Ok(())
    }

    /// Returns the number of those of which an offer may be in force.
    pub fn count(&self) -> usize {
        self.open.len()
    }

    /// Returns the campaign of an offer, if an offer of it may be in force.
    fn open_campaign_of(&self, offer: &ReadDocument) -> Result<Option<&Campaign>, Fault> {
        let campaign = offer.document.parent.as_ref().and_then(|id| self.open.get(id));
        campaign.map(|campaign| campaign.campaign()).transpose()
    }

    /// Keeps the vouchers in force that a client may get, by their code at least.
    pub fn retain_vouchers(&self, documents: &mut Vec<Rc<ReadDocument>>, horizon: &mut Horizon) -> Result<(), Fault> {
        self.retain(documents, horizon, Visibility::Sealed)
    }

    /// Returns true if a voucher is for every client, and not only for those who know its code.
    pub fn is_public(&self, voucher: &ReadDocument) -> Result<bool, Fault> {
        let campaign = self.open_campaign_of(voucher)?;
        Ok(voucher.offer()?.visibility_in_force(campaign).visibility == Visibility::Public)
    }

    /// Lists the discount codes that ended not long ago and that clients could know before. One with free units is none of them: it
    /// might act on the order before the service refuses it.
    pub fn list_ended(
        &self,
        documents: &[Rc<ReadDocument>],
        horizon: &Horizon,
    ) -> Result<Vec<Rc<ReadDocument>>, Fault> {
        let since = horizon.ended_since_ms();
        let mut ended = Vec::new();
        for document in documents {
            let id = document.document.parent.as_ref();
            let campaign = id.and_then(|id| self.open.get(id).or_else(|| self.ended.get(id)));
            let campaign = campaign.map(|campaign| campaign.campaign()).transpose()?;
            let offer = document.offer()?;
            let is_plain = matches!(&offer.grant, Grant::Discount(discount) if discount.units().is_empty());
            let has_campaign = id.is_none() || campaign.is_some();
            if is_plain
                && has_campaign
                && offer.phase(campaign, horizon.from) == OfferPhase::Ended
                && offer.visibility_in_force(campaign).visibility <= Visibility::Sealed
                && offer
                    .validity_windows(campaign)
                    .filter_map(|window| window.expiration_date)
                    .min()
                    .is_some_and(|end| end.millis() > since)
            {
                ended.push(Rc::clone(document));
            }
        }
        Ok(ended)
    }

    /// Keeps the newest ended codes; returns true if more have ended than clients get to know.
    pub fn retain_newest_ended(&self, ended: &mut Vec<Rc<ReadDocument>>) -> bool {
        let has_more = ended.len() > ENDED_MAX;
        if has_more {
            let age = |one: &Rc<ReadDocument>| (one.document.created_at, one.document.id.clone());
            ended.sort_by_cached_key(|one| Reverse(age(one)));
            ended.truncate(ENDED_MAX);
        }
        has_more || self.has_more_ended
    }

    /// Keeps the promotion tiers in force that every client may get.
    pub fn retain_tiers(&self, documents: &mut Vec<Rc<ReadDocument>>, horizon: &mut Horizon) -> Result<(), Fault> {
        self.retain(documents, horizon, Visibility::Public)
    }

    fn retain(
        &self,
        documents: &mut Vec<Rc<ReadDocument>>,
        horizon: &mut Horizon,
        narrowest: Visibility,
    ) -> Result<(), Fault> {
        let mut kept = Vec::new();
        for document in documents.drain(..) {
            let campaign = self.open_campaign_of(&document)?;
            if document.document.parent.is_some() && campaign.is_none() {
                continue;
            }
            let offer = document.offer()?;
            let is_known = offer.visibility_in_force(campaign).visibility <= narrowest;
            if is_known && horizon.admits(offer.phase(campaign, horizon.from)) {
                kept.push(document);
            }
        }
        *documents = kept;
        Ok(())
    }
}

/// Keeps the campaigns of these offers.
pub fn retain_campaigns_of<'d>(
    campaigns: &mut Vec<Rc<ReadDocument>>,
    offers: impl Iterator<Item = &'d Rc<ReadDocument>>,
) {
    let named: BTreeSet<&str> = offers.filter_map(|offer| offer.document.parent.as_deref()).collect();
    campaigns.retain(|campaign| named.contains(&*campaign.document.id));
}
