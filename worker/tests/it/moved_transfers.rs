//! Tests that the ledger is the same before, while and after its transfers move: against a list that is added up anew each time.

use scrip::Context;
use scrip::facts::{Keeping, keeping_of_balance};
use scrip::facts::{TimeIndex, time_index};
use scrip::time::Instant;
use scrip_worker::job_runner::run_due;
use scrip_worker::store::Store;
use scrip_worker::store::documents::orders::OrderHistoryQuery;
use scrip_worker::store::jobs::erasure::{ErasedCustomer, rename_accounts};
use scrip_worker::store::ledger::movements::{AccountTurnover, list_own_movements};
use scrip_worker::store::schema::migrate_before;
use scrip_worker::store::sql::{self, Fault, Sql, SqlValue};
use scrip_worker::store::sqlite::Sqlite;
use scrip_worker::store::transfer_rows::TransferRow;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::ops::Range;

/// Pairs of accounts between which units move.
const PAIRS: &[[&str; 2]] = &[
    ["voucher/v_1/redemptions", "campaign/camp/redeemed"],
    ["voucher/v_2/redemptions", "project/redeemed"],
    ["customer/ann/of/v_1", "customer/ann/of/camp"],
    ["customer/ann/of/v_2", "customer/ann"],
    ["customer/anna/of/v_2", "customer/anna"],
    ["channel/key/of/v_1", "channel/key"],
    ["project/orders", "orders/camp"],
    ["card/k/earned", "card/k/lot/l"],
    ["voucher/v_1/credits", "campaign/camp/spent"],
    ["project/spent", "project/spent"],
];
/// Accounts that are asked for by time.
const COUNTED: &[&str] = &[
    "voucher/v_1/redemptions",
    "campaign/camp/redeemed",
    "customer/ann/of/v_1",
    "customer/ann/of/camp",
    "customer/ann/of/v_2",
    "customer/anna/of/v_2",
    "channel/key/of/v_1",
    "orders/camp",
    "voucher/v_1/credits",
    "campaign/camp/spent",
    "card/k/earned",
    "project/spent",
    "voucher/none/redemptions",
];
const HOURS: i64 = 40;
const HOUR_MS: i64 = 3_600_000;

/// Numbers that a seed determines.
struct LedgerDraws(u64);

impl LedgerDraws {
    fn below(&mut self, bound: usize) -> usize {
        for (left, shift) in [(true, 13), (false, 7), (true, 17)] {
            self.0 ^= if left { self.0 << shift } else { self.0 >> shift };
        }
        usize::try_from(self.0 >> 11).unwrap() % bound
    }

    fn time(&mut self) -> i64 {
        i64::try_from(self.below(usize::try_from(HOURS).unwrap())).unwrap() * HOUR_MS
    }
}

/// The second model: a list of transfers.
#[derive(Default)]
struct TransferList {
    rows: Vec<TransferRow>,
    chains: usize,
}

impl TransferList {
    fn is_undone(&self, id: &str) -> bool {
        self.rows.iter().any(|row| row.reverses.as_deref() == Some(id))
    }

    fn rest(&self, row: &TransferRow) -> i64 {
        let parts = self.rows.iter().filter(|part| part.part_of.as_deref() == Some(&row.id));
        row.amount - parts.map(|part| part.amount).sum::<i64>()
    }

    /// Returns the transfers since a time that undo none and are not undone.
    fn counted(&self, since: i64) -> impl Iterator<Item = &TransferRow> {
        let is_plain = |row: &TransferRow| row.reverses.is_none() && row.part_of.is_none();
        self.rows.iter().filter(move |row| row.at >= since && is_plain(row) && !self.is_undone(&row.id))
    }

    fn chain(&self, chain: &str) -> Vec<(String, i64)> {
        let mut rows: Vec<_> = self.rows.iter().filter(|row| row.chain == chain && !self.is_undone(&row.id)).collect();
        rows.sort_by_key(|row| (row.id.len(), &row.id));
        rows.into_iter().map(|row| (row.id.clone(), self.rest(row))).collect()
    }

