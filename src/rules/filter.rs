//! Decides whether a profile or goods pass a filter, and defines segments and collections.
//!
//! docs/spec/validation-rules.md#12.

use std::sync::Arc;

use crate::model::customer::{Customer, ProfilePart, is_sent_field};
use crate::model::goods_sets::GoodsSet;
use crate::model::order::{Goods, Metadata};
use crate::model::scope::GoodsRef;
use crate::rules::compare::{Clock, Condition};
use crate::rules::number::Number;
use crate::rules::operand::FoundValue;
use crate::text::Text;
use crate::time::Instant;

/// Conditions on fields, joined by and/or.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileFilter {
    /// `true` if one field is enough; otherwise all must meet their conditions.
    pub any: bool,
    /// The fields, in the order of the document.
    pub fields: Vec<(FilterField, Arc<[Condition]>)>,
}

/// The location of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterField {
    /// Metadata.
    Metadata(Text),
    /// Points of a customer in the campaign of this name.
    Points(Text),
    /// The number of custom events of this name of a customer.
    Events(Text),
    /// Any other field, by its path in the document.
    Document(Text),
    /// A field of the document with a day that recurs every year.
    Anniversary(Text),
    /// A field of the document with an instant; a day as operand stands for the whole day.
    Time(Text),
}

impl ProfileFilter {
    /// Returns whether a document with its metadata passes. `events` returns the number of events by name.
    pub fn passes(
        &self,
        document: &Metadata,
        data: &Metadata,
        events: &dyn Fn(&str) -> u64,
        clock: &Clock<'_>,
    ) -> bool {
        self.passes_by(clock, &|field| match field {
            FilterField::Metadata(property) => FoundValue::value(data.find_dotted(property)),
            FilterField::Document(path) | FilterField::Anniversary(path) | FilterField::Time(path) => {
                FoundValue::value(document.find_dotted(path))
            }
            // Names of campaigns contain dots and spaces, so they are never split.
            FilterField::Points(name) => {
                // A stored customer has them under another name.
                let details = document.find_dotted("loyalty_points.campaigns");
                let campaigns = details.or_else(|| document.find_dotted("loyalty.campaigns"));
                FoundValue::value(campaigns.and_then(|campaigns| campaigns.get(name)?.get("points")))
            }
            FilterField::Events(name) => FoundValue::Number(Number::count(events(name))),
        })
    }

    /// Returns whether a product or SKU passes.
    pub fn passes_goods(&self, goods: &Goods, clock: &Clock<'_>) -> bool {
        self.passes_by(clock, &|field| match field {
            FilterField::Metadata(property) => FoundValue::value(goods.metadata.find_dotted(property)),
            FilterField::Document(path) => match path.as_str() {
                "price" => {
                    goods.price.map_or(FoundValue::Missing, |price| FoundValue::Number(Number::count(price.minor())))
                }
                "name" | "sku" => found_text(goods.name.as_ref()),
                "id" => found_text(goods.id.as_ref()),
                "source_id" => found_text(goods.source_id.as_ref()),
                "product_id" => found_text(goods.product_id.as_ref()),
                _ => FoundValue::Missing,
            },
            FilterField::Points(_) | FilterField::Events(_) | FilterField::Anniversary(_) | FilterField::Time(_) => {
                FoundValue::Missing
            }
        })
    }

    fn passes_by<'a>(&self, clock: &Clock<'_>, find: &dyn Fn(&FilterField) -> FoundValue<'a>) -> bool {
        let meets = |field: &FilterField, conditions: &[Condition]| {
            let found = find(field);
            conditions.iter().all(|condition| match field {
                FilterField::Anniversary(_) => condition.is_anniversary(found, clock),
                FilterField::Time(_) => condition.holds_by_day(found, clock),
                _ => condition.holds(found, clock),
            })
        };
        let mut fields = self.fields.iter();
        match self.any {
            true => fields.any(|(field, conditions)| meets(field, conditions)),
            false => fields.all(|(field, conditions)| meets(field, conditions)),
        }
    }
}

fn found_text(text: Option<&Text>) -> FoundValue<'_> {
    text.map_or(FoundValue::Missing, |text| FoundValue::Text(text))
}

/// A group of customers.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Assigned by the service.
    pub id: Text,
    /// The members.
    pub members: SegmentMembers,
}

impl Segment {
    /// Returns the steps to decide a membership.
    pub fn size(&self) -> usize {
        match &self.members {
            SegmentMembers::Listed(ids) => ids.len(),
            SegmentMembers::Passing(filter) => filter.fields.len(),
        }
    }

    /// Returns the custom events whose number decides the membership.
    pub fn events(&self) -> impl Iterator<Item = &Text> {
        let fields = match &self.members {
            SegmentMembers::Listed(_) => &[][..],
            SegmentMembers::Passing(filter) => filter.fields.as_slice(),
        };
        fields.iter().filter_map(|(field, _)| match field {
            FilterField::Events(name) => Some(name),
            _ => None,
        })
    }

