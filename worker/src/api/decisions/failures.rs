//! Which failed redemptions are kept, and what the service adds to them. It must not know why one failed.
//!
//! Every failure is answered alike; from a page, whose key is public, only so many are written down.

use crate::access::allowance::Allowance;
use crate::digest::sha256_hex;
use crate::http::route::Call;
use crate::store::sql::Fault;
use scrip::wire::redemption::Document;
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

/// Brings the documents of a failed redemption to what is kept of it: with a hash of the order, by which whoever sent it knows it
/// again, or nothing at all.
pub fn keep(call: &mut Call<'_, '_>, documents: &mut Vec<Document>) -> Result<(), Fault> {
    let now_ms = call.now_ms();
    if call.page.is_some() {
        for allowance in &KEPT {
            if !allowance.allows(call.store, call.caller, now_ms, 1)? {
                documents.clear();
                return Ok(());
            }
        }
        KEPT.iter().for_each(|allowance| allowance.take(call.store, call.caller, now_ms, 1));
    }
    let sent = serde_json::from_slice::<Sent<'_>>(&call.request.body).ok().and_then(|sent| sent.order);
    if let Some(order) = sent {
        let hash = sha256_hex(order.get().as_bytes());
        documents.iter_mut().for_each(|document| drop(document.body.insert("order_hash".into(), hash.as_str().into())));
    }
    call.store.leaves_later();
    Ok(())
}
