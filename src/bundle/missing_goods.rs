//! Finds the names of an order's goods: those that a set of rules does not know, and all that a decision looks up.

use crate::decide::qualify::prices::find_line;
use crate::facts::Facts;
use crate::json::Node;
use crate::model::order::{Item, RelatedObject};
use crate::model::price::PRICED_GOODS_MAX;
use crate::pricing::goods::find_goods;
use crate::text::Text;
use crate::wire::cursor::read_node;
use crate::wire::order::read_order;

/// Returns the names of products and SKUs that the lines of a request need, or the ids of one for prices, as a decision looks them up. An invalid
/// request has none.
pub fn missing_names(request: &Node<'_>, facts: &dyn Facts) -> Vec<Text> {
    let mut names = Vec::new();
    let mut missing = |fact: Text| names.extend(fact.split_once('/').map(|(_, name)| Text::from(name)));
    for item in &list_items(request, facts, &mut missing) {
        find_goods(item, facts, &mut missing);
    }
    names
}

/// Returns all names of products and SKUs that a request names, and of the products of its SKUs, also those that are known.
pub fn needed_names(request: &Node<'_>, facts: &dyn Facts) -> Vec<Text> {
    let mut names: Vec<Text> = ids_of(request).collect();
    for item in &list_items(request, facts, &mut |_| {}) {
        names.extend([RelatedObject::Sku, RelatedObject::Product].iter().flat_map(|kind| item.names(*kind)).cloned());
        let sku = find_goods(item, facts, &mut |_| {}).sku;
        names.extend(sku.and_then(|sku| sku.product_id.clone()));
    }
    names
}

/// Returns the ids of a request for prices.
fn ids_of(request: &Node<'_>) -> impl Iterator<Item = Text> {
    let ids = request.get("ids").and_then(Node::as_list).unwrap_or_default();
    ids.iter().filter_map(Node::as_str).map(Text::from).take(PRICED_GOODS_MAX)
}

/// Returns the lines of a request, or one for each known id of a request for prices.
fn list_items(request: &Node<'_>, facts: &dyn Facts, missing: &mut dyn FnMut(Text)) -> Vec<Item> {
    if let Some(Node::List(_)) = request.get("ids") {
        return ids_of(request).filter_map(|id| find_line(&id, facts, missing)).collect();
    }
    match request.get("order").map(|order| read_node(order, read_order)) {
        Some(Ok(order)) => order.items,
        _ => Vec::new(),
    }
}
