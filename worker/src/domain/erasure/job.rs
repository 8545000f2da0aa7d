//! Erases a customer from the ledger, all documents, the stored responses of idempotent requests, exports and queued jobs. It
//! works in slices, because a customer may be named anywhere. Freed space is overwritten later (`store/remnants`).

use crate::access::idempotency::{self, StoredResponse};
use crate::domain::erasure::redaction::Person;
use crate::jobs::async_actions::{JobSlice, advance, finish};
use crate::jobs::bulk_items;
use crate::jobs::free_pages;
use crate::jobs::outbox;
use crate::store::Store;
use crate::store::index::blind_index;
use crate::store::jobs::erasure::{
    self as stored, ErasedCustomer, ErasureBounds, NamedDocument, NamingText, RowSpan, SearchedTexts,
};
use crate::store::jobs::remnants::{self, ANSWERS, DELIVERIES, DOCUMENTS, touch};
use crate::store::jobs::{self, BULK_SLICE};
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use scrip::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// The kind of the job.
pub const ERASE: &str = "CUSTOMERS.PERMANENT_DELETION";

/// Kinds of documents that describe only an action of the customer: they are deleted.
const EVENTS: &[&str] = &["event"];

/// Number of rows of each kind that the request itself processes; the job continues beyond.
pub const AT_ONCE: u64 = 2_000;

/// Stages of an erasure, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum ErasureStage {
    Ledger,
    Documents,
    Answers,
    // Stored name of jobs that began before a rename, as `Room` below.
    #[serde(alias = "Letters")]
    Deliveries,
    Exports,
    #[serde(alias = "Room")]
    Pages,
}

/// Progress of an erasure.
#[derive(Debug, Serialize, Deserialize)]
pub struct Job {
    /// The customer, encrypted: the queued job must not disclose personal data either.
    person: Vec<String>,
    /// Sequence number of the deleted customer document.
    own: i64,
    stage: ErasureStage,
    /// Position after which the stage continues.
    after: i64,
    /// Last document at the start of the erasure.
    until: i64,
    /// Ranges of changed documents whose pages are to be overwritten.
    pages: Vec<(i64, i64)>,
    /// Ranges of deleted webhook deliveries.
    #[serde(default)]
    deliveries: Vec<(i64, i64)>,
    looked: u64,
}

impl Job {
    /// Starts an erasure.
    pub fn begin(store: &Store<'_>, person: &Person) -> Result<Job, Fault> {
        let ErasureBounds { last: until, own } = stored::find_bounds(store, &person.id)?;
        let mut pages = Vec::new();
        touch(&mut pages, own);
        let text = serde_json::to_string(person).map_err(|error| Fault(error.to_string()))?;
        // The first range covers pages next to deliveries that were sent and deleted.
        let mut deliveries = vec![(0, 0)];
        for seq in stored::list_deliveries_of(store, &person.id)? {
            touch(&mut deliveries, seq);
        }
        Ok(Job {
            person: seal(store, &text)?,
            own,
            stage: ErasureStage::Ledger,
            after: 0,
            until,
            pages,
            deliveries,
            looked: 0,
        })
    }

    /// Tests if no stored data names the customer any more.
    pub fn is_done(&self) -> bool {
        self.stage == ErasureStage::Pages
    }

    /// Processes the next slice of `rows` rows.
    pub fn go_on(&mut self, store: &mut Store<'_>, person: &Person, rows: u64) -> Result<(), Fault> {
        // Rows of a slice and of the progress are estimates, so their arithmetic saturates.
        let rows = i64::try_from(rows).unwrap_or(i64::MAX).max(1);
        let (next, after) = match self.stage {
            ErasureStage::Ledger => {
                let has_more = stored::rename_accounts(store, erased(person), rows)?;
                (ErasureStage::Documents, has_more.then_some(0))
            }
            ErasureStage::Documents => {
                let last = documents(store, person, self.after, self.until, rows, &mut self.pages)?;
                (ErasureStage::Answers, last)
            }
            ErasureStage::Answers => (ErasureStage::Deliveries, answers(store, person, self.after, rows)?),
            ErasureStage::Deliveries => {
                (ErasureStage::Exports, deliveries(store, person, self.after, rows, &mut self.deliveries)?)
            }
            ErasureStage::Exports => (ErasureStage::Pages, lines(store, person, self.own, self.after)?),
            ErasureStage::Pages => return Ok(()),
        };
        // An estimate for the progress.
        self.looked = self.looked.saturating_add(rows.unsigned_abs());
        match after {
            Some(after) => self.after = after,
            None => (self.stage, self.after) = (next, 0),
        }
        Ok(())
    }
}

