//! The statistics of loyalty programs, as a step of the schema: how often something happened, how many points it was about, and what it
//! was worth, in all and in each quarter of an hour. It must not know who asks for them.
//!
//! Triggers count what is written, in its own transaction, so that no writer can forget it and none needs a statement more. Days are not
//! known here: those of the world's zones begin with a quarter of an hour, so that these sums make the days of any.

/// What an event is, in the order of the view's columns: `program, kind, earning_rule, earning, card_definition, tier_structure, tier, at,
/// count, points, amount`. The parameter is the row that tells of it.
macro_rules! fired {
    ($row:literal) => {
        concat!(
            "SELECT ",
            $row,
            ".body ->> 'program_id', 'FIRED', ",
            $row,
            ".body ->> 'earning_rule_id', '', '', '', '', ",
            $row,
            ".created_at, 1, 0, 0"
        )
    };
}

/// The points that a rule brought: one event for each card definition, however many effects of the earning went to it.
macro_rules! brought {
    ($row:literal) => {
        concat!(
            "SELECT ",
            $row,
            ".body ->> 'program_id', CASE WHEN value ->> 'pending' IS NULL THEN 'EARNED' ELSE 'WAITING' END, ",
            $row,
            ".body ->> 'earning_rule_id', ",
            $row,
            ".body ->> 'earning_id', value ->> 'card_definition_id', '', '', ",
            $row,
            ".created_at, 1, SUM(value ->> 'points'), 0"
        )
    };
}

/// Points that were spent on a reward, as the transaction of the card tells.
macro_rules! spent_on_reward {
    ($row:literal) => {
        concat!(
            "SELECT ",
            $row,
            ".body ->> 'program_id', 'REWARD', '', '', ",
            $row,
            ".body ->> 'card_definition_id', '', '', ",
            $row,
            ".created_at, 1, ",
            $row,
            ".body ->> '$.details.points.total', 0"
        )
    };
}

/// Points that were spent on an order, as the payment tells.
macro_rules! spent_on_order {
    ($row:literal) => {
        concat!(
            "SELECT ",
            $row,
            ".body ->> 'program_id', 'ORDER', '', '', ",
            $row,
            ".body ->> 'card_definition_id', '', '', ",
            $row,
            ".created_at, 1, ",
            $row,
            ".body ->> '$.details.payment.points_spent', ",
            $row,
            ".body ->> '$.details.payment.amount'"
        )
    };
}

/// What became of a tier: whoever leaves one has none afterwards.
macro_rules! passed {
    ($row:literal, $count:literal) => {
        concat!(
            "SELECT ",
            $row,
            ".body ->> 'program_id', ",
            $row,
            ".body ->> 'type', '', '', '', ",
            $row,
            ".body ->> 'tier_structure_id', ",
            "COALESCE(",
            $row,
            ".body ->> 'tier_id', ",
            $row,
            ".body ->> '$.details.tier_from', ''), ",
            $row,
            ".created_at, ",
            $count,
            ", 0, 0"
        )
    };
}

