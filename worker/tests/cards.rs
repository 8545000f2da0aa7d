//! Histories of cards: after every operation, the card that is read back from its rows and accounts is the card that the engine made, and
//! it is settled by the alarm as it is by whoever reads it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail loudly"
)]

use scrip::Context;
use scrip::id::Ids;
use scrip::points::{
    Arrival, Card, Custom, DateOfYear, Delay, Expiration, Outcome, Period, Refused, Rounding, Sliding, Take, Unit,
};
use scrip::text::Text;
use scrip::time::Instant;
use scrip_worker::service;
use scrip_worker::shop::card_changes::{SETTLE, settle, sweep, write};
use scrip_worker::shop::card_rows::{SpentOn, Told};
use scrip_worker::shop::cards::{Held, Present, load};
use scrip_worker::store::Store;
use scrip_worker::store::document::Document;
use scrip_worker::store::sql::Value;
use scrip_worker::store::sqlite::Sqlite;
use scrip_worker::work::actions::Piece;
use serde_json::json;

const ZONE: &str = "Europe/Warsaw";

/// Numbers that look like chance and are the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

fn expiration(chance: &mut Chance) -> Expiration {
    let period = Period { value: u32::try_from(chance.below(3) + 1).unwrap(), unit: Unit::Day };
    let custom = if chance.below(2) == 0 { Custom::Any } else { Custom::Of(vec!["ms_1".into()]) };
    match chance.below(5) {
        0 => Expiration::Never,
        1 => Expiration::Rolling { period, rounding: None },
        2 => Expiration::Rolling { period, rounding: Some(Rounding::Month) },
        3 => Expiration::Calendar([DateOfYear::new(15, 6), DateOfYear::new(31, 12)].into_iter().flatten().collect()),
        _ => Expiration::Sliding(Sliding { earning: true, spending: true, custom, period }),
    }
}

fn delay(chance: &mut Chance) -> Delay {
    let period = Period { value: 2, unit: Unit::Day };
    match chance.below(4) {
        0 => Delay::Immediate,
        1 => Delay::Period(period),
        2 => Delay::FixedDates(DateOfYear::new(1, 7).into_iter().collect()),
        _ => Delay::Event { types: vec!["ms_1".into()], cancel: period },
    }
}

