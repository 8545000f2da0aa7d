//! Incentives as they are shown, under both of their names: the older one is stored, and the later one, a benefit, is a view of it. It
//! must not know who is given one.

use crate::document::resource::show_body;
use crate::document::shapes::loyalty_gifts as shapes;
use crate::http::listing::{List, column};
use crate::http::reply::CallError;
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use serde_json::{Map, Value as Json, json};

/// How incentives are listed, whatever they are called.
const LIST: List = List::by_cursor(
    &[column::AGE, column::NAME, column::TYPE],
    &[column::ID, column::NAME, column::STATUS, column::TYPE, column::CREATED_AT],
);

/// Incentives as a resource.
pub const INCENTIVE: Resource = Resource {
    object: "incentive",
    shape: shapes::INCENTIVE.described(),
    parameter: "incentiveId",
    key: incentive_key,
    show: show_body,
    list: LIST,
};

/// The same as benefits.
pub const BENEFIT: Resource = Resource {
    object: "benefit",
    shape: shapes::BENEFIT.described(),
    parameter: "benefitId",
    key: incentive_key,
    show: show_benefits,
    list: List {
        conditions: &[
            ("id", "replace(id, 'linc_', 'lben_')"),
            column::NAME,
            column::STATUS,
            column::TYPE,
            column::CREATED_AT,
        ],
        ..LIST
    },
};

/// The id under which an incentive is stored, from either of its ids.
pub fn incentive_id(id: &str) -> String {
    id.strip_prefix("lben_").map_or_else(|| id.to_owned(), |rest| ["linc_", rest].concat())
}

fn incentive_key(_: &Call<'_, '_>, name: &str) -> String {
    incentive_id(name)
}

/// An incentive as a benefit.
fn as_benefit(mut body: Map<String, Json>) -> Json {
    let id = body.get("id").and_then(Json::as_str).map(|id| id.replacen("linc_", "lben_", 1));
    let stock = match body.get("stock") {
        Some(Json::Number(left)) => json!({ "type": "LIMITED", "limited": { "quantity": left } }),
        _ => json!({ "type": "UNLIMITED" }),
    };
    body.insert("id".into(), id.into());
    body.insert("stock".into(), stock);
    body.insert("object".into(), "benefit".into());
    Json::Object(body)
}

fn show_benefits(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    Ok(documents.into_iter().map(|document| as_benefit(document.body)).collect())
}

/// How the activities of benefits are listed: they are written down as those of incentives.
pub const BENEFIT_ACTIVITIES: List = List::by_cursor(
    &[column::AGE],
    &[
        ("id", "replace(id, 'lainc_', 'laben_')"),
        ("type", "replace(json_extract(body, '$.type'), 'vl.incentive.', 'vl.benefit.')"),
        column::CREATED_AT,
    ],
);

/// What happened to incentives, as what happened to benefits.
pub fn show_benefit_activities(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    Ok(documents.into_iter().map(|document| as_benefit_activity(document.body)).collect())
}

fn as_benefit_activity(mut body: Map<String, Json>) -> Json {
    let renamed = |value: Option<Json>, from: &str, to: &str| {
        value.as_ref().and_then(Json::as_str).map(|text| text.replacen(from, to, 1)).into()
    };
    let id: Json = renamed(body.remove("id"), "lainc_", "laben_");
    let about: Json = renamed(body.remove("incentive_id"), "linc_", "lben_");
    let what: Json = renamed(body.remove("type"), "vl.incentive.", "vl.benefit.");
    body.extend([("id".into(), id), ("benefit_id".into(), about), ("type".into(), what)]);
    if let Some(data) = body.get_mut("data").and_then(Json::as_object_mut)
        && let Some(Json::Object(incentive)) = data.remove("incentive")
    {
        data.insert("benefit".into(), as_benefit(incentive));
    }
    Json::Object(body)
}
