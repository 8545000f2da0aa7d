//! Categories of campaigns and vouchers: create, get, list, change, delete. It must not know what stacking makes of them.

use crate::document::clause::Clause;
use crate::document::fields::KEY;
use crate::document::resource;
use crate::document::shapes;
use crate::http::reply::{CallError, duplicate, error};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, INT_MAX, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::categories::CATEGORY;
use crate::store::document::Document;
use crate::store::sql;
use serde_json::{Value as Json, json};

/// Where a category stands that does not say so (objects.md, section 13).
const HIERARCHY_DEFAULT: i64 = 1;

const CREATE: &[Field] = &[must("name", KEY), may("hierarchy", Kind::Int(0, INT_MAX))];
const CHANGES: &[Field] = &[may("name", KEY), may("hierarchy", Kind::Int(0, INT_MAX))];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/categories", "List categories", list).of(&CATEGORY).listed(shapes::TOTAL).scope("categories"),
    post("/v1/categories", "Create a category", create).of(&CATEGORY).scope("categories").body(CREATE),
    get("/v1/categories/{categoryId}", "Get a category by id or name", resource::get).of(&CATEGORY).scope("categories"),
    put("/v1/categories/{categoryId}", "Rename a category or rank it anew", update)
        .of(&CATEGORY)
        .scope("categories")
        .body(CHANGES),
    delete("/v1/categories/{categoryId}", "Delete a category", resource::remove)
        .of(&CATEGORY)
        .scope("categories")
        .answers(204, shapes::EMPTY),
];

/// The list has no pages: it shows every category, the newest first.
fn list(call: &mut Call<'_, '_>) -> Outcome {
    let found = CATEGORY.list.select_all(call.store, Clause::of_kind(CATEGORY.object))?;
    let total = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let shown = resource::show_body(call, found)?;
    Ok(Answer::json(Json::Object(CATEGORY.list.envelope(shown, total))))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let name = body.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
    check_free(call, &name)?;
    let id = call.ids.hex18("cat_").to_string();
    let whole = json!({
        "id": id, "name": name, "hierarchy": body.get("hierarchy").and_then(Json::as_i64).unwrap_or(HIERARCHY_DEFAULT),
        "created_at": moment::text(call.now_ms()), "updated_at": null, "object": "category",
    });
    let whole = whole.as_object().cloned().unwrap_or_default();
    let category = Document::new(id, Some(name), call.now_ms(), whole);
    call.store.insert(CATEGORY.object, &category);
    Ok(Answer::json(Json::Object(category.body)))
}

/// A category is found by its name, so that a name means one.
fn check_free(call: &Call<'_, '_>, name: &str) -> Result<(), CallError> {
    match call.store.document_by_name(CATEGORY.object, name, "")? {
        Some(_) => Err(duplicate(CATEGORY.object, "name", name).into()),
        None => Ok(()),
    }
}

/// Campaigns and codes that a change of a category's name changes as well, at most.
const RENAMED_MAX: i64 = 5_000;

/// Refuses to rename what so many are in that the object would be held for long.
fn check_few(call: &Call<'_, '_>, id: &str) -> Result<(), CallError> {
    let row = call.store.row(
        "SELECT COUNT(*) FROM (SELECT 1 FROM document WHERE kind IN ('campaign', 'voucher') AND json_extract(body, '$.category_id') = +?1 LIMIT +?2)",
        &[id.into(), RENAMED_MAX.saturating_add(1).into()],
    )?;
    let count = row.map_or(Ok(0), |row| sql::int(&row, 0))?;
    if count <= RENAMED_MAX {
        return Ok(());
    }
    let told = format!(
        "Property .name must NOT change for a category of more than {RENAMED_MAX} campaigns and vouchers, which show it (`{id}` has more)"
    );
    Err(error(400, "request_too_complex", "Request takes too much work", told).into())
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let mut category = CATEGORY.find(call)?;
    let name = body.get("name").and_then(Json::as_str).filter(|name| Some(*name) != category.key.as_deref());
    if let Some(name) = name {
        check_free(call, name)?;
        check_few(call, &category.id)?;
        category.key = Some(name.to_owned());
        // Campaigns and vouchers show the name of their category, and lists find them by it.
        call.store.write(
            "UPDATE document SET body = json_set(body, '$.category', ?2)
             WHERE kind IN ('campaign', 'voucher') AND json_extract(body, '$.category_id') = +?1",
            vec![category.id.as_str().into(), name.into()],
        );
    }
    category.body.extend(body);
    call.touch(&mut category);
    call.store.update(CATEGORY.object, &category);
    Ok(Answer::json(Json::Object(category.body)))
}
