//! The stacking rules of a project, from its first day. It must not know how they are applied.

use crate::document::resource::{self, plain_key};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, Resource};
use crate::moment;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::id::Ids;
use serde_json::{Map, Value as Json, json};

/// Stacking rules as a resource.
pub const STACKING_RULES: Resource = Resource {
    object: "stacking_rules",
    shape: shapes::rules::STACKING_RULES.described(),
    parameter: "stackingRulesId",
    key: plain_key,
    show: resource::show_body,
    list: List { data_ref: "data", page_max: 100, orders: &[], filters: &[], conditions: &[] },
};

/// What holds where a project has written nothing.
pub fn default_rules() -> Map<String, Json> {
    let rules = json!({
        "exclusive_categories": [], "joint_categories": [], "redeemables_limit": 30, "applicable_redeemables_limit": 5,
        "applicable_redeemables_per_category_limit": null, "applicable_redeemables_category_limits": {},
        "applicable_exclusive_redeemables_limit": 1, "applicable_exclusive_redeemables_per_category_limit": null,
        "discount_calculation_mode": "DISCOUNTED_AMOUNT", "initial_amount_mode_categories": [], "discounted_amount_mode_categories": [],
        "redeemables_application_mode": "ALL", "redeemables_sorting_rule": "REQUESTED_ORDER",
        "redeemables_products_application_mode": "STACK", "redeemables_no_effect_rule": "REDEEM_ANYWAY", "no_effect_skip_categories": [],
        "no_effect_redeem_anyway_categories": [], "redeemables_rollback_order_mode": "WITH_ORDER",
        "grouped_redeemables_sorting_rule": "JOINT_ALWAYS_LAST",
    });
    rules.as_object().cloned().unwrap_or_default()
}

/// The key of the set that a project begins with, as long as nobody has changed it: whoever creates one has it in its place.
pub const BEGUN: &str = "begun";

/// Gives a project that begins the set that it begins with, so that there is one to be changed.
pub fn begin(store: &mut Store<'_>, context: &Context, ids: &mut Ids) {
    let document = Document { key: Some(BEGUN.into()), ..new(ids, context, Map::new()) };
    store.insert(STACKING_RULES.object, &document);
}

/// The stored set of a project, when it has one.
pub fn stored(store: &Store<'_>) -> Result<Option<Document>, Fault> {
    let found = store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = 'stacking_rules' ORDER BY seq LIMIT 1",
        &[],
    )?;
    Ok(found.into_iter().next())
}

/// A set of rules that begins now.
pub fn new(ids: &mut Ids, context: &Context, sent: Map<String, Json>) -> Document {
    let id = ids.hex18("stk_").to_string();
    let now_ms = context.now.millis();
    let mut body = default_rules();
    body.extend(sent);
    body.insert("id".into(), id.clone().into());
    body.insert("created_at".into(), moment::text(now_ms).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), "stacking_rules".into());
    Document { id, key: None, parent: None, holder: None, created_at: now_ms, updated_at: None, body }
}

/// A project manages itself and no other.
pub fn check_project(call: &Call<'_, '_>) -> Result<(), CallError> {
    let named = call.param("projectId");
    if named == call.caller.project { Ok(()) } else { Err(not_found("project", named).into()) }
}
