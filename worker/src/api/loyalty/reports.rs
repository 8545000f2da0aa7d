//! Reports about loyalty programs: what moved on a card and how often a rule fired, by periods of the calendar and in all. It must not
//! know how anything is counted.
//!
//! A period in which nothing happened has no entry.

use crate::document::clause::Clause;
use crate::document::filter::conditions;
use crate::document::list::{LIMIT_MAX, read_int};
use crate::document::shapes::reports as shapes;
use crate::document::span::{Period, SPAN, periods};
use crate::http::listing::Column;
use crate::http::reply::{CallError, invalid_query};
use crate::http::route::{Answer, Call, Outcome, Route, get};
use crate::http::shape::{Field, Kind, may};
use crate::shop::card_changes::{SETTLE, settle};
use crate::shop::card_figures;
use crate::shop::cards::{Present, load};
use crate::shop::firings;
use crate::shop::lives::{CARD, EARNING_RULE, MEMBER, PROGRAM, find_as, named};
use crate::shop::statistics::{self, Counted, Statistic};
use crate::store::sql;
use scrip::fields_of;
use scrip::points::{Figure, Figures};
use serde_json::{Map, Value as Json, json};

const FILTERS: Field = may("filters", Kind::Map);
const FILTERED: &[Field] = &[FILTERS];
const BY_PERIOD: &[Field] = fields_of!(SPAN, FILTERED);
const ORDERED: &[Field] = &[may("limit", Kind::Int(1, LIMIT_MAX)), may("order", Kind::OneOf(&["id", "-id"])), FILTERS];

/// Cards that a report settles first, at most; the alarm settles what is left.
const SETTLED_MAX: i64 = 50;

const fn report(path: &'static str, summary: &'static str, run: fn(&mut Call<'_, '_>) -> Outcome) -> Route {
    get(path, summary, run).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    report(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/reports/daily",
        "Tell what moved on a card, by periods",
        of_card,
    )
    .query(SPAN)
    .answers(200, shapes::CARD),
    report(
        "/v2/loyalties/programs/{programId}/members/{memberId}/earning-rules/{earningRuleId}/reports/daily",
        "Tell how often an earning rule fired for a member, by periods",
        of_member_rule,
    )
    .query(SPAN)
    .answers(200, shapes::MEMBER_RULE),
    report(
        "/v2/loyalties/programs/{programId}/reports/earning-rules/daily",
        "Tell how often earning rules fired, by periods",
        |call| daily(call, &RULES),
    )
    .query(BY_PERIOD)
    .answers(200, shapes::RULES_DAILY),
    report(
        "/v2/loyalties/programs/{programId}/reports/earning-rules/summary",
        "Tell how often earning rules ever fired",
        |call| summary(call, &RULES),
    )
    .query(FILTERED)
    .answers(200, shapes::RULES_SUMMARY),
    report(
        "/v2/loyalties/programs/{programId}/reports/points-earnings/daily",
        "Tell how many points were earned, by periods",
        |call| daily(call, &EARNINGS),
    )
    .query(BY_PERIOD)
    .answers(200, shapes::EARNINGS_DAILY),
    report(
        "/v2/loyalties/programs/{programId}/reports/points-earnings/summary",
        "Tell how many points were ever earned",
        |call| summary(call, &EARNINGS),
    )
    .query(FILTERED)
    .answers(200, shapes::EARNINGS_SUMMARY),
    report(
        "/v2/loyalties/programs/{programId}/reports/spending/daily",
        "Tell what points were spent on, by periods",
        |call| daily(call, &SPENDING),
    )
    .query(BY_PERIOD)
    .answers(200, shapes::SPENDING_DAILY),
    report(
        "/v2/loyalties/programs/{programId}/reports/spending/summary",
        "Tell what points were ever spent on",
        |call| summary(call, &SPENDING),
    )
    .query(FILTERED)
    .answers(200, shapes::SPENDING_SUMMARY),
    report(
        "/v2/loyalties/programs/{programId}/reports/tiers/daily",
        "Tell how members moved through tiers, by periods",
        |call| daily(call, &TIERS),
    )
    .query(BY_PERIOD)
    .answers(200, shapes::TIERS_DAILY),
    report(
        "/v2/loyalties/programs/{programId}/reports/tiers/summary",
        "Tell how members ever moved through tiers",
        |call| summary(call, &TIERS),
    )
    .query(ORDERED)
    .answers(200, shapes::TIERS_SUMMARY),
];

