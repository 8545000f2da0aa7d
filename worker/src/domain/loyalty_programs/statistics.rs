//! Statistics of loyalty programs: counts and points, summed with each write, so that reports do not read single events.
//!
//! Triggers of the tables count most of it (`store/migrations/0012_statistics.sql`). Results of earning rules are counted here, all of an
//! event at once.

use crate::documents::clause::Clause;
use crate::documents::report_period::{self, ReportPeriod};
use crate::http::reply::{CallError, error};
use crate::store::Store;
use crate::store::loyalty::statistics::{self, CountedEvent, QuarterRange, ReportSize, StatisticRow};
use crate::store::sql::Fault;
use scrip::count;
use scrip::decide::earn::{Earnings, NotEarned};
use scrip::points::limits::LimitRefusal;
use scrip::time::Instant;
use std::collections::BTreeMap;

/// Maximum number of sums in one report: subjects times periods.
const SUMS_MAX: i64 = 10_000;
/// Maximum number of quarter hours summed for one report; about 90 ms natively.
const QUARTERS_MAX: i64 = 300_000;
/// Milliseconds of a quarter of an hour.
const QUARTER_MS: i64 = 900_000;

/// Counted kind of event, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatisticKind {
    /// A rule fired.
    Fired,
    /// A rule did not fire because of its cooldown.
    Cooldown,
    /// A rule did not fire because of its frequency limit.
    Frequency,
    /// A rule granted points that could be spent at once.
    Earned,
    /// A rule granted pending points.
    EarnedPending,
    /// Points were spent on a reward.
    Reward,
    /// Points were spent on an order.
    Order,
    /// A member reached a tier without a tier before.
    Joined,
    /// A member reached a tier from a lower one.
    Upgraded,
    /// A member reached a tier from a higher one.
    Downgraded,
    /// A member left a tier and has none.
    Left,
    /// A member kept a tier at a new evaluation.
    Prolonged,
}

impl StatisticKind {
    /// Returns the stored name.
    pub fn name(self) -> &'static str {
        match self {
            StatisticKind::Fired => "FIRED",
            StatisticKind::Cooldown => "COOLDOWN",
            StatisticKind::Frequency => "FREQUENCY",
            StatisticKind::Earned => "EARNED",
            StatisticKind::EarnedPending => "WAITING",
            StatisticKind::Reward => "REWARD",
            StatisticKind::Order => "ORDER",
            StatisticKind::Joined => "JOINED",
            StatisticKind::Upgraded => "UPGRADED",
            StatisticKind::Downgraded => "DOWNGRADED",
            StatisticKind::Left => "LEFT",
            StatisticKind::Prolonged => "PROLONGED",
        }
    }
}

/// Sums of a kind of event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// Number of events.
    pub count: i64,
    /// Number of points.
    pub points: i64,
    /// Value in minor units.
    pub amount: i64,
}

/// Subject of a statistic; members that do not apply are empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// Id of an earning rule.
    pub earning_rule: String,
    /// Id of one of its earnings.
    pub earning: String,
    /// Id of a card definition.
    pub card_definition: String,
    /// Id of a tier structure.
    pub tier_structure: String,
    /// Id of one of its tiers.
    pub tier: String,
}

/// Sums of one subject, in total or in a period.
#[derive(Debug, Clone)]
pub struct Statistic {
    /// Number of its first count; it is unique.
    pub number: i64,
    /// The subject.
    pub subject: Subject,
    sums: Vec<(String, Sums)>,
}

impl Statistic {
    /// Returns the sums of one kind.
    pub fn of(&self, kind: StatisticKind) -> Sums {
        self.sums.iter().find(|(known, _)| known == kind.name()).map(|(_, sums)| *sums).unwrap_or_default()
    }
}

/// Counted result of an earning rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleStatistic<'a> {
    /// Id of the program.
    pub program: &'a str,
    /// Kind of the event.
    pub kind: StatisticKind,
    /// Id of the rule.
    pub rule: &'a str,
    /// Id of the earning; empty if it does not apply.
    pub earning: &'a str,
    /// Id of the card definition; empty if it does not apply.
    pub card_definition: &'a str,
}

/// Queues the counts of results of rules, each with its points; they are counted in this order.
pub fn insert_counts(store: &mut Store<'_>, results: &[(RuleStatistic<'_>, u64)], now_ms: i64) {
    if results.is_empty() {
        return;
    }
    let mut events = Vec::with_capacity(results.len());
    for (of, points) in results {
        let RuleStatistic { program, kind, rule, earning, card_definition } = *of;
        events.push(CountedEvent { program, kind: kind.name(), rule, earning, card_definition, points: *points });
    }
    statistics::insert_events(store, &events, now_ms);
}

