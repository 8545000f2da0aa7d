//! Counts what the repository has too much of: a count may only fall. `docs/glossary.md` lists the terms, and `git grep` with the same
//! pattern finds the places.

use regex::Regex;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

use super::citations::unresolved;
use super::code::{blank, words};

/// A text of the repository with its path.
pub struct Source<'t> {
    pub path: &'t str,
    pub text: &'t str,
}

impl Source<'_> {
    fn lies_in(&self, folders: &[&str]) -> bool {
        folders.iter().any(|folder| self.path.starts_with(folder))
    }

    fn ends_with(&self, endings: &[&str]) -> bool {
        endings.iter().any(|ending| self.path.ends_with(ending))
    }
}

/// The engine and the service.
const CODE: &[&str] = &["src/", "worker/src/"];
/// Folders of the service's entities.
const DOMAIN: &[&str] = &["worker/src/domain/"];
/// Files that count amounts, points and balances.
const COUNTING: &[&str] =
    &["src/ledger", "src/points", "src/money", "src/pricing", "worker/src/store/ledger", "worker/src/domain/balances/"];

/// Words in the paths of files in which a number that is absent or out of bounds must not silently become another one.
const AMOUNT_WORDS: &[&str] = &[
    "amount", "balance", "balances", "card", "cards", "earned", "earning", "earnings", "ledger", "money", "order",
    "orders", "payment", "payments", "point", "points", "pricing",
];
/// An operation that wraps, adds up without a check, or takes another number in place of one that overflows.
const UNCHECKED_AMOUNT: &str = r"\bwrapping_\w+|\bchecked_\w+\(.*\)\.unwrap_or\(|\.sum(::<\w+>)?\(\)";
/// An object whose members have no types: the map itself, or one of its aliases.
const UNTYPED_OBJECTS: &str = r"\bMap<String, Json>|\b(DocumentBody|RequestBody)\b";
/// A number in place of one that is absent or out of bounds.
const DEFAULT_AMOUNT: &str = r"\.unwrap_or\((0|[iu](64|128)::(MAX|MIN))\)";

const BANNED_IDENTIFIERS: &str = r"\b\w*([Ll]etter|[Cc]ourier|[Tt]old|[Pp]urse|[Hh]indrance|[Kk]nead|[Ss]hel(f|ves)|[Tt]eller|[Oo]nward|[Rr]ehears|[Bb]elief|[Hh]appening)\w*|(?:\b|_)[Ss]cribes?(?:\b|_)";
const BANNED_PROSE: &str = r"(?i)\b(nobody|somebody|anybody|everybody|whoever|whatever|whichever|whom|wherever)\b";
/// Words of a private language that a part of an identifier must not be: `docs/glossary.md` has others for them.
const PRIVATE_WORDS: &[&str] = &[
    "standing",
    "standings",
    "stood",
    "occasion",
    "occasions",
    "firing",
    "firings",
    "scene",
    "scenes",
    "allotment",
    "allotments",
    "lapse",
    "lapses",
    "lapsed",
    "legible",
    "illegible",
    "buyer",
    "buyers",
    "basket",
    "baskets",
    "tally",
    "tallies",
    "heeds",
    "heeded",
    "bury",
    "believed",
    "brought",
    "noticed",
    "giver",
    "promised",
    "handed",
    "told",
    "unbound",
];
/// Words that the name of a vector or story, or the reason of a step, must not have: `docs/glossary.md` has others for them.
const BANNED_IN_NAMES: &str = r"(?i)\b(nobody|somebody|anybody|everybody|whoever|whomever|whatever|whichever|whom|wherever|told|tells?|says?|said|lapse[sd]?|purses?|handed over|called off|given back|comes back|anew|beside|believed|happenings?|hindrances?)\b";
/// The published term *dead letter*, in all its spellings.
const DEAD_LETTER: &str = r"(?i)\bdead[ _-]?letters?(ResendResult)?\b|\b(list|resend)DeadLetters\b";
/// Published error texts, which are a contract, with words that other texts must not use. Only these exact texts may have them.
const PUBLISHED_TEXTS: &[&str] = &[
    "names nobody: `sub` must be",
    "has a tracking id in `sub`, which proves nobody",
    "the clock of whoever made it is ahead",
    "must NOT be about tiers: nobody is told of those of a loyalty campaign",
    "before its balance changes (`{code}` is nobody's)",
    "must have only letters that can be seen (actual letter is",
    "over {} letters gives {} codes",
    "without a fragment, in letters of ASCII",
    "must have a host of letters, digits,",
];
/// Names in stored rows: each is written once, as a constant or in SQL, and a rename would need a migration of all rows.
const STORED_NAMES: &[&str] =
    &["\"told\"", "\"is_told\"", "`told`", "'$.told.", "writer.own(\"letter\"", "`letter`", "alias = \"Letters\""];
