//! Decides what a vector file is: what is given, what is asked, what the specification claims of the answer, and the
//! exact answer. It must not know who answers.
//!
//! `claims` are written by hand from the specification and are never rewritten: `[json pointer, value]`, where null
//! says that there must be nothing. `expect` holds the exact answer, written by `UPDATE=1` and read by a reviewer; it
//! is what makes the native engine, the wasm package and the service comparable byte for byte.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::json::Json;

/// A vector file as it was read.
pub struct Vector {
    /// Where it lies, from the folder of the vectors: `20-percent/half-up.json`.
    pub path: String,
    /// What is asked: `validate`, `qualify`, `redeem` or `rollback`.
    pub verb: String,
    /// The moment, in ISO 8601.
    pub now: String,
    /// The seed, in hexadecimal.
    pub seed: String,
    /// The rules JSON.
    pub given: String,
    /// The request.
    pub request: String,
    /// Pointers and values.
    pub claims: Vec<(String, Value)>,
    /// The exact answer without white space, when it has been written.
    pub answer: Option<String>,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    #[serde(borrow)]
    name: &'a RawValue,
    #[serde(borrow)]
    why: &'a RawValue,
    #[serde(borrow)]
    verb: &'a RawValue,
    #[serde(borrow)]
    context: &'a RawValue,
    #[serde(borrow)]
    given: &'a RawValue,
    #[serde(borrow)]
    request: &'a RawValue,
    #[serde(borrow)]
    claims: &'a RawValue,
    #[serde(borrow)]
    expect: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Context {
    now: String,
    seed: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    answer: Json,
}

/// The folder of the vectors.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors")
}

/// Every vector file, in order.
pub fn all() -> Vec<Vector> {
    let root = folder();
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    paths.sort();
    let named = |path: &PathBuf| path.strip_prefix(&root).map(|path| path.to_string_lossy().into_owned());
    paths.iter().map(|path| read(path, named(path).unwrap_or_default())).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let listing = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in listing.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
}

fn read(path: &Path, name: String) -> Vector {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let file: File<'_> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let context: Context = part(&name, "context", file.context);
    let expect: Option<Expect> = file.expect.map(|expect| part(&name, "expect", expect));
    let title: String = part(&name, "name", file.name);
    assert!(!title.is_empty(), "{name}: `name` is empty");
    let why: String = part(&name, "why", file.why);
    assert!(!why.is_empty(), "{name}: `why` is empty");
    Vector {
        verb: part(&name, "verb", file.verb),
        now: context.now,
        seed: context.seed,
        given: file.given.get().to_owned(),
        request: file.request.get().to_owned(),
        claims: part(&name, "claims", file.claims),
        answer: expect.map(|expect| expect.answer.compact()),
        path: name,
        text,
    }
}

fn part<'a, T: Deserialize<'a>>(name: &str, field: &str, raw: &'a RawValue) -> T {
    serde_json::from_str(raw.get()).unwrap_or_else(|error| panic!("{name}: `{field}`: {error}"))
}

impl Vector {
    /// What is wrong with an answer, claim by claim.
    pub fn broken_claims(&self, answer: &str) -> Vec<String> {
        let answer: Value = match serde_json::from_str(answer) {
            Ok(answer) => answer,
            Err(error) => return vec![format!("the answer is no JSON: {error}")],
        };
        let differs = |(pointer, wanted): &(String, Value)| {
            let found = answer.pointer(pointer);
            let holds = if wanted.is_null() { found.is_none() } else { found == Some(wanted) };
            let shown = found.map_or("nothing".to_owned(), Value::to_string);
            let wanted = if wanted.is_null() { "nothing".to_owned() } else { wanted.to_string() };
            (!holds).then(|| format!("`{pointer}` is to be {wanted} and is {shown}"))
        };
        self.claims.iter().filter_map(differs).collect()
    }

    /// Writes the exact answer into the file; everything else in it stays as it stands.
    pub fn write_answer(&self, answer: &str) -> Result<(), String> {
        let answer = Json::parse(answer)?;
        let file: File<'_> = serde_json::from_str(&self.text).map_err(|error| error.to_string())?;
        let kept = [
            ("name", file.name),
            ("why", file.why),
            ("verb", file.verb),
            ("context", file.context),
            ("given", file.given),
            ("request", file.request),
            ("claims", file.claims),
        ];
        let mut lines: Vec<String> = kept.iter().map(|(key, raw)| format!("  \"{key}\": {}", raw.get())).collect();
        let expect = Json::Object(vec![("answer".to_owned(), answer)]);
        lines.push(format!("  \"expect\": {}", expect.pretty(2, 11)));
        let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
        if text == self.text {
            return Ok(());
        }
        std::fs::write(folder().join(&self.path), text).map_err(|error| error.to_string())
    }
}
