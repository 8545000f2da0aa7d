//! Async actions: list and get.

use crate::documents::filter::read_instant;
use crate::documents::list::read_int;
use crate::documents::resource::{self, plain_key};
use crate::documents::shapes;
use crate::http::list_options::List;
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, get};
use crate::http::shape::{FieldType, may};
use crate::store::document_list::clause::Clause;
use serde_json::{Value as Json, json};

/// Async actions as a resource.
pub const ASYNC_ACTION: Resource = Resource {
    object: "async_action",
    shape: shapes::project::ASYNC_ACTION.described(),
    parameter: "asyncActionId",
    key: plain_key,
    to_json: resource::bodies_to_json,
    list: List { data_ref: "async_actions", page_max: 100, orders: &[], filters: &[], conditions: &[] },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/async-actions", "List async actions", list)
        .of(&ASYNC_ACTION)
        .lists_resource(shapes::MORE)
        .scope("async-actions")
        .describe(
            "listAsyncActions",
            "Returns async actions without their results, newest first. `end_date` continues with earlier ones. An async action is removed 30 days after its start. A wrong parameter is refused with `invalid_query_params`.",
        )
        .returns("The async actions of this page, and whether more follow.")
        .query(&[
            crate::documents::common_fields::LIMIT,
            may("end_date", FieldType::DateTime)
                .description("Moment in UTC: only async actions created before that moment are listed."),
        ]),
    get("/v1/async-actions/{asyncActionId}", "Get an async action", resource::get)
        .of(&ASYNC_ACTION)
        .scope("async-actions")
        .describe(
            "getAsyncAction",
            "Returns an async action with its progress and, once it is finished, its result. An unknown or removed async action is refused with `not_found`.",
        )
        .returns("The async action with its result."),
];

/// Lists async actions without a total and without results; the cursor is a date.
fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let limit = read_int(&call.query, "limit", 1, crate::documents::list::LIMIT_MAX)?
        .unwrap_or(crate::documents::list::LIMIT_DEFAULT);
    let mut clause = Clause::of_kind(ASYNC_ACTION.object);
    if let Some(at) = read_instant(&call.query, &["end_date"])? {
        clause.made_before(at);
    }
    let page = ASYNC_ACTION.list.select(call.store, &call.query, clause)?;
    let items: Vec<Json> = page
        .documents
        .into_iter()
        .map(|mut document| {
            document.body.remove("result");
            Json::Object(document.body)
        })
        .collect();
    Ok(Response::json(
        json!({ "object": "list", "data_ref": "async_actions", "async_actions": items, "has_more": page.total > limit }),
    ))
}