const SQL: &str = r#""\s*(SELECT|INSERT|UPDATE|DELETE|WITH) "#;

/// Counts the matches of a pattern in some texts.
fn matches<'s>(pattern: &str, sources: impl Iterator<Item = &'s Source<'s>>) -> usize {
    let pattern = Regex::new(pattern).unwrap();
    sources.map(|source| pattern.find_iter(source.text).count()).sum()
}

/// Counts the texts that have a match.
fn matching<'s>(pattern: &str, sources: impl Iterator<Item = &'s Source<'s>>) -> usize {
    let pattern = Regex::new(pattern).unwrap();
    sources.filter(|source| pattern.is_match(source.text)).count()
}

/// Counts the matches of a pattern outside published terms and texts and stored names.
fn unpublished<'s>(pattern: &str, sources: impl Iterator<Item = &'s Source<'s>>) -> usize {
    let (pattern, dead_letter) = (Regex::new(pattern).unwrap(), Regex::new(DEAD_LETTER).unwrap());
    let count = |source: &Source<'_>| {
        let mut text = dead_letter.replace_all(source.text, "").into_owned();
        for known in PUBLISHED_TEXTS.iter().chain(STORED_NAMES) {
            text = text.replace(known, "");
        }
        pattern.find_iter(&text).count()
    };
    sources.map(count).sum()
}

