//! Tests that cached data of programs is current: the tables generate a new revision with every change of its sources, by every writer.

use scrip_worker::domain::loyalty_programs::kinds::{CARD_DEFINITION, EARNING_RULE, PROGRAM, TIER, TIER_STRUCTURE};
use scrip_worker::store::schema::migrate;
use scrip_worker::store::sql::{Fault, Sql};
use scrip_worker::store::sqlite::Sqlite;

#[test]
fn a_change_of_a_program_source_generates_a_new_revision() {
    let sql = Sqlite::memory().unwrap();
    migrate(&sql, 0).unwrap();
    let edition = || sql.run("SELECT drawn FROM edition", &[]).unwrap();
    let assigned = [EARNING_RULE.assigned.unwrap(), TIER_STRUCTURE.assigned.unwrap()];
    let stored = [PROGRAM.stored, EARNING_RULE.stored, CARD_DEFINITION.stored, TIER_STRUCTURE.stored, TIER];
    let changes = [
        "INSERT INTO document (kind, id, created_at, body) VALUES (?1, 'x', 0, '{}')",
        "UPDATE document SET body = '[]' WHERE kind = +?1",
        "UPDATE document SET kind = 'deleted.' || ?1 WHERE kind = +?1",
        "UPDATE document SET kind = ?1 WHERE kind = 'deleted.' || ?1",
        "DELETE FROM document WHERE kind = +?1",
    ];
    for kind in stored.into_iter().chain(assigned) {
        for change in changes {
            let before = edition();
            let undone = sql.transaction(|sql| {
                sql.run(change, &[kind.into()])?;
                Err::<(), _>(Fault(format!("{:?}", sql.run("SELECT drawn FROM edition", &[])?)))
            });
            assert_eq!(edition(), before, "{kind}: {change} undone");
            sql.run(change, &[kind.into()]).unwrap();
            assert_ne!(edition(), before, "{kind}: {change}");
            assert_ne!(undone.unwrap_err().0, format!("{:?}", edition()), "{kind}: {change} comes again");
        }
    }
    let before = edition();
    changes.iter().for_each(|change| drop(sql.run(change, &["order".into()]).unwrap()));
    assert_eq!(edition(), before);
}
