//! What a page may publish, to whom and how often: its key is public, so that whoever opens the shop can ask. It must not know
//! how codes are chosen.
//!
//! A customer whom a token proves gets one publication of a campaign. Anybody else is counted by address, campaign and day, and
//! where nobody says the address, the key is.

use crate::http::publishing::Publishing;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::Call;
use crate::moment;
use crate::shop::customers;
use crate::shop::publications::Receiver;
use crate::store::document::Document;
use crate::store::sql;
use crate::store::tracking::Tracker;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

/// Publications of one campaign to one address on one day (UTC).
pub const TO_AN_ADDRESS: i64 = 1;
/// Publications of one campaign through one key on one day (UTC) to addresses that are not known.
pub const THROUGH_A_KEY: i64 = 100;

const DAY_MS: i64 = 86_400_000;
/// Rows of days that are over, which leave with one publication.
const SWEPT: i64 = 200;

/// Whether a page may publish codes of a campaign; a server may publish any.
pub fn allows(call: &Call<'_, '_>, campaign: Option<&Document>) -> bool {
    let name = campaign.and_then(|campaign| campaign.key.as_deref());
    let names: Vec<&str> = campaign.map(|campaign| campaign.id.as_str()).into_iter().chain(name).collect();
    let publishing: &Publishing = &call.caller.publish;
    call.page.is_none() || publishing.allows(&names)
}

/// A page publishes one code at a time.
pub fn check_count(count: u64) -> Result<(), Problem> {
    if count <= 1 { Ok(()) } else { Err(Problem::bound("campaign.count", "must be <= 1", &count.to_string())) }
}

/// Who is meant by a customer that was sent, written down as far as whoever asks may do so.
pub fn receive(call: &mut Call<'_, '_>, sent: Map<String, Json>) -> Result<Receiver, CallError> {
    match &call.page {
        Some(page) if !page.is_believed() => name(call, &sent),
        Some(_) | None => Ok(Receiver::of(customers::upsert(call, sent)?)),
    }
}

/// A customer whom a page only names: the publication says so, nothing is written of anybody who is known, and of whoever is not
/// the name alone.
fn name(call: &mut Call<'_, '_>, sent: &Map<String, Json>) -> Result<Receiver, CallError> {
    let text = |name: &str| sent.get(name).and_then(Json::as_str).map(str::to_owned);
    let source_id = text("source_id");
    let by_id = match text("id") {
        Some(id) => call.store.document("customer", &id)?,
        None => None,
    };
    let known = match (by_id, source_id.as_deref()) {
        (None, Some(source_id)) => call.store.document_by_name("customer", source_id, "")?,
        (known, _) => known,
    };
    let customer = match (known, source_id.as_deref()) {
        (None, Some(source_id)) => Some(customers::introduce(call, source_id)),
        (known, Some(_)) => {
            // As many ids are drawn as for somebody who is not known: those that follow tell nothing of it.
            let _ = customers::next_id(call);
            known
        }
        (known, None) => known,
    };
    Ok(Receiver { customer, source_id, holds: false })
}

/// Counts a publication from a page to somebody who has proven nothing, at the commit, and refuses one too many. `place` is the
/// campaign, or a voucher without one.
pub fn count(call: &mut Call<'_, '_>, place: &str) -> Result<(), CallError> {
    if call.page.as_ref().is_none_or(|page| page.proven.is_some()) {
        return Ok(());
    }
    let day = call.now_ms().checked_div_euclid(DAY_MS).unwrap_or(0);
    let (who, most) = match call.caller.address.as_deref() {
        Some(address) => (format!("address {address}"), TO_AN_ADDRESS),
        None => (format!("key {}", call.caller.key_id), THROUGH_A_KEY),
    };
    // Neither can an address be read from what is stored, nor can it be followed from one day or campaign to another.
    let who = Tracker::stored(call.store)?.counted_as(&format!("{day} {place}"), &who)?;
    let row = call.store.row(
        "SELECT count FROM handed_out WHERE day = +?1 AND place = +?2 AND who = +?3",
        &[day.into(), place.into(), who.clone().into()],
    )?;
    if row.map_or(Ok(0), |row| sql::int(&row, 0))? >= most {
        return Err(too_many(call.now_ms(), day, most).into());
    }
    call.store.write(
        "INSERT INTO handed_out (day, place, who, count) VALUES (?1, ?2, ?3, 1)
         ON CONFLICT (day, place, who) DO UPDATE SET count = count + 1",
        vec![day.into(), place.into(), who.into()],
    );
    call.store.write(
        "DELETE FROM handed_out WHERE (day, place, who) IN
           (SELECT day, place, who FROM handed_out WHERE day < ?1 ORDER BY day LIMIT +?2)",
        vec![day.into(), SWEPT.into()],
    );
    Ok(())
}

fn too_many(now_ms: i64, day: i64, most: i64) -> ErrorBody {
    let tomorrow_ms = day.saturating_add(1).saturating_mul(DAY_MS);
    let told = format!(
        "at most {most} of a campaign can be published from here on one day; the next from {}",
        moment::text(tomorrow_ms)
    );
    let mut body = error(429, "too_many_publications", "Too many publications", told);
    body.retry_after = Some(moment::seconds_until(now_ms, tomorrow_ms));
    body
}
