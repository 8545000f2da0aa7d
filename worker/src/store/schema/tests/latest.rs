//! Tests the latest migrations that move rows or change what a row brings about: users of organisations, and what is in bundles. Also the
//! guard of the native driver against statements that no index serves.

use super::*;
use crate::store::sqlite::REMEMBERED_MAX;

#[test]
fn users_become_users_of_the_organisations_of_their_projects() {
    let sql = before("0030_organisation_users");
    let insert = |kind: &str, id: &str, key: &str, parent: &str, holder: &str, body: &str| {
        insert_document(
            &sql,
            kind,
            id,
            [key, parent, holder].map(|column| Some(column).filter(|text| !text.is_empty())),
            body,
        );
    };
    insert("project", "one", "", "", "", "{}");
    insert("project", "two", "", "", "", "{}");
    insert("project", "made", "", "one", "", "{}");
    let user = |id: &str, login: &str, projects: &str| {
        let body = format!(r#"{{"id":"{id}","login":"{login}","projects":{projects}}}"#);
        insert("user", id, login, "", "", &body);
    };
    user("user_a", "a@x", r#"{"one":"ADMIN","made":"USER"}"#);
    user("user_b", "b@x", r#"{"made":"VIEWER","two":"USER"}"#);
    // The user was removed from the second project, which has a key for the login: the key has no permissions, and gains none.
    user("user_c", "c@x", r#"{"one":"USER"}"#);
    insert("key", "k1", "", "two", "made", r#"{"user":"c@x"}"#);
    // The setup of the second project names a login that only the first one has invited.
    user("user_d", "d@x", r#"{"one":"USER"}"#);
    insert("key", "k2", "", "two", "", r#"{"user":"d@x"}"#);
    user("user_e", "e@x", "{}");
    insert("key", "k3", "", "made", "", r#"{"user":"e@x"}"#);
    user("user_f", "f@x", "{}");
    migrate(&sql, 0).unwrap();
    let found = sql
        .run("SELECT key, parent, id = body ->> 'id', id GLOB 'user_?', body -> 'projects' FROM document WHERE kind = 'user' ORDER BY key", &[])
        .unwrap();
    let row = |key: &str, parent: &str, kept: i64, projects: &str| -> Vec<SqlValue> {
        vec![key.into(), parent.into(), 1.into(), kept.into(), projects.into()]
    };
    let expected: Vec<SqlRow> = vec![
        row("one/a@x", "one", 1, r#"{"one":"ADMIN","made":"USER"}"#),
        row("one/b@x", "one", 1, r#"{"made":"VIEWER"}"#),
        row("one/c@x", "one", 1, r#"{"one":"USER"}"#),
        row("one/d@x", "one", 1, r#"{"one":"USER"}"#),
        row("one/e@x", "one", 1, "{}"),
        row("two/b@x", "two", 0, r#"{"two":"USER"}"#),
        row("two/c@x", "two", 0, "{}"),
    ];
    assert_eq!(found, expected);
}

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
    let sql = before("0039_voucher_visibility");
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

#[test]
fn codes_that_are_used_up_are_marked_and_left_out_of_the_index() {
    let sql = before("0044_used_codes");
    let code = |id: &str, body: &str| insert_document(&sql, "voucher", id, [None, Some("camp_1"), None], body);
    let once = r#"{"redemption":{"quantity":1}}"#;
    let account = |id: &str, balance: i64| {
        let statement = "INSERT INTO account (id, balance) VALUES ('voucher/' || ?1 || '/redemptions', ?2)
                         ON CONFLICT (id) DO UPDATE SET balance = excluded.balance";
        sql.run(statement, &[id.into(), balance.into()]).unwrap();
    };
    let marked = || {
        let rows = sql.run("SELECT id FROM document WHERE used_up IS NOT NULL ORDER BY id", &[]).unwrap();
        rows.into_iter().flatten().collect::<Vec<SqlValue>>()
    };
    let ids = |ids: &[&str]| ids.iter().map(|id| SqlValue::from(*id)).collect::<Vec<SqlValue>>();
    code("v_1", once);
    code("v_2", once);
    code("v_3", r#"{"redemption":{"quantity":null}}"#);
    code("v_card", r#"{"gift":{"amount":500},"redemption":{"quantity":null}}"#);
    account("v_1", -1);
    account("v_3", -1);
    account("v_card", 0);
    assert!(!migrate(&sql, 0).unwrap());
    assert_eq!(marked(), ids(&["v_1", "v_card"]));
    // The last redemption, its rollback, and the card's.
    account("v_2", -1);
    assert_eq!(marked(), ids(&["v_1", "v_2", "v_card"]));
    account("v_2", 0);
    account("v_card", -1);
    account("v_card", 0);
    assert_eq!(marked(), ids(&["v_1", "v_card"]));
    account("v_2", -1);
    assert_eq!(marked(), ids(&["v_1", "v_2", "v_card"]));
    // More redemptions, and a change that gives none.
    let change = "UPDATE document SET body = json_set(body, ?2, ?3) WHERE id = ?1";
    sql.run(change, &["v_1".into(), "$.redemption.quantity".into(), 5.into()]).unwrap();
    sql.run(change, &["v_2".into(), "$.active".into(), 1.into()]).unwrap();
    assert_eq!(marked(), ids(&["v_2", "v_card"]));
    let plan = "EXPLAIN QUERY PLAN SELECT id FROM document INDEXED BY document_free
                WHERE kind = 'voucher' AND holder IS NULL AND used_up IS NULL AND parent = +?1 ORDER BY seq LIMIT 1";
    let plan = sql.run(plan, &["camp_1".into()]).unwrap();
    assert!(format!("{plan:?}").contains("USING INDEX document_free (parent=?)"), "{plan:?}");
}

#[test]
fn earlier_goods_have_no_sets_and_the_bundle_is_rebuilt() {
    let sql = before("0045_goods_sets");
    sql.run("INSERT INTO goods_tree (id, buckets, names, root, shown) VALUES (1, 2, 3, 'root', 'shown')", &[]).unwrap();
    let former = bundle_revision(&sql);
    migrate(&sql, 0).unwrap();
    assert_ne!(bundle_revision(&sql), former);
    let row = sql.run("SELECT buckets, names, root, shown, sets FROM goods_tree", &[]).unwrap();
    let expected: [SqlValue; 5] = [2_i64.into(), 3_i64.into(), "root".into(), "shown".into(), "{}".into()];
    assert_eq!(row, [expected.to_vec()]);
}

#[test]
fn removals_that_wait_are_still_made() {
    let sql = before("0046_bundle_copying");
    sql.run("INSERT INTO bundle_removal (hash) VALUES ('gone'), ('again')", &[]).unwrap();
    migrate(&sql, 0).unwrap();
    let part = |statement: &str| sql.run(statement, &[]).unwrap();
    let removals = || part("SELECT hash, is_sent, is_settled FROM bundle_removal ORDER BY hash");
    let row = |hash: &str, is_sent: i64, is_settled: i64| vec![hash.into(), is_sent.into(), is_settled.into()];
    part("INSERT INTO bundle_part (hash, body) VALUES ('again', '{}')");
    assert_eq!(removals(), [row("gone", 0, 0)]);
    // One that was sent may arrive late, so it is remembered where the part is there again.
    part("UPDATE bundle_removal SET is_sent = 1");
    part("INSERT INTO bundle_part (hash, body) VALUES ('gone', '{}')");
    assert_eq!(removals(), [row("gone", 1, 1)]);
    part("DELETE FROM bundle_part");
    assert_eq!(removals(), [row("again", 0, 0), row("gone", 1, 0)]);
    assert_eq!(part("SELECT is_open, repeat_at FROM bundle_copying"), [vec![0.into(), SqlValue::Null]]);
}

#[test]
fn the_days_of_the_newest_input_become_those_of_the_project() {
    let sql = before("0049_replay_setting");
    let insert =
        "INSERT INTO redemption_input (seq, redemption, created_at, days, bytes, body) VALUES (?1, 'r', 0, ?2, 0, '')";
    for (seq, days) in [(1_i64, 30_i64), (3, 5), (2, 60)] {
        sql.run(insert, &[seq.into(), days.into()]).unwrap();
    }
    migrate(&sql, 0).unwrap();
    let row: SqlRow = vec![1.into(), 5.into(), 0.into()];
    assert_eq!(sql.run("SELECT id, days, changed_ms FROM replay_setting", &[]).unwrap(), [row]);
    assert_eq!(sql.run("SELECT COUNT(*) FROM redemption_input", &[]).unwrap(), [vec![SqlValue::from(3)]]);
    let empty = Sqlite::memory().unwrap();
    migrate(&empty, 0).unwrap();
    assert!(empty.run("SELECT 1 FROM replay_setting", &[]).unwrap().is_empty());
}

fn latest() -> Sqlite {
    let sql = Sqlite::memory().unwrap();
    migrate(&sql, 0).unwrap();
    sql.take_scans();
    sql
}

#[test]
fn indexes_of_lists_of_earlier_versions_await_their_first_use() {
    let sql = before("0054_list_indexes");
    insert_document(&sql, "voucher", "v_1", [None, None, None], "{}");
    migrate(&sql, 0).unwrap();
    let waiting = sql.run("SELECT COUNT(*), MAX(used_day) FROM list_index", &[]).unwrap();
    assert_eq!(waiting, [vec![15.into(), 0.into()]]);
    let existing = sql
        .run("SELECT COUNT(*) FROM list_index CROSS JOIN sqlite_schema ON sqlite_schema.name = list_index.name", &[])
        .unwrap();
    assert_eq!(existing, [vec![15.into()]]);
    assert_eq!(sql.run("SELECT at FROM due WHERE id = 'sweep'", &[]).unwrap(), [vec![0.into()]]);
}

#[test]
fn a_named_index_that_is_read_whole_is_a_scan() {
    let sql = latest();
    let run = |condition: &str, index: &str| {
        let statement = format!("SELECT body FROM document INDEXED BY {index} WHERE kind = 'voucher' AND {condition}");
        sql.run(&statement, &["v_1".into()]).unwrap();
        sql.take_scans()
    };
    assert_eq!(run("id = +?1", "document_id"), [""; 0]);
    assert_eq!(run("parent = +?1 AND holder IS NULL AND used_up IS NULL", "document_free"), [""; 0]);
    let whole = run("parent IS NULL AND id = +?1", "document_open");
    assert!(whole.len() == 1 && whole[0].starts_with("SCAN document USING INDEX document_open: "), "{whole:?}");
    let by_kind = run("id = +?1", "document_created");
    assert!(by_kind.len() == 1 && by_kind[0].contains("(kind=?)"), "{by_kind:?}");
}

#[test]
fn the_driver_remembers_a_bounded_number_of_statements() {
    let sql = latest();
    for number in 0..REMEMBERED_MAX + 100 {
        let statement = format!(
            "SELECT {number} FROM document INDEXED BY document_open WHERE kind = 'voucher' AND parent IS NULL AND id = +?1"
        );
        sql.run(&statement, &["v_1".into()]).unwrap();
    }
    assert!((100..REMEMBERED_MAX).contains(&sql.count_planned()), "{}", sql.count_planned());
    assert_eq!(sql.take_scans().len(), REMEMBERED_MAX);
}

#[test]
fn a_repeated_tier_transaction_is_counted_again() {
    let sql = Sqlite::memory().unwrap();
    migrate(&sql, 0).unwrap();
    insert(&sql);
    let joined = "UPDATE document SET body = json_set(body, '$.type', 'UPGRADED') WHERE body ->> 'type' = 'JOINED'";
    sql.run(joined, &[]).unwrap();
    sql.run("DELETE FROM document WHERE body ->> 'type' = 'LEFT'", &[]).unwrap();
    counted(&sql);
    let details = sql.run("SELECT kind, count FROM statistic WHERE tier <> '' ORDER BY kind", &[]).unwrap();
    let row = |kind: &str, count: i64| -> SqlRow { vec![kind.into(), count.into()] };
    assert_eq!(details, [row("JOINED", 0), row("LEFT", 0), row("UPGRADED", 1)]);
}

#[test]
fn the_number_of_a_deleted_document_does_not_come_back() {
    let sql = latest();
    let insert = |id: &str| {
        let statement = "INSERT INTO document (seq, kind, id, created_at, body) VALUES ((SELECT seq FROM next_document), 'product', ?1, 0, '{}') RETURNING seq";
        sql::int(&sql.run(statement, &[id.into()]).unwrap()[0], 0).unwrap()
    };
    let (first, second) = (insert("a"), insert("b"));
    assert_eq!(second, first + 1);
    sql.run("DELETE FROM document WHERE kind = 'product'", &[]).unwrap();
    assert_eq!(insert("c"), second + 1);
    let recorded = sql.run("SELECT seq FROM sqlite_sequence WHERE name = 'document'", &[]).unwrap();
    assert_eq!(recorded, [vec![SqlValue::Int(1 << 50)]], "SQLite records no number");
}

#[test]
fn unlimited_vouchers_are_listed_after_each_change() {
    let sql = latest();
    let change = |statement: &str| {
        sql.run(statement, &[]).unwrap();
        let rows = |select: &str| sql.run(select, &[]).unwrap();
        let expected = rows(
            "SELECT created_at, seq FROM document WHERE kind = 'voucher' AND parent IS NULL AND holder IS NULL AND json_extract(body, '$.visibility') IS NULL
               AND json_extract(body, '$.redemption.quantity') IS NULL AND json_extract(body, '$.type') = 'DISCOUNT_VOUCHER' ORDER BY 1, 2",
        );
        assert_eq!(rows("SELECT created_at, seq FROM unlimited_voucher ORDER BY 1, 2"), expected, "{statement}");
        expected.len()
    };
    let insert = |id: i64, body: &str| {
        change(&format!(
            "INSERT INTO document (seq, kind, id, created_at, body) VALUES ((SELECT seq FROM next_document), 'voucher', 'v_{id}', {id}, '{body}')"
        ))
    };
    assert_eq!(insert(1, r#"{"type":"DISCOUNT_VOUCHER"}"#), 1);
    assert_eq!(insert(2, r#"{"type":"DISCOUNT_VOUCHER","redemption":{"quantity":1}}"#), 1);
    assert_eq!(insert(3, r#"{"type":"GIFT_VOUCHER"}"#), 1);
    assert_eq!(insert(4, "{}"), 1);
    let update = |set: &str, id: i64| change(&format!("UPDATE document SET {set} WHERE id = 'v_{id}'"));
    assert_eq!(update("body = json_set(body, '$.updated_at', 'now')", 1), 1);
    assert_eq!(update("body = json_remove(body, '$.redemption.quantity')", 2), 2);
    assert_eq!(update("body = json_set(body, '$.type', 'DISCOUNT_VOUCHER')", 4), 3);
    assert_eq!(update("holder = 'c_1'", 1), 2);
    assert_eq!(update("kind = 'deleted.voucher'", 2), 1);
    assert_eq!(update("kind = 'voucher'", 2), 2);
    assert_eq!(update("body = json_set(body, '$.visibility', 'server')", 4), 1);
    assert_eq!(change("DELETE FROM document WHERE id = 'v_2'"), 0);
    assert_eq!(update("holder = NULL", 1), 1);
}
