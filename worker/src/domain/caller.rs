//! Describes the caller of a decision.

use crate::http::route::Call;
use scrip::model::client::ClientContext;
use scrip::model::request::Channel;

/// Returns the channel of a call, as redemptions contain it.
pub fn channel(call: &Call<'_, '_>) -> Channel {
    let client = call.client.clone();
    if is_engine_comparison(call) {
        return Channel { client, ..Channel::default() };
    }
    let id = call.caller.channel.as_deref().unwrap_or(&call.caller.key_id);
    Channel { id: id.into(), client, user: call.caller.user.as_deref().map(Into::into) }
}

/// Returns true if the customer of the call is verified: by a server call, or by a client that the project trusts.
pub fn trusts_customer(call: &Call<'_, '_>) -> bool {
    call.client.as_ref().is_none_or(ClientContext::trusts_customer)
}

/// Returns true if a test compares the answer with that of the engine, byte for byte.
pub fn is_engine_comparison(call: &Call<'_, '_>) -> bool {
    cfg!(feature = "test-hooks") && crate::http::request_checks::header(call.request, "scrip-test-seed").is_some()
}
