//! Tests that a migrated database equals a new one.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use super::*;
use crate::store::document_columns::COLUMNS;
use crate::store::sql::{SqlRow, SqlValue};
use crate::store::sqlite::Sqlite;

mod files;
mod latest;

/// The database of a version with a number of migrations.
fn of_version(count: usize) -> Sqlite {
    let sql = Sqlite::memory().unwrap();
    sql.run("CREATE TABLE migration (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL)", &[]).unwrap();
    for (migration, version) in MIGRATIONS.iter().take(count).zip(1_i64..) {
        migration.run(&sql, version, 0).unwrap();
    }
    sql
}

/// The database before the migration of a name.
fn before(name: &str) -> Sqlite {
    of_version(MIGRATIONS.iter().position(|migration| migration.name == name).unwrap())
}

/// Stores a document in a database of an earlier version; `columns` are its key, parent and holder.
fn insert_document(sql: &Sqlite, kind: &str, id: &str, columns: [Option<&str>; 3], body: &str) {
    let [key, parent, holder] = columns.map(|column| column.map(str::to_owned).into());
    let row = [kind.into(), id.into(), key, parent, holder, body.into()];
    let statement = format!("INSERT INTO document (kind, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, 5, NULL, ?6)");
    sql.run(&statement, &row).unwrap();
}

