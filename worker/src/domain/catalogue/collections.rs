//! Membership of products and SKUs in product collections. The engine tests the filter, so that lists and rules agree.

use crate::domain::clock::LocalTime;
use crate::http::route::Call;
use crate::store::document::{Document, read_loaded, readable};
use crate::store::sql::Fault;
use scrip::rules::{Collection, Contents};
use scrip::wire::document::read_fields;
use scrip::wire::order::read_goods;
use scrip::wire::rules::read_collection;

/// Tests if a collection contains a product or a SKU. A filter that cannot read the goods does not match.
pub fn is_in_collection(time: &LocalTime, collection: &Collection, goods: &Document) -> bool {
    match &collection.goods {
        Contents::All => true,
        // Only bundles have such ones.
        Contents::Numbered(_) => false,
        // A product that is listed brings its SKUs.
        Contents::Listed(listed) => {
            listed.iter().any(|listed| listed.id == goods.id || goods.parent.as_deref() == Some(&listed.id))
        }
        Contents::Passing(filter) => {
            read_fields(&goods.body, read_goods).is_ok_and(|goods| filter.passes_goods(&goods, &time.clock()))
        }
    }
}

/// Parses a stored collection; `None` when it cannot be read, and then it is empty.
pub fn read_stored_collection(call: &Call<'_, '_>, document: &Document) -> Result<Option<Collection>, Fault> {
    readable(call.store, read_loaded("products_collection", document, read_collection))
}
