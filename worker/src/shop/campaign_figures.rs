//! What came of a campaign in a time, as its numbers: from the ledger, which has every redemption and every amount under the campaign's
//! accounts, and from what is written down of its cards. It must not know who asks.

use crate::store::Store;
use crate::store::sql::{self, Fault, Value};
use scrip::facts::{
    discounted_account, orders_account, points_spent_account, published_account, redeemed_account, spent_account,
};
use serde_json::{Map, Value as Json};

/// The campaign's id and type, and the time, from a moment to before another.
pub struct Asked<'a> {
    /// The campaign's id.
    pub id: &'a str,
    /// Its type.
    pub kind: &'a str,
    /// The first moment.
    pub from: i64,
    /// The moment behind the last.
    pub until: i64,
}

/// Names of transactions of cards, and under which each is counted: of points, and of credits.
const MOVED: &[(&str, &str)] = &[
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

/// The numbers of a campaign.
pub fn of(store: &Store<'_>, asked: &Asked<'_>) -> Result<Map<String, Json>, Fault> {
    let mut told = Map::new();
    let mut tell = |name: &str, number: i64| drop(told.insert(name.to_owned(), number.into()));
    let id = Some(asked.id);
    let (redeemed, _, undone, _) = moved(store, asked, &redeemed_account(id).to_string())?;
    let [failed, rollbacks_failed] = failed(store, asked)?;
    tell("redemptions", redeemed.saturating_add(failed));
    tell("redemptions_succeeded", redeemed);
    tell("redemptions_failed", failed);
    tell("rollbacks", undone.saturating_add(rollbacks_failed));
    tell("rollbacks_succeeded", undone);
    tell("rollbacks_failed", rollbacks_failed);
    // A validation writes nothing down, and is not counted.
    ["validations", "validations_succeeded", "validations_failed"].into_iter().for_each(|name| tell(name, 0));
    let (_, ordered, _, given_back) = moved(store, asked, &orders_account(id).to_string())?;
    tell("orders_amount", ordered);
    tell("orders_rolledback_amount", given_back);
    if asked.kind != "PROMOTION" {
        let (published, ..) = moved(store, asked, &published_account(id).to_string())?;
        tell("publications", published);
        tell("publications_succeeded", published);
        tell("publications_failed", 0);
        let [made, granted, binned] = vouchers(store, asked)?;
        tell("vouchers_created", made);
        tell("vouchers_deleted", binned);
        match asked.kind {
            "GIFT_VOUCHERS" => tell("created_vouchers_amount", granted),
            "LOYALTY_PROGRAM" => tell("created_vouchers_points", granted),
            _ => {}
        }
    }
    match asked.kind {
        "GIFT_VOUCHERS" => {
            let (_, spent, _, back) = moved(store, asked, &spent_account(id).to_string())?;
            tell("amount_redeemed", spent);
            tell("amount_rolledback", back);
            tell("amount_deleted", 0);
            cards(store, asked, "amount_", &mut tell)?;
        }
        "LOYALTY_PROGRAM" => {
            let (_, spent, _, back) = moved(store, asked, &points_spent_account(id).to_string())?;
            tell("points_redeemed", spent);
            tell("points_rolledback", back);
            tell("points_deleted", 0);
            cards(store, asked, "points_", &mut tell)?;
        }
        "REFERRAL_PROGRAM" => tell("referred_customers", referred(store, asked)?),
        _ => {
            let (_, discounted, _, back) = moved(store, asked, &discounted_account(id).to_string())?;
            tell("discounted_amount", discounted);
            tell("rolledback_discounted_amount", back);
        }
    }
    Ok(told)
}

fn params(asked: &Asked<'_>, what: &str) -> [Value; 3] {
    [what.into(), asked.from.into(), asked.until.into()]
}

fn numbers<const N: usize>(store: &Store<'_>, statement: &str, params: &[Value]) -> Result<[i64; N], Fault> {
    let row = store.row(statement, params)?.unwrap_or_default();
    let mut numbers = [0; N];
    for (column, number) in numbers.iter_mut().enumerate() {
        *number = sql::int_or_null(&row, column)?.unwrap_or(0);
    }
    Ok(numbers)
}

/// What came onto an account and what was given back of it: how often, and how much.
fn moved(store: &Store<'_>, asked: &Asked<'_>, account: &str) -> Result<(i64, i64, i64, i64), Fault> {
    let [times, amount] = numbers(
        store,
        "SELECT COUNT(*), SUM(amount) FROM transfer WHERE credit = +?1 AND at >= +?2 AND at < +?3 AND reverses IS NULL",
        &params(asked, account),
    )?;
    let [undone, back] = numbers(
        store,
        "SELECT COUNT(*), SUM(amount) FROM transfer WHERE debit = +?1 AND at >= +?2 AND at < +?3 AND reverses IS NOT NULL",
        &params(asked, account),
    )?;
    Ok((times, amount, undone, back))
}

/// Redemptions and rollbacks that failed, as long as these are kept.
fn failed(store: &Store<'_>, asked: &Asked<'_>) -> Result<[i64; 2], Fault> {
    numbers(
        store,
        "SELECT SUM(failure.id GLOB 'rf_*'), SUM(failure.id GLOB 'rrf_*') FROM document AS failure
         WHERE failure.kind = 'redemption' AND (failure.id GLOB 'rf_*' OR failure.id GLOB 'rrf_*')
           AND failure.created_at >= +?2 AND failure.created_at < +?3
           AND EXISTS (SELECT 1 FROM document AS owner WHERE owner.kind IN ('voucher', 'promotion_tier') AND owner.id = failure.parent AND owner.parent = +?1)",
        &params(asked, asked.id),
    )
}

/// Vouchers that were made and still are, what these were made with, and those in the bin.
fn vouchers(store: &Store<'_>, asked: &Asked<'_>) -> Result<[i64; 3], Fault> {
    let [made, held, came] = numbers(
        store,
        "SELECT COUNT(*), SUM(COALESCE(json_extract(body, '$.gift.amount'), json_extract(body, '$.loyalty_card.points'), 0)),
           SUM((SELECT SUM(MAX(0, COALESCE(json_extract(moved.body, '$.details.balance.points'), json_extract(moved.body, '$.details.balance.amount'))))
              FROM document AS moved WHERE moved.kind = 'voucher_transaction' AND moved.parent = document.id))
         FROM document WHERE kind = 'voucher' AND parent = +?1 AND created_at >= +?2 AND created_at < +?3",
        &params(asked, asked.id),
    )?;
    // What a card holds in all is what it was made with, and whatever came onto it since.
    let granted = held.saturating_sub(came);
    let [binned] = numbers(
        store,
        "SELECT COUNT(*) FROM document WHERE kind = 'bin_entry' AND parent = +?1 AND created_at >= +?2 AND created_at < +?3",
        &params(asked, asked.id),
    )?;
    Ok([made, granted, binned])
}

/// What moved cards without a redemption, each kind under its name; what did not happen is nothing.
fn cards(store: &Store<'_>, asked: &Asked<'_>, unit: &str, tell: &mut dyn FnMut(&str, i64)) -> Result<(), Fault> {
    MOVED.iter().filter(|(_, name)| name.contains(unit)).for_each(|(_, name)| tell(name, 0));
    let rows = store.rows(
        "SELECT json_extract(body, '$.type'),
           SUM(ABS(COALESCE(json_extract(body, '$.details.balance.points'), json_extract(body, '$.details.balance.amount'))))
         FROM document WHERE kind = 'voucher_transaction' AND holder = +?1 AND created_at >= +?2 AND created_at < +?3 GROUP BY 1",
        &params(asked, asked.id),
    )?;
    for row in &rows {
        let said = sql::text(row, 0)?;
        if let Some((_, name)) = MOVED.iter().find(|(word, name)| *word == said && name.contains(unit)) {
            tell(name, sql::int_or_null(row, 1)?.unwrap_or(0));
        }
    }
    if unit == "points_" { waiting(store, asked, tell) } else { Ok(()) }
}

/// Points that wait: what came by earning and by hand, what was taken by hand, and what was canceled.
fn waiting(store: &Store<'_>, asked: &Asked<'_>, tell: &mut dyn FnMut(&str, i64)) -> Result<(), Fault> {
    let [begun] = numbers(
        store,
        "SELECT SUM(json_extract(body, '$.told.points')) FROM document
         WHERE kind = 'pending_points' AND holder = +?1 AND created_at >= +?2 AND created_at < +?3",
        &params(asked, asked.id),
    )?;
    let [taken, canceled] = numbers(
        store,
        "SELECT SUM(MAX(0, -json_extract(body, '$.balance.points')) * (json_extract(body, '$.change') = 'updated')),
           SUM(-json_extract(body, '$.balance.points') * (json_extract(body, '$.change') = 'canceled')) FROM document
         WHERE kind = 'pending_points_change' AND holder = +?1 AND created_at >= +?2 AND created_at < +?3",
        &params(asked, asked.id),
    )?;
    // What a row has is what is left of it after changes by hand.
    tell("pending_points_added", begun.saturating_add(taken));
    tell("pending_points_subtracted", taken);
    tell("pending_points_canceled", canceled);
    Ok(())
}

/// Whom codes of the campaign were passed on to.
fn referred(store: &Store<'_>, asked: &Asked<'_>) -> Result<i64, Fault> {
    let [count] = numbers(
        store,
        "SELECT COUNT(*) FROM document AS held WHERE held.kind = 'redeemable_holder' AND held.created_at >= +?2 AND held.created_at < +?3
           AND json_extract(held.body, '$.holder_role') = 'REFEREE' AND json_extract(held.body, '$.campaign_id') = +?1",
        &params(asked, asked.id),
    )?;
    Ok(count)
}
