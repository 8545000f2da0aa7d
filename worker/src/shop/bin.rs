//! The bin: what was deleted without force has an entry there, and its name stays taken until that is purged (objects.md section 5).
//! Nothing that is published brings anything back, so that the entry is all that is kept. It must not know who deletes.

use crate::document::resource::{plain_key, show_body};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::{CallError, duplicate};
use crate::http::route::{Call, Resource};
use crate::moment;
use crate::store::document::Document;
use serde_json::{Value as Json, json};

/// Entries of the bin as a resource.
pub const ENTRY: Resource = Resource {
    object: "bin_entry",
    shape: shapes::project::BIN_ENTRY.described(),
    parameter: "binEntryId",
    key: plain_key,
    show: show_body,
    list: List {
        data_ref: "data",
        page_max: 1,
        orders: &[],
        filters: &[],
        conditions: &[
            ("id", "id"),
            ("resource_type", "json_extract(body, '$.resource_type')"),
            ("resource_name", "json_extract(body, '$.resource_name')"),
            ("resource_id", "json_extract(body, '$.resource_id')"),
        ],
    },
};

fn key(kind: &str, name: &str) -> String {
    format!("{kind}/{name}")
}

/// Notes at the commit that a document goes into the bin, under its name, unless the caller forces it away. What its name is taken by is
/// the document's key.
pub fn throw(call: &mut Call<'_, '_>, kind: &str, document: &Document, name: &str) {
    if call.query.is_true("force") {
        return;
    }
    let id = call.ids.hex18("tbe_").to_string();
    let body = json!({
        "id": id, "created_at": moment::text(call.now_ms()), "deleted_by_user_id": call.caller.user, "resource_id": document.id,
        "resource_type": kind, "resource_name": name, "resource_parent_id": document.parent, "object": kind,
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let taken = document.key.as_deref().map(|name| key(kind, name));
    let mut entry = Document::new(id, taken, call.now_ms(), body);
    entry.parent.clone_from(&document.parent);
    call.store.insert(ENTRY.object, &entry);
}

/// Refuses a name that something in the bin has.
pub fn check_free(call: &Call<'_, '_>, kind: &str, taken: &str, (by, name): (&str, &str)) -> Result<(), CallError> {
    match call.store.document_by_name(ENTRY.object, &key(kind, taken), "")? {
        Some(_) => Err(duplicate(kind, by, name).into()),
        None => Ok(()),
    }
}

/// What a document of the catalogue is called.
pub fn name_of(document: &Document, named: &str) -> String {
    let said = [document.body.get(named), document.body.get("source_id")];
    let said = said.into_iter().flatten().find_map(Json::as_str);
    said.unwrap_or(&document.id).to_owned()
}
