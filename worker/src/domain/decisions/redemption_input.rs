//! Input of a redemption: its request, caller, instant and seed, and what it read. A replay decides it again.
//!
//! The text is compressed, and what needs a larger row is not kept. Docs: docs/design/replay.md.

use crate::access::client;
use crate::http::caller::{Caller, CredentialClass, Settings};
use crate::http::reply::CallError;
use crate::http::request::Request;
use crate::http::request_checks;
use crate::http::route::{Call, Route};
use crate::store::documents::redemptions::{self, NewInput};
use crate::store::read_recorder::ReadsByDigest;
use crate::store::redemption_inputs::{ROW_BYTES_MAX, compress, decompress, row_bytes, unreadable};
use crate::store::sql::{Fault, SqlRow, SqlValue};
use scrip::Context;
use scrip::bundle::{DECIDES, WRITES};
use scrip::model::client::ClientContext;
use scrip::text::{hex, sha256_hex};
use scrip::time::Instant;
use scrip::wire::project::client::client_policy_of;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Operation under which the host counts inputs; one that is too large is refused.
pub const OPERATION: &str = "redemption_input";

/// Number of digits of the digest of an answer.
const DIGEST_DIGITS: usize = 32;

/// Caller of a redemption, as far as its answer and its records depend on the caller.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct InputCaller {
    class: CredentialClass,
    key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    /// The customer that a token proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proven: Option<String>,
}

/// Input of a redemption.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RedemptionInput {
    /// The versions of the engine that decided and wrote.
    pub engine: [u32; 2],
    /// Time in milliseconds.
    now_ms: i64,
    seed: String,
    /// Number of the first record; `None` in inputs of earlier versions.
    #[serde(default)]
    first_number: Option<i64>,
    path: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    query: String,
    origin: String,
    body: String,
    caller: InputCaller,
    settings: Settings,
    status: u16,
    /// Digest of the answer.
    answer: String,
    /// Rows that it read, by digest.
    reads: Json,
}

/// Keeps the input of a redemption if its reads were recorded: queued after its record, which `redemption` names.
pub fn keep(call: &mut Call<'_, '_>, redemption: Option<&str>, status: u16, answer: &[u8]) -> Result<(), Fault> {
    let (Some(reads), Some(redemption)) = (call.store.take_reads(), redemption) else { return Ok(()) };
    let input = RedemptionInput::of(call, &reads, status, answer);
    let text = serde_json::to_vec(&input).map_err(|error| Fault(error.to_string()))?;
    let mut body = compress(&text).unwrap_or_default();
    let bytes = if body.is_empty() { text.len() } else { row_bytes(redemption, &body) };
    let is_too_large = bytes > ROW_BYTES_MAX;
    call.store.count_decision(OPERATION, is_too_large.then_some("too_large"));
    if is_too_large {
        call.store.warn(format!(
            "the input of the redemption `{redemption}` is not kept for a replay: it needs {bytes} bytes, and at most {ROW_BYTES_MAX} are kept"
        ));
        body.clear();
    }
    let created_at = call.now_ms();
    // A size in memory.
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    redemptions::insert_input(call.store, NewInput { redemption, created_at, bytes, body });
    call.store.mark_for_retention();
    Ok(())
}

/// Returns the digest by which a repeated answer is compared.
fn digest_of(answer: &[u8]) -> String {
    let mut digest = sha256_hex(answer);
    digest.truncate(DIGEST_DIGITS);
    digest
}

impl RedemptionInput {
    fn of(call: &Call<'_, '_>, reads: &ReadsByDigest, status: u16, answer: &[u8]) -> RedemptionInput {
        let Caller { class, key_id, channel, user, settings, .. } = call.caller;
        let proven = call.client.as_ref().and_then(|client| client.proven.as_deref().map(str::to_owned));
        // Members that no decision reads are left out.
        let settings =
            Settings { name: String::new(), address_header: None, changed_ms: 0, replay_days: 0, ..settings.clone() };
        RedemptionInput {
            engine: [DECIDES, WRITES],
            now_ms: call.now_ms(),
            seed: hex(&call.context.seed),
            first_number: call.context.first_number,
            path: call.request.path.clone(),
            query: call.request.query.clone(),
            origin: request_checks::origin(call.request).to_owned(),
            // The body was read as JSON, so it is UTF-8.
            body: String::from_utf8_lossy(&call.request.body).into_owned(),
            caller: InputCaller {
                class: *class,
                key: key_id.clone(),
                channel: channel.clone(),
                user: user.clone(),
                proven,
            },
            settings,
            status,
            answer: digest_of(answer),
            reads: reads.iter().map(|(digest, rows)| (digest.clone(), rows_to_json(rows))).collect(),
        }
    }

