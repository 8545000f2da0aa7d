//! Decides for the stacker whether a redeemable may be used and what it gives. It must not know the order of trying.

use crate::decide::caps::Caps;
use crate::decide::case::{Case, Offer, Resolved};
use crate::decide::check::check;
use crate::decide::finding::{Finding, Findings};
use crate::decide::formula_inputs::OfferInputs;
use crate::decide::items::Items;
use crate::decide::loyalty::exchange;
use crate::decide::rule_input::{RunningOrder, check_rules_after, request_facts};
use crate::decide::running::Running;
use crate::decide::unit_goods::with_goods;
use crate::facts::Fact;
use crate::model::discount::{Discount, Dynamic, Gift, GiftEffect, UnitEffect, UnitOff};
use crate::model::incentive::Grant;
use crate::model::order::{Goods, Item};
use crate::model::reward::RewardKind;
use crate::model::scope::{GoodsObject, GoodsRef, Scope};
use crate::money::Money;
use crate::pricing::goods::find_named;
use crate::pricing::{
    Base, Cart, CoveredUnits, FreeGoods, Gain, LinesInScope, Numbers, add_units, apply_gift, off_lines, off_order,
    select, steps,
};
use crate::refusal::{Reason, Refusal};
use crate::rules::{Needs, RequestFacts};
use crate::stacking::Judge;

/// The lines of the order and those that unit effects have added to it, which are nearly always none.
macro_rules! lines {
    ($judge:ident, $cart:ident, $added:ident) => {
        if $cart.added().is_empty() {
            $judge.items
        } else {
            $added = Items::with_added($judge.case, $cart.added());
            &$added
        }
    };
}

static EVERYTHING: Scope = Scope { included_all: true, included: Vec::new(), excluded: Vec::new(), selective: false };

/// The judge of one case.
pub struct CaseJudge<'c> {
    case: &'c Case<'c>,
    items: &'c Items<'c>,
    request_facts: RequestFacts<'c>,
    /// Units in reach of the redeemable at hand.
    covered: Vec<CoveredUnits>,
    caps: Caps<'c>,
    /// What has been applied.
    running: Running,
    /// What the check at hand finds; nothing between checks.
    finding: Finding,
    /// What the last check of each redeemable found.
    pub found: &'c mut Findings,
}

/// What one redeemable is judged on.
struct Attempt<'b> {
    offer: &'b Offer<'b>,
    scope: Option<&'b Scope>,
    place: usize,
    cart: &'b Cart,
    items: &'b Items<'b>,
    base: Base<'b>,
    once: bool,
}

