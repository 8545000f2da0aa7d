//! `Idempotency-Key`: the first answer is kept in the same commit as its effect, and given again. A request with a key never acts
//! twice, however long its answer is. It must not know what any operation does.
//!
//! A request is one synchronous event of its object, so a second one with the same key can never find the first still
//! running; the 409 for that case cannot occur here.

use crate::access::allowance::Allowance;
use crate::access::page;
use crate::digest::sha256_hex;
use crate::http::caller::Caller;
use crate::http::intake::header;
use crate::http::reply::{CallError, error};
use crate::http::request::{Reply, Request};
use crate::http::route::Route;
use crate::http::shape::too_long;
use crate::store::sql::{self, Fault, Value};
use crate::store::{Store, answers};

/// How long an answer is kept.
pub const ANSWERS_KEPT_MS: i64 = 86_400_000;
/// How long a key may be.
const KEY_LENGTH_MAX: usize = 255;
/// Bytes of an answer in one row; a longer one goes on in slices. One without an effect is kept only in one row: to make it
/// again changes nothing.
const SLICE_BYTES: usize = 1_500_000;
/// What a row takes beside the answer, names and indexes included.
const ROW_BYTES: usize = 1_500;
/// Bytes of answers to one page's key, of an hour: what is kept of a day stays within a few gigabytes, whoever asks.
const OF_PAGES: Allowance = Allowance { name: "answers of an hour", window_ms: 3_600_000, most: 134_217_728 };

/// Who asks what, and when.
pub struct Asked<'a> {
    /// Who asks.
    pub caller: &'a Caller,
    /// The route that is asked.
    pub route: &'a Route,
    /// The customer whom a token proves.
    pub proven: Option<&'a str>,
    /// Milliseconds since 1970.
    pub now_ms: i64,
}

/// The names that an answer is kept under.
pub struct Names {
    /// Who asks.
    caller: String,
    /// Method and path.
    request: String,
    /// The key.
    key: String,
}

/// What is known under the key of a request.
pub enum Memory {
    /// The request has no key, or its answer is never kept.
    None,
    /// The request came before: this was the answer.
    Answered(Reply),
    /// The request is new; its answer is to be kept under these names.
    New {
        /// The names.
        names: Names,
        /// The digest of query and body.
        body_hash: String,
    },
}

impl Names {
    /// What the answer is found by.
    fn name(&self) -> Value {
        answers::name(&self.caller, &self.request, &self.key).into()
    }
}

/// Looks up what was answered under the key of a request; the same key with another body is refused.
pub fn recall(request: &Request, asked: &Asked<'_>, store: &Store<'_>) -> Result<Memory, CallError> {
    let kept = request.method == "POST" && asked.route.remembered;
    let Some(key) = header(request, "idempotency-key").filter(|_| kept) else {
        return Ok(Memory::None);
    };
    let wrong = match key.is_empty() {
        true => Some("must NOT have fewer than 1 characters".to_owned()),
        false => too_long(key, KEY_LENGTH_MAX),
    };
    if let Some(told) = wrong {
        let told = format!("Header Idempotency-Key {told}");
        return Err(error(400, "invalid_idempotency_key", "Invalid Idempotency-Key", told).into());
    }
    let Caller { class, key_id, project, .. } = asked.caller;
    // Everybody has a page's key: what one customer is told, nobody else is told again.
    let caller = match asked.proven {
        Some(customer) => serde_json::json!([class, key_id, project, customer]),
        None => serde_json::json!([class, key_id, project]),
    };
    let names = Names {
        caller: caller.to_string(),
        request: format!("{} {}", request.method, request.path),
        key: key.to_owned(),
    };
    let body_hash = sha256_hex(&[request.query.as_bytes(), b"\n", request.body.as_slice()].concat());
    let row =
        store.row("SELECT body_hash, status, headers, body, seq FROM answer WHERE name = +?1", &[names.name()])?;
    let Some(row) = row else {
        return Ok(Memory::New { names, body_hash });
    };
    if sql::text(&row, 0)? != body_hash {
        let told = format!("the Idempotency-Key `{key}` came before with another body");
        return Err(error(422, "idempotency_key_reused", "Idempotency-Key reused", told).into());
    }
    let mut headers: Vec<(String, String)> = serde_json::from_str(sql::text(&row, 2)?).unwrap_or_default();
    headers.push(("idempotency-replayed".into(), "true".into()));
    let status = u16::try_from(sql::int(&row, 1)?).unwrap_or(200);
    let body = whole(sql::text(&row, 3)?, sql::int(&row, 4)?, store)?;
    Ok(Memory::Answered(Reply { status, headers, body: body.into_bytes() }))
}

