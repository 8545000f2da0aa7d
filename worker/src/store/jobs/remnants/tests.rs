//! Tests that no bytes of deleted rows stay in the database files, for rows of many lengths.

#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test may fail loudly"
)]

use super::*;
use crate::store::record_tables::record_table;
use crate::store::sql::{Sql, SqlValue};
use crate::store::sqlite::Sqlite;
use std::path::PathBuf;

/// Temporary folder, deleted with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("scrip-remnants-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Tests if a text is in a file of the database.
    fn holds(&self, text: &str) -> bool {
        std::fs::read_dir(&self.0).unwrap().any(|entry| {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Reproducible pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// Returns the unique personal data of a row.
fn name(row: usize) -> String {
    format!("person-{row}-{:x}@example.com", row.wrapping_mul(7_919).wrapping_add(104_729))
}

/// Returns JSON of about `bytes` bytes with personal data.
fn body(row: usize, bytes: usize) -> String {
    let filler = "x".repeat(bytes / 2);
    format!("{{\"a\":\"{filler}\",\"email\":\"{}\",\"b\":\"{filler}\"}}", name(row))
}

fn commit(sql: &Sqlite, write: impl FnOnce(&mut Store<'_>)) {
    sql.transaction(|sql| {
        let mut store = Store::new(sql);
        write(&mut store);
        store.flush()
    })
    .unwrap();
}

fn insert(table: PagedTable, seq: i64, text: String) -> (String, Vec<SqlValue>) {
    let columns = match table.name {
        "document" => "kind, id, created_at) SELECT ?1, ?2, 'order', 'ord_' || ?1, 1700000000000 + ?1",
        "answer" => {
            "name, caller, request, key, body_hash, status, headers, created_at, bytes) SELECT ?1, ?2, hex(randomblob(32)), 'caller', 'POST', 'key' || ?1, hex(randomblob(32)), 200, '{}', 1700000000000 + ?1, length(?2)"
        }
        "orders" => "id, created_at) SELECT ?1, ?2, 'ord_' || ?1, 1700000000000 + ?1",
        _ => {
            "id, webhook, entity, type, created_at, at, attempts) SELECT ?1, ?2, 'let_' || ?1, 'web', 'ord_' || ?1, 'order.created', 1700000000000 + ?1, 1700000000000, 0"
        }
    };
    (format!("INSERT INTO {} (seq, body, {columns}", table.name), vec![seq.into(), text.into()])
}

/// Writes, changes and deletes rows, and checks that deleted ones leave no bytes.
fn check_no_remnants(table: PagedTable, seed: u64) {
    const ROWS: usize = 120;
    let folder = Folder::new(&format!("{}-{seed}", table.name));
    let sql = Sqlite::file(&folder.0.join("file.sqlite")).unwrap();
    let mut numbers = Numbers(seed);
    sql.transaction(|sql| Store::open(sql, 0).map(|_| ())).unwrap();
    let start = 10_i64;
    let seq = |row: usize| start + i64::try_from(row).unwrap();
    let sizes = [200, 900, 2_500, 4_200, 9_000];
    // The first page of a table keeps its content when the table outgrows it: documents, responses and records have filler rows there, records from their migration on.
    for place in (1..=3_i64).filter(|_| table.name != "orders") {
        let (statement, params) = insert(table, start - place, format!("{{\"nothing\":\"{}\"}}", "0".repeat(3_800)));
        commit(&sql, |store| store.write(statement, params));
    }
    for row in 0..ROWS {
        let bytes = sizes[numbers.below(sizes.len())] + numbers.below(300);
        commit(&sql, |store| {
            let (statement, params) = insert(table, seq(row), body(row, bytes));
            store.write(statement, params);
        });
        let again = numbers.below(row + 1);
        let bytes = sizes[numbers.below(sizes.len())] + numbers.below(300);
        commit(&sql, |store| {
            store.write(
                format!("UPDATE {} SET body = ?2 WHERE seq = +?1", table.name),
                vec![seq(again).into(), body(again, bytes).into()],
            );
            record_size(store).unwrap();
        });
    }
    let gone: Vec<usize> = (0..ROWS).filter(|_| numbers.below(6) == 0).collect();
    assert!(gone.iter().all(|row| folder.holds(&name(*row))), "nothing is found before: the search is wrong");
    let mut ranges = Vec::new();
    commit(&sql, |store| {
        for row in &gone {
            let blank =
                format!("UPDATE {} SET body = printf('%-*s', octet_length(body), '{{}}') WHERE seq = +?1", table.name);
            store.write(blank, vec![seq(*row).into()]);
            touch(&mut ranges, seq(*row));
        }
    });
    while !ranges.is_empty() {
        commit(&sql, |store| overwrite_next(store, table, &mut ranges, 100).unwrap());
    }
    fill_all(&sql);
    let left: Vec<String> = gone.iter().map(|row| name(*row)).filter(|name| folder.holds(name)).collect();
    assert!(left.is_empty(), "{}, {seed}: {} of {}: {left:?}", table.name, left.len(), gone.len());
    for row in (0..ROWS).filter(|row| !gone.contains(row)) {
        let found =
            sql.run(&format!("SELECT body ->> '$.email' FROM {} WHERE seq = +?1", table.name), &[seq(row).into()]);
        assert_eq!(found.unwrap(), [[SqlValue::Text(name(row))]]);
    }
}

/// Runs the job to its end; returns the largest size of the database.
fn fill_all(sql: &Sqlite) -> i64 {
    let (mut left, mut most) = (Some(LOG_STEPS), 0);
    while let Some(steps) = left {
        commit(sql, |store| {
            record_size(store).unwrap();
            left = fill(store, steps).unwrap();
        });
        most = most.max(sql.bytes().unwrap());
    }
    most
}

#[test]
fn the_file_grows_once() {
    let sql = Sqlite::memory().unwrap();
    sql.transaction(|sql| Store::open(sql, 0).map(|_| ())).unwrap();
    commit(&sql, |store| record_size(store).unwrap());
    let first = fill_all(&sql);
    assert!(first < sql.bytes().unwrap() + 12_000_000, "{first}");
    for _ in 0..20 {
        let next = fill_all(&sql);
        assert!(next <= first + 8_192, "{next} after {first}");
    }
}

#[test]
fn overwritten_rows_leave_no_bytes() {
    let orders = records(record_table("order").unwrap());
    for table in [DOCUMENTS, RESPONSES, DELIVERIES, orders] {
        for seed in 1..=2 {
            check_no_remnants(table, seed);
        }
    }
}

#[test]
fn the_columns_are_those_of_the_tables() {
    let sql = Sqlite::memory().unwrap();
    Store::open(&sql, 0).unwrap();
    let orders = records(record_table("order").unwrap());
    for PagedTable { name, texts, numbers } in [DOCUMENTS, RESPONSES, DELIVERIES, orders] {
        let of = |kind: &str| -> Vec<String> {
            let statement = format!(
                "SELECT name FROM pragma_table_info('{name}') WHERE type = '{kind}' AND name NOT IN ('seq', 'body') ORDER BY name"
            );
            sql.run(&statement, &[]).unwrap().iter().map(|row| sql::text(row, 0).unwrap().to_owned()).collect()
        };
        let sorted = |columns: &[&str]| {
            let mut columns: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
            columns.sort();
            columns
        };
        assert_eq!((of("TEXT"), of("INTEGER")), (sorted(texts), sorted(numbers)), "{name}");
    }
}