impl<'c> CaseJudge<'c> {
    /// A judge over a resolved request and its lines.
    pub fn new(case: &'c Case<'c>, items: &'c Items<'c>, found: &'c mut Findings) -> CaseJudge<'c> {
        let (request_facts, caps) = (request_facts(case), Caps::new(case));
        CaseJudge {
            case,
            items,
            request_facts,
            covered: Vec::new(),
            caps,
            running: Running::default(),
            finding: Finding::default(),
            found,
        }
    }

    /// Finds the units that the scope is about; they are in `self.covered` until the next redeemable.
    fn look(&mut self, attempt: &Attempt<'_>, numbers: &Numbers<'_>) {
        let scope = attempt.scope.unwrap_or(&EVERYTHING);
        self.covered.clear();
        let mut widened = None;
        let scope = match numbers.bundles {
            Some(times) if times > 1 && scope.selective => {
                let is_percent = matches!(&attempt.offer.incentive.grant, Grant::Discount(Discount::Percent { .. }));
                if is_percent { scope } else { &*widened.insert(scope.with_more_units(times)) }
            }
            _ => scope,
        };
        if !self.case.work.takes(steps(scope, attempt.items.basket())) {
            return;
        }
        let mut allowance = self.caps.begin(attempt.offer, attempt.items.basket(), numbers);
        select(scope, attempt.items.basket(), attempt.cart, attempt.once, &mut allowance, &mut self.covered);
        let lacks = allowance.lacks();
        self.found.lack(attempt.place, lacks);
    }

    fn discount(&mut self, attempt: &Attempt<'_>, discount: &Discount) -> Option<Box<Gain>> {
        let mut gain = self.resolved_discount(attempt, discount)?;
        if attempt.scope.is_some() {
            gain.covered = std::mem::take(&mut self.covered);
        }
        Some(Box::new(gain))
    }

    fn resolved_discount(&mut self, attempt: &Attempt<'_>, discount: &Discount) -> Option<Gain> {
        let bundles = self.found.get(attempt.place).and_then(|found| found.bundles.as_ref());
        let bundles = bundles.map(|bundles| bundles.quantity);
        let view = OfferInputs::new(self.case, attempt.offer, attempt.cart);
        let numbers = Numbers { cart: attempt.cart, inputs: &view, bundles };
        let numbered = discount.is_dynamic().then(|| resolve(discount, &numbers));
        let mut lacks = Vec::new();
        let named = numbered.as_ref().unwrap_or(discount);
        let named = with_goods(named, self.case.facts, &mut |lack| lacks.push(lack)).or(numbered);
        if let Some(named) = named
            && let Some(found) = self.found.of(attempt.place)
        {
            found.resolved = Some(Box::new(named));
        }
        self.found.lack(attempt.place, lacks);
        let scoped = attempt.scope.is_some();
        let on_lines = discount.acts_on_lines(scoped);
        if on_lines || scoped {
            self.look(attempt, &numbers);
        }
        let gain = match on_lines {
            true => self.on_lines(attempt, discount, &numbers),
            false => off_order(discount, &numbers, attempt.base),
        };
        self.found.lack(attempt.place, view.lacks.take());
        gain
    }

    fn gift(&mut self, attempt: &Attempt<'_>, gift: &Gift) -> Result<Box<Gain>, Refusal> {
        let left = self.found.get(attempt.place).and_then(|found| found.credits).unwrap_or(0);
        let left = Money::from_wide(u128::from(left)).unwrap_or_default();
        let wanted = self.case.redeemables.get(attempt.place).and_then(|redeemable| redeemable.credits);
        let credits = wanted.map_or(left, |wanted| wanted.min(left));
        let view = OfferInputs::new(self.case, attempt.offer, attempt.cart);
        if attempt.scope.is_some() || gift.effect == GiftEffect::ApplyToItems {
            self.look(attempt, &Numbers { cart: attempt.cart, inputs: &view, bundles: None });
        }
        let everything = Scope::default();
        let scope = attempt.scope.unwrap_or(&everything);
        let in_scope = LinesInScope { cart: attempt.cart, base: Base::Discounted, scope, covered: &self.covered };
        let mut gain = apply_gift(gift.effect, credits, in_scope).map_err(|_| {
            Refusal::new(
                Reason::MissingOrderItemsAmount,
                "At least one applicable order item with amount is required to redeem this GIFT_VOUCHER",
            )
        })?;
        if attempt.scope.is_some() {
            gain.covered = std::mem::take(&mut self.covered);
        }
        Ok(Box::new(gain))
    }

    /// What a discount of lines or units takes off those in reach.
    fn on_lines(&mut self, attempt: &Attempt<'_>, discount: &Discount, numbers: &Numbers<'_>) -> Option<Gain> {
        let units: &[UnitOff] = match discount {
            Discount::Unit(unit) => std::slice::from_ref(unit),
            Discount::Units(units) => units,
            _ => {
                let everything = Scope::default();
                let scope = attempt.scope.unwrap_or(&everything);
                let in_scope = LinesInScope { cart: attempt.cart, base: attempt.base, scope, covered: &self.covered };
                return off_lines(discount, numbers, in_scope);
            }
        };
        let mut all = Vec::with_capacity(units.len());
        for unit in units {
            all.push(self.free_goods(attempt, unit, numbers)?);
        }
        add_units(&all, attempt.cart, attempt.items.basket(), &self.covered, attempt.once)
    }

    /// What is known of the goods of a unit discount: whether they are a product or a SKU, what one costs, and the line
    /// that they would be.
    fn free_goods(&mut self, attempt: &Attempt<'_>, unit: &UnitOff, numbers: &Numbers<'_>) -> Option<FreeGoods> {
        let times = if unit.effect == UnitEffect::ReplaceItems { 1 } else { numbers.times() };
        let units = numbers.units(&unit.unit_off).checked_mul(times)?;
        let named = |object| GoodsRef::new(object, unit.unit_type.clone(), None);
        let told = match (&unit.sku, &unit.product) {
            (Some(_), _) => Some(GoodsObject::Sku),
            (None, Some(_)) => Some(GoodsObject::Product),
            (None, None) => None,
        };
        let in_cart = || {
            let kinds = [GoodsObject::Sku, GoodsObject::Product, GoodsObject::Collection];
            kinds.into_iter().find(|object| attempt.items.basket().first(&named(*object)).is_some())
        };
        let mut free = FreeGoods {
            effect: unit.effect,
            units,
            goods: named(GoodsObject::Collection),
            price: None,
            item: Item { quantity: 0, ..Item::default() },
        };
        if unit.effect == UnitEffect::AddSameItems {
            self.found.lack(attempt.place, attempt.items.lacks().to_vec());
            free.goods = named(told.or_else(in_cart).unwrap_or(GoodsObject::Collection));
            return Some(free);
        }
        let mut lacks = Vec::new();
        let found = find_named(&unit.unit_type, told, self.case.facts, &mut |lack| lacks.push(lack));
        self.found.lack(attempt.place, lacks);
        if found.is_unreadable() {
            return None;
        }
        let object = match (&found.sku, &found.product) {
            (Some(_), _) => GoodsObject::Sku,
            (None, Some(_)) => GoodsObject::Product,
            // Goods that only the order names are what it says that they are.
            (None, None) => told.or_else(in_cart).unwrap_or(GoodsObject::Product),
        };
        let known = if object == GoodsObject::Sku { found.sku.as_deref() } else { found.product.as_deref() };
        if let Some(goods) = known {
            // Lines are told by what was found of them, and so is what is added to them.
            let id = goods.id.clone().unwrap_or_else(|| unit.unit_type.clone());
            free.goods = GoodsRef::new(object, id, goods.source_id.clone());
        } else {
            free.goods = named(object);
        }
        free.price = found.price();
        let (id, parent) = (Some(free.goods.id.clone()), found.sku.as_ref().and_then(|sku| sku.product_id.clone()));
        (free.item.sku_id, free.item.product_id) = if object == GoodsObject::Sku { (id, parent) } else { (None, id) };
        let boxed = |goods: Option<Fact<'_, Goods>>, told: &Option<Goods>| {
            goods.map(Fact::into_owned).or_else(|| told.clone()).map(Box::new)
        };
        free.item.sku = boxed(found.sku, &unit.sku);
        free.item.product = boxed(found.product, &unit.product);
        Some(free)
    }
}

