//! How what rows and indexes said is written over in the file of the database. It must not know whose it was.
//!
//! SQLite leaves what it frees as it was, and the platform refuses the switch by which it would not (`PRAGMA secure_delete`) and `VACUUM`.
//! So a row is overwritten in its own length, before it goes as well. What it said before may stand in the gap of its page, or of one beside
//! it: the rows there are made longer until the gap is used up, which makes the page anew, and shortened again (`knead`). In the end more is
//! written and removed than the log holds before it begins anew: what was freed is overwritten by that, and so is the log.

use crate::store::Store;

/// As many bytes that say nothing.
pub fn blank(text: &str) -> String {
    format!("substr(hex(zeroblob(octet_length({text}))), 1, octet_length({text}))")
}

/// Notes that the page of a document is to be made anew, and those beside it.
pub fn touch(pages: &mut Vec<(i64, i64)>, seq: i64) {
    /// Documents before and behind one: those of a page at least.
    const BESIDE: i64 = 12;
    let (from, to) = (seq.saturating_sub(BESIDE), seq.saturating_add(BESIDE));
    match pages.last_mut().filter(|(first, last)| *first <= from && *last >= from) {
        Some((_, last)) => *last = to,
        None => pages.push((from, to)),
    }
}

/// How often rows grow until the gap of their page is used up, and by how many bytes.
const KNEADS: u64 = 14;

/// Makes the pages of some documents anew: each row is moved within its page until there is no gap left that anything could stand in.
pub fn knead(store: &mut Store<'_>, pages: &mut Vec<(i64, i64)>, rows: u64) {
    let Some((from, to)) = pages.pop() else { return };
    let share = i64::try_from(rows.checked_div(KNEADS).unwrap_or(1).max(1)).unwrap_or(i64::MAX);
    let begin = from.max(to.saturating_sub(share));
    if begin > from {
        pages.push((from, begin));
    }
    let range = || vec![begin.into(), to.into()];
    for _ in 0..KNEADS {
        let grow = "UPDATE document SET body = body || '                        ' WHERE seq >= +?1 AND seq <= +?2";
        store.write(grow, range());
    }
    store.write("UPDATE document SET body = rtrim(body) WHERE seq >= +?1 AND seq <= +?2", range());
}

/// Fills the room that was freed in one step, and gives it back in the next.
pub fn fill(store: &mut Store<'_>, step: u64) {
    /// Three rows of these are more pages than the log has before it begins anew, which are 1,000 of 4,096 bytes.
    const FILL: &str =
        "INSERT INTO scratch (body) SELECT hex(zeroblob(900000)) FROM (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3)";
    store.write(if step.is_multiple_of(2) { FILL } else { "DELETE FROM scratch" }, Vec::new());
}
