//! Finds customers by a part of their name, with a trigram index (`migrations/0020_name_trigrams.sql`).

use crate::store::Store;
use crate::store::sql::{self, Fault};

/// Characters of a trigram.
const TRIGRAM_LENGTH: usize = 3;

/// Maximum number of trigrams in a query; a longer part is found by some of its trigrams.
const TRIGRAMS_MAX: usize = 12;

/// Maximum number of rows from the index: sorting more of them takes longer than a scan.
const FOUND_MAX: i64 = 4_000;

/// Condition for rows that may contain a part, by the index: each `{}` is a query of [`Store::part`].
pub const FOUND: &str = "seq IN (SELECT rowid FROM label_part WHERE label_part MATCH {})";

impl Store<'_> {
    /// Returns the index query for a part of a name in lower case; `None` when the part is too short or too frequent for
    /// the index. The result contains all matching rows, and may contain others with the same trigrams elsewhere.
    pub fn part(&self, part: &str) -> Result<Option<String>, Fault> {
        let Some(query) = trigrams(part) else { return Ok(None) };
        let row = self.row(
            "SELECT COUNT(*) FROM (SELECT 1 FROM label_part WHERE label_part MATCH ?1 LIMIT +?2)",
            // One row more than the limit: it exists if the limit is exceeded.
            &[query.as_str().into(), FOUND_MAX.saturating_add(1).into()],
        )?;
        let count = row.map_or(Ok(0), |row| sql::int(&row, 0))?;
        Ok((count <= FOUND_MAX).then_some(query))
    }
}

/// Returns the trigrams of a part for the index, each in quotes. A null character ends a text there, so trigrams with it are left out.
fn trigrams(part: &str) -> Option<String> {
    let characters: Vec<char> = part.chars().collect();
    let all: Vec<&[char]> = characters.windows(TRIGRAM_LENGTH).filter(|trigram| !trigram.contains(&'\0')).collect();
    let step = all.len().div_ceil(TRIGRAMS_MAX).max(1);
    let quoted = |trigram: &&[char]| format!("\"{}\"", trigram.iter().collect::<String>().replace('"', "\"\""));
    let query: Vec<String> = all.iter().step_by(step).map(quoted).collect();
    (!query.is_empty()).then(|| query.join(" AND "))
}

#[cfg(test)]
mod tests {
    use super::trigrams;

    #[test]
    fn a_part_becomes_the_quoted_trigrams_in_it() {
        assert_eq!(trigrams("an"), None);
        assert_eq!(trigrams("ann").unwrap(), "\"ann\"");
        assert_eq!(trigrams("mü\"l").unwrap(), "\"mü\"\"\" AND \"ü\"\"l\"");
        assert_eq!(trigrams("a\0bcd").unwrap(), "\"bcd\"");
        assert_eq!(trigrams(&"abc".repeat(3_000)).unwrap().matches(" AND ").count(), 11);
    }
}