/// An answer from its first slice, and those that follow it: one after the other, so that no more than one is held twice.
fn whole(first: &str, seq: i64, store: &Store<'_>) -> Result<String, Fault> {
    let mut body = first.to_owned();
    if first.len() < SLICE_BYTES.saturating_sub(char::MAX.len_utf8()) {
        return Ok(body);
    }
    for place in 1_i64.. {
        let params = [seq.into(), place.into()];
        let slice = store.row("SELECT body FROM answer_slice WHERE answer = +?1 AND place = +?2", &params)?;
        let Some(slice) = slice else { break };
        body.push_str(sql::text(&slice, 0)?);
    }
    Ok(body)
}

/// A text in pieces that a row holds.
fn slices(text: &str) -> Vec<&str> {
    let mut slices = Vec::new();
    let mut rest = text;
    while let Some((slice, behind)) =
        rest.split_at_checked(rest.floor_char_boundary(SLICE_BYTES)).filter(|(slice, _)| !slice.is_empty())
    {
        slices.push(slice);
        rest = behind;
    }
    slices
}

/// Keeps an answer at the commit: every success, and every refusal that has written something. A refusal without an effect may
/// be asked again under the same key, corrected or not. Of a page, whose key is public, only what has written something is
/// kept, and what goes beyond its share is refused: what cannot be kept must not act.
pub fn remember(memory: Memory, reply: &Reply, asked: &Asked<'_>, store: &mut Store<'_>) -> Result<(), CallError> {
    let Memory::New { names, body_hash } = memory else { return Ok(()) };
    let is_page = page::is_asking(asked.route, asked.caller);
    if !store.is_dirty() && (is_page || reply.status >= 300 || reply.body.len() > SLICE_BYTES) {
        return Ok(());
    }
    let bytes = i64::try_from(reply.body.len().saturating_add(ROW_BYTES)).unwrap_or(i64::MAX);
    if is_page {
        if !OF_PAGES.allows(store, asked.caller, asked.now_ms, bytes)? {
            let rest = OF_PAGES.rest_seconds(asked.now_ms);
            let told = format!(
                "answers under an Idempotency-Key to the key `{}` have at most {} bytes in one hour; the next begins in {rest} seconds",
                asked.caller.key_id, OF_PAGES.most
            );
            let mut body = error(429, "too_many_requests", "Too many requests hit the API too quickly.", told);
            body.retry_after = Some(rest);
            return Err(body.into());
        }
        OF_PAGES.take(store, asked.caller, asked.now_ms, bytes);
    }
    let text = std::str::from_utf8(&reply.body).map_err(|error| Fault(format!("an answer is no text: {error}")))?;
    let mut slices = slices(text).into_iter();
    let name = names.name();
    let params = vec![
        name.clone(),
        names.caller.into(),
        names.request.into(),
        names.key.into(),
        body_hash.into(),
        i64::from(reply.status).into(),
        serde_json::to_string(&reply.headers).unwrap_or_default().into(),
        slices.next().unwrap_or_default().into(),
        asked.now_ms.into(),
        bytes.into(),
    ];
    store.write(
        "INSERT INTO answer (name, caller, request, key, body_hash, status, headers, body, created_at, bytes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        params,
    );
    for (slice, place) in slices.zip(1_i64..) {
        store.write(
            "INSERT INTO answer_slice (answer, place, body) SELECT seq, ?2, ?3 FROM answer WHERE name = +?1",
            vec![name.clone(), place.into(), slice.into()],
        );
    }
    store.leaves_later();
    Ok(())
}

/// An answer that is kept.
pub struct Kept<'k> {
    /// Who asked.
    pub caller: &'k str,
    /// Method and path.
    pub request: &'k str,
    /// The key.
    pub key: &'k str,
    /// The answer's body.
    pub body: &'k str,
}

