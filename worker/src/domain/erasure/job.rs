//! Erases a customer from the ledger, all documents, the stored responses of idempotent requests, exports and queued jobs. It
//! works in slices, because a customer may be named anywhere. Freed space is overwritten later (`store/jobs/remnants.rs`).

use crate::access::idempotency::{self, StoredResponse};
use crate::domain::erasure::documents::{RecordErasure, erase_documents, revise};
use crate::domain::erasure::redaction::CustomerIdentity;
use crate::jobs::async_actions::{JobSlice, advance, finish};
use crate::jobs::free_pages;
use crate::jobs::outbox;
use crate::store::Store;
use crate::store::documents::redemptions::{self, InputText};
use crate::store::jobs::erasure::{self as stored, ErasedCustomer, ErasureBounds, NamingText, RowRange};
use crate::store::jobs::remnants::{self, DELIVERIES, DOCUMENTS, INPUTS, RESPONSES, touch};
use crate::store::redemption_inputs;
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use scrip::Context;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// The kind of the job.
pub const ERASE: &str = "CUSTOMERS.PERMANENT_DELETION";

/// Number of rows of each kind that the request itself processes; the job continues beyond.
pub const AT_ONCE: u64 = 2_000;

/// Stages of an erasure, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum ErasureStage {
    Ledger,
    Documents,
    Records,
    Answers,
    Inputs,
    // Stored name of jobs that began before a rename, as `Room` below.
    #[serde(alias = "Letters")]
    Deliveries,
    Exports,
    #[serde(alias = "Room")]
    Pages,
}

/// Progress of an erasure.
#[derive(Debug, Serialize, Deserialize)]
pub struct ErasureJob {
    /// The customer, encrypted: the queued job must not disclose personal data either.
    #[serde(rename = "person")]
    identity: Vec<String>,
    /// Sequence number of the deleted customer document.
    own: i64,
    stage: ErasureStage,
    /// Position after which the stage continues.
    after: i64,
    /// Last document at the start of the erasure.
    until: i64,
    /// Ranges of changed documents whose pages are to be overwritten.
    pages: Vec<(i64, i64)>,
    #[serde(default)]
    records: RecordErasure,
    /// Ranges of deleted webhook deliveries.
    #[serde(default)]
    deliveries: Vec<(i64, i64)>,
    /// Ranges of deleted inputs of redemptions.
    #[serde(default)]
    inputs: Vec<(i64, i64)>,
    #[serde(rename = "looked")]
    processed: u64,
}

impl ErasureJob {
    /// Starts an erasure.
    pub fn start(store: &Store<'_>, identity: &CustomerIdentity) -> Result<ErasureJob, Fault> {
        let ErasureBounds { last: until, own } = stored::find_bounds(store, &identity.id)?;
        let mut pages = Vec::new();
        touch(&mut pages, own);
        let text = serde_json::to_string(identity).map_err(|error| Fault(error.to_string()))?;
        // The first range covers pages next to deliveries that were sent and deleted.
        let mut deliveries = vec![(0, 0)];
        for seq in stored::list_deliveries_of(store, &identity.id)? {
            touch(&mut deliveries, seq);
        }
        Ok(ErasureJob {
            identity: seal(store, &text)?,
            own,
            stage: ErasureStage::Ledger,
            after: 0,
            until,
            pages,
            records: RecordErasure::default(),
            deliveries,
            inputs: Vec::new(),
            processed: 0,
        })
    }

    /// Tests if no stored data names the customer any more.
    pub fn is_done(&self) -> bool {
        self.stage == ErasureStage::Pages
    }

