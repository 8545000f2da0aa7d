//! Async actions: list and get. It must not know what any of them does.

use crate::document::clause::Clause;
use crate::document::filter::read_moment;
use crate::document::list::read_int;
use crate::document::resource::{self, plain_key};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::route::{Answer, Call, Outcome, Resource, Route, get};
use crate::http::shape::{Kind, may};
use serde_json::{Value as Json, json};

/// Async actions as a resource.
pub const ASYNC_ACTION: Resource = Resource {
    object: "async_action",
    shape: shapes::project::ASYNC_ACTION.described(),
    parameter: "asyncActionId",
    key: plain_key,
    show: resource::show_body,
    list: List { data_ref: "async_actions", page_max: 100, orders: &[], filters: &[], conditions: &[] },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/async-actions", "List async actions", list)
        .of(&ASYNC_ACTION)
        .listed(shapes::MORE)
        .scope("async-actions")
        .query(&[crate::document::fields::LIMIT, may("end_date", Kind::DateTime)]),
    get("/v1/async-actions/{asyncActionId}", "Get an async action with its result", resource::get)
        .of(&ASYNC_ACTION)
        .scope("async-actions"),
];

/// The list has no total and shows no results; its cursor is a date.
fn list(call: &mut Call<'_, '_>) -> Outcome {
    let limit = read_int(&call.query, "limit", 1, crate::document::list::LIMIT_MAX)?
        .unwrap_or(crate::document::list::LIMIT_DEFAULT);
    let mut clause = Clause::of_kind(ASYNC_ACTION.object);
    if let Some(at) = read_moment(&call.query, &["end_date"])? {
        clause.made_before(at);
    }
    let page = ASYNC_ACTION.list.select(call.store, &call.query, clause)?;
    let shown: Vec<Json> = page
        .documents
        .into_iter()
        .map(|mut document| {
            document.body.remove("result");
            Json::Object(document.body)
        })
        .collect();
    Ok(Answer::json(
        json!({ "object": "list", "data_ref": "async_actions", "async_actions": shown, "has_more": page.total > limit }),
    ))
}
