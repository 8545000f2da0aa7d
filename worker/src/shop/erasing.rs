//! Where a customer who is to be forgotten is looked for, and how it is taken out: the ledger, every document, the answers that are kept
//! under Idempotency-Keys and the work that waits. In pieces, as what names a customer may be anywhere. It must not know who asked for it.
//! What is freed stays as it was until it is written over (`kneading`).

use crate::access::idempotency::{self, Kept};
use crate::shop::erasure::Person;
use crate::shop::kneading::{blank, fill, knead, touch};
use crate::store::Store;
use crate::store::marks;
use crate::store::sql::{self, Fault, Row, Value};
use crate::store::tracking::Tracker;
use crate::work::actions::{Piece, advance, finish};
use crate::work::outbox;
use scrip::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// The kind of the job.
pub const ERASE: &str = "CUSTOMERS.PERMANENT_DELETION";

/// A table beside the documents whose rows name customers in a column.
struct Table {
    name: &'static str,
    column: &'static str,
    /// The columns that tell of them, where a row goes with them; else it stays, under the name that tells nothing.
    goes: Option<&'static [&'static str]>,
}

/// All such tables: one that is added later has its line here.
const TABLES: &[Table] = &[Table { name: "earning_occasion", column: "customer", goes: None }];

/// The ledger, by the accounts that are a customer's, with their names and the indexes that have them.
const LEDGER: &[(&str, &str)] = &[("transfer", "debit"), ("transfer", "credit"), ("account", "id")];

/// Kinds of documents that are about what a customer did and nothing else: they go.
const EVENTS: &[&str] = &["event"];

/// Rows that the request itself looks at, of each sort: beyond them it is long work.
pub const AT_ONCE: u64 = 2_000;

/// How often the room that was freed is filled and given back.
const ROUNDS: u64 = 2;

/// What is looked through, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    Ledger,
    Documents,
    Answers,
    Letters,
    Exports,
    Room,
}

/// Where the work stands.
#[derive(Debug, Serialize, Deserialize)]
pub struct Job {
    /// Who it is, sealed: what waits is to tell nothing of them either.
    person: Vec<String>,
    /// The place of their own document, which is gone.
    own: i64,
    stage: Stage,
    /// Behind what it goes on.
    after: i64,
    /// The last document that there was when it began.
    until: i64,
    /// The documents that were changed, from one to another, whose pages are to be made anew.
    pages: Vec<(i64, i64)>,
    looked: u64,
}

impl Job {
    /// The work that begins.
    pub fn begin(store: &Store<'_>, person: &Person) -> Result<Job, Fault> {
        let rows = store.row(
            "SELECT (SELECT MAX(seq) FROM document), (SELECT seq FROM document WHERE kind = 'customer' AND id = +?1)",
            &[person.id.as_str().into()],
        )?;
        let rows = rows.unwrap_or_default();
        let until = sql::int_or_null(&rows, 0)?.unwrap_or(0);
        let mut pages = Vec::new();
        let own = sql::int_or_null(&rows, 1)?.unwrap_or(0);
        touch(&mut pages, own);
        let text = serde_json::to_string(person).map_err(|error| Fault(error.to_string()))?;
        Ok(Job { person: seal(store, &text)?, own, stage: Stage::Ledger, after: 0, until, pages, looked: 0 })
    }

    /// Whether nothing that is stored tells of them any more.
    pub fn is_done(&self) -> bool {
        self.stage == Stage::Room
    }

    /// Does the next piece of it, of so many rows.
    pub fn go_on(&mut self, store: &mut Store<'_>, person: &Person, rows: u64) -> Result<(), Fault> {
        let rows = i64::try_from(rows).unwrap_or(i64::MAX).max(1);
        let (next, after) = match self.stage {
            Stage::Ledger => (Stage::Documents, rename_accounts(store, person, rows)?.then_some(0)),
            Stage::Documents => {
                let looked_at = (self.after, self.until);
                (Stage::Answers, documents(store, person, looked_at, rows, &mut self.pages)?)
            }
            Stage::Answers => (Stage::Letters, answers(store, person, self.after, rows)?),
            Stage::Letters => (Stage::Exports, letters(store, person, self.after, rows)?),
            Stage::Exports => (Stage::Room, lines(store, person, self.own, self.after)?),
            Stage::Room => return Ok(()),
        };
        self.looked = self.looked.saturating_add(rows.unsigned_abs());
        match after {
            Some(after) => self.after = after,
            None => (self.stage, self.after) = (next, 0),
        }
        Ok(())
    }
}

