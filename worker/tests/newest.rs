//! What a version makes of a database that a later one wrote, and how the tools that restore an archive know which ones those are.
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a test may fail loudly")]

use scrip_worker::store::schema::{KNOWN, migrate};
use scrip_worker::store::sql::{Fault, Sql};
use scrip_worker::store::sqlite::Sqlite;

#[test]
fn the_number_of_steps_stands_in_the_file_that_the_tools_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/schema/newest.txt");
    if std::env::var("UPDATE").is_ok_and(|update| update == "1") {
        std::fs::write(path, format!("{KNOWN}\n")).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap();
    assert_eq!(written.trim(), KNOWN.to_string(), "UPDATE=1 writes it");
}

#[test]
fn a_database_of_a_later_version_is_refused() {
    let sql = Sqlite::memory().unwrap();
    assert!(migrate(&sql, 0).unwrap());
    assert!(!migrate(&sql, 0).unwrap());
    let later = i64::try_from(KNOWN).unwrap() + 1;
    sql.run("INSERT INTO migration VALUES (?1, 0)", &[later.into()]).unwrap();
    let Fault(told) = migrate(&sql, 0).unwrap_err();
    assert!(told.contains("a later version wrote the database"), "{told}");
}
