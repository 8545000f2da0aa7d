//! Who and what belongs to a set: the shape of filters, the members of collections and of segments. The engine reads
//! sets and tests their members, so that a list has those whom a rule finds.
//! It must not know how sets are created or shown.

use crate::http::reply::{ErrorBody, invalid_payload};
use crate::http::route::Call;
use crate::http::shape::shown;
use crate::shop::zone;
use crate::store::document::{Document, legible, read_held};
use crate::store::sql::Fault;
use scrip::rules::{Clock, Collection, Contents, Segment};
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};
use scrip::wire::Problem;
use scrip::wire::customer::read_customer;
use scrip::wire::document::read_fields;
use scrip::wire::order::read_goods;
use scrip::wire::rules::{FIELD_CONDITIONS, read_collection, read_segment};
use serde_json::{Map, Value as Json};
use std::sync::Arc;

/// Checks that a filter is `{ junction, "<field path>": { conditions: { "$operator": value or values } } }`.
pub fn check_filter(filter: &Map<String, Json>, path: &str) -> Result<(), ErrorBody> {
    for (field, rule) in filter.iter().filter(|(field, _)| *field != "junction") {
        let place = format!("{path}.{field}");
        let Some(rule) = rule.as_object() else {
            return Err(Problem::at(&place, format!("must be an object (actual value is `{}`)", shown(rule))).into());
        };
        let conditions = rule.get("conditions").ok_or_else(|| Problem::missing(&place, "conditions"))?;
        let Some(conditions) = conditions.as_object() else {
            let told = format!("must be an object (actual value is `{}`)", shown(conditions));
            return Err(Problem::at(format!("{place}.conditions"), told).into());
        };
        if let Some(operator) = conditions.keys().find(|name| !FIELD_CONDITIONS.iter().any(|known| known.name == *name))
        {
            let known: Vec<&str> = FIELD_CONDITIONS.iter().map(|known| known.name).collect();
            let told = format!("must have operators of {} (actual value is `{operator}`)", known.join(", "));
            return Err(Problem::at(format!("{place}.conditions"), told).into());
        }
    }
    let junction = filter.get("junction").and_then(Json::as_str).map(str::to_ascii_lowercase);
    match junction.as_deref() {
        Some("and" | "or") => Ok(()),
        _ => {
            let told = format!("Property .{path} has wrong `junction` property. It must be one of: and, or");
            Err(invalid_payload(told))
        }
    }
}

/// What a filter needs to know of now.
pub struct Present {
    now: Instant,
    zone: Arc<TimeZone>,
}

impl Present {
    /// The moment of a call, in its project's zone.
    pub fn of(call: &Call<'_, '_>) -> Result<Present, Fault> {
        Ok(Present { now: call.context.now, zone: zone::of(call)? })
    }

    /// A moment in a zone.
    pub fn at(now: Instant, zone: Arc<TimeZone>) -> Present {
        Present { now, zone }
    }

    fn clock(&self) -> Clock<'_> {
        Clock { now: self.now, zone: &self.zone, work: None }
    }

    /// Whether a collection has a product or a SKU. Nothing is in one that does not read.
    pub fn is_in_collection(&self, collection: &Collection, goods: &Document) -> bool {
        match &collection.goods {
            Contents::All => true,
            // A product that is listed brings its SKUs.
            Contents::Listed(listed) => {
                listed.iter().any(|listed| listed.id == goods.id || goods.parent.as_deref() == Some(&listed.id))
            }
            Contents::Passing(filter) => {
                read_fields(&goods.body, read_goods).is_ok_and(|goods| filter.passes_goods(&goods, &self.clock()))
            }
        }
    }

    /// Whether a segment has a customer, who need not be stored; `count` says how often an event was told of one, by id and name.
    pub fn is_in_segment(
        &self,
        segment: &Segment,
        customer: &Map<String, Json>,
        count: &dyn Fn(&str, &str) -> Result<u64, Fault>,
    ) -> Result<bool, Fault> {
        let Ok(customer) = read_fields(customer, read_customer) else { return Ok(false) };
        let who = customer.id.as_deref().unwrap_or_default();
        let counted = segment.events().map(|name| Ok((name, count(who, name)?)));
        let events: Vec<(&Text, u64)> = counted.collect::<Result<_, Fault>>()?;
        let count = |name: &str| events.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
        Ok(segment.has(&customer, &count, &self.clock()))
    }
}

/// The collection that a document says; nothing for one that does not read, which has nothing in it.
pub fn collection_of(call: &Call<'_, '_>, document: &Document) -> Result<Option<Collection>, Fault> {
    legible(call.store, read_held("products_collection", document, read_collection))
}

/// The segment that a document says; nothing for one that does not read, which has nobody in it.
pub fn segment_of(call: &Call<'_, '_>, document: &Document) -> Result<Option<Segment>, Fault> {
    legible(call.store, read_held("segment", document, read_segment))
}