impl Judge for CaseJudge<'_> {
    fn undecided(&self, place: usize) -> bool {
        matches!(self.case.resolved.get(place), Some(Resolved::Unknown))
    }

    fn refusal(&mut self, place: usize, cart: &Cart) -> Option<Refusal> {
        let offer = match self.case.resolved.get(place)? {
            Resolved::Offer(offer) => offer,
            Resolved::Refused(refusal) => return Some(refusal.clone()),
            Resolved::Unknown => return None,
        };
        let redeemable = self.case.redeemables.get(place)?;
        let added;
        let items = lines!(self, cart, added);
        let running_order = RunningOrder { cart, items, request_facts: &self.request_facts, running: &self.running };
        let verdict = check(self.case, redeemable, offer, &running_order, &mut self.finding);
        self.found.put(place, &mut self.finding);
        verdict.err()
    }

    fn objection(&mut self, place: usize, before: &Cart, gain: &Gain) -> Option<Refusal> {
        let offer = self.case.offer(place).filter(|offer| offer.needs.meets(Needs::AFTER))?;
        let added;
        let items = lines!(self, before, added);
        let running_order =
            RunningOrder { cart: before, items, request_facts: &self.request_facts, running: &self.running };
        check_rules_after(self.case, offer, &running_order, gain, self.found.of(place)?).err()
    }

    fn applied(&mut self, place: usize, gain: &Gain) {
        self.caps.keep();
        if let Some(offer) = self.case.offer(place) {
            self.running.note(place, offer, self.found.get(place), gain.total().unwrap_or_default().minor());
        }
    }

    fn rewards(&self, place: usize) -> bool {
        let exchange = self.case.offer(place).and_then(|offer| offer.exchange.as_ref());
        exchange.is_some_and(|exchange| !matches!(exchange.reward.kind, RewardKind::Coin(_)))
    }

    fn gain(&mut self, place: usize, cart: &Cart, base: Base<'_>, once: bool) -> Result<Box<Gain>, Refusal> {
        let case = self.case;
        let Some(offer) = case.offer(place) else {
            return Ok(Box::default());
        };
        let added;
        let items = lines!(self, cart, added);
        let attempt = Attempt { offer, scope: offer.scope(), place, cart, items, base, once };
        let gain = match &offer.incentive.grant {
            Grant::Discount(discount) => self
                .discount(&attempt, discount)
                .ok_or_else(|| Refusal::new(Reason::InvalidAmount, "Amount has to be a valid positive number")),
            Grant::Gift(gift) => self.gift(&attempt, gift),
            Grant::Loyalty(_) => {
                let mut found = self.found.get(place).cloned().unwrap_or_default();
                let gain = exchange(case.redeemables.get(place), offer, cart, &mut found);
                self.found.put(place, &mut found);
                Ok(Box::new(gain))
            }
        };
        if let Ok(gain) = &gain {
            self.caps.note(offer, items.basket(), gain);
        }
        gain
    }
}

/// The discount with the numbers that its formulas come to on the order as a whole; what reads single lines keeps its
/// plain number (calculation.md section 4).
fn resolve(discount: &Discount, numbers: &Numbers<'_>) -> Discount {
    let unit = |unit: &UnitOff| UnitOff { unit_off: Dynamic::fixed(numbers.units(&unit.unit_off)), ..unit.clone() };
    let mut resolved = discount.clone();
    match &mut resolved {
        Discount::Percent { percent_off, .. } => *percent_off = Dynamic::fixed(numbers.percent(percent_off, None)),
        Discount::Amount { amount_off, .. } => *amount_off = Dynamic::fixed(numbers.money(amount_off, None)),
        Discount::Fixed { fixed_amount, .. } => *fixed_amount = Dynamic::fixed(numbers.price(fixed_amount, None)),
        Discount::Unit(one) => **one = unit(one),
        Discount::Units(units) => units.iter_mut().for_each(|one| *one = unit(one)),
    }
    resolved
}
