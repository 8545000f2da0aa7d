//! Tests that reports of loyalty programs equal the sum of their members' transactions. Random histories in Warsaw, over its changes of
//! clocks, are compared with a naive second model that sums every transaction by local day.

mod fixtures;

use crate::shops::random::Random;
use fixtures::Shop;
use scrip::time::{Day, Instant};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

const HISTORIES: u64 = 12;
const STEPS: u64 = 60;
const RESOLUTIONS: [&str; 4] = ["day", "week", "month", "quarter"];

/// Expected figures of reports: by report, then by period and subject.
type Sums = BTreeMap<String, BTreeMap<String, BTreeMap<&'static str, i64>>>;

fn add(sums: &mut Sums, report: &str, entry: String, column: &'static str, by: i64) {
    *sums.entry(report.to_owned()).or_default().entry(entry).or_default().entry(column).or_default() += by;
}

/// The figures of a card that a transaction raises.
fn raised(kind: &str) -> &'static [&'static str] {
    match kind {
        "POINTS_EARNED" => &["points_total", "points_earned"],
        "ADMIN_CREDIT" => &["points_total", "points_added"],
        "POINTS_PURCHASED" => &["points_total", "points_purchased"],
        "PENDING_POINTS_ADDED" => &["pending_points_total"],
        "PENDING_POINTS_ACTIVATED" => &["pending_points_activated", "points_total", "points_earned"],
        "PENDING_POINTS_CANCELED" => &["pending_points_canceled"],
        "POINTS_EXPIRED" | "ADMIN_POINTS_EXPIRATION" => &["points_expired"],
        "ADMIN_DEBIT" => &["points_subtracted"],
        "POINTS_SPENT_ON_REWARD" | "POINTS_SPENT_ON_ORDER" => &["points_spent"],
        "POINTS_PURCHASE_REVERSED" => &["points_purchased_reversed"],
        "POINTS_REFUNDED" => &["points_refunded"],
        "POINTS_RETURNED" => &["points_returned"],
        other => panic!("{other} is unknown"),
    }
}

/// A rule that was evaluated and did not fire was resting.
fn add_failures(shop: &Shop, sums: &mut Sums, entry: &dyn Fn(&Json, &[&str]) -> Option<String>) {
    for (place, limit) in [(1, "cooldown"), (2, "frequency")] {
        let rule = &shop.rules[place].0;
        let mut failures: BTreeMap<String, i64> = BTreeMap::new();
        for at in &shop.asked {
            let at = Json::from(Instant::from_millis(*at).unwrap().text());
            entry(&at, &[rule]).into_iter().for_each(|entry| *failures.entry(entry).or_default() += 1);
        }
        for (entry, asked) in failures {
            let known = sums.get("earning-rules").and_then(|of| of.get(&entry)?.get("success_count").copied());
            let by = asked - known.unwrap_or(0);
            for column in [limit, "failures_count"].into_iter().filter(|_| by > 0) {
                add(sums, "earning-rules", entry.clone(), column, by);
            }
        }
    }
}

/// Lists all events and sums them by period, or in total without a resolution; the report covers a range of days.
fn model(shop: &Shop, resolution: Option<&str>, (first, last): (&str, &str)) -> Sums {
    let mut sums = Sums::new();
    let entry = |at: &Json, subject: &[&str]| -> Option<String> {
        let at = at.as_str().unwrap();
        let day = shop.period(at, "day");
        let period = resolution.map_or(String::new(), |resolution| shop.period(at, resolution));
        (resolution.is_none() || (first..=last).contains(&day.as_str()))
            .then(|| format!("{period} {}", subject.join(" ")))
    };
    let text = |row: &Json, path: &str| row.pointer(path).and_then(Json::as_str).unwrap_or_default().to_owned();
    let mut fired: BTreeSet<(String, String, String)> = BTreeSet::new();
    for (member, cards) in &shop.members {
        let of_member = format!("/v2/loyalties/programs/{}/members/{member}", shop.program);
        for (card, definition) in cards.iter().zip(&shop.definitions) {
            for row in shop.all(&format!("{of_member}/cards/{card}/transactions")) {
                let (kind, points) = (text(&row, "/type"), row["details"]["points"]["total"].as_i64().unwrap());
                let at = &row["created_at"];
                if let Some(entry) = entry(at, &[]) {
                    raised(&kind)
                        .iter()
                        .for_each(|column| add(&mut sums, &format!("card {card}"), entry.clone(), column, points));
                }
                let on = match kind.as_str() {
                    "POINTS_SPENT_ON_REWARD" => ["success_on_reward", "points_on_rewards"],
                    "POINTS_SPENT_ON_ORDER" => ["success_on_order", "points_on_order"],
                    _ => ["", ""],
                };
                if let (Some(entry), false) = (entry(at, &[definition]), on[0].is_empty()) {
                    for (column, by) in [(on[0], 1), ("success", 1), (on[1], points), ("points", points)] {
                        add(&mut sums, "spending", entry.clone(), column, by);
                    }
                }
                let column = match kind.as_str() {
                    "POINTS_EARNED" => "points",
                    "PENDING_POINTS_ADDED" => "pending_points",
                    _ => continue,
                };
                let rule = text(&row, "/details/earning_rule/id");
                let (_, earning) = shop.rules.iter().find(|(known, _)| *known == rule).unwrap();
                if let Some(entry) = entry(at, &[&rule, earning, definition]) {
                    add(&mut sums, "points-earnings", entry.clone(), "success_count", 1);
                    add(&mut sums, "points-earnings", entry, column, points);
                }
                let order = text(&row, "/details/order/id");
                if fired.insert((member.clone(), rule.clone(), order))
                    && let (Some(of_all), Some(of_one)) = (entry(at, &[&rule]), entry(at, &[]))
                {
                    add(&mut sums, "earning-rules", of_all, "success_count", 1);
                    add(&mut sums, &format!("rule {member} {rule}"), of_one, "count", 1);
                }
            }
        }
        for row in shop.all(&format!("{of_member}/orders/payments")) {
            if let (Some(entry), Some(amount)) =
                (entry(&row["created_at"], &[&shop.definitions[0]]), row["details"]["payment"]["amount"].as_i64())
            {
                add(&mut sums, "spending", entry, "amount_on_order", amount);
            }
        }
        for row in shop.all(&format!("{of_member}/tiers/transactions")) {
            let tier = if row["tier_id"].is_null() { &row["details"]["tier_from"] } else { &row["tier_id"] };
            let column = match text(&row, "/type").as_str() {
                "JOINED" => "joins",
                "UPGRADED" => "upgrades",
                "DOWNGRADED" => "downgrades",
                "LEFT" => "lefts",
                _ => "prolongs",
            };
            if let Some(entry) = entry(&row["created_at"], &[&shop.structure, tier.as_str().unwrap()]) {
                add(&mut sums, "tiers", entry, column, 1);
            }
        }
    }
    add_failures(shop, &mut sums, &entry);
    sums
}

