//! The stacking rules of a project: at most one set.

use crate::documents::resource;
use crate::documents::shapes;
use crate::domain::stacking_rules;
use crate::domain::stacking_rules::{INITIAL_KEY, STACKING_RULES, check_project, default_rules, load};
use crate::http::reply::{ErrorBody, error};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, Nulls};
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

const FIELDS: &[Field] = scrip::wire::project::stacking::FIELDS;

const MANAGEMENT: &[crate::http::caller::CredentialClass] = &[crate::http::caller::CredentialClass::Management];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/management/v1/projects/{projectId}/stacking-rules", "List the stacking rules of a project", list)
        .describe(
            "listStackingRules",
            "Returns the stacking rules of a project as a list of one element: the stored rules, or the defaults without an ID. Another project is refused with `not_found`.",
        )
        .returns("A list with the only stacking rules of the project.")
        .of(&STACKING_RULES)
        .lists_resource(shapes::TOTAL)
        .lists_resource(shapes::TOTAL)
        .for_classes(MANAGEMENT),
    post("/management/v1/projects/{projectId}/stacking-rules", "Create the stacking rules of a project", create)
        .describe(
            "createStackingRules",
            "Replaces the initial stacking rules of a project by the fields that are sent; absent fields have their defaults. The rules apply at once to validations and redemptions. A project with rules that were created or changed before is refused with `stacking_rules_exist`. Limits or categories that contradict each other are refused with `invalid_payload`.",
        )
        .returns("The new stacking rules.")
        .of(&STACKING_RULES)
        .for_classes(MANAGEMENT)
        .body(FIELDS),
    get("/management/v1/projects/{projectId}/stacking-rules/{stackingRulesId}", "Get stacking rules", read)
        .describe(
            "getStackingRules",
            "Returns the stacking rules of a project. An unknown ID, and another project, are refused with `not_found`.",
        )
        .returns("The stacking rules.")
        .of(&STACKING_RULES)
        .for_classes(MANAGEMENT),
    put("/management/v1/projects/{projectId}/stacking-rules/{stackingRulesId}", "Update stacking rules", update)
        .describe(
            "updateStackingRules",
            "Changes the fields that are sent; `null` resets a field to its default. The rules apply at once to validations and redemptions. An unknown ID is refused with `not_found`. Limits or categories that contradict each other are refused with `invalid_payload`.",
        )
        .returns("The stacking rules after the change.")
        .of(&STACKING_RULES)
        .for_classes(MANAGEMENT)
        .body(FIELDS),
    delete(
        "/management/v1/projects/{projectId}/stacking-rules/{stackingRulesId}",
        "Reset stacking rules to the defaults",
        remove,
    )
    .describe(
        "deleteStackingRules",
        "Deletes the stacking rules and gives the project initial rules with the defaults and a new ID, which apply at once. Rules can then be created again. An unknown ID, and another project, are refused with `not_found`.",
    )
    .returns("No content. The project has the default rules.")
    .of(&STACKING_RULES)
    .for_classes(MANAGEMENT)
    .answers(204, shapes::EMPTY),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let rules = load(call.store)?.map_or_else(default_rules, |document| document.body);
    Ok(Response::json(Json::Object(STACKING_RULES.list.envelope(vec![Json::Object(rules)], 1))))
}

fn read(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    resource::get(call)
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let sent = call.body(Nulls::Dropped)?;
    let known = load(call.store)?;
    if known.as_ref().is_some_and(|known| known.key.as_deref() != Some(INITIAL_KEY)) {
        let message = "Cannot exist more stacking rules for given project";
        return Err(error(409, "stacking_rules_exist", "Stacking rules exist", message).into());
    }
    let document = stacking_rules::new_document(&mut call.ids, call.context, sent);
    check(&document.body)?;
    if let Some(initial) = known {
        call.store.delete(STACKING_RULES.object, &initial.id);
    }
    call.store.insert(STACKING_RULES.object, &document);
    Ok(Response::json(Json::Object(document.body)))
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let sent = call.body(Nulls::Kept)?;
    let mut document = STACKING_RULES.find(call)?;
    let defaults = default_rules();
    for (name, value) in sent {
        // A null resets a field to its default.
        let value = if value.is_null() { defaults.get(&name).cloned().unwrap_or(Json::Null) } else { value };
        document.body.insert(name, value);
    }
    check(&document.body)?;
    document.key = None;
    call.touch(&mut document);
    call.store.update(STACKING_RULES.object, &document);
    Ok(Response::json(Json::Object(document.body)))
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    check_project(call)?;
    let document = STACKING_RULES.find(call)?;
    call.store.delete(STACKING_RULES.object, &document.id);
    stacking_rules::insert_defaults(call.store, call.context, &mut call.ids);
    Ok(Response::empty(204))
}

/// Checks the rules between the fields.
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
