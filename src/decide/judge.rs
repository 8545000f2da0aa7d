//! Decides for the stacking walk whether a redeemable applies and what it gives.

pub mod caps;
pub mod formula_inputs;
mod unit_goods;

use crate::decide::case::{Case, Offer, ResolvedName};
use crate::decide::check::check;
use crate::decide::finding::{Finding, Findings};
use crate::decide::items::Items;
use crate::decide::judge::caps::Caps;
use crate::decide::judge::formula_inputs::OfferInputs;
use crate::decide::judge::unit_goods::with_goods;
use crate::decide::loyalty::exchange;
use crate::decide::request_usage::RequestUsage;
use crate::decide::rule_input::{CheckedEffect, PaidOrder, RunningOrder, check_rules_after, request_facts};
use crate::facts::Fact;
use crate::ledger::AccountId;
use crate::model::discount::{Discount, Dynamic, GiftCard, GiftEffect, UnitEffect, UnitOff};
use crate::model::order::{Goods, Item};
use crate::model::redeemable::Grant;
use crate::model::reward::RewardKind;
use crate::model::scope::{GoodsObject, GoodsRef, Scope};
use crate::money::Money;
use crate::pricing::goods::{find_named, kind_of};
use crate::pricing::{
    Cart, CoveredUnits, DiscountBase, FreeGoods, Gain, LinesInScope, NumberResolver, add_units, apply_gift,
    discount_lines, discount_order, select, steps,
};
use crate::refusal::{Reason, Refusal};
use crate::rules::{RequestFacts, RequiredFacts};
use crate::stacking::Judge;

static EVERYTHING: Scope = Scope { included_all: true, included: Vec::new(), excluded: Vec::new(), selective: false };

/// The judge of one case.
pub struct CaseJudge<'c> {
    case: &'c Case<'c>,
    items: &'c Items<'c>,
    request_facts: RequestFacts<'c>,
    /// Units in scope of the current redeemable.
    covered: Vec<CoveredUnits>,
    caps: Caps<'c>,
    /// Usage of the redeemables applied so far.
    usage: RequestUsage,
    /// Findings of the current check; empty between checks.
    finding: Finding,
    /// Findings of the last check of each redeemable.
    pub found: &'c mut Findings,
}

/// What a judge has recorded about the redeemables of a walk.
#[derive(Debug, Clone, Default)]
pub struct JudgeRecord {
    usage: RequestUsage,
    capped_units: Vec<(AccountId, u64)>,
}

/// The inputs for judging one redeemable.
struct JudgedRedeemable<'b> {
    offer: &'b Offer<'b>,
    scope: Option<&'b Scope>,
    position: usize,
    cart: &'b Cart,
    items: &'b Items<'b>,
    base: DiscountBase<'b>,
    once: bool,
}

/// Returns the lines of the order, with those that unit effects have added to it, which are nearly always none.
fn lines<'l, 'c>(
    case: &'c Case<'c>,
    items: &'l Items<'c>,
    cart: &'c Cart,
    added: &'l mut Option<Items<'c>>,
) -> &'l Items<'c> {
    if cart.added().is_empty() { items } else { added.insert(Items::with_added(case, cart.added())) }
}