    /// Reads the text of a row.
    pub fn read(body: &str) -> Result<RedemptionInput, Fault> {
        serde_json::from_slice(&decompress(body)?).map_err(|error| unreadable(&error))
    }

    /// Returns the path of its route.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns its instant and seed.
    pub fn context(&self) -> Result<Context, Fault> {
        let now = Instant::from_millis(self.now_ms).ok_or_else(|| unreadable(&"the time is out of bounds"))?;
        let mut seed = [0; 32];
        let digits = self.seed.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap_or_default());
        let bytes = digits.map(|pair| u8::from_str_radix(pair, 16)).collect::<Result<Vec<u8>, _>>();
        let bytes = bytes.map_err(|error| unreadable(&error))?;
        if bytes.len() != seed.len() {
            return Err(unreadable(&"the seed has another length"));
        }
        seed.copy_from_slice(&bytes);
        Ok(Context { now, seed, first_number: self.first_number })
    }

    /// Returns its request as the service received it.
    pub fn request(&self) -> Request {
        Request {
            method: "POST".to_owned(),
            path: self.path.clone(),
            query: self.query.clone(),
            headers: vec![(request_checks::ORIGIN.to_owned(), self.origin.clone())],
            body: self.body.clone().into_bytes(),
        }
    }

    /// Returns its caller. What is not kept comes from `now`, the caller of the replay, and has no effect.
    pub fn caller(&self, now: &Caller) -> Caller {
        let InputCaller { class, key, channel, user, .. } = self.caller.clone();
        Caller { class, key_id: key, channel, user, settings: self.settings.clone(), ..now.clone() }
    }

    /// Returns the client that redeemed; `None` for a server.
    pub fn client(&self, route: &Route, caller: &Caller) -> Result<Option<ClientContext>, CallError> {
        if !client::is_client_call(route, caller) {
            return Ok(None);
        }
        let policy = client_policy_of(&self.settings.client).map_err(|problem| unreadable(&problem))?;
        let proven = self.caller.proven.as_deref().map(Into::into);
        Ok(Some(ClientContext { policy, proven, ..ClientContext::default() }))
    }

    /// Returns the reads.
    pub fn reads(&self) -> Result<ReadsByDigest, Fault> {
        let members = self.reads.as_object().into_iter().flatten();
        members.map(|(digest, rows)| Ok((digest.clone(), rows_of_json(rows)?))).collect()
    }

    /// Tests if a repeated answer is that of the redemption, byte for byte.
    pub fn is_answer(&self, status: u16, answer: &[u8]) -> bool {
        self.status == status && self.answer == digest_of(answer)
    }
}

fn rows_to_json(rows: &[SqlRow]) -> Json {
    let value = |value: &SqlValue| match value {
        SqlValue::Null => Json::Null,
        SqlValue::Int(number) => Json::from(*number),
        SqlValue::Text(text) => Json::from(text.as_str()),
    };
    rows.iter().map(|row| row.iter().map(value).collect::<Json>()).collect()
}

fn rows_of_json(rows: &Json) -> Result<Vec<SqlRow>, Fault> {
    let value = |value: &Json| match value {
        Json::Null => Ok(SqlValue::Null),
        Json::Number(number) => {
            number.as_i64().map(SqlValue::Int).ok_or_else(|| unreadable(&"a number is out of bounds"))
        }
        Json::String(text) => Ok(SqlValue::Text(text.clone())),
        Json::Bool(_) | Json::Array(_) | Json::Object(_) => Err(unreadable(&"a column has another type")),
    };
    let row = |row: &Json| row.as_array().into_iter().flatten().map(value).collect::<Result<SqlRow, Fault>>();
    rows.as_array().into_iter().flatten().map(row).collect()
}
