//! Decides which goods, collections and data the lines of a request have, as rules and scopes ask for them. It must not
//! know what a rule says of them.
//!
//! calculation.md section 7.2, validation-rules.md section 12.

use std::borrow::Cow;

use crate::decide::case::{Case, Offer};
use crate::facts::Known;
use crate::model::order::{Goods, Item, RelatedObject};
use crate::model::scope::{GoodsObject, GoodsRef, symbols_of};
use crate::pricing::lines::goods_key;
use crate::refusal::Refusal;
use crate::rules::{Basket, Clock, Collection, Contents, GoodsIndex, Index, Needs, SceneItem, Told};
use crate::text::{Symbol, Text, joined};

/// From how many rules times lines on, it is worth to write down which goods the lines are.
const WORTH_AN_INDEX: usize = 1024;

/// The lines of an order as rules and scopes see them.
#[derive(Debug, Clone, Default)]
pub struct Items<'a> {
    /// The lines when their own ids say everything; none when more is told of them.
    bare: &'a [Item],
    /// The lines otherwise.
    told: Vec<Told<'a>>,
    /// SKU and product of the catalogue by line; empty when no rule asks for their data.
    pub(super) listed: Vec<[Option<Cow<'a, Goods>>; 2]>,
    pub(super) index: Option<GoodsIndex>,
    /// Collections and goods that only the server knows.
    pub(super) lacks: Vec<Text>,
    /// Collections that are there and cannot be read.
    pub(super) unreadable: Vec<Text>,
}

/// Collections that rules name, as far as they are known.
#[derive(Default)]
struct Gathered<'c> {
    found: Vec<Cow<'c, Collection>>,
    lacks: Vec<Text>,
    unreadable: Vec<Text>,
}

impl<'c> Gathered<'c> {
    fn has(&self, id: &str) -> bool {
        self.found.iter().any(|known| known.id == id)
    }

    fn add(&mut self, id: &Text, collection: Known<Cow<'c, Collection>>) {
        match collection {
            Known::Is(found) => self.found.push(found),
            Known::Absent => {}
            Known::Unknown => self.lacks.push(joined(&["collection/", id])),
            Known::Unreadable => self.unreadable.push(id.clone()),
        }
    }
}