impl<'c> CaseJudge<'c> {
    /// Returns a judge of a resolved request and its lines.
    pub fn new(case: &'c Case<'c>, items: &'c Items<'c>, found: &'c mut Findings) -> CaseJudge<'c> {
        let (request_facts, caps) = (request_facts(case), Caps::new(case));
        CaseJudge {
            case,
            items,
            request_facts,
            covered: Vec::new(),
            caps,
            usage: RequestUsage::default(),
            finding: Finding::default(),
            found,
        }
    }

    /// Returns what it has recorded about the redeemables applied so far.
    pub fn record(&self) -> JudgeRecord {
        JudgeRecord { usage: self.usage.clone(), capped_units: self.caps.used().to_vec() }
    }

    /// Continues after the redeemables of a record instead of those applied so far.
    pub fn resume(&mut self, record: &JudgeRecord) {
        self.usage.clone_from(&record.usage);
        self.caps.reset(&record.capped_units);
    }

    /// Selects the units in scope; they are in `self.covered` until the next redeemable.
    fn select_units(&mut self, attempt: &JudgedRedeemable<'_>, numbers: &NumberResolver<'_>) {
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
        if !self.case.budget.spend(steps(scope, attempt.items.order_lines())) {
            return;
        }
        let mut allowance = self.caps.start(attempt.offer, attempt.items.order_lines(), numbers);
        let order_lines = attempt.items.order_lines();
        let selected = select(scope, order_lines, attempt.cart, attempt.once, &mut allowance, &mut self.covered);
        self.case.budget.checked(selected);
        let missing = allowance.missing();
        self.found.add_missing(attempt.position, missing);
    }

    fn discount(&mut self, attempt: &JudgedRedeemable<'_>, discount: &Discount) -> Option<Box<Gain>> {
        let mut gain = self.resolved_discount(attempt, discount)?;
        if attempt.scope.is_some() {
            gain.covered = std::mem::take(&mut self.covered);
        }
        Some(Box::new(gain))
    }

    fn resolved_discount(&mut self, attempt: &JudgedRedeemable<'_>, discount: &Discount) -> Option<Gain> {
        let paid = attempt.cart.has_free_units().then(|| attempt.cart.without_free_units());
        let bundles = self.found.get(attempt.position).and_then(|found| found.bundles.as_ref());
        let bundles = bundles.map(|bundles| bundles.quantity);
        let view = OfferInputs::new(self.case, attempt.offer, attempt.cart);
        let numbers = NumberResolver { cart: paid.as_ref().unwrap_or(attempt.cart), inputs: &view, bundles };
        let numbered = discount.is_dynamic().then(|| resolve(discount, &numbers));
        let mut missing = Vec::new();
        let named = numbered.as_ref().unwrap_or(discount);
        let named = with_goods(named, self.case.facts, &mut |fact| missing.push(fact)).or(numbered);
        if let Some(named) = named
            && let Some(found) = self.found.of(attempt.position)
        {
            found.resolved = Some(Box::new(named));
        }
        self.found.add_missing(attempt.position, missing);
        let scoped = attempt.scope.is_some();
        let on_lines = discount.acts_on_lines(scoped);
        if on_lines || scoped {
            self.select_units(attempt, &numbers);
        }
        let gain = match on_lines {
            true => self.on_lines(attempt, discount, &numbers),
            false => discount_order(discount, &numbers, attempt.base),
        };
        self.found.add_missing(attempt.position, view.missing.take());
        gain
    }

    fn gift(&mut self, attempt: &JudgedRedeemable<'_>, gift: &GiftCard) -> Result<Box<Gain>, Refusal> {
        // Without credits found the card has none.
        let left = self.found.get(attempt.position).and_then(|found| found.credits).unwrap_or(0);
        let left = self.case.budget.checked(Money::of(left));
        let requested = self.case.redeemables.get(attempt.position).and_then(|redeemable| redeemable.credits);
        let credits = requested.map_or(left, |requested| requested.min(left));
        let view = OfferInputs::new(self.case, attempt.offer, attempt.cart);
        if attempt.scope.is_some() || gift.effect == GiftEffect::ApplyToItems {
            let paid = attempt.cart.has_free_units().then(|| attempt.cart.without_free_units());
            self.select_units(
                attempt,
                &NumberResolver { cart: paid.as_ref().unwrap_or(attempt.cart), inputs: &view, bundles: None },
            );
        }
        let everything = Scope::default();
        let scope = attempt.scope.unwrap_or(&everything);
        let in_scope =
            LinesInScope { cart: attempt.cart, base: DiscountBase::Discounted, scope, covered: &self.covered };
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

    /// Returns the gain of a discount of lines or units on those in scope.
    fn on_lines(
        &mut self,
        attempt: &JudgedRedeemable<'_>,
        discount: &Discount,
        numbers: &NumberResolver<'_>,
    ) -> Option<Gain> {
        let units = discount.units();
        if !matches!(discount, Discount::Unit(_) | Discount::Units(_)) {
            let everything = Scope::default();
            let scope = attempt.scope.unwrap_or(&everything);
            let in_scope = LinesInScope { cart: attempt.cart, base: attempt.base, scope, covered: &self.covered };
            return discount_lines(discount, numbers, in_scope);
        }
        let mut all = Vec::with_capacity(units.len());
        for unit in units {
            all.push(self.free_goods(attempt, unit, numbers)?);
        }
        add_units(&all, attempt.cart, attempt.items.order_lines(), &self.covered, attempt.once)
    }

    /// Returns the known goods of a unit discount: product or SKU, the unit price, and the line that they would become.
    fn free_goods(
        &mut self,
        attempt: &JudgedRedeemable<'_>,
        unit: &UnitOff,
        numbers: &NumberResolver<'_>,
    ) -> Option<FreeGoods> {
        let times = if unit.effect == UnitEffect::ReplaceItems { 1 } else { numbers.times() };
        let units = numbers.units(&unit.unit_off).checked_mul(times)?;
        let named = |object| GoodsRef::new(object, unit.unit_type.clone(), None);
        let details = kind_of(unit);
        let in_cart = || {
            let kinds = [GoodsObject::Sku, GoodsObject::Product, GoodsObject::Collection];
            kinds.into_iter().find(|object| attempt.items.order_lines().first(&named(*object)).is_some())
        };
        let mut free = FreeGoods {
            effect: unit.effect,
            units,
            goods: named(GoodsObject::Collection),
            price: None,
            item: Item { quantity: 0, ..Item::default() },
        };
        if unit.effect == UnitEffect::AddSameItems {
            self.found.add_missing(attempt.position, attempt.items.missing().to_vec());
            free.goods = named(details.or_else(in_cart).unwrap_or(GoodsObject::Collection));
            return Some(free);
        }
        let mut missing = Vec::new();
        let found = find_named(&unit.unit_type, details, self.case.facts, &mut |fact| missing.push(fact));
        self.found.add_missing(attempt.position, missing);
        if found.is_unreadable() {
            return None;
        }
        let object = match (&found.sku, &found.product) {
            (Some(_), _) => GoodsObject::Sku,
            (None, Some(_)) => GoodsObject::Product,
            // Goods that are not in the catalogue have the type that the discount or the order gives them.
            (None, None) => details.or_else(in_cart).unwrap_or(GoodsObject::Product),
        };
        let known = if object == GoodsObject::Sku { found.sku.as_deref() } else { found.product.as_deref() };
        if let Some(goods) = known {
            // Lines are identified by the goods that were found, and so are added lines.
            let id = goods.id.clone().unwrap_or_else(|| unit.unit_type.clone());
            free.goods = GoodsRef::new(object, id, goods.source_id.clone());
        } else {
            free.goods = named(object);
        }
        free.price = found.price();
        let (id, parent) = (Some(free.goods.id.clone()), found.sku.as_ref().and_then(|sku| sku.product_id.clone()));
        (free.item.sku_id, free.item.product_id) = if object == GoodsObject::Sku { (id, parent) } else { (None, id) };
        let boxed = |goods: Option<Fact<'_, Goods>>, details: &Option<Goods>| {
            goods.map(Fact::into_owned).or_else(|| details.clone()).map(Box::new)
        };
        free.item.sku = boxed(found.sku, &unit.sku);
        free.item.product = boxed(found.product, &unit.product);
        Some(free)
    }
}

impl Judge for CaseJudge<'_> {
    fn is_undecided(&self, position: usize) -> bool {
        matches!(self.case.resolved.get(position), Some(ResolvedName::Unknown))
    }

