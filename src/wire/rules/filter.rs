//! Reads filters, segments and collections.
//!
//! docs/spec/validation-rules.md#12.

use crate::model::goods_sets::{GoodsSet, OtherGoods};
use crate::model::scope::GoodsObject;
use crate::rules::names::Values;
use crate::rules::operator::Operator;
use crate::rules::{
    Collection, Condition, Contents, FilterField, Number, ProfileFilter, Segment, SegmentMembers, TestOperand,
};
use crate::text::Text;
use crate::wire::cursor::{JsonCursor, read};
use crate::wire::goods::read_goods;
use crate::wire::rules::condition::read_conditions;

/// Reads a filter: a junction, and conditions by the path of their field.
pub fn read_filter(at: &JsonCursor<'_>) -> ProfileFilter {
    let mut filter = ProfileFilter { any: false, fields: Vec::new() };
    let mut joined = false;
    for (name, member) in at.members() {
        if name == "junction" {
            joined = true;
            let junction = member.node.as_str().unwrap_or_default().to_ascii_lowercase();
            filter.any = junction == "or";
            if !filter.any && junction != "and" {
                member.problem("has wrong `junction` property. It must be one of: and, or");
            }
            continue;
        }
        let field = field(name);
        let mut conditions = member.need("conditions", |conditions| read_conditions(conditions, Values::Any));
        if is_date(name) {
            conditions.iter_mut().for_each(count_days);
        }
        filter.fields.push((field, conditions.into()));
    }
    if !joined {
        at.missing("junction");
    }
    filter
}

/// The fields with a yearly recurring day.
const BIRTH: &[&str] = &["birthdate", "birthday"];

/// The fields with an instant.
const TIMES: &[&str] = &["created_at", "updated_at"];

fn field(path: &str) -> FilterField {
    if let Some(property) = path.strip_prefix("metadata.") {
        return FilterField::Metadata(Text::from(property));
    }
    // Names of campaigns and of events contain dots and spaces.
    let between = |first: &str, last: &str| path.strip_prefix(first).and_then(|rest| rest.strip_suffix(last));
    if let Some(event) = between("events.", ".count") {
        return FilterField::Events(Text::from(event));
    }
    match between("loyalty_points.campaigns.", ".points") {
        Some(campaign) => FilterField::Points(Text::from(campaign)),
        None if BIRTH.contains(&path) => FilterField::Anniversary(Text::from(path)),
        None if TIMES.contains(&path) => FilterField::Time(Text::from(path)),
        None => FilterField::Document(Text::from(path)),
    }
}

fn is_date(path: &str) -> bool {
    TIMES.contains(&path) || BIRTH.contains(&path)
}

/// Converts comparisons of dates with numbers: "more than 3" is "more than 3 days ago".
fn count_days(condition: &mut Condition) {
    let counts =
        matches!(condition.operands.first(), Some(TestOperand::Number(number)) if *number >= Number::integer(0));
    condition.operator = match condition.operator {
        Operator::More if counts => Operator::MoreThanAgo,
        Operator::Less if counts => Operator::LessThanAgo,
        other => other,
    };
}

/// Reads a segment: a static list of customers or a filter.
pub fn read_segment(at: &JsonCursor<'_>) -> Segment {
    let is_static =
        at.need("type", |kind| kind.one_of(&[("static", true), ("auto-update", false), ("passive", false)]));
    let members = match is_static {
        true => SegmentMembers::Listed(at.list("customers", read_customer_id)),
        false => SegmentMembers::Passing(at.need("filter", read_filter)),
    };
    Segment { id: at.option("id", read::name).unwrap_or_default(), members }
}

/// Reads a customer of a list: the id, or an object with it.
fn read_customer_id(at: &JsonCursor<'_>) -> Text {
    match at.node.as_str() {
        Some(_) => at.name(),
        None => at.need("id", read::name),
    }
}

/// The member of a collection in a bundle with the number of its set.
pub const SET: &str = "set";
/// Names of the rules for goods that the catalogue does not have.
pub const OTHERS: &[(&str, OtherGoods)] =
    &[("out", OtherGoods::Out), ("by_name", OtherGoods::ByName), ("by_data", OtherGoods::ByData)];

/// Reads the set in place of the content of a collection.
fn read_set(at: &JsonCursor<'_>) -> GoodsSet {
    let steps = at.option("steps", read::whole_number).and_then(|steps| usize::try_from(steps).ok());
    GoodsSet {
        number: at.need(SET, read::whole_number),
        others: at.option("others", |others| others.one_of(OTHERS)).unwrap_or(OtherGoods::ByData),
        steps: steps.unwrap_or(0),
    }
}

/// Reads a collection: a static list of products and SKUs or a filter.
pub fn read_collection(at: &JsonCursor<'_>) -> Collection {
    let id = at.option("id", read::name).unwrap_or_default();
    if id == Collection::EVERYTHING {
        return Collection { id, goods: Contents::All };
    }
    if at.is_compiled() && at.get(SET).is_some() {
        return Collection { id, goods: Contents::Numbered(read_set(at)) };
    }
    let is_static = at.need("type", |kind| kind.one_of(&[("STATIC", true), ("AUTO_UPDATE", false)]));
    let goods = match is_static {
        true => Contents::Listed(at.list("products", |item| read_goods(item, Some(GoodsObject::Product)))),
        false => {
            let valid = "'AUTO_UPDATE' collection must contain valid filter with 'junction' property";
            let filter = at.get("filter").filter(|filter| filter.get("junction").is_some());
            match filter {
                Some(filter) => Contents::Passing(read_filter(&filter)),
                None => {
                    at.problem(valid);
                    Contents::All
                }
            }
        }
    };
    Collection { id, goods }
}
