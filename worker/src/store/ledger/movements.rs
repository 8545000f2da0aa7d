//! Movements of accounts: the transfers of a chain, and those of an account in a time; and the move of those of earlier versions. Each
//! statement reads the ledger as a whole: the view `every_transfer`, or the table `transfer` and the view `earlier_transfer`.

use super::{INSERT_TRANSFERS, OwnUnits, own_range, periods_parameter, read_units};
use crate::store::Store;
use crate::store::amount;
use crate::store::schema::ONE_TABLE_OF_TRANSFERS;
use crate::store::sql::{self, Fault, SqlRow, SqlValue};
use crate::store::transfer_rows::{TransferRow, accounts_beside, check_own, parameter};
use scrip::shape::INT_MAX;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::ops::Range;

/// Sums the amounts of the transfers that meet a condition. SQLite looks a condition up by an index in each of both tables, but in a view of
/// both only outside of an aggregate.
macro_rules! sum {
    ($condition:literal) => {
        concat!(
            "(COALESCE((SELECT SUM(amount) FROM transfer WHERE ",
            $condition,
            "), 0) + COALESCE((SELECT SUM(amount) FROM earlier_transfer WHERE ",
            $condition,
            "), 0))"
        )
    };
}

/// Selects the chains in which some accounts moved in a time: the parameters of the list and of the time.
macro_rules! beside {
    ($accounts:literal, $from:literal, $to:literal) => {
        concat!(
            "chain IN (SELECT chain FROM json_each(",
            $accounts,
            ") AS named CROSS JOIN transfer AS counted ON counted.debit = named.value AND counted.by_debit = 1 AND counted.at >= ",
            $from,
            " AND counted.at < ",
            $to,
            " UNION ALL SELECT chain FROM json_each(",
            $accounts,
            ") AS named CROSS JOIN transfer AS counted ON counted.credit = named.value AND counted.by_credit = 1 AND counted.at >= ",
            $from,
            " AND counted.at < ",
            $to,
            ")"
        )
    };
}

/// Transfers of an account in a time.
pub struct AccountTurnover {
    /// Number of transfers that credit it and undo none.
    pub credits: i64,
    /// Sum of their amounts.
    pub credited: i64,
    /// Number of transfers that undo one of them whole.
    pub reversals: i64,
    /// Amount that was undone, whole or in part.
    pub reversed: i64,
}

