//! Retention of failed redemptions, and the members that the service adds to them.
//!
//! Every failure has one form of response; of a client, whose key is public, only a limited number is stored.

use crate::access::quota::Quota;
use crate::constant_time::sha256_hex;
use crate::http::route::Call;
use crate::store::sql::Fault;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Maximum number of stored failures of one client key, in a minute and in a day.
const STORED_FAILURES: [Quota; 2] = [
    Quota { name: "failures of a minute", window_ms: 60_000, most: 60 },
    Quota { name: "failures of a day", window_ms: 86_400_000, most: 5_000 },
];

/// Order of a body, as the text that was sent.
#[derive(Deserialize)]
struct OrderBytes<'b> {
    #[serde(borrow)]
    order: Option<&'b RawValue>,
}

/// Returns a hash of the sent order, by which its sender can recognise it.
pub fn order_hash(call: &Call<'_, '_>) -> Option<String> {
    let body: OrderBytes<'_> = serde_json::from_slice(&call.request.body).ok()?;
    Some(sha256_hex(body.order?.get().as_bytes()))
}

/// Decides if a failed redemption is stored; a stored one is removed when its retention ends.
pub fn is_stored(call: &mut Call<'_, '_>) -> Result<bool, Fault> {
    let now_ms = call.now_ms();
    if call.client.is_some() {
        for quota in &STORED_FAILURES {
            if !quota.allows(call.store, call.caller, now_ms, 1)? {
                return Ok(false);
            }
        }
        STORED_FAILURES.iter().for_each(|quota| quota.take(call.store, call.caller, now_ms, 1));
    }
    call.store.mark_for_retention();
    Ok(true)
}
