//! Tests of the steps by which changes of documents change the bundle.

use super::*;

/// The revision of the bundle.
fn bundle_revision(sql: &dyn Sql) -> Vec<SqlRow> {
    sql.run("SELECT drawn FROM edition WHERE subject = 'bundle'", &[]).unwrap()
}

#[test]
fn vouchers_that_are_set_to_be_visible_change_the_bundle() {
    let insert = |sql: &Sqlite, id: &str, visibility: &str| {
        let statement = "INSERT INTO document (kind, id, created_at, body) VALUES ('voucher', ?1, 5, json_object('visibility', ?2))";
        sql.run(statement, &[id.into(), visibility.into()]).unwrap();
    };
    let sql = before("0040_voucher_visibility");
    let former = bundle_revision(&sql);
    insert(&sql, "v_before", "public");
    assert_eq!(bundle_revision(&sql), former);
    migrate(&sql, 0).unwrap();
    let migrated = bundle_revision(&sql);
    assert_ne!(migrated, former);
    insert(&sql, "v_server", "server");
    assert_eq!(bundle_revision(&sql), migrated);
    insert(&sql, "v_sealed", "sealed");
    let sealed = bundle_revision(&sql);
    assert_ne!(sealed, migrated);
    sql.run("UPDATE document SET body = json_object('visibility', 'server') WHERE id = 'v_before'", &[]).unwrap();
    let narrowed = bundle_revision(&sql);
    assert_ne!(narrowed, sealed);
    sql.run("DELETE FROM document WHERE id = 'v_server'", &[]).unwrap();
    assert_eq!(bundle_revision(&sql), narrowed);
    sql.run("DELETE FROM document WHERE id = 'v_sealed'", &[]).unwrap();
    assert_ne!(bundle_revision(&sql), narrowed);
}
