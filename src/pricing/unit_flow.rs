//! Distributes the units of lines among takers, each of which can use the units of some lines only, so that as many as
//! possible are used: a maximum flow.

use std::collections::VecDeque;

use crate::count::Countable;

/// The units of lines and their takers.
pub struct UnitFlow {
    /// The units of each line that no taker has.
    pub left: Vec<u64>,
    /// The missing units of each taker.
    pub needed: Vec<u64>,
    /// The lines of each taker, in order.
    lines: Vec<Vec<usize>>,
    /// The units that each taker has of each line.
    taken: Vec<Vec<u64>>,
}

/// Units that a taker would take of a line.
#[derive(Clone, Copy)]
struct UnitMove {
    taker: usize,
    line: usize,
}

impl UnitFlow {
    /// Returns lines with these units, none of them taken.
    pub fn new(left: Vec<u64>, lines: Vec<Vec<usize>>, needed: Vec<u64>) -> UnitFlow {
        let taken = vec![vec![0; left.len()]; lines.len()];
        UnitFlow { left, needed, lines, taken }
    }

    /// Gives a taker units of its lines, in their order, while they are left.
    pub fn take_in_order(&mut self, taker: usize) {
        for line in self.lines.get(taker).cloned().unwrap_or_default() {
            let units = self.left_of(line).min(self.needed_by(taker));
            self.shift(&[UnitMove { taker, line }], &[], units);
        }
    }

    /// Gives a taker its missing units: units that are left, or those of other takers that can take others
    /// instead. It has as many as possible afterwards, and no other has fewer than before.
    pub fn complete(&mut self, taker: usize) {
        while let Some(path) = self.find_path(taker) {
            // Each taker on the path after the first gives up the line that the one before takes.
            let given_up: Vec<UnitMove> =
                path.iter().zip(path.iter().skip(1)).map(|(one, next)| UnitMove { line: one.line, ..*next }).collect();
            // A path has at least one move.
            let last = path.last().map_or(0, |last| self.left_of(last.line));
            // A path without units to give up has no limit.
            let most = given_up.iter().map(|one| self.taken_by(*one)).min().unwrap_or(u64::MAX);
            self.shift(&path, &given_up, last.min(most).min(self.needed_by(taker)));
        }
    }

    /// Returns the shortest chain of takers from this one to a line with units left.
    fn find_path(&self, start: usize) -> Option<Vec<UnitMove>> {
        if self.needed_by(start) == 0 {
            return None;
        }
        // For each taker that was reached, the one before and the line that it takes over.
        let mut reached_by: Vec<Option<UnitMove>> = vec![None; self.lines.len()];
        let mut is_visited = vec![false; self.left.len()];
        let mut open = VecDeque::from([start]);
        while let Some(taker) = open.pop_front() {
            for line in self.lines.get(taker)? {
                if std::mem::replace(is_visited.get_mut(*line)?, true) {
                    continue;
                }
                let reach = UnitMove { taker, line: *line };
                if self.left_of(*line) > 0 {
                    return Some(back_to(start, reach, &reached_by));
                }
                for (other, before) in reached_by.iter_mut().enumerate() {
                    let has_units = self.taken_by(UnitMove { taker: other, line: *line }) > 0;
                    if has_units && other != start && before.is_none() {
                        *before = Some(reach);
                        open.push_back(other);
                    }
                }
            }
        }
        None
    }

    /// Moves units along a path: its takers take them, and other takers give them up. The first takes them in addition,
    /// and the last takes what is left of its line.
    fn shift(&mut self, path: &[UnitMove], given_up: &[UnitMove], units: u64) {
        for one in given_up {
            if let Some(taken) = self.taken_mut(*one) {
                *taken = taken.remaining_after(units);
            }
        }
        for one in path {
            if let Some(taken) = self.taken_mut(*one) {
                // A line never gives more units than it has.
                *taken = taken.checked_add(units).unwrap_or(*taken);
            }
        }
        if let Some(needed) = path.first().and_then(|first| self.needed.get_mut(first.taker)) {
            *needed = needed.remaining_after(units);
        }
        if let Some(left) = path.last().and_then(|last| self.left.get_mut(last.line)) {
            *left = left.remaining_after(units);
        }
    }

    fn left_of(&self, line: usize) -> u64 {
        // A line that the flow does not have has no units.
        self.left.get(line).copied().unwrap_or(0)
    }

    fn needed_by(&self, taker: usize) -> u64 {
        // A taker that the flow does not have needs none.
        self.needed.get(taker).copied().unwrap_or(0)
    }

    fn taken_by(&self, one: UnitMove) -> u64 {
        // A taker or line that the flow does not have gives none.
        self.taken.get(one.taker).and_then(|lines| lines.get(one.line)).copied().unwrap_or(0)
    }

    fn taken_mut(&mut self, one: UnitMove) -> Option<&mut u64> {
        self.taken.get_mut(one.taker)?.get_mut(one.line)
    }
}

/// Returns the path from `start` to its last move.
fn back_to(start: usize, last: UnitMove, reached_by: &[Option<UnitMove>]) -> Vec<UnitMove> {
    let mut path = vec![last];
    let mut taker = last.taker;
    while let Some(before) = reached_by.get(taker).copied().flatten().filter(|_| taker != start) {
        path.push(before);
        taker = before.taker;
    }
    path.reverse();
    path
}
