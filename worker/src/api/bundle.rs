//! The bundle, by which a client decides offline: a signed head, which names the core by its hash; and the bytes of a hash, for
//! any caller.

use crate::access::bundle_head::{self, JOSE};
use crate::access::bundle_parts::{self, IMMUTABLE};
use crate::access::feed;
use crate::documents::common_fields::{KEY, LIMIT, PAGE};
use crate::documents::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::documents::shapes;
use crate::documents::shapes::bundle::offers::BUNDLE_OFFER;
use crate::domain::bundle::goods_tree::{BucketSearch, NoBucket};
#[cfg(feature = "test-hooks")]
use crate::domain::bundle::project::BundleProject;
use crate::domain::bundle::{build_job, head, offers};
#[cfg(feature = "test-hooks")]
use crate::domain::clock;
use crate::domain::stacking_rules::check_project;
use crate::http::caller::CredentialClass;
use crate::http::reply::invalid_query;
use crate::http::route::{Call, HandlerResult, Response, Route, get, refused_but_written};
use crate::store::bundle_heads;
use crate::store::documents::campaigns;
use scrip::shape::may;
use scrip::wire::problem::shortened;
use serde_json::json;

/// Example of a head.
const EXAMPLE: &str = "eyJhbGciOiJFZERTQSIsImtpZCI6IlVzN0F1SGRHIiwidHlwIjoic2NyaXAtYnVuZGxlK2p3dCJ9.eyJpc3MiOiJwcm9qXzEiLCJmbXQiOjJ9.c2lnbmF0dXJl";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/client/v1/bundle", "Get the head of the offline bundle", get_head)
        .for_classes(&[CredentialClass::Client, CredentialClass::OAuth])
        .scope("bundle")
        .file(JOSE, EXAMPLE)
        .or_answers(304, shapes::EMPTY)
        .describe(
            "getBundle",
            "Returns the head of the bundle, with which a client decides validations and qualifications without the server: a compact JWS (`EdDSA`, type `scrip-bundle+jwt`) by a signing key of the project. Its claim `core` names the rules by their SHA-256, at `GET /client/v1/bundle/{projectId}/{hash}`. The other claims: `iss` is the project and `fmt` the format 2. `decides` and `writes` are the versions of the engine's verdicts and bytes. `epoch` and `rev` never decrease. `from` and `to` (milliseconds since 1970) are the horizon: the time for which the rules contain every offer in force that clients may know, at most 12 hours. `iat` and `exp` (seconds since 1970) are 24 hours apart. `left_out` lists the kinds that are not complete: `offers` beyond the newest 5,000, `collections` and `categories` beyond the same number, `codes` while keys of sealed codes are being derived, where more than 1,000 codes without a campaign are sealed by default, and beyond the newest 5,000 codes without a campaign that have a visibility of their own or 1,000 codes that have ended, `goods` while the buckets of products and SKUs are not built. `goods` has the `root` of their tree and the number of `buckets`, at `GET /client/v1/bundle/{projectId}/goods/{root}/{bucket}`; it is absent while they are not built. The header `ETag` names the head: a call with `If-None-Match` is answered with 304 while nothing has changed. A change of the rules is in the head a few seconds later. The first call of a project starts the build, and is refused with `bundle_not_ready`: repeat it after the seconds of `Retry-After`. An untrusted origin is refused with `forbidden`, wrong credentials with `unauthorized`.",
        )
        .returns("The head as a compact JWS, named by the header `ETag`."),
    get(feed::PATH, "Open the feed of the offline bundle", refuse_plain_call)
        .for_classes(&[CredentialClass::Client, CredentialClass::OAuth])
        .scope("bundle")
        .answers(101, shapes::EMPTY)
        .describe(
            "openBundleFeed",
            "Opens a WebSocket, over which the service sends each new head of the bundle as a text message; the first message is the present head, where there was one since the feed began. The request must have the headers of a WebSocket (`Upgrade: websocket`); without them it is refused with 426. A page cannot add other headers there, so the key travels in `Sec-WebSocket-Protocol`: `scrip, <id>, <token>`, or `scrip, <token>` for an OAuth token; the response selects `scrip`. The key and the header `Origin` are checked as for any call of a client. The connection proves nothing about the messages: a client verifies each head like one of `GET /client/v1/bundle`. What the client sends is ignored, except `ping`, which is answered with `pong`; a message of more than 64 bytes closes the connection with 1009. A change of the key closes it with 1008. With the first head after 24 hours, or after the end of an OAuth token, the service closes it with 1001; the client opens a new one. Beyond 1,000 connections of a project, or the connections that the host has, the request is refused with 503.",
        )
        .returns("The connection is a WebSocket."),
    get("/client/v1/bundle/{projectId}/{hash}", "Get a part of the offline bundle", get_part)
        .for_classes(&[CredentialClass::Bundle])
        .answers(200, shapes::bundle::CORE_DOCUMENT)
        .describe(
            "getBundlePart",
            "Returns the bytes of a hash that a head names: the core, with the rules. Pages of any origin may read the response, and caches may keep it forever. A core above 512 kB is an index, which lists the hashes of parts: the bytes of the parts in order are the rules, and a single part is not JSON. The rules contain the offers in force within the horizon of the head whose effective `visibility` is not `server`. Public vouchers are listed with their codes. Sealed ones, of `STANDALONE` campaigns or without a campaign, are in `sealed_codes`: boxes that only their codes open. Counts, balances and customers are not included. Bytes that no head has named for 48 hours are removed. An unknown project and an unknown hash are refused with `not_found`.",
        )
        .returns("The core, its index, or a part of it."),
    get("/client/v1/bundle/{projectId}/goods/{root}/{bucket}", "Get a goods bucket of the offline bundle", get_bucket)
        .for_classes(&[CredentialClass::Bundle])
        .query(&[may(bundle_parts::HAVE, KEY).description("SHA-256 of the bytes of the bucket that the caller has, in lower-case hexadecimal digits.")])
        .answers(200, shapes::bundle::GOODS_ANSWER)
        .describe(
            "getBundleGoods",
            "Returns a goods bucket of the bundle: the products and SKUs whose ID or `source_id` belongs to it. The claim `goods` of a head has the `root` of a tree of hashes and the number of `buckets`, a power of two. A name belongs to the bucket whose number is the first bits of the SHA-256 of the name. Products and SKUs that the bucket of their name does not list do not exist. `path` proves the bucket: the hash of the bytes of `goods`, joined with the hashes of `path` in their order, gives the root; each hash is the SHA-256 of two neighbours, whose order the bits of the number give, beginning with the last. With `have`, the hash of the bucket that the caller has of another root, the answer contains only the path if the bucket is the same. Pages of any origin may read the response, and caches may keep it forever. Buckets that no tree has had for 48 hours are removed. An unknown project, root or number is refused with `not_found`, and a `have` that is no hash with `invalid_query_params`.",
        )
        .returns("The path of the bucket, and the bucket."),
    get("/management/v1/projects/{projectId}/bundle", "List what clients may know of the offers", list_offers)
        .for_classes(&[CredentialClass::Management])
        .query(&[LIMIT, PAGE])
        .lists("data", BUNDLE_OFFER, shapes::TOTAL)
        .describe(
            "listBundleOffers",
            "Returns the offers of a project with their effective visibility at this moment and its reason, the newest first: promotion tiers and stacks, codes of standalone campaigns and codes without a campaign. A campaign with private codes is one entry for all of them. A code whose box can be guessed has the `warning` `WEAK_CODE`. A code that was visible and ended within 90 days keeps a sealed box that contains only this fact. Offers that are listed as received can be missing from the bundle where the claim `left_out` of its head names their kind. An unknown project is refused with `not_found`, a page above 100 with `invalid_query_params`.",
        )
        .returns("The offers of this page and the total."),
];

