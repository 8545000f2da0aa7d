//! Finds the names of an order's goods that a set of rules does not know.

use crate::facts::Facts;
use crate::json::Node;
use crate::pricing::goods::find_goods;
use crate::text::Text;
use crate::wire::cursor::read_node;
use crate::wire::order::read_order;

/// Returns the names of products and SKUs that the lines of a request need, as a decision looks them up. An invalid request has none.
pub fn missing_names(request: &Node<'_>, facts: &dyn Facts) -> Vec<Text> {
    let Some(Ok(order)) = request.get("order").map(|order| read_node(order, read_order)) else { return Vec::new() };
    let mut names = Vec::new();
    for item in &order.items {
        find_goods(item, facts, &mut |fact| {
            names.extend(fact.split_once('/').map(|(_, name)| Text::from(name)));
        });
    }
    names
}
