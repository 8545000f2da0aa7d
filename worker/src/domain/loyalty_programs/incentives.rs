//! Incentives under both of their names: the older one is stored, and a benefit (the later name) is a view of it.

use crate::documents::resource::bodies_to_json;
use crate::documents::shapes::loyalty_gifts as shapes;
use crate::http::list_options::{List, column};
use crate::http::reply::CallError;
use crate::http::route::{Call, Resource};
use crate::store::document::{Document, DocumentBody};
use crate::store::documents::loyalty_programs::{BENEFIT_ACTIVITY_ID, BENEFIT_ACTIVITY_TYPE, BENEFIT_ID};
use crate::store::records::{EntityRecord, ObjectReference};
use serde_json::{Value as Json, json};

/// List of incentives, for both names.
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
    to_json: bodies_to_json,
    list: LIST,
};

/// Incentives as the resource `benefit`.
pub const BENEFIT: Resource = Resource {
    object: "benefit",
    shape: shapes::BENEFIT.described(),
    parameter: "benefitId",
    key: incentive_key,
    to_json: benefits_to_json,
    list: List {
        conditions: &[("id", BENEFIT_ID), column::NAME, column::STATUS, column::TYPE, column::CREATED_AT],
        ..LIST
    },
};

/// Returns the stored id of an incentive, from either of its ids.
pub fn incentive_id(id: &str) -> String {
    id.strip_prefix("lben_").map_or_else(|| id.to_owned(), |rest| format!("linc_{rest}"))
}

fn incentive_key(_: &Call<'_, '_>, name: &str) -> String {
    incentive_id(name)
}

/// Returns an incentive as a benefit.
fn as_benefit(mut body: DocumentBody) -> Json {
    let id = ObjectReference::of(&body).id().map(|id| id.replacen("linc_", "lben_", 1));
    let stock = match EntityRecord::of(&body).stock() {
        Some(left) => json!({ "type": "LIMITED", "limited": { "quantity": left } }),
        _ => json!({ "type": "UNLIMITED" }),
    };
    body.insert("id".into(), id.into());
    body.insert("stock".into(), stock);
    body.insert("object".into(), "benefit".into());
    Json::Object(body)
}

fn benefits_to_json(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    Ok(documents.into_iter().map(|document| as_benefit(document.body)).collect())
}

/// List of the activities of benefits, which are stored as those of incentives.
pub const BENEFIT_ACTIVITIES: List = List::by_cursor(
    &[column::AGE],
    &[("id", BENEFIT_ACTIVITY_ID), ("type", BENEFIT_ACTIVITY_TYPE), column::CREATED_AT],
);

/// Returns activities of incentives as those of benefits.
pub fn benefit_activities_to_json(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    Ok(documents.into_iter().map(|document| as_benefit_activity(document.body)).collect())
}

fn as_benefit_activity(mut body: DocumentBody) -> Json {
    let renamed = |value: Option<Json>, from: &str, to: &str| {
        value.as_ref().and_then(Json::as_str).map(|text| text.replacen(from, to, 1)).into()
    };
    let id: Json = renamed(body.remove("id"), "lainc_", "laben_");
    let benefit_id: Json = renamed(body.remove("incentive_id"), "linc_", "lben_");
    let activity_type: Json = renamed(body.remove("type"), "vl.incentive.", "vl.benefit.");
    body.extend([("id".into(), id), ("benefit_id".into(), benefit_id), ("type".into(), activity_type)]);
    if let Some(data) = body.get_mut("data").and_then(Json::as_object_mut)
        && let Some(Json::Object(incentive)) = data.remove("incentive")
    {
        data.insert("benefit".into(), as_benefit(incentive));
    }
    Json::Object(body)
}