/// Largest page number of the list of offers.
const PAGE_MAX: i64 = 100;

/// Lists the offers with their visibility to clients.
fn list_offers(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let page = read_int(&call.query, "page", 1, PAGE_MAX)?.unwrap_or(1);
    // Saturates: beyond the type a page is empty.
    let documents = campaigns::list_offers(call.store, limit, page.saturating_sub(1).saturating_mul(limit))?;
    let lines = offers::describe(call.store, &documents, call.caller.settings.case_sensitive_codes, call.context.now)?;
    let total = campaigns::count_offers(call.store)?;
    Ok(Response::json(json!({ "object": "list", "data_ref": "data", "data": lines, "total": total })))
}

/// Returns the stored head to a call that the entry passes on: one with a customer's token, which only the object can check. No call
/// builds the bundle, so that none waits for a build; the first one of a project has it built by the alarm.
fn get_head(call: &mut Call<'_, '_>) -> HandlerResult {
    #[cfg(feature = "test-hooks")]
    if clock::is_set_by_test(call) {
        return build_for_test(call);
    }
    if let Some(head) = head::find_valid(call.store, call.context.now.millis())? {
        return Ok(bundle_head::respond(&head.jws, call.request));
    }
    build_job::demand_first(call.store, call.context, call.caller)?;
    let mut answer = refused_but_written(&bundle_head::not_ready(), call.request_id);
    answer.headers.push(("retry-after", bundle_head::RETRY_SECONDS.to_string()));
    Ok(answer)
}

