//! Reads a stored redemption.
//!
//! docs/spec/calculation.md#15, docs/spec/objects.md#11.

use serde_json::{Map, Value};

use crate::json::Node;
use crate::json::service::node;
use crate::model::order::{Item, Metadata, RelatedObject};
use crate::model::redemption::{
    CardMovement, LineEffect, LineTotals, OrderEffect, RedeemedVoucher, RedemptionState, SpentUnits, StoredRedemption,
};
use crate::money::Money;
use crate::text::Text;
use crate::time::Instant;
use crate::wire::problem::Problem;

/// Reads a stored redemption as a rollback needs it. A record omits numbers that are 0; one with a value that is no such
/// number is damaged, and nothing is decided from it.
pub fn read_stored_redemption(document: Metadata) -> Result<StoredRedemption, Problem> {
    let text = |name: &str| document.get(name).and_then(Node::as_str).map(Text::from);
    let list = document.get("related_redemptions").and_then(|related| related.get("redemptions"));
    let children = list.and_then(Node::as_list).into_iter().flatten();
    let is_parent = text("related_object_type").as_deref() == Some("redemption");
    let is_card = document.get("loyalty_card").is_some();
    let spent = number("amount", document.get("amount"), |node| node.as_u64())?;
    let voucher = document.get("voucher").filter(|voucher| matches!(voucher, Node::Object(_)));
    Ok(StoredRedemption {
        id: text("id").unwrap_or_default(),
        state: match text("status").as_deref() {
            Some("SUCCEEDED") => RedemptionState::Succeeded,
            Some("ROLLED_BACK") => RedemptionState::RolledBack,
            _ => RedemptionState::Failed,
        },
        date: text("date").and_then(|date| Instant::parse(&date)).unwrap_or_default(),
        parent: text("redemption"),
        children: children.filter_map(|child| child.get("id")?.as_str().map(Text::from)).collect(),
        customer_id: text("customer_id"),
        order: document.get("order").map(read_order).transpose().map_err(|problem| problem.within("order"))?,
        redeemed: text("related_object_id").filter(|_| !is_parent),
        spent: spent.map(|spent| if is_card { SpentUnits::Points(spent) } else { SpentUnits::Credits(spent) }),
        voucher: voucher.map(read_voucher).transpose().map_err(|problem| problem.within("voucher"))?,
        document,
    })
}

/// Returns the change of a card in the record of a redemption or of a rollback.
pub fn movement_of(record: &Map<String, Value>) -> Result<CardMovement, Problem> {
    let (amount, voucher) = (record.get("amount").map(node), record.get("voucher").map(node));
    let of_card = |block: &str, name: &str| {
        let stored = voucher.as_ref().and_then(|voucher| voucher.get(block)?.get(name));
        number(name, stored, |node| node.as_i64())
    };
    let either = |credits: &str, points: &str| match of_card("gift", credits)? {
        Some(credits) => Ok(credits),
        // A voucher without a balance, or one that was deleted since, counts as an empty card.
        None => Ok::<i64, Problem>(of_card("loyalty_card", points)?.unwrap_or(0)),
    };
    Ok(CardMovement {
        // A redemption that spent nothing has no amount.
        taken: number("amount", amount.as_ref(), |node| node.as_i64())?.unwrap_or(0),
        credited_total: either("amount", "points")?,
        left: either("balance", "balance")?,
    })
}

/// Returns a number of a record, if it is present and not null. A value that is no such number is a problem.
fn number<N>(name: &str, stored: Option<&Node<'_>>, read: fn(&Node<'_>) -> Option<N>) -> Result<Option<N>, Problem> {
    match stored {
        None | Some(Node::Null) => Ok(None),
        Some(node) => match read(node) {
            Some(number) => Ok(Some(number)),
            None => Err(Problem::bound(name, "must be an integer within its bounds", &node.text())),
        },
    }
}

fn money(of: &Node<'_>, name: &str) -> Result<Option<Money>, Problem> {
    number(name, of.get(name), |node| node.as_i64().and_then(Money::new))
}

/// Returns a number of units, or of minor units with a sign. A line omits those that are 0.
fn signed(of: &Node<'_>, name: &str) -> Result<i64, Problem> {
    Ok(number(name, of.get(name), |node| node.as_i64())?.unwrap_or(0))
}

/// Returns a number of units. A line omits it if it is 0.
fn count(of: &Node<'_>, name: &str) -> Result<u64, Problem> {
    Ok(number(name, of.get(name), |node| node.as_u64())?.unwrap_or(0))
}

fn read_order(order: &Node<'_>) -> Result<OrderEffect, Problem> {
    // An order without lines has none.
    let lines = order.get("items").and_then(Node::as_list).unwrap_or_default();
    let line_id = |line: &Node<'_>| line.get("id").and_then(Node::as_str).map(Text::from).unwrap_or_default();
    Ok(OrderEffect {
        id: order.get("id").and_then(Node::as_str).map(Text::from),
        discount: discount(order)?,
        lines: lines.iter().map(read_line).collect::<Result<_, _>>()?,
        line_ids: lines.iter().map(line_id).collect(),
        goods: lines.iter().map(read_goods).collect(),
        after: lines.iter().map(read_amounts).collect::<Result<_, _>>()?,
    })
}

