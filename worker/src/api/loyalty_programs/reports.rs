//! Reports about loyalty programs: points of a card and counts of fired rules, by calendar period and in total.
//!
//! A period without events has no entry.

use crate::commit;
use crate::documents::filter::conditions;
use crate::documents::list::{LIMIT_MAX, read_int};
use crate::documents::report_period::{PERIOD_PARAMETERS, periods};
use crate::documents::shapes::reports as shapes;
use crate::domain::clock::LocalTime;
use crate::domain::earning::fired_rules;
use crate::domain::loyalty_members::card::load;
use crate::domain::loyalty_members::card_changes::{SETTLE_JOB, settle};
use crate::domain::loyalty_members::card_report;
use crate::domain::loyalty_programs::kinds::{CARD, EARNING_RULE, MEMBER, PROGRAM, find_by_id, find_within};
use crate::domain::loyalty_programs::statistics;
use crate::domain::loyalty_programs::statistics::{Statistic, StatisticKind};
use crate::http::list_options::ListColumn;
use crate::http::reply::{CallError, invalid_query};
use crate::http::route::{Call, HandlerResult, Response, Route, get};
use crate::http::shape::{Field, FieldType, may};
use crate::store::amount::CheckedAmount;
use crate::store::document_list::clause::Clause;
use crate::store::documents::loyalty_campaigns;
use crate::store::sql::Fault;
use scrip::fields_of;
use scrip::points::{LifetimeTotal, LifetimeTotals};
use serde_json::{Map, Value as Json, json};

const FILTERS: Field = may("filters", FieldType::Map)
    .description("Conditions by field, joined by `junction`. Reports on rules accept `earning_rule_id`, reports on spending `card_definition_id`, reports on earned points both, reports on tiers `tier_structure_id` and `tier_id`.");
const FILTERED: &[Field] = &[FILTERS];
const BY_PERIOD: &[Field] = fields_of!(PERIOD_PARAMETERS, FILTERED);
const ORDERED: &[Field] = &[
    may("limit", FieldType::Int(1, LIMIT_MAX)).description("Number of entries to return at most. Default 100."),
    may("order", FieldType::OneOf(&["id", "-id"])).description(
        "Order by first occurrence: `id` for the oldest first, `-id` for the newest first. Default `-id`.",
    ),
    FILTERS,
];

/// Maximum number of cards that a report settles first; the job settles the rest.
const SETTLED_MAX: i64 = 50;

