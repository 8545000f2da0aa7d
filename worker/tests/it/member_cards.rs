//! Tests histories of cards. After every operation, the card that is read from rows and accounts equals the card of the engine. The alarm
//! settles it with the same result as a reader.

use crate::migrated::migrated;
use scrip::Context;
use scrip::id::Ids;
use scrip::points::{
    CardOutcome, CardRefusal, Credit, CustomActivity, DateOfYear, DebitReason, Delay, Expiration, Period, PointsCard,
    Rounding, SlidingExpiry, Unit,
};
use scrip::text::Text;
use scrip::time::Instant;
use scrip_worker::domain::clock::LocalTime;
use scrip_worker::domain::loyalty_members::card::{LoadedCard, load};
use scrip_worker::domain::loyalty_members::card_changes::{SETTLE_JOB, run_job, settle, write_outcome};
use scrip_worker::domain::loyalty_members::card_view::{SpendingTarget, TransactionDetails};
use scrip_worker::jobs::async_actions::JobSlice;
use scrip_worker::service;
use scrip_worker::store::Store;
use scrip_worker::store::document::Document;
use scrip_worker::store::sql::SqlValue;
use serde_json::json;

const ZONE: &str = "Europe/Warsaw";

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

fn expiration(random: &mut Random) -> Expiration {
    let period = Period { value: u32::try_from(random.below(3) + 1).unwrap(), unit: Unit::Day };
    let custom = if random.below(2) == 0 { CustomActivity::Any } else { CustomActivity::Of(vec!["ms_1".into()]) };
    match random.below(5) {
        0 => Expiration::Never,
        1 => Expiration::Rolling { period, rounding: None },
        2 => Expiration::Rolling { period, rounding: Some(Rounding::Month) },
        3 => Expiration::Calendar([DateOfYear::new(15, 6), DateOfYear::new(31, 12)].into_iter().flatten().collect()),
        _ => Expiration::Sliding(SlidingExpiry { earning: true, spending: true, custom, period }),
    }
}

fn delay(random: &mut Random) -> Delay {
    let period = Period { value: 2, unit: Unit::Day };
    match random.below(4) {
        0 => Delay::Immediate,
        1 => Delay::Period(period),
        2 => Delay::FixedDates(DateOfYear::new(1, 7).into_iter().collect()),
        _ => Delay::Event { types: vec!["ms_1".into()], cancel: period },
    }
}

/// Returns the relevant part of a card: closed and empty lots are removed.
fn comparable(card: &PointsCard) -> PointsCard {
    let mut card = card.clone();
    card.lots.retain(|lot| lot.is_open());
    card.lots.sort_by(|one, other| one.id.cmp(&other.id));
    card.pending.sort_by(|one, other| one.id.cmp(&other.id));
    card
}

fn row() -> Document {
    let body =
        json!({ "id": "lcrd_1", "card_definition_id": "lcdef_1", "card_type": "INDIVIDUAL", "program_id": "lprg_1" });
    let mut row = Document::new("lcrd_1".into(), None, 0, body.as_object().cloned().unwrap());
    (row.parent, row.holder) = (Some("lmbr_1".into()), Some("cust_1".into()));
    row
}

/// Creates a tier structure of the card's program, of another kind for each seed; none for some.
fn structure(seed: u64) -> Option<serde_json::Value> {
    let tracked = |unit: &str, when: &str| json!({ "period": { "value": 1, "unit": unit }, "type": when });
    let rolling =
        json!({ "type": "ROLLING_EXPIRATION", "rolling_expiration": { "period": { "value": 2, "unit": "DAY" } } });
    let sliding = json!({ "type": "SLIDING_EXPIRATION", "sliding_expiration": {
        "earning_activity": true, "spending_activity": true, "period": { "value": 1, "unit": "DAY" } } });
    let grace = json!({ "value": 1, "unit": "DAY", "round_up": true });
    let (earned, expiration, downgrade) = match seed % 5 {
        0 => return None,
        1 => (None, json!({ "type": "NO_EXPIRATION" }), json!({ "type": "MULTI_LEVEL" })),
        2 => (Some(tracked("DAY", "IMMEDIATELY")), rolling, json!({ "type": "SINGLE_LEVEL", "grace_period": grace })),
        3 => (Some(tracked("WEEK", "NEXT_TRACKING_PERIOD")), sliding, json!({ "type": "MULTI_LEVEL" })),
        _ => (None, rolling, json!({ "type": "SINGLE_LEVEL" })),
    };
    let kind = if earned.is_some() { "POINT_EARNED" } else { "POINT_BALANCE" };
    Some(
        json!({ "id": "lts_1", "status": "ACTIVE", "type": kind, "card_definition_id": "lcdef_1", "point_earned": earned,
        "expiration": expiration, "downgrade": downgrade }),
    )
}

