//! Reads and writes the returns that an order contains.

use crate::model::order::{LARGEST_ORDER, Order};
use crate::model::order_return::{OrderReturn, RemainingDiscount, RemainingLineDiscount, ReturnPolicy};
use crate::money::Money;
use crate::shape::{AMOUNT, CHANGE, COUNT, FieldType, KEY, may, must, object};
use crate::shape::{one_of, shape};
use crate::wire::cursor::{JsonCursor, NameTable, read};
use crate::wire::writer::Writer;

/// The names of the policies for discounts.
pub(in crate::wire) const POLICIES: NameTable<ReturnPolicy> =
    &[("SHARE", ReturnPolicy::Share), ("RECHECK", ReturnPolicy::Recheck)];

const REMAINING: FieldType = FieldType::Object(&[
    may("discount_amount", AMOUNT)
        .description("Discount that remains on the whole order, in minor units. Absent means 0."),
    may(
        "items",
        FieldType::List(
            &FieldType::Object(&[
                must("id", KEY).description("ID of the order item."),
                may("discount_amount", AMOUNT)
                    .description("Discount that remains on the item, in minor units. Absent means 0."),
                may("quantity", CHANGE).description(
                    "Number of units that the redemption added to the item, negative for removed units. Absent means 0.",
                ),
                may("free_quantity", CHANGE)
                    .description("Number of units of the item that remain free. Absent means 0."),
                may("amount", CHANGE).description(
                    "Amount of the added units in minor units, negative for removed units. Absent means 0.",
                ),
            ]),
            0,
            LARGEST_ORDER,
        ),
    )
    .description("Effects that remain on single items."),
]);

/// The effect of a return on a redemption.
const REDEMPTION: FieldType = shape!(
    "ReturnedRedemption",
    "Effect of a return on one redemption of the order.",
    &[
        must("id", KEY).description("ID of the redemption."),
        must("related_object_type", FieldType::OneOf(&["voucher", "promotion_tier"]))
            .description("Type of the redeemed object."),
        must("related_object_id", KEY)
            .or_null()
            .description("ID of the redeemed voucher or promotion tier. `null` if unknown."),
        must("policy", one_of!(POLICIES)).description(
            "Method by which the discount was settled. `SHARE` also if a deleted redeemable cannot be decided again."
        ),
        must("discount_amount", AMOUNT)
            .description("Part of the discount that is given up by the return, in minor units."),
        must("given_back", FieldType::Bool)
            .description("`true` if the redemption no longer counts, because all items were returned."),
        may(
            "gift",
            FieldType::Object(&[
                must("amount", AMOUNT).description("Gift credits that are refunded to the card, in minor units.")
            ])
        )
        .description("Gift credits that are refunded to the card. Absent if the redemption spent none."),
        may(
            "loyalty_card",
            FieldType::Object(&[must("points", COUNT).description("Number of points that are refunded to the card.")])
        )
        .description("Points that are refunded to the card. Absent if the redemption spent none."),
        may(
            "lost",
            FieldType::Object(&[
                must("key", FieldType::Text).description("Machine-readable error key of the reason."),
                must("message", FieldType::Text).description("Short text of the reason, for people."),
                must("details", FieldType::Text).description("Longer text of the reason, for people.")
            ]),
        )
        .description(
            "Reason for which the redeemable grants nothing on the remaining items. Absent if a discount remains."
        ),
        must("remaining", REMAINING).description("Discounts and units of the redemption that remain after the return."),
    ]
);

/// Points of a card that a return moves.
const POINTS: FieldType = shape!(
    "ReturnedPoints",
    "Points that a return takes from a card or refunds to a card.",
    &[
        may("voucher_id", KEY).description("ID of the loyalty card of a loyalty campaign. Absent for a member card."),
        may("card_id", KEY).description("ID of the member card of a loyalty program. Absent for a loyalty card."),
        must("points", COUNT).description("Number of points that are moved."),
        may("missing_points", COUNT)
            .description("Number of points that could not be taken, because the customer had spent them."),
        may("amount", AMOUNT).description(
            "Part of the order that the points had paid, in minor units. Present for points that were spent."
        ),
    ]
);

