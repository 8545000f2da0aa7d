//! Categories as what belongs to them shows them. It must not know what stacking makes of them.

use crate::document::resource::{self, plain_key};
use crate::http::listing::List;
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Categories as a resource.
pub const CATEGORY: Resource = Resource {
    object: "category",
    shape: scrip::wire::voucher::CATEGORY.described(),
    parameter: "categoryId",
    key: plain_key,
    show: resource::show_body,
    list: List { data_ref: "data", page_max: 100, orders: &[], filters: &[], conditions: &[] },
};

/// Whole categories by id, and the categories of campaigns by the campaigns' ids: each looked up once for all that is shown.
pub struct Shown {
    categories: BTreeMap<String, Json>,
    inherited: BTreeMap<String, String>,
}

impl Shown {
    /// The categories of documents, or of their campaigns where they have none of their own. A campaign that is not stored yet is
    /// listed among the documents.
    pub fn of(call: &Call<'_, '_>, documents: &[Document]) -> Result<Shown, Fault> {
        let heirs = documents.iter().filter(|document| own(document).is_none());
        let parents: Vec<&str> = heirs.filter_map(|document| document.parent.as_deref()).collect();
        let listed = documents.iter().filter_map(|document| Some((document.id.clone(), own(document)?.to_owned())));
        let mut inherited: BTreeMap<String, String> = listed.collect();
        if !parents.is_empty() {
            let rows = call.store.rows(
                "SELECT id, json_extract(body, '$.category_id') FROM document
                 WHERE kind = 'campaign' AND id IN (SELECT value FROM json_each(?1))",
                &[Json::from(parents).to_string().into()],
            )?;
            for row in &rows {
                if let Some(category) = sql::text_or_null(row, 1)? {
                    inherited.insert(sql::text(row, 0)?.to_owned(), category.to_owned());
                }
            }
        }
        let ids: BTreeSet<&str> =
            documents.iter().filter_map(own).chain(inherited.values().map(String::as_str)).collect();
        let mut categories = BTreeMap::new();
        if !ids.is_empty() {
            let ids: Vec<&str> = ids.into_iter().collect();
            let found = call.store.documents_by_names(CATEGORY.object, &[], &ids)?;
            categories.extend(found.into_iter().map(|category| (category.id, Json::Object(category.body))));
        }
        Ok(Shown { categories, inherited })
    }

    /// The list that a document shows.
    pub fn list(&self, document: &Document) -> Json {
        let inherited = || self.inherited.get(document.parent.as_deref()?).map(String::as_str);
        let category = own(document).or_else(inherited).and_then(|id| self.categories.get(id));
        Json::Array(category.into_iter().cloned().collect())
    }
}

/// The name of a category that a document has itself.
pub fn own(document: &Document) -> Option<&str> {
    document.body.get("category_id").and_then(Json::as_str)
}
