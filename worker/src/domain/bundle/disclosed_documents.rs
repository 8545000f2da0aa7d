//! Reduces the documents of a core to the members that clients may know.

use crate::access::client::response_filter;
use crate::store::document::Document;
use scrip::model::client::ClientContext;
use serde_json::{Map, Value as Json};

/// Returns the bodies of documents of a list of a core, without undisclosed members, in their order.
pub fn disclose(client: &ClientContext, list: &str, documents: Vec<Document>) -> Vec<Json> {
    let bodies: Vec<Json> = documents.into_iter().map(|document| Json::Object(document.body)).collect();
    let mut rules = Json::Object(Map::from_iter([(list.to_owned(), bodies.into())]));
    response_filter::filter_core(client, &mut rules);
    match rules.get_mut(list).map(Json::take) {
        Some(Json::Array(disclosed)) => disclosed,
        _ => Vec::new(),
    }
}
