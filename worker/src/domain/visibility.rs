//! Disclosure to clients of offers: the checks of the setting, and the visibility of stored offers at an instant.
//!
//! `scrip::model::offer_visibility` decides it, from the documents of an offer and of its campaign.

use crate::store::document::Document;
use scrip::model::offer_visibility::EffectiveVisibility;
use scrip::model::redeemable::{Campaign, RedeemableTerms};
use scrip::model::visibility::Visibility;
use scrip::time::Instant;
use scrip::wire::Problem;
use scrip::wire::cursor::Read;
use scrip::wire::document::read_fields;
use scrip::wire::voucher::{read_campaign, read_tier, read_voucher};
use std::collections::BTreeMap;

/// Field of the setting.
const FIELD: &str = "visibility";

/// Refuses a promotion, or a tier of one, that only a code would open.
pub fn check_promotion(setting: Option<&str>) -> Result<(), Problem> {
    match setting {
        Some("sealed") => {
            Err(Problem::bound(FIELD, "must be public or server on a promotion, which has no code", "sealed"))
        }
        _ => Ok(()),
    }
}

/// Refuses a campaign that would make private codes known: only the code of a `STANDALONE` campaign is public.
pub fn check_codes(setting: Option<&str>, is_standalone: bool) -> Result<(), Problem> {
    match setting {
        Some(wider) if !is_standalone && wider != Visibility::Server.name() => Err(Problem::bound(
            FIELD,
            "must be server on a campaign that is not STANDALONE, whose codes are private",
            wider,
        )),
        _ => Ok(()),
    }
}

/// Refuses a setting of a voucher in a campaign: that of the campaign holds.
pub fn check_voucher(setting: Option<&str>, is_in_campaign: bool) -> Result<(), Problem> {
    match setting {
        Some(setting) if is_in_campaign => Err(Problem::bound(
            FIELD,
            "must NOT be present on a voucher of a campaign, whose own setting holds",
            setting,
        )),
        _ => Ok(()),
    }
}

/// Campaigns by which offers are judged at an instant.
#[derive(Debug)]
pub struct JudgedOffers {
    campaigns: BTreeMap<String, Campaign>,
    now: Instant,
}

impl JudgedOffers {
    /// Prepares the campaigns of the offers.
    pub fn new(campaigns: &[Document], now: Instant) -> JudgedOffers {
        let read = |document: &Document| Some((document.id.clone(), read_fields(&document.body, read_campaign).ok()?));
        JudgedOffers { campaigns: campaigns.iter().filter_map(read).collect(), now }
    }

    /// Returns the visibility of a voucher; `None` if the voucher or its campaign cannot be read, which no client gets then.
    pub fn of_voucher(&self, voucher: &Document) -> Option<EffectiveVisibility> {
        self.judge(voucher, |at| read_voucher(at, ""))
    }

    /// Returns the visibility of a promotion tier; `None` if the tier or its campaign cannot be read.
    pub fn of_tier(&self, tier: &Document) -> Option<EffectiveVisibility> {
        self.judge(tier, |at| read_tier(at, ""))
    }

    fn judge(&self, document: &Document, read: Read<RedeemableTerms>) -> Option<EffectiveVisibility> {
        let campaign = match &document.parent {
            Some(parent) => Some(self.campaigns.get(parent)?),
            None => None,
        };
        Some(read_fields(&document.body, read).ok()?.visibility_at(campaign, self.now))
    }
}

/// Tests if every client may know an offer.
pub fn is_public(judged: Option<EffectiveVisibility>) -> bool {
    judged.is_some_and(|judged| judged.visibility == Visibility::Public)
}