    /// Processes the next slice of `rows` rows.
    pub fn continue_slice(
        &mut self,
        store: &mut Store<'_>,
        identity: &CustomerIdentity,
        rows: u64,
    ) -> Result<(), Fault> {
        // Rows of a slice and of the progress are estimates, so their arithmetic saturates.
        let rows = i64::try_from(rows).unwrap_or(i64::MAX).max(1);
        let (next, after) = match self.stage {
            ErasureStage::Ledger => {
                let has_more = stored::rename_accounts(store, aliased(identity), rows)?;
                (ErasureStage::Documents, has_more.then_some(0))
            }
            ErasureStage::Documents => {
                let last = erase_documents(store, identity, DOCUMENTS, self.after..=self.until, rows, &mut self.pages)?;
                (ErasureStage::Records, last)
            }
            ErasureStage::Records => {
                let has_more = self.records.continue_slice(store, identity, rows, &mut self.pages)?;
                (ErasureStage::Answers, has_more.then_some(0))
            }
            ErasureStage::Answers => (ErasureStage::Inputs, erase_responses(store, identity, self.after, rows)?),
            ErasureStage::Inputs => {
                (ErasureStage::Deliveries, erase_inputs(store, identity, self.after, rows, &mut self.inputs)?)
            }
            ErasureStage::Deliveries => {
                (ErasureStage::Exports, erase_deliveries(store, identity, self.after, rows, &mut self.deliveries)?)
            }
            ErasureStage::Exports => (ErasureStage::Pages, erase_lines(store, identity, self.own, self.after)?),
            ErasureStage::Pages => return Ok(()),
        };
        // An estimate for the progress.
        self.processed = self.processed.saturating_add(rows.unsigned_abs());
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
    let tracker = Tracker::load(store)?;
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(PART).map(|part| tracker.tracking_id(&part.iter().collect::<String>())).collect()
}

fn open(store: &Store<'_>, sealed: &[String]) -> Result<CustomerIdentity, Fault> {
    let tracker = Tracker::load(store)?;
    let mut text = String::new();
    for part in sealed {
        text.push_str(
            &tracker
                .source_id(part)?
                .ok_or_else(|| Fault::new("the sealed identity of an erased customer cannot be opened"))?,
        );
    }
    serde_json::from_str(&text)
        .map_err(|error| Fault(format!("the identity of an erased customer cannot be read: {error}")))
}

/// Runs a slice of the job; at the end it overwrites the freed space.
pub fn run(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<(), Fault> {
    let mut job: ErasureJob = slice.read()?;
    if job.stage == ErasureStage::Pages && !job.pages.is_empty() {
        remnants::overwrite_next(store, DOCUMENTS, &mut job.pages, slice.rows)?;
    } else if job.stage == ErasureStage::Pages && !job.deliveries.is_empty() {
        remnants::overwrite_next(store, DELIVERIES, &mut job.deliveries, slice.rows)?;
    } else if job.stage == ErasureStage::Pages && !job.inputs.is_empty() {
        remnants::overwrite_next(store, INPUTS, &mut job.inputs, slice.rows)?;
    } else if job.stage == ErasureStage::Pages && job.records.overwrite_next(store, slice.rows)? {
        // The next slice goes on.
    } else if job.stage == ErasureStage::Pages {
        // The oldest responses are next to those that expired.
        RESPONSES.overwrite(store, 0..=0);
        free_pages::request(store, context.now.millis());
        return finish(store, context, slice.id, Ok(json!({ "message": "1 customer deleted", "done_count": 1 })));
    } else {
        let identity = open(store, &job.identity)?;
        job.continue_slice(store, &identity, slice.rows)?;
    }
    let expected = job.until.max(0).unsigned_abs().max(job.processed);
    // An estimate for the progress.
    advance(store, context, slice.id, &job, job.processed, expected.saturating_add(1))
}

/// Deletes the customer document, whose text is overwritten first, and the few rows that need no slices.
pub fn erase_now(store: &mut Store<'_>, identity: &CustomerIdentity, now_ms: i64) -> Result<(), Fault> {
    stored::blank_customer(store, &identity.id);
    store.delete("customer", &identity.id);
    stored::erase_in_tables(store, aliased(identity));
    stored::blank_deliveries_of(store, &identity.id);
    outbox::erase(store, &identity.id, now_ms);
    // A lock that was set before the customer was stored has the name that the request used.
    let names = [Some(&identity.id), identity.source_id.as_ref(), identity.email.as_ref()];
    for name in names.into_iter().flatten() {
        stored::delete_holds_of(store, name);
    }
    erase_queued_jobs(store, identity)
}

/// Returns the customer's id and the alias for the store.
fn aliased(identity: &CustomerIdentity) -> ErasedCustomer<'_> {
    ErasedCustomer { id: &identity.id, alias: &identity.alias }
}

/// Rewrites queued jobs that name the customer.
fn erase_queued_jobs(store: &mut Store<'_>, identity: &CustomerIdentity) -> Result<(), Fault> {
    for NamingText { id, text } in stored::list_jobs_containing(store, &identity.texts_in_json())? {
        if let Some(text) = revise(&text, &mut |body| identity.erase_named(body)) {
            stored::update_job(store, &id, text);
        }
    }
    Ok(())
}

/// Processes the next stored responses, the oldest first; returns the time of the last, or `None` at the end.
fn erase_responses(
    store: &mut Store<'_>,
    identity: &CustomerIdentity,
    after: i64,
    rows: i64,
) -> Result<Option<i64>, Fault> {
    let texts_in_json = identity.texts_in_json();
    idempotency::revise(store, after, rows, &texts_in_json, &mut |stored_response| {
        let StoredResponse { caller, request, key, body } = stored_response;
        // Method, version and area come first.
        let segments = request.split(['/', ' ']).skip(4).map(crate::http::query::decode);
        let mut names = segments.chain(verified_customer(caller));
        // A response to the customer or under the customer's name must never be repeated.
        if identity.is_in(key) || names.any(|name| name == identity.id || Some(&name) == identity.source_id.as_ref()) {
            return Some(None);
        }
        revise(body, &mut |body| identity.erase(body, None)).map(Some)
    })
}

/// Deletes those of the next inputs of redemptions that name the customer: without the names they would give another answer. Returns the
/// last position, or `None` at the end.
fn erase_inputs(
    store: &mut Store<'_>,
    identity: &CustomerIdentity,
    after: i64,
    rows: i64,
    deleted: &mut Vec<(i64, i64)>,
) -> Result<Option<i64>, Fault> {
    /// An input has the size of about ten documents, and is decompressed.
    const COST: i64 = 10;
    let limit = rows.checked_div(COST).unwrap_or(0).max(1);
    let inputs = redemptions::list_inputs_after(store, after, limit)?;
    let (texts, last) = (identity.texts_in_json(), inputs.last().map(|input| input.seq));
    let is_end = i64::try_from(inputs.len()).is_ok_and(|count| count < limit);
    let is_named = |text: &str| {
        Some(text) == identity.source_id.as_deref() || texts.iter().any(|searched| text.contains(searched))
    };
    // Paths and queries have their names encoded.
    let is_named = |text: &str| is_named(text) || is_named(&crate::http::query::decode(text));
    for InputText { seq, body } in inputs {
        if redemption_inputs::has_text(&body, &is_named) {
            redemptions::erase_input(store, seq);
            touch(deleted, seq);
        }
    }
    Ok(last.filter(|_| !is_end))
}

/// Processes the next webhook deliveries, which may name the customer; returns the last position, or `None` at the end.
fn erase_deliveries(
    store: &mut Store<'_>,
    identity: &CustomerIdentity,
    after: i64,
    limit: i64,
    changed: &mut Vec<(i64, i64)>,
) -> Result<Option<i64>, Fault> {
    let Some(RowRange { last, count }) = stored::find_deliveries(store, after, limit)? else { return Ok(None) };
    for NamingText { id: seq, text } in
        stored::list_deliveries_containing(store, &identity.texts_in_json(), after, last)?
    {
        if let Some(text) = revise(&text, &mut |body| identity.erase_named(body)) {
            stored::update_delivery(store, seq, text);
            touch(changed, seq);
        }
    }
    Ok((count >= limit).then_some(last))
}

/// Removes lines from the next export: those of the customer's documents, which have the alias by now, and those that name
/// the customer. Returns its position, or `None` at the end.
fn erase_lines(store: &mut Store<'_>, identity: &CustomerIdentity, own: i64, after: i64) -> Result<Option<i64>, Fault> {
    let Some(NamingText { id: seq, text: export }) = stored::find_next_export(store, after)? else { return Ok(None) };
    let found = stored::list_lines_naming(store, &export, &identity.texts_in_lines(), own, &identity.alias)?;
    let named = found.into_iter().filter(|line| line.is_own || identity.is_named_in_line(&line.text));
    let places: Vec<String> = named.map(|line| line.place).collect();
    if !places.is_empty() {
        // Complete lines are removed, even if only one part names the customer.
        stored::delete_lines(store, &export, &places);
    }
    Ok(Some(seq))
}

/// Returns the verified customer in the name of which a response was stored.
fn verified_customer(caller: &str) -> Option<String> {
    let caller: Vec<Json> = serde_json::from_str(caller).ok()?;
    caller.get(3).and_then(Json::as_str).map(str::to_owned)
}
