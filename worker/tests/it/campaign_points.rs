//! Tests that points of loyalty campaigns expire by their rules, for all operations on the cards. Random histories run through the routes
//! and are compared with a naive second model, which replays the list of operations after each step.

use crate::in_process::Edge;
use crate::shops::random::Random;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// 2026-01-10, a quarter past noon.
const BEGIN: i64 = 1_768_047_300_000;
const DAY: i64 = 86_400_000;
const HISTORIES: u64 = 80;
const STEPS: u64 = 30;
/// The balance of a new card.
const WELCOME: i64 = 40;
const CODES: [&str; 2] = ["CLUB-1", "CLUB-2"];
const NEVER: i64 = i64::MAX;

/// Converts days since 1970 to a date and back, with an independent calendar.
fn date(days: i64) -> (i64, i64, i64) {
    let (era, of_era) = ((days + 719_468).div_euclid(146_097), (days + 719_468).rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1)
}

fn day_of(year: i64, month: i64, day: i64) -> i64 {
    let mut days = (year - 1970) * 365 + (year - 1969) / 4 - (year - 1901) / 100 + (year - 1601) / 400;
    days += (1..month).map(|month| length(year, month)).sum::<i64>();
    days + day.min(length(year, month)) - 1
}

fn length(year: i64, month: i64) -> i64 {
    match month {
        2 if (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn text(days: i64) -> String {
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The rules of a program, and the last valid day of points that arrive on a day.
#[derive(Debug, Clone, Copy)]
enum Rules {
    Never,
    /// A number of months, extended to the end of a block of months, or of the next month with this number.
    Months(i64, Option<i64>, Option<i64>),
    Fixed(i64, i64),
}

impl Rules {
    fn random(random: &mut Random) -> Rules {
        let months = i64::try_from(random.below(4)).unwrap();
        match random.below(8) {
            0 => Rules::Never,
            1..4 => Rules::Months(months, None, None),
            4..6 => Rules::Months(months, Some([1, 3, 6, 12][usize::try_from(random.below(4)).unwrap()]), None),
            6 => Rules::Months(months, None, Some(random.between(1, 12))),
            _ => Rules::Fixed(random.between(1, 12), 31),
        }
    }

    fn to_json(self) -> Json {
        let ends =
            BTreeMap::from([(1, "END_OF_MONTH"), (3, "END_OF_QUARTER"), (6, "END_OF_HALF_YEAR"), (12, "END_OF_YEAR")]);
        match self {
            Rules::Never => Json::Null,
            Rules::Months(months, None, None) => json!({ "period_type": "MONTH", "period_value": months }),
            Rules::Months(months, Some(end), _) => {
                json!({ "period_type": "MONTH", "period_value": months, "rounding_type": ends[&end] })
            }
            Rules::Months(months, None, Some(month)) => {
                json!({ "period_type": "MONTH", "period_value": months, "rounding_type": "PARTICULAR_MONTH", "rounding_value": month })
            }
            Rules::Fixed(month, day) => {
                json!({ "period_type": "FIXED_DAY_OF_YEAR", "fixed_month": month, "fixed_day": day })
            }
        }
    }

    fn last_day(self, today: i64) -> i64 {
        let (year, month, day) = date(today);
        let end_of = |months: i64| day_of(months.div_euclid(12), months.rem_euclid(12) + 1, 31);
        match self {
            Rules::Never => NEVER,
            Rules::Fixed(month, day) => {
                let this = day_of(year, month, day);
                if this >= today { this } else { day_of(year + 1, month, day) }
            }
            Rules::Months(more, block, in_month) => {
                let months = year * 12 + month - 1 + more;
                match (block, in_month) {
                    (Some(block), _) => end_of(months - months.rem_euclid(12) % block + block - 1),
                    (None, Some(wanted)) => end_of(months + (wanted - 1 - months).rem_euclid(12)),
                    (None, None) => day_of(months.div_euclid(12), months.rem_euclid(12) + 1, day),
                }
            }
        }
    }
}

/// An operation with its day.
#[derive(Debug, Clone)]
enum Operation {
    Came {
        card: usize,
        points: i64,
        last_day: i64,
    },
    Removed {
        card: usize,
        points: i64,
    },
    Spent {
        card: usize,
        points: i64,
    },
    /// Refunds the spending at an index of the list.
    RolledBack(usize),
}

#[derive(Debug, Default, PartialEq, Eq)]
struct CardPoints {
    points: i64,
    balance: i64,
    subtracted: i64,
    expired: i64,
    next: Option<(String, i64)>,
}

#[derive(Default)]
struct Card {
    totals: CardPoints,
    lots: BTreeMap<i64, i64>,
}

impl Card {
    fn expire(&mut self, today: i64) {
        let later = self.lots.split_off(&today);
        self.totals.expired += std::mem::replace(&mut self.lots, later).values().sum::<i64>();
    }

    fn take(&mut self, mut points: i64) -> Vec<(i64, i64)> {
        let mut taken = Vec::new();
        for (day, there) in &mut self.lots {
            let now = points.min(*there);
            *there -= now;
            points -= now;
            taken.push((*day, now));
        }
        assert_eq!(points, 0, "more was taken than there is");
        taken
    }
}

fn model(history: &[(i64, Operation)], today: i64) -> [CardPoints; 2] {
    let mut cards: [Card; 2] = Default::default();
    let mut spent: BTreeMap<usize, (usize, Vec<(i64, i64)>)> = BTreeMap::new();
    for (index, (day, operation)) in history.iter().enumerate() {
        cards.iter_mut().for_each(|card| card.expire(*day));
        match operation {
            Operation::Came { card, points, last_day } => {
                cards[*card].totals.points += points;
                *cards[*card].lots.entry(*last_day).or_default() += points;
            }
            Operation::Removed { card, points } => {
                cards[*card].totals.subtracted += points;
                cards[*card].take(*points);
            }
            Operation::Spent { card, points } => drop(spent.insert(index, (*card, cards[*card].take(*points)))),
            Operation::RolledBack(of) => {
                let (card, parts) = &spent[of];
                for (last_day, points) in parts {
                    *cards[*card].lots.entry(*last_day).or_default() += points;
                }
                cards[*card].expire(*day);
            }
        }
    }
    cards.map(|mut card| {
        card.expire(today);
        card.totals.balance = card.lots.values().sum();
        let next = card.lots.iter().find(|(day, points)| **day != NEVER && **points > 0);
        card.totals.next = next.map(|(day, points)| (text(*day), *points));
        card.totals
    })
}

struct Shop {
    edge: Edge,
    now: i64,
    rules: Rules,
    reward: String,
    history: Vec<(i64, Operation)>,
    /// Redemptions that may be rolled back, with the index of each in the history.
    redeemed: Vec<(String, usize)>,
}

impl Shop {
    fn open(random: &mut Random) -> Shop {
        let rules = Rules::random(random);
        let mut shop = Shop {
            edge: Edge::new(),
            now: BEGIN,
            rules,
            reward: String::new(),
            history: Vec::new(),
            redeemed: Vec::new(),
        };
        let mut card = json!({ "points": WELCOME });
        if !rules.to_json().is_null() {
            card["expiration_rules"] = rules.to_json();
        }
        shop.create("/v1/loyalties", &json!({ "name": "Club", "vouchers_count": 2, "voucher": { "loyalty_card": card, "code_config": { "pattern": "CLUB-#", "charset": "12" } } }));
        while shop.edge.alarm("proj_dev", shop.now) {}
        let coin =
            json!({ "name": "Money off", "parameters": { "coin": { "exchange_ratio": "1", "points_ratio": "1" } } });
        shop.reward = shop.create("/v1/rewards", &coin)["id"].as_str().unwrap().to_owned();
        shop.create(&format!("/v1/rewards/{}/assignments", shop.reward), &json!({ "campaign": "Club" }));
        for (card, code) in CODES.into_iter().enumerate() {
            shop.advance_time(random);
            shop.create("/v1/loyalties/Club/members", &json!({ "voucher": code, "customer": { "source_id": code } }));
            shop.expect_credit(card, WELCOME, rules.last_day(shop.today()));
        }
        shop
    }

    fn call(&self, method: &str, path: &str, body: &Json) -> (u16, Json) {
        let headers = vec![("x-app-id".into(), "dev-app".into()), ("x-app-token".into(), "dev-token".into())];
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let (method, path, query) = (method.into(), path.into(), query.into());
        let reply = self.edge.send(Request { method, path, query, headers, body }, self.now, None);
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
    }

    fn create(&self, path: &str, body: &Json) -> Json {
        let (status, made) = self.call("POST", path, body);
        assert!(status < 300, "{path} {body}: {status} {made}");
        made
    }

    fn today(&self) -> i64 {
        self.now.div_euclid(DAY)
    }

    fn advance_time(&mut self, random: &mut Random) {
        let days = [0, 0, 0, 1, 4, 9, 31, 70, 400][usize::try_from(random.below(9)).unwrap()];
        self.now += days * DAY + random.between(0, DAY / 2);
    }

    fn expect_credit(&mut self, card: usize, points: i64, last_day: i64) {
        self.history.push((self.today(), Operation::Came { card, points, last_day }));
    }

    fn record(&mut self, operation: Operation) {
        self.history.push((self.today(), operation));
    }

    /// Makes one random call.
    fn step(&mut self, random: &mut Random) {
        let card = usize::try_from(random.below(2)).unwrap();
        let there = model(&self.history, self.today())[card].balance;
        let points = random.between(1, 60);
        let balance = format!("/v1/loyalties/members/{}/balance", CODES[card]);
        match random.below(8) {
            0 | 1 => {
                self.create(&balance, &json!({ "points": points }));
                self.expect_credit(card, points, self.rules.last_day(self.today()));
            }
            2 => {
                let last_day = self.today() + random.between(0, 50);
                let body =
                    json!({ "points": points, "expiration_type": "CUSTOM_DATE", "expiration_date": text(last_day) });
                self.create(&balance, &body);
                self.expect_credit(card, points, last_day);
            }
            3 if random.once_in(3) => {
                self.create(&balance, &json!({ "points": points, "expiration_type": "NON_EXPIRING" }));
                self.expect_credit(card, points, NEVER);
            }
            4 => {
                let (status, made) = self.call("POST", &balance, &json!({ "points": -points }));
                assert_eq!(status == 200, points <= there, "{points} of {there}: {made}");
                if status == 200 {
                    self.record(Operation::Removed { card, points });
                }
            }
            5 => {
                let transfer = json!([{ "code": CODES[card], "points": points, "source_id": format!("t-{}", self.history.len()) }]);
                let path = format!("/v1/loyalties/Club/members/{}/transfers", CODES[1 - card]);
                let (status, made) = self.call("POST", &path, &transfer);
                assert_eq!(status == 200, points <= there, "{points} of {there}: {made}");
                if status == 200 {
                    self.record(Operation::Removed { card, points });
                    self.expect_credit(1 - card, points, self.rules.last_day(self.today()));
                }
            }
            6 if !self.redeemed.is_empty() => {
                let at = usize::try_from(random.below(u64::try_from(self.redeemed.len()).unwrap())).unwrap();
                let (redemption, index) = self.redeemed.swap_remove(at);
                // A spending older than three months is refused.
                if self.call("POST", &format!("/v1/redemptions/{redemption}/rollback"), &json!({})).0 == 200 {
                    self.record(Operation::RolledBack(index));
                }
            }
            _ => {
                let body = json!({
                    "redeemables": [{ "object": "voucher", "id": CODES[card], "reward": { "id": self.reward, "points": points } }],
                    "order": { "amount": 1_000_000 },
                });
                let (_, validated) = self.call("POST", "/v1/validations", &body);
                let (status, made) = self.call("POST", "/v1/redemptions", &body);
                assert_eq!(status == 200, points <= there, "{points} of {there}: {made}");
                assert_eq!(validated["valid"].as_bool(), Some(points <= there), "{points} of {there}: {validated}");
                if status == 200 {
                    self.redeemed.push((made["redemptions"][0]["id"].as_str().unwrap().to_owned(), self.history.len()));
                    self.record(Operation::Spent { card, points });
                    let voucher = &made["redemptions"][0]["voucher"];
                    assert_eq!(
                        points_of_voucher(voucher),
                        model(&self.history, self.today())[card],
                        "shown by the redemption"
                    );
                }
            }
        }
    }

    fn read_points(&self) -> [CardPoints; 2] {
        CODES.map(|code| points_of_voucher(&self.call("GET", &format!("/v1/vouchers/{code}"), &Json::Null).1))
    }

    /// Returns the amounts of all transactions of a card.
    fn sum_transactions(&self, code: &str) -> i64 {
        let (mut sum, mut after) = (0, String::new());
        loop {
            let path = format!("/v1/vouchers/{code}/transactions?limit=100{after}");
            let page = self.call("GET", &path, &Json::Null).1;
            let points = |one: &Json| one.pointer("/details/balance/points").and_then(Json::as_i64).unwrap();
            sum += page["data"].as_array().unwrap().iter().map(points).sum::<i64>();
            match page["more_starting_after"].as_str() {
                Some(last) => after = format!("&starting_after_id={last}"),
                None => return sum,
            }
        }
    }
}

fn points_of_voucher(voucher: &Json) -> CardPoints {
    let card = &voucher["loyalty_card"];
    let number = |name: &str| card[name].as_i64().unwrap_or(0);
    let next = card["next_expiration_date"].as_str().map(|day| (day.to_owned(), number("next_expiration_points")));
    CardPoints {
        points: number("points"),
        balance: number("balance"),
        subtracted: number("subtracted_points"),
        expired: number("expired_points"),
        next,
    }
}

#[test]
fn points_expire_by_their_rules_in_random_histories() {
    let (mut expired, mut rolled_back) = (0, 0);
    for seed in 0..HISTORIES {
        let mut random = Random::new(seed);
        let mut shop = Shop::open(&mut random);
        for step in 0..STEPS {
            shop.advance_time(&mut random);
            // One half is settled by the alarm when something is due, the other never.
            while seed % 2 == 0 && shop.edge.alarm("proj_dev", shop.now) {}
            shop.step(&mut random);
            let expected = model(&shop.history, shop.today());
            assert_eq!(
                shop.read_points(),
                expected,
                "history {seed}, step {step}: {:?} {:#?}",
                shop.rules,
                shop.history
            );
            for (code, totals) in CODES.iter().zip(&expected) {
                let path = format!("/v1/loyalties/Club/members/{code}/points-expiration?limit=100");
                let buckets = shop.call("GET", &path, &Json::Null).1;
                let points = buckets["data"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|one| one["bucket"]["total_points"].as_i64().unwrap());
                assert_eq!(points.sum::<i64>(), totals.balance, "history {seed}, step {step}: {buckets}");
            }
        }
        // Every expiration is a transaction by now or after the next settlement, and all transactions together are the balance.
        while shop.edge.alarm("proj_dev", shop.now) {}
        for (code, totals) in CODES.iter().zip(shop.read_points()) {
            assert_eq!(
                WELCOME + shop.sum_transactions(code),
                totals.balance,
                "history {seed}: the transactions of {code}"
            );
            expired += usize::from(totals.expired > 0);
        }
        rolled_back +=
            shop.history.iter().filter(|(_, operation)| matches!(operation, Operation::RolledBack(_))).count();
    }
    assert!(expired > 100 && rolled_back > 50, "too little happened: {expired} expired, {rolled_back} rolled back");
}
