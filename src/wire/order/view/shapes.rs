//! Defines the shapes of orders in answers.

use crate::shape::{AMOUNT, CHANGE, COUNT, Field, FieldType, KEY, METADATA, may, must};
use crate::shape::{fields_of, shape};
use crate::wire::order::stored_return::STORED_RETURN;
use crate::wire::order::{GOODS, STATUS};

/// A replacement of units of a line.
const REPLACED: FieldType = FieldType::Object(&[
    must("source_index", COUNT).description("Index of the item that lost units, from 0."),
    must("source_applied_quantity", CHANGE).description("Number of units that were removed, as a negative number."),
    must("source_applied_quantity_amount", CHANGE)
        .description("Amount of the removed units in minor units, as a negative number."),
    must("target_index", COUNT).description("Index of the item that gained units, from 0."),
    must("target_applied_quantity", COUNT).description("Number of units that were added."),
    must("target_applied_quantity_amount", AMOUNT).description("Amount of the added units, in minor units."),
    must("target_applied_discount_amount", AMOUNT).description("Discount on the added units, in minor units."),
]);

/// A line of an order with its discounts.
pub const ITEM: FieldType = shape!(
    "OrderItem",
    "Item of an order, with discounts and changed units.",
    &[
        may("id", KEY).description("ID of the item. Absent if the item is not stored."),
        must("object", FieldType::OneOf(&["order_item"])),
        may("source_id", KEY).description(
            "Unique name of the product or SKU in the merchant's system. Absent if the item was not named so."
        ),
        may("related_object", FieldType::OneOf(&["product", "sku"]))
            .description("Type of the object that `source_id` names."),
        may("product_id", KEY).description("ID of the product. Absent if unknown."),
        may("sku_id", KEY).description("ID of the SKU. Absent if unknown."),
        must("quantity", COUNT).description("Number of units, with units added by discounts."),
        may("initial_quantity", COUNT).description(
            "Number of units before discounts added or removed some. 0 for an item that a discount added."
        ),
        may("discount_quantity", COUNT).description("Number of free units so far."),
        may("applied_discount_quantity", COUNT).description(
            "Number of units made free by this request. For a single redeemable, by this redeemable only."
        ),
        may("applied_quantity", CHANGE)
            .description("Number of units added by this request, negative for removed units. For a single redeemable, by this redeemable only."),
        may("applied_quantity_amount", CHANGE)
            .description("Amount of the units in `applied_quantity`, in minor units, negative for removed units."),
        may("amount", AMOUNT)
            .description("Amount of the item before discounts, in minor units. Absent if no price is known."),
        may("initial_amount", AMOUNT)
            .description("Amount of the item before discounts added or removed units, in minor units."),
        may("discount_amount", AMOUNT)
            .description("Discount on the item so far, in minor units, with discounts of earlier requests."),
        may("applied_discount_amount", AMOUNT)
            .description("Discount on the item by this request, in minor units. For a single redeemable, by this redeemable only."),
        may("price", AMOUNT).description("Price of one unit, in minor units. Absent if no price is known."),
        may("subtotal_amount", AMOUNT)
            .description("Amount of the item after its discounts, in minor units, never below 0."),
        may("application_details", FieldType::List(&REPLACED, 0, usize::MAX))
            .description("Replacements of units of this item by units of another. Absent if none."),
        may("product", GOODS).description("Product of the item. Absent if the item is of no known product."),
        may("sku", GOODS).description("SKU of the item. Absent if the item is of no known SKU."),
        METADATA,
    ]
);

const AMOUNTS: &[Field] = &[
    may("source_id", KEY).or_null().description("Unique name of the order in the merchant's system."),
    may("amount", AMOUNT)
        .description("Amount of the order before discounts, in minor units, with units added by discounts. Absent without any known price."),
    may("initial_amount", AMOUNT)
        .description("Amount of the order before discounts added or removed units, in minor units. Absent if no units changed."),
    may("discount_amount", AMOUNT)
        .description("Discount on the whole order so far, in minor units, with discounts of earlier requests."),
    may("items_discount_amount", AMOUNT).description("Sum of the discounts on the items so far, in minor units."),
    may("total_discount_amount", AMOUNT)
        .description("Sum of `discount_amount` and `items_discount_amount`, in minor units."),
    may("total_amount", AMOUNT).description("Amount to pay after all discounts, in minor units, never below 0."),
    may("applied_discount_amount", AMOUNT)
        .description("Discount on the whole order by this request, in minor units. For a single redeemable, by this redeemable only."),
    may("items_applied_discount_amount", AMOUNT)
        .description("Sum of the discounts on the items by this request, in minor units. For a single redeemable, by this redeemable only."),
    may("total_applied_discount_amount", AMOUNT)
        .description("Sum of `applied_discount_amount` and `items_applied_discount_amount`, in minor units."),
    may("items", FieldType::List(&ITEM, 0, 500)).description("Items of the order. Absent if the order has none."),
];

