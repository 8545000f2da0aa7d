//! Finds the lines of an order by their goods.

use crate::model::order::{Item, Metadata};
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::ordered_map::OrderedMap;
use crate::text::Text;

/// The lines of an order for rules and scopes.
#[derive(Debug, Clone, Copy)]
pub struct OrderLines<'a> {
    lines: &'a [ResolvedLine<'a>],
    /// The index of goods, if it was worth building.
    index: Option<&'a GoodsIndex>,
}

impl<'a> OrderLines<'a> {
    /// Returns these lines without an index.
    pub fn of(lines: &'a [ResolvedLine<'a>]) -> OrderLines<'a> {
        OrderLines { lines, index: None }
    }

    /// Returns the lines with an index of their goods.
    #[must_use]
    pub fn with(self, index: Option<&'a GoodsIndex>) -> OrderLines<'a> {
        OrderLines { index, ..self }
    }

    /// Returns the number of lines.
    pub fn len(self) -> usize {
        self.lines.len()
    }

    /// Returns whether there is no line.
    pub fn is_empty(self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the line at this position.
    pub fn get(self, position: usize) -> Option<&'a ResolvedLine<'a>> {
        self.lines.get(position)
    }

    /// Returns all lines in their order.
    pub fn iter(self) -> impl Iterator<Item = &'a ResolvedLine<'a>> + Clone {
        self.lines.iter()
    }

    /// Returns the steps to find one of some goods.
    pub fn lookup_steps(self) -> usize {
        if self.index.is_some() { 1 } else { self.lines.len() }
    }

    /// Calls `visit` with the positions of the lines of these goods, in order.
    pub fn each_position(self, goods: &GoodsRef, visit: &mut dyn FnMut(usize)) {
        match self.index {
            Some(index) => index.positions(goods).into_iter().for_each(visit),
            None => self
                .lines
                .iter()
                .enumerate()
                .filter(|(_, item)| item.is(goods))
                .for_each(|(position, _)| visit(position)),
        }
    }

    /// Returns the first line of these goods.
    pub fn first(self, goods: &GoodsRef) -> Option<usize> {
        match self.index {
            Some(index) => index.positions(goods).first().copied(),
            None => self.lines.iter().position(|item| item.is(goods)),
        }
    }

    /// Returns whether any line has one of these goods.
    pub fn has_any(self, goods: &[GoodsRef]) -> bool {
        goods.iter().any(|goods| self.first(goods).is_some())
    }
}

/// A line and the names of its goods.
#[derive(Debug, Clone, Default)]
pub struct ResolvedLine<'a> {
    /// The line itself, if there is one.
    item: Option<&'a Item>,
    /// The product, by id and by `source_id`.
    product: [Option<&'a Text>; 2],
    /// The SKU, by id and by `source_id`.
    sku: [Option<&'a Text>; 2],
    /// The collections that it belongs to, among those that the request needs.
    collections: Vec<Text>,
}

impl<'a> ResolvedLine<'a> {
    /// Returns a line of a product and a SKU, each by its id and `source_id`.
    pub fn new(product: [Option<&'a Text>; 2], sku: [Option<&'a Text>; 2]) -> ResolvedLine<'a> {
        ResolvedLine { item: None, product, sku, collections: Vec::new() }
    }

    /// Sets the line itself.
    #[must_use]
    pub fn of(self, item: &'a Item) -> ResolvedLine<'a> {
        ResolvedLine { item: Some(item), ..self }
    }

    /// Adds it to a collection.
    pub fn join(&mut self, collection: Text) {
        self.collections.push(collection);
    }

    /// Returns the product's id and `source_id`, and the SKU's id and `source_id`.
    pub fn names(&self) -> [Option<&'a str>; 4] {
        let ([one, two], [three, four]) = (self.product, self.sku);
        [one, two, three, four].map(|name| name.map(Text::as_str))
    }

    /// Returns the line itself, if there is one.
    pub fn item(&self) -> Option<&'a Item> {
        self.item
    }

    /// Returns the line's own metadata.
    pub fn data(&self) -> Option<&'a Metadata> {
        self.item.map(|item| &item.metadata)
    }

    /// Returns whether the line has this product or SKU, or belongs to this collection. A product includes each of its
    /// SKUs.
    pub fn is(&self, goods: &GoodsRef) -> bool {
        let [id, source_id] = match goods.object {
            GoodsObject::Product => self.product,
            GoodsObject::Sku => self.sku,
            GoodsObject::Collection => return self.collections.contains(&goods.id),
        };
        let is_name = |name: &Text| *name == goods.id || goods.source_id.as_ref() == Some(name);
        id.is_some_and(is_name) || source_id.is_some_and(is_name)
    }
}

/// An index of the lines by the names of their goods: one lookup instead of a scan.
#[derive(Debug, Clone, Default)]
pub struct GoodsIndex {
    products: OrderedMap<Vec<usize>>,
    skus: OrderedMap<Vec<usize>>,
    collections: OrderedMap<Vec<usize>>,
}

impl GoodsIndex {
    /// Builds the index of all lines.
    pub fn new(items: OrderLines<'_>) -> GoodsIndex {
        let mut index = GoodsIndex::default();
        for (position, item) in items.iter().enumerate() {
            let products = item.product.into_iter().flatten().map(|name| (GoodsObject::Product, name));
            let skus = item.sku.into_iter().flatten().map(|name| (GoodsObject::Sku, name));
            let collections = item.collections.iter().map(|name| (GoodsObject::Collection, name));
            for (object, name) in products.chain(skus).chain(collections) {
                if let Some(lines) = index.of_mut(object).get_or(name, Vec::new) {
                    lines.push(position);
                }
            }
        }
        index
    }

    fn of_mut(&mut self, object: GoodsObject) -> &mut OrderedMap<Vec<usize>> {
        match object {
            GoodsObject::Product => &mut self.products,
            GoodsObject::Sku => &mut self.skus,
            GoodsObject::Collection => &mut self.collections,
        }
    }

    /// Returns the positions of the lines of these goods, in order.
    fn positions(&self, goods: &GoodsRef) -> Vec<usize> {
        let (lines, source_id) = match goods.object {
            GoodsObject::Product => (&self.products, goods.source_id.as_ref()),
            GoodsObject::Sku => (&self.skus, goods.source_id.as_ref()),
            GoodsObject::Collection => (&self.collections, None),
        };
        let by_id = lines.get(&goods.id).into_iter().flatten();
        let by_source = source_id.and_then(|name| lines.get(name)).into_iter().flatten();
        let mut positions: Vec<usize> = by_id.chain(by_source).copied().collect();
        if !positions.is_sorted() {
            // Some lines have the id, and others the `source_id`.
            positions.sort_by_cached_key(|position| u64::try_from(*position).unwrap_or(u64::MAX));
        }
        positions.dedup();
        positions
    }
}
