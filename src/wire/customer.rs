//! Reads customers from requests and records.

use crate::model::customer::Customer;
use crate::shape::shape;
use crate::shape::{AMOUNT, COUNT, Field, FieldType, KEY, METADATA, Shape, may, must};
use crate::time::{Day, Instant};
use crate::wire::cursor::{JsonCursor, read};

/// An address.
pub const ADDRESS: FieldType = shape!(
    "Address",
    "Postal address of a customer.",
    &[
        may("city", FieldType::Text).or_null().description("City of the address."),
        may("state", FieldType::Text).or_null().description("State or region of the address."),
        may("line_1", FieldType::Text).or_null().description("First line of the address, with street and number."),
        may("line_2", FieldType::Text).or_null().description("Second line of the address."),
        may("country", FieldType::Text).or_null().description("Country of the address, as sent."),
        may("postal_code", FieldType::Text).or_null().description("Postal code of the address."),
    ]
);

/// A customer in a request.
pub const CUSTOMER: Shape = Shape {
    name: "CustomerRequest",
    description: "Customer in a request: names, profile and metadata.",
    kind: FieldType::Object(&[
        may("id", KEY),
        may("source_id", KEY)
            .description("Unique name of the customer in the merchant's system. The name of a stored customer never changes."),
        may("name", FieldType::Text).description("Full name of the customer."),
        may("description", FieldType::Text).description("Note of the merchant on the customer."),
        may("email", FieldType::Text)
            .description("Email address. In decisions, orders, events and publications, identifies the customer if neither `id` nor `source_id` is sent."),
        may("phone", FieldType::Text).description("Phone number of the customer, stored as sent."),
        may("birthday", FieldType::Date).description("Date of birth, used if `birthdate` is absent."),
        may("birthdate", FieldType::Date).description("Date of birth. A date-time is accepted as well."),
        may("address", ADDRESS).description("Postal address. `null` removes the address of a stored customer."),
        METADATA,
    ]),
};

/// The summary of a customer's redemptions.
const SUMMARY: FieldType = FieldType::Object(&[
    must(
        "redemptions",
        FieldType::Object(&[
            must("total_redeemed", COUNT).description("Number of redemptions that succeeded and were not rolled back."),
            must("total_failed", COUNT).description("Number of redemptions that failed."),
            must("total_succeeded", COUNT)
                .description("Number of redemptions that succeeded, with those rolled back later."),
            must("total_rolled_back", COUNT).description("Number of redemptions that were rolled back."),
            must("total_rollback_failed", COUNT).description("Number of rollbacks that failed."),
            must("total_rollback_succeeded", COUNT).description("Number of rollbacks that succeeded."),
            must(
                "gift",
                FieldType::Object(&[
                    must("redeemed_amount", AMOUNT).description("Gift credits that were spent, in minor units."),
                    must("amount_to_go", AMOUNT)
                        .description("Gift credits left on the gift cards that the customer holds, in minor units."),
                ]),
            )
            .description("Gift credits of the customer."),
            must(
                "loyalty_card",
                FieldType::Object(&[
                    must("redeemed_points", COUNT).description("Number of points that were spent."),
                    must("points_to_go", COUNT)
                        .description("Number of points left on the loyalty cards that the customer holds."),
                ]),
            )
            .description("Points of the customer on loyalty cards."),
        ]),
    )
    .description("Counts of redemptions and rollbacks of the customer."),
    must(
        "orders",
        FieldType::Object(&[
            must("total_amount", AMOUNT).description("Amount of all paid orders after discounts, in minor units."),
            must("total_count", COUNT).description("Number of paid orders."),
            must("average_amount", AMOUNT).description("Average amount of a paid order, in minor units."),
            must("last_order_amount", AMOUNT)
                .description("Amount of the latest paid order, in minor units. 0 if the customer paid no order."),
            must("last_order_date", FieldType::DateTime).or_null().description(
                "Moment at which the latest paid order was made, in UTC. `null` if the customer paid no order.",
            ),
        ]),
    )
    .description("Amounts and counts of the paid orders of the customer."),
]);

