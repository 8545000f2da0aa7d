//! Which failed redemptions are kept, and what the service adds to them. It must not know why one failed.
//!
//! Every failure is answered alike; from a page, whose key is public, only so many are written down.

use crate::access::allowance::Allowance;
use crate::digest::sha256_hex;
use crate::http::route::Call;
use crate::store::sql::Fault;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Failures of one page's key that are kept, of a minute and of a day.
const KEPT: [Allowance; 2] = [
    Allowance { name: "failures of a minute", window_ms: 60_000, most: 60 },
    Allowance { name: "failures of a day", window_ms: 86_400_000, most: 5_000 },
];

/// The order in a body, in the letters in which it was sent.
#[derive(Deserialize)]
struct Sent<'b> {
    #[serde(borrow)]
    order: Option<&'b RawValue>,
}

/// A hash of the order that was sent, by which whoever sent it knows it again.
pub fn order_hash(call: &Call<'_, '_>) -> Option<String> {
    let sent: Sent<'_> = serde_json::from_slice(&call.request.body).ok()?;
    Some(sha256_hex(sent.order?.get().as_bytes()))
}

/// Whether a failed redemption is kept; one that is leaves again when its time is over.
pub fn is_kept(call: &mut Call<'_, '_>) -> Result<bool, Fault> {
    let now_ms = call.now_ms();
    if call.page.is_some() {
        for allowance in &KEPT {
            if !allowance.allows(call.store, call.caller, now_ms, 1)? {
                return Ok(false);
            }
        }
        KEPT.iter().for_each(|allowance| allowance.take(call.store, call.caller, now_ms, 1));
    }
    call.store.leaves_later();
    Ok(true)
}
