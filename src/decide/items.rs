//! Resolves the lines of a request to their goods, collections and data, for rules and scopes.
//!
//! docs/spec/calculation.md#7.2, docs/spec/validation-rules.md#12.

use crate::budget::StepCost;
use crate::decide::case::goods_sets::set_fact;
use crate::decide::case::{Case, Offer};
use crate::facts::{Fact, Known};
use crate::model::goods_sets::OtherGoods;
use crate::model::order::{Goods, Item, RelatedObject};
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::pricing::{Cart, PricedOrder};
use crate::refusal::Refusal;
use crate::rules::{Clock, Collection, Contents, GoodsIndex, OrderLines, RequiredFacts, ResolvedLine, RuleIndex};
use crate::text::{Text, joined};

/// The product of rules and lines from which an index of the goods pays off.
const WORTH_AN_INDEX: usize = 1024;

/// The lines of an order as rules and scopes see them.
#[derive(Debug, Clone, Default)]
pub struct Items<'a> {
    lines: Vec<ResolvedLine<'a>>,
    pub(super) index: Option<GoodsIndex>,
    /// Collections that only the server knows.
    missing: Vec<Text>,
    /// Collections that are stored and cannot be read.
    pub(super) unreadable: Vec<Text>,
    /// The positions of the lines in the order, if some lines are left out.
    positions: Option<Vec<usize>>,
}

/// The known collections that rules name.
#[derive(Default)]
struct CollectedCollections<'c> {
    found: Vec<Fact<'c, Collection>>,
    missing: Vec<Text>,
    unreadable: Vec<Text>,
}

impl<'c> CollectedCollections<'c> {
    fn has(&self, id: &str) -> bool {
        self.found.iter().any(|known| known.id == id)
    }

    fn add(&mut self, id: &Text, collection: Known<Fact<'c, Collection>>) {
        match collection {
            Known::Is(found) => self.found.push(found),
            Known::Absent => {}
            Known::Unknown => self.missing.push(joined(&["collection/", id])),
            Known::Unreadable => self.unreadable.push(id.clone()),
        }
    }
}

impl<'a> Items<'a> {
    /// Returns the indexed lines.
    #[inline]
    pub fn order_lines(&self) -> OrderLines<'_> {
        OrderLines::of(&self.lines).with(self.index.as_ref())
    }

    /// Returns the lines of a case, with the collections that its rules and scopes need.
    pub fn new(case: &'a Case<'a>) -> Items<'a> {
        Items::with_added(case, &[])
    }

    /// Returns the lines of a case followed by those that unit effects have added.
    pub fn with_added(case: &'a Case<'a>, added: &'a [Item]) -> Items<'a> {
        Items::within(case, added, named_collections(case), None, needs_index(case))
    }

    /// Returns the lines of a case and those added, without the lines whose units are all free.
    pub fn without_free(case: &'a Case<'a>, cart: &'a Cart) -> Items<'a> {
        Items::within(case, cart.added(), named_collections(case), paid_positions(cart), needs_index(case))
    }

    /// Returns the lines of a case that are not free, with the collections that the tests of many rules need.
    pub fn for_index(case: &'a Case<'a>, index: &RuleIndex) -> Items<'a> {
        let mut collections = CollectedCollections::default();
        for (id, own) in &index.collections {
            let own = own.as_ref().map(|own| Known::Is(Fact::Borrowed(own)));
            collections.add(id, own.unwrap_or_else(|| find_collection(case, id)));
        }
        Items::within(case, &[], collections, paid_positions(&case.priced.cart), false)
    }

    /// Returns the lines of a case in the named collections, for decisions without a redeemable.
    pub fn with_collections(case: &'a Case<'a>, named: &[Text]) -> Items<'a> {
        let mut collections = CollectedCollections::default();
        for id in named {
            collections.add(id, find_collection(case, id));
        }
        let count = case.order.as_ref().map_or(0, |order| order.items.len());
        Items::within(case, &[], collections, None, count.times_steps(count) >= WORTH_AN_INDEX)
    }

    /// Returns the lines in these collections, limited to `positions` if given, with an index if `needs_index`.
    fn within(
        case: &'a Case<'a>,
        added: &'a [Item],
        CollectedCollections { found: collections, missing, unreadable }: CollectedCollections<'_>,
        positions: Option<Vec<usize>>,
        needs_index: bool,
    ) -> Items<'a> {
        let Some(order) = &case.order else { return Items { missing, unreadable, ..Items::default() } };
        let all = order.items.iter().enumerate();
        let mut lines: Vec<ResolvedLine<'a>> = all.map(|(position, item)| case.priced.line(position, item)).collect();
        let positions_of_added = order.items.len()..;
        lines.extend(positions_of_added.zip(added).map(|(position, item)| case.priced.line(position, item)));
        if let Some(positions) = &positions {
            lines = positions.iter().filter_map(|position| lines.get(*position).cloned()).collect();
        }
        let mut items = Items { lines, missing, unreadable, index: None, positions };
        items.join(&collections, case);
        if needs_index {
            items.index = Some(GoodsIndex::new(items.order_lines()));
        }
        items
    }

    /// Returns the position in the order of one of these lines.
    pub fn position(&self, line: usize) -> usize {
        self.positions.as_ref().and_then(|positions| positions.get(line)).copied().unwrap_or(line)
    }

    /// Returns the collections that only the server knows.
    pub fn missing(&self) -> &[Text] {
        &self.missing
    }

    /// Returns the refusal of an offer that names an unreadable collection: in its tests, its scope, its bundle or its
    /// free units.
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

    /// Puts every line into its collections. A line belongs to one if its SKU or its product does.
    fn join(&mut self, collections: &[Fact<'_, Collection>], case: &Case<'_>) {
        let clock = Clock {
            now: case.context.now,
            zone: &case.zone,
            zone_use: Some(&case.zone_use),
            budget: Some(&case.budget),
        };
        // Collections of many goods are searched in the lines, and not the lines in them.
        let written_down = collections.iter().any(|collection| matches!(collection.goods, Contents::Listed(_)));
        let index = written_down.then(|| GoodsIndex::new(self.order_lines()));
        for collection in collections {
            let mut is_in = vec![matches!(collection.goods, Contents::All); self.lines.len()];
            if !case.budget.spend(self.lines.len()) {
                return;
            }
            match &collection.goods {
                Contents::All => {}
                Contents::Listed(goods) if case.budget.spend(goods.len()) => {
                    let order_lines = self.order_lines().with(index.as_ref());
                    for goods in goods {
                        order_lines.each_position(goods, &mut |position| {
                            is_in.get_mut(position).into_iter().for_each(|is_in| *is_in = true);
                        });
                    }
                }
                Contents::Listed(_) => return,
                Contents::Passing(filter) => {
                    for (number, (line, is_in)) in self.lines.iter().zip(&mut is_in).enumerate() {
                        let position = self.position(number);
                        case.hidden_of_filter(position, line.item(), filter, &mut self.missing);
                        let fields = filter.fields.len();
                        let mut goods = known_goods(&case.priced, position, line);
                        *is_in = case.budget.spend(fields) && goods.any(|goods| filter.passes_goods(goods, &clock));
                    }
                }
                Contents::Numbered(set) => {
                    let by_line = matches!(set.others, OtherGoods::ByData | OtherGoods::ByProperty(_));
                    let times = if by_line { self.lines.len() } else { 1 };
                    if !case.budget.spend(set.steps.times_steps(times)) {
                        return;
                    }
                    for (number, (line, is_in)) in self.lines.iter().zip(&mut is_in).enumerate() {
                        let found = case.is_in_set(self.position(number), line, set);
                        *is_in = found == Some(true);
                        if found.is_none() {
                            self.missing.push(set_fact(set.number));
                        }
                    }
                }
            }
            let members = self.lines.iter_mut().zip(is_in).filter(|(_, is_in)| *is_in);
            members.for_each(|(line, _)| line.join(collection.id.clone()));
        }
    }
}

