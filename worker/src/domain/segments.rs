//! Filters and membership of segments. The engine tests the members, so that lists and rules agree.

use crate::domain::balances::kinds::CustomerBalances;
use crate::domain::clock::LocalTime;
use crate::http::reply::{ErrorBody, invalid_payload};
use crate::http::route::Call;
use crate::http::shape::value_text;
use crate::store::document::{Document, DocumentBody, read_loaded, readable};
use crate::store::sql::Fault;
use scrip::rules::Segment;
use scrip::text::Text;
use scrip::wire::Problem;
use scrip::wire::customer::read_customer;
use scrip::wire::document::read_fields;
use scrip::wire::rules::{FIELD_CONDITIONS, read_segment};
use serde_json::{Map, Value as Json};

/// Checks that a filter is `{ junction, "<field path>": { conditions: { "$operator": value or values } } }`.
pub fn check_filter(filter: &Map<String, Json>, path: &str) -> Result<(), ErrorBody> {
    for (field, rule) in filter.iter().filter(|(field, _)| *field != "junction") {
        let place = format!("{path}.{field}");
        let Some(rule) = rule.as_object() else {
            return Err(
                Problem::at(&place, format!("must be an object (actual value is `{}`)", value_text(rule))).into()
            );
        };
        let conditions = rule.get("conditions").ok_or_else(|| Problem::missing(&place, "conditions"))?;
        let Some(conditions) = conditions.as_object() else {
            let message = format!("must be an object (actual value is `{}`)", value_text(conditions));
            return Err(Problem::at(format!("{place}.conditions"), message).into());
        };
        if let Some(operator) = conditions.keys().find(|name| !FIELD_CONDITIONS.iter().any(|known| known.name == *name))
        {
            let known: Vec<&str> = FIELD_CONDITIONS.iter().map(|known| known.name).collect();
            let message = format!("must have operators of {} (actual value is `{operator}`)", known.join(", "));
            return Err(Problem::at(format!("{place}.conditions"), message).into());
        }
    }
    let junction = filter.get("junction").and_then(Json::as_str).map(str::to_ascii_lowercase);
    match junction.as_deref() {
        Some("and" | "or") => Ok(()),
        _ => {
            let message = format!("Property .{path} has wrong `junction` property. It must be one of: and, or");
            Err(invalid_payload(message))
        }
    }
}

/// Tests if a segment contains a customer, who may not be stored. `count` returns the number of events with a name of a customer id, and
/// `held` the balances of the customer's cards.
pub fn is_in_segment(
    time: &LocalTime,
    segment: &Segment,
    customer: &DocumentBody,
    count: &dyn Fn(&str, &str) -> Result<u64, Fault>,
    held: &dyn Fn() -> Result<CustomerBalances, Fault>,
) -> Result<bool, Fault> {
    let mut with_balances = Map::new();
    let customer = match segment.uses_balances() {
        false => customer,
        true => {
            with_balances.clone_from(customer);
            held()?.complete(&mut with_balances);
            &with_balances
        }
    };
    let Ok(customer) = read_fields(customer, read_customer) else { return Ok(false) };
    let customer_id = customer.id.as_deref().unwrap_or_default();
    let counts = segment.events().map(|name| Ok((name, count(customer_id, name)?)));
    let events: Vec<(&Text, u64)> = counts.collect::<Result<_, Fault>>()?;
    let count = |name: &str| events.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
    Ok(segment.has(&customer, &count, &time.clock()))
}

/// Parses a stored segment; `None` when it cannot be read, and then it is empty.
pub fn read_stored_segment(call: &Call<'_, '_>, document: &Document) -> Result<Option<Segment>, Fault> {
    readable(call.store, read_loaded("segment", document, read_segment))
}