/// Encrypts a text in parts.
fn seal(store: &Store<'_>, text: &str) -> Result<Vec<String>, Fault> {
    /// Characters of a part: of at most four bytes each, so a part fits the encryption limit.
    const PART: usize = 50;
    let tracker = Tracker::stored(store)?;
    let deliveries: Vec<char> = text.chars().collect();
    deliveries.chunks(PART).map(|part| tracker.tracking_id(&part.iter().collect::<String>())).collect()
}

fn open(store: &Store<'_>, sealed: &[String]) -> Result<Person, Fault> {
    let tracker = Tracker::stored(store)?;
    let mut text = String::new();
    for part in sealed {
        text.push_str(&tracker.source_id(part)?.ok_or_else(|| Fault::new("who is to be forgotten does not open"))?);
    }
    serde_json::from_str(&text).map_err(|error| Fault(format!("who is to be forgotten does not read: {error}")))
}

/// Runs a slice of the job; at the end it overwrites the freed space.
pub fn run(store: &mut Store<'_>, context: &Context, piece: &JobSlice<'_>) -> Result<(), Fault> {
    let mut job: Job = piece.read()?;
    if job.stage == ErasureStage::Pages && !job.pages.is_empty() {
        remnants::overwrite_next(store, DOCUMENTS, &mut job.pages, piece.rows);
    } else if job.stage == ErasureStage::Pages && !job.deliveries.is_empty() {
        remnants::overwrite_next(store, DELIVERIES, &mut job.deliveries, piece.rows);
    } else if job.stage == ErasureStage::Pages {
        // The oldest responses are next to those that expired.
        ANSWERS.overwrite(store, 0..=0);
        free_pages::request(store, context.now.millis());
        return finish(store, context, piece.id, Ok(json!({ "message": "1 customer deleted", "done_count": 1 })));
    } else {
        let person = open(store, &job.person)?;
        job.go_on(store, &person, piece.rows)?;
    }
    let wanted = job.until.max(0).unsigned_abs().max(job.looked);
    // An estimate for the progress.
    advance(store, context, piece.id, &job, job.looked, wanted.saturating_add(1))
}

/// Deletes the customer document, whose text is overwritten first, and the few rows that need no slices.
pub fn take_away(store: &mut Store<'_>, person: &Person, now_ms: i64) -> Result<(), Fault> {
    stored::blank_customer(store, &person.id);
    store.remove("customer", &person.id);
    stored::leave_tables(store, erased(person));
    stored::blank_deliveries_of(store, &person.id);
    outbox::erase(store, &person.id, now_ms);
    // A lock that was set before the customer was stored has the name that the request used.
    let names = [Some(&person.id), person.source_id.as_ref(), person.email.as_ref()];
    for name in names.into_iter().flatten() {
        stored::delete_holds_of(store, name);
    }
    waiting(store, person)
}

/// Returns the customer's id and the alias for the store.
fn erased(person: &Person) -> ErasedCustomer<'_> {
    ErasedCustomer { id: &person.id, alias: &person.alias }
}

/// Rewrites queued jobs that name the customer.
fn waiting(store: &mut Store<'_>, person: &Person) -> Result<(), Fault> {
    for NamingText { id, text } in stored::list_jobs_containing(store, &person.marks())? {
        if let Some(text) = revised(&text, &mut |body| person.erase_named(body)) {
            stored::update_job(store, &id, text);
        }
    }
    Ok(())
}

/// Processes the next documents; returns the last position, or `None` at the end.
fn documents(
    store: &mut Store<'_>,
    person: &Person,
    after: i64,
    until: i64,
    most: i64,
    pages: &mut Vec<(i64, i64)>,
) -> Result<Option<i64>, Fault> {
    let Some(RowSpan { last, count }) = stored::find_documents(store, after, until, most)? else { return Ok(None) };
    let (in_json, in_files) = (person.marks(), person.marks_in_files());
    let marks = SearchedTexts { in_json: &in_json, in_files: &in_files };
    for document in stored::list_documents_naming(store, &person.id, marks, after, last)? {
        touch(pages, document.seq);
        erase_from(store, person, document)?;
    }
    Ok((count >= most).then_some(last))
}