/// Returns the positions of the lines that have units which are not free, if the order has free units.
fn paid_positions(cart: &Cart) -> Option<Vec<usize>> {
    let lines = cart.lines.iter().enumerate();
    cart.has_free_units().then(|| lines.filter(|(_, line)| !line.is_free()).map(|(position, _)| position).collect())
}

/// Returns whether the rules and scopes of a case query goods often enough for an index.
fn needs_index(case: &Case<'_>) -> bool {
    let (_, rules, goods) = case.needs;
    let count = case.order.as_ref().map_or(0, |order| order.items.len());
    rules.max(goods).times_steps(count) >= WORTH_AN_INDEX
}

/// Returns the collections that rules and scopes of a case name, if any.
fn named_collections<'a>(case: &'a Case<'a>) -> CollectedCollections<'a> {
    match case.needs.0.meets(RequiredFacts::COLLECTIONS) {
        true => collections_of(case),
        false => CollectedCollections::default(),
    }
}

/// Returns the SKU and the product of a line: from the catalogue if known, else as sent.
fn known_goods<'g>(
    priced: &'g PricedOrder<'_>,
    position: usize,
    line: &ResolvedLine<'g>,
) -> impl Iterator<Item = &'g Goods> {
    let sent = |kind| line.item().and_then(|item| item.goods(kind));
    let [sku, product] = [RelatedObject::Sku, RelatedObject::Product].map(sent);
    [priced.sku(position).or(sku), priced.product(position).or(product)].into_iter().flatten()
}

/// Returns the collections that rules and scopes of a case name.
#[inline(never)]
fn collections_of<'a>(case: &'a Case<'a>) -> CollectedCollections<'a> {
    let offers = || (0..case.resolved.len()).filter_map(|position| case.offer(position));
    let mut collections = CollectedCollections::default();
    for rule in offers().flat_map(|offer| &offer.rules).filter(|rule| rule.needs.meets(RequiredFacts::COLLECTIONS)) {
        let mut goods_refs: Vec<&GoodsRef> = Vec::new();
        rule.each_goods(&mut |goods| {
            if goods.object == GoodsObject::Collection {
                goods_refs.push(goods);
            }
        });
        for goods in goods_refs {
            if !collections.has(&goods.id) {
                let own = rule.own_collections.iter().find(|own| own.id == goods.id);
                let own = own.map(|own| Known::Is(Fact::Borrowed(own)));
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

/// Returns a collection by its id; the one of all goods always exists.
fn find_collection<'a>(case: &Case<'a>, id: &str) -> Known<Fact<'a, Collection>> {
    if id == Collection::EVERYTHING {
        return Known::Is(Fact::own(Collection { id: Text::from(id), goods: Contents::All }));
    }
    case.facts.collection(id)
}
