//! The bin: listed, and purged entry by entry. It must not know what deletes.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT};
use crate::document::onward::{self, Onward};
use crate::document::{resource, shapes};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get};
use crate::http::shape::{Kind, may};
use crate::shop::bin::ENTRY;
use serde_json::Value as Json;

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/trash-bin", "List what is in the bin", list)
        .of(&ENTRY)
        .listed(shapes::TOTAL_MORE_AND_NEXT)
        .scope("trash-bin")
        .query(&[
            LIMIT,
            may("order", Kind::OneOf(&["id", "-id"])),
            may("starting_after_id", KEY),
            may("filters", Kind::Map),
        ]),
    delete("/v1/trash-bin/{binEntryId}", "Purge an entry of the bin", resource::remove)
        .of(&ENTRY)
        .scope("trash-bin")
        .answers(204, shapes::EMPTY),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let place = |id: &str| {
        let statement = "SELECT seq FROM document WHERE kind = 'bin_entry' AND id = +?1";
        call.store.row(statement, &[id.into()])
    };
    let clause = || Clause::of_kind(ENTRY.object);
    let found = onward::select(&ENTRY.list, call.store, &call.query, clause(), ("an entry of the bin", &place))?;
    let Onward { documents, has_more } = found;
    let total = ENTRY.list.count(call.store, &call.query, clause())?;
    let mut envelope = onward::envelope((ENTRY.show)(call, documents)?, has_more);
    envelope.insert("total".into(), total.into());
    Ok(Answer::json(Json::Object(envelope)))
}
