//! What works for a customer and an order: the request goes to the engine with everything that the project offers. It must
//! not know how anything is decided, and it writes nothing.

use crate::api::deciding;
use crate::api::fields::{CUSTOMER, KEY};
use crate::api::redemptions::ORDER;
use crate::auth::Class;
use crate::route::{Answer, Call, Outcome, Route, post};
use crate::shape::{Field, Kind, may};
use scrip::decide;
use scrip::wire::qualification::{read_qualification, write_qualification};

const TEXTS: Kind = Kind::List(&Kind::Text, 1, 100);
const CONDITIONS: Kind = Kind::Object(&[may(
    "conditions",
    Kind::Object(&[
        may("$is", TEXTS),
        may("$is_not", TEXTS),
        may("$in", TEXTS),
        may("$not_in", TEXTS),
        may("$has_value", Kind::Any),
        may("$is_unknown", Kind::Any),
    ]),
)]);

const OPTIONS: Kind = Kind::Object(&[
    may("limit", Kind::Int(1, 50)),
    may("starting_after", Kind::DateTime),
    may(
        "filters",
        Kind::Object(&[
            may("junction", Kind::OneOf(&["and", "or"])),
            may("category_id", CONDITIONS),
            may("campaign_id", CONDITIONS),
            may("campaign_type", CONDITIONS),
            may("resource_id", CONDITIONS),
            may("resource_type", CONDITIONS),
            may("voucher_type", CONDITIONS),
            may("code", CONDITIONS),
            may("holder_role", CONDITIONS),
        ]),
    ),
    may("expand", Kind::List(&Kind::Text, 0, 100)),
    may("sorting_rule", Kind::OneOf(&["BEST_DEAL", "LEAST_DEAL", "DEFAULT"])),
]);

/// The engine reads these bodies itself; the fields are here for the description.
const QUALIFY: &[Field] = &[
    may("customer", Kind::Object(CUSTOMER)),
    may("order", ORDER),
    may("tracking_id", Kind::Text),
    may(
        "scenario",
        Kind::OneOf(&[
            "ALL",
            "CUSTOMER_WALLET",
            "AUDIENCE_ONLY",
            "PRODUCTS",
            "PRODUCTS_DISCOUNT",
            "PROMOTION_STACKS",
            "PRODUCTS_BY_CUSTOMER",
            "PRODUCTS_DISCOUNT_BY_CUSTOMER",
        ]),
    ),
    may("options", OPTIONS),
    may("session", Kind::Object(&[may("type", Kind::OneOf(&["LOCK"])), may("key", KEY)])),
    may("metadata", Kind::Map),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/qualifications", "Find what works for a customer and an order", qualify)
        .scope("qualifications")
        .body(QUALIFY)
        .answers(200, "qualifications"),
    post("/client/v1/qualifications", "Find what works for a customer and an order, from a page", qualify)
        .for_classes(&[Class::Client, Class::OAuth])
        .scope("qualifications")
        .body(QUALIFY)
        .answers(200, "qualifications"),
];

fn qualify(call: &mut Call<'_, '_>) -> Outcome {
    let body = &call.request.body;
    let body = if body.iter().all(u8::is_ascii_whitespace) { b"" } else { body.as_slice() };
    let mut asked = read_qualification(body)?;
    asked.request.channel = deciding::channel(call);
    let facts = deciding::facts(call)?;
    let decided = decide::qualify(&facts, &asked, call.context)
        .map(|decision| write_qualification(&decision.answer, call.context));
    facts.finish()?;
    Ok(Answer::bytes(decided?))
}
