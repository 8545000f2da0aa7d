//! The condition of a list, as one clause over the document table with its parameters.
//! It must not know which fields a list has.

use crate::http::reply::{CallError, error};
use crate::store::Store;
use crate::store::sql::{self, Value};
use serde_json::Value as Json;

/// Looks at documents that no index answers, at most, in one list: a document for every filter that is not a name, a parent, a
/// holder or a time of creation, and for an order that is none of these. Natively it is some 60 ms of work.
pub const LOOKS_MAX: i64 = 40_000;

/// Bytes of the documents that are looked at, at most.
const LOOKED_BYTES_MAX: i64 = 40_000_000;

/// A condition and its parameters.
#[derive(Debug, Default)]
pub struct Clause {
    pub(super) text: String,
    pub(super) params: Vec<Value>,
    now_ms: i64,
    /// How much of the text, and of the parameters, an index answers.
    pub(super) indexed: Option<(usize, usize)>,
    /// How many conditions no index answers.
    pub(super) looks: usize,
    /// Whether a filter names what is wanted.
    pub(super) is_named: bool,
}

impl Clause {
    /// A clause over one kind of document.
    pub fn of_kind(kind: &str) -> Clause {
        Clause { text: "kind = +?1".into(), params: vec![kind.into()], ..Clause::default() }
    }

    /// A clause over several kinds of documents.
    pub fn of_kinds(kinds: &[&str]) -> Clause {
        let listed = Json::from(kinds.to_vec()).to_string();
        Clause {
            text: "kind IN (SELECT value FROM json_each(?1))".into(),
            params: vec![listed.into()],
            ..Clause::default()
        }
    }

    /// The moment for what follows from the time of asking.
    pub fn at(mut self, now_ms: i64) -> Clause {
        self.now_ms = now_ms;
        self
    }

    /// Says that it names what is wanted, by ids.
    pub fn named(mut self) -> Clause {
        self.is_named = true;
        self
    }

    /// The moment that it is asked at.
    pub fn asked_at(&self) -> i64 {
        self.now_ms
    }

    /// The condition and its parameters, for a statement that is no list.
    pub fn parts(&self) -> (&str, &[Value]) {
        (&self.text, &self.params)
    }

    /// Narrows it by a condition in which `{}` stands for the parameter.
    pub fn and(&mut self, condition: &str, value: impl Into<Value>) {
        let filled = self.fill(condition, value.into());
        self.text.push_str(" AND ");
        self.text.push_str(&filled);
    }

    fn fill(&mut self, condition: &str, value: Value) -> String {
        self.params.push(value);
        condition.replace("{}", &format!("+?{}", self.params.len()))
    }

    /// Refuses to look through more documents than a list may, before it does: what an index leaves of them, for each condition
    /// that it does not answer.
    pub(super) fn check_looks(&self, store: &Store<'_>, order: &str) -> Result<(), CallError> {
        let is_sorted = order.starts_with("created_at ");
        let looks = i64::try_from(self.looks).unwrap_or(i64::MAX).saturating_add(i64::from(!is_sorted));
        let (Some((text, params)), 1..) = (self.indexed, looks) else { return Ok(()) };
        let (text, params) = (self.text.get(..text).unwrap_or_default(), self.params.get(..params).unwrap_or_default());
        let most = LOOKS_MAX.checked_div(looks).unwrap_or(0);
        let statement = format!(
            "SELECT COUNT(*), COALESCE(SUM(size), 0) FROM (SELECT octet_length(body) AS size FROM document WHERE {text} LIMIT {})",
            most.saturating_add(1)
        );
        let row = store.row(&statement, params)?.unwrap_or_default();
        let (count, bytes) = (sql::int(&row, 0)?, sql::int(&row, 1)?.saturating_mul(looks));
        if count <= most && bytes <= LOOKED_BYTES_MAX {
            return Ok(());
        }
        let told = format!(
            "Property .filters and .order need a look at every document for `{looks}` conditions, and a list must NOT need more than \
             {LOOKS_MAX} looks or {LOOKED_BYTES_MAX} bytes: it has more than {most} documents, or too large ones. Narrow it by what is \
             indexed (created_at, campaign_id, customer), or ask for fewer filters"
        );
        Err(error(400, "request_too_complex", "Request takes too much work", told).into())
    }

    /// Narrows it by a group of conditions, joined by `AND` or `OR`; each has its own parameters in the order of its `{}`.
    pub fn and_group(&mut self, junction: &str, conditions: Vec<(String, Vec<Value>)>) {
        let mut filled = Vec::new();
        for (condition, values) in conditions {
            let mut text = condition;
            for value in values {
                self.params.push(value);
                text = text.replacen("{}", &format!("+?{}", self.params.len()), 1);
            }
            filled.push(text);
        }
        if !filled.is_empty() {
            self.text.push_str(&format!(" AND ({})", filled.join(&format!(" {junction} "))));
        }
    }
}
