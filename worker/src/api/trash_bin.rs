//! The trash bin: list its entries, and purge them one by one.

use crate::documents::common_fields::{KEY, LIMIT};
use crate::documents::keyset_list::{self, KeysetPage};
use crate::documents::{resource, shapes};
use crate::domain::trash_bin::ENTRY;
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get};
use crate::http::shape::{FieldType, may};
use crate::store::document_list::clause::Clause;
use crate::store::documents::any_kind;
use serde_json::Value as Json;

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/trash-bin", "List the entries of the trash bin", list)
        .of(&ENTRY)
        .lists_resource(shapes::TOTAL_MORE_AND_NEXT)
        .scope("trash-bin")
        .describe(
            "listTrashBinEntries",
            "Returns the entries of campaigns, vouchers, products and SKUs that were deleted without `force`. The code or `source_id` of an entry stays taken until the entry is purged. An unknown filter or order is refused with `invalid_query_params`.",
        )
        .returns("The entries of this page, the total, and whether more follow.")
        .query(&[
            LIMIT,
            may("order", FieldType::OneOf(&["id", "-id"]))
                .description("Sort order by age. Default `-id`, the newest first."),
            may("starting_after_id", KEY).description("ID of an entry; the page begins with the next one."),
            may("filters", FieldType::Map).description(
                "Conditions on `id`, `resource_type`, `resource_name` and `resource_id`, each by operator, and the `junction` between them.",
            ),
        ]),
    delete("/v1/trash-bin/{binEntryId}", "Purge an entry of the trash bin", resource::remove)
        .of(&ENTRY)
        .scope("trash-bin")
        .answers(204, shapes::EMPTY)
        .describe(
            "deleteTrashBinEntry",
            "Removes an entry of the trash bin for good, so that its code or `source_id` can be used again. A deleted object cannot be restored, before or after. An unknown entry is refused with `not_found`.",
        )
        .returns("No content: the entry is removed."),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let place = |id: &str| any_kind::find_position(call.store, ENTRY.object, id);
    let clause = || Clause::of_kind(ENTRY.object);
    let found = keyset_list::select(&ENTRY.list, call.store, &call.query, clause(), "an entry of the bin", &place)?;
    let KeysetPage { documents, has_more } = found;
    let total = ENTRY.list.count(call.store, &call.query, clause())?;
    let mut envelope = keyset_list::envelope((ENTRY.to_json)(call, documents)?, has_more);
    envelope.insert("total".into(), total.into());
    Ok(Response::json(Json::Object(envelope)))
}
