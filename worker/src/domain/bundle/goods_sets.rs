//! Replaces the conditions on goods in a core, and the content of its collections, by the numbers of sets, and writes into the entries of
//! goods in which sets they are.

use crate::domain::bundle::customer_conditions::NumberedConditions;
use crate::http::time_zone;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::bundle::{GoodsSorter, SetCondition, number_goods_conditions};
use scrip::model::goods_sets::KnownSets;
use scrip::model::order::Goods;
use scrip::wire::document::read_fields;
use scrip::wire::order::{OUT_OF_SETS, SETS, read_goods};
use scrip::wire::rules::{OTHERS, SET};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// List of the collections in a core.
pub const COLLECTIONS: &str = "product_collections";
/// Members of a collection that are its content.
const CONTENT: [&str; 3] = ["type", "filter", "products"];

/// Conditions on goods with the numbers of their sets. A condition keeps its number from one core to the next.
#[derive(Debug, Default)]
pub struct NumberedSets(NumberedConditions);

impl NumberedSets {
    /// Continues the numbers of the sets that the goods contain, or will contain.
    pub fn after(last: BTreeMap<u64, String>) -> NumberedSets {
        NumberedSets(NumberedConditions::after(last))
    }

    /// Replaces the conditions on metadata of goods in a validation rule.
    pub fn number_rule(&mut self, rule: &mut Document) -> Result<(), Fault> {
        number_goods_conditions(&mut rule.body, &mut |condition| self.0.number_of(condition))
    }

    /// Returns the conditions by the numbers of their sets.
    pub fn into_conditions(self) -> BTreeMap<u64, String> {
        self.0.into_conditions()
    }

    /// Replaces the content of a collection by the number of a set. Returns false if its members change with the time: only the service
    /// knows them.
    /// `has_listed` says if the catalogue has all goods that the collection lists.
    pub fn number_content(&mut self, has_listed: bool, collection: &mut Json) -> Result<bool, Fault> {
        let Some(collection) = collection.as_object_mut() else { return Ok(false) };
        let content = CONTENT.iter().filter_map(|name| Some(((*name).to_owned(), collection.remove(*name)?)));
        let content = Json::Object(content.collect());
        let Some(condition) = SetCondition::read(&content).ok().filter(SetCondition::is_lasting) else {
            return Ok(false);
        };
        let others = condition.others(has_listed);
        let others = OTHERS.iter().find(|(_, meaning)| *meaning == others).map(|(word, _)| *word);
        collection.insert(SET.into(), self.0.number_of(&content)?.into());
        collection.insert("others".into(), others.into());
        collection.insert("steps".into(), condition.steps().into());
        Ok(true)
    }
}

/// Names of goods by kind.
pub type ListedGoods = BTreeMap<&'static str, BTreeSet<String>>;

/// Returns the names of the goods that a collection lists; none if its members change with the time.
pub fn list_goods_of(collection: &Document) -> ListedGoods {
    let content = CONTENT.iter().filter_map(|name| Some(((*name).to_owned(), collection.body.get(*name)?.clone())));
    let condition = SetCondition::read(&Json::Object(content.collect())).ok().filter(SetCondition::is_lasting);
    let mut listed = ListedGoods::new();
    for goods in condition.iter().flat_map(SetCondition::listed) {
        let names = [Some(&goods.id), goods.source_id.as_ref()].into_iter().flatten();
        listed.entry(goods.object.name()).or_default().extend(names.map(|name| name.to_string()));
    }
    listed
}

/// Returns the sorter into the sets of these conditions, in a project's zone; `None` without sets.
pub fn build_sorter(sets: &BTreeMap<u64, String>, zone: &Json) -> Result<Option<GoodsSorter>, Fault> {
    if sets.is_empty() {
        return Ok(None);
    }
    let mut conditions = Vec::new();
    for (number, text) in sets {
        let condition: Json = serde_json::from_str(text).map_err(|error| Fault(error.to_string()))?;
        let read = SetCondition::read(&condition);
        let read = read.map_err(|problem| Fault(format!("the set {number} of goods cannot be read: {problem}")))?;
        conditions.push((*number, read));
    }
    Ok(Some(GoodsSorter::new(conditions, (*time_zone::of_setup(zone)?).clone())))
}

/// Writes into the bodies of products and SKUs in which sets they are. Those that do not read get no sets: only the service knows theirs.
pub fn write_sets(sorter: Option<&GoodsSorter>, products: &mut [Document], skus: &mut [Document]) {
    for goods in products.iter_mut().chain(skus.iter_mut()) {
        goods.body.remove(SETS);
        goods.body.remove(OUT_OF_SETS);
    }
    let Some(sorter) = sorter else { return };
    let read = |goods: &[Document]| -> Vec<(usize, Goods)> {
        let all = goods.iter().enumerate();
        all.filter_map(|(position, one)| Some((position, read_fields(&one.body, read_goods).ok()?))).collect()
    };
    let (products_read, skus_read) = (read(products), read(skus));
    let goods_of = |read: &[(usize, Goods)]| read.iter().map(|(_, goods)| goods.clone()).collect::<Vec<Goods>>();
    let [of_products, of_skus] = sorter.sort(&goods_of(&products_read), &goods_of(&skus_read));
    for (goods, read, sets) in [(products, products_read, of_products), (skus, skus_read, of_skus)] {
        for ((position, _), sets) in read.iter().zip(&sets) {
            goods.get_mut(*position).into_iter().for_each(|goods| write_entry_sets(goods, sets));
        }
    }
}

fn write_entry_sets(entry: &mut Document, sets: &KnownSets) {
    entry.body.insert(SETS.into(), sets.included_sets().into());
    if !sets.excluded_sets().is_empty() {
        entry.body.insert(OUT_OF_SETS.into(), sets.excluded_sets().into());
    }
}
