//! Finds citations of the rules in `docs/spec` and resolves their files and sections; finds paths and links in documents and resolves
//! their files.

use regex::Regex;
use serde_json::Value as Json;
use std::collections::BTreeSet;

use super::ratchets::Source;

/// A file of rules with an optional section: `docs/spec/calculation.md#3.1`.
const CITATION: &str = r"([\w/.-]*)\b((?:calculation|endpoints|interface|objects|errors-and-auth|loyalty-v2|loyalty|validation-rules|clients)\.md)(?:(?:#| sections? )([A-Z]?\d+(?:\.\d+)*))?";
const HEADING: &str = r"(?m)^#{2,4} ([A-Z]?\d+(?:\.\d+)*)\.?\s";
const RULES: &str = "docs/spec/";
/// Folders of tests that cite rules in the member `spec`.
const CITING: &[&str] = &["tests/vectors/", "tests/tiers/", "tests/stories/"];

/// Returns the citations that name no file or no section, each with the file that contains it.
pub fn unresolved(all: &[Source<'_>]) -> Vec<String> {
    let citation = Regex::new(CITATION).unwrap();
    let targets = Targets::of(all);
    let mut faults = Vec::new();
    for source in
        all.iter().filter(|source| source.path != "CHANGELOG.md" && !source.path.starts_with("tests/support/"))
    {
        for found in citation.captures_iter(source.text) {
            let file = format!("{}{}", &found[1], &found[2]);
            if !targets.have(source.path, &file, found.get(3).map(|section| section.as_str())) {
                faults.push(format!("{}: {}", source.path, &found[0]));
            }
        }
    }
    faults
}

/// Returns the members `spec` of tests that are not complete citations of a section.
pub fn unresolved_members(all: &[Source<'_>]) -> Vec<String> {
    let targets = Targets::of(all);
    let mut faults = Vec::new();
    for source in all.iter().filter(|source| CITING.iter().any(|folder| source.path.starts_with(folder))) {
        if !source.path.ends_with(".json") {
            continue;
        }
        let file: Json = serde_json::from_str(source.text).unwrap_or_else(|error| panic!("{}: {error}", source.path));
        let cited = match file.get("spec") {
            None => Vec::new(),
            Some(Json::Array(citations)) => citations.iter().collect(),
            Some(citation) => vec![citation],
        };
        for citation in cited {
            let is_section = citation.as_str().is_some_and(|text| targets.sections.contains(text));
            faults.extend((!is_section).then(|| format!("{}: {citation}", source.path)));
        }
    }
    faults
}

/// A path from the root in backticks, and the target of a link.
const PATH: &str =
    r"`((?:src|worker|tests|docs|pkg-template|www-demo|fuzz|benches)/[\w./-]+)`|\]\(([\w./-]+)(?:#[\w-]*)?\)";
/// Folders of build results.
const BUILT: &[&str] = &["worker/build/", "worker/openapi.json"];

/// Returns the paths and links of documents that lead to no file and no folder.
pub fn missing_files(all: &[Source<'_>]) -> Vec<String> {
    let pattern = Regex::new(PATH).unwrap();
    let targets = Targets::of(all);
    let is_document = |source: &&Source<'_>| source.path.ends_with(".md") && source.path != "CHANGELOG.md";
    let mut faults = Vec::new();
    for source in all.iter().filter(is_document) {
        for found in pattern.captures_iter(source.text) {
            let exists = match (found.get(1), found.get(2)) {
                (Some(path), _) => {
                    BUILT.iter().any(|folder| path.as_str().starts_with(folder)) || targets.has(path.as_str())
                }
                // Images are no text, so they are not among the sources.
                (None, Some(link)) => {
                    link.as_str().ends_with(".png") || targets.has(&relative(source.path, link.as_str()))
                }
                (None, None) => true,
            };
            faults.extend((!exists).then(|| format!("{}: {}", source.path, &found[0])));
        }
    }
    faults
}

/// Returns the constants that documents name with their file, and that are not in it: `STEPS_MAX` in `src/budget.rs`.
pub fn missing_constants(all: &[Source<'_>]) -> Vec<String> {
    let pattern =
        Regex::new(r"`([A-Z][A-Z_]{3,})`(?: and `([A-Z][A-Z_]{3,})`)? in\s+`([\w.-]+/[\w./-]+\.(?:rs|mjs|js))`")
            .unwrap();
    let is_document = |source: &&Source<'_>| source.path.ends_with(".md") && source.path != "CHANGELOG.md";
    let mut faults = Vec::new();
    for source in all.iter().filter(is_document) {
        for found in pattern.captures_iter(source.text) {
            let text = all.iter().find(|file| file.path == &found[3]).map_or("", |file| file.text);
            let is_there = |name: &str| Regex::new(&format!(r"\b{name}\b")).unwrap().is_match(text);
            let names = [found.get(1), found.get(2)].into_iter().flatten();
            faults.extend(
                names
                    .filter(|name| !is_there(name.as_str()))
                    .map(|name| format!("{}: {} in {}", source.path, name.as_str(), &found[3])),
            );
        }
    }
    faults
}

/// The files of the repository, and the sections of the rules.
struct Targets<'t> {
    files: BTreeSet<&'t str>,
    sections: BTreeSet<String>,
}

impl<'t> Targets<'t> {
    fn of(all: &[Source<'t>]) -> Targets<'t> {
        let heading = Regex::new(HEADING).unwrap();
        let mut sections = BTreeSet::new();
        for source in all.iter().filter(|source| source.path.starts_with(RULES)) {
            let found = heading.captures_iter(source.text);
            sections.extend(found.map(|found| format!("{}#{}", source.path, &found[1])));
        }
        Targets { files: all.iter().map(|source| source.path).collect(), sections }
    }

    /// Returns true for a file, a folder, or a module without the ending of its file.
    fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let begins = |file: &&str| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/') || rest == ".rs");
        self.files.contains(path) || self.files.iter().any(begins)
    }

    /// Returns true if a file exists, from the root or from the folder of the citing one, and has the section.
    fn have(&self, citing: &str, file: &str, section: Option<&str>) -> bool {
        let beside = relative(citing, file);
        let Some(path) = [file, beside.as_str()].into_iter().find(|path| self.files.contains(path)) else {
            return false;
        };
        section.is_none_or(|section| !path.starts_with(RULES) || self.sections.contains(&format!("{path}#{section}")))
    }
}

/// Resolves a path that begins at the folder of a file.
fn relative(file: &str, path: &str) -> String {
    let mut steps: Vec<&str> = file.split('/').collect();
    steps.pop();
    for step in path.split('/') {
        match step {
            "." => {}
            ".." => drop(steps.pop()),
            _ => steps.push(step),
        }
    }
    steps.join("/")
}
