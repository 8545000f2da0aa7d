//! Reads and writes returns of part of an order: the request, the answer, and the stored return.

use crate::decide::order_return::answer::{ReturnAnswer, ReturnRequest, ReturnedRedemption};
use crate::decide::order_return::units::RequestedUnits;
use crate::json::{JsonMembers, Node};
use crate::model::order::{LARGEST_ORDER, Order};
use crate::model::order_return::{OrderReturn, RemainingDiscount};
use crate::model::redemption::SpentUnits;
use crate::money::Money;
use crate::pricing::Cart;
use crate::pricing::lines::PricedOrder;
use crate::shape::{Field, FieldType, KEY, METADATA, Shape, may, must};
use crate::shape::{one_of, shape};
use crate::text::Text;
use crate::wire::cursor::{JsonCursor, name_of, read, read_node};
use crate::wire::order::stored_return::POLICIES;
use crate::wire::order::view::{AppliedScope, ITEM, OrderView};
use crate::wire::order::{RELATED, UNITS as UNIT_COUNT, read_item};
use crate::wire::problem::Problem;
use crate::wire::redemptions::record::Record;
use crate::wire::redemptions::stored_order::OrderRecord;
use crate::wire::rule_set::strict::check_names;
use crate::wire::writer::Writer;

/// Names of goods.
const NAMED: FieldType = FieldType::Object(&[
    may("id", KEY),
    may("source_id", KEY).description("Unique name of the product or SKU in the merchant's system."),
]);

/// Units that are returned.
const UNITS: FieldType = shape!(
    "ReturnItemRequest",
    "Units to return, of the order item with this `id` or of a product or SKU.",
    &[
        may("id", KEY).description("ID of the order item. Absent if the item is found by product or SKU."),
        may("product_id", KEY).description("ID of the product."),
        may("sku_id", KEY).description("ID of the SKU."),
        may("source_id", KEY)
            .description("Unique name of the product or SKU in the merchant's system. Requires `related_object`."),
        may("related_object", one_of!(RELATED)).description("Type of the object that `source_id` names."),
        may("product", NAMED).description("Product, by `id` or `source_id`."),
        may("sku", NAMED).description("SKU, by `id` or `source_id`."),
        must("quantity", UNIT_COUNT)
            .description("Number of paid units to return, at least 1, as a number or as text. Free units are returned with them. An item of free units only is refused."),
    ]
);

/// The body of a return.
pub const RETURN: Shape = Shape {
    name: "ReturnRequest",
    description: "Units of an order to return, and the method of settling discounts.",
    kind: FieldType::Object(&[
        must("items", FieldType::List(&UNITS, 1, LARGEST_ORDER)).description("Units to return."),
        may("policy", one_of!(POLICIES))
            .description("Method of settling discounts. `SHARE` (default) gives up shares; `RECHECK` decides the redeemables again on the remaining items."),
        may("dry_run", FieldType::Bool)
            .description("`true` to compute the answer without storing the return. Default `false`."),
        METADATA,
    ]),
};

/// Reads the body of a return; also returns whether it is a dry run.
pub fn read_return_request(order_key: &str, body: &Node<'_>) -> Result<(ReturnRequest, bool), Problem> {
    read_node(body, |at| {
        at.object();
        check_names(at, &[RETURN.fields()], "a return");
        at.need("items", |_| ());
        let items = at.list("items", read_units);
        if items.is_empty() {
            at.report(Problem::at("items", "must NOT have fewer than 1 items"));
        }
        if items.len() > LARGEST_ORDER {
            let bound = format!("must NOT have more than {LARGEST_ORDER} items");
            at.report(Problem::bound("items", &bound, &items.len().to_string()));
        }
        let request = ReturnRequest {
            order_key: Text::from(order_key),
            items,
            policy: at.option("policy", |policy| policy.one_of(POLICIES)).unwrap_or_default(),
            metadata: at.option("metadata", read::metadata).unwrap_or_default(),
        };
        (request, at.option("dry_run", read::flag).unwrap_or(false))
    })
}

fn read_units(at: &JsonCursor<'_>) -> RequestedUnits {
    at.object();
    // A line may be sent in the format of an order.
    check_names(at, &[fields_of(&UNITS), fields_of(&ITEM)], "a returned item");
    let line_id = at.option("id", read::name);
    let goods = read_item(at);
    let quantity = at.need("quantity", |quantity| {
        let units = quantity.quantity();
        if units == 0 {
            quantity.wrong("must be >= 1");
        }
        units
    });
    RequestedUnits { line_id, goods, quantity }
}

fn fields_of(kind: &FieldType) -> &'static [Field] {
    match kind.resolved() {
        FieldType::Object(fields) => fields,
        _ => &[],
    }
}

