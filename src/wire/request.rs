//! Reads requests to validate, redeem and roll back.
//!
//! docs/spec/endpoints.md section 1, shapes S1 to S4 and S8; docs/spec/clients.md: explicit nulls count as left out.

use crate::decide::rollback::RollbackRequest;
use crate::json::Node;
use crate::model::customer::Customer;
use crate::model::request::{
    Expand, RedeemableObject, Redeemables, RequestedRedeemable, RequestedReward, Session, TtlUnit,
};
use crate::shape::{COUNT, Field, FieldType, KEY, METADATA, Shape, may, must};
use crate::shape::{fields_of, one_of, shape};
use crate::text::Text;
use crate::wire::cursor::{JsonCursor, NameTable, read, read_node};
use crate::wire::customer::{CUSTOMER, read_sent_customer};
use crate::wire::document::{read_bytes, read_request};
use crate::wire::order::{ORDER, read_order};
use crate::wire::problem::Problem;

const OBJECTS: NameTable<RedeemableObject> = &[
    ("voucher", RedeemableObject::Voucher),
    ("promotion_tier", RedeemableObject::PromotionTier),
    ("promotion_stack", RedeemableObject::PromotionStack),
];

/// The names of the units of a session's duration.
pub(crate) const TTL_UNITS: NameTable<TtlUnit> = &[
    (TtlUnit::Days.name(), TtlUnit::Days),
    (TtlUnit::Hours.name(), TtlUnit::Hours),
    (TtlUnit::Minutes.name(), TtlUnit::Minutes),
    (TtlUnit::Seconds.name(), TtlUnit::Seconds),
    (TtlUnit::Milliseconds.name(), TtlUnit::Milliseconds),
    (TtlUnit::Microseconds.name(), TtlUnit::Microseconds),
    (TtlUnit::Nanoseconds.name(), TtlUnit::Nanoseconds),
];

/// The types of redeemables.
pub const OBJECT: FieldType = FieldType::Named(&Shape {
    name: "RedeemableObject",
    description: "Type of redeemable. Gift cards and loyalty cards are of type `voucher`.",
    kind: one_of!(OBJECTS),
});

/// The credits of a gift card to spend.
pub const CREDITS: FieldType = FieldType::Object(&[may("credits", COUNT)
    .description("Gift credits to spend, in minor units. Absent means the highest possible number.")]);

/// A redeemable in a request.
pub const REDEEMABLE: FieldType = shape!(
    "RedeemableRequest",
    "Redeemable in a request.",
    &[
        must("object", OBJECT).description("Type of the redeemable."),
        must("id", KEY).description("Code of a voucher, or ID of a promotion tier or promotion stack."),
        may("gift", CREDITS).description("Gift credits to spend, for a gift card."),
        may(
            "reward",
            FieldType::Object(&[
                must("id", KEY).description("ID of the reward."),
                may("points", COUNT).description(
                    "Number of points to spend on a reward of type `COIN`. Absent means the highest number that order and card allow."
                )
            ])
        )
        .description("Reward that points buy. Required for a loyalty card."),
    ]
);

/// The unit of a session's duration.
pub const TTL_UNIT: FieldType = one_of!(TTL_UNITS);
/// The type of a session.
pub const LOCK: FieldType = FieldType::OneOf(&["LOCK"]);

/// A session in a request.
pub const SESSION: FieldType = shape!(
    "SessionRequest",
    "Session, which can set a lock that reserves the applied redeemables until they are redeemed with the key.",
    &[
        may("type", LOCK)
            .description("Type of session. `LOCK` sets a lock; absent sets none, and uses the lock with this key."),
        may("key", KEY).description("Key of the session. Absent means a generated key."),
        may("ttl", COUNT)
            .description("Lifetime of the lock, in `ttl_unit`. Absent means 7 days, for a client the longest lifetime of the client policy."),
        may("ttl_unit", TTL_UNIT).description("Unit of `ttl`. Default `DAYS`."),
    ]
);

/// The optional fields of an answer.
pub const OPTIONS: FieldType = shape!(
    "OptionsRequest",
    "Names of further data to include in the answer.",
    &[may("expand", FieldType::List(&FieldType::Text, 0, 100)).description(
        "Names of data to include: `order`, `redemption`, `redeemable`, `category`, `trace`. Other names are ignored."
    )]
);

/// The members of a request other than redeemables.
const AROUND: &[Field] = &[
    may("order", ORDER).description("Order to apply the redeemables to. An `id` without other fields loads the stored order."),
    may("customer", FieldType::Named(&CUSTOMER))
        .description("Customer who redeems. From a client with a customer token, the customer of the token."),
    may("session", SESSION).description("Session that sets or uses a lock. Absent means no lock."),
    may("tracking_id", FieldType::Text)
        .description("Identifier of the customer: a `tracking_id` of an earlier answer, or a `source_id`. Used if no customer is sent."),
    METADATA.description("Metadata of the redemption, which validation rules can test."),
];

/// The body of a validation or a redemption.
pub const REDEEMABLES: Shape = Shape {
    name: "ValidationRequest",
    description: "Redeemables to validate or redeem, and the order to apply them to.",
    kind: FieldType::Object(fields_of!(
        &[must("redeemables", FieldType::List(&REDEEMABLE, 1, 30)).description(
            "Redeemables in the order of application. Each may occur once, and a promotion stack must be the only one."
        )],
        AROUND,
        &[may("options", OPTIONS).description("Names of further data to include in the answer.")],
    )),
};

