//! Reads orders, from a request or from the store.
//!
//! docs/spec/endpoints.md section 1, shapes S2 and S3; docs/spec/calculation.md#2.2. Orders and lines are the bulk of
//! every request, so each member is visited once instead of being looked up.

pub mod stored_return;
pub mod view;

use std::sync::Arc;

use crate::json::Node;
use crate::model::goods_sets::KnownSets;
use crate::model::order::{Goods, Item, LARGEST_ORDER, LINE_ID, Order, OrderStatus, RelatedObject};
use crate::shape::{AMOUNT, COUNT, FieldType, KEY, METADATA, may};
use crate::shape::{one_of, shape};
use crate::text::Text;
use crate::wire::cursor::{Fields, JsonCursor, read};
use crate::wire::customer::CUSTOMER;
use crate::wire::order::stored_return::read_stored_return;
use crate::wire::problem::Problem;

pub(super) const STATUSES: &[(&str, OrderStatus)] = &[
    ("CREATED", OrderStatus::Created),
    ("PAID", OrderStatus::Paid),
    ("CANCELED", OrderStatus::Canceled),
    ("FULFILLED", OrderStatus::Fulfilled),
];

pub(super) const RELATED: &[(&str, RelatedObject)] =
    &[("product", RelatedObject::Product), ("sku", RelatedObject::Sku)];

/// A product, with its `name`, or a SKU, whose name is `sku`.
pub const GOODS: FieldType = shape!(
    "Goods",
    "Product or SKU of an order item. A product is named by `name`, a SKU by `sku`.",
    &[
        may("id", KEY),
        may("source_id", KEY).description("Unique name of the product or SKU in the merchant's system."),
        may("override", FieldType::Bool)
            .description("`true` to write these data to the catalogue when the order is stored. Default `false`. Ignored from a client."),
        may("name", FieldType::Text).description("Name of the product."),
        may("sku", FieldType::Text).description("Name of the SKU."),
        may("price", AMOUNT)
            .description("Price of one unit, in minor units. Takes precedence over the price in the catalogue."),
        METADATA,
    ]
);

/// A number of units in a request: whole, also as text.
pub(super) const UNITS: FieldType = FieldType::Either(&[COUNT, FieldType::Text]);

/// A line in a request.
pub const ITEM: FieldType = shape!(
    "OrderItemRequest",
    "Item of an order in a request.",
    &[
        may("product_id", KEY).description("ID of the product."),
        may("sku_id", KEY).description("ID of the SKU."),
        may("source_id", KEY)
            .description("Unique name of the product or SKU in the merchant's system. Requires `related_object`."),
        may("related_object", one_of!(RELATED)).description("Type of the object that `source_id` names."),
        may("quantity", UNITS).description("Number of units, as a number or as text. Default 1."),
        may("discount_quantity", UNITS).description("Number of units that are free already, as a number or as text."),
        may("initial_quantity", UNITS)
            .description("Number of units before free units were added, as a number or as text."),
        may("amount", AMOUNT)
            .description("Amount of the item before discounts, in minor units. Absent means price times quantity."),
        may("discount_amount", AMOUNT)
            .description("Discount on the item that was given before this request, in minor units."),
        may("initial_amount", AMOUNT).description("Amount of the item before free units were added, in minor units."),
        may("price", AMOUNT)
            .description("Price of one unit, in minor units. Absent means the price of the SKU or product."),
        may("product", GOODS).description("Data of the product that take precedence over the catalogue."),
        may("sku", GOODS).description("Data of the SKU that take precedence over the catalogue."),
        METADATA,
    ]
);

/// The status of an order.
pub const STATUS: FieldType = one_of!(STATUSES);

/// An order in a request.
pub const ORDER: FieldType = shape!(
    "OrderRequest",
    "Order in a request. All amounts are in minor units.",
    &[
        may("id", KEY),
        may("source_id", KEY).description("Unique name of the order in the merchant's system."),
        may("status", STATUS)
            .description("Status of the order. A client may send only statuses that the client policy allows."),
        may("amount", AMOUNT)
            .description("Amount of the order before discounts, in minor units. Absent means the sum of the items."),
        may("initial_amount", AMOUNT)
            .description("Amount of the order before units were added by discounts, in minor units."),
        may("discount_amount", AMOUNT)
            .description("Discount on the whole order that was given before this request, in minor units."),
        may("items", FieldType::List(&ITEM, 0, LARGEST_ORDER)).description("Items of the order."),
        METADATA,
        may("created_at", FieldType::DateTime)
            .description("Moment at which the order was made, in UTC. Absent means now."),
        may("customer_id", KEY).description("ID or `source_id` of the buyer. Used if no customer is sent."),
        may("referrer_id", KEY).description("ID of the customer who referred the buyer."),
        may("customer", FieldType::Named(&CUSTOMER))
            .description("Buyer. Used if the request names no customer outside the order."),
        may("referrer", FieldType::Map)
            .description("Customer who referred the buyer. Only `id` is read, and only without `referrer_id`."),
    ]
);