impl Store<'_> {
    /// Lists the transfers of a chain that were not reversed, with the amounts that remain, in order.
    pub fn list_chain(&self, chain: &str) -> Result<Vec<TransferRow>, Fault> {
        let rows = self.rows(
            concat!(
                "SELECT id, chain, debit, credit, amount - ",
                sum!("part_of = own.id"),
                ", reverses, at FROM every_transfer own WHERE chain = +?1
                   AND NOT EXISTS (SELECT 1 FROM every_transfer undone WHERE undone.reverses = own.id) ORDER BY length(id), id"
            ),
            &[chain.into()],
        )?;
        let read = |row: &SqlRow| {
            let text = |column| sql::text(row, column).map(str::to_owned);
            let (id, chain, debit, credit) = (text(0)?, text(1)?, text(2)?, text(3)?);
            let (amount, reverses) = (sql::int(row, 4)?, sql::text_or_null(row, 5)?.map(str::to_owned));
            Ok(TransferRow { id, chain, debit, credit, amount, reverses, part_of: None, at: sql::int(row, 6)? })
        };
        rows.iter().map(read).collect()
    }

    /// Sums the units that left or reached an account since a time and were not returned.
    pub fn sum_moved(&self, account: &str, since_ms: i64) -> Result<u64, Fault> {
        const MOVED: &str = concat!(
            "SELECT COALESCE(SUM(amount - ",
            sum!("part_of = own.id"),
            "), 0) FROM (
            SELECT id, amount FROM every_transfer WHERE debit = +?1 AND by_debit = 1 AND at >= ?2
              AND +reverses IS NULL AND part_of IS NULL UNION ALL
            SELECT id, amount FROM every_transfer WHERE credit = +?1 AND by_credit = 1 AND at >= ?2
              AND +reverses IS NULL AND part_of IS NULL UNION ALL
            SELECT id, amount FROM transfer WHERE debit = +?1 AND by_debit IS NULL AND at >= ?2
              AND +reverses IS NULL AND part_of IS NULL AND ",
            beside!("?4", "?2", "?3"),
            " UNION ALL
            SELECT id, amount FROM transfer WHERE credit = +?1 AND by_credit IS NULL AND at >= ?2
              AND +reverses IS NULL AND part_of IS NULL AND ",
            beside!("?4", "?2", "?3"),
            ") own
            WHERE NOT EXISTS (SELECT 1 FROM every_transfer undone WHERE undone.reverses = own.id)"
        );
        let params = [account.into(), since_ms.into(), INT_MAX.into(), accounts_beside(&[account])?];
        let row = self.row(MOVED, &params)?;
        row.map_or(Ok(0), |row| amount::unsigned(sql::int(&row, 0)?))
    }

    /// Sums the transfers to an account in a time, and those that undo them.
    pub fn sum_turnover(&self, account: &str, time: &Range<i64>) -> Result<AccountTurnover, Fault> {
        let params: [SqlValue; 4] = [account.into(), time.start.into(), time.end.into(), accounts_beside(&[account])?];
        let [credits, credited] = self.sums(
            concat!(
                "SELECT COUNT(*), SUM(amount) FROM (
                   SELECT amount FROM every_transfer WHERE credit = +?1 AND by_credit = 1 AND at >= +?2 AND at < +?3
                     AND +reverses IS NULL AND part_of IS NULL UNION ALL
                   SELECT amount FROM transfer WHERE credit = +?1 AND by_credit IS NULL AND at >= +?2 AND at < +?3
                     AND +reverses IS NULL AND part_of IS NULL AND ",
                beside!("?4", "?2", "?3"),
                ")"
            ),
            &params,
        )?;
        let [reversals, reversed] = self.sums(
            concat!(
                "SELECT COUNT(reverses), SUM(amount) FROM (
                   SELECT reverses, amount FROM every_transfer WHERE debit = +?1 AND by_debit = 1 AND at >= +?2 AND at < +?3
                     AND (reverses IS NOT NULL OR part_of IS NOT NULL) UNION ALL
                   SELECT reverses, amount FROM transfer WHERE debit = +?1 AND by_debit IS NULL AND at >= +?2 AND at < +?3
                     AND (reverses IS NOT NULL OR part_of IS NOT NULL) AND ",
                beside!("?4", "?2", "?3"),
                ")"
            ),
            &params,
        )?;
        Ok(AccountTurnover { credits, credited, reversals, reversed })
    }

    /// Sums in a time the debits of one account less the credits of another.
    pub fn sum_debits_less_credits(&self, debit: &str, credit: &str, time: &Range<i64>) -> Result<i64, Fault> {
        let row = self.row(
            concat!(
                "SELECT ",
                sum!("debit = +?1 AND by_debit = 1 AND at >= ?3 AND at < ?4"),
                " - ",
                sum!("credit = +?2 AND by_credit = 1 AND at >= ?3 AND at < ?4"),
                " + (SELECT COALESCE(SUM(amount), 0) FROM transfer WHERE debit = +?1 AND by_debit IS NULL AND at >= ?3 AND at < ?4 AND ",
                beside!("?5", "?3", "?4"),
                ") - (SELECT COALESCE(SUM(amount), 0) FROM transfer WHERE credit = +?2 AND by_credit IS NULL AND at >= ?3 AND at < ?4 AND ",
                beside!("?5", "?3", "?4"),
                ")"
            ),
            &[debit.into(), credit.into(), time.start.into(), time.end.into(), accounts_beside(&[debit, credit])?],
        )?;
        row.map_or(Ok(0), |row| sql::int(&row, 0))
    }

    /// Sums by how much accounts rose in each of some periods; an account that is not listed did not.
    pub fn sum_rises(&self, accounts: &[String], periods: &[Range<i64>]) -> Result<Vec<HashMap<String, i64>>, Fault> {
        accounts.iter().try_for_each(|account| check_own(account))?;
        let rows = self.rows(
            concat!(
                "SELECT span.key, account.value, ",
                sum!("credit = account.value AND by_credit = 1 AND at >= span.value ->> 0 AND at < span.value ->> 1"),
                " - ",
                sum!("debit = account.value AND by_debit = 1 AND at >= span.value ->> 0 AND at < span.value ->> 1"),
                " FROM json_each(?1) AS span CROSS JOIN json_each(?2) AS account"
            ),
            &[periods_parameter(periods).into(), Json::from(accounts).to_string().into()],
        )?;
        let mut rises: Vec<HashMap<String, i64>> = periods.iter().map(|_| HashMap::new()).collect();
        for row in &rows {
            let place = usize::try_from(sql::int(row, 0)?).ok();
            if let Some(rises) = place.and_then(|place| rises.get_mut(place)) {
                rises.insert(sql::text(row, 1)?.to_owned(), sql::int(row, 2)?);
            }
        }
        Ok(rises)
    }
}

