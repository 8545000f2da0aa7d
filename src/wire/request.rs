//! Decides how requests to validate, redeem and roll back are read. It must not know what they lead to.
//!
//! endpoints.md section 1, shapes S1 to S4 and S8; clients.md: explicit nulls count as left out.

use crate::decide::rollback::RollBack;
use crate::json::Node;
use crate::model::customer::Customer;
use crate::model::request::{Expand, Redeemable, RedeemableObject, Redeemables, Session, TtlUnit, WantedReward};
use crate::shape::{COUNT, Field, KEY, Kind, METADATA, Shape, may, must};
use crate::shape::{fields_of, one_of, shape};
use crate::text::Text;
use crate::wire::cursor::{Cursor, Words, read, read_node};
use crate::wire::customer::{CUSTOMER, read_sent_customer};
use crate::wire::document::{read_request, read_whole};
use crate::wire::order::{ORDER, read_order};
use crate::wire::problem::Problem;

const OBJECTS: Words<RedeemableObject> = &[
    ("voucher", RedeemableObject::Voucher),
    ("promotion_tier", RedeemableObject::PromotionTier),
    ("promotion_stack", RedeemableObject::PromotionStack),
];

/// The words for the units of a session's time to live.
pub(crate) const TTL_UNITS: Words<TtlUnit> = &[
    (TtlUnit::Days.name(), TtlUnit::Days),
    (TtlUnit::Hours.name(), TtlUnit::Hours),
    (TtlUnit::Minutes.name(), TtlUnit::Minutes),
    (TtlUnit::Seconds.name(), TtlUnit::Seconds),
    (TtlUnit::Milliseconds.name(), TtlUnit::Milliseconds),
    (TtlUnit::Microseconds.name(), TtlUnit::Microseconds),
    (TtlUnit::Nanoseconds.name(), TtlUnit::Nanoseconds),
];

/// What can be redeemed.
pub const OBJECT: Kind = Kind::Named(&Shape {
    name: "RedeemableObject",
    meaning: "What can be redeemed: a gift card and a loyalty card are vouchers",
    kind: one_of!(OBJECTS),
});

/// What is spent of a gift card.
pub const CREDITS: Kind = Kind::Object(&[may("credits", COUNT).says("Minor units; as much as possible when left out")]);

/// A redeemable as it is asked for.
pub const REDEEMABLE: Kind = shape!(
    "RedeemableRequest",
    "A redeemable as it is asked for",
    &[
        must("object", OBJECT),
        must("id", KEY).says("Of a voucher its code, of a tier or a stack its id"),
        may("gift", CREDITS).says("What is spent of a gift card"),
        may("reward", Kind::Object(&[must("id", KEY), may("points", COUNT)])),
    ]
);

/// The words for the units of a session's time to live.
pub const TTL_UNIT: Kind = one_of!(TTL_UNITS);
/// The kind of a session.
pub const LOCK: Kind = Kind::OneOf(&["LOCK"]);

/// A lock that is asked for.
pub const SESSION: Kind = shape!(
    "SessionRequest",
    "A lock on what applies, so that it can be redeemed with its key",
    &[
        may("type", LOCK),
        may("key", KEY).says("Whose lock; the service makes one when left out"),
        may("ttl", COUNT).says("How long it lasts"),
        may("ttl_unit", TTL_UNIT).says("The unit of `ttl`"),
    ]
);

/// What an answer shows beyond the usual.
pub const OPTIONS: Kind = shape!(
    "OptionsRequest",
    "What an answer shows beyond the usual",
    &[may("expand", Kind::List(&Kind::Text, 0, 100))
        .says("`order`, `redemption`, `redeemable`, `category`, `trace`; other names are passed over")]
);

/// What stands around redeemables.
const AROUND: &[Field] = &[
    may("order", ORDER).says("The cart"),
    may("customer", Kind::Named(&CUSTOMER)).says("Whose cart it is"),
    may("session", SESSION),
    may("tracking_id", Kind::Text),
    METADATA.says("Of the redemption; rules may ask for it"),
];

