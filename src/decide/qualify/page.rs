//! Decides the order of what qualifies, and where one page ends and the next begins. It must not know why anything
//! qualifies.
//!
//! calculation.md section 13: the cursor is the moment at which the last result of a page was created.

use crate::decide::validate::Evaluated;
use crate::model::qualification::{Qualify, SortingRule};
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
    pub more_starting_after: Option<Instant>,
}

/// Sorts what qualifies and takes one page of it.
pub(super) fn cut<'a>(asked: &Qualify, mut hits: Vec<Hit<'a>>) -> Page<'a> {
    let total = hits.len();
    let cursor = asked.starting_after;
    let from = match asked.sorting {
        // Newest first already.
        SortingRule::Default => cursor.map_or(0, |cursor| hits.partition_point(|hit| hit.created_at >= cursor)),
        sorting => {
            hits.sort_by_cached_key(|hit| deal(sorting, hit));
            let after = |cursor: Instant| hits.iter().rposition(|hit| hit.created_at == cursor);
            cursor.map_or(0, |cursor| after(cursor).map_or(total, |last| last.saturating_add(1)))
        }
    };
    let mut until = from.saturating_add(asked.limit).min(total);
    if asked.sorting == SortingRule::Default && until < total {
        // The next page cannot begin among those of one moment, so that this one ends before them, if it can.
        let moment = |place: usize| hits.get(place).map(|hit| hit.created_at);
        let first = (from..until).find(|place| moment(*place) == moment(until)).unwrap_or(until);
        until = if first > from { first } else { until };
    }
    hits.truncate(until);
    let hits = hits.split_off(from.min(until));
    let more_starting_after = hits.last().filter(|_| until < total).map(|hit| hit.created_at);
    Page { hits, total, more_starting_after }
}

fn deal(sorting: SortingRule, hit: &Hit<'_>) -> u64 {
    let off = match hit.looked.as_deref() {
        Some((_, Outcome::Applied(gain))) => gain.total().unwrap_or_default().minor(),
        _ => 0,
    };
    if sorting == SortingRule::BestDeal { u64::MAX.saturating_sub(off) } else { off }
}
