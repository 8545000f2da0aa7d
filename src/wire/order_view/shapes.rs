//! The shapes of orders in answers. It must not know how their amounts came about.

use crate::shape::{AMOUNT, CHANGE, COUNT, Field, KEY, Kind, METADATA, may, must};
use crate::shape::{fields_of, shape};
use crate::wire::order::{GOODS, STATUS};

/// What was given in place of units of a line.
const REPLACED: Kind = Kind::Object(&[
    must("source_index", COUNT).says("The line that lost units"),
    must("source_applied_quantity", CHANGE).says("Units that it lost, below zero"),
    must("source_applied_quantity_amount", CHANGE).says("Their money, below zero"),
    must("target_index", COUNT).says("The line that won units"),
    must("target_applied_quantity", COUNT).says("Units that it won"),
    must("target_applied_quantity_amount", AMOUNT).says("Their money"),
    must("target_applied_discount_amount", AMOUNT).says("Taken off them"),
]);

/// A line of an order with what was done to it.
pub const ITEM: Kind = shape!(
    "OrderItem",
    "A line of an order with what was done to it",
    &[
        may("id", KEY).says("Of a line that the service keeps"),
        must("object", Kind::OneOf(&["order_item"])),
        may("source_id", KEY).says("The caller's name for the goods"),
        may("related_object", Kind::OneOf(&["product", "sku"])).says("What `source_id` names"),
        may("product_id", KEY),
        may("sku_id", KEY),
        must("quantity", COUNT).says("Units, those included that were added"),
        may("initial_quantity", COUNT).says("Units that the customer put in the cart, where units came or went"),
        may("discount_quantity", COUNT),
        may("applied_discount_quantity", COUNT).says("Units that became free by this request"),
        may("applied_quantity", CHANGE).says("Units that came, or went: below zero"),
        may("applied_quantity_amount", CHANGE).says("Their money"),
        may("amount", AMOUNT).says("Before discounts"),
        may("initial_amount", AMOUNT),
        may("discount_amount", AMOUNT),
        may("applied_discount_amount", AMOUNT),
        may("price", AMOUNT),
        may("subtotal_amount", AMOUNT).says("After the discounts of the line"),
        may("application_details", Kind::List(&REPLACED, 0, usize::MAX))
            .says("What was given in place of units of this line"),
        may("product", GOODS),
        may("sku", GOODS),
        METADATA,
    ]
);

const AMOUNTS: &[Field] = &[
    may("source_id", KEY).or_null(),
    may("amount", AMOUNT).says("Before discounts, units included that were added"),
    may("initial_amount", AMOUNT),
    may("discount_amount", AMOUNT).says("Taken off the order as a whole"),
    may("items_discount_amount", AMOUNT),
    may("total_discount_amount", AMOUNT),
    may("total_amount", AMOUNT),
    may("applied_discount_amount", AMOUNT).says("Taken off the order as a whole by this request"),
    may("items_applied_discount_amount", AMOUNT),
    may("total_applied_discount_amount", AMOUNT),
    may("items", Kind::List(&ITEM, 0, 500)),
];

/// An order with what was done to it.
pub const ORDER: Kind = shape!(
    "Order",
    "An order with what was done to it. All amounts are minor units",
    fields_of!(
        &[may("id", KEY), may("status", STATUS)],
        AMOUNTS,
        &[
            METADATA,
            may("customer_id", KEY).or_null().says("Whose it is; pages are not told"),
            may("referrer_id", KEY).or_null().says("Who referred them; pages are not told"),
            must("object", Kind::OneOf(&["order"])),
        ],
    )
);

/// A customer as others name it.
const PERSON: Kind = Kind::Object(&[must("id", KEY), must("object", Kind::OneOf(&["customer"]))]);

/// What an order remembers of a redemption.
const REMEMBERED: Kind = Kind::Object(&[
    must("date", Kind::DateTime),
    must("related_object_type", Kind::Text),
    must("related_object_id", KEY).or_null(),
    may("related_object_parent_id", KEY).or_null(),
    may("stacked", Kind::List(&KEY, 0, 30)).says("The redemptions of a stack"),
    may("rollback_id", KEY).says("The rollback that undid it"),
    may("rollback_date", Kind::DateTime).says("When it was undone"),
    may("rollback_stacked", Kind::List(&KEY, 0, 30)).says("The rollbacks of a stack"),
]);

/// An order that is kept.
pub const KEPT: Kind = shape!(
    "KeptOrder",
    "An order that is kept, with what was redeemed on it. All amounts are minor units",
    fields_of!(
        &[must("id", KEY), must("status", STATUS)],
        AMOUNTS,
        &[
            must("metadata", Kind::Map),
            must("created_at", Kind::DateTime).or_null(),
            must("updated_at", Kind::DateTime).or_null(),
            must("customer_id", KEY).or_null(),
            may("customer", PERSON).or_null(),
            must("referrer_id", KEY).or_null(),
            may("referrer", PERSON),
            must("redemptions", Kind::MapOf(&REMEMBERED)).says("What was redeemed on it, by id"),
            must("object", Kind::OneOf(&["order"])),
        ],
    )
);
