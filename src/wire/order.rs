//! Decides how an order is read, from a request or from the store. It must not know what its amounts come to.
//!
//! endpoints.md section 1, shapes S2 and S3; calculation.md section 2.2. Orders and lines are the bulk of every
//! request, so their members are gone through once instead of being looked up one by one.

use crate::json::Node;
use crate::model::order::{Goods, Item, LARGEST_ORDER, LINE_ID, Order, OrderStatus, RelatedObject};
use crate::shape::{AMOUNT, COUNT, KEY, Kind, METADATA, may};
use crate::shape::{one_of, shape};
use crate::text::Text;
use crate::wire::cursor::{Cursor, Fields, read};
use crate::wire::customer::CUSTOMER;
use crate::wire::problem::Problem;

pub(super) const STATUSES: &[(&str, OrderStatus)] = &[
    ("CREATED", OrderStatus::Created),
    ("PAID", OrderStatus::Paid),
    ("CANCELED", OrderStatus::Canceled),
    ("FULFILLED", OrderStatus::Fulfilled),
];

const RELATED: &[(&str, RelatedObject)] = &[("product", RelatedObject::Product), ("sku", RelatedObject::Sku)];

/// A product, with its `name`, or a SKU, which is called `sku`.
pub const GOODS: Kind = shape!(
    "Goods",
    "A product, with its `name`, or a SKU, which is called `sku`",
    &[
        may("id", KEY),
        may("source_id", KEY),
        may("override", Kind::Bool).says("Whether the catalogue takes what is sent here"),
        may("name", Kind::Text),
        may("sku", Kind::Text).says("What people call the SKU"),
        may("price", AMOUNT),
        METADATA,
    ]
);

/// A count of units as it is sent: whole, also as text.
const UNITS: Kind = Kind::Either(&[COUNT, Kind::Text]);

/// A line as it is sent.
pub const ITEM: Kind = shape!(
    "OrderItemRequest",
    "A line of a cart as it is sent",
    &[
        may("product_id", KEY),
        may("sku_id", KEY),
        may("source_id", KEY).says("The caller's name for the goods"),
        may("related_object", one_of!(RELATED)).says("What `source_id` names"),
        may("quantity", UNITS).says("Units, whole, also as text; 1 when left out"),
        may("discount_quantity", UNITS),
        may("initial_quantity", UNITS),
        may("amount", AMOUNT).says("Of the line, in minor units; price times quantity when left out"),
        may("discount_amount", AMOUNT).says("Taken off the line before this request"),
        may("initial_amount", AMOUNT),
        may("price", AMOUNT),
        may("product", GOODS).says("What is known of the product beside the catalogue"),
        may("sku", GOODS).says("What is known of the SKU beside the catalogue"),
        METADATA,
    ]
);

/// The word for how an order stands.
pub const STATUS: Kind = one_of!(STATUSES);

/// A cart as it is sent.
pub const ORDER: Kind = shape!(
    "OrderRequest",
    "A cart as it is sent",
    &[
        may("id", KEY),
        may("source_id", KEY),
        may("status", STATUS),
        may("amount", AMOUNT).says("Minor units; the sum of the lines when left out"),
        may("initial_amount", AMOUNT),
        may("discount_amount", AMOUNT).says("Taken off the order as a whole before this request"),
        may("items", Kind::List(&ITEM, 0, LARGEST_ORDER)),
        METADATA,
        may("created_at", Kind::DateTime),
        may("customer_id", KEY),
        may("referrer_id", KEY),
        may("customer", Kind::Named(&CUSTOMER)).says("Who buys, where the request says it nowhere else"),
        may("referrer", Kind::Map).says("Who referred: only the id is read"),
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
pub fn read_order(at: &Cursor<'_>) -> Order {
    let mut order = Order::default();
    at.fields(&mut order, ORDER_MEMBERS);
    order
}

fn read_items(at: &Cursor<'_>) -> Vec<Item> {
    let items = at.all(read_item);
    let count = items.len();
    if count > LARGEST_ORDER {
        let bound = ["must NOT have more than ", &LARGEST_ORDER.to_string(), " items"].concat();
        at.tell(Problem::bound(at.path(), &bound, &count.to_string()));
    }
    items
}

fn read_item(at: &Cursor<'_>) -> Item {
    let mut item = Item { quantity: 1, ..Item::default() };
    at.fields(&mut item, ITEM_MEMBERS);
    if item.source_id.is_some() && item.related_object.is_none() {
        at.missing("related_object");
    }
    item
}

/// The id of a line that was stored before. What callers call `id` themselves is no name of ours, and is passed over.
fn line_id(at: &Cursor<'_>) -> Option<Text> {
    match at.node {
        Node::Text(text) if text.starts_with(LINE_ID) => Some(Text::from(&**text)),
        _ => None,
    }
}

/// Reads a product or SKU, inline or from the catalogue.
pub fn read_goods(at: &Cursor<'_>) -> Goods {
    at.object();
    let mut goods = Goods::default();
    at.fill_some("name", &mut goods.name, read::text);
    at.fill_some("id", &mut goods.id, read::name);
    at.fill_some("source_id", &mut goods.source_id, read::name);
    at.fill_some("product_id", &mut goods.product_id, read::name);
    let sku = at.option("sku", read::text);
    goods.name = goods.name.or(sku);
    at.fill_some("price", &mut goods.price, read::money);
    at.fill_some("override", &mut goods.overrides, read::flag);
    at.fill("metadata", &mut goods.metadata, read::metadata);
    goods
}