/// Takes the customer out of a document.
fn erase_from(store: &mut Store<'_>, person: &Person, document: NamedDocument) -> Result<(), Fault> {
    let NamedDocument { seq, kind, id, key, parent, holder, body } = document;
    if kind == BULK_SLICE {
        let Some(job) = jobs::find(store, parent.as_deref().unwrap_or_default())? else { return Ok(()) };
        // Queued items of the customer are not written. Goods are, without the customer's addresses.
        let text = match bulk_items::is_of_goods(&job.kind) {
            true => revised(&body, &mut |body| person.erase_addresses(body)),
            false => bulk_items::without_items(&job, &body, &|item| person.is_item(item))?
                .map(|text| padded(&text, body.len())),
        };
        if let Some(body) = text {
            stored::update_document(store, NamedDocument { seq, kind, id, key, parent, holder, body });
        }
        return Ok(());
    }
    let (kind, holder) = (kind.as_str(), holder.as_deref());
    if kind == "secret" || kind == "customer" && id == person.id {
        return Ok(());
    }
    if EVENTS.contains(&kind) && holder == Some(&person.id) {
        stored::delete_document(store, seq, padded("{}", body.len()));
        return Ok(());
    }
    let owner =
        if kind == "customer" { Some(id.as_str()) } else { holder.filter(|holder| holder.starts_with("cust_")) };
    let whose = match owner {
        // A deleted profile may have been the same person's: its records are judged by what they name.
        Some(owner) if owner != person.id && store.document("customer", owner)?.is_none() => None,
        owner => owner,
    };
    let text = revised(&body, &mut |body| match kind {
        // Lists no longer contain the customer.
        "segment" => person.leave_list(body, "customers"),
        "async_action" => person.erase_named(body),
        _ => person.erase(body, whose),
    });
    let renamed = |text: &str| text.replace(&person.id, &person.alias);
    let body = text.unwrap_or(body);
    let key = match kind {
        "customer" => blind_index::key_in(&body),
        _ => key.map(|key| match person.is_in(&key) && whose == Some(&person.id) {
            // An order's source_id may identify its customer. The suffix keeps two such orders apart.
            true => format!("{}.{seq}", person.alias),
            false => renamed(&key),
        }),
    };
    let (parent, holder) = (parent.as_deref().map(renamed), holder.map(renamed));
    stored::update_document(store, NamedDocument { seq, kind: kind.to_owned(), id, key, parent, holder, body });
    Ok(())
}

/// Processes the next stored responses, the oldest first; returns the time of the last, or `None` at the end.
fn answers(store: &mut Store<'_>, person: &Person, after: i64, rows: i64) -> Result<Option<i64>, Fault> {
    let marks = person.marks();
    idempotency::revise(store, after, rows, &marks, &mut |kept| {
        let StoredResponse { caller, request, key, body } = kept;
        // Method, version and area come first.
        let segments = request.split(['/', ' ']).skip(4).map(crate::http::query::decode);
        let mut names = segments.chain(proven(caller));
        // A response to the customer or under the customer's name must never be repeated.
        if person.is_in(key) || names.any(|name| name == person.id || Some(&name) == person.source_id.as_ref()) {
            return Some(None);
        }
        revised(body, &mut |body| person.erase(body, None)).map(Some)
    })
}

/// Processes the next webhook deliveries, which may name the customer; returns the last position, or `None` at the end.
fn deliveries(
    store: &mut Store<'_>,
    person: &Person,
    after: i64,
    most: i64,
    changed: &mut Vec<(i64, i64)>,
) -> Result<Option<i64>, Fault> {
    let Some(RowSpan { last, count }) = stored::find_deliveries(store, after, most)? else { return Ok(None) };
    for NamingText { id: seq, text } in stored::list_deliveries_containing(store, &person.marks(), after, last)? {
        if let Some(text) = revised(&text, &mut |body| person.erase_named(body)) {
            stored::update_delivery(store, seq, text);
            touch(changed, seq);
        }
    }
    Ok((count >= most).then_some(last))
}

/// Removes lines from the next export: those of the customer's documents, which have the alias by now, and those that name
/// the customer. Returns its position, or `None` at the end.
fn lines(store: &mut Store<'_>, person: &Person, own: i64, after: i64) -> Result<Option<i64>, Fault> {
    let Some(NamingText { id: seq, text: export }) = stored::find_next_export(store, after)? else { return Ok(None) };
    let found = stored::list_lines_naming(store, &export, &person.marks_in_lines(), own, &person.alias)?;
    let named = found.into_iter().filter(|line| line.is_own || person.is_named_in_line(&line.text));
    let places: Vec<String> = named.map(|line| line.place).collect();
    if !places.is_empty() {
        // Lines are removed whole, even if only one part names the customer.
        stored::delete_lines(store, &export, &places);
    }
    Ok(Some(seq))
}

/// Returns the verified customer in the name of which a response was stored.
fn proven(caller: &str) -> Option<String> {
    let caller: Vec<Json> = serde_json::from_str(caller).ok()?;
    caller.get(3).and_then(Json::as_str).map(str::to_owned)
}

/// Returns changed JSON padded to its old length; `None` without a change or for other texts.
fn revised(text: &str, change: &mut dyn FnMut(&mut Json) -> bool) -> Option<String> {
    let mut body: Json = serde_json::from_str(text).ok()?;
    change(&mut body).then(|| padded(&body.to_string(), text.len()))
}

/// Pads a text of JSON with empty lines to at least `length` bytes; they are removed when the page is overwritten.
/// A longer text stays as it is.
fn padded(text: &str, length: usize) -> String {
    // A longer text gets no padding.
    format!("{text}{}", "\n".repeat(length.saturating_sub(text.len())))
}