impl<'a> Items<'a> {
    /// What the lines are.
    #[inline]
    pub fn basket(&self) -> Basket<'_> {
        if self.told.is_empty() { Basket::Bare(self.bare) } else { Basket::Told(&self.told) }
    }

    /// The lines of a case, with what its rules and scopes ask of them.
    pub fn new(case: &'a Case<'a>) -> Items<'a> {
        Items::with_added(case, &[])
    }

    /// The lines of a case and, after them, those that unit effects have added.
    pub fn with_added(case: &'a Case<'a>, added: &'a [Item]) -> Items<'a> {
        let Some(order) = &case.order else { return Items::default() };
        let (needs, rules) = case.needs;
        let wants_index = rules.saturating_mul(order.items.len()) >= WORTH_AN_INDEX;
        let looks_things_up = needs.meets(Needs::GOODS_DATA.and(Needs::COLLECTIONS)) || wants_index;
        if !looks_things_up && added.is_empty() && are_bare(case, &order.items) {
            return Items { bare: &order.items, ..Items::default() };
        }
        Items::looked_up(case, added, (needs.meets(Needs::GOODS_DATA), wants_index))
    }

    /// The lines of a case and those added, with what is found out about them.
    #[inline(never)]
    fn looked_up(case: &'a Case<'a>, added: &'a [Item], wants: (bool, bool)) -> Items<'a> {
        let offers = || (0..case.resolved.len()).filter_map(|place| case.offer(place));
        let mut collections = Gathered::default();
        if !case.needs.0.meets(Needs::COLLECTIONS) {
            return Items::within(case, added, collections, wants);
        }
        for rule in offers().flat_map(|offer| &offer.rules).filter(|rule| rule.needs.meets(Needs::COLLECTIONS)) {
            let mut asked: Vec<&GoodsRef> = Vec::new();
            rule.each_goods(&mut |goods| {
                if goods.object == GoodsObject::Collection {
                    asked.push(goods);
                }
            });
            for goods in asked {
                if collections.has(&goods.id) {
                    continue;
                }
                let own = rule.own_collections.iter().find(|own| own.id == goods.id);
                let own = own.map(|own| Known::Is(Cow::Owned(own.clone())));
                collections.add(&goods.id, own.unwrap_or_else(|| find_collection(case, &goods.id)));
            }
        }
        for id in offers().filter_map(|offer| offer.same_items()) {
            if !collections.has(id) {
                collections.add(id, find_collection(case, id));
            }
        }
        Items::within(case, added, collections, wants)
    }

    /// The lines of a case, with what the tests of many rules ask of them.
    pub fn for_index(case: &'a Case<'a>, index: &Index) -> Items<'a> {
        let mut collections = Gathered::default();
        for (id, own) in &index.collections {
            let own = own.as_ref().map(|own| Known::Is(Cow::Borrowed(own)));
            collections.add(id, own.unwrap_or_else(|| find_collection(case, id)));
        }
        Items::within(case, &[], collections, (index.goods_data, false))
    }

    /// The lines in these collections, with their goods' data and an index if somebody wants them.
    fn within(
        case: &'a Case<'a>,
        added: &'a [Item],
        Gathered { found: collections, lacks, unreadable }: Gathered<'_>,
        (wants_data, wants_index): (bool, bool),
    ) -> Items<'a> {
        let Some(order) = &case.order else { return Items { lacks, unreadable, ..Items::default() } };
        if !wants_data && collections.is_empty() && added.is_empty() && are_bare(case, &order.items) {
            let mut items = Items { bare: &order.items, lacks, unreadable, ..Items::default() };
            items.index = wants_index.then(|| GoodsIndex::new(items.basket()));
            return items;
        }
        let all = || order.items.iter().chain(added).enumerate();
        let told = all().map(|(place, item)| scene_item(item, case.priced.sku(place), case.priced.product(place)));
        let mut items = Items { told: told.collect(), lacks, unreadable, ..Items::default() };
        if wants_data || collections.iter().any(|one| matches!(one.goods, Contents::Passing(_))) {
            items.listed = all().map(|(place, item)| listed(case, place, item, &mut items.lacks)).collect();
        }
        items.join(&collections, case, added);
        if wants_index {
            items.index = Some(GoodsIndex::new(items.basket()));
        }
        items
    }

    /// The collections that only the server knows.
    pub fn lacks(&self) -> &[Text] {
        &self.lacks
    }

    /// The refusal of an offer that names a collection which cannot be read: in its tests, its scope, its bundle or what
    /// it adds more of.
    #[cold]
    pub(super) fn refusal_of(&self, offer: &Offer<'_>) -> Option<Refusal> {
        let mut found = offer.same_items().filter(|id| self.unreadable.contains(id)).cloned();
        for rule in &offer.rules {
            rule.each_goods(&mut |goods| {
                if goods.object == GoodsObject::Collection && self.unreadable.contains(&goods.id) {
                    found = Some(goods.id.clone());
                }
            });
        }
        found.map(|id| Refusal::unreadable("products_collection", &id))
    }

    /// Puts every line into the collections that it is in. A line is in one as soon as its SKU or its product is.
    fn join(&mut self, collections: &[Cow<'_, Collection>], case: &'a Case<'a>, added: &'a [Item]) {
        let clock = Clock { now: case.context.now, zone: &case.zone };
        for collection in collections {
            let symbol = GoodsObject::Collection.symbol(&collection.id);
            for place in 0..self.told.len() {
                let Some(line) = self.told.get(place) else { continue };
                let is_in = match &collection.goods {
                    Contents::All => true,
                    Contents::Listed(goods) => SceneItem::Told(line).is_any(goods),
                    Contents::Passing(filter) => {
                        let inline = case.order.iter().filter_map(|order| order.items.iter().chain(added).nth(place));
                        let inline = inline.flat_map(|item| [&item.sku, &item.product]).flatten().map(|goods| &**goods);
                        let listed = self.listed.get(place).into_iter().flatten().flatten().map(Cow::as_ref);
                        inline.chain(listed).any(|goods| filter.passes_goods(goods, &clock))
                    }
                };
                if let Some(line) = self.told.get_mut(place).filter(|_| is_in) {
                    line.join(symbol);
                }
            }
        }
    }
}

