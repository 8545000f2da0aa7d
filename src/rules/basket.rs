//! Decides which line of an order is which goods. It must not know what asks.

use crate::model::order::{Item, Metadata};
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::ordered_map::OrderedMap;
use crate::text::Text;

/// The lines of an order, as rules and scopes ask what they are.
#[derive(Debug, Clone, Copy)]
pub struct Basket<'a> {
    lines: &'a [ResolvedLine<'a>],
    /// Which goods there are, when it was worth to write them down.
    index: Option<&'a GoodsIndex>,
}

impl<'a> Basket<'a> {
    /// These lines.
    pub fn of(lines: &'a [ResolvedLine<'a>]) -> Basket<'a> {
        Basket { lines, index: None }
    }

    /// The same with which goods they are written down.
    #[must_use]
    pub fn with(self, index: Option<&'a GoodsIndex>) -> Basket<'a> {
        Basket { index, ..self }
    }

    /// How many lines there are.
    pub fn len(self) -> usize {
        self.lines.len()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.lines.is_empty()
    }

    /// The line at this place.
    pub fn get(self, place: usize) -> Option<&'a ResolvedLine<'a>> {
        self.lines.get(place)
    }

    /// All lines in their order.
    pub fn iter(self) -> impl Iterator<Item = &'a ResolvedLine<'a>> + Clone {
        self.lines.iter()
    }

    /// How many lines are looked at for each of some goods.
    pub fn looks(self) -> usize {
        if self.index.is_some() { 1 } else { self.lines.len() }
    }

    /// Shows the places of the lines of these goods, in order.
    pub fn each_place(self, goods: &GoodsRef, see: &mut dyn FnMut(usize)) {
        match self.index {
            Some(index) => index.places(goods).into_iter().for_each(see),
            None => self.lines.iter().enumerate().filter(|(_, item)| item.is(goods)).for_each(|(place, _)| see(place)),
        }
    }

    /// The first line of these goods.
    pub fn first(self, goods: &GoodsRef) -> Option<usize> {
        match self.index {
            Some(index) => index.places(goods).first().copied(),
            None => self.lines.iter().position(|item| item.is(goods)),
        }
    }

    /// Whether any line is one of these goods.
    pub fn has_any(self, goods: &[GoodsRef]) -> bool {
        goods.iter().any(|goods| self.first(goods).is_some())
    }
}

/// A line and the names of the goods that it turned out to be.
#[derive(Debug, Clone, Default)]
pub struct ResolvedLine<'a> {
    /// The line itself, when there is one.
    item: Option<&'a Item>,
    /// The product, by id and by the caller's identifier.
    product: [Option<&'a Text>; 2],
    /// The SKU, in the same way.
    sku: [Option<&'a Text>; 2],
    /// The collections that it is in, as far as anything of the request names them.
    collections: Vec<Text>,
}

impl<'a> ResolvedLine<'a> {
    /// The line of a product and a SKU, each by its id and by the caller's identifier.
    pub fn new(product: [Option<&'a Text>; 2], sku: [Option<&'a Text>; 2]) -> ResolvedLine<'a> {
        ResolvedLine { item: None, product, sku, collections: Vec::new() }
    }

    /// The same, of this line.
    #[must_use]
    pub fn of(self, item: &'a Item) -> ResolvedLine<'a> {
        ResolvedLine { item: Some(item), ..self }
    }

    /// Puts it into a collection.
    pub fn join(&mut self, collection: Text) {
        self.collections.push(collection);
    }

    /// The product's id and its identifier, the SKU's id and its identifier.
    pub fn names(&self) -> [Option<&'a str>; 4] {
        let ([one, two], [three, four]) = (self.product, self.sku);
        [one, two, three, four].map(|name| name.map(Text::as_str))
    }

    /// The line itself, when there is one.
    pub fn item(&self) -> Option<&'a Item> {
        self.item
    }

    /// The line's own custom data.
    pub fn data(&self) -> Option<&'a Metadata> {
        self.item.map(|item| &item.metadata)
    }

    /// Whether the line is this product or SKU, or in this collection. A product is also each of its SKUs.
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

/// Which goods the lines are, by name: one look instead of one at every line.
#[derive(Debug, Clone, Default)]
pub struct GoodsIndex {
    products: OrderedMap<Vec<usize>>,
    skus: OrderedMap<Vec<usize>>,
    collections: OrderedMap<Vec<usize>>,
}

impl GoodsIndex {
    /// Writes the goods of all lines down.
    pub fn new(items: Basket<'_>) -> GoodsIndex {
        let mut index = GoodsIndex::default();
        for (place, item) in items.iter().enumerate() {
            let products = item.product.into_iter().flatten().map(|name| (GoodsObject::Product, name));
            let skus = item.sku.into_iter().flatten().map(|name| (GoodsObject::Sku, name));
            let collections = item.collections.iter().map(|name| (GoodsObject::Collection, name));
            for (object, name) in products.chain(skus).chain(collections) {
                if let Some(lines) = index.of_mut(object).get_or(name, Vec::new) {
                    lines.push(place);
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

    /// The places of the lines of these goods, in order.
    fn places(&self, goods: &GoodsRef) -> Vec<usize> {
        let (lines, source_id) = match goods.object {
            GoodsObject::Product => (&self.products, goods.source_id.as_ref()),
            GoodsObject::Sku => (&self.skus, goods.source_id.as_ref()),
            GoodsObject::Collection => (&self.collections, None),
        };
        let by_id = lines.get(&goods.id).into_iter().flatten();
        let by_source = source_id.and_then(|name| lines.get(name)).into_iter().flatten();
        let mut places: Vec<usize> = by_id.chain(by_source).copied().collect();
        if !places.is_sorted() {
            // Some lines say the id, and others the source_id.
            places.sort_by_cached_key(|place| u64::try_from(*place).unwrap_or(u64::MAX));
        }
        places.dedup();
        places
    }
}
