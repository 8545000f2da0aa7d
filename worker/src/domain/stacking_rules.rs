//! Stacking rules of a project, with the defaults.

use crate::documents::resource::{self, plain_key};
use crate::documents::shapes;
use crate::http::list_options::List;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, RequestBody, Resource};
use crate::store::Store;
use crate::store::document::{Document, DocumentBody};
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::Context;
use scrip::id::Ids;
use serde_json::{Map, Value as Json, json};

/// Stacking rules as a resource.
pub const STACKING_RULES: Resource = Resource {
    object: "stacking_rules",
    shape: shapes::rules::STACKING_RULES.described(),
    parameter: "stackingRulesId",
    key: plain_key,
    to_json: resource::bodies_to_json,
    list: List { data_ref: "data", page_max: 100, orders: &[], filters: &[], conditions: &[] },
};

/// Returns the default stacking rules.
pub fn default_rules() -> DocumentBody {
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

/// Key of the initial stacking rules until they are changed: rules that a caller creates replace them.
pub const INITIAL_KEY: &str = "begun";

/// Creates the initial stacking rules of a new project.
pub fn insert_defaults(store: &mut Store<'_>, context: &Context, ids: &mut Ids) {
    let document = Document { key: Some(INITIAL_KEY.into()), ..new_document(ids, context, Map::new()) };
    store.insert(STACKING_RULES.object, &document);
}

/// Returns the stored stacking rules of a project.
pub fn load(store: &Store<'_>) -> Result<Option<Document>, Fault> {
    store.find_first(STACKING_RULES.object)
}

/// Returns new stacking rules with the sent members.
pub fn new_document(ids: &mut Ids, context: &Context, sent: RequestBody) -> Document {
    let id = ids.hex18("stk_").to_string();
    let now_ms = context.now.millis();
    let mut body = default_rules();
    body.extend(sent);
    body.insert("id".into(), id.clone().into());
    body.insert("created_at".into(), timestamp::text(now_ms).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), "stacking_rules".into());
    Document { id, key: None, parent: None, holder: None, created_at: now_ms, updated_at: None, body }
}

/// Refuses the id of another project.
pub fn check_project(call: &Call<'_, '_>) -> Result<(), CallError> {
    let named = call.param("projectId");
    if named == call.caller.project { Ok(()) } else { Err(not_found("project", named).into()) }
}