/// Returns a return as its order stores it.
pub fn stored_return(returned: &ReturnAnswer) -> OrderReturn {
    let text = Writer::record_of(|out| write_return(out, returned));
    let document = Node::read(text.as_bytes()).map(|node| match node {
        Node::Object(members) => JsonMembers::of(&members),
        _ => JsonMembers::default(),
    });
    OrderReturn {
        id: returned.id.clone(),
        uncovered: returned.uncovered,
        remaining_discounts: returned.parts.iter().map(|part| part.remaining.clone()).collect(),
        document: document.unwrap_or_default(),
    }
}

fn write_return(out: &mut Writer, returned: &ReturnAnswer) {
    out.object(|out| {
        out.write_text("id", &returned.id);
        out.write_constant("object", "order_return");
        out.write_text("date", &returned.date.text());
        out.constant_if("policy", name_of(POLICIES, returned.policy));
        out.member("items").list(|out| {
            for line in &returned.lines {
                let share = &line.share;
                // Both are parts of the amount of one line.
                let gross = Money::capped_sum([share.paid_gross, share.free_gross]);
                out.item().object(|out| {
                    out.text_or_null("id", line.line_id.as_ref());
                    out.write_number("quantity", share.paid);
                    out.write_number("free_quantity", share.free);
                    out.write_number("amount", gross.minor());
                    out.write_number("discount_amount", share.line_discount().minor());
                    out.write_number("order_discount_amount", share.order_discount.minor());
                });
            }
        });
        out.write_number("amount", returned.amount.minor());
        out.write_number("discount_amount", returned.discount.minor());
        out.write_number("refund_amount", returned.refund.minor());
        out.money_if("uncovered_amount", Some(returned.uncovered).filter(|remaining| !remaining.is_zero()));
        out.member("redemptions").list(|out| returned.parts.iter().for_each(|part| write_part(out.item(), part)));
        out.member("metadata").metadata(&returned.metadata);
    });
}

fn write_part(out: &mut Writer, part: &ReturnedRedemption) {
    let redemption = &part.redemption;
    out.object(|out| {
        out.write_text("id", &redemption.id);
        out.write_constant(
            "related_object_type",
            if redemption.voucher.is_some() { "voucher" } else { "promotion_tier" },
        );
        out.text_or_null(
            "related_object_id",
            redemption.voucher.as_ref().map(|one| &one.id).or(redemption.redeemed.as_ref()),
        );
        out.constant_if("policy", name_of(POLICIES, part.policy));
        out.write_number("discount_amount", part.discount.minor());
        out.write_flag("given_back", part.is_fully_returned);
        match part.spent {
            Some(SpentUnits::Credits(credits)) => out.member("gift").object(|out| out.write_number("amount", credits)),
            Some(SpentUnits::Points(points)) => {
                out.member("loyalty_card").object(|out| out.write_number("points", points))
            }
            None => {}
        }
        if let Some(lost) = &part.lost {
            out.member("lost").object(|out| {
                out.write_text("key", lost.reason.key());
                out.write_text("message", lost.reason.message());
                out.write_text("details", &lost.details());
            });
        }
        out.member("remaining").object(|out| write_remaining(out, &part.remaining));
    });
}

fn write_remaining(out: &mut Writer, remaining: &RemainingDiscount) {
    out.money_if("discount_amount", Some(remaining.discount).filter(|off| !off.is_zero()));
    if remaining.lines.is_empty() {
        return;
    }
    out.member("items").list(|out| {
        for line in &remaining.lines {
            out.item().object(|out| {
                out.write_text("id", &line.line_id);
                out.money_if("discount_amount", Some(line.discount).filter(|off| !off.is_zero()));
                for (name, count) in
                    [("quantity", line.units), ("free_quantity", line.free_units), ("amount", line.worth)]
                {
                    if count != 0 {
                        out.member(name).integer(count);
                    }
                }
            });
        }
    });
}

/// Returns the record of the order after a return, which contains the return.
pub fn order_record(returned: &ReturnAnswer) -> Option<Record> {
    let mut returns = returned.order.returns.clone();
    returns.push(stored_return(returned));
    let order = Order { returns, ..returned.order.clone() };
    let (cart, priced) = (Cart::stored(&order), PricedOrder::default());
    let record = OrderRecord {
        view: OrderView::new(&order, &priced, &cart, AppliedScope::Nothing),
        updated_at: Some(returned.date),
        customer_id: order.customer_id.as_ref(),
        entry: None,
        with_parties: true,
    };
    let text = Writer::record_of(|out| record.write(out));
    Some(Record {
        kind: "order",
        id: order.id.clone()?,
        parent: order.source_id.clone(),
        holder: order.customer_id.clone(),
        text,
    })
}