/// Answers the head of a test's own time, at which no alarm builds it.
#[cfg(feature = "test-hooks")]
fn build_for_test(call: &mut Call<'_, '_>) -> HandlerResult {
    let time_zone = clock::zone_setting(call)?;
    let project = BundleProject { id: &call.caller.project, settings: &call.caller.settings, time_zone };
    let head = head::load_or_build(call.store, call.context, &project)?;
    Ok(bundle_head::respond(&head.jws, call.request))
}

/// Refuses a call that opens no WebSocket; the entry answers one that does.
fn refuse_plain_call(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut answer = refused_but_written(&feed::upgrade_required(), call.request_id);
    answer.headers.push(("upgrade", "websocket".to_owned()));
    Ok(answer)
}

/// Answers the bytes of a hash.
fn get_part(call: &mut Call<'_, '_>) -> HandlerResult {
    let hash = call.param(bundle_parts::HASH);
    let found = bundle_heads::find_part(call.store, hash)?.ok_or_else(|| bundle_parts::unknown(hash))?;
    Ok(immutable(found.into_bytes()))
}

/// Answers a goods bucket with its path, or only the path to a caller who has the bucket.
fn get_bucket(call: &mut Call<'_, '_>) -> HandlerResult {
    let have = call.query.parameter(bundle_parts::HAVE);
    if let Some(wrong) = have.filter(|have| !bundle_parts::is_hash(have)) {
        let wrong = shortened(wrong);
        let details = format!("{} `{wrong}` must be 64 lower-case hexadecimal digits", bundle_parts::HAVE);
        return Err(invalid_query(details).into());
    }
    let root = call.param("root");
    let unknown = || bundle_parts::unknown(root);
    let bucket = bundle_parts::bucket_of(&call.params).ok_or_else(unknown)?;
    let mut search = BucketSearch::new(root, bucket);
    loop {
        if let Some(known) = have.and_then(|have| search.answer_known(have)) {
            return Ok(immutable(known));
        }
        let part = bundle_heads::find_part(call.store, search.hash())?.ok_or_else(unknown)?;
        if let Some(found) = search.read(part.as_bytes()).map_err(|NoBucket| unknown())? {
            return Ok(immutable(found));
        }
    }
}

fn immutable(bytes: Vec<u8>) -> Response {
    let mut answer = Response::bytes(bytes);
    answer.headers.push(("cache-control", IMMUTABLE.to_owned()));
    answer
}
