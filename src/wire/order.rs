//! Decides how an order is read, from a request or from the store. It must not know what its amounts come to.
//!
//! endpoints.md section 1, shapes S2 and S3; calculation.md section 2.2. Orders and lines are the bulk of every
//! request, so their members are gone through once instead of being looked up one by one.

use crate::model::order::{Goods, Item, LARGEST_ORDER, Order, OrderStatus, RelatedObject};
use crate::text::digits;
use crate::wire::at::{At, read};
use crate::wire::problem::Problem;

const STATUSES: &[(&str, OrderStatus)] = &[
    ("CREATED", OrderStatus::Created),
    ("PAID", OrderStatus::Paid),
    ("CANCELED", OrderStatus::Canceled),
    ("FULFILLED", OrderStatus::Fulfilled),
];

const RELATED: &[(&str, RelatedObject)] = &[("product", RelatedObject::Product), ("sku", RelatedObject::Sku)];

/// Reads an order, within its bounds.
pub fn read_order(at: &At<'_>) -> Order {
    let mut order = Order::default();
    for (name, member) in at.members() {
        if member.is_null() {
            continue;
        }
        match name {
            "id" => order.id = Some(member.text()),
            "source_id" => order.source_id = Some(member.text()),
            "status" => order.status = Some(member.one_of(STATUSES)),
            "amount" => order.amount = Some(member.money()),
            "initial_amount" => order.initial_amount = Some(member.money()),
            "discount_amount" => order.discount_amount = Some(member.money()),
            "items" => order.items = read_items(&member),
            "metadata" => order.metadata = member.metadata(),
            "customer_id" => order.customer_id = Some(member.text()),
            "referrer_id" => order.referrer_id = Some(member.text()),
            "created_at" => order.created_at = Some(member.instant()),
            "redemptions" => order.redemptions = member.metadata(),
            _ => {}
        }
    }
    order
}

fn read_items(at: &At<'_>) -> Vec<Item> {
    let items = at.all(read_item);
    let count = items.len();
    if count > LARGEST_ORDER {
        let bound = ["must NOT have more than ", &digits(LARGEST_ORDER), " items"].concat();
        at.tell(Problem::bound(at.path(), &bound, &digits(count)));
    }
    items
}

fn read_item(at: &At<'_>) -> Item {
    let mut item = Item { quantity: 1, ..Item::default() };
    for (name, member) in at.members() {
        if member.is_null() {
            continue;
        }
        match name {
            "product_id" => item.product_id = Some(member.text()),
            "sku_id" => item.sku_id = Some(member.text()),
            "source_id" => item.source_id = Some(member.text()),
            "related_object" => item.related_object = Some(member.one_of(RELATED)),
            "quantity" => item.quantity = member.quantity(),
            "discount_quantity" => item.discount_quantity = Some(member.quantity()),
            "initial_quantity" => item.initial_quantity = Some(member.quantity()),
            "amount" => item.amount = Some(member.money()),
            "discount_amount" => item.discount_amount = Some(member.money()),
            "initial_amount" => item.initial_amount = Some(member.money()),
            "price" => item.price = Some(member.money()),
            "product" => item.product = Some(Box::new(read_goods(&member))),
            "sku" => item.sku = Some(Box::new(read_goods(&member))),
            "metadata" => item.metadata = member.metadata(),
            _ => {}
        }
    }
    if item.source_id.is_some() && item.related_object.is_none() {
        at.missing("related_object");
    }
    item
}

/// Reads a product or SKU, inline or from the catalogue.
pub fn read_goods(at: &At<'_>) -> Goods {
    at.object();
    let name = at.option("name", read::text);
    Goods {
        id: at.option("id", read::text),
        source_id: at.option("source_id", read::text),
        product_id: at.option("product_id", read::text),
        name: name.or(at.option("sku", read::text)),
        price: at.option("price", read::money),
        overrides: at.option("override", read::flag),
        metadata: at.option("metadata", read::metadata).unwrap_or_default(),
    }
}
