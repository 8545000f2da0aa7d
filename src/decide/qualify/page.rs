//! Decides the order of qualification results, and the limits of each page.
//!
//! docs/spec/calculation.md#13: the cursor is the creation time of the last result of a page. Tiers of a promotion that
//! is created in one call have the same instant, and there may be more of them than a page has. Then the cursor also
//! has the number of that result among them.

use crate::count::Countable;
use crate::decide::validate::Evaluation;
use crate::model::qualification::{PageEnd, QualificationRequest, QualificationSort};
use crate::refusal::Reason;
use crate::stacking::ApplyOutcome;

/// A candidate that qualifies so far.
#[derive(Clone)]
pub(super) struct Match<'a> {
    /// Its position among the candidates.
    pub position: usize,
    /// The cursor of a page that ends with this result.
    pub end: PageEnd,
    /// Its position among the resolved names and its outcome, once it was evaluated.
    pub trial: Option<Box<(usize, ApplyOutcome)>>,
    /// The outcome of the tiers of a stack.
    pub stack: Option<Box<Evaluation<'a>>>,
}

impl Match<'_> {
    /// Returns whether it was refused because a part of it cannot be read.
    pub fn is_unreadable(&self) -> bool {
        let outcome = self.trial.as_ref().map(|trial| &trial.1);
        matches!(outcome, Some(ApplyOutcome::Refused(refusal)) if refusal.reason == Reason::Unreadable)
    }
}

/// One page.
pub(super) struct QualificationPage<'a> {
    /// The results, in order.
    pub matches: Vec<Match<'a>>,
    /// The cursor of the next page, when there is one.
    pub more_starting_after: Option<PageEnd>,
}

/// Numbers the matches that were created at the same instant, newest first.
pub(super) fn number(matches: &mut [Match<'_>]) {
    for same in matches.chunk_by_mut(|one, other| one.end.created_at == other.end.created_at) {
        if same.len() > 1 {
            (1..).zip(same).for_each(|(number, matched)| matched.end.ordinal = number);
        }
    }
}

/// Returns the start of the part that contains a page, in parts of `size`.
pub(super) fn part(query: &QualificationRequest, matches: &[Match<'_>], size: usize) -> usize {
    let Some(after) = query.starting_after else { return 0 };
    // Sorted by age, the page begins after the last result, and in any other order possibly with an older one.
    let first = passed(matches, after).remaining_after(usize::from(query.sorting != QualificationSort::Default));
    // A part has at least one match.
    first.remaining_after(first.checked_rem(size).unwrap_or(0))
}

/// Sorts the matches and takes the page after this cursor. The first match of the following part ends at `next`.
pub(super) fn take_page<'a>(
    query: &QualificationRequest,
    mut matches: Vec<Match<'a>>,
    after: Option<PageEnd>,
    next: Option<PageEnd>,
) -> QualificationPage<'a> {
    if query.sorting != QualificationSort::Default {
        matches.sort_by_cached_key(|matched| sort_key(query.sorting, matched));
    }
    let from = after.map_or(0, |after| page_start(query.sorting, &matches, after));
    let end = |position: usize| matches.get(position).map_or(next, |matched| Some(matched.end));
    // A limit beyond the type is the rest of the list.
    let mut until = from.saturating_add(query.limit).min(matches.len());
    if query.sorting == QualificationSort::Default && end(until).is_some() {
        // A caller that keeps only the milliseconds of an instant continues after all of it, so this page ends before
        // it, if it can.
        let instant = |position: usize| end(position).map(|end| end.created_at);
        let first = (from..until).find(|position| instant(*position) == instant(until)).unwrap_or(until);
        until = if first > from { first } else { until };
    }
    let is_last = until == matches.len() && next.is_none();
    let more_starting_after = until.checked_sub(1).and_then(end).filter(|_| from < until && !is_last);
    matches.truncate(until);
    let matches = matches.split_off(from.min(until));
    QualificationPage { matches, more_starting_after }
}

/// Returns the number of results already returned, sorted by age.
#[inline(never)]
fn passed(matches: &[Match<'_>], after: PageEnd) -> usize {
    matches.partition_point(|matched| after.has_passed(matched.end))
}

/// Returns the start of the page after this cursor. The last result of a page may be deleted meanwhile. Sorted by age,
/// all younger results are before the cursor; in any other order the position is unknown.
fn page_start(sorting: QualificationSort, matches: &[Match<'_>], after: PageEnd) -> usize {
    if sorting == QualificationSort::Default {
        return passed(matches, after);
    }
    let is_last = |matched: &Match<'_>| match after.ordinal {
        0 => matched.end.created_at == after.created_at,
        _ => matched.end == after,
    };
    matches.iter().rposition(is_last).map_or(matches.len(), |last| last.plus_one())
}

fn sort_key(sorting: QualificationSort, matched: &Match<'_>) -> u64 {
    let off = match matched.trial.as_deref() {
        // An applied gain is within bounds.
        Some((_, ApplyOutcome::Applied(gain))) => gain.total().unwrap_or_default().minor(),
        _ => 0,
    };
    if sorting == QualificationSort::BestDeal { !off } else { off }
}