    fn refusal(&mut self, position: usize, cart: &Cart) -> Option<Refusal> {
        let offer = match self.case.resolved.get(position)? {
            ResolvedName::Offer(offer) => offer,
            ResolvedName::Refused(refusal) => return Some(refusal.clone()),
            ResolvedName::Unknown => return None,
        };
        let redeemable = self.case.redeemables.get(position)?;
        let mut added = None;
        let items = lines(self.case, self.items, cart, &mut added);
        let request_facts = &self.request_facts;
        let paid = PaidOrder::of(self.case, cart, request_facts);
        let running_order = RunningOrder { cart, items, request_facts, usage: &self.usage, paid: paid.as_ref() };
        let verdict = check(self.case, redeemable, offer, &running_order, &mut self.finding);
        self.found.insert(position, &mut self.finding);
        verdict.err().map(|refusal| self.case.with_requested_name(position, refusal))
    }

    fn refusal_of_either(&mut self, position: usize, full_cart: &Cart, visible_cart: &Cart) -> Option<Refusal> {
        let refusal = self.refusal(position, full_cart);
        if refusal.is_some() {
            return refusal;
        }
        let missing = self.found.missing_of(std::iter::once(position));
        let refusal = self.refusal(position, visible_cart);
        self.found.add_missing(position, missing);
        refusal
    }

