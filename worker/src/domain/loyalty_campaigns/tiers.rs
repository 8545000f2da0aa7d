//! Tiers of loyalty campaigns (v1), and the current tier of a card. Tier membership is not stored: it is computed from the points.

use crate::documents::merge;
use crate::domain::balances::points::{find_account_balance, read_loyalty_card};
use crate::domain::clock::LocalTime;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::Store;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::{Document, DocumentBody, read_loaded, read_member, readable};
use crate::store::records::CampaignRecord;
use crate::store::sql::Fault;
use scrip::points::campaign_tiers::{CampaignTier, TierPointsBase, find_reached_tier};
use scrip::time::Instant;
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::loyalty_campaign_tier::{read_campaign_tier, read_counted};
use serde_json::{Value as Json, json};

/// Kind of the rows of tiers; their parent is the campaign.
pub const CAMPAIGN_TIER: &str = "campaign_tier";

/// Member of a campaign that declares the qualification for its tiers.
pub const QUALIFICATION: &str = "loyalty_tiers_expiration";

/// Returns the tiers of a campaign, the oldest first; tiers that cannot be read are left out.
pub fn list_of_campaign(store: &Store<'_>, campaign_id: &str) -> Result<Vec<(Document, CampaignTier)>, Fault> {
    let mut found = Vec::new();
    for row in store.list_children(CAMPAIGN_TIER, campaign_id)? {
        if let Some(tier) = readable(store, read_loaded(CAMPAIGN_TIER, &row, read_campaign_tier))? {
            found.push((row, tier));
        }
    }
    Ok(found)
}

/// Refuses a qualification that cannot be computed from the points of a card.
pub fn check_qualification(campaign: CampaignRecord<'_>) -> Result<(), CallError> {
    let Some(qualification) = campaign.tier_qualification() else { return Ok(()) };
    read_fields(qualification, read_counted).map(drop).map_err(|problem| problem.within(QUALIFICATION).into())
}

/// Completes the qualification of a campaign with the defaults.
pub fn fill_qualification(campaign: &mut DocumentBody) {
    let Some(qualification) = campaign.get_mut(QUALIFICATION).and_then(Json::as_object_mut) else { return };
    let in_period = qualification.get("qualification_type").and_then(Json::as_str) == Some("POINTS_IN_PERIOD");
    let end = if in_period { "END_OF_PERIOD" } else { "BALANCE_DROP" };
    let defaults = json!({
        "qualification_type": "BALANCE", "start_date": { "type": "IMMEDIATE" }, "expiration_date": { "type": end, "extend": "P0D" },
    });
    merge::fill(qualification, &defaults);
}

/// Returns the current tier of a card of a campaign.
pub fn find_current_tier(
    store: &Store<'_>,
    present: &LocalTime,
    campaign: &Document,
    card: &Document,
) -> Result<Option<CampaignTier>, Fault> {
    let tiers: Vec<CampaignTier> = list_of_campaign(store, &campaign.id)?.into_iter().map(|(_, tier)| tier).collect();
    if tiers.is_empty() {
        return Ok(None);
    }
    let base = read_member(campaign, QUALIFICATION, campaign.body.get(QUALIFICATION), read_counted)?;
    let mut highest: Option<&CampaignTier> = None;
    for points in list_qualifying_points(store, present, card, base)? {
        let tier = find_reached_tier(&tiers, points);
        if tier.map(|tier| tier.from) >= highest.map(|tier| tier.from) {
            highest = tier;
        }
    }
    Ok(highest.cloned())
}

/// Returns the tier of the card that a campaign would assign to a new member: the oldest free one, or a new one.
pub fn find_tier_of_next_card(
    store: &Store<'_>,
    present: &LocalTime,
    campaign: &Document,
) -> Result<Option<CampaignTier>, Fault> {
    let now_ms = present.now().at.millis();
    let card = match store.free_codes(&campaign.id, now_ms, &[], 1)?.pop() {
        Some(free) => free,
        None => Document::new(
            String::new(),
            None,
            now_ms,
            campaign.as_campaign().vouchers().map().cloned().unwrap_or_default(),
        ),
    };
    find_current_tier(store, present, campaign, &card)
}

/// Returns the current tier of a card in its campaign.
pub fn find_tier_of_card(call: &Call<'_, '_>, card: &Document) -> Result<Option<CampaignTier>, Fault> {
    let Some(campaign) = &card.parent else { return Ok(None) };
    let Some(campaign) = call.store.document("campaign", campaign)? else { return Ok(None) };
    find_current_tier(call.store, &LocalTime::of(call)?, &campaign, card)
}

/// Returns the points of a card that count for a tier: its balance, or the points credited in each relevant period.
fn list_qualifying_points(
    store: &Store<'_>,
    present: &LocalTime,
    card: &Document,
    base: TierPointsBase,
) -> Result<Vec<u64>, Fault> {
    let Some(mut card_points) = read_loyalty_card(card) else { return Ok(Vec::new()) };
    let now = present.now();
    if base == TierPointsBase::Balance {
        card_points.advance_to(now.at);
        let balance = amount::signed(card_points.credited_total())?.plus(find_account_balance(store, card)?)?;
        return Ok(vec![balance.max(0).unsigned_abs()]);
    }
    let mut all = Vec::new();
    for (from, to) in base.periods(now.at, now.zone) {
        // Due pending points are recorded only with the next change of the card.
        let due = card_points.pending.iter().filter(|pending_lot| pending_lot.activates_at <= now.at);
        let due = due.filter(|pending_lot| from <= pending_lot.activates_at && pending_lot.activates_at < to);
        let due = amount::total(due.map(|pending_lot| pending_lot.points))?;
        all.push(sum_credited_points(store, card, from, to)?.plus(due)?);
    }
    Ok(all)
}

/// Returns the points credited to a card in a period: earned, activated or added by hand, without transfers from other cards.
/// Points revoked by a return of an order are subtracted.
fn sum_credited_points(store: &Store<'_>, card: &Document, from: Instant, to: Instant) -> Result<u64, Fault> {
    Ok(store.sum_credited_points(&card.id, from.millis(), to.millis())?.max(0).unsigned_abs())
}

/// Returns the campaign tiers of a customer, by the customer's cards.
pub fn list_tiers_of_customer(
    store: &Store<'_>,
    present: &LocalTime,
    customer_id: &str,
) -> Result<Vec<CampaignTier>, Fault> {
    let mut tiers = Vec::new();
    for card in store.list_cards_with_campaign_tiers(customer_id)? {
        let Some(campaign) = card.parent.as_deref() else { continue };
        let Some(campaign) = store.document("campaign", campaign)? else { continue };
        tiers.extend(find_current_tier(store, present, &campaign, &card)?);
    }
    Ok(tiers)
}

/// Queues the deletion of the tiers of a deleted campaign.
pub fn delete_all(call: &mut Call<'_, '_>, campaign_id: &str) {
    call.store.delete_children(CAMPAIGN_TIER, campaign_id);
}
