//! Decides how a customer is read, from a request and from a record. It must not know what is asked for the customer.

use crate::model::customer::Customer;
use crate::shape::shape;
use crate::shape::{Field, KEY, Kind, METADATA, Shape, may};
use crate::time::{Day, Instant};
use crate::wire::cursor::{Cursor, read};

/// An address.
pub const ADDRESS: Kind = shape!(
    "Address",
    "An address",
    &[
        may("city", Kind::Text).says("The town"),
        may("state", Kind::Text).says("The state or region"),
        may("line_1", Kind::Text).says("Street and number"),
        may("line_2", Kind::Text).says("What else is needed to find it"),
        may("country", Kind::Text).says("The country"),
        may("postal_code", Kind::Text).says("The postal code"),
    ]
);

/// A customer as one is sent, wherever.
pub const CUSTOMER: Shape = Shape {
    name: "CustomerRequest",
    meaning: "A customer as one is sent: two names, custom data and a profile",
    kind: Kind::Object(&[
        may("id", KEY),
        may("source_id", KEY),
        may("name", Kind::Text),
        may("description", Kind::Text),
        may("email", Kind::Text).says("The e-mail address; it names nobody"),
        may("phone", Kind::Text).says("The telephone number"),
        may("birthday", Kind::Date).says("The day of birth"),
        may("birthdate", Kind::Date).says("The day of birth"),
        may("address", ADDRESS).says("Where they live"),
        METADATA,
    ]),
};

/// The customer of a request. A profile that could not be stored is refused whatever is asked: otherwise a validation would say yes
/// where the redemption, which stores it, says no.
pub(crate) fn read_sent_customer(at: &Cursor<'_>) -> Customer {
    check_profile(at, CUSTOMER.fields());
    read_customer(at)
}

/// Refuses what of a profile is none of what its shape says. Names and custom data are read where they are needed.
fn check_profile(at: &Cursor<'_>, fields: &[Field]) {
    at.object();
    for field in fields {
        let Some(member) = at.get(field.name) else { continue };
        match field.kind.meant() {
            Kind::Text => {
                member.str();
            }
            Kind::Date => read_day(&member),
            Kind::Object(inner) => check_profile(&member, inner),
            _ => {}
        }
    }
}

/// A date, of any year, or a date-time.
fn read_day(at: &Cursor<'_>) {
    let is_day = |text: &str| Day::parse(text).is_some() || Instant::parse(text).is_some();
    if !at.node.as_str().is_some_and(is_day) {
        at.wrong("cannot be recognized as a ISO-8601 compliant date");
    }
}

/// The customer of a request or a record: two identifiers, custom data, and the rest of the profile as it came.
pub fn read_customer(at: &Cursor<'_>) -> Customer {
    let mut document = at.metadata();
    at.option("metadata", |metadata| metadata.check_names());
    Customer {
        metadata: document.take_members("metadata"),
        document,
        id: at.option("id", read::name),
        source_id: at.option("source_id", read::name),
    }
}