/// A customer in an answer.
pub const CUSTOMER_DOCUMENT: FieldType = shape!(
    "Customer",
    "Customer with profile, metadata and summary of redemptions and orders.",
    &[
        must("id", KEY),
        must("source_id", KEY)
            .or_null()
            .description("Unique name of the customer in the merchant's system. `null` if none was given."),
        may("name", FieldType::Text).or_null().description("Full name of the customer. `null` if unknown."),
        may("description", FieldType::Text)
            .or_null()
            .description("Note of the merchant on the customer. `null` if absent."),
        may("email", FieldType::Text).or_null().description("Email address of the customer. `null` if unknown."),
        may("phone", FieldType::Text).or_null().description("Phone number of the customer. `null` if unknown."),
        may("birthday", FieldType::Date).or_null().description("Date of birth, used if `birthdate` is `null`."),
        may("birthdate", FieldType::Date).or_null().description("Date of birth. `null` if unknown."),
        may("address", ADDRESS).or_null().description("Postal address of the customer. `null` if unknown."),
        may("metadata", FieldType::Map),
        may("system_metadata", FieldType::Map).description("Empty object, kept for existing clients."),
        must("summary", SUMMARY).description("Counts and amounts of redemptions and orders of the customer."),
        must(
            "loyalty",
            FieldType::Object(&[
                may("points", COUNT).description("Number of points left on the loyalty cards that the customer holds."),
                must("referred_customers", COUNT)
                    .description("Number of customers referred by this customer, by all referral campaigns."),
                must("campaigns", FieldType::Map)
                    .description("Points and number of referred customers by name of the campaign."),
            ]),
        )
        .description("Points on loyalty cards, and number of referred customers."),
        may(
            "referrals",
            FieldType::Object(&[
                must(
                    "campaigns",
                    FieldType::List(
                        &FieldType::Object(&[
                            must("campaign_id", KEY).description("ID of the referral campaign."),
                            must("referrer_id", KEY).description("ID of the customer who referred this customer."),
                            must("related_object_id", KEY).description("ID of the referral code, a voucher."),
                            must("related_object_type", FieldType::Text)
                                .description("Type of the object in `related_object_id`. Always `voucher`."),
                            must("date", FieldType::DateTime).description("Moment of the referral, in UTC."),
                        ]),
                        0,
                        usize::MAX
                    ),
                )
                .description("Referrals of the customer, the oldest first."),
                must("total", COUNT).description("Number of referrals of the customer."),
            ]),
        )
        .description("Referrals by which the customer came as a referee."),
        may("created_at", FieldType::DateTime),
        may("updated_at", FieldType::DateTime).or_null(),
        may("object", FieldType::OneOf(&["customer"])),
    ]
);

/// Reads the customer of a request. A profile that could not be stored is refused in every request: otherwise a
/// validation would accept a redemption that fails to store it.
pub(crate) fn read_sent_customer(at: &JsonCursor<'_>) -> Customer {
    check_profile(at, CUSTOMER.fields());
    read_customer(at)
}

/// Reports parts of a profile that do not match its shape. Names and metadata are checked when they are read.
fn check_profile(at: &JsonCursor<'_>, fields: &[Field]) {
    at.object();
    for field in fields {
        let Some(member) = at.get(field.name) else { continue };
        match field.kind.resolved() {
            FieldType::Text => {
                member.str();
            }
            FieldType::Date => read_day(&member),
            FieldType::Object(inner) => check_profile(&member, inner),
            _ => {}
        }
    }
}

/// Checks a date, of any year, or a date-time.
fn read_day(at: &JsonCursor<'_>) {
    let is_day = |text: &str| Day::parse(text).is_some() || Instant::parse(text).is_some();
    if !at.node.as_str().is_some_and(is_day) {
        at.wrong("cannot be recognized as a ISO-8601 compliant date");
    }
}

/// Reads the customer of a request or a record: id and `source_id`, metadata, and the rest of the profile as it came.
pub fn read_customer(at: &JsonCursor<'_>) -> Customer {
    let mut document = at.metadata();
    at.option("metadata", |metadata| metadata.check_names());
    let has_metadata = at.get("metadata").is_some_and(|metadata| !metadata.node.is_null());
    Customer {
        has_metadata,
        metadata: document.take_members("metadata"),
        document,
        id: at.option("id", read::name),
        source_id: at.option("source_id", read::name),
    }
}