/// The members of an order.
const ORDER_MEMBERS: Fields<Order> = &[
    ("id", |order, at| order.id = Some(at.name())),
    ("source_id", |order, at| order.source_id = Some(at.name())),
    ("status", |order, at| order.status = Some(at.one_of(STATUSES))),
    ("amount", |order, at| order.amount = Some(at.money())),
    ("initial_amount", |order, at| order.initial_amount = Some(at.money())),
    ("discount_amount", |order, at| order.discount_amount = Some(at.money())),
    ("items", |order, at| order.items = read_items(at)),
    ("metadata", |order, at| order.metadata = at.metadata()),
    ("customer_id", |order, at| order.customer_id = Some(at.name())),
    ("referrer_id", |order, at| order.referrer_id = Some(at.name())),
    ("referrer", |order, at| order.referrer_id = order.referrer_id.take().or(at.option("id", read::name))),
    ("created_at", |order, at| order.created_at = Some(at.instant())),
    ("redemptions", |order, at| order.redemptions = at.metadata()),
    ("returns", |order, at| order.returns = at.all(read_stored_return)),
    ("uncovered_amount", |order, at| order.uncovered = Some(at.money())),
];

/// The members of a line.
const ITEM_MEMBERS: Fields<Item> = &[
    ("id", |item, at| item.id = line_id(at)),
    ("product_id", |item, at| item.product_id = Some(at.name())),
    ("sku_id", |item, at| item.sku_id = Some(at.name())),
    ("source_id", |item, at| item.source_id = Some(at.name())),
    ("related_object", |item, at| item.related_object = Some(at.one_of(RELATED))),
    ("quantity", |item, at| item.quantity = at.quantity()),
    ("discount_quantity", |item, at| item.discount_quantity = Some(at.quantity())),
    ("initial_quantity", |item, at| item.initial_quantity = Some(at.quantity())),
    ("amount", |item, at| item.amount = Some(at.money())),
    ("discount_amount", |item, at| item.discount_amount = Some(at.money())),
    ("initial_amount", |item, at| item.initial_amount = Some(at.money())),
    ("price", |item, at| item.price = Some(at.money())),
    ("product", |item, at| item.product = Some(Box::new(read_goods(at)))),
    ("sku", |item, at| item.sku = Some(Box::new(read_goods(at)))),
    ("metadata", |item, at| item.metadata = at.metadata()),
];

/// Reads an order, within its bounds.
pub fn read_order(at: &JsonCursor<'_>) -> Order {
    let mut order = Order::default();
    at.fields(&mut order, ORDER_MEMBERS);
    order
}

fn read_items(at: &JsonCursor<'_>) -> Vec<Item> {
    let items = at.all(read_item);
    let count = items.len();
    if count > LARGEST_ORDER {
        let bound = format!("must NOT have more than {LARGEST_ORDER} items");
        at.report(Problem::bound(at.path(), &bound, &count.to_string()));
    }
    items
}

/// Reads a line.
pub(super) fn read_item(at: &JsonCursor<'_>) -> Item {
    let mut item = Item { quantity: 1, ..Item::default() };
    at.fields(&mut item, ITEM_MEMBERS);
    if item.source_id.is_some() && item.related_object.is_none() {
        at.missing("related_object");
    }
    item
}

/// Returns the id of a line that was stored before. An `id` in another format belongs to the caller and is ignored.
fn line_id(at: &JsonCursor<'_>) -> Option<Text> {
    match at.node {
        Node::Text(text) if text.starts_with(LINE_ID) => Some(Text::from(&**text)),
        _ => None,
    }
}

/// Reads a product or SKU, inline or from the catalogue.
pub fn read_goods(at: &JsonCursor<'_>) -> Goods {
    at.object();
    let mut goods = Goods::default();
    at.fill_optional("name", &mut goods.name, read::text);
    at.fill_optional("id", &mut goods.id, read::name);
    at.fill_optional("source_id", &mut goods.source_id, read::name);
    at.fill_optional("product_id", &mut goods.product_id, read::name);
    let sku = at.option("sku", read::text);
    goods.name = goods.name.or(sku);
    at.fill_optional("price", &mut goods.price, read::money);
    at.fill_optional("override", &mut goods.overrides, read::flag);
    at.fill("metadata", &mut goods.metadata, read::metadata);
    if at.is_compiled() && at.get(SETS).is_some() {
        let numbers = |name| at.list(name, read::whole_number);
        goods.sets = Some(Arc::new(KnownSets::new(numbers(SETS), numbers(OUT_OF_SETS))));
    }
    goods
}

/// The members of goods in a bundle with the numbers of the sets that they are in, and of those that they are not in because of their data.
pub const SETS: &str = "sets";
/// See [`SETS`].
pub const OUT_OF_SETS: &str = "out_of_sets";