const fn report(path: &'static str, summary: &'static str, run: fn(&mut Call<'_, '_>) -> HandlerResult) -> Route {
    get(path, summary, run).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    report(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/reports/daily",
        "Report the points of a card by period",
        daily_of_card,
    )
    .describe(
        "getCardDailyReport",
        "Returns the increase of each lifetime total of a member's card in each period of a date range. Points that are due to expire or to become active by now are settled first. Periods are days, weeks, months or quarters of the calendar in the project's time zone, cut to the requested range. A range of more than 366 periods is refused with `invalid_query_params`, an unknown card with `not_found`.",
    )
    .returns("One entry per period in which points moved, in order of time.")
    .query(PERIOD_PARAMETERS)
    .answers(200, shapes::CARD),
    report(
        "/v2/loyalties/programs/{programId}/members/{memberId}/earning-rules/{earningRuleId}/reports/daily",
        "Report the use of an earning rule by a member, by period",
        daily_of_member_rule,
    )
    .describe(
        "getMemberEarningRuleDailyReport",
        "Returns the number of times that an earning rule granted something to a member in each period of a date range. Periods are days, weeks, months or quarters of the calendar in the project's time zone, cut to the requested range. A range of more than 366 periods is refused with `invalid_query_params`, an unknown member or rule with `not_found`.",
    )
    .returns("One entry per period in which the rule granted something, in order of time.")
    .query(PERIOD_PARAMETERS)
    .answers(200, shapes::MEMBER_RULE),
    report(
        "/v2/loyalties/programs/{programId}/reports/earning-rules/daily",
        "Report the use of earning rules by period",
        |call| daily(call, &RULES),
    )
    .describe(
        "getEarningRulesDailyReport",
        "Returns the number of times that each earning rule granted something, or was prevented by a limit, in each period of a date range. Periods are days, weeks, months or quarters of the calendar in the project's time zone, cut to the requested range. A range of more than 366 periods is refused with `invalid_query_params`, a report of more than 10,000 sums with `request_too_complex`.",
    )
    .returns("One entry per period and subject with activity, in order of time.")
    .query(BY_PERIOD)
    .answers(200, shapes::RULES_DAILY),
    report(
        "/v2/loyalties/programs/{programId}/reports/earning-rules/summary",
        "Report the use of earning rules in total",
        |call| summary(call, &RULES),
    )
    .describe(
        "getEarningRulesSummaryReport",
        "Returns the number of times that each earning rule granted something, or was prevented by a limit, since the start of the program. The newest subject comes first. An unknown filter is refused with `invalid_query_params`, an unknown program with `not_found`.",
    )
    .returns("One entry per subject with activity.")
    .query(FILTERED)
    .answers(200, shapes::RULES_SUMMARY),
    report(
        "/v2/loyalties/programs/{programId}/reports/points-earnings/daily",
        "Report earned points by period",
        |call| daily(call, &EARNINGS),
    )
    .describe(
        "getPointsEarningsDailyReport",
        "Returns the points that members of a program earned, by earning and card definition, in each period of a date range. Periods are days, weeks, months or quarters of the calendar in the project's time zone, cut to the requested range. A range of more than 366 periods is refused with `invalid_query_params`, a report of more than 10,000 sums with `request_too_complex`.",
    )
    .returns("One entry per period and subject with activity, in order of time.")
    .query(BY_PERIOD)
    .answers(200, shapes::EARNINGS_DAILY),
    report(
        "/v2/loyalties/programs/{programId}/reports/points-earnings/summary",
        "Report earned points in total",
        |call| summary(call, &EARNINGS),
    )
    .describe(
        "getPointsEarningsSummaryReport",
        "Returns the points that members of a program earned, by earning and card definition, since the start of the program. The newest subject comes first. An unknown filter is refused with `invalid_query_params`, an unknown program with `not_found`.",
    )
    .returns("One entry per subject with activity.")
    .query(FILTERED)
    .answers(200, shapes::EARNINGS_SUMMARY),
    report(
        "/v2/loyalties/programs/{programId}/reports/spending/daily",
        "Report spent points by period",
        |call| daily(call, &SPENDING),
    )
    .describe(
        "getSpendingDailyReport",
        "Returns the points that members of a program spent on rewards and orders, by card definition. Refunds are not subtracted. Sums are formed for each period of a date range. Periods are days, weeks, months or quarters of the calendar in the project's time zone, cut to the requested range. A range of more than 366 periods is refused with `invalid_query_params`, a report of more than 10,000 sums with `request_too_complex`.",
    )
    .returns("One entry per period and subject with activity, in order of time.")
    .query(BY_PERIOD)
    .answers(200, shapes::SPENDING_DAILY),
    report(
        "/v2/loyalties/programs/{programId}/reports/spending/summary",
        "Report spent points in total",
        |call| summary(call, &SPENDING),
    )
    .describe(
        "getSpendingSummaryReport",
        "Returns the points that members of a program spent on rewards and orders, by card definition. Refunds are not subtracted. Sums are formed since the start of the program. The newest subject comes first. An unknown filter is refused with `invalid_query_params`, an unknown program with `not_found`.",
    )
    .returns("One entry per subject with activity.")
    .query(FILTERED)
    .answers(200, shapes::SPENDING_SUMMARY),
    report(
        "/v2/loyalties/programs/{programId}/reports/tiers/daily",
        "Report movements between tiers by period",
        |call| daily(call, &TIERS),
    )
    .describe(
        "getTiersDailyReport",
        "Returns the number of members of a program who entered, kept or left each tier in each period of a date range. Periods are days, weeks, months or quarters of the calendar in the project's time zone, cut to the requested range. A range of more than 366 periods is refused with `invalid_query_params`, a report of more than 10,000 sums with `request_too_complex`.",
    )
    .returns("One entry per period and subject with activity, in order of time.")
    .query(BY_PERIOD)
    .answers(200, shapes::TIERS_DAILY),
    report(
        "/v2/loyalties/programs/{programId}/reports/tiers/summary",
        "Report movements between tiers in total",
        |call| summary(call, &TIERS),
    )
    .describe(
        "getTiersSummaryReport",
        "Returns the number of members of a program who entered, kept or left each tier since the start of the program. The newest subject comes first. An unknown filter is refused with `invalid_query_params`, an unknown program with `not_found`.",
    )
    .returns("One entry per subject with activity.")
    .query(ORDERED)
    .answers(200, shapes::TIERS_SUMMARY),
];