/// Returns a report in the form of the model, without zero figures.
fn counts_of(answer: &Json, subject: &[&str]) -> BTreeMap<String, BTreeMap<String, i64>> {
    assert_eq!(answer["object"], "report");
    let mut found = BTreeMap::new();
    for entry in answer["data"].as_array().unwrap() {
        let date = entry["date"].as_str().unwrap_or_default();
        let names: Vec<&str> = subject.iter().map(|name| entry[name].as_str().unwrap()).collect();
        let breakdown = entry["failures_breakdown"].as_object().cloned().unwrap_or_default();
        let columns = entry.as_object().unwrap().clone().into_iter().chain(breakdown);
        let columns = columns.filter_map(|(name, value)| Some((name, value.as_i64().filter(|value| *value != 0)?)));
        let before = found.insert(format!("{date} {}", names.join(" ")), columns.collect());
        assert!(before.is_none(), "{entry} is listed twice");
    }
    found
}

const PROGRAM_REPORTS: [(&str, &[&str]); 4] = [
    ("earning-rules", &["earning_rule_id"]),
    ("points-earnings", &["earning_rule_id", "earning_item_id", "card_definition_id"]),
    ("spending", &["card_definition_id"]),
    ("tiers", &["tier_structure_id", "tier_id"]),
];

fn check(shop: &Shop, (first, last): (&str, &str), count: &mut usize) {
    let program = format!("/v2/loyalties/programs/{}", shop.program);
    let mut hold = |sums: &Sums, name: &str, path: &str, subject: &[&str]| {
        let found = counts_of(&shop.get(path), subject);
        let expected: BTreeMap<String, BTreeMap<String, i64>> = sums
            .get(name)
            .into_iter()
            .flatten()
            .map(|(entry, columns)| {
                (entry.clone(), columns.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
            })
            .collect();
        assert_eq!(found, expected, "{path}");
        *count += found.len();
    };
    for resolution in RESOLUTIONS {
        let span = format!("daily?start_date={first}&end_date={last}&resolution={resolution}");
        // The program's first: they settle by themselves what the lists settle.
        let reports: Vec<(String, &str, &[&str])> = PROGRAM_REPORTS
            .iter()
            .map(|(name, subject)| (format!("{program}/reports/{name}/{span}"), *name, *subject))
            .collect();
        let early: Vec<Json> = reports.iter().map(|(path, _, _)| shop.get(path)).collect();
        let sums = model(shop, Some(resolution), (first, last));
        for ((path, name, subject), early) in reports.iter().zip(early) {
            assert_eq!(shop.get(path), early, "{path} before and after everything was read");
            hold(&sums, name, path, subject);
        }
        for (member, cards) in &shop.members {
            for card in cards {
                hold(
                    &sums,
                    &format!("card {card}"),
                    &format!("{program}/members/{member}/cards/{card}/reports/{span}"),
                    &[],
                );
            }
            for (rule, _) in &shop.rules {
                let path = format!("{program}/members/{member}/earning-rules/{rule}/reports/{span}");
                hold(&sums, &format!("rule {member} {rule}"), &path, &[]);
            }
        }
    }
    let sums = model(shop, None, (first, last));
    for (name, subject) in PROGRAM_REPORTS {
        hold(&sums, name, &format!("{program}/reports/{name}/summary"), subject);
    }
}

#[test]
fn reports_equal_the_sum_of_transactions() {
    let mut count = 0;
    for seed in 0..HISTORIES {
        let mut random = Random::new(seed);
        let mut shop = Shop::open();
        for _ in 0..STEPS {
            shop.step(&mut random);
        }
        let begin = Day::parse("2026-03-20").unwrap();
        let first = begin.plus(i64::try_from(random.below(20)).unwrap()).unwrap();
        let last = first.plus(i64::try_from(random.below(60)).unwrap()).unwrap();
        check(&shop, (&first.text(), &last.text()), &mut count);
        check(&shop, ("2026-01-01", "2026-12-31"), &mut count);
    }
    assert!(count > 2_000, "{count} entries are too few");
}