/// Whether the ids of every line say all that there is to know of it.
fn are_bare(case: &Case<'_>, items: &[Item]) -> bool {
    let is_bare = |item: &Item| item.symbols != [Symbol::default(); 2];
    debug_assert!(items.iter().all(|item| !is_bare(item) || is_said(item)), "a line was changed without its symbols");
    case.priced.are_bare || (case.priced.lists_nothing() && items.iter().all(is_bare))
}

/// Whether the symbols of a line are those of its ids, and nothing else says what goods it is.
fn is_said(item: &Item) -> bool {
    let symbols = symbols_of(item.product_id.as_deref(), item.sku_id.as_deref());
    item.symbols == symbols && item.related_object.is_none() && item.product.is_none() && item.sku.is_none()
}

/// A collection by its id; the one of everything is always there.
fn find_collection<'a>(case: &Case<'a>, id: &str) -> Known<Cow<'a, Collection>> {
    if id == Collection::EVERYTHING {
        return Known::Is(Cow::Owned(Collection { id: Text::from(id), goods: Contents::All }));
    }
    case.facts.collection(id)
}

/// A line, with the catalogue's goods beside it, as rules and scopes see it.
pub fn scene_item<'a>(item: &'a Item, sku: Option<&'a Goods>, product: Option<&'a Goods>) -> Told<'a> {
    let sku_id = item.sku_id.as_ref().or_else(|| sku?.id.as_ref());
    let parent = || sku?.product_id.as_ref();
    let listed = || product?.id.as_ref();
    let product_id = item.product_id.as_ref().or_else(listed).or_else(parent);
    let product = [product_id, source(item, RelatedObject::Product, product)];
    Told::new(product, [sku_id, source(item, RelatedObject::Sku, sku)]).of(item)
}

fn source<'a>(item: &'a Item, kind: RelatedObject, listed: Option<&'a Goods>) -> Option<&'a Text> {
    let inline = match kind {
        RelatedObject::Product => &item.product,
        RelatedObject::Sku => &item.sku,
    };
    let sent = (item.related_object == Some(kind)).then_some(item.source_id.as_ref()).flatten();
    let inline = inline.as_ref().and_then(|goods| goods.source_id.as_ref());
    sent.or(inline).or_else(|| listed?.source_id.as_ref())
}

/// What the catalogue says of the SKU and the product of a line.
fn listed<'a>(case: &'a Case<'a>, place: usize, item: &'a Item, lacks: &mut Vec<Text>) -> [Option<Cow<'a, Goods>>; 2] {
    let mut known = |kind: &str, key: &str, found: Known<Cow<'a, Goods>>| {
        if matches!(found, Known::Unknown) {
            lacks.push(joined(&[kind, "/", key]));
        }
        found.is()
    };
    let beside = case.priced.sku(place).map(Cow::Borrowed);
    let key = goods_key(item, RelatedObject::Sku);
    let sku = beside.or_else(|| key.and_then(|key| known("sku", key, case.facts.sku(key))));
    let parent = sku.as_ref().and_then(|sku| sku.product_id.clone());
    let beside = case.priced.product(place).map(Cow::Borrowed);
    let key = goods_key(item, RelatedObject::Product).or(parent.as_deref());
    let product = beside.or_else(|| key.and_then(|key| known("product", key, case.facts.product(key))));
    [sku, product]
}