/// A report about a program.
struct Report {
    /// Statistics that it counts.
    kinds: &'static [StatisticKind],
    /// Filters: the name on the wire, and the column of statistics.
    columns: &'static [ListColumn],
    /// True if the passing of time may change its counts.
    by_time: bool,
    /// Values of `object` of its entries: of periods, and of the summary.
    objects: [&'static str; 2],
    /// Conversion of a statistic to the members of an entry.
    write: fn(&Statistic) -> Result<Json, Fault>,
}

const RULE: ListColumn = ("earning_rule_id", "earning_rule");
const DEFINITION: ListColumn = ("card_definition_id", "card_definition");

const RULES: Report = Report {
    kinds: &[StatisticKind::Fired, StatisticKind::Cooldown, StatisticKind::Frequency],
    columns: &[RULE],
    by_time: false,
    objects: ["program_earning_rules_daily_report", "program_earning_rules_summary_report"],
    write: |of| {
        let [fired, cooldown, frequency] =
            [StatisticKind::Fired, StatisticKind::Cooldown, StatisticKind::Frequency].map(|kind| of.of(kind).count);
        Ok(json!({
            "earning_rule_id": of.subject.earning_rule, "success_count": fired,
            "failures_count": cooldown.plus(frequency)?,
            "failures_breakdown": { "cooldown": cooldown, "frequency": frequency },
        }))
    },
};

const EARNINGS: Report = Report {
    kinds: &[StatisticKind::Earned, StatisticKind::EarnedPending],
    columns: &[RULE, DEFINITION],
    by_time: false,
    objects: ["program_points_earnings_daily_report", "program_points_earnings_summary_report"],
    write: |of| {
        let [earned, waiting] = [StatisticKind::Earned, StatisticKind::EarnedPending].map(|kind| of.of(kind));
        Ok(json!({
            "earning_rule_id": of.subject.earning_rule, "earning_item_id": of.subject.earning,
            "card_definition_id": of.subject.card_definition,
            "success_count": earned.count.plus(waiting.count)?,
            "points": earned.points, "pending_points": waiting.points,
        }))
    },
};

const SPENDING: Report = Report {
    kinds: &[StatisticKind::Reward, StatisticKind::Order],
    columns: &[DEFINITION],
    by_time: false,
    objects: ["spending_daily_report", "spending_summary_report"],
    write: |of| {
        let [reward, order] = [StatisticKind::Reward, StatisticKind::Order].map(|kind| of.of(kind));
        Ok(json!({
            "card_definition_id": of.subject.card_definition,
            "success": reward.count.plus(order.count)?,
            "success_on_reward": reward.count, "success_on_order": order.count,
            "points": reward.points.plus(order.points)?,
            "points_on_rewards": reward.points, "points_on_order": order.points, "amount_on_order": order.amount,
        }))
    },
};

const TIERS: Report = Report {
    kinds: &[
        StatisticKind::Joined,
        StatisticKind::Upgraded,
        StatisticKind::Downgraded,
        StatisticKind::Left,
        StatisticKind::Prolonged,
    ],
    columns: &[("tier_structure_id", "tier_structure"), ("tier_id", "tier")],
    by_time: true,
    objects: ["program_tiers_daily_report", "program_tiers_summary_report"],
    write: |of| {
        let count = |kind| of.of(kind).count;
        Ok(json!({
            "tier_structure_id": of.subject.tier_structure, "tier_id": of.subject.tier,
            "joins": count(StatisticKind::Joined), "upgrades": count(StatisticKind::Upgraded),
            "downgrades": count(StatisticKind::Downgraded), "lefts": count(StatisticKind::Left),
            "prolongs": count(StatisticKind::Prolonged),
        }))
    },
};

/// Returns the response with these entries.
fn respond(entries: Vec<Json>) -> HandlerResult {
    Ok(Response::json(json!({ "data": entries, "object": "report" })))
}

/// Returns an entry with its name or day and its `object`.
fn entry_json(name: &str, value: String, message: Json, object: &str) -> Json {
    let mut entry = Map::new();
    entry.insert(name.into(), value.into());
    if let Json::Object(message) = message {
        entry.extend(message);
    }
    entry.insert("object".into(), object.into());
    Json::Object(entry)
}

/// Returns the clause for the statistics of a report of the program in the path, filtered by the query.
fn clause_of_report(call: &mut Call<'_, '_>, report: &Report) -> Result<Clause, CallError> {
    let program = find_within(call, &PROGRAM, call.param("programId"))?;
    let kinds: Vec<&str> = report.kinds.iter().map(|kind| kind.name()).collect();
    let mut clause = Clause::of_kinds(&kinds).at(call.now_ms());
    loyalty_campaigns::narrow_to_program(&mut clause, &program.id);
    let filters = conditions(report.columns, &call.query, &clause)?;
    filters.narrow(&mut clause);
    if report.by_time {
        settle_due_cards(call)?;
    }
    Ok(clause)
}

/// Settles cards with due changes, up to the limit of a report. These changes stay even if the call fails.
fn settle_due_cards(call: &mut Call<'_, '_>) -> Result<(), CallError> {
    let due = loyalty_campaigns::list_due_cards(call.store, SETTLE_JOB, call.now_ms(), SETTLED_MAX)?;
    if due.is_empty() {
        return Ok(());
    }
    let present = LocalTime::of(call)?;
    for card_id in &due {
        let Some(card) = find_by_id(call.store, &CARD, card_id)? else { continue };
        let mut loaded = load(call.store, card, &[])?;
        settle(call.store, &present, &mut loaded)?;
    }
    commit::settle_first(call)
}

fn daily(call: &mut Call<'_, '_>, report: &Report) -> HandlerResult {
    let periods = periods(&call.query, &LocalTime::of(call)?.zone)?;
    let clause = clause_of_report(call, report)?;
    let mut entries = Vec::new();
    for (index, statistics) in statistics::list_by_period(call.store, &clause, &periods)? {
        let Some(period) = periods.get(index) else { continue };
        for statistic in statistics {
            entries.push(entry_json("date", period.first.text(), (report.write)(&statistic)?, report.objects[0]));
        }
    }
    respond(entries)
}

/// Returns the summary, by default in the reverse order of first counts.
fn summary(call: &mut Call<'_, '_>, report: &Report) -> HandlerResult {
    let (mut is_newest_first, mut limit) = (true, usize::MAX);
    if call.route.query.iter().any(|field| field.name == "limit") {
        let requested = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_MAX);
        limit = usize::try_from(requested).unwrap_or(limit);
        for text in call.query.values("order") {
            is_newest_first = match text {
                "-id" => true,
                "id" => false,
                _ => {
                    let message = format!("Property .order must be one of id, -id (actual value is `{text}`)");
                    return Err(invalid_query(message).into());
                }
            };
        }
    }
    let clause = clause_of_report(call, report)?;
    let mut statistics = statistics::list_totals(call.store, &clause)?;
    if is_newest_first {
        statistics.reverse();
    }
    let entries = statistics.iter().take(limit).map(|statistic| {
        let id = format!("lrep_{:018x}", statistic.number);
        Ok(entry_json("id", id, (report.write)(statistic)?, report.objects[1]))
    });
    respond(entries.collect::<Result<_, Fault>>()?)
}

