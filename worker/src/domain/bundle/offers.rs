//! Disclosure to clients of the offers of a project with its reasons, for the operator, who decides it.

use crate::domain::bundle::code_strength::is_weak;
use crate::domain::visibility::JudgedOffers;
use crate::store::Store;
use crate::store::bundle_heads;
use crate::store::document::Document;
use crate::store::documents::any_kind;
use crate::store::index::code_key::code_key;
use crate::store::records::ObjectReference;
use crate::store::sql::Fault;
use scrip::model::offer_visibility::{EffectiveVisibility, VisibilityReason};
use scrip::model::visibility::Visibility;
use scrip::time::Instant;
use scrip::wire::document::read_fields;
use scrip::wire::voucher::read_stack;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Reason of a stack that has a tier which clients may not know.
const OF_TIER: &str = "TIER";
/// Reason of an offer whose document, or that of its campaign, cannot be read.
const UNREADABLE: &str = "UNREADABLE";
/// Reason of a campaign that represents its private codes.
const PRIVATE: &str = "PRIVATE_CODE";

/// Reason of a code that is sealed by default.
const UNLIMITED_CODE: &str = "UNLIMITED_CODE";
/// Part of the bundle that has a sealed code.
const SEALED_BOX: &str = "SEALED_BOX";

/// Disclosure to clients of an offer, as the API returns it.
#[derive(Debug, Serialize)]
pub struct OfferLine<'o> {
    object: &'static str,
    id: &'o str,
    kind: &'o str,
    name: Option<&'o str>,
    campaign_id: Option<&'o str>,
    visibility: &'static str,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    begins_at: Option<String>,
    received: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
}

/// Describes the disclosure of offers to clients at `now`.
pub fn describe<'o>(
    store: &Store<'_>,
    offers: &'o [Document],
    case_sensitive: bool,
    now: Instant,
) -> Result<Vec<OfferLine<'o>>, Fault> {
    let has_too_many = bundle_heads::has_too_many_codes(store)?;
    let is = |kind: &'static str| move |offer: &&Document| kind_of(offer) == kind;
    let tier_ids = offers.iter().filter(is("promotion_stack")).flat_map(tiers_of).collect::<BTreeSet<String>>();
    let tier_ids: Vec<&str> = tier_ids.iter().map(String::as_str).collect();
    let tiers = any_kind::list_with_ids(store, "promotion_tier", &tier_ids)?;
    let parents: BTreeSet<&str> = offers.iter().chain(&tiers).filter_map(|offer| offer.parent.as_deref()).collect();
    let parents: Vec<&str> = parents.into_iter().collect();
    let judged = JudgedOffers::new(&any_kind::list_with_ids(store, "campaign", &parents)?, now);
    let tiers: BTreeMap<&str, &Document> = tiers.iter().map(|tier| (tier.id.as_str(), tier)).collect();
    let is_public = |id: &String| {
        let found = tiers.get(id.as_str()).and_then(|tier| judged.of_tier(tier));
        found.is_some_and(|found| found.visibility == Visibility::Public)
    };
    let lines = offers.iter().map(|offer| match kind_of(offer) {
        "promotion_tier" => describe_offer(offer, judged.of_tier(offer)),
        "voucher" => describe_box(describe_offer(offer, judged.of_voucher(offer)), case_sensitive, has_too_many),
        "promotion_stack" => {
            let tiers = tiers_of(offer);
            match !tiers.is_empty() && tiers.iter().all(is_public) {
                true => offer_line(offer, Visibility::Public, "PROMOTION"),
                false => offer_line(offer, Visibility::Server, OF_TIER),
            }
        }
        _ => offer_line(offer, Visibility::Server, PRIVATE),
    });
    Ok(lines.collect())
}

fn kind_of(offer: &Document) -> &str {
    ObjectReference::of(&offer.body).object().unwrap_or_default()
}

/// Returns the ids of the tiers of a stack; none of one that cannot be read.
fn tiers_of(stack: &Document) -> Vec<String> {
    let read = read_fields(&stack.body, read_stack);
    read.map(|stack| stack.tiers.iter().map(ToString::to_string).collect()).unwrap_or_default()
}

fn describe_offer(offer: &Document, found: Option<EffectiveVisibility>) -> OfferLine<'_> {
    let Some(EffectiveVisibility { visibility, reason }) = found else {
        return offer_line(offer, Visibility::Server, UNREADABLE);
    };
    let begins_at = match reason {
        VisibilityReason::NotStarted(start) => Some(start.text()),
        _ => None,
    };
    OfferLine { begins_at, ..offer_line(offer, visibility, reason_name(reason)) }
}

fn reason_name(reason: VisibilityReason) -> &'static str {
    match reason {
        VisibilityReason::Own => "OWN_SETTING",
        VisibilityReason::OfCampaign => "CAMPAIGN_SETTING",
        VisibilityReason::Promotion => "PROMOTION",
        VisibilityReason::UnlimitedCode => UNLIMITED_CODE,
        VisibilityReason::LimitedCode => "LIMITED_CODE",
        VisibilityReason::PrivateCode => PRIVATE,
        VisibilityReason::Card => "CARD",
        VisibilityReason::Disabled => "DISABLED",
        VisibilityReason::NotStarted(_) => "NOT_BEGUN",
        VisibilityReason::Ended => "ENDED",
    }
}

fn offer_line<'o>(offer: &'o Document, visibility: Visibility, reason: &'static str) -> OfferLine<'o> {
    let kind = kind_of(offer);
    let name = if kind == "voucher" { offer.as_voucher().code() } else { offer.as_campaign().name() };
    let received = match visibility {
        Visibility::Public => "TERMS",
        Visibility::Sealed => SEALED_BOX,
        Visibility::Server => "NOTHING",
    };
    OfferLine {
        object: "bundle_offer",
        id: &offer.id,
        kind,
        name,
        campaign_id: offer.parent.as_deref(),
        visibility: visibility.name(),
        reason,
        begins_at: None,
        received,
        warning: None,
    }
}

/// Returns the line of a code, completed by the state of its box.
fn describe_box(offer_line: OfferLine<'_>, case_sensitive: bool, has_too_many: bool) -> OfferLine<'_> {
    if offer_line.received != SEALED_BOX {
        return offer_line;
    }
    if has_too_many && offer_line.campaign_id.is_none() && offer_line.reason == UNLIMITED_CODE {
        return OfferLine { received: "NOTHING", ..offer_line };
    }
    let is_guessed = is_weak(&code_key(offer_line.name.unwrap_or_default(), case_sensitive));
    OfferLine { warning: is_guessed.then_some("WEAK_CODE"), ..offer_line }
}
