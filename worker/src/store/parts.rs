//! Which customers have a part in their names, by an index of every three letters of each (`schema/parted`). It must not know who looks for
//! them.

use super::Store;
use super::sql::{self, Fault};

/// Letters of a word of the index.
const LETTERS: usize = 3;

/// Words that are asked for at once: a longer part has more, and is found by these.
const WORDS_MAX: usize = 12;

/// Rows that are found by the index, at most: to put more of them in order takes longer than to look at each.
const FOUND_MAX: i64 = 4_000;

/// The condition for rows that the index says may have a part: each `{}` is what [`found`] gives.
pub const FOUND: &str = "seq IN (SELECT rowid FROM label_part WHERE label_part MATCH {})";

impl Store<'_> {
    /// What the index is to be asked for a part of a name, in small letters; nothing where the part is too short, or in too many names, for it
    /// to be of use. Whatever has the part is found by it, and what has not may be: it has the words of the part, but elsewhere.
    pub fn part(&self, part: &str) -> Result<Option<String>, Fault> {
        let Some(asked) = words(part) else { return Ok(None) };
        let row = self.row(
            "SELECT COUNT(*) FROM (SELECT 1 FROM label_part WHERE label_part MATCH ?1 LIMIT +?2)",
            &[asked.as_str().into(), FOUND_MAX.saturating_add(1).into()],
        )?;
        let count = row.map_or(Ok(0), |row| sql::int(&row, 0))?;
        Ok((count <= FOUND_MAX).then_some(asked))
    }
}

/// The words of a part as the index reads them, each in quotes. A letter without a code is the end of a text to it.
fn words(part: &str) -> Option<String> {
    let letters: Vec<char> = part.chars().collect();
    let all: Vec<&[char]> = letters.windows(LETTERS).filter(|word| !word.contains(&'\0')).collect();
    let step = all.len().div_ceil(WORDS_MAX).max(1);
    let quoted = |word: &&[char]| format!("\"{}\"", word.iter().collect::<String>().replace('"', "\"\""));
    let asked: Vec<String> = all.iter().step_by(step).map(quoted).collect();
    (!asked.is_empty()).then(|| asked.join(" AND "))
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_part_is_asked_for_by_the_words_of_three_letters_in_it() {
        assert_eq!(words("an"), None);
        assert_eq!(words("ann").unwrap(), "\"ann\"");
        assert_eq!(words("mü\"l").unwrap(), "\"mü\"\"\" AND \"ü\"\"l\"");
        assert_eq!(words("a\0bcd").unwrap(), "\"bcd\"");
        assert_eq!(words(&"abc".repeat(3_000)).unwrap().matches(" AND ").count(), 11);
    }
}
