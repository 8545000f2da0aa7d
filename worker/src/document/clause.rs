//! The condition of a list, as one clause over the document table with its parameters.
//! It must not know which fields a list has, nor which index answers it.

use crate::store::sql::Value;
use scrip::time::TimeZone;
use serde_json::Value as Json;
use std::sync::Arc;

/// A condition with its parameters, each in the place of a `{}`.
pub type Statement = (String, Vec<Value>);

/// A condition and its parameters.
#[derive(Debug, Default, Clone)]
pub struct Clause {
    pub(super) text: String,
    pub(super) params: Vec<Value>,
    now_ms: i64,
    zone: Arc<TimeZone>,
    /// The kind, as long as nothing narrows it but the age.
    pub(super) whole: Option<String>,
    /// The age: made at the first moment or later, and before the last, in milliseconds since 1970.
    pub(super) made: (Option<i64>, Option<i64>),
    /// Whether a filter names what is wanted.
    pub(super) is_named: bool,
}

impl Clause {
    /// A clause over one kind of document. The kind stands in the text, since an index of one kind is known by it.
    pub fn of_kind(kind: &str) -> Clause {
        let text = format!("kind = '{}'", kind.replace('\'', "''"));
        Clause { text, whole: Some(kind.to_owned()), ..Clause::default() }
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

    /// The zone of the project, in which days are counted.
    pub fn in_zone(mut self, zone: Arc<TimeZone>) -> Clause {
        self.zone = zone;
        self
    }

    /// See [`Clause::in_zone`].
    pub fn zone(&self) -> &TimeZone {
        &self.zone
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
        self.and_group("AND", vec![(condition.to_owned(), vec![value.into()])]);
    }

    /// Narrows it to what was made at a moment or later, in milliseconds since 1970.
    pub fn made_from(&mut self, at_ms: i64) {
        let (from, _) = &mut self.made;
        *from = Some(from.map_or(at_ms, |known| known.max(at_ms)));
        self.push("created_at >= {}", vec![at_ms.into()]);
    }

    /// Narrows it to what was made before a moment, in milliseconds since 1970.
    pub fn made_before(&mut self, at_ms: i64) {
        let (_, until) = &mut self.made;
        *until = Some(until.map_or(at_ms, |known| known.min(at_ms)));
        self.push("created_at < {}", vec![at_ms.into()]);
    }

    /// Narrows it by a group of conditions, joined by `AND` or `OR`; each has its own parameters in the order of its `{}`.
    pub fn and_group(&mut self, junction: &str, conditions: Vec<Statement>) {
        if conditions.is_empty() {
            return;
        }
        self.whole = None;
        let (texts, params): (Vec<String>, Vec<Vec<Value>>) = conditions.into_iter().unzip();
        let text = match texts.as_slice() {
            [one] => one.clone(),
            many => format!("({})", many.join(&format!(" {junction} "))),
        };
        self.push(&text, params.into_iter().flatten().collect());
    }

    fn push(&mut self, condition: &str, params: Vec<Value>) {
        let mut text = condition.to_owned();
        for value in params {
            self.params.push(value);
            text = text.replacen("{}", &format!("+?{}", self.params.len()), 1);
        }
        self.text.push_str(" AND ");
        self.text.push_str(&text);
    }
}
