//! The bundle: what a client needs to decide offline. A signed head, which names the core by its hash; and the bytes of a hash, for
//! any caller.

use crate::access::bundle_head::{self, JOSE};
use crate::access::bundle_parts::{self, IMMUTABLE};
use crate::documents::shapes;
use crate::domain::bundle::core::BundleProject;
use crate::domain::bundle::head;
use crate::domain::clock;
use crate::http::caller::CredentialClass;
use crate::http::route::{Call, HandlerResult, Response, Route, get};
use crate::store::bundle_heads;

/// Example of a head.
const EXAMPLE: &str = "eyJhbGciOiJFZERTQSIsImtpZCI6IlVzN0F1SGRHIiwidHlwIjoic2NyaXAtYnVuZGxlK2p3dCJ9.eyJpc3MiOiJwcm9qXzEiLCJmbXQiOjJ9.c2lnbmF0dXJl";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/client/v1/bundle", "Get the head of the offline bundle", show_head)
        .for_classes(&[CredentialClass::Client, CredentialClass::OAuth])
        .scope("bundle")
        .file(JOSE, EXAMPLE)
        .or_answers(304, shapes::EMPTY)
        .describe(
            "getBundle",
            "Returns the head of the bundle, with which a client decides validations and qualifications without the server: a compact JWS (`EdDSA`, type `scrip-bundle+jwt`) by a signing key of the project. Its claim `core` names the rules by their SHA-256, at `GET /client/v1/bundle/{projectId}/{hash}`. The other claims: `iss` is the project and `fmt` the format 2. `decides` and `writes` are the versions of the engine's verdicts and bytes. `epoch` and `rev` never decrease. `from` and `to` (milliseconds since 1970) are the horizon: the time for which the rules contain every offer in force that clients may know, at most 12 hours. `iat` and `exp` (seconds since 1970) are 24 hours apart. `left_out` lists the kinds that are not complete: `campaigns` beyond the newest 1,000, `products` where there are more than 1,000 products or SKUs. The header `ETag` names the head: a call with `If-None-Match` is answered with 304 while nothing has changed. A change of the rules is in the head a few seconds later. The first call of a project starts the build, and is refused with `bundle_not_ready`: repeat it after the seconds of `Retry-After`. An untrusted origin is refused with `forbidden`, wrong credentials with `unauthorized`.",
        )
        .returns("The head as a compact JWS, named by the header `ETag`."),
    get("/client/v1/bundle/{projectId}/{hash}", "Get a part of the offline bundle", show_part)
        .for_classes(&[CredentialClass::Bundle])
        .answers(200, shapes::bundle::CORE_DOCUMENT)
        .describe(
            "getBundlePart",
            "Returns the bytes of a hash that a head names: the core, with the rules. The address is public and needs no credentials; pages of any origin may read it, and caches may keep the response forever. A core above 512 kB is an index, which lists the hashes of parts: the bytes of the parts in order are the rules, and a part alone is not JSON. The rules contain the offers in force within the horizon of the head. Public vouchers are those of `STANDALONE` campaigns, named by hashes of their codes; counts, balances and customers are not included. Bytes that no head has named for 48 hours are removed. An unknown project and an unknown hash are refused with `not_found`.",
        )
        .returns("The core, its index, or a part of it."),
];

/// Answers the head. The entry answers it from its copy in KV; here it is built if it is out of date, for calls that the entry passes on:
/// those with a customer's token, which only the object can check.
fn show_head(call: &mut Call<'_, '_>) -> HandlerResult {
    let time_zone = clock::zone_setting(call)?;
    let project = BundleProject { id: &call.caller.project, settings: &call.caller.settings, time_zone };
    let head = head::current(call.store, call.context, &project)?;
    Ok(bundle_head::respond(&head.jws, call.request))
}

/// Answers the bytes of a hash.
fn show_part(call: &mut Call<'_, '_>) -> HandlerResult {
    let hash = call.param(bundle_parts::HASH);
    let found = bundle_heads::find_part(call.store, hash)?.ok_or_else(|| bundle_parts::unknown(hash))?;
    let mut answer = Response::bytes(found.into_bytes());
    answer.headers.push(("cache-control", IMMUTABLE.to_owned()));
    Ok(answer)
}