/// A return as stored in an order.
pub const STORED_RETURN: FieldType = shape!(
    "OrderReturn",
    "Return of part of an order, as stored in the order.",
    &[
        must("id", KEY),
        object(&["order_return"]),
        must("date", FieldType::DateTime).description("Moment of the return, in UTC."),
        must("policy", one_of!(POLICIES)).description(
            "Method by which discounts were settled: `SHARE` by shares, `RECHECK` by deciding the redeemables again."
        ),
        must(
            "items",
            FieldType::List(
                &FieldType::Object(&[
                    must("id", KEY).or_null().description("ID of the order item. `null` if the item has none."),
                    must("quantity", COUNT).description("Number of returned units that were paid."),
                    must("free_quantity", COUNT)
                        .description("Number of free units that were returned with the paid units."),
                    must("amount", AMOUNT)
                        .description("Amount of the returned units before discounts, in minor units."),
                    must("discount_amount", AMOUNT)
                        .description("Share of the returned units in the discount of the item, in minor units."),
                    must("order_discount_amount", AMOUNT)
                        .description("Share of the returned units in the discount of the whole order, in minor units."),
                ]),
                0,
                LARGEST_ORDER,
            ),
        )
        .description("Units that were returned, by order item."),
        must("amount", AMOUNT).description("Amount of all returned units before discounts, in minor units."),
        must("discount_amount", AMOUNT).description("Discount that is given up by the return, in minor units."),
        must("refund_amount", AMOUNT).description("Amount to refund to the customer, in minor units."),
        may("uncovered_amount", AMOUNT)
            .description("Part of the cost of the remaining order that is not paid, in minor units. Absent means 0."),
        must("redemptions", FieldType::List(&REDEMPTION, 0, usize::MAX))
            .description("Effects of the return on each redemption of the order."),
        may("earned_points", FieldType::List(&POINTS, 0, usize::MAX))
            .description("Points earned by the order that the return revokes. Absent if none."),
        may("spent_points", FieldType::List(&POINTS, 0, usize::MAX))
            .description("Points spent on the order that are refunded to member cards. Absent if none."),
        must("metadata", FieldType::Map),
    ]
);

/// Reads a return of an order.
pub fn read_stored_return(at: &JsonCursor<'_>) -> OrderReturn {
    at.object();
    OrderReturn {
        id: at.option("id", read::text).unwrap_or_default(),
        // An absent amount means that all is paid.
        uncovered: at.option("uncovered_amount", read::money).unwrap_or_default(),
        remaining_discounts: at.list("redemptions", read_remaining_discount),
        document: at.metadata(),
    }
}

fn read_remaining_discount(at: &JsonCursor<'_>) -> RemainingDiscount {
    at.object();
    let mut rest =
        RemainingDiscount { id: at.option("id", read::text).unwrap_or_default(), ..RemainingDiscount::default() };
    if let Some(remaining) = at.get("remaining") {
        rest.discount = remaining.option("discount_amount", read::money).unwrap_or_default();
        rest.lines = remaining.list("items", |line| {
            // An absent number is 0, as the shape of a return declares.
            let signed = |name: &str| line.option(name, read_change).unwrap_or(0);
            RemainingLineDiscount {
                line_id: line.option("id", read::text).unwrap_or_default(),
                discount: line.option("discount_amount", read::money).unwrap_or_default(),
                units: signed("quantity"),
                free_units: signed("free_quantity"),
                worth: signed("amount"),
                earlier: Money::ZERO,
            }
        });
    }
    rest
}

/// Reads a number of units, or of minor units, with a sign.
fn read_change(at: &JsonCursor<'_>) -> i64 {
    at.or_wrong(at.integer(), "must be an integer from -9007199254740991 to 9007199254740991")
}

/// Writes the returns of an order and the unpaid part of its cost, if there are any.
pub(in crate::wire) fn write_returns(out: &mut Writer, order: &Order) {
    if !order.returns.is_empty() {
        out.member("returns").list(|out| order.returns.iter().for_each(|one| out.item().metadata(&one.document)));
    }
    out.money_if("uncovered_amount", order.uncovered);
}
