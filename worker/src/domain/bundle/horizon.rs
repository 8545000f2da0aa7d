//! The horizon of a core: the time for which it has all offers in force. It ends before the first offer that it leaves out begins.

use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::model::offer_phase::OfferPhase;
use scrip::model::redeemable::{Campaign, RedeemableTerms};
use scrip::time::Instant;
use scrip::wire::cursor::{JsonCursor, Read};
use scrip::wire::document::read_fields;
use scrip::wire::voucher::{read_campaign, read_tier, read_voucher};
use std::collections::BTreeMap;

/// Maximum length of a horizon.
pub const HORIZON_MAX_MS: i64 = 12 * 60 * 60 * 1_000;

/// Horizon of a core, from `from` until before `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Horizon {
    /// Moment of the build.
    pub from: Instant,
    /// The earliest begin of an offer that is left out, or the maximum.
    pub to: Instant,
}

impl Horizon {
    /// Returns the longest horizon that begins at a moment.
    pub fn beginning(from: Instant) -> Result<Horizon, Fault> {
        let to = from.millis().checked_add(HORIZON_MAX_MS).and_then(Instant::from_millis);
        Ok(Horizon { from, to: to.ok_or_else(|| Fault::new("the horizon of a bundle ends after the calendar"))? })
    }

    /// Returns true if an offer in this phase at the beginning is in force at some moment of the horizon. One that is still to
    /// begin ends the horizon, so that it is in force at no moment of it.
    fn admits(&mut self, phase: OfferPhase) -> bool {
        match phase {
            OfferPhase::InForce => true,
            OfferPhase::NotBegun(start) => {
                self.to = self.to.min(start);
                false
            }
            OfferPhase::Disabled | OfferPhase::Ended => false,
        }
    }
}

/// Campaigns of which an offer may be in force, by id.
#[derive(Debug, Default)]
pub struct OpenCampaigns(BTreeMap<String, Campaign>);

impl OpenCampaigns {
    /// Selects the campaigns that are in force. One whose codes may have windows of their own is kept for these, unless it is disabled.
    pub fn select(documents: &mut Vec<Document>, horizon: &mut Horizon) -> Result<OpenCampaigns, Fault> {
        let mut open = OpenCampaigns::default();
        let mut kept = Vec::new();
        for document in documents.drain(..) {
            let campaign = read_fact(&document, read_campaign)?;
            let phase = campaign.phase(horizon.from);
            let has_own_windows = campaign.activity_after_publishing && phase != OfferPhase::Disabled;
            if horizon.admits(phase) || has_own_windows {
                open.0.insert(document.id.clone(), campaign);
                kept.push(document);
            }
        }
        *documents = kept;
        Ok(open)
    }

    /// Keeps the vouchers that are in force.
    pub fn retain_vouchers(&self, documents: &mut Vec<Document>, horizon: &mut Horizon) -> Result<(), Fault> {
        self.retain(documents, horizon, |at| read_voucher(at, ""))
    }

    /// Keeps the promotion tiers that are in force.
    pub fn retain_tiers(&self, documents: &mut Vec<Document>, horizon: &mut Horizon) -> Result<(), Fault> {
        self.retain(documents, horizon, |at| read_tier(at, ""))
    }

    fn retain(
        &self,
        documents: &mut Vec<Document>,
        horizon: &mut Horizon,
        read: fn(&JsonCursor<'_>) -> RedeemableTerms,
    ) -> Result<(), Fault> {
        let mut kept = Vec::new();
        for document in documents.drain(..) {
            let campaign = document.parent.as_ref().and_then(|id| self.0.get(id));
            if horizon.admits(read_fact(&document, read)?.phase(campaign, horizon.from)) {
                kept.push(document);
            }
        }
        *documents = kept;
        Ok(())
    }

    /// Keeps the campaigns that are in force themselves, and those of a voucher in force.
    pub fn retain_campaigns(&self, documents: &mut Vec<Document>, vouchers: &[Document], horizon: &Horizon) {
        documents.retain(|document| {
            let is_named = || vouchers.iter().any(|voucher| voucher.parent.as_ref() == Some(&document.id));
            let phase = self.0.get(&document.id).map(|campaign| campaign.phase(horizon.from));
            phase == Some(OfferPhase::InForce) || is_named()
        });
    }
}

/// Reads a stored document that was found to be readable before.
fn read_fact<T>(document: &Document, read: Read<T>) -> Result<T, Fault> {
    let read = read_fields(&document.body, read);
    read.map_err(|problem| Fault(format!("the stored document `{}` does not read: {problem}", document.id)))
}