    fn refusal_after(
        &mut self,
        position: usize,
        before: &Cart,
        gain: &Gain,
        after: &dyn Fn() -> Option<Cart>,
    ) -> Option<Refusal> {
        let offer = self.case.offer(position).filter(|offer| offer.needs.meets(RequiredFacts::AFTER))?;
        let mut added = None;
        let items = lines(self.case, self.items, before, &mut added);
        let request_facts = &self.request_facts;
        let paid = PaidOrder::of(self.case, before, request_facts);
        let running_order =
            RunningOrder { cart: before, items, request_facts, usage: &self.usage, paid: paid.as_ref() };
        let effect = CheckedEffect { gain, total: after().and_then(|after| after.total()) };
        check_rules_after(self.case, offer, &running_order, effect, self.found.of(position)?).err()
    }

    fn record_applied(&mut self, position: usize, gain: &Gain) {
        self.caps.confirm();
        if let Some(offer) = self.case.offer(position) {
            self.usage.record(
                position,
                offer,
                self.found.get(position),
                self.case.budget.checked(gain.total()).minor(),
            );
        }
    }

    fn gives_reward(&self, position: usize) -> bool {
        let exchange = self.case.offer(position).and_then(|offer| offer.exchange.as_ref());
        exchange.is_some_and(|exchange| !matches!(exchange.reward.kind, RewardKind::Coin(_)))
    }

    fn gain(
        &mut self,
        position: usize,
        cart: &Cart,
        visible_cart: Option<&Cart>,
        base: DiscountBase<'_>,
        once: bool,
    ) -> Result<Box<Gain>, Refusal> {
        let case = self.case;
        let Some(offer) = case.offer(position) else {
            return Ok(Box::default());
        };
        let mut added = None;
        let items = lines(self.case, self.items, cart, &mut added);
        let cart = if is_of_running_order(offer, base) { cart } else { visible_cart.unwrap_or(cart) };
        let attempt = JudgedRedeemable { offer, scope: offer.scope(), position, cart, items, base, once };
        let gain = match &offer.incentive.grant {
            Grant::Discount(discount) => self
                .discount(&attempt, discount)
                .map(|gain| gain.capped_at(visible_cart.and_then(Cart::total)))
                .ok_or_else(|| Refusal::new(Reason::InvalidAmount, "Amount has to be a valid positive number")),
            Grant::Gift(gift) => self.gift(&attempt, gift),
            Grant::Loyalty(_) => {
                let mut found = self.found.get(position).cloned().unwrap_or_default();
                let gain = exchange(case.redeemables.get(position), offer, cart, &mut found);
                self.found.insert(position, &mut found);
                Ok(Box::new(gain))
            }
        };
        if let Ok(gain) = &gain {
            self.caps.record(offer, items.order_lines(), gain);
        }
        gain
    }
}

/// Returns whether a redeemable discounts the running order including the units that others make free later. That
/// applies to a percentage of the order or of all lines, after earlier discounts. A unit that was discounted before it
/// becomes free only adds the rest (docs/spec/calculation.md#5.9, and examples 21 and 22 of section 17). All others see
/// the order without the units (section 19, D19).
fn is_of_running_order(offer: &Offer<'_>, base: DiscountBase<'_>) -> bool {
    let Grant::Discount(discount @ Discount::Percent { .. }) = &offer.incentive.grant else { return false };
    let selects = offer.scope().is_some() && discount.acts_on_lines(true);
    matches!(base, DiscountBase::Discounted) && !selects && !discount.is_dynamic()
}

/// Returns the discount with the values of its formulas on the whole order; a formula that reads single lines keeps its
/// plain number (docs/spec/calculation.md#4).
fn resolve(discount: &Discount, numbers: &NumberResolver<'_>) -> Discount {
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