fn read_goods(line: &Node<'_>) -> Item {
    let text = |name: &str| line.get(name).and_then(Node::as_str).map(Text::from);
    let related_object = match line.get("related_object").and_then(Node::as_str) {
        Some("sku") => Some(RelatedObject::Sku),
        Some(_) => Some(RelatedObject::Product),
        None => None,
    };
    let (product_id, sku_id, source_id) = (text("product_id"), text("sku_id"), text("source_id"));
    Item { product_id, sku_id, source_id, related_object, ..Item::default() }
}

fn read_amounts(line: &Node<'_>) -> Result<LineTotals, Problem> {
    Ok(LineTotals {
        quantity: count(line, "quantity")?,
        free_units: count(line, "discount_quantity")?,
        amount: money(line, "amount")?,
        // A line without a discount omits it.
        discount: money(line, "discount_amount")?.unwrap_or_default(),
    })
}

fn read_line(line: &Node<'_>) -> Result<LineEffect, Problem> {
    let (discount, free_units) = (discount(line)?, signed(line, "applied_discount_quantity")?);
    Ok(LineEffect {
        discount,
        units: signed(line, "applied_quantity")?,
        free_units,
        worth: signed(line, "applied_quantity_amount")?,
        // Removed units, whose number is negative, are not free.
        earlier: earlier(line, discount, u64::try_from(free_units).unwrap_or(0))?,
    })
}

/// Returns the part of the price of free units that was discounted before they became free. A line without a price
/// has none.
fn earlier(line: &Node<'_>, discount: Money, free_units: u64) -> Result<Money, Problem> {
    let price = money(line, "price")?.map_or(Money::ZERO, |price| price.capped_mul(free_units));
    // A line without a discount omits it.
    let before = money(line, "discount_amount")?.unwrap_or_default().remaining_after(discount);
    Ok(price.remaining_after(discount).min(before))
}

/// Returns the discount that a redemption granted on an order or a line. Those without one omit it.
fn discount(of: &Node<'_>) -> Result<Money, Problem> {
    Ok(money(of, "applied_discount_amount")?.unwrap_or_default())
}

fn read_voucher(voucher: &Node<'_>) -> Result<RedeemedVoucher, Problem> {
    let counted = |block: &str, name: &str| match voucher.get(block).and_then(|block| block.get(name)) {
        None => Ok(None),
        // A count that is null is 0.
        stored => number(name, stored, |node| node.as_u64()).map(|count| count.or(Some(0))),
    };
    Ok(RedeemedVoucher {
        id: voucher.get("id").and_then(Node::as_str).map(Text::from).unwrap_or_default(),
        redeemed_quantity: counted("redemption", "redeemed_quantity")?,
        redeemed_amount: counted("redemption", "redeemed_amount")?,
        redeemed_points: counted("redemption", "redeemed_points")?,
        credits: counted("gift", "balance")?,
        points: counted("loyalty_card", "balance")?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail loudly")]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(document: &Value) -> Result<StoredRedemption, Problem> {
        let Node::Object(members) = node(document) else { return Err(Problem::at("", "must be an object")) };
        read_stored_redemption(Metadata::of(&members))
    }

    #[test]
    fn absent_numbers_are_zero_and_damaged_ones_a_problem() {
        let line = |value: Value| json!({ "id": "r_1", "order": { "items": [{ "quantity": value }] } });
        let quantity = |value: Value| read(&line(value)).map(|read| read.order.unwrap().after[0].quantity);
        assert_eq!((quantity(json!(2)), quantity(Value::Null)), (Ok(2), Ok(0)));
        assert_eq!(read(&json!({ "id": "r_1" })).unwrap().spent, None);
        for (document, path) in [
            (line(json!("two")), "order.quantity"),
            (line(json!(-1)), "order.quantity"),
            (json!({ "amount": 1.5 }), "amount"),
            (json!({ "order": { "applied_discount_amount": -1 } }), "order.applied_discount_amount"),
            (json!({ "voucher": { "gift": { "balance": "1" } } }), "voucher.balance"),
        ] {
            assert_eq!(read(&document).unwrap_err().path, path);
        }
    }

    #[test]
    fn a_damaged_card_has_no_movement() {
        let record = |left: Value| json!({ "amount": 5, "voucher": { "gift": { "amount": 9, "balance": left } } });
        let movement = |left: Value| movement_of(record(left).as_object().unwrap());
        assert_eq!(movement(json!(4)), Ok(CardMovement { taken: 5, credited_total: 9, left: 4 }));
        assert_eq!(movement(json!("4")).unwrap_err().path, "balance");
    }
}