/// The tables, what counts into them, and what was before they were.
pub(super) const STEP: &[&str] = &[
    // What happened, to what, and how often in all. What a kind is not about is the empty text.
    "CREATE TABLE statistic (
        id INTEGER PRIMARY KEY, program TEXT NOT NULL, kind TEXT NOT NULL, earning_rule TEXT NOT NULL, earning TEXT NOT NULL,
        card_definition TEXT NOT NULL, tier_structure TEXT NOT NULL, tier TEXT NOT NULL,
        count INTEGER NOT NULL, points INTEGER NOT NULL, amount INTEGER NOT NULL)",
    "CREATE UNIQUE INDEX statistic_of ON statistic (program, kind, earning_rule, earning, card_definition, tier_structure, tier)",
    // The same in each quarter of an hour since 1970 in which it happened.
    "CREATE TABLE statistic_quarter (
        statistic INTEGER NOT NULL, quarter INTEGER NOT NULL, count INTEGER NOT NULL, points INTEGER NOT NULL, amount INTEGER NOT NULL,
        PRIMARY KEY (statistic, quarter)) WITHOUT ROWID",
    "CREATE VIEW statistic_event AS
        SELECT program, kind, earning_rule, earning, card_definition, tier_structure, tier, 0 AS at, count, points, amount FROM statistic",
    "CREATE TRIGGER statistic_counted INSTEAD OF INSERT ON statistic_event BEGIN
        INSERT INTO statistic (program, kind, earning_rule, earning, card_definition, tier_structure, tier, count, points, amount)
        VALUES (NEW.program, NEW.kind, NEW.earning_rule, NEW.earning, NEW.card_definition, NEW.tier_structure, NEW.tier,
          NEW.count, NEW.points, NEW.amount)
        ON CONFLICT (program, kind, earning_rule, earning, card_definition, tier_structure, tier) DO UPDATE
        SET count = count + excluded.count, points = points + excluded.points, amount = amount + excluded.amount;
        INSERT INTO statistic_quarter (statistic, quarter, count, points, amount)
        SELECT id, NEW.at / 900000, NEW.count, NEW.points, NEW.amount FROM statistic
        WHERE program = NEW.program AND kind = NEW.kind AND earning_rule = NEW.earning_rule AND earning = NEW.earning
          AND card_definition = NEW.card_definition AND tier_structure = NEW.tier_structure AND tier = NEW.tier
        ON CONFLICT (statistic, quarter) DO UPDATE
        SET count = count + excluded.count, points = points + excluded.points, amount = amount + excluded.amount;
        END",
    concat!("INSERT INTO statistic_event ", fired!("document"), " FROM document WHERE kind = 'earning_firing'"),
    concat!(
        "INSERT INTO statistic_event ", brought!("document"), " FROM document, json_each(document.body, '$.points')
         WHERE kind = 'earning_firing' GROUP BY document.seq, 2, 5"
    ),
    concat!(
        "INSERT INTO statistic_event ", spent_on_reward!("document"), " FROM document
         WHERE kind = 'card_transaction' AND body ->> 'type' = 'POINTS_SPENT_ON_REWARD'"
    ),
    concat!(
        "INSERT INTO statistic_event ", spent_on_order!("document"), " FROM document
         WHERE kind = 'order_transaction' AND body ->> 'status' = 'APPROVED'"
    ),
    concat!("INSERT INTO statistic_event ", passed!("document", "1"), " FROM document WHERE kind = 'tier_transaction'"),
    concat!(
        "CREATE TRIGGER statistic_fired AFTER INSERT ON document WHEN NEW.kind = 'earning_firing' BEGIN
         INSERT INTO statistic_event ", fired!("NEW"), ";
         INSERT INTO statistic_event ", brought!("NEW"), " FROM json_each(NEW.body, '$.points') GROUP BY 2, 5; END"
    ),
    concat!(
        "CREATE TRIGGER statistic_reward AFTER INSERT ON document
         WHEN NEW.kind = 'card_transaction' AND NEW.body ->> 'type' = 'POINTS_SPENT_ON_REWARD' BEGIN
         INSERT INTO statistic_event ", spent_on_reward!("NEW"), "; END"
    ),
    concat!(
        "CREATE TRIGGER statistic_order AFTER INSERT ON document
         WHEN NEW.kind = 'order_transaction' AND NEW.body ->> 'status' = 'APPROVED' BEGIN
         INSERT INTO statistic_event ", spent_on_order!("NEW"), "; END"
    ),
    concat!(
        "CREATE TRIGGER statistic_passed AFTER INSERT ON document WHEN NEW.kind = 'tier_transaction' BEGIN
         INSERT INTO statistic_event ", passed!("NEW", "1"), "; END"
    ),
    // What is told of a moment is told anew, or taken back, while that moment lasts.
    concat!(
        "CREATE TRIGGER statistic_passed_anew AFTER UPDATE ON document WHEN NEW.kind = 'tier_transaction' BEGIN
         INSERT INTO statistic_event ", passed!("OLD", "-1"), ";
         INSERT INTO statistic_event ", passed!("NEW", "1"), "; END"
    ),
    concat!(
        "CREATE TRIGGER statistic_not_passed AFTER DELETE ON document WHEN OLD.kind = 'tier_transaction' BEGIN
         INSERT INTO statistic_event ", passed!("OLD", "-1"), "; END"
    ),
];

