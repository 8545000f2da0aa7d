//! Replaces the conditions on goods in the rules of a bundle by the numbers of sets, and sorts the goods of the catalogue into these sets. A
//! client then learns in which sets goods are, and neither what is compared nor with which values.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::bundle::customer_conditions::{read_condition, replace_conditions};
use crate::model::goods_sets::{KnownSets, OtherGoods};
use crate::model::order::Goods;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::rules::names::{GOODS_SET, is_about_goods_data};
use crate::rules::{Clock, Condition, Contents, FoundValue, GoodsIndex, OrderLines, ResolvedLine};
use crate::text::Text;
use crate::time::{Instant, TimeZone};
use crate::wire::document::read_document;
use crate::wire::problem::Problem;
use crate::wire::rules::read_collection;

/// Replaces the conditions on metadata of goods in the document of a validation rule. `number_of` returns the number of a condition:
/// `{ "name", "property", "conditions" }`.
pub fn number_goods_conditions<E>(
    rule: &mut Map<String, Value>,
    number_of: &mut dyn FnMut(&Value) -> Result<u64, E>,
) -> Result<(), E> {
    replace_conditions(rule, is_about_goods_data, &mut |test, condition| {
        let number = number_of(&condition)?;
        test.insert("name".into(), GOODS_SET.text.into());
        test.insert("property".into(), number.to_string().into());
        // Without a result for goods without data, only the service decides the test.
        let read = SetCondition::read(&condition).ok().filter(SetCondition::is_lasting);
        if let Some(without) = read.and_then(|read| read.holds_without_data()) {
            test.insert("conditions".into(), json!({ "$is": [without] }));
        }
        Ok(())
    })
}

/// The condition of a set.
#[derive(Debug, Clone)]
pub struct SetCondition(SetTest);

#[derive(Debug, Clone)]
enum SetTest {
    /// The content of a collection.
    Collection(Contents),
    /// A property of metadata.
    Property(Text, Arc<[Condition]>),
}

impl SetCondition {
    /// Reads the condition of a test, or the document of a collection.
    pub fn read(condition: &Value) -> Result<SetCondition, Problem> {
        if condition.get("name").is_none() {
            let collection = read_document(&condition.to_string(), read_collection)?;
            return Ok(SetCondition(SetTest::Collection(collection.goods)));
        }
        let rule = read_condition(condition)?;
        let test = rule.tests.leaves.first().map(|leaf| &leaf.test);
        let property = test.and_then(|test| Some((test.property.clone()?, Arc::clone(&test.conditions))));
        let (property, conditions) = property.ok_or_else(|| Problem::at("property", "is missing"))?;
        Ok(SetCondition(SetTest::Property(property, conditions)))
    }

    /// Returns whether the same goods are in the set at every moment, and each by itself: then the build of a bundle can sort them.
    pub fn is_lasting(&self) -> bool {
        let last = |conditions: &[Condition]| !conditions.iter().any(|condition| condition.operator.depends_on_now());
        match &self.0 {
            SetTest::Collection(Contents::Listed(goods)) => {
                !goods.iter().any(|goods| goods.object == GoodsObject::Collection)
            }
            SetTest::Collection(Contents::Passing(filter)) => filter.fields.iter().all(|(_, all)| last(all)),
            SetTest::Collection(Contents::All | Contents::Numbered(_)) => false,
            SetTest::Property(_, conditions) => last(conditions),
        }
    }

    /// Returns the listed goods of a static collection.
    pub fn listed(&self) -> &[GoodsRef] {
        match &self.0 {
            SetTest::Collection(Contents::Listed(goods)) => goods,
            SetTest::Collection(_) | SetTest::Property(..) => &[],
        }
    }

    /// Returns what decides about goods that the catalogue does not have. `has_listed` says whether it has all listed names.
    pub fn others(&self, has_listed: bool) -> OtherGoods {
        match &self.0 {
            SetTest::Collection(Contents::Listed(_)) if has_listed => OtherGoods::Out,
            SetTest::Collection(Contents::Listed(_)) => OtherGoods::ByName,
            SetTest::Collection(_) => OtherGoods::ByData,
            SetTest::Property(..) => OtherGoods::ByProperty(self.holds_without_data()),
        }
    }

