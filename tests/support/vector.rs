//! Decides what a vector file is: what is given, what is asked, what the specification claims of the answer, and which
//! bytes the answer is. It must not know who answers.
//!
//! `claims` are written by hand from the specification and are never rewritten: `[json pointer, value]`, where null says
//! that there must be nothing. There is at least one, because `expect` says nothing to a reader: it pins the exact answer,
//! so that the native engine, the wasm package and the service are comparable byte for byte. `UPDATE=1` writes it:
//!
//! * `{ "sha256": "…" }` is the digest of the answer's bytes. With a `request_id` beside it the request is refused as a
//!   whole: the engine draws that id, and a service puts its own in its place.
//! * `{ "answer": {…} }` is the answer in full. Some twenty vectors have it, whose point is the whole shape of an answer of
//!   their kind (the first of each verb, of a refusal, of a trace, of a rollback): write `"expect": { "answer": {} }`.
//!
//! An answer that is another one is written to `target/vectors/found/`, and `npm run vectors -- NAME` shows what changed.
//! What is long because there is much of one thing is written once and repeated (`extremes`).

use std::path::{Path, PathBuf};

use scrip::text::hex;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::extremes;
use super::json::Json;

/// A vector file as it was read.
pub struct Vector {
    /// Where it lies, from the folder of the vectors: `20-percent/half-up.json`.
    pub path: String,
    /// The folder of all of its kind.
    folder: &'static str,
    /// What is asked: `validate`, `qualify`, `redeem` or `rollback`; `tiers` of the vectors of tiers.
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
    /// What the answer is, byte for byte, when it has been written.
    expect: Option<Expect>,
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
#[serde(deny_unknown_fields, untagged)]
enum Expect {
    Digest { sha256: String, request_id: Option<String> },
    Answer { answer: Json },
}

impl Expect {
    /// What pins an answer's bytes; in full where it was pinned in full.
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
/// The folder of those of tiers.
pub const TIERS: &str = "tests/tiers";

/// The root of the repository, for every crate of it.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = own.ancestors().find(|folder| folder.join(DECISIONS).is_dir());
    found.unwrap_or_else(|| panic!("no folder above {} has vectors", own.display())).to_path_buf()
}

/// Every vector file whose path begins so, in order.
pub fn beginning_with(only: &str) -> Vec<Vector> {
    within(DECISIONS, only)
}

/// The same of a folder.
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

/// Every vector that `ONLY` lets through.
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
    let why: String = part(&name, "why", file.why);
    assert!(!why.is_empty(), "{name}: `why` is empty");
    let claims: Vec<(String, Value)> = part(&name, "claims", file.claims);
    assert!(!claims.is_empty(), "{name}: claims nothing of the answer");
    let whole = |field: &str, raw: &RawValue| {
        extremes::whole(raw.get()).unwrap_or_else(|fault| panic!("{name}: `{field}`: {fault}"))
    };
    Vector {
        folder,
        verb: part(&name, "verb", file.verb),
        now: context.now,
        seed: context.seed,
        given: whole("given", file.given),
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
    /// What is wrong with somebody's answer, if anything: first the claims, then the bytes.
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

    /// Pins an answer in the file, where the claims hold; everything else in it stays as it stands.
    pub fn pin(&self, answer: &str) -> Result<(), String> {
        let broken = self.broken_claims(answer);
        if !broken.is_empty() {
            return Err(format!("{}: {}", self.path, broken.join("\n    ")));
        }
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
        let expect = Expect::of(answer, matches!(self.expect, Some(Expect::Answer { .. })))?;
        lines.push(format!("  \"expect\": {}", expect.pretty(2, 11)));
        let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
        if text == self.text {
            return Ok(());
        }
        std::fs::write(root().join(self.folder).join(&self.path), text).map_err(|error| error.to_string())
    }

    /// Writes an answer, byte for byte, where somebody gathers answers.
    pub fn keep(&self, folder: &Path, answer: &str) {
        write(&folder.join(&self.path), answer);
    }
}

fn write(path: &Path, answer: &str) {
    let written = std::fs::create_dir_all(path.parent().unwrap_or(path)).and_then(|()| std::fs::write(path, answer));
    written.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
