//! Decides how goods are named: a product, a SKU or a collection of them, in tests, scopes and collections. It must not know what
//! is asked of them.

use crate::json::Node;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::wire::cursor::{Cursor, read};

/// Reads a product, SKU or collection; one that does not say what it is, is an assumed one.
pub fn read_goods(at: &Cursor<'_>, assumed: Option<GoodsObject>) -> GoodsRef {
    const OBJECTS: &[(&str, GoodsObject)] = &[
        ("product", GoodsObject::Product),
        ("sku", GoodsObject::Sku),
        ("products_collection", GoodsObject::Collection),
    ];
    if let (Node::Text(_), Some(object)) = (at.node, assumed) {
        return GoodsRef::new(object, at.name(), None);
    }
    at.object();
    let object = match assumed {
        Some(assumed) => at.option("object", |object| object.one_of(OBJECTS)).unwrap_or(assumed),
        None => at.need("object", |object| object.one_of(OBJECTS)),
    };
    let source_id = at.option("source_id", read::name);
    let id = match (at.option("id", read::name), &source_id) {
        (Some(id), _) => id,
        (None, Some(source_id)) => source_id.clone(),
        (None, None) => at.need("id", read::name),
    };
    GoodsRef::new(object, id, source_id)
}