/// A text in parts that can be sealed.
fn seal(store: &Store<'_>, text: &str) -> Result<Vec<String>, Fault> {
    /// Letters of a part: of four bytes each they are no more than is sealed.
    const PART: usize = 50;
    let tracker = Tracker::stored(store)?;
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(PART).map(|part| tracker.tracking_id(&part.iter().collect::<String>())).collect()
}

fn open(store: &Store<'_>, sealed: &[String]) -> Result<Person, Fault> {
    let tracker = Tracker::stored(store)?;
    let mut text = String::new();
    for part in sealed {
        text.push_str(&tracker.source_id(part)?.ok_or_else(|| Fault::new("who is to be forgotten does not open"))?);
    }
    serde_json::from_str(&text).map_err(|error| Fault(format!("who is to be forgotten does not read: {error}")))
}

/// Does the next piece of the work as it waits, and in the end fills the room that was freed.
pub fn run(store: &mut Store<'_>, context: &Context, piece: &Piece<'_>) -> Result<(), Fault> {
    let mut job: Job = piece.read()?;
    if job.stage == Stage::Room && !job.pages.is_empty() {
        knead(store, &mut job.pages, piece.rows);
    } else if job.stage == Stage::Room {
        fill(store, u64::try_from(job.after).unwrap_or(0));
        job.after = job.after.saturating_add(1);
        if u64::try_from(job.after).unwrap_or(0) >= ROUNDS.saturating_mul(2) {
            return finish(store, context, piece.id, Ok(json!({ "message": "1 customer deleted", "done_count": 1 })));
        }
    } else {
        let person = open(store, &job.person)?;
        job.go_on(store, &person, piece.rows)?;
    }
    let wanted = u64::try_from(job.until).unwrap_or(0).max(job.looked);
    advance(store, context, piece.id, &job, (job.looked, wanted.saturating_add(1)))
}

/// Takes the customer away, who is the first to be overwritten, with what few rows there are beside what is looked through in pieces.
pub fn take_away(store: &mut Store<'_>, person: &Person, now_ms: i64) -> Result<(), Fault> {
    // Whoever is told that they are gone is told by which id they were known.
    store.write(
        "UPDATE document SET marks = NULL, label = substr(hex(zeroblob(octet_length(label))), 1, octet_length(label)), body = printf('%-*s', octet_length(body), json_object('id', id, 'object', 'customer'))
         WHERE kind = 'customer' AND id = +?1",
        vec![person.id.as_str().into()],
    );
    store.remove("customer", &person.id);
    for table in TABLES {
        leave_table(store, table, person);
    }
    store.write(
        format!("UPDATE outbox SET body = {} WHERE customer = +?1", blank("body")),
        vec![person.id.as_str().into()],
    );
    outbox::erase(store, &person.id, now_ms);
    let sourced = person.source_id.clone().unwrap_or_default();
    store.write(
        "DELETE FROM hold WHERE (key, owner) IN (SELECT key, owner FROM hold WHERE owner = 'customer/' || ?1 OR owner = 'customer/' || ?2
           OR (account >= 'customer/' || ?1 AND account < 'customer/' || ?1 || '0'))",
        vec![person.id.as_str().into(), sourced.into()],
    );
    waiting(store, person)
}

fn leave_table(store: &mut Store<'_>, table: &Table, person: &Person) {
    let Table { name, column, .. } = table;
    let (id, alias) = (Value::from(person.id.as_str()), Value::from(person.alias.as_str()));
    let Some(texts) = table.goes else {
        let statement = format!("UPDATE {name} SET {column} = ?2 WHERE {column} = +?1");
        return store.write(statement, vec![id, alias]);
    };
    for text in texts {
        store.write(format!("UPDATE {name} SET {text} = {} WHERE {column} = +?1", blank(text)), vec![id.clone()]);
    }
    store.write(format!("DELETE FROM {name} WHERE {column} = +?1"), vec![id]);
}

/// Work that waits may have told of them already.
fn waiting(store: &mut Store<'_>, person: &Person) -> Result<(), Fault> {
    let marks = Json::from(person.marks()).to_string();
    let rows = store.rows(
        "SELECT id, cursor FROM due WHERE EXISTS (SELECT 1 FROM json_each(?1) AS mark WHERE instr(cursor, mark.value) > 0)",
        &[marks.into()],
    )?;
    for row in &rows {
        if let Some(text) = revised(sql::text(row, 1)?, &mut |body| person.erase_named(body)) {
            store.write("UPDATE due SET cursor = ?2 WHERE id = +?1", vec![sql::text(row, 0)?.into(), text.into()]);
        }
    }
    Ok(())
}