/// What becomes of an answer: nothing, another body, or it goes.
type Revise<'r> = &'r mut dyn FnMut(&Kept<'_>) -> Option<Option<String>>;

/// Changes the oldest answers after a moment, so many of them, where a text has one of these marks. Gives the moment of the last, unless
/// there are no more.
pub fn revise(
    store: &mut Store<'_>,
    (after, rows): (i64, i64),
    marks: &[String],
    change: Revise<'_>,
) -> Result<Option<i64>, Fault> {
    let last = store.row(
        "SELECT MAX(created_at), COUNT(*) FROM (SELECT created_at FROM answer WHERE status > 0 AND created_at > +?1 ORDER BY created_at LIMIT +?2)",
        &[after.into(), rows.into()],
    )?;
    let last = last.unwrap_or_default();
    let (Some(last), seen) = (sql::int_or_null(&last, 0)?, sql::int(&last, 1)?) else { return Ok(None) };
    // In a path names are written otherwise, and a longer answer may have one where its slices meet: these are all read.
    let found = store.rows(
        "SELECT caller, request, key, body, seq FROM answer WHERE status > 0 AND created_at > +?1 AND created_at <= +?2
           AND (bytes >= ?3 OR instr(request, '%') > 0
             OR EXISTS (SELECT 1 FROM json_each(?4) AS mark WHERE instr(body, mark.value) > 0 OR instr(caller, mark.value) > 0 OR instr(key, trim(mark.value, '\"')) > 0
                  OR instr(request, trim(mark.value, '\"')) > 0))",
        &[
            after.into(),
            last.into(),
            i64::try_from(SLICE_BYTES).unwrap_or(i64::MAX).into(),
            serde_json::Value::from(marks.to_vec()).to_string().into(),
        ],
    )?;
    for row in &found {
        let seq = sql::int(row, 4)?;
        let body = whole(sql::text(row, 3)?, seq, store)?;
        let [caller, request, key] = [sql::text(row, 0)?, sql::text(row, 1)?, sql::text(row, 2)?];
        if let Some(revised) = change(&Kept { caller, request, key, body: &body }) {
            write_anew(store, seq, &body, revised);
        }
    }
    Ok((seen >= rows).then_some(last))
}

/// Overwrites the slices of an answer, in their own length before they go; one that goes, with its names.
fn write_anew(store: &mut Store<'_>, seq: i64, before: &str, revised: Option<String>) {
    let goes = revised.is_none();
    let text = revised.unwrap_or_else(|| " ".repeat(before.len()));
    for (slice, place) in slices(&text).into_iter().zip(0_i64..) {
        if place == 0 {
            store.write("UPDATE answer SET body = ?2 WHERE seq = +?1", vec![seq.into(), slice.into()]);
        } else {
            store.write(
                "INSERT INTO answer_slice (answer, place, body) VALUES (?1, ?2, ?3)
                 ON CONFLICT (answer, place) DO UPDATE SET body = excluded.body",
                vec![seq.into(), place.into(), slice.into()],
            );
        }
    }
    if goes {
        let blank =
            |name: &str| format!("{name} = substr(hex(zeroblob(octet_length({name}))), 1, octet_length({name}))");
        let names = ["caller", "request", "key"].map(blank).join(", ");
        store.write(format!("UPDATE answer SET {names} WHERE seq = +?1"), vec![seq.into()]);
    }
    knead(store, seq);
    if goes {
        store.write("DELETE FROM answer_slice WHERE answer = +?1", vec![seq.into()]);
        store.write("DELETE FROM answer WHERE seq = +?1", vec![seq.into()]);
    }
}

/// Moves the answers around one within their pages, until there is no gap left in which something stands that was there before.
fn knead(store: &mut Store<'_>, seq: i64) {
    /// How often they grow: in all by more than a page, so that of one that goes on elsewhere the part in its page is short and long in turn.
    const KNEADS: usize = 14;
    /// The answers that stand beside one: those of a page at least.
    const BESIDE: &str = "seq >= COALESCE((SELECT seq FROM answer WHERE seq <= +?1 ORDER BY seq DESC LIMIT 1 OFFSET 12), 0)
         AND seq <= COALESCE((SELECT seq FROM answer WHERE seq >= +?1 ORDER BY seq LIMIT 1 OFFSET 12), 9223372036854775807)";
    for _ in 0..KNEADS {
        let grow = format!("UPDATE answer SET body = body || printf('%.*c', 300, ' ') WHERE {BESIDE}");
        store.write(grow, vec![seq.into()]);
    }
    store.write(format!("UPDATE answer SET body = rtrim(body) WHERE {BESIDE}"), vec![seq.into()]);
}