#[cfg(all(test, not(target_arch = "wasm32")))]
#[allow(clippy::unwrap_used, reason = "a test may fail loudly")]
mod tests {
    use super::super::{STEPS, migrate};
    use super::*;
    use crate::store::sql::{Row, Sql, Value};
    use crate::store::sqlite::Sqlite;

    /// A moment, and the quarter of an hour in which it lies.
    const AT: i64 = 1_774_738_799_999;
    const QUARTER: i64 = 1_971_931;

    const ROWS: &[(&str, i64, &str)] = &[
        (
            "earning_firing",
            AT,
            r#"{"program_id":"p","earning_rule_id":"r","earning_id":"e","points":[
               {"card_definition_id":"a","pending":null,"points":5},{"card_definition_id":"a","pending":null,"points":6},
               {"card_definition_id":"b","pending":"lcppb_1","points":7}]}"#,
        ),
        ("earning_firing", AT + 1, r#"{"program_id":"p","earning_rule_id":"r","earning_id":"e","points":[]}"#),
        ("earning_firing", AT, r#"{"program_id":"other","earning_rule_id":"r","earning_id":"e","points":[]}"#),
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

    fn insert(sql: &dyn Sql) {
        for ((kind, at, body), id) in ROWS.iter().zip(0_i64..) {
            let row: [Value; 4] = [(*kind).into(), id.to_string().into(), (*at).into(), (*body).into()];
            sql.run("INSERT INTO document (kind, id, created_at, body) VALUES (?1, ?2, ?3, ?4)", &row).unwrap();
        }
    }

    fn counted(sql: &dyn Sql) -> Vec<Row> {
        let statement = "SELECT program || ' ' || kind || ' ' || earning_rule || earning || card_definition || tier_structure || tier,
            statistic.count, statistic.points, statistic.amount, quarter, statistic_quarter.count, statistic_quarter.points,
            statistic_quarter.amount FROM statistic JOIN statistic_quarter ON statistic = id ORDER BY 1, quarter";
        sql.run(statement, &[]).unwrap()
    }

    fn expected() -> Vec<Row> {
        let row = |what: &str, all: [i64; 3], quarter: i64, [count, points, amount]: [i64; 3]| -> Row {
            let all = all.into_iter().chain([quarter, count, points, amount]).map(Value::Int);
            std::iter::once(Value::Text(what.into())).chain(all).collect()
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
    fn what_happened_before_is_counted_like_what_happens() {
        let later = Sqlite::memory().unwrap();
        migrate(&later, 0).unwrap();
        insert(&later);
        assert_eq!(counted(&later), expected());

        let earlier = Sqlite::memory().unwrap();
        earlier.run("CREATE TABLE migration (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL)", &[]).unwrap();
        let before = STEPS.iter().position(|step| std::ptr::eq(*step, STEP)).unwrap();
        for (step, version) in STEPS.iter().take(before).zip(1_i64..) {
            step.iter().for_each(|statement| drop(earlier.run(statement, &[]).unwrap()));
            earlier.run("INSERT INTO migration VALUES (?1, 0)", &[version.into()]).unwrap();
        }
        insert(&earlier);
        migrate(&earlier, 0).unwrap();
        assert_eq!(counted(&earlier), expected());
    }

    #[test]
    fn what_is_told_of_a_tier_anew_is_counted_anew() {
        let sql = Sqlite::memory().unwrap();
        migrate(&sql, 0).unwrap();
        insert(&sql);
        let joined = "UPDATE document SET body = json_set(body, '$.type', 'UPGRADED') WHERE body ->> 'type' = 'JOINED'";
        sql.run(joined, &[]).unwrap();
        sql.run("DELETE FROM document WHERE body ->> 'type' = 'LEFT'", &[]).unwrap();
        let told = sql.run("SELECT kind, count FROM statistic WHERE tier <> '' ORDER BY kind", &[]).unwrap();
        let row = |kind: &str, count: i64| -> Row { vec![kind.into(), count.into()] };
        assert_eq!(told, [row("JOINED", 0), row("LEFT", 0), row("UPGRADED", 1)]);
    }
}