    fn moved(&self, account: &str, since: i64) -> i64 {
        let times = |row: &TransferRow| i64::from(row.debit == account) + i64::from(row.credit == account);
        self.counted(since).map(|row| times(row) * self.rest(row)).sum()
    }

    fn sum(&self, time: &Range<i64>, is_counted: impl Fn(&TransferRow) -> bool) -> [i64; 2] {
        let rows = self.rows.iter().filter(|row| time.contains(&row.at) && is_counted(row));
        rows.fold([0, 0], |[count, sum], row| [count + 1, sum + row.amount])
    }

    fn turnover(&self, account: &str, time: &Range<i64>) -> [i64; 4] {
        let undoes = |row: &TransferRow| row.reverses.is_some() || row.part_of.is_some();
        let [credits, credited] = self.sum(time, |row| row.credit == account && !undoes(row));
        let [reversals, _] = self.sum(time, |row| row.debit == account && row.reverses.is_some());
        let [_, reversed] = self.sum(time, |row| row.debit == account && undoes(row));
        [credits, credited, reversals, reversed]
    }

    fn net(&self, account: &str, time: &Range<i64>) -> i64 {
        let [_, debits] = self.sum(time, |row| row.debit == account);
        let [_, credits] = self.sum(time, |row| row.credit == account);
        debits - credits
    }

    fn own_movements(&self, customer: &str, since: i64) -> Vec<(String, i64, i64)> {
        let prefix = format!("customer/{customer}/");
        let of = |row: &TransferRow, account: &str| {
            Some((account.strip_prefix(&prefix)?.to_owned(), row.at, self.rest(row)))
        };
        let mut found: Vec<_> =
            self.counted(since).flat_map(|row| [of(row, &row.debit), of(row, &row.credit)]).flatten().collect();
        found.sort();
        found
    }

    fn rename(&mut self, customer: &str, alias: &str) {
        for account in self.rows.iter_mut().flat_map(|row| [&mut row.debit, &mut row.credit]) {
            let is_own =
                *account == format!("customer/{customer}") || account.starts_with(&format!("customer/{customer}/"));
            if is_own {
                *account = account.replacen(customer, alias, 1);
            }
        }
    }

    /// Makes the transfers of a new chain: units move, or another transfer is undone whole or in part.
    fn draw(&mut self, draws: &mut LedgerDraws, prefix: &str) -> Vec<TransferRow> {
        self.chains += 1;
        let (chain, at) = (format!("{prefix}{}", self.chains), draws.time());
        let part = self.rows.get(draws.below(self.rows.len().max(1))).cloned();
        match (draws.below(3), part) {
            (0, Some(of)) => {
                let is_whole = draws.below(2) == 0;
                let amount = if is_whole { self.rest(&of) } else { self.rest(&of).min(1) };
                let (whole, part) = (is_whole.then(|| of.id.clone()), (!is_whole).then(|| of.id.clone()));
                let (debit, credit, id) = (of.credit, of.debit, format!("{chain}.0"));
                vec![TransferRow { id, chain, debit, credit, amount, reverses: whole, part_of: part, at }]
            }
            _ => {
                let row = |number: usize| {
                    let [debit, credit] = PAIRS[draws.below(PAIRS.len())].map(str::to_owned);
                    let amount = i64::try_from(draws.below(9)).unwrap() + 1;
                    let (id, chain) = (format!("{chain}.{number}"), chain.clone());
                    TransferRow { id, chain, debit, credit, amount, reverses: None, part_of: None, at }
                };
                (0..12).take(1 + self.chains % 12).map(row).collect()
            }
        }
    }

    /// Tests if the ledger must refuse these transfers.
    fn refuses(&self, rows: &[TransferRow]) -> bool {
        let is_stored = |row: &TransferRow| self.rows.iter().any(|known| known.id == row.id);
        rows.iter().any(|row| is_stored(row) || row.reverses.as_deref().is_some_and(|of| self.is_undone(of)))
    }
}

