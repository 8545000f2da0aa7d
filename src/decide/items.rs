//! Decides which goods, collections and data the lines of a request have, as rules and scopes ask for them. It must not
//! know what a rule says of them.
//!
//! calculation.md section 7.2, validation-rules.md section 12.

use std::borrow::Cow;

use crate::decide::case::Case;
use crate::facts::Known;
use crate::model::order::{Goods, Item, RelatedObject};
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::pricing::Priced;
use crate::rules::{Basket, Clock, Collection, Contents, GoodsIndex, Index, Needs, Told};
use crate::text::{Text, joined};

/// From how many rules times lines on, it is worth to write down which goods the lines are.
const WORTH_AN_INDEX: usize = 1024;

/// The lines of an order as rules and scopes see them.
#[derive(Debug, Clone, Default)]
pub struct Items<'a> {
    lines: Vec<Told<'a>>,
    pub(super) index: Option<GoodsIndex>,
    /// Collections that only the server knows.
    lacks: Vec<Text>,
}

impl<'a> Items<'a> {
    /// What the lines are.
    #[inline]
    pub fn basket(&self) -> Basket<'_> {
        Basket(&self.lines)
    }

    /// The lines of a case, with what its rules and scopes ask of them.
    pub fn new(case: &'a Case<'a>) -> Items<'a> {
        Items::with_added(case, &[])
    }

    /// The lines of a case and, after them, those that unit effects have added.
    pub fn with_added(case: &'a Case<'a>, added: &'a [Item]) -> Items<'a> {
        let (needs, rules) = case.needs;
        let count = case.order.as_ref().map_or(0, |order| order.items.len());
        let wants_index = rules.saturating_mul(count) >= WORTH_AN_INDEX;
        let mut lacks = Vec::new();
        let collections = match needs.meets(Needs::COLLECTIONS) {
            true => collections_of(case, &mut lacks),
            false => Vec::new(),
        };
        Items::within(case, added, &collections, lacks, wants_index)
    }

    /// The lines of a case, with what the tests of many rules ask of them.
    pub fn for_index(case: &'a Case<'a>, index: &Index) -> Items<'a> {
        let mut lacks = Vec::new();
        let mut collections: Vec<Cow<'_, Collection>> = Vec::new();
        for (id, own) in &index.collections {
            match own.as_ref().map_or_else(|| find_collection(case, id), |own| Known::Is(Cow::Borrowed(own))) {
                Known::Is(found) => collections.push(found),
                Known::Absent => {}
                Known::Unknown => lacks.push(joined(&["collection/", id])),
            }
        }
        Items::within(case, &[], &collections, lacks, false)
    }

    /// The lines in these collections, with an index if somebody wants one.
    fn within(
        case: &'a Case<'a>,
        added: &'a [Item],
        collections: &[Cow<'_, Collection>],
        lacks: Vec<Text>,
        wants_index: bool,
    ) -> Items<'a> {
        let Some(order) = &case.order else { return Items { lacks, ..Items::default() } };
        let all = order.items.iter().chain(added).enumerate();
        let lines = all.map(|(place, item)| case.priced.told(place, item)).collect();
        let mut items = Items { lines, lacks, index: None };
        items.join(collections, case);
        if wants_index {
            items.index = Some(GoodsIndex::new(items.basket()));
        }
        items
    }

    /// The collections that only the server knows.
    pub fn lacks(&self) -> &[Text] {
        &self.lacks
    }

    /// Puts every line into the collections that it is in. A line is in one as soon as its SKU or its product is.
    fn join(&mut self, collections: &[Cow<'_, Collection>], case: &Case<'_>) {
        let clock = Clock { now: case.context.now, zone: &case.zone };
        for collection in collections {
            let symbol = GoodsObject::Collection.symbol(&collection.id);
            for (place, line) in self.lines.iter_mut().enumerate() {
                let is_in = match &collection.goods {
                    Contents::All => true,
                    Contents::Listed(goods) => line.is_any(goods),
                    Contents::Passing(filter) => {
                        known_goods(&case.priced, place, line).any(|goods| filter.passes_goods(goods, &clock))
                    }
                };
                if is_in {
                    line.join(symbol);
                }
            }
        }
    }
}

/// The SKU and the product of a line: what the catalogue has, before what was sent.
fn known_goods<'g>(priced: &'g Priced<'_>, place: usize, line: &Told<'g>) -> impl Iterator<Item = &'g Goods> {
    let sent = |kind| line.item().and_then(|item| item.goods(kind));
    let [sku, product] = [RelatedObject::Sku, RelatedObject::Product].map(sent);
    [priced.sku(place).or(sku), priced.product(place).or(product)].into_iter().flatten()
}

/// The collections that rules and scopes of a case name.
#[inline(never)]
fn collections_of<'a>(case: &Case<'a>, lacks: &mut Vec<Text>) -> Vec<Cow<'a, Collection>> {
    let offers = || (0..case.resolved.len()).filter_map(|place| case.offer(place));
    let mut collections: Vec<Cow<'_, Collection>> = Vec::new();
    for rule in offers().flat_map(|offer| &offer.rules).filter(|rule| rule.needs.meets(Needs::COLLECTIONS)) {
        let mut asked: Vec<&GoodsRef> = Vec::new();
        rule.each_goods(&mut |goods| {
            if goods.object == GoodsObject::Collection {
                asked.push(goods);
            }
        });
        for goods in asked {
            if collections.iter().any(|known| known.id == goods.id) {
                continue;
            }
            let own = rule.own_collections.iter().find(|own| own.id == goods.id);
            match own.map_or_else(|| find_collection(case, &goods.id), |own| Known::Is(Cow::Owned(own.clone()))) {
                Known::Is(found) => collections.push(found),
                Known::Absent => {}
                Known::Unknown => lacks.push(joined(&["collection/", &goods.id])),
            }
        }
    }
    for id in offers().filter_map(|offer| offer.same_items()) {
        if !collections.iter().any(|known| known.id == *id) {
            match find_collection(case, id) {
                Known::Is(found) => collections.push(found),
                Known::Absent => {}
                Known::Unknown => lacks.push(joined(&["collection/", id])),
            }
        }
    }
    collections
}

/// A collection by its id; the one of everything is always there.
fn find_collection<'a>(case: &Case<'a>, id: &str) -> Known<Cow<'a, Collection>> {
    if id == Collection::EVERYTHING {
        return Known::Is(Cow::Owned(Collection { id: Text::from(id), goods: Contents::All }));
    }
    case.facts.collection(id)
}