#[test]
fn holders_of_earlier_referral_codes_become_referrers() {
    let sql = before("0007_referral_holders");
    let insert = |kind: &str, id: &str, parent: Option<&str>, holder: Option<&str>, body: &str| {
        insert_document(&sql, kind, id, [None, parent, holder], body);
    };
    insert("campaign", "camp_r", None, None, r#"{"campaign_type":"REFERRAL_PROGRAM"}"#);
    insert("campaign", "camp_d", None, None, r#"{"campaign_type":"DISCOUNT_COUPONS"}"#);
    let code = r#"{"type":"DISCOUNT_VOUCHER","referrer_id":"cust_a","created_at":"2026-03-01T00:00:00.000Z","updated_at":null}"#;
    insert("voucher", "v_ABCDEFGHIJKL", Some("camp_r"), Some("cust_a"), code);
    insert("voucher", "v_free", Some("camp_r"), None, r#"{"type":"DISCOUNT_VOUCHER"}"#);
    insert("voucher", "v_coupon", Some("camp_d"), Some("cust_a"), r#"{"type":"DISCOUNT_VOUCHER"}"#);
    migrate(&sql, 0).unwrap();
    let found = sql.run(&format!("SELECT {COLUMNS} FROM document WHERE kind = 'redeemable_holder'"), &[]).unwrap();
    let body = concat!(
        r#"{"id":"rh_414243444546474849","created_at":"2026-03-01T00:00:00.000Z","redeemable_id":"v_ABCDEFGHIJKL","#,
        r#""redeemable_object":"voucher","customer_id":"cust_a","holder_role":"REFERRER","campaign_id":"camp_r","#,
        r#""campaign_type":"REFERRAL_PROGRAM","voucher_type":"DISCOUNT_VOUCHER","metadata":{},"object":"redeemable_holder"}"#
    );
    let row: Vec<SqlValue> = vec![
        "rh_414243444546474849".into(),
        "v_ABCDEFGHIJKL/cust_a".into(),
        "v_ABCDEFGHIJKL".into(),
        "cust_a".into(),
        5.into(),
        SqlValue::Null,
        body.into(),
    ];
    assert_eq!(found, [row]);
}

#[test]
fn earlier_fired_rules_are_kept() {
    let sql = before("0011_fired_rules");
    let fired_rule = r#"{"member_id":"m","program_id":"p","earning_rule_id":"r","earning_id":"e","points":[{"card_definition_id":"d","points":5,"back":2}]}"#;
    let rows = [
        ("earning_occasion", "order/1", None, r#"{"standing":"GIVEN_BACK","bought":{"amount":700}}"#),
        ("earning_occasion", "event/1", None, r#"{"standing":"EARNED","bought":null}"#),
        ("earning_firing", "lfir_1", Some("order/1"), fired_rule),
    ];
    for (kind, id, parent, body) in rows {
        insert_document(&sql, kind, id, [None, parent, Some("c")], body);
    }
    sql.run("UPDATE document SET updated_at = 6", &[]).unwrap();
    migrate(&sql, 0).unwrap();
    let details = |statement: &str| {
        let rows = sql.run(statement, &[]).unwrap();
        rows.iter().map(|row| sql::text(row, 0).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let earnings =
        "SELECT json_array(id, customer, standing, bought, created_at, updated_at) FROM earning_occasion ORDER BY id";
    let known = [r#"["event/1","c","EARNED",null,5,6]"#, r#"["order/1","c","GIVEN_BACK",700,5,6]"#];
    assert_eq!(details(earnings), known);
    let fired_rules =
        "SELECT json_array(member, rule, at, occasion, program, earning, json(points)) FROM earning_firing";
    assert_eq!(
        details(fired_rules),
        [r#"["m","r",5,"order/1","p","e",[{"card_definition_id":"d","points":5,"back":2}]]"#]
    );
    assert!(details("SELECT id FROM document WHERE kind LIKE 'earning_%'").is_empty());
}

#[test]
fn holds_of_before_are_the_servers() {
    let sql = before("0004_hold_owners");
    sql.run("INSERT INTO hold VALUES ('cart', 'voucher/v_1/redemptions', 1, 7)", &[]).unwrap();
    assert!(!migrate(&sql, 0).unwrap());
    let kept = sql.run("SELECT key, owner, account, amount, expires_at, created_at, origin FROM hold", &[]).unwrap();
    let row: Vec<SqlValue> = vec![
        "cart".into(),
        "".into(),
        "voucher/v_1/redemptions".into(),
        1.into(),
        7.into(),
        SqlValue::Null,
        SqlValue::Null,
    ];
    assert_eq!(kept, [row]);
}

/// An instant in milliseconds, and its quarter hour.
const AT: i64 = 1_774_738_799_999;
const QUARTER: i64 = 1_971_931;

const ROWS: &[(&str, i64, &str)] = &[
    (
        "card_transaction",
        AT,
        r#"{"program_id":"p","card_definition_id":"a","type":"POINTS_SPENT_ON_REWARD","details":{"points":{"total":3}}}"#,
    ),
    (
        "card_transaction",
        AT,
        r#"{"program_id":"p","card_definition_id":"a","type":"ADMIN_DEBIT","details":{"points":{"total":3}}}"#,
    ),
    (
        "order_transaction",
        AT,
        r#"{"program_id":"p","card_definition_id":"a","status":"APPROVED","details":{"payment":{"points_spent":4,"amount":40}}}"#,
    ),
    ("order_transaction", AT, r#"{"program_id":"p","card_definition_id":"a","status":"REJECTED","details":{}}"#),
    (
        "tier_transaction",
        AT,
        r#"{"program_id":"p","type":"JOINED","tier_structure_id":"s","tier_id":"t","details":{"tier_from":null}}"#,
    ),
    (
        "tier_transaction",
        AT,
        r#"{"program_id":"p","type":"LEFT","tier_structure_id":"s","tier_id":null,"details":{"tier_from":"t"}}"#,
    ),
    ("voucher", AT, r#"{"program_id":"p","type":"JOINED"}"#),
];

/// Member, time, event, program and points of fired rules.
const FIRED: &[(&str, i64, &str, &str, &str)] = &[
    (
        "m",
        AT,
        "order/1",
        "p",
        r#"[{"card_definition_id":"a","pending":null,"points":5},{"card_definition_id":"a","pending":null,"points":6},
           {"card_definition_id":"b","pending":"lcppb_1","points":7}]"#,
    ),
    ("m", AT + 1, "order/2", "p", "[]"),
    ("n", AT, "order/1", "other", "[]"),
];

fn insert(sql: &dyn Sql) {
    for (member, at, earning, program, points) in FIRED {
        let row: [SqlValue; 5] =
            [(*member).into(), (*at).into(), (*earning).into(), (*program).into(), (*points).into()];
        let statement = "INSERT INTO earning_firing (member, rule, at, occasion, place, program, earning, points)
            VALUES (?1, 'r', ?2, ?3, 0, ?4, 'e', ?5)";
        sql.run(statement, &row).unwrap();
    }
    for ((kind, at, body), id) in ROWS.iter().zip(0_i64..) {
        let row: [SqlValue; 4] = [(*kind).into(), id.to_string().into(), (*at).into(), (*body).into()];
        sql.run("INSERT INTO document (kind, id, created_at, body) VALUES (?1, ?2, ?3, ?4)", &row).unwrap();
    }
}

fn counted(sql: &dyn Sql) -> Vec<SqlRow> {
    sql.run("INSERT INTO statistic_addition VALUES (0)", &[]).unwrap();
    let statement =
        "SELECT program || ' ' || kind || ' ' || earning_rule || earning || card_definition || tier_structure || tier,
        statistic.count, statistic.points, statistic.amount, quarter, statistic_quarter.count, statistic_quarter.points,
        statistic_quarter.amount FROM statistic JOIN statistic_quarter ON statistic = id ORDER BY 1, quarter";
    sql.run(statement, &[]).unwrap()
}

fn expected() -> Vec<SqlRow> {
    let row = |what: &str, all: [i64; 3], quarter: i64, [count, points, amount]: [i64; 3]| -> SqlRow {
        let all = all.into_iter().chain([quarter, count, points, amount]).map(SqlValue::Int);
        std::iter::once(SqlValue::Text(what.into())).chain(all).collect()
    };
    vec![
        row("other FIRED r", [1, 0, 0], QUARTER, [1, 0, 0]),
        row("p EARNED rea", [1, 11, 0], QUARTER, [1, 11, 0]),
        row("p FIRED r", [2, 0, 0], QUARTER, [1, 0, 0]),
        row("p FIRED r", [2, 0, 0], QUARTER + 1, [1, 0, 0]),
        row("p JOINED st", [1, 0, 0], QUARTER, [1, 0, 0]),
        row("p LEFT st", [1, 0, 0], QUARTER, [1, 0, 0]),
        row("p ORDER a", [1, 4, 40], QUARTER, [1, 4, 40]),
        row("p REWARD a", [1, 3, 0], QUARTER, [1, 3, 0]),
        row("p WAITING reb", [1, 7, 0], QUARTER, [1, 7, 0]),
    ]
}

#[test]
fn earlier_events_are_counted_like_new_ones() {
    let later = Sqlite::memory().unwrap();
    migrate(&later, 0).unwrap();
    insert(&later);
    // Rules that fired are counted by their writer.
    let by_itself =
        |row: &SqlRow| !["FIRED", "EARNED", "WAITING"].iter().any(|kind| sql::text(row, 0).unwrap().contains(kind));
    assert_eq!(counted(&later), expected().into_iter().filter(by_itself).collect::<Vec<_>>());

    let earlier = before("0012_statistics");
    insert(&earlier);
    migrate(&earlier, 0).unwrap();
    assert_eq!(counted(&earlier), expected());
}

/// Kind, parent, time and body of written documents.
const LISTED: &[(&str, Option<&str>, i64, &str)] = &[
    ("voucher", Some("c"), 5, r#"{"type":"GIFT_VOUCHER","category":"new"}"#),
    ("voucher", Some("c"), 1_000, r#"{"type":"GIFT_VOUCHER"}"#),
    ("voucher", None, 3_600_000, r#"{"type":"DISCOUNT_VOUCHER","category":null}"#),
    ("publication", Some("c"), 7_200_001, "{}"),
    ("redemption", Some("v"), 7_200_002, r#"{"result":"FAILURE"}"#),
    ("customer", None, 7_200_002, r#"{"type":"DISCOUNT_VOUCHER"}"#),
    ("campaign", Some("c"), 7_200_002, r#"{"type":"DISCOUNT_VOUCHER"}"#),
];

fn insert_listed(sql: &dyn Sql) {
    for ((kind, parent, at, body), id) in LISTED.iter().zip(0_i64..) {
        let parent = parent.map(str::to_owned);
        let row: [SqlValue; 5] = [(*kind).into(), id.to_string().into(), parent.into(), (*at).into(), (*body).into()];
        let statement = "INSERT INTO document (kind, id, parent, created_at, body) VALUES (?1, ?2, ?3, ?4, ?5)";
        sql.run(statement, &row).unwrap();
    }
}

/// The counts: those up to the mark, and those of the documents above it.
fn tallied(sql: &dyn Sql) -> Vec<SqlRow> {
    let parts = "SELECT kind, name, value, count FROM tally UNION ALL SELECT kind, name, value, 1 FROM uncounted";
    let sums = format!("SELECT kind, name, value, SUM(count) FROM ({parts}) GROUP BY 1, 2, 3 HAVING SUM(count) <> 0");
    sql.run(&sums, &[]).unwrap()
}

#[test]
fn earlier_documents_are_counted_like_new_ones() {
    let later = Sqlite::memory().unwrap();
    migrate(&later, 0).unwrap();
    insert_listed(&later);
    let earlier = before("0017_list_indexes");
    insert_listed(&earlier);
    migrate(&earlier, 0).unwrap();
    let details = tallied(&earlier);
    assert_eq!(details, tallied(&later));
    let row = |kind: &str, name: &str, value: SqlValue, count: i64| vec![kind.into(), name.into(), value, count.into()];
    for expected in [
        row("voucher", "", "".into(), 3),
        row("voucher", "category", "new".into(), 1),
        row("voucher", "hour", 0.into(), 2),
        row("voucher", "parent", "c".into(), 2),
        row("voucher", "second", 1.into(), 1),
        row("redemption", "result", "FAILURE".into(), 1),
    ] {
        assert!(details.contains(&expected), "{expected:?} is not in {details:?}");
    }
    later.run("UPDATE document SET kind = 'voucher gone' WHERE id = '0'", &[]).unwrap();
    later.run("UPDATE document SET body = json_set(body, '$.type', 'LOYALTY_CARD') WHERE id = '1'", &[]).unwrap();
    later.run("DELETE FROM document WHERE id > '1'", &[]).unwrap();
    let left = [
        row("voucher", "", "".into(), 1),
        row("voucher", "hour", 0.into(), 1),
        row("voucher", "parent", "c".into(), 1),
        row("voucher", "second", 1.into(), 1),
        row("voucher", "type", "LOYALTY_CARD".into(), 1),
    ];
    assert_eq!(tallied(&later), left);
}

#[test]
fn earlier_customers_are_found_by_their_names() {
    let sql = before("0018_key_digests");
    sql.run(
        "WITH RECURSIVE turn(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM turn WHERE n < 1200)
         INSERT INTO document (kind, id, key, created_at, body)
         SELECT 'customer', 'cust_' || n, CASE WHEN n % 3 THEN 'source-' || n END, n,
           json_object('id', 'cust_' || n, 'source_id', CASE WHEN n % 3 THEN 'source-' || n END, 'object', 'customer') FROM turn",
        &[],
    )
    .unwrap();
    sql.run("INSERT INTO document (kind, id, key, created_at, body) VALUES ('voucher', 'v_1', 'CODE', 1, '{}')", &[])
        .unwrap();
    migrate(&sql, 0).unwrap();
    let key_of = |id: &str| {
        let rows = sql.run("SELECT key FROM document WHERE id = ?1", &[id.into()]).unwrap();
        sql::text_or_null(&rows[0], 0).unwrap().map(str::to_owned)
    };
    for n in [1, 2, 500, 1_199, 1_200] {
        let name = (n % 3 != 0).then(|| format!("source-{n}"));
        let column = name.as_deref().map(|name| blind_index::key("customer", name).into_owned());
        assert_eq!(key_of(&format!("cust_{n}")), column);
    }
    assert_eq!(key_of("v_1").as_deref(), Some("CODE"));
    let taken = "INSERT INTO document (kind, id, key, created_at, body) SELECT kind, 'other', key, 1, '{}' FROM document WHERE id = 'cust_1'";
    assert!(sql.run(taken, &[]).is_err(), "two customers have one name");
    let left = sql.run("SELECT COUNT(*) FROM document WHERE key LIKE 'source-%'", &[]).unwrap();
    assert_eq!(sql::int(&left[0], 0).unwrap(), 0);
}

#[test]
fn customers_of_before_are_found_by_their_address_without_case() {
    let sql = before("0029_folded_emails");
    for (id, email) in [("cust_1", "Ann@Example.com"), ("cust_2", "bob@example.com"), ("cust_3", "Ä[]^@example.com")] {
        sql.run(
            "INSERT INTO document (kind, id, created_at, body, marks)
             VALUES ('customer', ?1, 1, json_object('id', ?1, 'email', ?2, 'address', json_object('city', 'Ulm')), '{\"email\":\"as it was\"}')",
            &[id.into(), email.into()],
        )
        .unwrap();
    }
    migrate(&sql, 0).unwrap();
    let marks_of = |id: &str| {
        let rows =
            sql.run("SELECT marks ->> 'email', marks ->> 'city' FROM document WHERE id = ?1", &[id.into()]).unwrap();
        [0, 1].map(|column| sql::text_or_null(&rows[0], column).unwrap().map(str::to_owned))
    };
    let city = blind_index::digest("city", "Ulm");
    assert_eq!(marks_of("cust_1"), [Some(blind_index::digest("email", "ann@example.com")), Some(city.clone())]);
    assert_eq!(marks_of("cust_3"), [Some(blind_index::digest("email", "ä[]^@example.com")), Some(city)]);
    assert_eq!(marks_of("cust_2"), [Some("as it was".to_owned()), None], "it was without case before");
}

#[test]
fn answers_of_before_are_found_by_their_names() {
    let sql = before("0019_idempotent_responses");
    sql.run(
        "WITH RECURSIVE turn(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM turn WHERE n < 1200)
         INSERT INTO idempotency (caller, request, key, body_hash, status, headers, body, created_at, bytes)
         SELECT 'c', 'POST /v1/' || n, 'k', 'h' || n, 200, '[]', 'body ' || n, n, 1500 FROM turn",
        &[],
    )
    .unwrap();
    sql.run("INSERT INTO idempotency_slice VALUES ('c', 'POST /v1/7', 'k', 1, ' goes on'), ('c', 'POST /v1/7', 'k', 2, '!')", &[])
        .unwrap();
    migrate(&sql, 0).unwrap();
    for n in [1, 7, 500, 501, 1_200] {
        let name = response_name("c", &format!("POST /v1/{n}"), "k");
        let rows = sql
            .run(
                "SELECT body || COALESCE((SELECT group_concat(body, '') FROM (SELECT body FROM answer_slice WHERE answer = seq ORDER BY place)), ''),
                   body_hash || ' ' || status || ' ' || headers || ' ' || created_at || ' ' || bytes FROM answer WHERE name = ?1",
                &[name.into()],
            )
            .unwrap();
        let body = if n == 7 { "body 7 goes on!".to_owned() } else { format!("body {n}") };
        assert_eq!(rows, [vec![SqlValue::from(body), format!("h{n} 200 [] {n} 1500").into()]]);
    }
    let counted =
        sql.run("SELECT (SELECT COUNT(*) FROM answer WHERE status > 0), (SELECT COUNT(*) FROM answer_slice)", &[]);
    assert_eq!(counted.unwrap(), [vec![SqlValue::from(1_200_i64), 2_i64.into()]]);
}

#[test]
fn earlier_names_and_publications_are_found_like_new_ones() {
    let found = |sql: &dyn Sql| {
        let parts = sql.run("SELECT rowid FROM label_part WHERE label_part MATCH '\"nna\"'", &[]).unwrap();
        let published = sql.run("SELECT voucher, publication FROM published ORDER BY voucher", &[]).unwrap();
        (parts.len(), published)
    };
    let insert = |sql: &dyn Sql| {
        let row = "INSERT INTO document (kind, id, created_at, body, label) VALUES (?1, ?2, 0, ?3, ?4)";
        for (kind, id, body, label) in [
            ("customer", "c1", "{}", Some("anna")),
            ("customer", "c2", "{}", Some("bert")),
            ("customer", "c3", "{}", None),
            ("publication", "p1", r#"{"vouchers_id":["v1","v2"]}"#, None),
            ("publication", "p2", r#"{"vouchers_id":["v2"]}"#, None),
            ("order", "p3", r#"{"vouchers_id":["v2"]}"#, None),
        ] {
            let label = label.map(str::to_owned);
            sql.run(row, &[kind.into(), id.into(), body.into(), label.into()]).unwrap();
        }
    };
    let later = Sqlite::memory().unwrap();
    migrate(&later, 0).unwrap();
    insert(&later);
    let earlier = before("0020_name_trigrams");
    insert(&earlier);
    migrate(&earlier, 0).unwrap();
    let row = |voucher: &str, publication: &str| -> SqlRow { vec![voucher.into(), publication.into()] };
    assert_eq!(found(&earlier), (1, vec![row("v1", "p1"), row("v2", "p1"), row("v2", "p2")]));
    assert_eq!(found(&earlier), found(&later));
    later.run("DELETE FROM document WHERE id IN ('p1', 'c1')", &[]).unwrap();
    assert_eq!(found(&later), (0, vec![row("v2", "p2")]));
}

#[test]
fn keys_and_names_in_lower_case_become_folded() {
    let insert = |sql: &dyn Sql, kind: &str, id: &str, key: Option<&str>, label: Option<&str>| {
        let row = "INSERT INTO document (kind, id, key, created_at, body, label) VALUES (?1, ?2, ?3, 0, '{}', ?4)";
        let own = |text: Option<&str>| SqlValue::from(text.map(str::to_owned));
        sql.run(row, &[kind.into(), id.into(), own(key), own(label)]).unwrap();
    };
    let earlier = || {
        let sql = before("0026_folded_codes");
        insert(&sql, "voucher", "v1", Some("straße"), None);
        insert(&sql, "voucher", "v2", Some("cafe\u{301}"), None);
        insert(&sql, "voucher", "v3", Some("plain"), None);
        insert(&sql, "voucher", "v4", Some("strasse"), None);
        insert(&sql, "bin_entry", "b1", Some("voucher/ſ"), None);
        insert(&sql, "bin_entry", "b2", Some("campaign/ſ"), None);
        insert(&sql, "customer", "c1", None, Some("straße"));
        insert(&sql, "customer", "c2", None, Some("anna"));
        migrate(&sql, 0).unwrap();
        sql
    };
    let found = |sql: &dyn Sql, column: &str| {
        let select =
            format!("SELECT {column} FROM document WHERE {column} IS NOT NULL AND kind <> 'filler' ORDER BY id");
        let rows = sql.run(&select, &[]).unwrap();
        rows.iter().map(|row| sql::text(row, 0).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let ignoring = earlier();
    assert_eq!(found(&ignoring, "label"), ["strasse", "anna"]);
    for _ in 0..2 {
        fold_voucher_keys(&ignoring, false).unwrap();
        // Of equal keys each keeps the earlier one.
        let keys = ["voucher/s", "campaign/ſ", "straße", "caf\u{e9}", "plain", "strasse"];
        assert_eq!(found(&ignoring, "key"), keys);
    }
    let telling_apart = earlier();
    fold_voucher_keys(&telling_apart, true).unwrap();
    let keys = ["voucher/ſ", "campaign/ſ", "straße", "cafe\u{301}", "plain", "strasse"];
    assert_eq!(found(&telling_apart, "key"), keys);
    for sql in [ignoring, telling_apart] {
        assert!(sql.run("SELECT 1 FROM document WHERE id = 'unfolded_codes'", &[]).unwrap().is_empty());
    }
}
