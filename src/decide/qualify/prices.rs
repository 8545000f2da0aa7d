//! Prices goods for a page that lists them: each alone, as a cart with one unit of it, with the promotions that together save most.
//!
//! docs/spec/calculation.md#13. Customer, candidates and rules are found once for all goods. The price of each is that of the best stack of a
//! qualification of that cart, so that a validation of it gives the same amounts.

mod cart_dependence;
mod stack_room;

use std::collections::BTreeMap;

use crate::budget::StepCost;
use crate::count::Countable;
use crate::decide::case::{Case, MissingFacts, STEPS};
use crate::decide::qualify::offers::find_best;
use crate::decide::qualify::page::Match;
use crate::decide::qualify::prices::cart_dependence::CartDependence;
use crate::decide::qualify::{SoughtCandidates, most_candidates};
use crate::facts::{Facts, Known};
use crate::id::Context;
use crate::model::order::{Item, Order, RelatedObject};
use crate::model::price::PriceRequest;
use crate::money::Money;
use crate::refusal::{Reason, Refusal};
use crate::text::{Text, joined};
use crate::time::Instant;

/// The maximum number of fold steps of the search for the price of one product. A page lists many, and its main thread waits for all. Five
/// discounts of one line take 150.
pub const PRICE_STEPS_MAX: usize = 500;
/// The maximum number of steps of one request: natively a third of a second. Products beyond it have no price; another request gives theirs.
pub const LISTING_STEPS_MAX: usize = 60_000_000;
/// Steps of a product, in addition to those of its rules.
const STEPS_PER_PRODUCT: usize = 1_000;
/// Steps of one try of a promotion in a search, as measured.
const STEPS_PER_TRY: usize = 200;

/// The price of one product or SKU.
#[derive(Debug, Clone)]
pub struct GoodsPrice<'a> {
    /// Its name in the request.
    pub name: &'a Text,
    /// Its price, or why it has none.
    pub outcome: PriceOutcome,
    /// The facts that only the server has.
    pub missing: MissingFacts,
}

/// The outcome for one product or SKU.
#[derive(Debug, Clone)]
pub enum PriceOutcome {
    /// It has a price.
    Priced(AlonePrice),
    /// It has no price: it does not exist, or nothing can be decided about it.
    Refused(Refusal),
    /// Only the server knows its price.
    Unknown,
}

/// The price of a product or SKU alone.
#[derive(Debug, Clone)]
pub struct AlonePrice {
    /// Which of them it is.
    pub object: RelatedObject,
    /// Its price in the catalogue.
    pub price: Money,
    /// The amount of a cart of one unit after the promotions.
    pub discounted: Money,
    /// The promotion tiers, in order.
    pub tiers: Vec<Text>,
    /// `true` if another cart with it may have another price.
    pub depends_on_cart: bool,
}

/// Prices goods, each alone, in the order of the request. A refusal concerns the whole request.
pub fn find_prices<'a>(
    facts: &'a dyn Facts,
    request: &'a PriceRequest,
    context: &'a Context,
) -> Result<Vec<GoodsPrice<'a>>, Refusal> {
    let mut case = Case::new(facts, &request.query.request, context);
    case.open()?;
    let sought = SoughtCandidates::new(&mut case, &request.query);
    case.add_missing_customer();
    case.within_bounds()?;
    let considered = sought.listed_tiers(case.in_force_at());
    let dependence = CartDependence::new(&case, &sought, &considered);
    let steps = LISTING_STEPS_MAX;
    let mut listing = GoodsListing { case, sought, considered, dependence, stacks: BTreeMap::new(), steps };
    Ok(request.goods.iter().map(|name| listing.price(name)).collect())
}

impl SoughtCandidates<'_> {
    /// Returns for each candidate whether it is a promotion tier of this caller that is in force.
    fn listed_tiers(&self, in_force_at: Instant) -> Vec<bool> {
        let Self { query, candidates, customer, .. } = self;
        let is_listed = |position: usize| {
            let is_in_time =
                candidates.terms.get(position).is_some_and(|terms| !terms.plain || terms.cover(in_force_at));
            let matches = || candidates.list.get(position).is_some_and(|one| query.matches(one, customer.as_deref()));
            is_in_time && matches() && self.is_considered(position, in_force_at)
        };
        (0..candidates.list.len()).map(is_listed).collect()
    }
}

/// Data that all goods of a request have in common.
struct GoodsListing<'a> {
    /// The request with its customer, without an order.
    case: Case<'a>,
    sought: SoughtCandidates<'a>,
    /// `true` for each candidate that is a promotion tier and may apply.
    considered: Vec<bool>,
    dependence: CartDependence<'a>,
    /// The best stacks of promotions that only depend on the price, by the price and their positions.
    stacks: BTreeMap<(Money, Vec<usize>), PricedStack>,
    /// The steps of the request that are left.
    steps: usize,
}

/// The best stack of a product.
#[derive(Debug, Clone)]
struct PricedStack {
    discounted: Money,
    tiers: Vec<Text>,
    is_proven: bool,
}