/// Compares every read of the ledger with the model.
fn check(sql: &Sqlite, model: &TransferList, draws: &mut LedgerDraws) {
    let store = Store::new(sql);
    let since = draws.time();
    let time = since..draws.time().max(since) + 1;
    for account in COUNTED {
        // Nothing asks for the others' units since a time.
        if time_index(account) == TimeIndex::Own {
            assert_eq!(store.sum_moved(account, since).unwrap(), u64::try_from(model.moved(account, since)).unwrap());
        }
        let AccountTurnover { credits, credited, reversals, reversed } = store.sum_turnover(account, &time).unwrap();
        assert_eq!([credits, credited, reversals, reversed], model.turnover(account, &time), "{account}");
        let net = store.sum_debits_less_credits(account, account, &time).unwrap();
        assert_eq!(net, model.net(account, &time), "{account}");
        if account.starts_with("card/") {
            let rises = store.sum_rises(&[(*account).to_owned()], std::slice::from_ref(&time)).unwrap();
            assert_eq!(rises[0][*account], -net, "{account}");
        }
    }
    for customer in ["ann", "anna", "none"] {
        let found = list_own_movements(&store, customer, since, 100_000).unwrap().into_iter();
        let mut found: Vec<_> =
            found.map(|own| (own.account, own.at.unwrap(), i64::try_from(own.units).unwrap())).collect();
        found.sort();
        assert_eq!(found, model.own_movements(customer, since), "{customer}");
    }
    let chain = model.rows.get(draws.below(model.rows.len().max(1))).map_or("none", |row| &row.chain);
    let found = store.list_chain(chain).unwrap().into_iter().map(|row| (row.id, row.amount));
    assert_eq!(found.collect::<Vec<_>>(), model.chain(chain), "{chain}");
}

/// Compares each balance with its transfers, and the transfers with the model.
fn check_all(sql: &Sqlite, model: &TransferList) {
    let rows = sql.run("SELECT id, debit, credit, amount, at FROM every_transfer ORDER BY id", &[]).unwrap();
    let mut known: Vec<_> = model.rows.iter().collect();
    known.sort_by_key(|row| &row.id);
    let known = known.into_iter().map(|row| -> Vec<SqlValue> {
        vec![
            row.id.as_str().into(),
            row.debit.as_str().into(),
            row.credit.as_str().into(),
            row.amount.into(),
            row.at.into(),
        ]
    });
    assert_eq!(rows, known.collect::<Vec<_>>());
    let mut balances: BTreeMap<&str, i64> = BTreeMap::new();
    for row in &model.rows {
        *balances.entry(&row.debit).or_default() -= row.amount;
        *balances.entry(&row.credit).or_default() += row.amount;
    }
    for row in sql.run("SELECT id, balance FROM account", &[]).unwrap() {
        let account = sql::text(&row, 0).unwrap();
        let balance = balances.remove(account).unwrap_or(0);
        if keeping_of_balance(account) != Keeping::Never {
            assert_eq!(sql::int(&row, 1).unwrap(), balance, "{account}");
        }
    }
    balances.retain(|account, _| keeping_of_balance(account) != Keeping::Never);
    assert!(balances.is_empty(), "accounts without a row: {balances:?}");
}

/// Posts transfers as a call does; a refused call leaves nothing.
fn post(sql: &Sqlite, rows: &[TransferRow]) -> Result<(), Fault> {
    sql.transaction(|sql| {
        let mut store = Store::new(sql);
        store.post(rows.to_vec());
        store.flush()
    })
}

fn context() -> Context {
    Context { now: Instant::from_millis(HOURS * HOUR_MS).unwrap(), seed: [7; 32], first_number: None }
}

/// Runs a slice of the job that is next, as the alarm does.
fn run_slice(sql: &Sqlite, rows: u64) -> Result<(), Fault> {
    sql.transaction(|sql| run_due(&mut Store::new(sql), &context(), rows))
}

fn is_moving(sql: &Sqlite) -> bool {
    !sql.run("SELECT 1 FROM sqlite_schema WHERE name = 'former_transfer'", &[]).unwrap().is_empty()
}