/// Returns the movements of a customer's accounts since a time that were not reversed, less what was taken back, at most `most`.
pub fn list_own_movements(
    store: &Store<'_>,
    customer_id: &str,
    since_ms: i64,
    most: i64,
) -> Result<Vec<OwnUnits>, Fault> {
    let (from, until) = own_range(customer_id);
    let rows = store.rows(
        concat!(
            "SELECT account, at, amount - ",
            sum!("part_of = own.id"),
            " FROM (
           SELECT id, debit AS account, at, amount FROM every_transfer WHERE debit > +?1 AND debit < +?2 AND by_debit = 1 AND at >= +?3
             AND +reverses IS NULL AND part_of IS NULL UNION ALL
           SELECT id, credit, at, amount FROM every_transfer WHERE credit > +?1 AND credit < +?2 AND by_credit = 1 AND at >= +?3
             AND +reverses IS NULL AND part_of IS NULL) own
         WHERE NOT EXISTS (SELECT 1 FROM every_transfer undone WHERE undone.reverses = own.id) LIMIT +?4"
        ),
        &[from.as_str().into(), until.into(), since_ms.into(), most.into()],
    )?;
    rows.iter().map(|row| read_units(row, &from)).collect()
}

/// Id and kind of the job that moves transfers, which `0051_transfer_chains.sql` queues.
pub const MOVE_TRANSFERS: &str = "MOVE_TRANSFERS";

/// Moves the next transfers of earlier versions when the call commits, up to a number; after the last it removes their table, and returns false.
pub fn move_next(store: &mut Store<'_>, count: u64) -> Result<bool, Fault> {
    // SQLite has fewer rows.
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let rows = store.rows(
        "SELECT id, chain, debit, credit, amount, reverses, part_of, at FROM former_transfer ORDER BY id LIMIT +?1",
        &[count.into()],
    )?;
    let Some(last) = rows.last() else {
        ONE_TABLE_OF_TRANSFERS.iter().for_each(|statement| store.write(*statement, Vec::new()));
        return Ok(false);
    };
    // The present table takes no transfer that the former one still has.
    store.write("DELETE FROM former_transfer WHERE id <= +?1", vec![sql::text(last, 0)?.into()]);
    let rows = rows.iter().map(read_former).collect::<Result<Vec<_>, Fault>>()?;
    store.write(INSERT_TRANSFERS, vec![parameter(&rows)]);
    Ok(true)
}

fn read_former(row: &SqlRow) -> Result<TransferRow, Fault> {
    let text = |column| sql::text(row, column).map(str::to_owned);
    let text_or_null = |column| Ok::<_, Fault>(sql::text_or_null(row, column)?.map(str::to_owned));
    let (id, chain, debit, credit) = (text(0)?, text(1)?, text(2)?, text(3)?);
    let (reverses, part_of) = (text_or_null(5)?, text_or_null(6)?);
    Ok(TransferRow { id, chain, debit, credit, amount: sql::int(row, 4)?, reverses, part_of, at: sql::int(row, 7)? })
}