/// Returns the rules that did not fire for an event because of their cooldown or frequency limit.
pub fn limited_rules(earnings: &Earnings) -> Vec<(RuleStatistic<'_>, u64)> {
    let mut limited = Vec::new();
    for member in &earnings.memberships {
        for rule in &member.rules {
            let kind = match &rule.outcome {
                Err(NotEarned::LimitRefusal(LimitRefusal::Until(_))) => StatisticKind::Cooldown,
                Err(NotEarned::LimitRefusal(LimitRefusal::Exhausted)) => StatisticKind::Frequency,
                Ok(_) | Err(_) => continue,
            };
            let (program, rule) = (member.program_id.as_str(), rule.rule_id.as_str());
            limited.push((RuleStatistic { program, kind, rule, earning: "", card_definition: "" }, 0));
        }
    }
    limited
}

/// Returns the total sums of each subject of a clause, in the order of their first count.
pub fn list_totals(store: &Store<'_>, clause: &Clause) -> Result<Vec<Statistic>, Fault> {
    statistics::add_waiting(store)?;
    let rows = statistics::list_totals(store, clause.condition())?;
    Ok(group_rows(rows).into_values().next().unwrap_or_default())
}

/// Returns the sums of each subject by period: the indexes of periods with events, and their statistics.
pub fn list_by_period(
    store: &Store<'_>,
    clause: &Clause,
    periods: &[ReportPeriod],
) -> Result<BTreeMap<usize, Vec<Statistic>>, CallError> {
    statistics::add_waiting(store)?;
    check_length(store, clause, periods)?;
    let bounds = report_period::as_parameter(periods, quarter);
    Ok(group_rows(statistics::list_by_period(store, clause.condition(), bounds)?))
}

/// Returns the quarter hour of an instant. In named zones days start at a quarter hour since 1972. In other zones, the
/// quarter in which a day starts belongs to that day.
fn quarter(at: Instant) -> i64 {
    at.millis().div_euclid(QUARTER_MS)
}

/// Refuses a report that is too long, before it is computed.
fn check_length(store: &Store<'_>, clause: &Clause, periods: &[ReportPeriod]) -> Result<(), CallError> {
    let (Some(first), Some(last)) = (periods.first(), periods.last()) else { return Ok(()) };
    let span = QuarterRange { from: quarter(first.begin), to: quarter(last.end) };
    let Some(size) = statistics::count_rows(store, clause.condition(), span, QUARTERS_MAX)? else { return Ok(()) };
    let ReportSize { subjects, quarters } = size;
    let sums = subjects.checked_mul(count::length(periods));
    let sums = sums.ok_or_else(|| Fault::new("a report has more sums than can be counted"))?;
    let details = if sums > SUMS_MAX {
        format!(
            "Property .filters must NOT leave more than {SUMS_MAX} sums, one of everything that is counted for each period (actual number is \
             `{sums}`). Ask for fewer of it, for longer periods or for fewer of them"
        )
    } else if quarters > QUARTERS_MAX {
        format!(
            "Property .end_date must NOT leave more than {QUARTERS_MAX} quarters of an hour in which something happened. Ask for an earlier \
             one, or for fewer of what is counted"
        )
    } else {
        return Ok(());
    };
    Err(error(400, "request_too_complex", "Request takes too much work", details).into())
}

/// Groups rows by period and subject; sums that are zero because of reversals are left out.
fn group_rows(rows: Vec<StatisticRow>) -> BTreeMap<usize, Vec<Statistic>> {
    let mut found: BTreeMap<(usize, Subject), Statistic> = BTreeMap::new();
    for row in rows {
        let StatisticRow { earning_rule, earning, card_definition, tier_structure, tier, number, kind, .. } = row;
        let Some([count, points, amount]) = row.sums else { continue };
        let period = usize::try_from(row.period).unwrap_or(0);
        let subject = Subject { earning_rule, earning, card_definition, tier_structure, tier };
        let known = found.entry((period, subject.clone())).or_insert(Statistic { number, subject, sums: Vec::new() });
        known.number = known.number.min(number);
        if count != 0 {
            known.sums.push((kind, Sums { count, points, amount }));
        }
    }
    let mut by_period: BTreeMap<usize, Vec<Statistic>> = BTreeMap::new();
    for ((period, _), statistic) in found.into_iter().filter(|(_, statistic)| !statistic.sums.is_empty()) {
        by_period.entry(period).or_default().push(statistic);
    }
    by_period.values_mut().for_each(|statistics| statistics.sort_by_key(|statistic| statistic.number));
    by_period
}
