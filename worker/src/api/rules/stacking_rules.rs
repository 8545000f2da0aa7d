//! The stacking rules of a project: at most one set. It must not know how they are applied.

use crate::document::list::List;
use crate::document::resource::{self, Resource, plain_key};
use crate::document::shapes;
use crate::http::reply::{CallError, ErrorBody, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, Nulls};
use crate::moment;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::id::Ids;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

const FIELDS: &[Field] = scrip::wire::stacking::FIELDS;

/// Stacking rules as a resource.
pub const STACKING_RULES: Resource = Resource {
    object: "stacking_rules",
    shape: shapes::rules::STACKING_RULES,
    parameter: "stackingRulesId",
    key: plain_key,
    show: resource::show_body,
    list: List { data_ref: "data", page_max: 100, orders: &[], filters: &[], conditions: &[] },
};

const MANAGEMENT: &[crate::access::auth::Class] = &[crate::access::auth::Class::Management];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/management/v1/projects/{projectId}/stacking-rules", "List the stacking rules of a project", list)
        .of(&STACKING_RULES)
        .listed(shapes::TOTAL)
        .listed(shapes::TOTAL)
        .for_classes(MANAGEMENT),
    post("/management/v1/projects/{projectId}/stacking-rules", "Create the stacking rules of a project", create)
        .of(&STACKING_RULES)
        .for_classes(MANAGEMENT)
        .body(FIELDS),
    get("/management/v1/projects/{projectId}/stacking-rules/{stackingRulesId}", "Get stacking rules", read)
        .of(&STACKING_RULES)
        .for_classes(MANAGEMENT),
    put("/management/v1/projects/{projectId}/stacking-rules/{stackingRulesId}", "Update stacking rules", update)
        .of(&STACKING_RULES)
        .for_classes(MANAGEMENT)
        .body(FIELDS),
    delete(
        "/management/v1/projects/{projectId}/stacking-rules/{stackingRulesId}",
        "Reset stacking rules to the default",
        remove,
    )
    .of(&STACKING_RULES)
    .for_classes(MANAGEMENT)
    .answers(204, shapes::EMPTY),
];

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

/// Gives a project that begins the set that it begins with.
pub fn begin(store: &mut Store<'_>, context: &Context, ids: &mut Ids) {
    let document = new(ids, context, Map::new());
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

fn new(ids: &mut Ids, context: &Context, sent: Map<String, Json>) -> Document {
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

fn list(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let shown = stored(call.store)?.map_or_else(default_rules, |document| document.body);
    Ok(Answer::json(Json::Object(STACKING_RULES.list.envelope(vec![Json::Object(shown)], 1))))
}

fn read(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    resource::get(call)
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let sent = call.body(Nulls::Dropped)?;
    if stored(call.store)?.is_some() {
        let told = "Cannot exist more stacking rules for given project";
        return Err(error(409, "stacking_rules_exist", "Stacking rules exist", told).into());
    }
    let document = new(&mut call.ids, call.context, sent);
    check(&document.body)?;
    call.store.insert(STACKING_RULES.object, &document);
    Ok(Answer::json(Json::Object(document.body)))
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let sent = call.body(Nulls::Kept)?;
    let mut document = STACKING_RULES.find(call)?;
    let defaults = default_rules();
    for (name, value) in sent {
        // A null puts a field back to its default.
        let value = if value.is_null() { defaults.get(&name).cloned().unwrap_or(Json::Null) } else { value };
        document.body.insert(name, value);
    }
    check(&document.body)?;
    call.touch(&mut document);
    call.store.update(STACKING_RULES.object, &document);
    Ok(Answer::json(Json::Object(document.body)))
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    check_project(call)?;
    let document = STACKING_RULES.find(call)?;
    call.store.remove(STACKING_RULES.object, &document.id);
    Ok(Answer::empty(204))
}

/// The rules between the fields.
fn check(body: &Map<String, Json>) -> Result<(), ErrorBody> {
    let number = |name: &str| body.get(name).and_then(Json::as_i64);
    for (lesser, greater) in [
        ("applicable_redeemables_limit", "redeemables_limit"),
        ("applicable_redeemables_per_category_limit", "applicable_redeemables_limit"),
        ("applicable_exclusive_redeemables_per_category_limit", "applicable_exclusive_redeemables_limit"),
    ] {
        if let (Some(value), Some(limit)) = (number(lesser), number(greater))
            && value > limit
        {
            let text = format!("must be <= {limit}, the {greater} (actual value is `{value}`)");
            return Err(Problem::at(lesser, text).into());
        }
    }
    for (one, other) in [
        ("no_effect_skip_categories", "no_effect_redeem_anyway_categories"),
        ("exclusive_categories", "joint_categories"),
        ("initial_amount_mode_categories", "discounted_amount_mode_categories"),
    ] {
        let listed =
            |name: &str| body.get(name).and_then(Json::as_array).into_iter().flatten().cloned().collect::<Vec<Json>>();
        let others = listed(other);
        if let Some(shared) = listed(one).into_iter().find(|category| others.contains(category)) {
            let text = format!(
                "must NOT share a category with {other} (actual value is `{}`)",
                shared.as_str().unwrap_or_default()
            );
            return Err(Problem::at(one, text).into());
        }
    }
    Ok(())
}