/// Counts everything that has a limit, by the name of the limit.
pub fn counts(all: &[Source<'_>]) -> BTreeMap<&'static str, usize> {
    let own = |source: &&Source<'_>| !source.lies_in(&["tests/support/ratchets"]);
    let rust = |folders: &'static [&'static str]| {
        all.iter().filter(move |source| source.lies_in(folders) && source.ends_with(&[".rs"]))
    };
    let prose = || {
        all.iter().filter(own).filter(|source| {
            source.ends_with(&[".rs", ".mjs", ".js", ".ts", ".md", ".html"])
                && !source.lies_in(&["tests/vectors/", "tests/stories/", "CHANGELOG.md"])
        })
    };
    let outside_store = || rust(&["worker/src/"]).filter(|source| !source.lies_in(&["worker/src/store/"]));
    let binaries = |folder: &str| {
        // A file of the folder, or the main file of one of its folders.
        let is_binary = |rest: &str| match rest.split_once('/') {
            None => rest.ends_with(".rs"),
            Some((_, name)) => name == "main.rs",
        };
        all.iter().filter(|source| source.path.strip_prefix(folder).is_some_and(is_binary)).count()
    };
    let mut counts = BTreeMap::from([
        ("banned identifiers", unpublished(BANNED_IDENTIFIERS, rust(CODE))),
        ("banned prose words", unpublished(BANNED_PROSE, prose())),
        (
            "banned words in names of vectors and stories",
            banned_in_names(all.iter().filter(|source| {
                source.lies_in(&["tests/vectors/", "tests/stories/", "tests/tiers/"]) && source.ends_with(&[".json"])
            })),
        ),
        ("told, tell, tells as words", matches(r"(?i)\b(told|tells?)\b", prose())),
        ("the older interface", matches("the older interface", prose())),
        (
            "doc lines that begin with a noun clause",
            matches(r"(?m)^\s*//[/!]? ?(What|Whether|How|Where|Whose|The same|As it|Those) ", rust(CODE)),
        ),
        ("type names declared twice in the engine", repeated_types(rust(&["src/"]))),
        ("type names declared twice in the service", repeated_types(rust(&["worker/src/"]))),
        ("parameters that are tuples", tuple_parameters(rust(CODE))),
        ("files in one folder", fullest_folder(rust(CODE))),
        ("files with SQL outside the store", matching(SQL, outside_store())),
        ("files with SQL", matching(SQL, rust(&["worker/src/"]))),
        ("lists of the columns of documents", matches("parent, holder, created_at", rust(&["worker/src/"]))),
        (
            "commits of the store",
            // The commit itself is the place for them.
            matches(r"\.(commit|flush)\(\)", outside_store().filter(|source| source.path != "worker/src/commit.rs")),
        ),
        ("files of the domain with untyped objects", matching(UNTYPED_OBJECTS, rust(DOMAIN))),
        ("members of JSON read by name", matches(r#"\.get\(""#, rust(&["worker/src/domain/", "worker/src/api/"]))),
        ("private words in identifiers", rust(CODE).map(private_words).sum()),
        ("test binaries of the service", binaries("worker/tests/")),
        ("test binaries of the engine", binaries("tests/")),
        (
            "bytes of ARCHITECTURE.md",
            all.iter().find(|source| source.path == "ARCHITECTURE.md").map_or(0, |source| source.text.len()),
        ),
        ("citations that do not resolve", unresolved(all).len()),
        (
            "descriptions by the name of a field",
            matches(r#"(?m)^    \(""#, all.iter().filter(|source| source.path == "src/shape/descriptions.rs")),
        ),
    ]);
    let description = all.iter().find(|source| source.path == "worker/openapi.json").unwrap();
    counts.extend(described(&serde_json::from_str(description.text).unwrap()));
    counts.extend(unexplained_amounts(all));
    counts
}

/// Counts the operations that can lose an amount.
fn unexplained_amounts(all: &[Source<'_>]) -> [(&'static str, usize); 7] {
    let rust = |folders: &'static [&'static str]| {
        all.iter().filter(move |source| source.lies_in(folders) && source.ends_with(&[".rs"]))
    };
    [
        ("saturating operations where money and points are counted", matches("saturating_", rust(COUNTING))),
        ("saturating operations without a reason in the engine", unexplained_in("saturating_", rust(&["src/"]))),
        (
            "saturating operations without a reason in the service",
            unexplained_in("saturating_", rust(&["worker/src/"])),
        ),
        (
            "unchecked operations on amounts without a reason in the engine",
            unexplained_in(UNCHECKED_AMOUNT, rust(&["src/"])),
        ),
        (
            "unchecked operations on amounts without a reason in the service",
            unexplained_in(UNCHECKED_AMOUNT, rust(&["worker/src/"]).filter(|source| counts_amounts(source))),
        ),
        (
            "defaults of amounts without a reason in the engine",
            unexplained_in(DEFAULT_AMOUNT, rust(&["src/"]).filter(|source| counts_amounts(source))),
        ),
        (
            "defaults of amounts without a reason in the service",
            unexplained_in(DEFAULT_AMOUNT, rust(&["worker/src/"]).filter(|source| counts_amounts(source))),
        ),
    ]
}

/// Counts the lines on which a pattern has no reason: a comment on the line or on the one before it. A reason that covers a whole file
/// would cover later operations too.
fn unexplained(pattern: &Regex, source: &Source<'_>) -> usize {
    let code = blank(source.text);
    let mut has_comment = false;
    let mut count = 0;
    for (line, code) in source.text.lines().zip(code.lines()) {
        // What is blank in the code and not in the text is a literal or a comment.
        let is_commented = code.trim_end().len() < line.trim_end().len() && line.contains("//");
        count += usize::from(pattern.is_match(code) && !is_commented && !has_comment);
        has_comment = is_commented;
    }
    count
}

/// Counts the lines without a reason in the files of a folder.
fn unexplained_in<'s>(pattern: &str, sources: impl Iterator<Item = &'s Source<'s>>) -> usize {
    let pattern = Regex::new(pattern).unwrap();
    sources.map(|source| unexplained(&pattern, source)).sum()
}

/// Tests if the path of a source has a word of amounts.
fn counts_amounts(source: &Source<'_>) -> bool {
    source.path.split(|character: char| !character.is_alphanumeric()).any(|word| AMOUNT_WORDS.contains(&word))
}

/// Counts the parameters of functions whose type is a tuple, which has no names for its parts.
fn tuple_parameters<'s>(sources: impl Iterator<Item = &'s Source<'s>>) -> usize {
    let signature = Regex::new(r"\bfn\s+\w+\s*(<|\()").unwrap();
    sources.map(|source| tuple_parameters_of(&blank(source.text), &signature)).sum()
}

fn tuple_parameters_of(code: &str, signature: &Regex) -> usize {
    let is_tuple = |parameter: &str| {
        let colon = split_top(parameter, ':');
        let Some(declared) = colon.get(1..).map(|parts| parts.join(":")) else { return false };
        let declared = without_reference(&declared);
        declared.starts_with('(') && split_top(declared.trim_end().trim_matches(['(', ')']), ',').len() > 1
    };
    let parameters =
        signature.captures_iter(code).filter_map(|found| parameters_of(&code[found.get(1).unwrap().start()..]));
    parameters.map(|parameters| split_top(parameters, ',').iter().filter(|parameter| is_tuple(parameter)).count()).sum()
}

/// Returns a type without the reference to it.
fn without_reference(declared: &str) -> &str {
    let declared = declared.trim_start();
    let Some(referred) = declared.strip_prefix('&').map(str::trim_start) else { return declared };
    let referred =
        referred.strip_prefix('\'').and_then(|lifetime| lifetime.split_once(' ')).map_or(referred, |(_, rest)| rest);
    referred.trim_start().trim_start_matches("mut ")
}

/// Returns the text between the parentheses of a signature that begins at its generic parameters or at its parameters.
fn parameters_of(signature: &str) -> Option<&str> {
    let mut depth = 0_i64;
    let mut before = ' ';
    let mut start = None;
    for (at, character) in signature.char_indices() {
        match character {
            '(' if depth == 0 && start.is_none() => (start, depth) = (Some(at + 1), 1),
            '(' | '[' | '<' => depth += 1,
            '>' if before == '-' || before == '=' => {}
            ')' | ']' | '>' => depth -= 1,
            _ => {}
        }
        if let Some(start) = start.filter(|_| depth == 0) {
            return signature.get(start..at);
        }
        before = character;
    }
    None
}

/// Splits a text at a character outside of all brackets. The two colons of a path do not split.
fn split_top(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_i64);
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        let is_path = separator == ':' && (before == ':' || text[at + character.len_utf8()..].starts_with(':'));
        match character {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if before == '-' || before == '=' => {}
            ')' | ']' | '}' | '>' => depth -= 1,
            _ if character == separator && depth == 0 && !is_path => {
                parts.push(&text[start..at]);
                start = at + character.len_utf8();
            }
            _ => {}
        }
        before = character;
    }
    parts.push(&text[start..]);
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