/// A report about a program.
struct Report {
    /// What it counts.
    kinds: &'static [Counted],
    /// What it is filtered by: the name on the wire, and the column of statistics.
    columns: &'static [Column],
    /// Whether time alone may bring what it counts.
    by_time: bool,
    /// What its entries say that they are: those of periods, and those in all.
    objects: [&'static str; 2],
    /// What an entry tells.
    tell: fn(&Statistic) -> Json,
}

const RULE: Column = ("earning_rule_id", "earning_rule");
const DEFINITION: Column = ("card_definition_id", "card_definition");

const RULES: Report = Report {
    kinds: &[Counted::Fired, Counted::Cooldown, Counted::Frequency],
    columns: &[RULE],
    by_time: false,
    objects: ["program_earning_rules_daily_report", "program_earning_rules_summary_report"],
    tell: |of| {
        let [fired, cooldown, frequency] =
            [Counted::Fired, Counted::Cooldown, Counted::Frequency].map(|kind| of.of(kind).count);
        json!({
            "earning_rule_id": of.subject.earning_rule, "success_count": fired,
            "failures_count": cooldown.saturating_add(frequency),
            "failures_breakdown": { "cooldown": cooldown, "frequency": frequency },
        })
    },
};

const EARNINGS: Report = Report {
    kinds: &[Counted::Earned, Counted::Waiting],
    columns: &[RULE, DEFINITION],
    by_time: false,
    objects: ["program_points_earnings_daily_report", "program_points_earnings_summary_report"],
    tell: |of| {
        let [earned, waiting] = [Counted::Earned, Counted::Waiting].map(|kind| of.of(kind));
        json!({
            "earning_rule_id": of.subject.earning_rule, "earning_item_id": of.subject.earning,
            "card_definition_id": of.subject.card_definition,
            "success_count": earned.count.saturating_add(waiting.count),
            "points": earned.points, "pending_points": waiting.points,
        })
    },
};

const SPENDING: Report = Report {
    kinds: &[Counted::Reward, Counted::Order],
    columns: &[DEFINITION],
    by_time: false,
    objects: ["spending_daily_report", "spending_summary_report"],
    tell: |of| {
        let [reward, order] = [Counted::Reward, Counted::Order].map(|kind| of.of(kind));
        json!({
            "card_definition_id": of.subject.card_definition,
            "success": reward.count.saturating_add(order.count),
            "success_on_reward": reward.count, "success_on_order": order.count,
            "points": reward.points.saturating_add(order.points),
            "points_on_rewards": reward.points, "points_on_order": order.points, "amount_on_order": order.amount,
        })
    },
};

const TIERS: Report = Report {
    kinds: &[Counted::Joined, Counted::Upgraded, Counted::Downgraded, Counted::Left, Counted::Prolonged],
    columns: &[("tier_structure_id", "tier_structure"), ("tier_id", "tier")],
    by_time: true,
    objects: ["program_tiers_daily_report", "program_tiers_summary_report"],
    tell: |of| {
        let count = |kind| of.of(kind).count;
        json!({
            "tier_structure_id": of.subject.tier_structure, "tier_id": of.subject.tier,
            "joins": count(Counted::Joined), "upgrades": count(Counted::Upgraded),
            "downgrades": count(Counted::Downgraded), "lefts": count(Counted::Left),
            "prolongs": count(Counted::Prolonged),
        })
    },
};

/// The answer, whose entries are these.
fn answer(entries: Vec<Json>) -> Outcome {
    Ok(Answer::json(json!({ "data": entries, "object": "report" })))
}

/// An entry, by its name or day and by what it is.
fn entry((name, value): (&str, String), told: Json, object: &str) -> Json {
    let mut entry = Map::new();
    entry.insert(name.into(), value.into());
    if let Json::Object(told) = told {
        entry.extend(told);
    }
    entry.insert("object".into(), object.into());
    Json::Object(entry)
}

/// What the report of the program that the path names counts, as far as the query filters it.
fn counted(call: &mut Call<'_, '_>, report: &Report) -> Result<Clause, CallError> {
    let program = find_as(call, &PROGRAM, call.param("programId"))?;
    let kinds: Vec<&str> = report.kinds.iter().map(|kind| kind.word()).collect();
    let mut clause = Clause::of_kinds(&kinds).at(call.now_ms());
    clause.and("program = {}", program.id);
    let filters = conditions(report.columns, &call.query, &clause)?;
    filters.narrow(&mut clause);
    if report.by_time {
        settle_due(call)?;
    }
    Ok(clause)
}

/// Settles cards on which something is due, as many as a report may: what time brought is true whatever becomes of the call.
fn settle_due(call: &mut Call<'_, '_>) -> Result<(), CallError> {
    let due = call.store.rows(
        "SELECT id FROM due WHERE kind = +?1 AND at <= ?2 ORDER BY at, id LIMIT +?3",
        &[SETTLE.into(), call.now_ms().into(), SETTLED_MAX.into()],
    )?;
    if due.is_empty() {
        return Ok(());
    }
    let present = Present::of(call)?;
    for row in &due {
        let Some(card) = named(call.store, &CARD, sql::text(row, 0)?)? else { continue };
        let mut held = load(call.store, card, &[])?;
        settle(call.store, &present, &mut held)?;
    }
    Ok(call.store.commit()?)
}

fn daily(call: &mut Call<'_, '_>, report: &Report) -> Outcome {
    let periods = periods(&call.query, &Present::of(call)?.zone)?;
    let clause = counted(call, report)?;
    let mut entries = Vec::new();
    for (place, statistics) in statistics::by_period(call.store, &clause, &periods)? {
        let Some(period) = periods.get(place) else { continue };
        for statistic in statistics {
            entries.push(entry(date(period), (report.tell)(&statistic), report.objects[0]));
        }
    }
    answer(entries)
}

/// The newest first, which is what was counted first last of all.
fn summary(call: &mut Call<'_, '_>, report: &Report) -> Outcome {
    let (mut is_newest_first, mut limit) = (true, usize::MAX);
    if call.route.query.iter().any(|field| field.name == "limit") {
        let asked = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_MAX);
        limit = usize::try_from(asked).unwrap_or(limit);
        for text in call.query.listed("order") {
            is_newest_first = match text {
                "-id" => true,
                "id" => false,
                _ => {
                    let told = format!("Property .order must be one of id, -id (actual value is `{text}`)");
                    return Err(invalid_query(told).into());
                }
            };
        }
    }
    let clause = counted(call, report)?;
    let mut statistics = statistics::in_all(call.store, &clause)?;
    if is_newest_first {
        statistics.reverse();
    }
    let entries = statistics.iter().take(limit).map(|statistic| {
        let id = ("id", format!("lrep_{:018x}", statistic.number));
        entry(id, (report.tell)(statistic), report.objects[1])
    });
    answer(entries.collect())
}

