//! Tests the refusal of a database that a later version wrote, and the version number for the tools that restore archives.

use scrip_worker::store::schema::{KNOWN, migrate};
use scrip_worker::store::sql::{Fault, Sql};
use scrip_worker::store::sqlite::Sqlite;

#[test]
fn the_version_file_has_the_number_of_migrations() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/schema/version.txt");
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
    let Fault(message) = migrate(&sql, 0).unwrap_err();
    assert!(message.contains("a later version wrote the database"), "{message}");
}