/// Inserts a related document.
fn insert(store: &mut Store<'_>, kind: &str, id: &str, (parent, holder): (&str, &str), body: &serde_json::Value) {
    let mut row = Document::new(id.into(), None, 0, body.as_object().cloned().unwrap());
    (row.parent, row.holder) = (Some(parent.into()), Some(holder.into()));
    store.insert(kind, &row);
}

/// Inserts the card, and the tiers that its points lead through.
fn create_card(store: &mut Store<'_>, seed: u64, at: Instant) {
    store.insert("loyalty_card", &row());
    if let Some(structure) = structure(seed) {
        insert(store, "tier_structure", "lts_1", ("", ""), &structure);
        insert(store, "program_tier_structure", "1", ("lprg_1", "lts_1"), &json!({}));
        for (index, (min, max)) in [(0, Some(40)), (41, Some(90)), (91, None)].into_iter().enumerate() {
            let id = format!("lt_{index}");
            let rules = json!({ "type": "POINTS", "min_value": min, "max_value": max, "segment": null });
            let tier =
                json!({ "id": id, "name": id, "qualification_rules": rules, "downgrade": { "type": "INHERIT" } });
            insert(store, "loyalty_tier", &id, ("lts_1", ""), &tier);
        }
    }
    store.flush().unwrap();
    let present = LocalTime::read(at, ZONE.into()).unwrap();
    let mut loaded = load(store, row(), &[]).unwrap();
    settle(store, &present, &mut loaded).unwrap();
    store.flush().unwrap();
}

fn random_operation(
    loaded: &LoadedCard,
    random: &mut Random,
    present: &LocalTime,
    ids: &mut Ids,
) -> Result<CardOutcome, CardRefusal> {
    let (card, now, points) = (&loaded.card, present.now(), random.below(50) + 1);
    let (lot, pending) = (ids.hex18("lcpeb_"), ids.hex18("lcppb_"));
    let expiration = expiration(random);
    let credit = Credit { lot: &lot, expiration: &expiration };
    // The settled balance in a fixed order: the same with and without the alarm.
    let settled = comparable(&card.settle(&now)?.card);
    let one_of = |ids: Vec<&Text>, random: &mut Random| {
        let count = u64::try_from(ids.len()).unwrap();
        (count > 0).then(|| ids[usize::try_from(random.below(count)).unwrap()].clone())
    };
    match random.below(9) {
        0..3 => card.earn(points, credit, &delay(random), &pending, &now),
        3 => card.add(points, credit, &now),
        4 => card.take(DebitReason::Spend, points, &now),
        5 => card.take(DebitReason::Subtract { below_zero: random.below(2) == 0 }, points, &now),
        6 => match one_of(settled.lots.iter().map(|lot| &lot.id).collect(), random) {
            Some(lot) => card.expire(&lot, &now),
            None => card.settle(&now),
        },
        7 => match one_of(settled.pending.iter().map(|pending| &pending.id).collect(), random) {
            Some(pending) if random.below(2) == 0 => card.activate(&pending, &now),
            Some(pending) => card.cancel(&pending, &now),
            None => card.settle(&now),
        },
        _ => card.event("ms_1", &now),
    }
}

/// Counts of the tables: all accounts of the card, and its due rows.
fn number(store: &Store<'_>, statement: &str) -> Option<i64> {
    match store.row(statement, &[]).unwrap().unwrap().as_slice() {
        [SqlValue::Int(number)] => Some(*number),
        _ => None,
    }
}