/// An order with its discounts.
pub const ORDER: FieldType = shape!(
    "Order",
    "Order with the discounts of a decision. All amounts are in minor units, and an absent amount means 0.",
    fields_of!(
        &[may("id", KEY), may("status", STATUS).description("Status of the order. Absent if none was sent.")],
        AMOUNTS,
        &[
            METADATA,
            may("customer_id", KEY)
                .or_null()
                .description("ID of the buyer. Absent for a client without proof, and if the customer is not stored."),
            may("referrer_id", KEY)
                .or_null()
                .description("ID of the customer who referred the buyer. Absent for a client without proof."),
            must("object", FieldType::OneOf(&["order"])),
        ],
    )
);

/// A reference to a customer.
const CUSTOMER_REFERENCE: FieldType =
    FieldType::Object(&[must("id", KEY), must("object", FieldType::OneOf(&["customer"]))]);

/// A redemption in the history of an order.
const STORED_REDEMPTION: FieldType = FieldType::Object(&[
    must("date", FieldType::DateTime).description("Moment of the redemption, in UTC."),
    must("related_object_type", FieldType::Text).description(
        "Type of the redeemed object: `voucher`, `promotion_tier`, or `redemption` for several redeemables.",
    ),
    must("related_object_id", KEY)
        .or_null()
        .description("ID of the redeemed object, or of the parent redemption. `null` if unknown."),
    may("related_object_parent_id", KEY)
        .or_null()
        .description("ID of the campaign. `null` or absent if the redeemed object has none."),
    may("stacked", FieldType::List(&KEY, 0, 30))
        .description("IDs of the redemptions of a parent redemption. Absent for a single redemption."),
    may("rollback_id", KEY).description("ID of the rollback. Absent if the redemption was not rolled back."),
    may("rollback_date", FieldType::DateTime)
        .description("Moment of the rollback, in UTC. Absent if the redemption was not rolled back."),
    may("rollback_stacked", FieldType::List(&KEY, 0, 30))
        .description("IDs of the rollbacks of a parent rollback. Absent for a single rollback."),
]);

/// A stored order.
pub const STORED: FieldType = shape!(
    "StoredOrder",
    "Stored order, with its redemptions and returns. All amounts are in minor units, and an absent amount means 0.",
    fields_of!(
        &[must("id", KEY), must("status", STATUS).description("Status of the order.")],
        AMOUNTS,
        &[
            must("metadata", FieldType::Map),
            must("created_at", FieldType::DateTime).or_null(),
            must("updated_at", FieldType::DateTime).or_null(),
            must("customer_id", KEY).or_null().description("ID of the buyer. `null` if unknown."),
            may("customer", CUSTOMER_REFERENCE).or_null().description("Buyer, by ID. Absent or `null` if unknown."),
            must("referrer_id", KEY)
                .or_null()
                .description("ID of the customer who referred the buyer. `null` if unknown."),
            may("referrer", CUSTOMER_REFERENCE).description("Customer who referred the buyer, by ID. Absent if unknown."),
            must("redemptions", FieldType::MapOf(&STORED_REDEMPTION))
                .description("Redemptions on the order, by ID of the redemption or of the parent redemption."),
            may("returns", FieldType::List(&STORED_RETURN, 0, usize::MAX))
                .description("Returns of parts of the order, the oldest first. Absent if none."),
            may("uncovered_amount", AMOUNT).description(
                "Part of the cost of a paid order that is not paid, in minor units. Rollbacks and re-checks cause this; refunds leave the part out."
            ),
            must("object", FieldType::OneOf(&["order"])),
        ],
    )
);
