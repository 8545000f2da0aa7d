//! Categories of campaigns and vouchers: create, get, list, change, delete.

use crate::documents::common_fields::KEY;
use crate::documents::resource;
use crate::documents::shapes;
use crate::domain::categories;
use crate::domain::categories::{CATEGORY, HIERARCHY_DEFAULT};
use crate::http::reply::{CallError, duplicate, error};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, INT_MAX, Nulls, may, must};
use crate::store::document_list::clause::Clause;
use crate::store::documents::campaigns;
use crate::store::records::CategoryRecord;
use serde_json::Value as Json;

const CREATE: &[Field] = &[
    must("name", KEY).description("Name of the category, unique in the project."),
    may("hierarchy", FieldType::Int(0, INT_MAX))
        .description("Rank of the category; a lower number comes first. Used if the stacking rules sort by `CATEGORY_HIERARCHY`. Default 1."),
];
const CHANGES: &[Field] = &[
    may("name", KEY).description("Name of the category, unique in the project. `null` leaves the name as is."),
    may("hierarchy", FieldType::Int(0, INT_MAX))
        .description("Rank of the category; a lower number comes first. `null` leaves the rank as is."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/categories", "List categories", list)
        .describe(
            "listCategories",
            "Returns all categories of the project, the newest first, without pages.",
        )
        .returns("All categories and their number.")
        .of(&CATEGORY)
        .lists_resource(shapes::TOTAL)
        .scope("categories"),
    post("/v1/categories", "Create a category", create)
        .describe(
            "createCategory",
            "Creates a category for campaigns, vouchers, promotion tiers and stacks, which stacking rules refer to. A name that is in use is refused with `duplicate_found`, a malformed body with `invalid_payload`.",
        )
        .returns("The new category.")
        .of(&CATEGORY)
        .scope("categories")
        .body(CREATE),
    get("/v1/categories/{categoryId}", "Get a category by ID or name", resource::get)
        .describe("getCategory", "Returns one category. An unknown ID or name is refused with `not_found`.")
        .returns("The category.")
        .of(&CATEGORY)
        .scope("categories"),
    put("/v1/categories/{categoryId}", "Update a category", update)
        .describe(
            "updateCategory",
            "Changes the name or the rank of a category. Campaigns and vouchers of the category show the new name at once. A name that is in use is refused with `duplicate_found`. A new name for a category of more than 5,000 campaigns and vouchers is refused with `request_too_complex`.",
        )
        .returns("The category after the change.")
        .of(&CATEGORY)
        .scope("categories")
        .body(CHANGES),
    delete("/v1/categories/{categoryId}", "Delete a category", resource::remove)
        .describe(
            "deleteCategory",
            "Deletes the category. Campaigns, vouchers, tiers and stacking rules that refer to the category are not changed. An unknown ID or name is refused with `not_found`.",
        )
        .returns("No content. The category is deleted.")
        .of(&CATEGORY)
        .scope("categories")
        .answers(204, shapes::EMPTY),
];

/// Lists every category on one page, the newest first.
fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let found = CATEGORY.list.select_all(call.store, Clause::of_kind(CATEGORY.object))?;
    let total = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let categories = resource::bodies_to_json(call, found)?;
    Ok(Response::json(Json::Object(CATEGORY.list.envelope(categories, total))))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let name = CategoryRecord::of(&body).name().unwrap_or_default().to_owned();
    check_name_free(call, &name)?;
    let hierarchy = CategoryRecord::of(&body).hierarchy().unwrap_or(HIERARCHY_DEFAULT);
    let category = categories::create(call, &name, hierarchy);
    Ok(Response::json(Json::Object(category.body)))
}

/// Checks that a name is free: categories are found by name, so names are unique.
fn check_name_free(call: &Call<'_, '_>, name: &str) -> Result<(), CallError> {
    match call.store.document_by_name(CATEGORY.object, name, "")? {
        Some(_) => Err(duplicate(CATEGORY.object, "name", name).into()),
        None => Ok(()),
    }
}

/// Maximum number of campaigns and vouchers that are updated with a category's name.
const RENAMED_MAX: i64 = 5_000;

/// Refuses to rename a category with so many members that the object would be busy for long.
fn check_count(call: &Call<'_, '_>, id: &str) -> Result<(), CallError> {
    // One row more than the limit: it exists if the limit is exceeded.
    let count = campaigns::count_of_category(call.store, id, RENAMED_MAX.saturating_add(1))?;
    if count <= RENAMED_MAX {
        return Ok(());
    }
    let message = format!(
        "Property .name must NOT change for a category of more than {RENAMED_MAX} campaigns and vouchers, which show it (`{id}` has more)"
    );
    Err(error(400, "request_too_complex", "Request takes too much work", message).into())
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let mut category = CATEGORY.find(call)?;
    let name = CategoryRecord::of(&body).name().filter(|name| Some(*name) != category.key.as_deref());
    if let Some(name) = name {
        check_name_free(call, name)?;
        check_count(call, &category.id)?;
        category.key = Some(name.to_owned());
        // Campaigns and vouchers contain the name of their category, and lists find them by it.
        campaigns::update_category_name(call.store, &category.id, name);
    }
    category.body.extend(body);
    call.touch(&mut category);
    call.store.update(CATEGORY.object, &category);
    Ok(Response::json(Json::Object(category.body)))
}
