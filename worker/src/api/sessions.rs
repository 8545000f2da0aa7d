//! The lock that a validation has set on a voucher: given back before its time. It must not know what it was set for.

use crate::api::vouchers;
use crate::reply::not_found;
use crate::route::{Answer, Call, Outcome, Route, delete};
use scrip::facts::redemptions_account;

/// The routes of the area.
pub const ROUTES: &[Route] =
    &[delete("/v1/vouchers/{code}/sessions/{sessionKey}", "Release a lock on a voucher", release)
        .scope("vouchers")
        .answers(204, "empty")];

/// Gives back what a key holds of one voucher, the customer's share of it included; what it holds of others stays.
fn release(call: &mut Call<'_, '_>) -> Outcome {
    let voucher = vouchers::find(call)?;
    let key = call.param("sessionKey").to_owned();
    let account = redemptions_account(&voucher.id).to_string();
    let held = call.store.row(
        "SELECT 1 FROM hold WHERE key = ?1 AND account = ?2 AND expires_at > ?3",
        &[key.as_str().into(), account.as_str().into(), call.now_ms().into()],
    )?;
    if held.is_none() {
        return Err(not_found("session", &key).into());
    }
    call.store.write(
        "DELETE FROM hold WHERE key = ?1 AND (account GLOB 'voucher/' || ?2 || '/*' OR account GLOB '*/of/' || ?2)",
        vec![key.into(), voucher.id.into()],
    );
    Ok(Answer::empty(204))
}