    /// Returns whether the balances of a customer's cards decide the membership.
    pub fn uses_balances(&self) -> bool {
        let is_about = |path: &str| path == "loyalty" || path.starts_with("loyalty.") || BALANCES.contains(&path);
        let is_used = |field: &FilterField| match field {
            FilterField::Points(_) => true,
            FilterField::Document(path) | FilterField::Anniversary(path) | FilterField::Time(path) => is_about(path),
            FilterField::Metadata(_) | FilterField::Events(_) => false,
        };
        match &self.members {
            SegmentMembers::Listed(_) => false,
            SegmentMembers::Passing(filter) => filter.fields.iter().any(|(field, _)| is_used(field)),
        }
    }

    /// Returns whether the instant at which a customer was stored decides the membership.
    pub fn depends_on_creation(&self) -> bool {
        match &self.members {
            SegmentMembers::Listed(_) => false,
            SegmentMembers::Passing(filter) => filter.fields.iter().any(|(field, _)| is_creation(field)),
        }
    }

    /// Returns the earliest time, from now on, at which the membership of a customer who is stored at that time may change, apart from the
    /// start of a day.
    pub fn next_turn_of_creation(&self, clock: &Clock<'_>) -> Option<Instant> {
        let SegmentMembers::Passing(filter) = &self.members else { return None };
        let fields = filter.fields.iter().filter(|(field, _)| is_creation(field));
        fields.flat_map(|(_, conditions)| conditions.iter()).filter_map(|condition| condition.next_turn(clock)).min()
    }

    /// Returns whether a part of a profile that a request may send decides the membership.
    pub fn uses_part(&self, part: ProfilePart) -> bool {
        let is_used = |field: &FilterField| match (field, part) {
            (FilterField::Metadata(_), part) => part == ProfilePart::Metadata,
            (FilterField::Document(path) | FilterField::Anniversary(path) | FilterField::Time(path), part) => {
                match part {
                    ProfilePart::Metadata => path.split('.').next() == Some("metadata"),
                    ProfilePart::Fields => is_sent_field(path),
                }
            }
            (FilterField::Points(_) | FilterField::Events(_), _) => false,
        };
        match &self.members {
            SegmentMembers::Listed(_) => false,
            SegmentMembers::Passing(filter) => filter.fields.iter().any(|(field, _)| is_used(field)),
        }
    }

    /// Returns whether fields of a profile decide the membership.
    pub fn uses_profile(&self) -> bool {
        matches!(&self.members, SegmentMembers::Passing(_))
    }

    /// Returns whether the sent fields of a customer include every field that decides the membership.
    pub fn is_answered_by(&self, sent: &Customer) -> bool {
        let found = |field: &FilterField| match field {
            FilterField::Metadata(property) => sent.metadata.find_dotted(property),
            FilterField::Document(path) | FilterField::Anniversary(path) | FilterField::Time(path) => {
                sent.document.find_dotted(path)
            }
            FilterField::Points(_) | FilterField::Events(_) => None,
        };
        let has = |field: &FilterField| found(field).is_some_and(|value| !value.is_null());
        match &self.members {
            SegmentMembers::Listed(_) => false,
            SegmentMembers::Passing(filter) => filter.fields.iter().all(|(field, _)| has(field)),
        }
    }

    /// Returns whether a customer is a member. `events` returns the number of events by name.
    pub fn has(&self, customer: &Customer, events: &dyn Fn(&str) -> u64, clock: &Clock<'_>) -> bool {
        match &self.members {
            SegmentMembers::Listed(ids) => customer.id.as_ref().is_some_and(|id| ids.contains(id)),
            SegmentMembers::Passing(filter) => filter.passes(&customer.document, &customer.metadata, events, clock),
        }
    }
}

/// Returns whether a field is the instant at which a customer was stored.
fn is_creation(field: &FilterField) -> bool {
    match field {
        FilterField::Document(path) | FilterField::Anniversary(path) | FilterField::Time(path) => {
            path.split('.').next() == Some("created_at")
        }
        FilterField::Metadata(_) | FilterField::Points(_) | FilterField::Events(_) => false,
    }
}

/// The paths of balances in the summary of a profile.
const BALANCES: [&str; 2] = ["summary.redemptions.gift.amount_to_go", "summary.redemptions.loyalty_card.points_to_go"];

/// The members of a segment.
#[derive(Debug, Clone, PartialEq)]
pub enum SegmentMembers {
    /// These customers, by id.
    Listed(Vec<Text>),
    /// Customers who pass, evaluated every time. Active and passive segments differ only in what is stored about them.
    Passing(ProfileFilter),
}

/// A group of products and SKUs.
#[derive(Debug, Clone, PartialEq)]
pub struct Collection {
    /// Assigned by the service.
    pub id: Text,
    /// The content.
    pub goods: Contents,
}

/// The content of a collection.
#[derive(Debug, Clone, PartialEq)]
pub enum Contents {
    /// These products with all their SKUs, and these SKUs.
    Listed(Vec<GoodsRef>),
    /// Every product and SKU that passes, each tested separately.
    Passing(ProfileFilter),
    /// Goods of a set of a bundle.
    Numbered(GoodsSet),
    /// All goods.
    All,
}

impl Collection {
    /// The id of the collection of all goods.
    pub const EVERYTHING: &str = "pc_a11pr0dUc75";
}
