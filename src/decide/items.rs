//! Decides which goods, collections and data the lines of a request have, as rules and scopes ask for them. It must not
//! know what a rule says of them.
//!
//! calculation.md section 7.2, validation-rules.md section 12.

use crate::decide::case::{Case, Offer};
use crate::facts::{Fact, Known};
use crate::model::order::{Goods, Item, RelatedObject};
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::pricing::Priced;
use crate::refusal::Refusal;
use crate::rules::{Basket, Clock, Collection, Contents, GoodsIndex, Index, Needs, ResolvedLine};
use crate::text::{Text, joined};

/// From how many rules times lines on, it is worth to write down which goods the lines are.
const WORTH_AN_INDEX: usize = 1024;

/// The lines of an order as rules and scopes see them.
#[derive(Debug, Clone, Default)]
pub struct Items<'a> {
    lines: Vec<ResolvedLine<'a>>,
    pub(super) index: Option<GoodsIndex>,
    /// Collections that only the server knows.
    lacks: Vec<Text>,
    /// Collections that are there and cannot be read.
    pub(super) unreadable: Vec<Text>,
}

/// Collections that rules name, as far as they are known.
#[derive(Default)]
struct Gathered<'c> {
    found: Vec<Fact<'c, Collection>>,
    lacks: Vec<Text>,
    unreadable: Vec<Text>,
}

impl<'c> Gathered<'c> {
    fn has(&self, id: &str) -> bool {
        self.found.iter().any(|known| known.id == id)
    }

    fn add(&mut self, id: &Text, collection: Known<Fact<'c, Collection>>) {
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
        Basket::of(&self.lines).with(self.index.as_ref())
    }

    /// The lines of a case, with what its rules and scopes ask of them.
    pub fn new(case: &'a Case<'a>) -> Items<'a> {
        Items::with_added(case, &[])
    }

    /// The lines of a case and, after them, those that unit effects have added.
    pub fn with_added(case: &'a Case<'a>, added: &'a [Item]) -> Items<'a> {
        let (needs, rules, goods) = case.needs;
        let count = case.order.as_ref().map_or(0, |order| order.items.len());
        let wants_index = rules.max(goods).saturating_mul(count) >= WORTH_AN_INDEX;
        let collections = match needs.meets(Needs::COLLECTIONS) {
            true => collections_of(case),
            false => Gathered::default(),
        };
        Items::within(case, added, collections, wants_index)
    }

    /// The lines of a case, with what the tests of many rules ask of them.
    pub fn for_index(case: &'a Case<'a>, index: &Index) -> Items<'a> {
        let mut collections = Gathered::default();
        for (id, own) in &index.collections {
            let own = own.as_ref().map(|own| Known::Is(Fact::Lent(own)));
            collections.add(id, own.unwrap_or_else(|| find_collection(case, id)));
        }
        Items::within(case, &[], collections, false)
    }

    /// The lines of a case in the collections of these names, for what is no redeemable's.
    pub fn naming(case: &'a Case<'a>, named: &[Text]) -> Items<'a> {
        let mut collections = Gathered::default();
        for id in named {
            collections.add(id, find_collection(case, id));
        }
        let count = case.order.as_ref().map_or(0, |order| order.items.len());
        Items::within(case, &[], collections, count.saturating_mul(count) >= WORTH_AN_INDEX)
    }

    /// The lines in these collections, with an index if somebody wants one.
    fn within(
        case: &'a Case<'a>,
        added: &'a [Item],
        Gathered { found: collections, lacks, unreadable }: Gathered<'_>,
        wants_index: bool,
    ) -> Items<'a> {
        let Some(order) = &case.order else { return Items { lacks, unreadable, ..Items::default() } };
        let all = order.items.iter().chain(added).enumerate();
        let lines = all.map(|(place, item)| case.priced.line(place, item)).collect();
        let mut items = Items { lines, lacks, unreadable, index: None };
        items.join(&collections, case);
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
    fn join(&mut self, collections: &[Fact<'_, Collection>], case: &Case<'_>) {
        let clock = Clock { now: case.context.now, zone: &case.zone, work: Some(&case.work) };
        // Collections of many goods are looked up among the lines, and not the lines in them.
        let written_down = collections.iter().any(|collection| matches!(collection.goods, Contents::Listed(_)));
        let index = written_down.then(|| GoodsIndex::new(self.basket()));
        for collection in collections {
            let mut is_in = vec![matches!(collection.goods, Contents::All); self.lines.len()];
            if !case.work.takes(self.lines.len()) {
                return;
            }
            match &collection.goods {
                Contents::All => {}
                Contents::Listed(goods) if case.work.takes(goods.len()) => {
                    let basket = self.basket().with(index.as_ref());
                    for goods in goods {
                        basket.each_place(goods, &mut |place| {
                            is_in.get_mut(place).into_iter().for_each(|is_in| *is_in = true);
                        });
                    }
                }
                Contents::Listed(_) => return,
                Contents::Passing(filter) => {
                    for (place, (line, is_in)) in self.lines.iter().zip(&mut is_in).enumerate() {
                        case.hidden_of_filter(place, line.item(), filter, &mut self.lacks);
                        let fields = filter.fields.len();
                        let mut goods = known_goods(&case.priced, place, line);
                        *is_in = case.work.takes(fields) && goods.any(|goods| filter.passes_goods(goods, &clock));
                    }
                }
            }
            let members = self.lines.iter_mut().zip(is_in).filter(|(_, is_in)| *is_in);
            members.for_each(|(line, _)| line.join(collection.id.clone()));
        }
    }
}

/// The SKU and the product of a line: what the catalogue has, before what was sent.
fn known_goods<'g>(priced: &'g Priced<'_>, place: usize, line: &ResolvedLine<'g>) -> impl Iterator<Item = &'g Goods> {
    let sent = |kind| line.item().and_then(|item| item.goods(kind));
    let [sku, product] = [RelatedObject::Sku, RelatedObject::Product].map(sent);
    [priced.sku(place).or(sku), priced.product(place).or(product)].into_iter().flatten()
}

/// The collections that rules and scopes of a case name.
#[inline(never)]
fn collections_of<'a>(case: &'a Case<'a>) -> Gathered<'a> {
    let offers = || (0..case.resolved.len()).filter_map(|place| case.offer(place));
    let mut collections = Gathered::default();
    for rule in offers().flat_map(|offer| &offer.rules).filter(|rule| rule.needs.meets(Needs::COLLECTIONS)) {
        let mut asked: Vec<&GoodsRef> = Vec::new();
        rule.each_goods(&mut |goods| {
            if goods.object == GoodsObject::Collection {
                asked.push(goods);
            }
        });
        for goods in asked {
            if !collections.has(&goods.id) {
                let own = rule.own_collections.iter().find(|own| own.id == goods.id);
                let own = own.map(|own| Known::Is(Fact::Lent(own)));
                collections.add(&goods.id, own.unwrap_or_else(|| find_collection(case, &goods.id)));
            }
        }
    }
    for id in offers().filter_map(|offer| offer.same_items()) {
        if !collections.has(id) {
            collections.add(id, find_collection(case, id));
        }
    }
    collections
}

/// A collection by its id; the one of everything is always there.
fn find_collection<'a>(case: &Case<'a>, id: &str) -> Known<Fact<'a, Collection>> {
    if id == Collection::EVERYTHING {
        return Known::Is(Fact::own(Collection { id: Text::from(id), goods: Contents::All }));
    }
    case.facts.collection(id)
}
