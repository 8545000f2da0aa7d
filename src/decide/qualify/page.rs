//! Decides the order of qualification results, and the limits of each page.
//!
//! docs/spec/calculation.md#13: the cursor is the creation time of the last result of a page. Tiers of a promotion that
//! is created in one call have the same instant, and there may be more of them than a page has. Then the cursor also
//! has the number of that result among them.

use crate::count::Countable;
use crate::decide::validate::Evaluation;
use crate::model::qualification::{PageEnd, QualificationSort, Qualify};
use crate::stacking::ApplyOutcome;

/// A candidate that qualifies so far.
#[derive(Clone)]
pub(super) struct Match<'a> {
    /// Its position among the candidates.
    pub place: usize,
    /// The cursor of a page that ends with this result.
    pub end: PageEnd,
    /// Its position among the resolved names and its outcome, once it was evaluated.
    pub looked: Option<Box<(usize, ApplyOutcome)>>,
    /// The outcome of the tiers of a stack.
    pub stack: Option<Box<Evaluation<'a>>>,
}

/// One page.
pub(super) struct QualificationPage<'a> {
    /// The results, in order.
    pub hits: Vec<Match<'a>>,
    /// The cursor of the next page, when there is one.
    pub more_starting_after: Option<PageEnd>,
}

/// Numbers the matches that were created at the same instant, newest first.
pub(super) fn number(hits: &mut [Match<'_>]) {
    for same in hits.chunk_by_mut(|one, other| one.end.created_at == other.end.created_at) {
        if same.len() > 1 {
            (1..).zip(same).for_each(|(number, hit)| hit.end.of_moment = number);
        }
    }
}

/// Returns the start of the part that contains a page, in parts of `size`.
pub(super) fn part(asked: &Qualify, hits: &[Match<'_>], size: usize) -> usize {
    let Some(after) = asked.starting_after else { return 0 };
    // Sorted by age, the page begins after the last result, and in any other order possibly with an older one.
    let first = passed(hits, after).remaining_after(usize::from(asked.sorting != QualificationSort::Default));
    first.remaining_after(first.checked_rem(size).unwrap_or(0))
}

/// Sorts the matches and takes the page after this cursor. The first match of the following part ends at `next`.
pub(super) fn cut<'a>(
    asked: &Qualify,
    mut hits: Vec<Match<'a>>,
    after: Option<PageEnd>,
    next: Option<PageEnd>,
) -> QualificationPage<'a> {
    if asked.sorting != QualificationSort::Default {
        hits.sort_by_cached_key(|hit| deal(asked.sorting, hit));
    }
    let from = after.map_or(0, |after| begin(asked.sorting, &hits, after));
    let end = |place: usize| hits.get(place).map_or(next, |hit| Some(hit.end));
    // A limit beyond the type is the rest of the list.
    let mut until = from.saturating_add(asked.limit).min(hits.len());
    if asked.sorting == QualificationSort::Default && end(until).is_some() {
        // A caller that keeps only the milliseconds of an instant continues after all of it, so this page ends before
        // it, if it can.
        let moment = |place: usize| end(place).map(|end| end.created_at);
        let first = (from..until).find(|place| moment(*place) == moment(until)).unwrap_or(until);
        until = if first > from { first } else { until };
    }
    let is_last = until == hits.len() && next.is_none();
    let more_starting_after = until.checked_sub(1).and_then(end).filter(|_| from < until && !is_last);
    hits.truncate(until);
    let hits = hits.split_off(from.min(until));
    QualificationPage { hits, more_starting_after }
}

/// Returns the number of results already shown, sorted by age.
#[inline(never)]
fn passed(hits: &[Match<'_>], after: PageEnd) -> usize {
    hits.partition_point(|hit| after.has_passed(hit.end))
}

/// Returns the start of the page after this cursor. The last result of a page may be deleted meanwhile. Sorted by age,
/// all younger results are before the cursor; in any other order the position is unknown.
fn begin(sorting: QualificationSort, hits: &[Match<'_>], after: PageEnd) -> usize {
    if sorting == QualificationSort::Default {
        return passed(hits, after);
    }
    let is_last = |hit: &Match<'_>| match after.of_moment {
        0 => hit.end.created_at == after.created_at,
        _ => hit.end == after,
    };
    hits.iter().rposition(is_last).map_or(hits.len(), |last| last.plus_one())
}

fn deal(sorting: QualificationSort, hit: &Match<'_>) -> u64 {
    let off = match hit.looked.as_deref() {
        Some((_, ApplyOutcome::Applied(gain))) => gain.total().unwrap_or_default().minor(),
        _ => 0,
    };
    if sorting == QualificationSort::BestDeal { !off } else { off }
}