/// The statement by which the version before wrote transfers.
const FORMER: &str = "INSERT INTO transfer (id, chain, debit, credit, amount, reverses, at, part_of)
     SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7 FROM json_each(?1)";
const FORMER_BALANCES: &str = "INSERT INTO account (id, balance) SELECT id, SUM(amount) FROM (
       SELECT debit AS id, -amount AS amount FROM transfer UNION ALL SELECT credit, amount FROM transfer) GROUP BY id";

fn insert_former(sql: &Sqlite, rows: &[TransferRow]) {
    let row = |row: &TransferRow| {
        json!([row.id, row.chain, row.debit, row.credit, row.amount, row.reverses, row.at, row.part_of])
    };
    let rows: Json = rows.iter().map(row).collect();
    sql.run(FORMER, &[rows.to_string().into()]).unwrap();
}

/// Makes a database of the version before, with the transfers of the model.
fn former_database(model: &TransferList) -> Sqlite {
    let sql = Sqlite::memory().unwrap();
    migrate_before(&sql, "0051_transfer_chains").unwrap();
    model.rows.chunks(2_000).for_each(|rows| insert_former(&sql, rows));
    sql.run(FORMER_BALANCES, &[]).unwrap();
    sql
}

#[test]
fn the_ledger_is_the_same_before_while_and_after_its_transfers_move() {
    let mut refused = 0;
    for seed in 1..=3 {
        let mut draws = LedgerDraws(seed ^ 0x9E37_79B9_7F4A_7C15);
        let mut model = TransferList::default();
        while model.rows.len() < 250 {
            let rows = model.draw(&mut draws, "f_");
            if !model.refuses(&rows) {
                model.rows.extend(rows);
            }
        }
        let mut sql = former_database(&model);
        sql.transaction(|sql| Store::open(sql, 0).map(drop)).unwrap();
        let (mut slices, mut after) = (0, 0);
        while after < 40 {
            match draws.below(5) {
                0 if is_moving(&sql) => {
                    run_slice(&sql, 1 + u64::try_from(draws.below(200)).unwrap()).unwrap();
                    slices += 1;
                }
                1 => {
                    // A sudden end in the middle of a slice, and a start.
                    let undone = sql.transaction(|sql| {
                        run_due(&mut Store::new(sql), &context(), 400)?;
                        Err::<(), _>(Fault::new("the process ends"))
                    });
                    assert!(undone.is_err());
                    sql = Sqlite::of_image(&sql.image().unwrap()).unwrap();
                    sql.transaction(|sql| Store::open(sql, 0).map(drop)).unwrap();
                }
                2 if draws.below(10) == 0 => {
                    let alias = format!("gone_{seed}_{}", model.chains);
                    let customer = ErasedCustomer { id: "ann", alias: &alias };
                    let erase = |sql: &Sqlite| {
                        let mut store = Store::new(sql);
                        let has_more = rename_accounts(&mut store, customer, 7)?;
                        store.flush().map(|()| has_more)
                    };
                    while sql.transaction(erase).unwrap() {}
                    model.rename("ann", &alias);
                    let named = "SELECT 1 FROM every_transfer WHERE debit GLOB 'customer/ann*' AND debit NOT GLOB 'customer/anna*'";
                    assert!(sql.run(named, &[]).unwrap().is_empty());
                }
                _ => {
                    let rows = match draws.below(8) {
                        // A chain that is stored already.
                        0 => vec![model.rows[draws.below(model.rows.len())].clone()],
                        _ => model.draw(&mut draws, "n_"),
                    };
                    let is_refused = model.refuses(&rows);
                    assert_eq!(post(&sql, &rows).is_err(), is_refused, "{rows:?}");
                    refused += usize::from(is_refused);
                    if !is_refused {
                        model.rows.extend(rows);
                    }
                }
            }
            check(&sql, &model, &mut draws);
            after += usize::from(!is_moving(&sql));
        }
        check_all(&sql, &model);
        assert!(slices > 5, "{slices} slices");
        assert!(sql.run("SELECT 1 FROM due", &[]).unwrap().is_empty(), "the job has ended");
    }
    assert!(refused > 20, "{refused} were refused");
}

