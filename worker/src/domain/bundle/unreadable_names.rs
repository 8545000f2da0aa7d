//! Names of stored documents that cannot be read. A client receives the names, so that its engine refuses their uses too.

use crate::domain::bundle::goods_buckets::names_of as names_of_goods;
use crate::store::Store;
use crate::store::document::Document;
use scrip::wire::readability;
use serde_json::{Value as Json, json};

/// Names of these documents, as a core lists them.
#[derive(Debug, Default)]
pub struct UnreadableNames(pub Vec<Json>);

impl UnreadableNames {
    /// Returns the readable documents of a kind, and records the names of the others.
    pub fn leave_out(&mut self, store: &Store<'_>, kind: &str, mut documents: Vec<Document>) -> Vec<Document> {
        documents.retain(|document| match readability::check_fields(kind, &document.body) {
            Ok(()) => true,
            Err(problem) => {
                store.warn(format!("the stored {kind} `{}` cannot be read: {problem}", document.id));
                self.0.push(names_json(kind, document));
                false
            }
        });
        documents
    }
}

/// Returns the names of a document that a client may know.
fn names_json(kind: &str, document: &Document) -> Json {
    match kind {
        "product" | "sku" => names_of_goods(kind, document),
        "validation_rules_assignment" => {
            json!({ "object": kind, "id": document.id, "related_object_id": document.parent })
        }
        _ => json!({ "object": kind, "id": document.id }),
    }
}
