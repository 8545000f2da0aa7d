//! Finds products and SKUs in a set of rules as the service does: an id comes before a `source_id`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::facts::{Fact, Known};
use crate::model::goods_buckets::KnownGoodsNames;
use crate::model::order::Goods;
use crate::ordered_map::OrderedMap;
use crate::text::Text;
use crate::wire::readability::UnreadableDocuments;

/// The products or the SKUs of a set of rules, by both names.
#[derive(Debug, Clone, Default)]
pub struct ListedGoods {
    by_id: OrderedMap<Goods>,
    /// Their positions by `source_id`.
    by_source: BTreeMap<Text, usize>,
}

/// The goods of a core before buckets were added.
#[derive(Debug, Clone)]
pub struct CoreGoods {
    /// Products.
    pub products: ListedGoods,
    /// SKUs.
    pub skus: ListedGoods,
    /// The known names.
    pub names: Option<KnownGoodsNames>,
    /// The documents that cannot be read.
    pub unreadable: UnreadableDocuments,
}

/// The answer of a set of rules about a name that it does not list.
#[derive(Debug, Clone, Copy)]
pub struct GoodsCoverage<'k> {
    /// `true` if the document of this name cannot be read.
    pub is_unreadable: bool,
    /// `true` if unlisted goods do not exist.
    pub is_complete: bool,
    /// The known names, where the goods are apart.
    pub names: Option<&'k KnownGoodsNames>,
}

impl ListedGoods {
    /// Builds the index; the first of equal names counts.
    pub fn new(goods: Vec<Goods>) -> ListedGoods {
        let mut by_source = BTreeMap::new();
        for (position, goods) in goods.iter().enumerate() {
            if let Some(source_id) = &goods.source_id {
                by_source.entry(source_id.clone()).or_insert(position);
            }
        }
        ListedGoods { by_id: OrderedMap::new(goods, |goods| [goods.id.as_ref(), None]), by_source }
    }

    /// Adds further goods; the first of equal names counts.
    pub fn add(&mut self, goods: Vec<Goods>) {
        for goods in goods {
            let is_listed = goods.id.as_ref().is_some_and(|id| self.by_id.position(id).is_some());
            let (Some(id), false) = (goods.id.clone(), is_listed) else { continue };
            let (position, source_id) = (self.by_id.iter().count(), goods.source_id.clone());
            self.by_id.insert(id, goods);
            if let Some(source_id) = source_id {
                self.by_source.entry(source_id).or_insert(position);
            }
        }
    }

    /// Finds the goods of a name.
    pub fn find(&self, name: &str, coverage: GoodsCoverage<'_>) -> Known<Fact<'_, Goods>> {
        if let Some(goods) = self.by_id.get(name) {
            return Known::Is(Fact::Borrowed(goods));
        }
        let is_covered = coverage.is_complete || coverage.names.is_some_and(|names| names.has(name));
        // Goods with this `source_id` do not count where others may have it as their id.
        if !is_covered && coverage.names.is_some() {
            return Known::Unknown;
        }
        if coverage.is_unreadable {
            let goods = Goods { id: Some(Text::from(name)), unreadable: true, ..Goods::default() };
            return Known::Is(Fact::Shared(Arc::new(goods)));
        }
        match self.by_source.get(name).and_then(|position| self.by_id.at(*position)) {
            Some(goods) => Known::Is(Fact::Borrowed(goods)),
            None if is_covered => Known::Absent,
            None => Known::Unknown,
        }
    }
}