impl<'a> GoodsListing<'a> {
    fn price(&mut self, name: &'a Text) -> GoodsPrice<'a> {
        let mut case = self.case.clone();
        if self.steps == 0 {
            case.missing.add(STEPS.into());
            return GoodsPrice { name, outcome: PriceOutcome::Unknown, missing: case.missing };
        }
        let Case { facts, missing, .. } = &mut case;
        let outcome = match find_line(name, *facts, &mut |fact| missing.add(fact)) {
            Some(line) => self.price_line(line, &mut case),
            None if case.missing.len() > self.case.missing.len() => PriceOutcome::Unknown,
            None => PriceOutcome::Refused(Refusal::not_found("product", name)),
        };
        let spent = self.case.budget.left().remaining_after(case.budget.left());
        self.steps = self.steps.remaining_after(spent.add_steps(STEPS_PER_PRODUCT));
        GoodsPrice { name, outcome, missing: case.missing }
    }

    fn price_line(&mut self, line: Item, case: &mut Case<'a>) -> PriceOutcome {
        let object = if line.sku_id.is_some() { RelatedObject::Sku } else { RelatedObject::Product };
        if let Err(refusal) = case.start_with(Order { items: vec![line], ..Order::default() }) {
            return PriceOutcome::Refused(refusal);
        }
        if let Some(refusal) = &case.unreadable {
            return PriceOutcome::Refused(refusal.clone());
        }
        let Some(price) = case.priced.cart.amount else {
            return match case.missing.len() > self.case.missing.len() {
                true => PriceOutcome::Unknown,
                false => PriceOutcome::Refused(Refusal::new(Reason::MissingAmount, "it has no price in the catalogue")),
            };
        };
        let reached = self.dependence.reached(case);
        let mut matches = self.sought.find_matches(case, Some(&self.considered));
        // Tiers that give nothing would only be tried in vain.
        matches.retain(|matched| self.dependence.may_give(&reached, matched.position));
        let stack = self.stack(case, price, &matches);
        if let Err(refusal) = case.within_bounds() {
            return PriceOutcome::Refused(refusal);
        }
        let candidates = &self.sought.candidates;
        let depends_on_cart = !stack.is_proven || self.dependence.may_change(case, candidates, &reached, &stack.tiers);
        let PricedStack { discounted, tiers, .. } = stack;
        PriceOutcome::Priced(AlonePrice { object, price, discounted, tiers, depends_on_cart })
    }

    /// Returns the best stack of the matches of a case.
    fn stack(&mut self, case: &mut Case<'a>, price: Money, matches: &[Match<'a>]) -> PricedStack {
        if matches.is_empty() {
            return PricedStack { discounted: price, tiers: Vec::new(), is_proven: true };
        }
        let is_by_amount = matches.iter().all(|matched| self.dependence.is_by_amount(matched.position));
        let key = is_by_amount.then(|| (price, matches.iter().map(|matched| matched.position).collect::<Vec<usize>>()));
        if let Some(known) = key.as_ref().and_then(|key| self.stacks.get(key)) {
            return known.clone();
        }
        let missing = case.missing.len();
        let most = most_candidates(case, 1);
        let best = find_best(case, &self.sought.candidates, matches, most, PRICE_STEPS_MAX);
        self.steps = self.steps.remaining_after(best.steps.times_steps(STEPS_PER_TRY));
        let evaluated = &best.evaluated;
        let applied = (0..evaluated.resolved.len()).filter_map(|position| evaluated.offer(position));
        let stack = PricedStack {
            // Without discounts the total is the amount.
            discounted: evaluated.walk.cart.total().unwrap_or(price),
            tiers: applied.map(|offer| offer.incentive.id.clone()).collect(),
            is_proven: best.unproven.is_some_and(Money::is_zero),
        };
        // Missing facts belong to this product alone.
        if let Some(key) = key.filter(|_| case.missing.len() == missing && !case.budget.is_over()) {
            self.stacks.insert(key, stack.clone());
        }
        stack
    }
}

/// Returns the line of a cart with one unit of the product of a name or, if there is none, of the SKU; `None` for neither. `missing` receives
/// what only the server knows.
pub fn find_line(name: &Text, facts: &dyn Facts, missing: &mut dyn FnMut(Text)) -> Option<Item> {
    let product = facts.product(name);
    if matches!(product, Known::Unknown) {
        missing(joined(&["product/", name]));
    }
    let one_unit = Item { quantity: 1, ..Item::default() };
    if matches!(product, Known::Is(_) | Known::Unreadable) {
        return Some(Item { product_id: Some(name.clone()), ..one_unit });
    }
    match facts.sku(name) {
        Known::Is(_) | Known::Unreadable => Some(Item { sku_id: Some(name.clone()), ..one_unit }),
        Known::Absent => None,
        Known::Unknown => {
            missing(joined(&["sku/", name]));
            None
        }
    }
}
