//! Names of stored documents that cannot be read. A client receives the names, so that its engine refuses their uses too.

use crate::domain::bundle::goods_buckets::names_of as names_of_goods;
use crate::domain::bundle::read_documents::ReadDocument;
use crate::store::document::Document;
use serde_json::{Value as Json, json};
use std::rc::Rc;

/// Names of these documents, as a core lists them.
#[derive(Debug, Default)]
pub struct UnreadableNames(pub Vec<Json>);

impl UnreadableNames {
    /// Returns the readable documents of a kind, and records the names of the others.
    pub fn leave_out(&mut self, kind: &str, mut documents: Vec<Rc<ReadDocument>>) -> Vec<Rc<ReadDocument>> {
        documents.retain(|one| {
            if one.terms.is_none() {
                self.record(kind, one);
            }
            one.terms.is_some()
        });
        documents
    }

    /// Records the name of a document that cannot be read.
    pub fn record(&mut self, kind: &str, unreadable: &ReadDocument) {
        self.0.push(names_json(kind, &unreadable.document));
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