/// Counts the parts of identifiers that are private words: `is_told`, `AccountStanding` and `TOLD` have one each.
fn private_words(source: &Source<'_>) -> usize {
    let part = Regex::new("[A-Z]+(?:[0-9_]|$)|[A-Z]?[a-z]+").unwrap();
    let is_private = |word: &str| {
        let word = word.trim_end_matches(|character: char| !character.is_alphabetic()).to_lowercase();
        PRIVATE_WORDS.contains(&word.as_str())
    };
    let identifiers = words(&blank(source.text));
    identifiers.iter().flat_map(|name| part.find_iter(name)).filter(|part| is_private(part.as_str())).count()
}

/// Counts the names and reasons that have a banned word. Data of a request may have any word.
fn banned_in_names<'s>(sources: impl Iterator<Item = &'s Source<'s>>) -> usize {
    let banned = Regex::new(BANNED_IN_NAMES).unwrap();
    let mut count = 0;
    for source in sources {
        let file: Json = serde_json::from_str(source.text).unwrap_or_else(|error| panic!("{}: {error}", source.path));
        count += usize::from(file["name"].as_str().is_some_and(|name| banned.is_match(name)));
        let mut left = vec![&file];
        while let Some(value) = left.pop() {
            match value {
                Json::Object(members) => {
                    count +=
                        usize::from(members.get("why").and_then(Json::as_str).is_some_and(|why| banned.is_match(why)));
                    left.extend(members.values());
                }
                Json::Array(items) => left.extend(items),
                _ => {}
            }
        }
    }
    count
}

