//! The statistics of loyalty programs, as a step of the schema: how often something happened, how many points it was about, and what it
//! was worth, in all and in each quarter of an hour. It must not know who asks for them.
//!
//! Triggers count what is written, in its own transaction, so that no writer can forget it and none needs a statement more. Days are not
//! known here: those of the world's zones begin with a quarter of an hour, so that these sums make the days of any.

/// What an event is, in the order of the view's columns: `program, kind, earning_rule, earning, card_definition, tier_structure, tier, at,
/// count, points, amount`. The parameter is the row that tells of it.
macro_rules! fired {
    ($row:literal) => {
        concat!("SELECT ", $row, ".program, 'FIRED', ", $row, ".rule, '', '', '', '', ", $row, ".at, 1, 0, 0")
    };
}

/// The points that a rule brought: one event for each card definition, however many effects of the earning went to it.
macro_rules! brought {
    ($row:literal) => {
        concat!(
            "SELECT ",
            $row,
            ".program, CASE WHEN value ->> 'pending' IS NULL THEN 'EARNED' ELSE 'WAITING' END, ",
            $row,
            ".rule, ",
            $row,
            ".earning, value ->> 'card_definition_id', '', '', ",
            $row,
            ".at, 1, SUM(value ->> 'points'), 0"
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
    concat!("INSERT INTO statistic_event ", fired!("earning_firing"), " FROM earning_firing"),
    concat!(
        "INSERT INTO statistic_event ", brought!("earning_firing"), " FROM earning_firing, json_each(earning_firing.points)
         GROUP BY member, rule, earning_firing.at, occasion, 2, 5"
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