/// The body of a rollback.
pub const ROLLBACK: Shape = Shape {
    name: "RollbackRequest",
    description: "Reason of a rollback, and checks on customer and order.",
    kind: FieldType::Object(&[
        may("reason", FieldType::Text).description("Reason of the rollback, stored with the rollback."),
        may("tracking_id", FieldType::Text)
            .description("Tracking ID or `source_id` of the customer who redeemed. Another customer is refused with `invalid_customer`."),
        may("customer", FieldType::Named(&CUSTOMER))
            .description("Customer who redeemed. Another customer is refused with `invalid_customer`."),
        may("order", ORDER)
            .description("Order of the redemption, whose `status` becomes the status after the rollback. Another order is refused with `invalid_order`."),
        METADATA,
    ]),
};

/// Reads the body of a validation or a redemption.
pub fn read_redeemables(bytes: &[u8]) -> Result<Redeemables, Problem> {
    read_request(bytes, read_body)
}

/// Reads the body of a validation or a redemption that was parsed before.
pub fn read_redeemables_node(body: &Node<'_>) -> Result<Redeemables, Problem> {
    read_node(body, read_body)
}

fn read_body(body: &JsonCursor<'_>) -> Redeemables {
    body.object();
    body.need("redeemables", |_| ());
    let redeemables = body.list("redeemables", read_redeemable);
    if redeemables.is_empty() {
        body.report(Problem::at("redeemables", "must NOT have fewer than 1 items"));
    }
    let mut request = read_other_members(body);
    request.redeemables = redeemables;
    body.fill("options", &mut request.expand, read_options);
    request
}

/// Reads the members of a request other than redeemables.
#[inline(never)]
pub(crate) fn read_other_members(body: &JsonCursor<'_>) -> Redeemables {
    let mut request = Redeemables::default();
    body.fill_optional("customer", &mut request.customer, read_sent_customer);
    body.fill_optional("order", &mut request.order, read_order);
    // The returns of an order are read only from its record.
    if let Some(order) = &mut request.order {
        order.returns.clear();
        order.uncovered = None;
    }
    // Older formats contain the customer in the order.
    if request.customer.is_some() {
        let named = body.node.get("order").and_then(|order| order.get("customer"));
        let name = |member| named?.get(member)?.as_str().map(Text::from);
        request.order_names = ["id", "source_id"].map(name);
    } else {
        request.customer = body.get("order").and_then(|order| {
            let named = || Some(Customer { id: Some(order.option("customer_id", read::text)?), ..Customer::default() });
            order.option("customer", read_sent_customer).or_else(named)
        });
    }
    body.fill_optional("session", &mut request.session, read_session);
    body.fill_optional("tracking_id", &mut request.tracking_id, read::name);
    request.tracking_id = request.tracking_id.filter(|id| !id.is_empty());
    body.fill("metadata", &mut request.metadata, read::metadata);
    request
}

fn read_redeemable(at: &JsonCursor<'_>) -> RequestedRedeemable {
    at.object();
    let id = at.need("id", |id| {
        let text = id.name();
        if text.is_empty() {
            id.wrong("must NOT be empty");
        }
        text
    });
    let object = at.need("object", |object| object.one_of(OBJECTS));
    let credits = at.option("gift", |gift| {
        gift.object();
        gift.option("credits", read::money)
    });
    let reward = at.option("reward", |reward| {
        reward.object();
        let id = reward.need("id", read::name);
        RequestedReward { id, points: reward.option("points", read::whole_number) }
    });
    RequestedRedeemable { object, credits: credits.flatten(), reward, ..RequestedRedeemable::named(id) }
}

/// The session of a request.
pub(crate) fn read_session(at: &JsonCursor<'_>) -> Session {
    at.object();
    // Members of a lock have no meaning without one.
    for (name, needed) in [("ttl", "type"), ("ttl_unit", "ttl")] {
        if at.get(name).is_some() && at.get(needed).is_none() {
            at.missing(needed);
        }
    }
    Session {
        lock: at.option("type", |kind| kind.one_of(&[("LOCK", ())])).is_some(),
        key: at.option("key", read::name).filter(|key| !key.is_empty()),
        ttl: at.option("ttl", read::whole_number),
        unit: at.option("ttl_unit", |unit| unit.one_of(TTL_UNITS)),
    }
}

/// Reads the names of expansions; unknown names are ignored, because older clients send some.
fn read_options(at: &JsonCursor<'_>) -> Expand {
    at.object();
    let names: Vec<Text> = at.option("expand", read::texts).unwrap_or_default();
    let named = |name: &str| names.iter().any(|given| given == name);
    Expand {
        redeemable: named("redeemable"),
        category: named("category"),
        redemption: named("redemption"),
        trace: named("trace"),
    }
}

/// Reads the body of a rollback; an empty one has the defaults.
pub fn read_rollback(redemption_id: &str, stack: bool, bytes: &[u8]) -> Result<RollbackRequest, Problem> {
    read_bytes(if bytes.is_empty() { b"{}" } else { bytes }, |body| read_undoing(redemption_id, stack, body))
}

/// Reads the body of a rollback that was parsed before.
pub fn read_rollback_node(redemption_id: &str, stack: bool, body: &Node<'_>) -> Result<RollbackRequest, Problem> {
    read_node(body, |body| read_undoing(redemption_id, stack, body))
}

fn read_undoing(redemption_id: &str, stack: bool, body: &JsonCursor<'_>) -> RollbackRequest {
    body.object();
    RollbackRequest {
        redemption_id: Text::from(redemption_id),
        stack,
        reason: body.option("reason", read::string),
        tracking_id: body.option("tracking_id", read::name),
        customer: body.option("customer", read_sent_customer),
        order: body.option("order", read_order),
        metadata: body.option("metadata", read::metadata).unwrap_or_default(),
    }
}
