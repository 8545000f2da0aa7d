//! The trash bin: a document deleted without force has an entry there, and its name stays taken until the entry is purged
//! (docs/spec/objects.md#5).
//! The API has no way to restore a document, so only the entry is stored.

use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes;
use crate::http::list_options::List;
use crate::http::reply::{CallError, duplicate};
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use crate::store::document_list::column::member;
use crate::timestamp;
use serde_json::{Value as Json, json};

/// Entries of the trash bin as a resource.
pub const ENTRY: Resource = Resource {
    object: "bin_entry",
    shape: shapes::project::BIN_ENTRY.described(),
    parameter: "binEntryId",
    key: plain_key,
    to_json: bodies_to_json,
    list: List {
        data_ref: "data",
        page_max: 1,
        orders: &[],
        filters: &[],
        conditions: &[
            ("id", "id"),
            ("resource_type", member!("resource_type")),
            ("resource_name", member!("resource_name")),
            ("resource_id", member!("resource_id")),
        ],
    },
};

fn key(kind: &str, name: &str) -> String {
    format!("{kind}/{name}")
}

/// Queues an entry for a deleted document, unless the caller forces the deletion. The document's key reserves its name.
pub fn move_to_trash(call: &mut Call<'_, '_>, kind: &str, document: &Document, name: &str) {
    if call.query.is_true("force") {
        return;
    }
    let id = call.ids.hex18("tbe_").to_string();
    let body = json!({
        "id": id, "created_at": timestamp::text(call.now_ms()), "deleted_by_user_id": call.caller.user, "resource_id": document.id,
        "resource_type": kind, "resource_name": name, "resource_parent_id": document.parent, "object": kind,
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let reserved = document.key.as_deref().map(|name| key(kind, name));
    let mut entry = Document::new(id, reserved, call.now_ms(), body);
    entry.parent.clone_from(&document.parent);
    call.store.insert(ENTRY.object, &entry);
}

/// Refuses a name that an entry of the trash bin reserves.
pub fn check_name_free(call: &Call<'_, '_>, kind: &str, reserved: &str, by: &str, name: &str) -> Result<(), CallError> {
    match call.store.document_by_name(ENTRY.object, &key(kind, reserved), "")? {
        Some(_) => Err(duplicate(kind, by, name).into()),
        None => Ok(()),
    }
}

/// Returns the name of a catalogue document: its name, else its source_id, else its id.
pub fn name_of(document: &Document, name_field: &str) -> String {
    let names = [document.body.get(name_field), document.body.get("source_id")];
    let names = names.into_iter().flatten().find_map(Json::as_str);
    names.unwrap_or(&document.id).to_owned()
}
