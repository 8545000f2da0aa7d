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

/// Reads a stored redemption as a rollback needs it.
pub fn read_stored_redemption(document: Metadata) -> StoredRedemption {
    let text = |name: &str| document.get(name).and_then(Node::as_str).map(Text::from);
    let list = document.get("related_redemptions").and_then(|related| related.get("redemptions"));
    let children = list.and_then(Node::as_list).into_iter().flatten();
    let is_parent = text("related_object_type").as_deref() == Some("redemption");
    let is_card = document.get("loyalty_card").is_some();
    let spent = document.get("amount").and_then(Node::as_u64);
    StoredRedemption {
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
        order: document.get("order").map(read_order),
        redeemed: text("related_object_id").filter(|_| !is_parent),
        spent: spent.map(|spent| if is_card { SpentUnits::Points(spent) } else { SpentUnits::Credits(spent) }),
        voucher: document.get("voucher").filter(|voucher| matches!(voucher, Node::Object(_))).map(read_voucher),
        document,
    }
}

/// Returns the change of a card in the record of a redemption or of a rollback.
pub fn movement_of(record: &Map<String, Value>) -> CardMovement {
    let (amount, voucher) = (record.get("amount").map(node), record.get("voucher").map(node));
    let number = |block: &str, name: &str| voucher.as_ref()?.get(block)?.get(name)?.as_i64();
    let either = |credits: &str, points: &str| number("gift", credits).or_else(|| number("loyalty_card", points));
    CardMovement {
        taken: amount.as_ref().and_then(Node::as_i64).unwrap_or(0),
        credited_total: either("amount", "points").unwrap_or(0),
        left: either("balance", "balance").unwrap_or(0),
    }
}

fn read_order(order: &Node<'_>) -> OrderEffect {
    let lines = order.get("items").and_then(Node::as_list).unwrap_or_default();
    let line_id = |line: &Node<'_>| line.get("id").and_then(Node::as_str).map(Text::from).unwrap_or_default();
    OrderEffect {
        id: order.get("id").and_then(Node::as_str).map(Text::from),
        discount: discount(order),
        lines: lines.iter().map(read_line).collect(),
        line_ids: lines.iter().map(line_id).collect(),
        goods: lines.iter().map(read_goods).collect(),
        after: lines.iter().map(read_amounts).collect(),
    }
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

fn read_amounts(line: &Node<'_>) -> LineTotals {
    let count = |name: &str| line.get(name).and_then(Node::as_u64).unwrap_or(0);
    let money = |name: &str| line.get(name).and_then(Node::as_i64).and_then(Money::new);
    LineTotals {
        quantity: count("quantity"),
        free_units: count("discount_quantity"),
        amount: money("amount"),
        discount: money("discount_amount").unwrap_or_default(),
    }
}

fn read_line(line: &Node<'_>) -> LineEffect {
    let signed = |name: &str| line.get(name).and_then(Node::as_i64).unwrap_or(0);
    let (discount, free_units) = (discount(line), signed("applied_discount_quantity"));
    LineEffect {
        discount,
        units: signed("applied_quantity"),
        free_units,
        worth: signed("applied_quantity_amount"),
        earlier: earlier(line, discount, u64::try_from(free_units).unwrap_or(0)),
    }
}

/// Returns the part of the price of free units that was discounted before they became free.
fn earlier(line: &Node<'_>, discount: Money, free_units: u64) -> Money {
    let money = |name: &str| line.get(name).and_then(Node::as_i64).and_then(Money::new);
    let price = money("price").and_then(|price| price.checked_mul(free_units)).unwrap_or_default();
    let before = money("discount_amount").unwrap_or_default().remaining_after(discount);
    price.remaining_after(discount).min(before)
}

fn discount(of: &Node<'_>) -> Money {
    let minor = of.get("applied_discount_amount").and_then(Node::as_i64);
    minor.and_then(Money::new).unwrap_or_default()
}

fn read_voucher(voucher: &Node<'_>) -> RedeemedVoucher {
    let count = |block: &str, name: &str| Some(voucher.get(block)?.get(name)?.as_u64().unwrap_or(0));
    RedeemedVoucher {
        id: voucher.get("id").and_then(Node::as_str).map(Text::from).unwrap_or_default(),
        redeemed_quantity: count("redemption", "redeemed_quantity"),
        redeemed_amount: count("redemption", "redeemed_amount"),
        redeemed_points: count("redemption", "redeemed_points"),
        credits: count("gift", "balance"),
        points: count("loyalty_card", "balance"),
    }
}