/// Renames the accounts of the customer. Gives whether there are more.
fn rename_accounts(store: &mut Store<'_>, person: &Person, rows: i64) -> Result<bool, Fault> {
    let mut left = rows;
    for (table, column) in LEDGER {
        let range = format!("{column} >= 'customer/' || ?1 AND {column} < 'customer/' || ?1 || '0'");
        let found = store.row(
            &format!("SELECT COUNT(*) FROM (SELECT 1 FROM {table} WHERE {range} LIMIT +?2)"),
            &[person.id.as_str().into(), left.into()],
        )?;
        let found = found.map_or(Ok(0), |row| sql::int(&row, 0))?;
        if found > 0 {
            store.write(
                format!(
                    "UPDATE {table} SET {column} = replace({column}, ?1, ?2) WHERE id IN (SELECT id FROM {table} WHERE {range} LIMIT +?3)"
                ),
                vec![person.id.as_str().into(), person.alias.as_str().into(), left.into()],
            );
        }
        left = left.saturating_sub(found);
        if left <= 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Looks through the next documents. Gives the last, unless there are no more.
fn documents(
    store: &mut Store<'_>,
    person: &Person,
    (after, until): (i64, i64),
    rows: i64,
    pages: &mut Vec<(i64, i64)>,
) -> Result<Option<i64>, Fault> {
    let last = store.row(
        "SELECT MAX(seq), COUNT(*) FROM (SELECT seq FROM document WHERE seq > +?1 AND seq <= +?2 ORDER BY seq LIMIT +?3)",
        &[after.into(), until.into(), rows.into()],
    )?;
    let last = last.unwrap_or_default();
    let (Some(last), seen) = (sql::int_or_null(&last, 0)?, sql::int(&last, 1)?) else { return Ok(None) };
    let found = store.rows(
        "SELECT seq, kind, id, key, parent, holder, body FROM document WHERE seq > +?1 AND seq <= +?2
           AND (holder = +?3 OR instr(key, ?3) > 0 OR instr(parent, ?3) > 0
             OR EXISTS (SELECT 1 FROM json_each(?4) AS mark WHERE instr(body, mark.value) > 0))",
        &[after.into(), last.into(), person.id.as_str().into(), Json::from(person.marks()).to_string().into()],
    )?;
    for row in &found {
        document(store, person, row)?;
        touch(pages, sql::int(row, 0)?);
    }
    Ok((seen >= rows).then_some(last))
}

fn document(store: &mut Store<'_>, person: &Person, row: &Row) -> Result<(), Fault> {
    let (seq, kind, id) = (sql::int(row, 0)?, sql::text(row, 1)?, sql::text(row, 2)?);
    let (holder, body) = (sql::text_or_null(row, 5)?, sql::text(row, 6)?);
    if kind == "secret" || kind == "customer" && id == person.id {
        return Ok(());
    }
    if EVENTS.contains(&kind) && holder == Some(&person.id) {
        store.write("UPDATE document SET body = ?2 WHERE seq = +?1", vec![seq.into(), padded("{}", body.len()).into()]);
        store.write("DELETE FROM document WHERE seq = +?1", vec![seq.into()]);
        return Ok(());
    }
    let whose = if kind == "customer" { Some(id) } else { holder.filter(|holder| holder.starts_with("cust_")) };
    let text = revised(body, &mut |body| match kind {
        // What waits to be written of them is not written, and nobody lists them.
        "batch" => person.leave_list(body, "items"),
        "segment" => person.leave_list(body, "customers"),
        "async_action" => person.erase_named(body),
        _ => person.erase(body, whose),
    });
    let renamed = |column: usize| -> Result<Value, Fault> {
        Ok(sql::text_or_null(row, column)?.map(|text| text.replace(&person.id, &person.alias)).into())
    };
    let text = text.unwrap_or_else(|| body.to_owned());
    let key = match kind {
        "customer" => marks::key_in(&text),
        _ => sql::text_or_null(row, 3)?.map(|key| match person.is_in(key) && whose == Some(&person.id) {
            // What a shop calls an order may say whose it is. Two that said so may not become one.
            true => format!("{}.{seq}", person.alias),
            false => key.replace(&person.id, &person.alias),
        }),
    };
    let params = vec![seq.into(), key.into(), renamed(4)?, renamed(5)?, text.into()];
    store.write("UPDATE document SET key = ?2, parent = ?3, holder = ?4, body = ?5 WHERE seq = +?1", params);
    Ok(())
}

/// Looks through the next answers, the oldest first. Gives the moment of the last, unless there are no more.
fn answers(store: &mut Store<'_>, person: &Person, after: i64, rows: i64) -> Result<Option<i64>, Fault> {
    let marks = person.marks();
    idempotency::revise(store, (after, rows), &marks, &mut |kept| {
        let Kept { caller, request, key, body } = kept;
        // Method, version and area come first.
        let segments = request.split(['/', ' ']).skip(4).map(|segment| crate::http::query::decode(segment, false));
        let mut names = segments.chain(proven(caller));
        // What was answered to them, or under their name, is nobody's to be told again.
        if person.is_in(key) || names.any(|name| name == person.id || Some(&name) == person.source_id.as_ref()) {
            return Some(None);
        }
        revised(body, &mut |body| person.erase(body, None)).map(Some)
    })
}

/// Looks through the next letters of webhooks, as what is told of something else may name them too. Gives the last, unless there are no more.
fn letters(store: &mut Store<'_>, person: &Person, after: i64, rows: i64) -> Result<Option<i64>, Fault> {
    let last = store.row(
        "SELECT MAX(seq), COUNT(*) FROM (SELECT seq FROM outbox WHERE seq > +?1 ORDER BY seq LIMIT +?2)",
        &[after.into(), rows.into()],
    )?;
    let last = last.unwrap_or_default();
    let (Some(last), seen) = (sql::int_or_null(&last, 0)?, sql::int(&last, 1)?) else { return Ok(None) };
    let found = store.rows(
        "SELECT seq, body FROM outbox WHERE seq > +?1 AND seq <= +?2 AND type <> 'customer.deleted'
           AND EXISTS (SELECT 1 FROM json_each(?3) AS mark WHERE instr(body, mark.value) > 0)",
        &[after.into(), last.into(), Json::from(person.marks()).to_string().into()],
    )?;
    for row in &found {
        if let Some(text) = revised(sql::text(row, 1)?, &mut |body| person.erase_named(body)) {
            store.write("UPDATE outbox SET body = ?2 WHERE seq = +?1", vec![sql::int(row, 0)?.into(), text.into()]);
        }
    }
    Ok((seen >= rows).then_some(last))
}

/// Takes the lines of the next export away that tell of them: those of their documents, which are under their new name by now, and those
/// that name them. Gives which it was, unless there are no more.
fn lines(store: &mut Store<'_>, person: &Person, own: i64, after: i64) -> Result<Option<i64>, Fault> {
    let next = store.row(
        "SELECT seq, id FROM document WHERE kind = 'export' AND seq > +?1 ORDER BY seq LIMIT 1",
        &[after.into()],
    )?;
    let Some(next) = next else { return Ok(None) };
    let export = sql::text(&next, 1)?;
    let found = store.rows(
        "SELECT json_array(place, seq), text, seq = ?3 OR EXISTS (SELECT 1 FROM document WHERE seq = export_line.seq AND holder = ?4) AS own
         FROM export_line WHERE export = +?1
           AND (own OR EXISTS (SELECT 1 FROM json_each(?2) AS mark WHERE instr(text, mark.value) > 0))",
        &[
            export.into(),
            Json::from(person.marks_in_lines()).to_string().into(),
            own.into(),
            person.alias.as_str().into(),
        ],
    )?;
    let mut places = Vec::new();
    for row in &found {
        if sql::int(row, 2)? == 1 || person.is_named_in_line(sql::text(row, 1)?) {
            places.push(sql::text(row, 0)?);
        }
    }
    if !places.is_empty() {
        // By their places, as a line of which one part tells of them goes whole.
        let params = || vec![Value::from(export), format!("[{}]", places.join(",")).into()];
        let keyed = "export = +?1 AND (place, seq) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?2))";
        // A download says first how many bytes it has.
        store.write(
            format!(
                "UPDATE document SET body = json_set(body, '$.bytes', CAST(json_extract(body, '$.bytes') - (
                   SELECT COALESCE(SUM(octet_length(text)), 0) FROM export_line WHERE {keyed}) AS INTEGER))
                 WHERE kind = 'export' AND id = +?1"
            ),
            params(),
        );
        store.write(format!("UPDATE export_line SET text = {} WHERE {keyed}", blank("text")), params());
        store.write(format!("DELETE FROM export_line WHERE {keyed}"), params());
    }
    Ok(Some(sql::int(&next, 0)?))
}

/// The customer in whose name an answer is kept.
fn proven(caller: &str) -> Option<String> {
    let caller: Vec<Json> = serde_json::from_str(caller).ok()?;
    caller.get(3).and_then(Json::as_str).map(str::to_owned)
}

/// A text of JSON, changed and as long as it was; none where nothing changes or where it is no JSON.
fn revised(text: &str, change: &mut dyn FnMut(&mut Json) -> bool) -> Option<String> {
    let mut body: Json = serde_json::from_str(text).ok()?;
    change(&mut body).then(|| padded(&body.to_string(), text.len()))
}

/// A text of JSON with so many bytes at least.
fn padded(text: &str, length: usize) -> String {
    format!("{text}{}", " ".repeat(length.saturating_sub(text.len())))
}