/// Returns the stored data of a card: rows, transfers and accounts.
fn dump(store: &Store<'_>) -> Vec<Vec<SqlValue>> {
    let mut all = Vec::new();
    for statement in [
        "SELECT kind, id, parent, holder, created_at, updated_at, body FROM document WHERE parent IN ('lcrd_1', 'lmbr_1') ORDER BY kind, id",
        "SELECT id, chain, debit, credit, amount, at FROM transfer ORDER BY id",
        "SELECT id, balance FROM account ORDER BY id",
        "SELECT id, at, kind, cursor FROM due",
    ] {
        all.extend(store.rows(statement, &[]).unwrap());
    }
    all
}

/// Returns the number of tier events in the histories without the alarm.
fn passages(all: &[Vec<SqlValue>]) -> usize {
    let is_one = |row: &&Vec<SqlValue>| row.first() == Some(&SqlValue::Text("tier_transaction".into()));
    all.iter().filter(is_one).count()
}

/// Plays a history with or without the alarm; returns how often work was due at an operation, and the final stored data.
fn run_history(seed: u64, has_alarm: bool) -> (u64, Vec<Vec<SqlValue>>) {
    let mut random = Random(seed);
    let sql = migrated();
    let mut at = Instant::parse("2026-06-01T10:00:00Z").unwrap();
    let mut store = Store::open(&sql, at.millis()).unwrap();
    create_card(&mut store, seed, at);
    let mut settled: u64 = 0;
    for step in 0..30_u64 {
        let delay_ms = i64::try_from(random.below(30)).unwrap() * 1_800_000;
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&(seed * 1_000 + step).to_le_bytes());
        for _ in 0..2 {
            at = at.later(delay_ms);
            if has_alarm {
                let (context, cursor) = (Context { now: at, seed: bytes, first_number: None }, json!(ZONE).to_string());
                // Slices of every size give the same result.
                while number(&store, "SELECT MIN(at) FROM due").is_some_and(|due| due <= at.millis()) {
                    let rows = 1 + (seed + step) % 30;
                    run_job(&mut store, &context, &JobSlice { id: "lcrd_1", kind: SETTLE_JOB, cursor: &cursor, rows })
                        .unwrap();
                    store.flush().unwrap();
                }
            }
        }
        let present = LocalTime::read(at, ZONE.into()).unwrap();
        let mut loaded = load(&store, row(), &[]).unwrap();
        let mut ids = Ids::new(&Context { now: at, seed: bytes, first_number: None });
        match random_operation(&loaded, &mut random, &present, &mut ids) {
            Ok(outcome) => {
                settled += u64::try_from(outcome.due.len()).unwrap();
                let noted =
                    TransactionDetails { spent_on: Some(SpendingTarget::Order), ..TransactionDetails::default() };
                write_outcome(&mut store, &present, &mut loaded, outcome, Some((&noted, &mut ids))).unwrap();
            }
            Err(_) => drop(settle(&mut store, &present, &mut loaded).unwrap()),
        }
        store.flush().unwrap();
        let back = load(&store, row(), &[]).unwrap();
        assert_eq!(comparable(&back.card), comparable(&loaded.card), "history {seed}, step {step}");
        assert_eq!(number(&store, "SELECT COALESCE(SUM(balance), 0) FROM account"), Some(0));
        let due = number(&store, "SELECT MIN(at) FROM due");
        let tier_state = |loaded: &LoadedCard| loaded.tier_state.as_ref().map(|stored| stored.state.clone());
        assert_eq!(tier_state(&back), tier_state(&loaded), "history {seed}, step {step}");
        assert_eq!(due, loaded.next_due(&present.zone).map(Instant::millis), "history {seed}, step {step}");
    }
    (settled, dump(&store))
}

#[test]
fn a_stored_card_reads_back_equal() {
    let settled: u64 = (0..100).map(|seed| run_history(seed, false).0).sum();
    assert!(settled > 100, "only {settled} things were due");
}