/// Makes transfers of other vouchers and customers, in chains of three.
fn others(from: usize, count: usize) -> Vec<TransferRow> {
    let row = |number: usize| {
        let chain = format!("o_{}", number / 3);
        let (debit, credit) = match number % 3 {
            0 => (format!("voucher/o_{number}/redemptions"), "project/redeemed".to_owned()),
            1 => (format!("customer/o_{number}/of/v"), format!("customer/o_{number}")),
            _ => (format!("order/o_{number}/paid_with_points"), "project/paid_with_points".to_owned()),
        };
        let at = i64::try_from(number % 40).unwrap() * HOUR_MS;
        TransferRow {
            id: format!("{chain}.{}", number % 3),
            chain,
            debit,
            credit,
            amount: 1,
            reverses: None,
            part_of: None,
            at,
        }
    };
    (from..from + count).map(row).collect()
}

/// The steps of each read of the ledger, of a slice of the move and of a renaming, in a ledger with so many transfers in both tables.
fn steps_of_reads(count: usize) -> Vec<(&'static str, u64)> {
    let mut draws = LedgerDraws(11);
    let mut model = TransferList::default();
    while model.rows.len() < 60 {
        let rows = model.draw(&mut draws, "f_");
        if !model.refuses(&rows) {
            model.rows.extend(rows);
        }
    }
    let sql = former_database(&model);
    others(0, count).chunks(2_000).for_each(|rows| insert_former(&sql, rows));
    sql.transaction(|sql| Store::open(sql, 0).map(drop)).unwrap();
    post(&sql, &others(count * 3, count)).unwrap();
    let new = [TransferRow { id: "n.0".into(), chain: "n".into(), ..model.rows[0].clone() }];
    let store = Store::new(&sql);
    let time = 0..HOURS * HOUR_MS;
    let query = OrderHistoryQuery {
        order_id: "none",
        customer_id: "none",
        earning_key: "order/none",
        payments: "order/none/paid_with_points",
    };
    let mut steps = Vec::new();
    let mut measure = |name: &'static str, act: &dyn Fn()| {
        sql.take_steps();
        act();
        steps.push((name, sql.take_steps()));
    };
    measure("chain", &|| drop(store.list_chain("f_1").unwrap()));
    measure("moved", &|| assert!(store.sum_moved("customer/ann/of/v_1", 0).unwrap() > 0));
    measure("turnover", &|| assert!(store.sum_turnover("campaign/camp/redeemed", &time).is_ok()));
    measure("turnover beside", &|| assert!(store.sum_turnover("orders/camp", &time).is_ok()));
    measure("net beside", &|| {
        let account = "channel/key/of/v_1";
        assert_ne!(store.sum_debits_less_credits(account, account, &time).unwrap(), 0);
    });
    measure("net", &|| assert_ne!(store.sum_debits_less_credits("card/k/earned", "card/k/earned", &time).unwrap(), 0));
    measure("rises", &|| drop(store.sum_rises(&["card/k/earned".into()], std::slice::from_ref(&time)).unwrap()));
    measure("own movements", &|| drop(list_own_movements(&store, "ann", 0, 100_000).unwrap()));
    measure("order history", &|| drop(store.find_order_history(&query).unwrap()));
    measure("payments", &|| drop(store.list_refundable_payments(query.payments).unwrap()));
    measure("post", &|| post(&sql, &new).unwrap());
    measure("renaming", &|| {
        let mut store = Store::new(&sql);
        rename_accounts(&mut store, ErasedCustomer { id: "ann", alias: "gone" }, 1_000).unwrap();
        store.flush().unwrap();
    });
    measure("slice", &|| run_slice(&sql, 400).unwrap());
    steps
}

#[test]
fn no_read_of_the_ledger_costs_more_among_ten_times_the_transfers() {
    let (few, many) = (steps_of_reads(2_000), steps_of_reads(20_000));
    for ((name, few), (_, many)) in few.into_iter().zip(many) {
        assert!(many <= few + few / 10 + 20, "{name}: {few} steps, and {many} among ten times the transfers");
    }
}
