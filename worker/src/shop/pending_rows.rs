//! Points that wait on loyalty cards of the older interface, as they are listed: a row for each time that some were earned. It must not
//! know how many wait, which the card says, nor when that changes.

use crate::moment;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::text::Text;
use scrip::time::Instant;
use serde_json::{Map, Value as Json, json};

/// The kind of the rows, whose parent is the card.
pub const PENDING_POINTS: &str = "pending_points";

/// What has become of points that waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// They wait.
    Pending,
    /// They can be spent.
    Activated,
    /// They never will be.
    Canceled,
}

impl State {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            State::Pending => "PENDING",
            State::Activated => "ACTIVATED",
            State::Canceled => "CANCELED",
        }
    }

    /// What has become of the points of a row by a moment.
    pub fn of(row: &Document, now_ms: i64) -> State {
        let at = row.body.get("at").and_then(Json::as_i64);
        match row.body.get("status").and_then(Json::as_str) {
            Some("CANCELED") => State::Canceled,
            Some("PENDING") if at.is_some_and(|at| at > now_ms) => State::Pending,
            _ => State::Activated,
        }
    }
}

/// Points that begin to wait: what is told of them, from when on they can be spent, and the rules by which they lapse then.
pub struct Begun {
    /// What is told.
    pub told: Map<String, Json>,
    /// From when on.
    pub at: Instant,
    /// The rules; nothing where they never lapse.
    pub rules: Option<Json>,
}

/// Writes a row at the commit.
pub fn begin(store: &mut Store<'_>, card: &Document, id: &Text, begun: Begun, now_ms: i64) {
    let mut body = Map::new();
    body.insert("told".into(), Json::Object(begun.told));
    body.insert("status".into(), State::Pending.word().into());
    body.insert("at".into(), begun.at.millis().into());
    if let Some(rules) = begun.rules {
        body.insert("expiration_rules".into(), rules);
    }
    let mut row = Document::new(id.to_string(), None, now_ms, body);
    (row.parent, row.holder) = (Some(card.id.clone()), card.parent.clone());
    store.insert(PENDING_POINTS, &row);
}

/// Writes at the commit that there are so many more of them, and what has become of them.
pub fn change(store: &mut Store<'_>, id: &str, (more, state): (i64, State), at_ms: i64) {
    store.write(
        "UPDATE document SET updated_at = ?2, body = json_set(body, '$.status', ?3, '$.told.updated_at', ?4,
           '$.told.points', CAST(json_extract(body, '$.told.points') + ?5 AS INTEGER))
         WHERE kind = 'pending_points' AND id = +?1",
        vec![id.into(), at_ms.into(), state.word().into(), moment::text(at_ms).into(), more.into()],
    );
}

/// Writes down at the commit what happened to points that wait: a word, what is told of them, and how many came or went.
pub fn note(
    store: &mut Store<'_>,
    card: &Document,
    (id, word): (String, &str),
    (told, balance): (Json, Json),
    now_ms: i64,
) {
    let body = json!({ "change": word, "told": told, "balance": balance });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut row = Document::new(id, None, now_ms, body);
    (row.parent, row.holder) = (Some(card.id.clone()), card.parent.clone());
    store.insert("pending_points_change", &row);
}

/// Writes at the commit that points can be spent from a moment on; gives what their transaction tells of them.
pub fn activated(store: &mut Store<'_>, card: &Document, id: &str, at: Instant) -> Result<Map<String, Json>, Fault> {
    change(store, id, (0, State::Activated), at.millis());
    let row = store.document(PENDING_POINTS, id)?.filter(|row| row.parent.as_ref() == Some(&card.id));
    let Some(told) = row.and_then(|mut row| row.body.remove("told")) else { return Ok(Map::new()) };
    let of = |name: &str| told.get("details").and_then(|details| details.get(name)).cloned().unwrap_or_default();
    let tier = told.get("details").and_then(|details| details.get("holder_loyalty_tier")).cloned();
    let details = json!({ "order": of("order"), "earning_rule": of("earning_rule"), "pending_points": told });
    let mut details = details.as_object().cloned().unwrap_or_default();
    details.extend(tier.map(|tier| ("holder_loyalty_tier".to_owned(), tier)));
    Ok(details)
}

/// Rows as they are told.
pub fn show(mut row: Document) -> Json {
    row.body.remove("told").unwrap_or_default()
}
