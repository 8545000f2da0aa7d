//! Tiers of loyalty campaigns of the older interface: which there are, and which one a card is in at a moment. It must not know routes, nor
//! what a tier is good for. Nothing is written of who is in one: the points say it.

use crate::document::merge;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::card_lots::{said, spent};
use crate::shop::cards::Present;
use crate::store::Store;
use crate::store::document::{Document, legible, read_held};
use crate::store::sql::{self, Fault};
use scrip::points::tiered::{CampaignTier, Counted, reached};
use scrip::time::Instant;
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::program_tier::{read_campaign_tier, read_counted};
use serde_json::{Map, Value as Json, json};

/// The kind of the rows, whose parent is the campaign.
pub const PROGRAM_TIER: &str = "campaign_tier";

/// What a campaign says of how its tiers are reached.
pub const QUALIFICATION: &str = "loyalty_tiers_expiration";

/// The tiers of a campaign, as they were made; those that do not read are left out.
pub fn of_campaign(store: &Store<'_>, campaign_id: &str) -> Result<Vec<(Document, CampaignTier)>, Fault> {
    let rows = store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = 'campaign_tier' AND parent = +?1 ORDER BY seq",
        &[campaign_id.into()],
    )?;
    let mut found = Vec::new();
    for row in rows {
        if let Some(tier) = legible(store, read_held(PROGRAM_TIER, &row, read_campaign_tier))? {
            found.push((row, tier));
        }
    }
    Ok(found)
}

/// Whether what leads to the tiers of a campaign can be found out from its points.
pub fn check_counted(campaign: &Map<String, Json>) -> Result<(), CallError> {
    let Some(said) = campaign.get(QUALIFICATION).and_then(Json::as_object) else { return Ok(()) };
    read_fields(said, read_counted).map(drop).map_err(|problem| problem.within(QUALIFICATION).into())
}

/// Puts into a campaign what is not said of how its tiers are reached.
pub fn complete(campaign: &mut Map<String, Json>) {
    let Some(said) = campaign.get_mut(QUALIFICATION).and_then(Json::as_object_mut) else { return };
    let in_period = said.get("qualification_type").and_then(Json::as_str) == Some("POINTS_IN_PERIOD");
    let end = if in_period { "END_OF_PERIOD" } else { "BALANCE_DROP" };
    let defaults = json!({
        "qualification_type": "BALANCE", "start_date": { "type": "IMMEDIATE" }, "expiration_date": { "type": end, "extend": "P0D" },
    });
    merge::fill(said, &defaults);
}

/// The tier that a card of a campaign is in.
pub fn of_card(
    store: &Store<'_>,
    present: &Present,
    (campaign, card): (&Document, &Document),
) -> Result<Option<CampaignTier>, Fault> {
    let tiers: Vec<CampaignTier> = of_campaign(store, &campaign.id)?.into_iter().map(|(_, tier)| tier).collect();
    if tiers.is_empty() {
        return Ok(None);
    }
    let counted = campaign.body.get(QUALIFICATION).and_then(Json::as_object);
    let counted = counted.and_then(|said| read_fields(said, read_counted).ok()).unwrap_or_default();
    let mut highest: Option<&CampaignTier> = None;
    for points in points(store, present, card, counted)? {
        let tier = reached(&tiers, points);
        if tier.map(|tier| tier.from) >= highest.map(|tier| tier.from) {
            highest = tier;
        }
    }
    Ok(highest.cloned())
}

/// The tier of its campaign that a card is in now.
pub fn of_held(call: &Call<'_, '_>, card: &Document) -> Result<Option<CampaignTier>, Fault> {
    let Some(campaign) = &card.parent else { return Ok(None) };
    let Some(campaign) = call.store.document("campaign", campaign)? else { return Ok(None) };
    of_card(call.store, &Present::of(call)?, (&campaign, card))
}

/// The points of a card that lead to a tier: its balance, or what came in each period of which any counts.
fn points(store: &Store<'_>, present: &Present, card: &Document, counted: Counted) -> Result<Vec<u64>, Fault> {
    let Some(mut known) = said(card) else { return Ok(Vec::new()) };
    let now = present.now();
    if counted == Counted::Balance {
        known.go_on(now.at);
        let left = i64::try_from(known.allotment()).unwrap_or(i64::MAX).saturating_add(spent(store, card)?);
        return Ok(vec![u64::try_from(left).unwrap_or(0)]);
    }
    let mut all = Vec::new();
    for (from, to) in counted.periods(now.at, now.zone) {
        // What waited is written down as soon as somebody changes the card.
        let due = known.waiting.iter().filter(|one| one.activates_at <= now.at);
        let due = due.filter(|one| from <= one.activates_at && one.activates_at < to);
        let due = due.fold(0, |sum: u64, one| sum.saturating_add(one.points));
        all.push(came(store, card, (from, to))?.saturating_add(due));
    }
    Ok(all)
}

/// What came to a card in a period: earned, waited for or added by hand, but not from another card.
fn came(store: &Store<'_>, card: &Document, (from, to): (Instant, Instant)) -> Result<u64, Fault> {
    let row = store.row(
        "SELECT COALESCE(SUM(json_extract(body, '$.details.balance.points')), 0) FROM document
         WHERE kind = 'voucher_transaction' AND parent = +?1 AND created_at >= ?2 AND created_at < ?3
           AND json_extract(body, '$.type') IN ('POINTS_ACCRUAL', 'PENDING_POINTS_ACTIVATION', 'POINTS_ADDITION')",
        &[card.id.as_str().into(), from.millis().into(), to.millis().into()],
    )?;
    let sum = row.map_or(Ok(0), |row| sql::int(&row, 0))?;
    Ok(u64::try_from(sum).unwrap_or(0))
}

/// The tiers of campaigns that a customer is in, by their cards.
pub fn of_customer(store: &Store<'_>, present: &Present, customer_id: &str) -> Result<Vec<CampaignTier>, Fault> {
    let cards = store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document AS card
         WHERE kind = 'voucher' AND holder = +?1
           AND EXISTS (SELECT 1 FROM document AS tier WHERE tier.kind = 'campaign_tier' AND tier.parent = card.parent)
         ORDER BY seq",
        &[customer_id.into()],
    )?;
    let mut tiers = Vec::new();
    for card in cards {
        let Some(campaign) = card.parent.as_deref() else { continue };
        let Some(campaign) = store.document("campaign", campaign)? else { continue };
        tiers.extend(of_card(store, present, (&campaign, &card))?);
    }
    Ok(tiers)
}

/// Removes the tiers of a campaign that goes, at the commit.
pub fn remove_all(call: &mut Call<'_, '_>, campaign_id: &str) {
    call.store.write("DELETE FROM document WHERE kind = 'campaign_tier' AND parent = +?1", vec![campaign_id.into()]);
}