fn of_card(call: &mut Call<'_, '_>) -> Outcome {
    let present = Present::of(call)?;
    let periods = periods(&call.query, &present.zone)?;
    let card = find_as(call, &CARD, call.param("cardId"))?;
    let mut held = load(call.store, card, &[])?;
    if settle(call.store, &present, &mut held)? {
        call.store.commit()?;
    }
    let rises = card_figures::rises(call.store, &held.row.id, &periods)?;
    let entries = periods.iter().zip(&rises).filter(|(_, rise)| **rise != Figures::default());
    answer(entries.map(|(period, rise)| entry(date(period), tell_figures(rise), "card_daily_report")).collect())
}

fn date(period: &Period) -> (&'static str, String) {
    ("date", period.first.text())
}

fn tell_figures(rise: &Figures) -> Json {
    let of = |figure| rise.of(figure);
    json!({
        "points_total": rise.total(), "points_earned": of(Figure::Earned), "points_added": of(Figure::Added),
        "points_purchased": of(Figure::Purchased), "points_purchased_reversed": of(Figure::PurchaseReversed),
        "points_subtracted": of(Figure::Subtracted), "points_expired": of(Figure::Expired),
        "points_spent": of(Figure::Spent), "points_refunded": of(Figure::Refunded),
        "points_returned": of(Figure::Returned), "points_locked": 0, "points_unlocked": 0,
        "pending_points_total": of(Figure::PendingTotal), "pending_points_activated": of(Figure::PendingActivated),
        "pending_points_canceled": of(Figure::PendingCanceled),
    })
}

fn of_member_rule(call: &mut Call<'_, '_>) -> Outcome {
    let periods = periods(&call.query, &Present::of(call)?.zone)?;
    let member = find_as(call, &MEMBER, call.param("memberId"))?;
    let rule = find_as(call, &EARNING_RULE, call.param("earningRuleId"))?;
    let counts = firings::fired_in(call.store, (&member.id, &rule.id), &periods)?;
    let entries = periods.iter().zip(counts).filter(|(_, count)| *count > 0);
    let told =
        entries.map(|(period, count)| entry(date(period), json!({ "count": count }), "earning_rule_daily_report"));
    answer(told.collect())
}