/// What matters of a card: closed and empty lots change nothing.
fn plain(card: &Card) -> Card {
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

/// A tier structure of the card's program, of another kind for each seed; none for some.
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

/// Puts a document there that belongs to another.
fn put(store: &mut Store<'_>, kind: &str, id: &str, (parent, holder): (&str, &str), body: &serde_json::Value) {
    let mut row = Document::new(id.into(), None, 0, body.as_object().cloned().unwrap());
    (row.parent, row.holder) = (Some(parent.into()), Some(holder.into()));
    store.insert(kind, &row);
}

/// Puts the card there, and the tiers that its points lead through.
fn begin(store: &mut Store<'_>, seed: u64, at: Instant) {
    store.insert("loyalty_card", &row());
    if let Some(structure) = structure(seed) {
        put(store, "tier_structure", "lts_1", ("", ""), &structure);
        put(store, "program_tier_structure", "1", ("lprg_1", "lts_1"), &json!({}));
        for (place, (min, max)) in [(0, Some(40)), (41, Some(90)), (91, None)].into_iter().enumerate() {
            let id = format!("lt_{place}");
            let rules = json!({ "type": "POINTS", "min_value": min, "max_value": max, "segment": null });
            let tier =
                json!({ "id": id, "name": id, "qualification_rules": rules, "downgrade": { "type": "INHERIT" } });
            put(store, "loyalty_tier", &id, ("lts_1", ""), &tier);
        }
    }
    store.commit().unwrap();
    let present = Present::read(at, ZONE.into()).unwrap();
    let mut held = load(store, row(), &[]).unwrap();
    settle(store, &present, &mut held).unwrap();
    store.commit().unwrap();
}

fn act(held: &Held, chance: &mut Chance, present: &Present, ids: &mut Ids) -> Result<Outcome, Refused> {
    let (card, now, points) = (&held.card, present.now(), chance.below(50) + 1);
    let (lot, pending) = (ids.hex18("lcpeb_"), ids.hex18("lcppb_"));
    let expiration = expiration(chance);
    let arrival = Arrival { lot: &lot, expiration: &expiration };
    // What is in hand once everything is settled, in one order: the same with the alarm and without.
    let settled = plain(&card.settle(&now)?.card);
    let one_of = |ids: Vec<&Text>, chance: &mut Chance| {
        let count = u64::try_from(ids.len()).unwrap();
        (count > 0).then(|| ids[usize::try_from(chance.below(count)).unwrap()].clone())
    };
    match chance.below(9) {
        0..3 => card.earn(points, arrival, (&delay(chance), &pending), &now),
        3 => card.add(points, arrival, &now),
        4 => card.take(Take::Spend, points, &now),
        5 => card.take(Take::Subtract { below_zero: chance.below(2) == 0 }, points, &now),
        6 => match one_of(settled.lots.iter().map(|lot| &lot.id).collect(), chance) {
            Some(lot) => card.expire(&lot, &now),
            None => card.settle(&now),
        },
        7 => match one_of(settled.pending.iter().map(|pending| &pending.id).collect(), chance) {
            Some(pending) if chance.below(2) == 0 => card.activate(&pending, &now),
            Some(pending) => card.cancel(&pending, &now),
            None => card.settle(&now),
        },
        _ => card.event("ms_1", &now),
    }
}

/// Numbers of the tables: all accounts of the card, and when it is due.
fn number(store: &Store<'_>, statement: &str) -> Option<i64> {
    match store.row(statement, &[]).unwrap().unwrap().as_slice() {
        [Value::Int(number)] => Some(*number),
        _ => None,
    }
}

/// What is stored of a card: its rows, its transfers and its accounts.
fn dump(store: &Store<'_>) -> Vec<Vec<Value>> {
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

/// What happened to tiers, in the histories without the alarm.
fn passages(all: &[Vec<Value>]) -> usize {
    let is_one = |row: &&Vec<Value>| row.first() == Some(&Value::Text("tier_transaction".into()));
    all.iter().filter(is_one).count()
}

/// Plays a history, with or without the alarm; says how much was due when something was done, and what is stored in the end.
fn play(seed: u64, has_alarm: bool) -> (u64, Vec<Vec<Value>>) {
    let mut chance = Chance(seed);
    let sql = Sqlite::memory().unwrap();
    let mut at = Instant::parse("2026-06-01T10:00:00Z").unwrap();
    let mut store = Store::open(&sql, at.millis()).unwrap();
    begin(&mut store, seed, at);
    let mut settled: u64 = 0;
    for step in 0..30_u64 {
        let wait = i64::try_from(chance.below(30)).unwrap() * 1_800_000;
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&(seed * 1_000 + step).to_le_bytes());
        for _ in 0..2 {
            at = at.later(wait);
            if has_alarm {
                let (context, cursor) = (Context { now: at, seed: bytes }, json!(ZONE).to_string());
                // Pieces of any size are the same in the end.
                while number(&store, "SELECT MIN(at) FROM due").is_some_and(|due| due <= at.millis()) {
                    let rows = 1 + (seed + step) % 30;
                    sweep(&mut store, &context, &Piece { id: "lcrd_1", kind: SETTLE, cursor: &cursor, rows }).unwrap();
                    store.commit().unwrap();
                }
            }
        }
        let present = Present::read(at, ZONE.into()).unwrap();
        let mut held = load(&store, row(), &[]).unwrap();
        let mut ids = Ids::new(&Context { now: at, seed: bytes });
        match act(&held, &mut chance, &present, &mut ids) {
            Ok(outcome) => {
                settled += u64::try_from(outcome.due.len()).unwrap();
                let told = Told { spent_on: Some(SpentOn::Order), ..Told::default() };
                write(&mut store, &present, &mut held, outcome, Some((&told, &mut ids))).unwrap();
            }
            Err(_) => drop(settle(&mut store, &present, &mut held).unwrap()),
        }
        store.commit().unwrap();
        let back = load(&store, row(), &[]).unwrap();
        assert_eq!(plain(&back.card), plain(&held.card), "history {seed}, step {step}");
        assert_eq!(number(&store, "SELECT COALESCE(SUM(balance), 0) FROM account"), Some(0));
        let due = number(&store, "SELECT MIN(at) FROM due");
        let stands = |held: &Held| held.stood.as_ref().map(|stood| stood.standing.clone());
        assert_eq!(stands(&back), stands(&held), "history {seed}, step {step}");
        assert_eq!(due, held.next_due(&present.zone).map(Instant::millis), "history {seed}, step {step}");
    }
    (settled, dump(&store))
}

#[test]
fn a_card_is_read_back_as_it_was_written() {
    let settled: u64 = (0..100).map(|seed| play(seed, false).0).sum();
    assert!(settled > 100, "only {settled} things were due");
}

#[test]
fn the_alarm_settles_a_card_as_whoever_reads_it() {
    let mut told = 0;
    for seed in 0..40 {
        let ((_, lazy), (late, eager)) = (play(seed, false), play(seed, true));
        assert_eq!(late, 0, "the alarm has settled what was due");
        assert_eq!(lazy, eager, "history {seed}");
        told += passages(&lazy);
    }
    assert!(told > 200, "only {told} things happened to tiers");
}

/// Many cards whose points all have lapsed by the moment that is given: a card has one lot, or several that lapsed on days before.
fn lapsed(store: &mut Store<'_>, cards: u64) -> (u64, Instant) {
    let at = Instant::parse("2026-06-01T10:00:00Z").unwrap();
    let present = Present::read(at, ZONE.into()).unwrap();
    let mut lots = 0;
    for card in 0..cards {
        let mut document = row();
        document.id = format!("lcrd_{card}");
        store.insert("loyalty_card", &document);
        store.commit().unwrap();
        let mut held = load(store, document, &[]).unwrap();
        for day in 0..=card % 3 {
            let lot = Text::from(format!("lcpeb_{card}_{day}"));
            let period = Period { value: u32::try_from(day + 1).unwrap(), unit: Unit::Day };
            let expiration = Expiration::Rolling { period, rounding: None };
            let outcome = held.card.add(5, Arrival { lot: &lot, expiration: &expiration }, &present.now()).unwrap();
            let seed = [u8::try_from(card).unwrap(), u8::try_from(day).unwrap()];
            let mut bytes = [0; 32];
            bytes[..2].copy_from_slice(&seed);
            let mut ids = Ids::new(&Context { now: at, seed: bytes });
            write(store, &present, &mut held, outcome, Some((&Told::default(), &mut ids))).unwrap();
            store.commit().unwrap();
            lots += 1;
        }
    }
    (lots, at.later(5 * 86_400_000))
}

/// Runs the alarm with so many rows; says how many were written.
fn alarm(store: &mut Store<'_>, now: Instant, rows: u64) -> u64 {
    const WRITTEN: &str = "SELECT total_changes()";
    let before = number(store, WRITTEN).unwrap();
    service::alarm(store, &Context { now, seed: [9; 32] }, rows).unwrap();
    u64::try_from(number(store, WRITTEN).unwrap() - before).unwrap()
}

const DUE: &str = "SELECT COUNT(*) FROM due";
const LAPSED: &str =
    "SELECT COUNT(*) FROM document WHERE kind = 'card_transaction' AND json_extract(body, '$.type') = 'POINTS_EXPIRED'";
const LEFT: &str = "SELECT COALESCE(SUM(balance), 0) FROM account WHERE id LIKE '%/lot/%'";

#[test]
fn cards_that_are_due_at_once_are_settled_in_pieces_once_each_while_calls_go_on() {
    for (rows, pieces) in [(50, 20), (200, 5), (1, 40)] {
        let sql = Sqlite::memory().unwrap();
        let mut store = Store::open(&sql, 0).unwrap();
        let (lots, now) = lapsed(&mut store, 40);
        assert_eq!(number(&store, DUE), Some(40));
        let (mut alarms, mut chance) = (0, Chance(rows));
        while number(&store, DUE) > Some(0) {
            let left = number(&store, DUE);
            let written = alarm(&mut store, now, rows);
            assert!(number(&store, DUE) <= left && number(&store, LEFT) < Some(i64::MAX));
            // A piece of less than a card does one thing of it.
            assert!(written > 0 && written <= rows.max(8), "{written} rows were written by a piece of {rows}");
            alarms += 1;
            // Whoever asks for a card finds it settled, whether the alarm was there or not.
            let present = Present::read(now, ZONE.into()).unwrap();
            let asked = format!("lcrd_{}", chance.below(40));
            let mut held = load(&store, store.document("loyalty_card", &asked).unwrap().unwrap(), &[]).unwrap();
            if chance.below(4) == 0 {
                settle(&mut store, &present, &mut held).unwrap();
                store.commit().unwrap();
                assert_eq!(held.card.balance(), 0);
            }
            assert_eq!(held.card.settle(&present.now()).unwrap().card.balance(), 0);
        }
        assert!(alarms >= pieces, "pieces of {rows} rows took {alarms} alarms");
        assert_eq!(number(&store, LAPSED), i64::try_from(lots).ok());
        assert_eq!(number(&store, LEFT), Some(0));
        let expired = "SELECT SUM(balance) FROM account WHERE id LIKE '%/expired'";
        assert_eq!(number(&store, expired), i64::try_from(lots * 5).ok());
        assert_eq!(alarm(&mut store, now, rows), 0, "there is nothing left to do");
    }
}

/// A card with so much that waits, all of it for one day, and the tiers that it leads through; gives a moment of that day.
fn waiting(store: &mut Store<'_>, count: u64) -> Instant {
    let mut at = Instant::parse("2026-06-01T10:00:00Z").unwrap();
    begin(store, 1, at);
    let period = Period { value: 3, unit: Unit::Day };
    let expiration = Expiration::Rolling { period, rounding: None };
    let delay = Delay::FixedDates(DateOfYear::new(1, 7).into_iter().collect());
    let mut held = load(store, row(), &[]).unwrap();
    for place in 0..count {
        at = at.later(1_000);
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&place.to_le_bytes());
        let present = Present::read(at, ZONE.into()).unwrap();
        let mut ids = Ids::new(&Context { now: at, seed: bytes });
        let (lot, pending) = (ids.hex18("lcpeb_"), ids.hex18("lcppb_"));
        let arrival = Arrival { lot: &lot, expiration: &expiration };
        let outcome = held.card.earn(1, arrival, (&delay, &pending), &present.now()).unwrap();
        write(store, &present, &mut held, outcome, Some((&Told::default(), &mut ids))).unwrap();
        store.commit().unwrap();
    }
    Instant::parse("2026-07-02T10:00:00Z").unwrap()
}