    /// Returns the steps that a decision takes to find the members of a collection: for each listed one, or for each field on each line.
    pub fn steps(&self) -> usize {
        match &self.0 {
            SetTest::Collection(Contents::Listed(goods)) => goods.len(),
            SetTest::Collection(Contents::Passing(filter)) => filter.fields.len(),
            SetTest::Collection(Contents::All | Contents::Numbered(_)) | SetTest::Property(..) => 1,
        }
    }

    /// Returns whether goods without the property meet the condition on it; `None` for a collection.
    pub fn holds_without_data(&self) -> Option<bool> {
        let SetTest::Property(_, conditions) = &self.0 else { return None };
        let zone = TimeZone::default();
        Some(all_hold(conditions, FoundValue::Missing, &clock_in(&zone)))
    }
}

fn all_hold(conditions: &[Condition], found: FoundValue<'_>, clock: &Clock<'_>) -> bool {
    conditions.iter().all(|condition| condition.holds(found, clock))
}

/// Returns a clock for conditions whose results do not depend on the instant.
fn clock_in(zone: &TimeZone) -> Clock<'_> {
    Clock { now: Instant::default(), zone, zone_use: None, budget: None }
}

/// The sets of a bundle, by which goods are sorted.
#[derive(Debug, Clone, Default)]
pub struct GoodsSorter {
    sets: Vec<(u64, SetCondition)>,
    zone: TimeZone,
}

impl GoodsSorter {
    /// Returns a sorter into these sets, without those whose members change with the time, in the zone of a project.
    pub fn new(sets: impl IntoIterator<Item = (u64, SetCondition)>, zone: TimeZone) -> GoodsSorter {
        GoodsSorter { sets: sets.into_iter().filter(|(_, set)| set.is_lasting()).collect(), zone }
    }

    /// Returns the sets of each of these products and SKUs, in their order.
    pub fn sort(&self, products: &[Goods], skus: &[Goods]) -> [Vec<KnownSets>; 2] {
        let mut lines: Vec<ResolvedLine<'_>> = Vec::new();
        lines.extend(
            products.iter().map(|one| ResolvedLine::new([one.id.as_ref(), one.source_id.as_ref()], [None, None])),
        );
        // A SKU is in the collections that list its product, also where the catalogue does not have the product any more.
        lines.extend(
            skus.iter().map(|one| {
                ResolvedLine::new([one.product_id.as_ref(), None], [one.id.as_ref(), one.source_id.as_ref()])
            }),
        );
        let lines = OrderLines::of(&lines);
        let index = GoodsIndex::new(lines);
        let goods: Vec<&Goods> = products.iter().chain(skus).collect();
        let mut sorted = vec![(Vec::new(), Vec::new()); goods.len()];
        for (number, set) in &self.sets {
            let states = self.states_of(set, &goods, lines.with(Some(&index)));
            for ((within, outside), state) in sorted.iter_mut().zip(states) {
                match state {
                    Some(true) => within.push(*number),
                    Some(false) => outside.push(*number),
                    None => {}
                }
            }
        }
        let mut sorted = sorted.into_iter().map(|(within, outside)| KnownSets::new(within, outside));
        [sorted.by_ref().take(products.len()).collect(), sorted.collect()]
    }

    fn states_of(&self, set: &SetCondition, goods: &[&Goods], lines: OrderLines<'_>) -> Vec<Option<bool>> {
        let clock = clock_in(&self.zone);
        match &set.0 {
            SetTest::Collection(Contents::Listed(listed)) => {
                let mut states = vec![None; goods.len()];
                for one in listed {
                    lines.each_position(one, &mut |position| {
                        states.get_mut(position).into_iter().for_each(|state| *state = Some(true));
                    });
                }
                states
            }
            SetTest::Collection(Contents::Passing(filter)) => {
                goods.iter().map(|goods| filter.passes_goods(goods, &clock).then_some(true)).collect()
            }
            SetTest::Collection(Contents::All | Contents::Numbered(_)) => vec![None; goods.len()],
            SetTest::Property(property, conditions) => {
                let state = |goods: &&Goods| {
                    let found = goods.metadata.find_dotted(property)?;
                    Some(all_hold(conditions, FoundValue::value(Some(found)), &clock))
                };
                goods.iter().map(state).collect()
            }
        }
    }
}