#[test]
fn alarm_and_reader_settle_a_card_equally() {
    let mut noted = 0;
    for seed in 0..40 {
        let ((_, lazy), (late, eager)) = (run_history(seed, false), run_history(seed, true));
        assert_eq!(late, 0, "the alarm has settled what was due");
        assert_eq!(lazy, eager, "history {seed}");
        noted += passages(&lazy);
    }
    assert!(noted > 200, "only {noted} things happened to tiers");
}

/// Creates cards whose points have all expired by the returned instant. A card has one lot, or several that expired on earlier days.
fn create_expired_cards(store: &mut Store<'_>, cards: u64) -> (u64, Instant) {
    let at = Instant::parse("2026-06-01T10:00:00Z").unwrap();
    let present = LocalTime::read(at, ZONE.into()).unwrap();
    let mut lots = 0;
    for card in 0..cards {
        let mut document = row();
        document.id = format!("lcrd_{card}");
        store.insert("loyalty_card", &document);
        store.flush().unwrap();
        let mut loaded = load(store, document, &[]).unwrap();
        for day in 0..=card % 3 {
            let lot = Text::from(format!("lcpeb_{card}_{day}"));
            let period = Period { value: u32::try_from(day + 1).unwrap(), unit: Unit::Day };
            let expiration = Expiration::Rolling { period, rounding: None };
            let outcome = loaded.card.add(5, Credit { lot: &lot, expiration: &expiration }, &present.now()).unwrap();
            let seed = [u8::try_from(card).unwrap(), u8::try_from(day).unwrap()];
            let mut bytes = [0; 32];
            bytes[..2].copy_from_slice(&seed);
            let mut ids = Ids::new(&Context { now: at, seed: bytes, first_number: None });
            write_outcome(store, &present, &mut loaded, outcome, Some((&TransactionDetails::default(), &mut ids)))
                .unwrap();
            store.flush().unwrap();
            lots += 1;
        }
    }
    (lots, at.later(5 * 86_400_000))
}

/// Runs the alarm with this limit of rows; returns the number of rows written.
fn alarm(store: &mut Store<'_>, now: Instant, rows: u64) -> u64 {
    const WRITTEN: &str = "SELECT total_changes()";
    let before = number(store, WRITTEN).unwrap();
    service::alarm(store, &Context { now, seed: [9; 32], first_number: None }, rows).unwrap();
    u64::try_from(number(store, WRITTEN).unwrap() - before).unwrap()
}

const DUE: &str = "SELECT COUNT(*) FROM due";
const LAPSED: &str =
    "SELECT COUNT(*) FROM document WHERE kind = 'card_transaction' AND json_extract(body, '$.type') = 'POINTS_EXPIRED'";
const LEFT: &str = "SELECT COALESCE(SUM(balance), 0) FROM account WHERE id LIKE '%/lot/%'";

#[test]
fn many_due_cards_are_settled_in_slices_between_calls() {
    for (rows, pieces) in [(50, 20), (200, 5), (1, 40)] {
        let sql = migrated();
        let mut store = Store::open(&sql, 0).unwrap();
        let (lots, now) = create_expired_cards(&mut store, 40);
        assert_eq!(number(&store, DUE), Some(40));
        let (mut alarms, mut random) = (0, Random(rows));
        while number(&store, DUE) > Some(0) {
            let left = number(&store, DUE);
            let written = alarm(&mut store, now, rows);
            assert!(number(&store, DUE) <= left && number(&store, LEFT) < Some(i64::MAX));
            // A slice smaller than a card does one step of it. One row more moves the mark up to which documents are counted.
            assert!(written > 0 && written <= rows.max(8) + 1, "{written} rows were written by a piece of {rows}");
            alarms += 1;
            // A reader finds the card settled, with or without the alarm.
            let present = LocalTime::read(now, ZONE.into()).unwrap();
            let card_id = format!("lcrd_{}", random.below(40));
            let mut loaded = load(&store, store.document("loyalty_card", &card_id).unwrap().unwrap(), &[]).unwrap();
            if random.below(4) == 0 {
                settle(&mut store, &present, &mut loaded).unwrap();
                store.flush().unwrap();
                assert_eq!(loaded.card.balance(), 0);
            }
            assert_eq!(loaded.card.settle(&present.now()).unwrap().card.balance(), 0);
        }
        assert!(alarms >= pieces, "pieces of {rows} rows took {alarms} alarms");
        assert_eq!(number(&store, LAPSED), i64::try_from(lots).ok());
        assert_eq!(number(&store, LEFT), Some(0));
        let expired = "SELECT SUM(balance) FROM account WHERE id LIKE '%/expired'";
        assert_eq!(number(&store, expired), i64::try_from(lots * 5).ok());
        assert_eq!(alarm(&mut store, now, rows), 0, "there is nothing left to do");
    }
}

