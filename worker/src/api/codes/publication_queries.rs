//! Publications that are asked for by parameters of a query, as links and simple integrations do. It must not know what a publication
//! does.
//!
//! The published interface opens this to keys of integrations alone. Here a shop makes its own keys: a server's may, whose server it is.

use crate::api::codes::publications::{self, publish_wanted};
use crate::document::fields::{BUYER, KEY};
use crate::document::shapes;
use crate::http::reply::{CallError, ErrorBody, error, invalid_query, of_query, transport_error};
use crate::http::route::{Answer, Call, Outcome, Route, get};
use crate::http::shape::{Kind, may, must};
use serde_json::{Map, Value as Json};

/// The routes of the area.
pub const ROUTES: &[Route] = &[get("/v1/publications/create", "Publish a voucher by parameters of a query", create)
    .writing()
    .scope("publications")
    .query(&[
        may("join_once", Kind::Bool),
        may("voucher", KEY),
        may("campaign", Kind::Object(&[must("name", KEY), may("count", Kind::Int(1, 50))])),
        may("source_id", KEY),
        must("customer", BUYER),
        may("metadata", Kind::Map),
    ])
    .answers(200, shapes::codes::PUBLICATION)];

fn create(call: &mut Call<'_, '_>) -> Outcome {
    if call.request.method == "HEAD" {
        let mut refusal = transport_error(405, "HTTP Method Not Allowed", "a publication is asked for with GET");
        refusal.allow = Some("GET, OPTIONS".into());
        return Err(refusal.into());
    }
    let wanted = publications::read_sent(call, sent(call)?).map_err(of_query)?;
    if wanted.voucher.is_none() && wanted.campaign.is_none() {
        return Err(publications::missing().into());
    }
    if wanted.count > 1 {
        let told = "Only up to 1 can be published";
        return Err(error(400, "too_many_vouchers_requested", "Too many vouchers requested", told).into());
    }
    // The same name means the same publication, which is told again.
    if let Some(source_id) = &wanted.source_id
        && let Some(known) = call.store.document_by_name("publication", source_id, "")?
    {
        return Ok(Answer::json(Json::Object(known.body)));
    }
    Ok(Answer::json(publish_wanted(call, &wanted)?))
}

/// The parameters as a body would have them.
fn sent(call: &Call<'_, '_>) -> Result<Map<String, Json>, CallError> {
    let mut body = Map::new();
    for (path, value) in call.query.pairs() {
        let (Some(first), path) = (path.first(), path.get(1..).unwrap_or_default()) else { continue };
        match first.as_str() {
            "voucher" | "source_id" if path.is_empty() => drop(body.insert(first.clone(), value.into())),
            "campaign" if path.is_empty() => drop(body.insert(first.clone(), value.into())),
            "campaign" | "customer" | "metadata" => {
                put(body.entry(first.clone()).or_insert(Json::Null), path, value, first)?
            }
            _ => {}
        }
    }
    Ok(body)
}

/// Puts a value at a path of members: whole numbers where one is wanted, texts otherwise.
fn put(place: &mut Json, path: &[String], value: &str, first: &str) -> Result<(), ErrorBody> {
    let Some((name, rest)) = path.split_first() else {
        let told = format!("Property .{first} must be an object, as `{first}[name]=` (actual value is `{value}`)");
        return Err(invalid_query(told));
    };
    if !place.is_object() {
        *place = Json::Object(Map::new());
    }
    let Some(members) = place.as_object_mut() else { return Ok(()) };
    if rest.is_empty() {
        let number = (first == "campaign" && name == "count").then(|| value.parse::<i64>().ok()).flatten();
        members.insert(name.clone(), number.map_or_else(|| value.into(), Json::from));
        return Ok(());
    }
    put(members.entry(name.clone()).or_insert(Json::Null), rest, value, first)
}
