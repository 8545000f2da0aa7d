//! Finds the names of an order's goods that a set of rules does not know.

use crate::decide::qualify::prices::find_line;
use crate::facts::Facts;
use crate::json::Node;
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
    let items = match (request.get("ids"), request.get("order").map(|order| read_node(order, read_order))) {
        (Some(Node::List(ids)), _) => {
            let ids = ids.iter().filter_map(Node::as_str).map(Text::from).take(PRICED_GOODS_MAX);
            ids.filter_map(|id| find_line(&id, facts, &mut missing)).collect()
        }
        (_, Some(Ok(order))) => order.items,
        _ => return Vec::new(),
    };
    for item in &items {
        find_goods(item, facts, &mut missing);
    }
    names
}
