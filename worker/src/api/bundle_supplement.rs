//! The supplement of a bundle, for the client of one customer.

use crate::access::bundle_head::{self, JOSE};
use crate::access::client;
use crate::domain::decisions::bundle_supplement::{self, VerifiedToken};
use crate::http::caller::CredentialClass;
use crate::http::route::{Call, HandlerResult, Response, Route, get};

/// Example of a supplement.
const EXAMPLE: &str = "eyJhbGciOiJFZERTQSIsImtpZCI6IlVzN0F1SGRHIiwidHlwIjoic2NyaXAtc3VwcGxlbWVudCtqd3QifQ.eyJpc3MiOiJwcm9qXzEiLCJmbXQiOjJ9.c2lnbmF0dXJl";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/client/v1/bundle/me", "Get the supplement of a customer", get_supplement)
        .for_classes(&[CredentialClass::Client, CredentialClass::OAuth])
        .scope("bundle")
        .file(JOSE, EXAMPLE)
        .describe(
            "getBundleSupplement",
            "Returns what the customer of the header `X-Customer-Token` adds to the bundle: a compact JWS (`EdDSA`, type `scrip-supplement+jwt`) by the key that signs the bundle. Its claim `core` is the SHA-256 of the core that it belongs to, and `th` the SHA-256 of the token. `facts` has the tracking ID of the customer, the numbers of the conditions in the core that the customer meets, and the customer's own counts of the offers in the core: in total, and since the beginning of the day, week and month. It also has the vouchers of which the customer is the holder, with the campaigns, rules and balances that deciding needs; `own_candidates` declares that these are all that a qualification lists for the customer. It contains no profile, and at most 8 kB. `exp` is at most 5 minutes after `iat`, and not after the end of the token; it is earlier when a condition or the points of a card are about to change. A client stores it only in memory, and discards it when the customer redeems or locks. A call without a token is refused with `invalid_customer_token`, an untrusted origin with `forbidden`, wrong credentials with `unauthorized`. A project whose bundle was never built is answered 503 (`bundle_not_ready`), with the header `Retry-After`.",
        )
        .returns("The supplement as a compact JWS."),
];

fn get_supplement(call: &mut Call<'_, '_>) -> HandlerResult {
    let (customer, text, end) = client::verified_token(call)?;
    let token = VerifiedToken { customer: &customer, text: &text, end };
    let signed = bundle_supplement::sign(call, token)?.ok_or_else(bundle_head::not_ready)?;
    let mut answer = Response::bytes(signed.into_bytes());
    answer.headers.push(("content-type", JOSE.to_owned()));
    answer.headers.push(("cache-control", "no-store".to_owned()));
    Ok(answer)
}
