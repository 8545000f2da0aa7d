//! Decides whether a profile or goods pass a filter, and what segments and collections are. It must not know how a
//! filter is written, or which customers and products there are.
//!
//! validation-rules.md section 12.

use std::sync::Arc;

use crate::model::customer::Customer;
use crate::model::order::{Goods, Metadata};
use crate::model::scope::GoodsRef;
use crate::rules::compare::{Clock, Condition};
use crate::rules::number::Number;
use crate::rules::operand::FoundValue;
use crate::text::Text;

/// Conditions on fields, joined by and/or.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// Whether one field is enough; otherwise all must meet their conditions.
    pub any: bool,
    /// The fields, in the order of the document.
    pub fields: Vec<(Field, Arc<[Condition]>)>,
}

/// Where a field is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field {
    /// Custom data.
    Metadata(Text),
    /// Points of a customer in the campaign of this name.
    Points(Text),
    /// How often a custom event of this name was told of a customer.
    Events(Text),
    /// Anything else, by its path in the document.
    Document(Text),
    /// The same, a day that comes back every year.
    Anniversary(Text),
    /// The same, a moment, which a day stands for the whole day of.
    Moment(Text),
}

impl Filter {
    /// Whether a document with its custom data passes, of which events were told so often, by their names.
    pub fn passes(
        &self,
        document: &Metadata,
        data: &Metadata,
        events: &dyn Fn(&str) -> u64,
        clock: &Clock<'_>,
    ) -> bool {
        self.passes_by(clock, &|field| match field {
            Field::Metadata(property) => FoundValue::value(data.find_dotted(property)),
            Field::Document(path) | Field::Anniversary(path) | Field::Moment(path) => {
                FoundValue::value(document.find_dotted(path))
            }
            // Names of campaigns hold dots and spaces, so that they are never split.
            Field::Points(name) => {
                // A stored customer has them under another name.
                let told = document.find_dotted("loyalty_points.campaigns");
                let campaigns = told.or_else(|| document.find_dotted("loyalty.campaigns"));
                FoundValue::value(campaigns.and_then(|campaigns| campaigns.get(name)?.get("points")))
            }
            Field::Events(name) => FoundValue::Number(Number::count(events(name))),
        })
    }

    /// Whether a product or SKU passes.
    pub fn passes_goods(&self, goods: &Goods, clock: &Clock<'_>) -> bool {
        self.passes_by(clock, &|field| match field {
            Field::Metadata(property) => FoundValue::value(goods.metadata.find_dotted(property)),
            Field::Document(path) => match path.as_str() {
                "price" => {
                    goods.price.map_or(FoundValue::Missing, |price| FoundValue::Number(Number::count(price.minor())))
                }
                "name" | "sku" => found_text(goods.name.as_ref()),
                "id" => found_text(goods.id.as_ref()),
                "source_id" => found_text(goods.source_id.as_ref()),
                "product_id" => found_text(goods.product_id.as_ref()),
                _ => FoundValue::Missing,
            },
            Field::Points(_) | Field::Events(_) | Field::Anniversary(_) | Field::Moment(_) => FoundValue::Missing,
        })
    }

    fn passes_by<'a>(&self, clock: &Clock<'_>, find: &dyn Fn(&Field) -> FoundValue<'a>) -> bool {
        let meets = |(field, conditions): &(Field, Arc<[Condition]>)| {
            let found = find(field);
            conditions.iter().all(|condition| match field {
                Field::Anniversary(_) => condition.comes_back(found, clock),
                Field::Moment(_) => condition.holds_by_day(found, clock),
                _ => condition.holds(found, clock),
            })
        };
        if self.any { self.fields.iter().any(meets) } else { self.fields.iter().all(meets) }
    }
}

fn found_text(text: Option<&Text>) -> FoundValue<'_> {
    text.map_or(FoundValue::Missing, |text| FoundValue::Text(text))
}

/// Customers that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Assigned by the service.
    pub id: Text,
    /// Who belongs to it.
    pub members: Members,
}

impl Segment {
    /// How many steps it takes to say who belongs to it.
    pub fn size(&self) -> usize {
        match &self.members {
            Members::Listed(ids) => ids.len(),
            Members::Passing(filter) => filter.fields.len(),
        }
    }

    /// The custom events whose number says who belongs to it.
    pub fn events(&self) -> impl Iterator<Item = &Text> {
        let fields = match &self.members {
            Members::Listed(_) => &[][..],
            Members::Passing(filter) => filter.fields.as_slice(),
        };
        fields.iter().filter_map(|(field, _)| match field {
            Field::Events(name) => Some(name),
            _ => None,
        })
    }

    /// Whether a customer belongs to it, of whom events were told so often, by their names.
    pub fn has(&self, customer: &Customer, events: &dyn Fn(&str) -> u64, clock: &Clock<'_>) -> bool {
        match &self.members {
            Members::Listed(ids) => customer.id.as_ref().is_some_and(|id| ids.contains(id)),
            Members::Passing(filter) => filter.passes(&customer.document, &customer.metadata, events, clock),
        }
    }
}

/// Who belongs to a segment.
#[derive(Debug, Clone, PartialEq)]
pub enum Members {
    /// These customers, by id.
    Listed(Vec<Text>),
    /// Whoever passes, asked anew every time; active and passive ones differ only in what is written down of them.
    Passing(Filter),
}

/// Products and SKUs that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Collection {
    /// Assigned by the service.
    pub id: Text,
    /// What is in it.
    pub goods: Contents,
}

/// What is in a collection.
#[derive(Debug, Clone, PartialEq)]
pub enum Contents {
    /// These products with all their SKUs, and these SKUs.
    Listed(Vec<GoodsRef>),
    /// Every product and SKU that passes, each tested by itself.
    Passing(Filter),
    /// Everything.
    All,
}

impl Collection {
    /// The id of the collection that everything is in.
    pub const EVERYTHING: &str = "pc_a11pr0dUc75";
}
