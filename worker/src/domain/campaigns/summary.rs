//! Counts the results of a campaign in a period, from the ledger accounts of the campaign and from the transactions of its cards.

use crate::store::Store;
use crate::store::amount::CheckedAmount;
use crate::store::sql::Fault;
use scrip::facts::{
    discounted_account, orders_account, points_spent_account, published_account, redeemed_account, spent_account,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// Query of a campaign summary.
pub struct SummaryQuery<'a> {
    /// The campaign's id.
    pub id: &'a str,
    /// Its type.
    pub kind: &'a str,
    /// First instant, in milliseconds.
    pub from: i64,
    /// Instant after the last, in milliseconds.
    pub until: i64,
}

impl SummaryQuery<'_> {
    fn time(&self) -> Range<i64> {
        self.from..self.until
    }
}

/// Kinds of card transactions with the names under which they are counted, for points and for credits.
const COUNTED_TRANSACTIONS: &[(&str, &str)] = &[
    ("CREDITS_ADDITION", "amount_added"),
    ("CREDITS_REMOVAL", "amount_subtracted"),
    ("POINTS_ADDITION", "points_added"),
    ("POINTS_REMOVAL", "points_subtracted"),
    ("POINTS_ACCRUAL", "points_rewarded"),
    ("POINTS_EXPIRATION", "points_expired"),
    ("POINTS_TRANSFER_IN", "points_transferred_in"),
    ("POINTS_TRANSFER_OUT", "points_transferred_out"),
    ("PENDING_POINTS_ACTIVATION", "pending_points_activated"),
];

/// Returns the numbers of a campaign by name.
pub fn summarize(store: &Store<'_>, query: &SummaryQuery<'_>) -> Result<BTreeMap<&'static str, i64>, Fault> {
    let mut details = BTreeMap::new();
    let mut count = |name: &'static str, number: i64| {
        details.insert(name, number);
    };
    let id = Some(query.id);
    let time = query.time();
    let redemptions = store.sum_turnover(redeemed_account(id).as_str(), &time)?;
    let (redeemed, rolled_back) = (redemptions.credits, redemptions.reversals);
    let failures = store.count_campaign_failures(query.id, &time)?;
    let (failed, rollbacks_failed) = (failures.redemptions, failures.rollbacks);
    count("redemptions", redeemed.plus(failed)?);
    count("redemptions_succeeded", redeemed);
    count("redemptions_failed", failed);
    count("rollbacks", rolled_back.plus(rollbacks_failed)?);
    count("rollbacks_succeeded", rolled_back);
    count("rollbacks_failed", rollbacks_failed);
    // Validations are not recorded, so they are not counted.
    ["validations", "validations_succeeded", "validations_failed"].into_iter().for_each(|name| count(name, 0));
    let ordered = store.sum_turnover(orders_account(id).as_str(), &time)?;
    count("orders_amount", ordered.credited);
    count("orders_rolledback_amount", ordered.reversed);
    if query.kind != "PROMOTION" {
        let published = store.sum_turnover(published_account(id).as_str(), &time)?.credits;
        count("publications", published);
        count("publications_succeeded", published);
        count("publications_failed", 0);
        let vouchers = store.sum_campaign_vouchers(query.id, &time)?;
        // The total of a card is its first balance and all later additions.
        let granted = vouchers.loaded.minus(vouchers.added)?;
        count("vouchers_created", vouchers.count);
        count("vouchers_deleted", store.count_trashed_vouchers(query.id, &time)?);
        match query.kind {
            "GIFT_VOUCHERS" => count("created_vouchers_amount", granted),
            "LOYALTY_PROGRAM" => count("created_vouchers_points", granted),
            _ => {}
        }
    }
    match query.kind {
        "GIFT_VOUCHERS" => {
            let spent = store.sum_turnover(spent_account(id).as_str(), &time)?;
            count("amount_redeemed", spent.credited);
            count("amount_rolledback", spent.reversed);
            count("amount_deleted", 0);
            count_card_changes(store, query, "amount_", &mut count)?;
        }
        "LOYALTY_PROGRAM" => {
            let spent = store.sum_turnover(points_spent_account(id).as_str(), &time)?;
            count("points_redeemed", spent.credited);
            count("points_rolledback", spent.reversed);
            count("points_deleted", 0);
            count_card_changes(store, query, "points_", &mut count)?;
        }
        "REFERRAL_PROGRAM" => count("referred_customers", store.count_referees(query.id, &time)?),
        _ => {
            let discounted = store.sum_turnover(discounted_account(id).as_str(), &time)?;
            count("discounted_amount", discounted.credited);
            count("rolledback_discounted_amount", discounted.reversed);
        }
    }
    Ok(details)
}

/// Counts changes of cards without a redemption, each kind under its name; a kind without transactions counts zero.
fn count_card_changes(
    store: &Store<'_>,
    query: &SummaryQuery<'_>,
    unit: &str,
    count: &mut dyn FnMut(&'static str, i64),
) -> Result<(), Fault> {
    COUNTED_TRANSACTIONS.iter().filter(|(_, name)| name.contains(unit)).for_each(|(_, name)| count(name, 0));
    for movement in store.sum_card_movements(query.id, &query.time())? {
        if let Some((_, name)) =
            COUNTED_TRANSACTIONS.iter().find(|(kind, name)| *kind == movement.kind && name.contains(unit))
        {
            count(name, movement.amount);
        }
    }
    if unit == "points_" { count_pending_points(store, query, count) } else { Ok(()) }
}

/// Counts pending points: earned or added by hand, subtracted by hand, and canceled.
fn count_pending_points(
    store: &Store<'_>,
    query: &SummaryQuery<'_>,
    count: &mut dyn FnMut(&'static str, i64),
) -> Result<(), Fault> {
    let added = store.sum_pending_points(query.id, &query.time())?;
    let changes = store.sum_pending_changes(query.id, &query.time())?;
    // A row has the points that remain after changes by hand.
    count("pending_points_added", added.plus(changes.subtracted)?);
    count("pending_points_subtracted", changes.subtracted);
    count("pending_points_canceled", changes.canceled);
    Ok(())
}