/// Counts names of types that several files declare. An indented `type` is an associated type, such as `Item` of an iterator: its name is
/// the trait's, so it is not counted.
fn repeated_types<'s>(sources: impl Iterator<Item = &'s Source<'s>>) -> usize {
    let declaration =
        Regex::new(r"(?m)^(?:\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait)|(?:pub(?:\([^)]*\))? )?type) ([A-Z]\w*)")
            .unwrap();
    let mut files: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for source in sources {
        for found in declaration.captures_iter(source.text) {
            files.entry(found[1].to_owned()).or_default().insert(source.path);
        }
    }
    files.values().filter(|files| files.len() > 1).count()
}

/// Counts the files of the largest folder. The file of a module that has a folder of its own is part of that folder.
fn fullest_folder<'s>(sources: impl Iterator<Item = &'s Source<'s>>) -> usize {
    let paths: Vec<&str> = sources.map(|source| source.path).collect();
    let parent = |path: &'s str| path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let modules: BTreeSet<&str> = paths.iter().map(|path| parent(path)).collect();
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for path in paths.iter().filter(|path| !modules.contains(path.trim_end_matches(".rs"))) {
        *folders.entry(parent(path)).or_default() += 1;
    }
    folders.into_values().max().unwrap_or(0)
}

/// Counts what the description of the interface leaves unsaid.
fn described(openapi: &Json) -> [(&'static str, usize); 3] {
    let clause = Regex::new(r"^(What|How|Whether|Where|Whose|Of a|So many|Until when|Nothing)\b").unwrap();
    let operations = openapi["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
    let operations: Vec<&Json> = operations.filter(|operation| operation["responses"].is_object()).collect();
    let silent = operations.iter().filter(|operation| operation["description"].as_str().is_none()).count();
    let responses = operations.iter().flat_map(|operation| operation["responses"].as_object().unwrap().values());
    let done = responses.filter(|response| response["description"] == "Done").count();
    let mut clauses = 0;
    let mut left = vec![openapi];
    while let Some(value) = left.pop() {
        match value {
            Json::Object(members) => {
                clauses += usize::from(
                    members.get("description").and_then(Json::as_str).is_some_and(|text| clause.is_match(text)),
                );
                left.extend(members.values());
            }
            Json::Array(items) => left.extend(items),
            _ => {}
        }
    }
    [
        ("operations without a description", silent),
        ("responses that say Done", done),
        ("descriptions without a subject", clauses),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_are_found_over_several_lines_and_in_references() {
        let count = |text: &str| tuple_parameters([Source { path: "a.rs", text }].iter());
        assert_eq!(count("fn a(\n    kind: (\n        &str,\n        i64,\n    ),\n    id: &str,\n) {}"), 1);
        assert_eq!(
            count("fn a((x, y): (i64, i64), z: &mut (u8, u8)) {} fn b<T: Fn(&T) -> (u8, u8)>(of: &(T, T)) {}"),
            3
        );
        assert_eq!(count("fn a(x: Option<(u8, u8)>, y: fn(u8, u8) -> (u8, u8), unit: (), z: std::fmt::Result) {}"), 0);
    }

    #[test]
    fn a_reason_stands_on_the_line_or_on_the_one_before() {
        let count = |text: &str| unexplained(&Regex::new("saturating_").unwrap(), &Source { path: "a.rs", text });
        assert_eq!(count("//! Times saturate.\n\nlet a = b.saturating_add(c);"), 1);
        assert_eq!(count("// Reason.\nlet a = b.saturating_add(c);\nlet d = e.saturating_sub(f); // Reason."), 0);
        assert_eq!(count("// Reason.\nlet a = b.saturating_add(c);\nlet text = \"// saturating_\";"), 0);
        assert_eq!(count("// Reason.\nlet a = b;\nlet d = e.saturating_sub(f);"), 1);
    }
}