/// Creates a card with this many pending points, due on one day, and the tiers that they lead through; returns an instant of that day.
fn create_pending_points(store: &mut Store<'_>, count: u64) -> Instant {
    let mut at = Instant::parse("2026-06-01T10:00:00Z").unwrap();
    create_card(store, 1, at);
    let period = Period { value: 3, unit: Unit::Day };
    let expiration = Expiration::Rolling { period, rounding: None };
    let delay = Delay::FixedDates(DateOfYear::new(1, 7).into_iter().collect());
    let mut loaded = load(store, row(), &[]).unwrap();
    for index in 0..count {
        at = at.later(1_000);
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&index.to_le_bytes());
        let present = LocalTime::read(at, ZONE.into()).unwrap();
        let mut ids = Ids::new(&Context { now: at, seed: bytes, first_number: None });
        let (lot, pending) = (ids.hex18("lcpeb_"), ids.hex18("lcppb_"));
        let credit = Credit { lot: &lot, expiration: &expiration };
        let outcome = loaded.card.earn(1, credit, &delay, &pending, &present.now()).unwrap();
        write_outcome(store, &present, &mut loaded, outcome, Some((&TransactionDetails::default(), &mut ids))).unwrap();
        store.flush().unwrap();
    }
    Instant::parse("2026-07-02T10:00:00Z").unwrap()
}

#[test]
fn one_card_is_settled_in_slices_as_in_one_step() {
    const COUNT: u64 = 300;
    let played = |rows: Option<u64>| {
        let sql = migrated();
        let mut store = Store::open(&sql, 0).unwrap();
        let now = create_pending_points(&mut store, COUNT);
        let present = LocalTime::read(now, ZONE.into()).unwrap();
        let mut alarms = 0;
        while let Some(rows) = rows.filter(|_| number(&store, "SELECT MIN(at) FROM due") <= Some(now.millis())) {
            alarm(&mut store, now, rows);
            alarms += 1;
            let loaded = load(&store, row(), &[]).unwrap();
            assert_eq!(loaded.card.settle(&present.now()).unwrap().card.balance(), i64::try_from(COUNT).unwrap());
            assert_eq!(number(&store, "SELECT COALESCE(SUM(balance), 0) FROM account"), Some(0));
        }
        let mut loaded = load(&store, row(), &[]).unwrap();
        assert_eq!(rows.is_some(), !settle(&mut store, &present, &mut loaded).unwrap());
        store.flush().unwrap();
        (alarms, dump(&store))
    };
    let (_, at_once) = played(None);
    let (alarms, in_pieces) = played(Some(50));
    assert!((10..60).contains(&alarms), "{alarms} alarms");
    assert_eq!(at_once, in_pieces);
}

#[test]
fn an_unsettled_card_blocks_no_other() {
    let sql = migrated();
    let mut store = Store::open(&sql, 0).unwrap();
    let (lots, mut now) = create_expired_cards(&mut store, 12);
    store.write("UPDATE document SET body = json_set(body, '$.kept', json('{}')) WHERE id = 'lcpeb_3_0'", Vec::new());
    store.flush().unwrap();
    let mut failed = 0;
    while number(&store, DUE) > Some(0) {
        let context = Context { now, seed: [9; 32], first_number: None };
        if service::alarm(&mut store, &context, 100).is_err() {
            failed += 1;
            store.discard();
            service::record_alarm_failure(&mut store, &context, "it does not read").unwrap();
            now = now.later(3_600_000);
        }
    }
    assert_eq!(failed, 6, "it is given up after as many attempts as any work");
    assert_eq!(number(&store, LAPSED), i64::try_from(lots - 1).ok());
}