/// The body of a validation or a redemption.
pub const REDEEMABLES: Shape = Shape {
    name: "ValidationRequest",
    meaning: "What is asked: redeemables, and the order that they are for",
    kind: Kind::Object(fields_of!(
        &[must("redeemables", Kind::List(&REDEEMABLE, 1, 30))
            .says("In the order in which they are applied; a promotion stack stands alone")],
        AROUND,
        &[may("options", OPTIONS)],
    )),
};

/// The body of a rollback.
pub const ROLLBACK: Shape = Shape {
    name: "RollbackRequest",
    meaning: "Why and for whom a redemption is rolled back",
    kind: Kind::Object(&[
        may("reason", Kind::Text),
        may("tracking_id", Kind::Text),
        may("customer", Kind::Named(&CUSTOMER)).says("Must be whoever redeemed"),
        may("order", ORDER).says("Which order, and how it stands now"),
        METADATA,
    ]),
};

/// Reads the body of a validation or a redemption.
pub fn read_redeemables(bytes: &[u8]) -> Result<Redeemables, Problem> {
    read_request(bytes, read_body)
}

/// The same of a body that is a tree already.
pub fn read_redeemables_node(body: &Node<'_>) -> Result<Redeemables, Problem> {
    read_node(body, read_body)
}

fn read_body(body: &Cursor<'_>) -> Redeemables {
    body.object();
    body.need("redeemables", |_| ());
    let redeemables = body.list("redeemables", read_redeemable);
    if redeemables.is_empty() {
        body.tell(Problem::at("redeemables", "must NOT have fewer than 1 items"));
    }
    let mut request = read_around(body);
    request.redeemables = redeemables;
    body.fill("options", &mut request.expand, read_options);
    request
}

/// Reads what stands around redeemables, and around what is asked in their place.
#[inline(never)]
pub(crate) fn read_around(body: &Cursor<'_>) -> Redeemables {
    let mut request = Redeemables::default();
    body.fill_some("customer", &mut request.customer, read_sent_customer);
    body.fill_some("order", &mut request.order, read_order);
    // Older forms say with the order who buys.
    if request.customer.is_none() {
        request.customer = body.get("order").and_then(|order| {
            let named = || Some(Customer { id: Some(order.option("customer_id", read::text)?), ..Customer::default() });
            order.option("customer", read_sent_customer).or_else(named)
        });
    }
    body.fill_some("session", &mut request.session, read_session);
    body.fill_some("tracking_id", &mut request.tracking_id, read::name);
    request.tracking_id = request.tracking_id.filter(|id| !id.is_empty());
    body.fill("metadata", &mut request.metadata, read::metadata);
    request
}

fn read_redeemable(at: &Cursor<'_>) -> Redeemable {
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
        WantedReward { id, points: reward.option("points", read::whole_number) }
    });
    Redeemable { object, credits: credits.flatten(), reward, ..Redeemable::named(id) }
}

/// The session of a request.
pub(crate) fn read_session(at: &Cursor<'_>) -> Session {
    at.object();
    // What only a lock has says nothing without one.
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

/// What the options name; names that mean nothing here are passed over, as older clients send some.
fn read_options(at: &Cursor<'_>) -> Expand {
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

/// Reads the body of a rollback; an empty one says nothing.
pub fn read_rollback(redemption_id: &str, stack: bool, bytes: &[u8]) -> Result<RollBack, Problem> {
    read_whole(if bytes.is_empty() { b"{}" } else { bytes }, |body| read_undoing(redemption_id, stack, body))
}

/// The same of a body that is a tree already.
pub fn read_rollback_node(redemption_id: &str, stack: bool, body: &Node<'_>) -> Result<RollBack, Problem> {
    read_node(body, |body| read_undoing(redemption_id, stack, body))
}

fn read_undoing(redemption_id: &str, stack: bool, body: &Cursor<'_>) -> RollBack {
    body.object();
    RollBack {
        redemption_id: Text::from(redemption_id),
        stack,
        reason: body.option("reason", read::string),
        tracking_id: body.option("tracking_id", read::name),
        customer: body.option("customer", read_sent_customer),
        order: body.option("order", read_order),
        metadata: body.option("metadata", read::metadata).unwrap_or_default(),
    }
}
