//! Publications requested by query parameters, as links and simple integrations do.
//!
//! The published API allows this only for keys of integrations. Here a merchant creates its own keys, and any server key may
//! use it.

use crate::api::publications::publications;
use crate::api::publications::publications::publish_requested;
use crate::documents::common_fields::{CUSTOMER_OBJECT, KEY};
use crate::documents::shapes;
use crate::http::reply::{CallError, ErrorBody, error, invalid_query, of_query, transport_error};
use crate::http::route::{Call, HandlerResult, Response, Route, get};
use crate::http::shape::{FieldType, may, must};
use serde_json::{Map, Value as Json};

/// The routes of the area.
pub const ROUTES: &[Route] = &[get("/v1/publications/create", "Publish a voucher by query parameters", create)
    .describe(
        "createPublicationFromQuery",
        "Assigns one voucher to a customer like a publication with a body, for integrations that can only follow a link. This GET request writes: the customer becomes the holder, and webhook events follow. A `source_id` that was used before returns the earlier publication. A `count` above 1 is refused with `too_many_vouchers_requested`, a voucher with a holder with `voucher_already_published`.",
    )
    .returns("The publication and its voucher.")
    .writes_on_get()
    .scope("publications")
    .query(&[
        may("join_once", FieldType::Bool)
            .description("`true` to return the earlier publication if the customer already has one of this campaign. Default `false`."),
        may("voucher", KEY).description("Code or ID of the voucher to publish. Takes precedence over `campaign`."),
        may(
            "campaign",
            FieldType::Object(&[
                must("name", KEY).description("Name or ID of the campaign."),
                may("count", FieldType::Int(1, 50))
                    .description("Number of vouchers to publish. Only 1 is accepted, which is the default."),
            ]),
        )
        .description("Campaign from which a voucher is published. Required without `voucher`."),
        may("source_id", KEY)
            .description("Identifier of the publication in the caller's system. A repeated value returns the earlier publication."),
        must("customer", CUSTOMER_OBJECT)
            .description("Customer to receive the voucher, with `id` or `source_id`. The customer is updated as sent, or created."),
        may("metadata", FieldType::Map),
    ])
    .answers(200, shapes::vouchers::PUBLICATION)];

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    if call.request.method == "HEAD" {
        let mut refusal = transport_error(405, "HTTP Method Not Allowed", "a publication is asked for with GET");
        refusal.allow = Some("GET, OPTIONS".into());
        return Err(refusal.into());
    }
    let publication = publications::read_request(call, body_of_query(call)?).map_err(of_query)?;
    let request = &publication.request;
    if request.voucher.is_none() && request.campaign.is_none() {
        return Err(publications::missing_vouchers().into());
    }
    if request.count > 1 {
        let message = "Only up to 1 can be published";
        return Err(error(400, "too_many_vouchers_requested", "Too many vouchers requested", message).into());
    }
    // An equal name identifies one publication, which is returned again.
    if let Some(source_id) = &request.source_id
        && let Some(known) = call.store.document_by_name("publication", source_id, "")?
    {
        return Ok(Response::json(Json::Object(known.body)));
    }
    Ok(Response::json(publish_requested(call, publication)?))
}

/// Converts the parameters to a body.
fn body_of_query(call: &Call<'_, '_>) -> Result<Map<String, Json>, CallError> {
    let mut body = Map::new();
    for (path, value) in call.query.pairs() {
        let (Some(first), path) = (path.first(), path.get(1..).unwrap_or_default()) else { continue };
        match first.as_str() {
            "voucher" | "source_id" if path.is_empty() => drop(body.insert(first.clone(), value.into())),
            "campaign" if path.is_empty() => drop(body.insert(first.clone(), value.into())),
            "campaign" | "customer" | "metadata" => {
                insert_at(body.entry(first.clone()).or_insert(Json::Null), path, value, first)?
            }
            _ => {}
        }
    }
    Ok(body)
}

/// Sets a value at a path of members: integers where expected, texts otherwise.
fn insert_at(target: &mut Json, path: &[String], value: &str, first: &str) -> Result<(), ErrorBody> {
    let Some((name, rest)) = path.split_first() else {
        let message = format!("Property .{first} must be an object, as `{first}[name]=` (actual value is `{value}`)");
        return Err(invalid_query(message));
    };
    if !target.is_object() {
        *target = Json::Object(Map::new());
    }
    let Some(members) = target.as_object_mut() else { return Ok(()) };
    if rest.is_empty() {
        let number = (first == "campaign" && name == "count").then(|| value.parse::<i64>().ok()).flatten();
        members.insert(name.clone(), number.map_or_else(|| value.into(), Json::from));
        return Ok(());
    }
    insert_at(members.entry(name.clone()).or_insert(Json::Null), rest, value, first)
}
