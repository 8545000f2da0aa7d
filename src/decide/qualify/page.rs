//! Decides the order of what qualifies, and where one page ends and the next begins. It must not know why anything
//! qualifies.
//!
//! calculation.md section 13: the cursor is the moment at which the last result of a page was created. Tiers of a promotion that is made
//! in one call are all of one moment, and more of them than a page has: then it says how many of them there have been.

use crate::decide::validate::Evaluated;
use crate::model::qualification::{PageEnd, Qualify, SortingRule};
use crate::stacking::Outcome;
use crate::time::Instant;

/// A candidate that qualifies as far as has been seen.
#[derive(Clone)]
pub(super) struct Hit<'a> {
    /// Its place among the candidates.
    pub place: usize,
    /// When it was created.
    pub created_at: Instant,
    /// Its place among what was resolved, and what it gives, once it was looked at.
    pub looked: Option<Box<(usize, Outcome)>>,
    /// What became of the tiers of a stack.
    pub stack: Option<Box<Evaluated<'a>>>,
}

/// One page.
pub(super) struct Page<'a> {
    /// What it shows, in order.
    pub hits: Vec<Hit<'a>>,
    /// How many there are on all pages.
    pub total: usize,
    /// Where the next one begins, when there is one.
    pub more_starting_after: Option<PageEnd>,
}

/// Sorts what qualifies and takes one page of it.
pub(super) fn cut<'a>(asked: &Qualify, mut hits: Vec<Hit<'a>>) -> Page<'a> {
    let total = hits.len();
    if asked.sorting != SortingRule::Default {
        hits.sort_by_cached_key(|hit| deal(asked.sorting, hit));
    }
    let from = asked.starting_after.map_or(0, |after| begin(asked.sorting, &hits, after));
    let mut until = from.saturating_add(asked.limit).min(total);
    let moment = |place: usize| hits.get(place).map(|hit| hit.created_at);
    if asked.sorting == SortingRule::Default && until < total {
        // Whoever keeps of a moment the milliseconds alone goes on behind all of it, so that this page ends before them, if it can.
        let first = (from..until).find(|place| moment(*place) == moment(until)).unwrap_or(until);
        until = if first > from { first } else { until };
    }
    let last = until.checked_sub(1).and_then(moment).filter(|_| from < until && until < total);
    let more_starting_after = last.map(|created_at| {
        let mut of_moment = 0_usize;
        let (shown, rest) = hits.split_at(until);
        if rest.iter().any(|hit| hit.created_at == created_at) {
            of_moment = shown.iter().filter(|hit| hit.created_at == created_at).count();
        }
        PageEnd { created_at, of_moment }
    });
    hits.truncate(until);
    let hits = hits.split_off(from.min(until));
    Page { hits, total, more_starting_after }
}

/// Where a page begins that comes after this. What has gone since may have been the last of a page: in the order of age all younger ones
/// are behind it, in any other nobody knows what is.
fn begin(sorting: SortingRule, hits: &[Hit<'_>], after: PageEnd) -> usize {
    let same = || hits.iter().enumerate().filter(|(_, hit)| hit.created_at == after.created_at).map(|(place, _)| place);
    let last = match after.of_moment.checked_sub(1) {
        Some(before) => same().nth(before),
        None => same().next_back(),
    };
    match last {
        Some(last) => last.saturating_add(1),
        None if sorting == SortingRule::Default => hits.partition_point(|hit| hit.created_at >= after.created_at),
        None => hits.len(),
    }
}

fn deal(sorting: SortingRule, hit: &Hit<'_>) -> u64 {
    let off = match hit.looked.as_deref() {
        Some((_, Outcome::Applied(gain))) => gain.total().unwrap_or_default().minor(),
        _ => 0,
    };
    if sorting == SortingRule::BestDeal { u64::MAX.saturating_sub(off) } else { off }
}