fn daily_of_card(call: &mut Call<'_, '_>) -> HandlerResult {
    let present = LocalTime::of(call)?;
    let periods = periods(&call.query, &present.zone)?;
    let card = find_within(call, &CARD, call.param("cardId"))?;
    let mut loaded = load(call.store, card, &[])?;
    if settle(call.store, &present, &mut loaded)? {
        commit::settle_first(call)?;
    }
    let increases = card_report::sum_increases(call.store, &loaded.row.id, &periods)?;
    let entries = periods.iter().zip(&increases).filter(|(_, increase)| **increase != LifetimeTotals::default());
    let entries: Result<Vec<Json>, Fault> = entries
        .map(|(period, increase)| {
            Ok(entry_json("date", period.first.text(), totals_to_json(increase)?, "card_daily_report"))
        })
        .collect();
    respond(entries?)
}

fn totals_to_json(increase: &LifetimeTotals) -> Result<Json, Fault> {
    let total = increase.total().ok_or_else(|| Fault::new("the increases of a card add up beyond the bounds"))?;
    let of = |total| increase.of(total);
    Ok(json!({
        "points_total": total, "points_earned": of(LifetimeTotal::Earned), "points_added": of(LifetimeTotal::Added),
        "points_purchased": of(LifetimeTotal::Purchased), "points_purchased_reversed": of(LifetimeTotal::PurchaseReversed),
        "points_subtracted": of(LifetimeTotal::Subtracted), "points_expired": of(LifetimeTotal::Expired),
        "points_spent": of(LifetimeTotal::Spent), "points_refunded": of(LifetimeTotal::Refunded),
        "points_returned": of(LifetimeTotal::Returned), "points_locked": 0, "points_unlocked": 0,
        "pending_points_total": of(LifetimeTotal::PendingTotal), "pending_points_activated": of(LifetimeTotal::PendingActivated),
        "pending_points_canceled": of(LifetimeTotal::PendingCanceled),
    }))
}

fn daily_of_member_rule(call: &mut Call<'_, '_>) -> HandlerResult {
    let periods = periods(&call.query, &LocalTime::of(call)?.zone)?;
    let member = find_within(call, &MEMBER, call.param("memberId"))?;
    let rule = find_within(call, &EARNING_RULE, call.param("earningRuleId"))?;
    let counts = fired_rules::count_fired_by_period(call.store, &member.id, &rule.id, &periods)?;
    let entries = periods.iter().zip(counts).filter(|(_, count)| *count > 0);
    let message = entries.map(|(period, count)| {
        entry_json("date", period.first.text(), json!({ "count": count }), "earning_rule_daily_report")
    });
    respond(message.collect())
}
