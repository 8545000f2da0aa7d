//! Reads vector files: the given facts, the request, the claims of the specification about the answer, and the bytes of the answer.
//!
//! `spec` cites the rules of `docs/spec` that the vector checks, and `why` gives a reason that they do not contain. At least one of them is
//! present.
//!
//! `claims` are written by hand from the specification, and no tool changes them: `[json pointer, value]`, where null means that the member
//! must be absent. There is at least one, because `expect` explains nothing: it pins the exact answer, so that the native engine, the wasm
//! package and the service are compared byte for byte. `UPDATE=1` writes it:
//!
//! * `{ "sha256": "…" }` is the digest of the answer's bytes. With `request_id` the request is refused as a whole: the engine generates
//!   that id, and a service replaces it.
//! * `{ "answer": {…} }` is the complete answer. About twenty vectors have it, as examples of as an example of a whole answer: the first of each verb, of
//!   a refusal, of a trace, of a rollback. To get it, write `"expect": { "answer": {} }`.
//!
//! A differing answer is written to `target/vectors/found/`, and `npm run vectors -- NAME` prints the difference. Repeated values are
//! written as templates (`templates`).

use std::path::{Path, PathBuf};

use scrip::text::hex;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::json::Json;
use super::service_facts::world;
use super::templates;

/// A vector file as it was read.
pub struct Vector {
    /// Path from the folder of the vectors: `20-percent/half-up.json`.
    pub path: String,
    /// The root folder of its kind.
    folder: &'static str,
    /// Verb of the request: `validate`, `qualify`, `redeem` or `rollback`; `tiers` in the vectors of tiers.
    pub verb: String,
    /// The current instant in ISO 8601.
    pub now: String,
    /// The seed, in hexadecimal.
    pub seed: String,
    /// The rules JSON.
    pub given: String,
    /// The request.
    pub request: String,
    /// Pointers and values.
    pub claims: Vec<(String, Value)>,
    /// The exact answer, when it has been pinned.
    expect: Option<Expect>,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    #[serde(borrow)]
    name: &'a RawValue,
    #[serde(borrow)]
    spec: Option<&'a RawValue>,
    #[serde(borrow)]
    why: Option<&'a RawValue>,
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

/// The rules that a vector checks: `docs/spec/calculation.md#3.1`, or a list of such citations. `tests/tidy.rs` resolves them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Citations {
    One(String),
    Several(Vec<String>),
}

