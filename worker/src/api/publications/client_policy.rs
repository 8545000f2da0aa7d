//! Limits of publications by clients, whose key is public: the campaigns, the receivers, and the number.
//!
//! A customer that a token proves gets one publication of a campaign. Other customers are counted by address, campaign and day or,
//! if the address is not known, by name. `join_once` applies to their names too.

use crate::access::quota::Quota;
use crate::documents::json_members;
use crate::domain::customers::customer;
use crate::domain::publications::PublicationReceiver;
use crate::http::client_publication_policy::ClientPublicationPolicy;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::Call;
use crate::store::access::quotas::{self, DailyPublications};
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use crate::timestamp;
use scrip::facts::named_publications_account;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

/// Maximum number of publications of one campaign on one day (UTC) to one address or, without a known address, to one name.
const DAILY_MAX: i64 = 1;
/// Quotas of publications through one key without a known address.
const QUOTAS_BY_NAME: [Quota; 2] = [
    Quota { name: "publications of a minute", window_ms: 60_000, most: 120 },
    Quota { name: "publications of a day", window_ms: DAY_MS, most: 10_000 },
];

const DAY_MS: i64 = 86_400_000;
/// Maximum number of rows of past days that one publication deletes.
const DELETED_MAX: i64 = 200;

/// Returns true if a client may publish codes of a campaign; a server may publish any.
pub fn may_publish(call: &Call<'_, '_>, campaign: Option<&Document>) -> bool {
    let name = campaign.and_then(|campaign| campaign.key.as_deref());
    let names: Vec<&str> = campaign.map(|campaign| campaign.id.as_str()).into_iter().chain(name).collect();
    let publishing: &ClientPublicationPolicy = &call.caller.publish;
    call.client.is_none() || publishing.allows(&names)
}

/// Checks that a client publishes one code at a time.
pub fn check_count(count: u64) -> Result<(), Problem> {
    if count <= 1 { Ok(()) } else { Err(Problem::bound("campaign.count", "must be <= 1", &count.to_string())) }
}

/// Returns the receiver that a sent customer names, and stores the fields that the caller may write.
pub fn read_receiver(call: &mut Call<'_, '_>, sent: Map<String, Json>) -> Result<PublicationReceiver, CallError> {
    match &call.client {
        Some(client) if !client.trusts_customer() => name_receiver(call, &sent),
        Some(_) | None => Ok(PublicationReceiver::new_holder(customer::upsert_named(call, sent)?)),
    }
}

/// Returns the receiver that a client only names, by `source_id`, as the publication states. Writes nothing about a stored customer, and
/// only the name of a new one.
fn name_receiver(call: &mut Call<'_, '_>, sent: &Map<String, Json>) -> Result<PublicationReceiver, CallError> {
    let source_id = sent.get("source_id").and_then(Json::as_str).unwrap_or_default().to_owned();
    let customer = match call.store.document_by_name("customer", &source_id, "")? {
        Some(known) => {
            // Generates as many ids as for an unknown customer, so that later ids do not reveal the difference.
            let _ = customer::generate_id(call);
            known
        }
        None => customer::create_named(call, &json_members::object_of("source_id", source_id.as_str().into())),
    };
    Ok(PublicationReceiver { customer: Some(customer), source_id: Some(source_id), holds: false })
}

/// Returns true if a client has published a code of a campaign, or a voucher without one, to a customer that it named.
pub fn has_published_to_name(call: &Call<'_, '_>, customer_id: &str, parent_id: &str) -> Result<bool, Fault> {
    let account = named_publications_account(customer_id, parent_id).to_string();
    Ok(call.store.account_balance(&account, call.now_ms())?.balance != 0)
}

/// Counts a publication from a client to an unverified customer when the call commits, and refuses one above the limit. `parent_id` is
/// the campaign, or a voucher without one.
pub fn count_publication(
    call: &mut Call<'_, '_>,
    receiver: &PublicationReceiver,
    parent_id: &str,
) -> Result<(), CallError> {
    if call.client.as_ref().is_none_or(|client| client.proven.is_some()) {
        return Ok(());
    }
    let day = call.now_ms().checked_div_euclid(DAY_MS).unwrap_or(0);
    let receiver_name = match (call.caller.address.as_deref(), receiver.source_id.as_deref()) {
        (Some(address), _) => format!("address {address}"),
        (None, name) => {
            consume_quota(call)?;
            format!("name {}", name.unwrap_or_default())
        }
    };
    // Neither an address nor a name can be derived from the stored value, and days and campaigns cannot be linked.
    let receiver_name = Tracker::load(call.store)?.pseudonym(&format!("{day} {parent_id}"), &receiver_name)?;
    let daily = DailyPublications { day, parent_id, receiver: &receiver_name };
    if quotas::find_publications(call.store, daily)? >= DAILY_MAX {
        return Err(too_many(call.now_ms(), day).into());
    }
    quotas::insert_publication(call.store, daily, DELETED_MAX);
    Ok(())
}

fn too_many(now_ms: i64, day: i64) -> ErrorBody {
    // Saturates at the end of time.
    let tomorrow_ms = day.saturating_add(1).saturating_mul(DAY_MS);
    let message = format!(
        "at most {DAILY_MAX} of a campaign can be published from here on one day; the next from {}",
        timestamp::text(tomorrow_ms)
    );
    refusal(message, timestamp::seconds_until(now_ms, tomorrow_ms))
}

/// Takes the quota of a client key, which is public, for publications to names, which create customers.
fn consume_quota(call: &mut Call<'_, '_>) -> Result<(), CallError> {
    let now_ms = call.now_ms();
    let Some(seconds) = Quota::take_of_all(&QUOTAS_BY_NAME, call.store, call.caller, now_ms)? else { return Ok(()) };
    let message = "more has been published from pages than is handed out; try again later";
    Err(refusal(message.into(), seconds).into())
}

fn refusal(message: String, retry_after: i64) -> ErrorBody {
    let mut body = error(429, "too_many_publications", "Too many publications", message);
    body.retry_after = Some(retry_after);
    body
}