#[test]
fn a_card_on_which_much_is_due_is_settled_in_pieces_as_it_is_at_once() {
    const COUNT: u64 = 300;
    let played = |rows: Option<u64>| {
        let sql = Sqlite::memory().unwrap();
        let mut store = Store::open(&sql, 0).unwrap();
        let now = waiting(&mut store, COUNT);
        let present = Present::read(now, ZONE.into()).unwrap();
        let mut alarms = 0;
        while let Some(rows) = rows.filter(|_| number(&store, "SELECT MIN(at) FROM due") <= Some(now.millis())) {
            alarm(&mut store, now, rows);
            alarms += 1;
            let held = load(&store, row(), &[]).unwrap();
            assert_eq!(held.card.settle(&present.now()).unwrap().card.balance(), i64::try_from(COUNT).unwrap());
            assert_eq!(number(&store, "SELECT COALESCE(SUM(balance), 0) FROM account"), Some(0));
        }
        let mut held = load(&store, row(), &[]).unwrap();
        assert_eq!(rows.is_some(), !settle(&mut store, &present, &mut held).unwrap());
        store.commit().unwrap();
        (alarms, dump(&store))
    };
    let (_, at_once) = played(None);
    let (alarms, in_pieces) = played(Some(50));
    assert!((10..60).contains(&alarms), "{alarms} alarms");
    assert_eq!(at_once, in_pieces);
}

#[test]
fn a_card_that_cannot_be_settled_holds_up_no_other() {
    let sql = Sqlite::memory().unwrap();
    let mut store = Store::open(&sql, 0).unwrap();
    let (lots, mut now) = lapsed(&mut store, 12);
    store.write("UPDATE document SET body = json_set(body, '$.kept', json('{}')) WHERE id = 'lcpeb_3_0'", Vec::new());
    store.commit().unwrap();
    let mut failed = 0;
    while number(&store, DUE) > Some(0) {
        let context = Context { now, seed: [9; 32] };
        if service::alarm(&mut store, &context, 100).is_err() {
            failed += 1;
            store.discard();
            service::alarm_failed(&mut store, &context, "it does not read").unwrap();
            now = now.later(3_600_000);
        }
    }
    assert_eq!(failed, 6, "it is given up after as many attempts as any work");
    assert_eq!(number(&store, LAPSED), i64::try_from(lots - 1).ok());
}