impl Citations {
    fn count(&self) -> usize {
        match self {
            Citations::One(citation) => usize::from(!citation.is_empty()),
            Citations::Several(citations) => citations.len(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Context {
    now: String,
    seed: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, untagged)]
enum Expect {
    Digest { sha256: String, request_id: Option<String> },
    Answer { answer: Json },
}

impl Expect {
    /// Returns what pins an answer's bytes; the complete answer where it was pinned completely.
    fn of(answer: &str, in_full: bool) -> Result<Json, String> {
        let shown = Json::parse(answer)?;
        let field = |name: &str, value: Json| (name.to_owned(), value);
        if in_full {
            return Ok(Json::Object(vec![field("answer", shown)]));
        }
        let mut fields = vec![field("sha256", Json::Text(digest(answer)))];
        if let (Some(_), Some(id)) = (shown.get("code"), shown.get("request_id")) {
            fields.push(field("request_id", id.clone()));
        }
        Ok(Json::Object(fields))
    }

    fn digest(&self) -> String {
        match self {
            Expect::Digest { sha256, .. } => sha256.clone(),
            Expect::Answer { answer } => digest(&answer.compact()),
        }
    }

    /// The id that the engine draws for a request that is refused as a whole.
    fn request_id(&self) -> Option<&str> {
        match self {
            Expect::Digest { request_id, .. } => request_id.as_deref(),
            Expect::Answer { answer } => match (answer.get("code"), answer.get("request_id")) {
                (Some(_), Some(Json::Text(id))) => Some(id),
                _ => None,
            },
        }
    }
}

fn digest(answer: &str) -> String {
    hex(&Sha256::digest(answer.as_bytes()))
}

/// The folder of the vectors of decisions.
const DECISIONS: &str = "tests/vectors";
/// The folder of the vectors of tiers.
pub const TIERS: &str = "tests/tiers";

/// Returns the root of the repository, for every crate of it.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = own.ancestors().find(|folder| folder.join(DECISIONS).is_dir());
    found.unwrap_or_else(|| panic!("no folder above {} has vectors", own.display())).to_path_buf()
}

/// Returns every vector file whose path has this prefix, in order.
pub fn beginning_with(only: &str) -> Vec<Vector> {
    within(DECISIONS, only)
}

/// Returns every vector file of a folder whose path has this prefix.
pub fn within(vectors: &'static str, only: &str) -> Vec<Vector> {
    let folder = root().join(vectors);
    let mut paths = Vec::new();
    collect(&folder, &mut paths);
    paths.sort();
    let named = |path: &PathBuf| path.strip_prefix(&folder).map(|path| path.to_string_lossy().into_owned());
    let chosen = paths.iter().map(|path| (path, named(path).unwrap_or_default()));
    let vectors: Vec<Vector> =
        chosen.filter(|(_, name)| name.starts_with(only)).map(|(path, name)| read(path, (vectors, name))).collect();
    assert!(!vectors.is_empty(), "no vector begins with `{only}`");
    vectors
}

/// Returns every vector that `ONLY` selects.
pub fn chosen() -> Vec<Vector> {
    beginning_with(&std::env::var("ONLY").unwrap_or_default())
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

fn read(path: &Path, (folder, name): (&'static str, String)) -> Vector {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let file: File<'_> = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let context: Context = part(&name, "context", file.context);
    let title: String = part(&name, "name", file.name);
    assert!(!title.is_empty(), "{name}: `name` is empty");
    let why = file.why.map(|why| part::<String>(&name, "why", why));
    assert!(why.as_deref() != Some(""), "{name}: `why` is empty");
    let cited = file.spec.map(|spec| part::<Citations>(&name, "spec", spec).count());
    assert!(cited != Some(0), "{name}: `spec` is empty");
    assert!(cited.is_some() || why.is_some(), "{name}: has neither `spec` nor `why`");
    let claims: Vec<(String, Value)> = part(&name, "claims", file.claims);
    assert!(!claims.is_empty(), "{name}: claims nothing of the answer");
    let whole = |field: &str, raw: &RawValue| {
        templates::whole(raw.get()).unwrap_or_else(|fault| panic!("{name}: `{field}`: {fault}"))
    };
    Vector {
        folder,
        verb: part(&name, "verb", file.verb),
        now: context.now,
        seed: context.seed,
        given: world(&whole("given", file.given)),
        request: whole("request", file.request),
        claims,
        expect: file.expect.map(|expect| part(&name, "expect", expect)),
        path: name,
        text,
    }
}

fn part<'a, T: Deserialize<'a>>(name: &str, field: &str, raw: &'a RawValue) -> T {
    serde_json::from_str(raw.get()).unwrap_or_else(|error| panic!("{name}: `{field}`: {error}"))
}

impl Vector {
    /// Returns the fault of an answer, if there is one: first the claims, then the bytes.
    pub fn fault(&self, subject: &str, answer: &str) -> Option<String> {
        let found = root().join("target/vectors/found").join(subject).join(&self.path);
        let fault = self.fault_of(answer);
        match fault {
            None => drop(std::fs::remove_file(found)),
            Some(_) => write(&found, answer),
        }
        let name = self.path.trim_end_matches(".json");
        let mut shown = format!("target/vectors/found/{subject}/{} holds the answer", self.path);
        if self.folder == DECISIONS {
            shown.push_str(&format!("; `npm run vectors -- {name}` shows what changed"));
        }
        fault.map(|fault| format!("{}: {fault}\n    {shown}", self.path))
    }

    fn fault_of(&self, answer: &str) -> Option<String> {
        let broken = self.broken_claims(answer);
        if !broken.is_empty() {
            return Some(broken.join("\n    "));
        }
        let Some(expect) = &self.expect else {
            return Some("the answer is not pinned yet: run with UPDATE=1".to_owned());
        };
        let (wanted, found) = (expect.digest(), digest(answer));
        (wanted != found).then(|| format!("the claims hold, the bytes do not: sha256 {found} where {wanted} is pinned"))
    }

    /// The id that the engine draws for a request that is refused as a whole.
    pub fn request_id(&self) -> Option<&str> {
        self.expect.as_ref().and_then(Expect::request_id)
    }

    /// Returns the claims that an answer violates.
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

    /// Pins an answer in the file where the claims are met; the rest of the file stays.
    pub fn pin(&self, answer: &str) -> Result<(), String> {
        let broken = self.broken_claims(answer);
        if !broken.is_empty() {
            return Err(format!("{}: {}", self.path, broken.join("\n    ")));
        }
        let file: File<'_> = serde_json::from_str(&self.text).map_err(|error| error.to_string())?;
        let kept = [
            ("name", Some(file.name)),
            ("spec", file.spec),
            ("why", file.why),
            ("verb", Some(file.verb)),
            ("context", Some(file.context)),
            ("given", Some(file.given)),
            ("request", Some(file.request)),
            ("claims", Some(file.claims)),
        ];
        let line = |(key, raw): &(&str, Option<&RawValue>)| raw.map(|raw| format!("  \"{key}\": {}", raw.get()));
        let mut lines: Vec<String> = kept.iter().filter_map(line).collect();
        let expect = Expect::of(answer, matches!(self.expect, Some(Expect::Answer { .. })))?;
        lines.push(format!("  \"expect\": {}", expect.pretty(2, 11)));
        let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
        if text == self.text {
            return Ok(());
        }
        std::fs::write(root().join(self.folder).join(&self.path), text).map_err(|error| error.to_string())
    }

    /// Writes the exact bytes of an answer to a folder.
    pub fn keep(&self, folder: &Path, answer: &str) {
        write(&folder.join(&self.path), answer);
    }
}

fn write(path: &Path, answer: &str) {
    let written = std::fs::create_dir_all(path.parent().unwrap_or(path)).and_then(|()| std::fs::write(path, answer));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
