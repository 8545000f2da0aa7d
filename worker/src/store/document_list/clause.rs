//! The condition of a list, as one clause over the document table with its parameters.

use crate::store::record_tables::{source, source_of_all, with_ids};
use crate::store::sql::{RowCondition, SqlValue};
use scrip::time::TimeZone;
use serde_json::Value as Json;
use std::sync::Arc;

/// Condition with its parameters, one for each `{}`.
pub type Statement = (String, Vec<SqlValue>);

/// Age of a document, by which documents are sorted.
#[derive(Debug, Clone, Copy)]
pub struct DocumentAge {
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Order in which documents of one instant were stored.
    pub seq: i64,
}

/// A table or view of documents.
#[derive(Debug, Clone, Copy)]
struct ReadSource(&'static str);

impl Default for ReadSource {
    fn default() -> ReadSource {
        ReadSource("document")
    }
}

/// Returns the condition for the documents with some ids in a table or view.
fn ids_statement(source: &str, ids: &[&str]) -> Statement {
    let mut params = Vec::new();
    let text = with_ids(source, ids, &mut params);
    // A clause numbers its parameters by itself; the ids come a second time where records are searched.
    let text = text.replace("?1", "{}").replace("?2", "{}");
    if let [ids, _] = params.as_slice() {
        params.push(ids.clone());
    }
    (text, params)
}

/// A condition and its parameters.
#[derive(Debug, Default, Clone)]
pub struct Clause {
    pub(super) text: String,
    pub(super) params: Vec<SqlValue>,
    now_ms: i64,
    zone: Arc<TimeZone>,
    /// True if codes are compared without case.
    ignores_case: bool,
    /// Kind of documents, while only the age limits the clause.
    pub(super) kind: Option<String>,
    /// Age: created at the first instant or later, and before the second, in milliseconds since 1970.
    pub(super) made: (Option<i64>, Option<i64>),
    /// True if a filter names documents by id.
    pub(super) is_named: bool,
    /// The conditions that name documents or what they belong to, each with its index.
    pub(super) narrow: Vec<(&'static str, Statement)>,
    /// The condition on kinds, without any other.
    kinds: Statement,
    /// The table or view of these kinds.
    source: ReadSource,
}

impl Clause {
    /// Makes a clause over one kind of document. The text contains the kind, which identifies an index of one kind.
    pub fn of_kind(kind: &str) -> Clause {
        let text = format!("kind = '{}'", kind.replace('\'', "''"));
        let source = ReadSource(source(kind));
        let kinds = (text.clone(), Vec::new());
        Clause { kinds, text, kind: Some(kind.to_owned()), source, ..Clause::default() }
    }

    /// Makes a clause over several kinds of documents.
    pub fn of_kinds(kinds: &[&str]) -> Clause {
        let source = ReadSource(source_of_all(kinds));
        let listed = Json::from(kinds.to_vec()).to_string();
        let kinds = ("kind IN (SELECT value FROM json_each(?1))".to_owned(), vec![listed.into()]);
        Clause { text: kinds.0.clone(), params: kinds.1.clone(), kinds, source, ..Clause::default() }
    }

    /// Returns a clause over the same kinds with only one condition.
    pub(super) fn with_only(&self, condition: Statement) -> Clause {
        let (text, params) = self.kinds.clone();
        let mut clause = Clause { text, params, source: self.source, ..Clause::default() };
        clause.and_group("AND", vec![condition]);
        clause
    }

    /// Sets the time for conditions that depend on the current time.
    pub fn at(mut self, now_ms: i64) -> Clause {
        self.now_ms = now_ms;
        self
    }

    /// Sets the zone of the project, in which days are counted.
    pub fn in_zone(mut self, zone: Arc<TimeZone>) -> Clause {
        self.zone = zone;
        self
    }

    /// Sets whether the project compares codes without case.
    pub fn ignoring_case(mut self, ignores_case: bool) -> Clause {
        self.ignores_case = ignores_case;
        self
    }

    /// Returns whether codes are compared without case.
    pub fn ignores_case(&self) -> bool {
        self.ignores_case
    }

    /// Returns the zone of [`Clause::in_zone`].
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Marks the clause as one that names documents by id.
    pub fn named(mut self) -> Clause {
        self.is_named = true;
        self
    }

    /// Returns the kind, as long as nothing narrows it but the age.
    pub fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// Returns the time of [`Clause::at`].
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// Returns the condition and its parameters, for a statement that is not a list.
    pub fn parts(&self) -> (&str, &[SqlValue]) {
        (&self.text, &self.params)
    }

    /// Returns the condition for a query of the store.
    pub fn condition(&self) -> RowCondition<'_> {
        RowCondition { text: &self.text, params: &self.params }
    }

    /// Adds a condition with `{}` for its parameter.
    pub fn and(&mut self, condition: &str, value: impl Into<SqlValue>) {
        self.and_group("AND", vec![(condition.to_owned(), vec![value.into()])]);
    }

    /// Narrows it to what belongs to a document.
    pub fn within(&mut self, parent_id: &str) {
        self.and_narrow(self.parent_index(), "parent = {}", parent_id);
    }

    /// Narrows it to what belongs to one of some documents.
    pub fn within_any(&mut self, parent_ids: &[&str]) {
        self.and_narrow(
            self.parent_index(),
            "parent IN (SELECT value FROM json_each({}))",
            Json::from(parent_ids).to_string(),
        );
    }

    /// Narrows it to what a document holds.
    pub fn held_by(&mut self, holder_id: &str) {
        self.and_narrow("document_holder", "holder = {}", holder_id);
    }

    /// Narrows it to the document with an id.
    pub fn with_id(&mut self, id: &str) {
        self.with_ids(&[id]);
    }

    /// Narrows it to the documents with one of some ids.
    pub fn with_ids<S: AsRef<str>>(&mut self, ids: &[S]) {
        let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
        let statement = ids_statement(self.source(), &ids);
        self.narrow.push(("document_id", statement.clone()));
        self.and_group("AND", vec![statement]);
    }

    /// Narrows it to the document with a key.
    pub fn with_key(&mut self, key: &str) {
        self.and_narrow("document_key", "key = {}", key);
    }

    /// Returns the table or view of its kinds.
    pub(super) fn source(&self) -> &'static str {
        self.source.0
    }

    /// Returns what is read, by the index of a name: a view of records has none.
    pub(super) fn table(&self, by: Option<&str>) -> String {
        match (self.source(), by) {
            ("document", None) => "document".to_owned(),
            ("document", Some(name)) => format!("document INDEXED BY {name}"),
            (source, _) => format!("{source} AS document"),
        }
    }

    /// Returns the index that finds documents by their parent, in the order of their age where there is one.
    pub(super) fn parent_index(&self) -> &'static str {
        match self.kinds.0.as_str() {
            "kind = 'voucher'" => "voucher_campaign",
            "kind = 'publication'" => "publication_campaign",
            _ => "document_parent",
        }
    }

    /// Adds a condition with `{}` for its parameter, which names documents or what they belong to and has an index.
    pub(in crate::store) fn and_narrow(&mut self, index: &'static str, condition: &str, value: impl Into<SqlValue>) {
        let statement = (condition.to_owned(), vec![value.into()]);
        self.narrow.push((index, statement.clone()));
        self.and_group("AND", vec![statement]);
    }

    /// Narrows it to documents that are not switched off.
    pub fn active(&mut self) {
        self.and("COALESCE(json_extract(body, '$.active'), 1) = {}", 1_i64);
    }

    /// Narrows it to what was made at a time or later, as any other condition: the number of all is counted.
    pub fn created_from(&mut self, at_ms: i64) {
        self.and("created_at >= {}", at_ms);
    }

    /// Narrows it in the same way to what was made at a time or earlier.
    pub fn created_until(&mut self, at_ms: i64) {
        self.and("created_at <= {}", at_ms);
    }

    /// Narrows it to what was stored after a position, or before it where the list falls.
    pub fn continue_after(&mut self, seq: i64, falls: bool) {
        self.and(if falls { "seq < {}" } else { "seq > {}" }, seq);
    }

    /// Narrows it to what was created after a document, or before it where the list falls.
    pub fn continue_after_document(&mut self, age: DocumentAge, falls: bool) {
        let sign = if falls { "<" } else { ">" };
        let place = vec![age.created_at.into(), age.seq.into()];
        self.and_group("AND", vec![(format!("(created_at, seq) {sign} ({{}}, {{}})"), place)]);
    }

    /// Limits the clause to documents created at `at_ms` or later, in milliseconds since 1970.
    pub fn made_from(&mut self, at_ms: i64) {
        let (from, _) = &mut self.made;
        *from = Some(from.map_or(at_ms, |known| known.max(at_ms)));
        self.push("created_at >= {}", vec![at_ms.into()]);
    }

    /// Limits the clause to documents created before `at_ms`, in milliseconds since 1970.
    pub fn made_before(&mut self, at_ms: i64) {
        let (_, until) = &mut self.made;
        *until = Some(until.map_or(at_ms, |known| known.min(at_ms)));
        self.push("created_at < {}", vec![at_ms.into()]);
    }

    /// Adds a group of conditions, joined by `AND` or `OR`; each has its own parameters in the order of its `{}`.
    pub fn and_group(&mut self, junction: &str, conditions: Vec<Statement>) {
        if conditions.is_empty() {
            return;
        }
        self.kind = None;
        let (texts, params) = conditions.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
        let text = match texts.as_slice() {
            [one] => one.clone(),
            many => format!("({})", many.join(&format!(" {junction} "))),
        };
        self.push(&text, params.into_iter().flatten().collect());
    }

    fn push(&mut self, condition: &str, params: Vec<SqlValue>) {
        let mut text = condition.to_owned();
        for value in params {
            self.params.push(value);
            text = text.replacen("{}", &format!("+?{}", self.params.len()), 1);
        }
        self.text.push_str(" AND ");
        self.text.push_str(&text);
    }
}
