//! Tests the invariants of pricing: counting, bounds of discounts, identities of amounts, limits and free units.

use crate::properties::holds;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use scrip::formula::{FormulaOperand, FormulaValue};
use scrip::model::discount::{AmountEffect, Discount, Dynamic, GiftEffect, PercentEffect, UnitEffect};
use scrip::model::order::Item;
use scrip::model::scope::{GoodsObject, GoodsRef, Scope, ScopeEntry, TargetKind, UnitLimits, UnitOrder};
use scrip::money::{Money, Percent};
use scrip::pricing::{
    Cart, CoveredUnits, DiscountBase, FormulaInputs, FreeGoods, Gain, Line, LinesInScope, NoCaps, NumberResolver,
    add_units, apply_gift, discount_lines, discount_order, select,
};
use scrip::rules::{OrderLines, ResolvedLine};
use scrip::text::Text;
use scrip::time::TimeZone;

const GOODS: [&str; 4] = ["a", "b", "c", "d"];

fn money(minor: u64) -> Money {
    Money::new(i64::try_from(minor).unwrap()).unwrap()
}

/// A line of one of four products.
#[derive(Debug, Clone)]
struct Drawn {
    product: usize,
    quantity: u64,
    free: u64,
    price: Option<u64>,
    sent: Option<u64>,
    discount: Option<u64>,
}

fn drawn_line() -> impl Strategy<Value = Drawn> {
    let sent = proptest::option::weighted(0.2, 0..4000_u64);
    let discount = proptest::option::weighted(0.3, 0..2000_u64);
    (0..4_usize, 1..7_u64, 0..3_u64, proptest::option::weighted(0.9, 0..900_u64), sent, discount).prop_map(
        |(product, quantity, free, price, sent, discount)| Drawn {
            product,
            quantity,
            free: free.min(quantity),
            price,
            sent,
            discount,
        },
    )
}

fn cart_of(drawn: &[Drawn]) -> Cart {
    let line = |drawn: &Drawn| {
        let amount = drawn.sent.or_else(|| Some(drawn.price? * drawn.quantity));
        let discount = drawn.discount.zip(amount).map(|(discount, amount)| money(discount.min(amount)));
        let (price, amount) = (drawn.price.map(money), amount.map(money));
        Line { quantity: drawn.quantity, free: drawn.free, price, amount, discount, applied: None }
    };
    let lines: Vec<Line> = drawn.iter().map(line).collect();
    let mut cart = Cart::new(lines, None).unwrap();
    cart.amount = cart.amount.or(Some(Money::ZERO));
    cart.initial_amount = cart.amount;
    cart
}

fn items_of(drawn: &[Drawn]) -> Vec<ResolvedLine<'static>> {
    let named = |name: &str| &*Box::leak(Box::new(Text::from(name)));
    drawn.iter().map(|drawn| ResolvedLine::new([Some(named(GOODS[drawn.product])), None], [None, None])).collect()
}

fn terms() -> impl Strategy<Value = UnitLimits> {
    let pick = prop_oneof![
        Just(UnitOrder::Every),
        Just(UnitOrder::ToCheapest),
        Just(UnitOrder::FromCheapest),
        Just(UnitOrder::ToMostExpensive),
        Just(UnitOrder::FromMostExpensive)
    ];
    let limit = || proptest::option::weighted(0.3, 0..6_u64);
    let most = || proptest::option::weighted(0.3, (0..1500_u64).prop_map(money));
    let target = prop_oneof![Just(TargetKind::Item), Just(TargetKind::Unit)];
    (pick, target, 0..4_u64, 1..4_u64, limit(), limit(), most(), most()).prop_map(
        |(pick, target, skip_initially, repeat, quantity_limit, aggregated_quantity_limit, one, all)| UnitLimits {
            pick,
            target,
            skip_initially,
            repeat,
            quantity_limit,
            aggregated_quantity_limit,
            amount_limit: one,
            aggregated_amount_limit: all,
            caps: Vec::new(),
        },
    )
}

fn entry(product: usize, terms: &UnitLimits) -> ScopeEntry {
    let goods = GoodsRef::new(GoodsObject::Product, GOODS[product].into(), None);
    ScopeEntry { terms: terms.clone(), ..ScopeEntry::every(goods) }
}

/// Entries for the products whose bits are set, with one of two sets of terms each.
fn scope() -> impl Strategy<Value = Scope> {
    (terms(), terms(), 0..16_usize, 0..16_usize, 0..16_usize, any::<bool>()).prop_map(
        |(one, other, named, second, out, all)| {
            let included = (0..4).filter(|product| named >> product & 1 == 1);
            let included =
                included.map(|product| entry(product, if second >> product & 1 == 1 { &other } else { &one }));
            let excluded = (0..4).filter(|product| out & named & second >> product & 1 == 1);
            let excluded = excluded.map(|product| entry(product, &UnitLimits::default())).collect();
            Scope::new(all, included.collect(), excluded)
        },
    )
}

fn reach_of(scope: &Scope, drawn: &[Drawn], cart: &Cart) -> Vec<CoveredUnits> {
    let mut found = Vec::new();
    select(scope, OrderLines::of(&items_of(drawn)), cart, false, &mut NoCaps, &mut found);
    found
}

/// Implements docs/spec/calculation.md 7.2 to 7.4 in the simple way: a list of every unit, processed one by one. Returns the unit numbers
/// of each line.
fn model(scope: &Scope, drawn: &[Drawn]) -> Vec<Vec<u64>> {
    let mut chosen: Vec<Vec<u64>> = vec![Vec::new(); drawn.len()];
    let named =
        |entries: &[ScopeEntry], line: &Drawn| entries.iter().position(|entry| entry.goods.id == GOODS[line.product]);
    let paid = |line: &Drawn| line.quantity - line.free;
    let mut lists: Vec<(UnitLimits, Vec<usize>)> = Vec::new();
    for entry in &scope.included {
        if !lists.iter().any(|(terms, _)| *terms == entry.terms) {
            lists.push((entry.terms.clone(), Vec::new()));
        }
    }
    for (position, line) in drawn.iter().enumerate() {
        if named(&scope.excluded, line).is_some() {
            continue;
        }
        match named(&scope.included, line) {
            Some(entry) => {
                let terms = &scope.included[entry].terms;
                lists.iter_mut().find(|(known, _)| known == terms).unwrap().1.push(position);
            }
            None if scope.included_all || scope.included.is_empty() => chosen[position] = (1..=paid(line)).collect(),
            None => {}
        }
    }
    for (terms, mut positions) in lists {
        positions.retain(|position| paid(&drawn[*position]) > 0);
        let price = |position: &usize| drawn[*position].price;
        match terms.pick {
            UnitOrder::Every => {}
            UnitOrder::ToCheapest | UnitOrder::FromCheapest => {
                positions.sort_by_key(|position| price(position).unwrap_or(u64::MAX))
            }
            _ => positions.sort_by_key(|position| std::cmp::Reverse(price(position).map_or(-1, i128::from))),
        }
        if matches!(terms.pick, UnitOrder::ToCheapest | UnitOrder::ToMostExpensive) {
            let extreme = positions.first().and_then(price);
            positions.retain(|position| extreme.is_some() && price(position) == extreme);
        }
        let mut targets: Vec<Vec<(usize, u64)>> = Vec::new();
        for position in positions {
            let units = (1..=paid(&drawn[position])).map(|unit| (position, unit));
            match terms.target {
                TargetKind::Item => targets.push(units.collect()),
                TargetKind::Unit => targets.extend(units.map(|unit| vec![unit])),
            }
        }
        // Each entry counts separately, and here every entry is a product.
        let mut left = [terms.aggregated_quantity_limit.unwrap_or(u64::MAX); GOODS.len()];
        let kept = targets.into_iter().skip(terms.skip_initially as usize).step_by(terms.repeat as usize);
        for (position, unit) in kept.flatten() {
            let full = terms.quantity_limit.is_some_and(|limit| chosen[position].len() as u64 >= limit);
            let left = &mut left[drawn[position].product];
            if *left > 0 && !full {
                chosen[position].push(unit);
                *left -= 1;
            }
        }
    }
    chosen
}

#[test]
fn counted_lines_equal_single_units() {
    let inputs = (scope(), proptest::collection::vec(drawn_line(), 0..7));
    holds(4000, inputs, |(scope, drawn)| {
        let cart = cart_of(&drawn);
        let mut found: Vec<Vec<u64>> = vec![Vec::new(); drawn.len()];
        for reach in reach_of(&scope, &drawn, &cart).iter().filter(|reach| !reach.excluded) {
            prop_assert!(found[reach.position].is_empty(), "line {} is reached twice", reach.position);
            found[reach.position] = (0..reach.units).map(|unit| reach.first + unit * reach.step).collect();
        }
        prop_assert_eq!(found, model(&scope, &drawn));
        Ok(())
    });
}

fn dynamic<T>(plain: T) -> Dynamic<T> {
    Dynamic::fixed(plain)
}

fn discount() -> impl Strategy<Value = Discount> {
    let limit = || proptest::option::weighted(0.4, (0..2500_u64).prop_map(money));
    let percent = (0..=10_000_u32, limit(), limit(), any::<bool>()).prop_map(|(hundredths, one, all, items)| {
        let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
        let effect = if items { PercentEffect::ApplyToItems } else { PercentEffect::ApplyToOrder };
        let percent_off = dynamic(Percent::parse(&text).unwrap());
        Discount::Percent { percent_off, amount_limit: one, aggregated_amount_limit: all, effect: Some(effect) }
    });
    let effects = [
        AmountEffect::ApplyToOrder,
        AmountEffect::ApplyToItems,
        AmountEffect::ApplyToItemsProportionally,
        AmountEffect::ApplyToItemsProportionallyByQuantity,
        AmountEffect::ApplyToItemsByQuantity,
    ];
    let amount = (0..3000_u64, limit(), 0..5_usize).prop_map(move |(amount, all, effect)| Discount::Amount {
        amount_off: dynamic(money(amount)),
        aggregated_amount_limit: all,
        effect: Some(effects[effect]),
    });
    let fixed = (0..1200_u64, any::<bool>()).prop_map(|(price, items)| Discount::Fixed {
        fixed_amount: dynamic(Some(money(price))),
        effect: Some(if items { PercentEffect::ApplyToItems } else { PercentEffect::ApplyToOrder }),
    });
    prop_oneof![percent, amount, fixed]
}

/// Resolves only the amounts of the order.
#[derive(Default)]
struct AmountsOnly(TimeZone);

impl FormulaInputs for AmountsOnly {
    fn spend(&self, _steps: usize) -> bool {
        true
    }

    fn find(&self, _operand: &FormulaOperand, _position: Option<usize>) -> Option<FormulaValue> {
        None
    }

    fn zone(&self) -> &TimeZone {
        &self.0
    }
}

fn gain_of(discount: &Discount, cart: &Cart, initial: Option<&Cart>, scope: &Scope, drawn: &[Drawn]) -> Gain {
    let numbers = NumberResolver { cart, inputs: &AmountsOnly::default(), bundles: None };
    let base = initial.map_or(DiscountBase::Discounted, DiscountBase::Initial);
    if !discount.acts_on_lines(true) {
        return discount_order(discount, &numbers, base).unwrap();
    }
    let reach = reach_of(scope, drawn, cart);
    discount_lines(discount, &numbers, LinesInScope { cart, base, scope, covered: &reach }).unwrap()
}

/// Checks the identities of docs/spec/calculation.md#3, and that no discount exceeds the available amount.
fn is_sound(cart: &Cart, before: Option<&Cart>) -> Result<(), TestCaseError> {
    for line in &cart.lines {
        prop_assert!(line.discount.unwrap_or_default() <= line.amount.unwrap_or_default(), "{line:?}");
        prop_assert!(line.free <= line.quantity, "{line:?}");
    }
    let lines = Money::sum(cart.lines.iter().filter_map(|line| line.discount)).unwrap();
    let all = lines.checked_add(cart.discount.unwrap_or_default()).unwrap();
    prop_assert_eq!(cart.total_discount().unwrap_or_default(), all);
    let amount = cart.amount.unwrap_or_default();
    prop_assert_eq!(cart.total().unwrap_or_default(), amount.remaining_after(all));
    if let Some(before) = before {
        prop_assert!(cart.total() <= before.total(), "the total grew");
    }
    Ok(())
}

#[test]
fn no_discount_exceeds_its_line_or_its_order() {
    let steps = proptest::collection::vec((discount(), scope(), any::<bool>()), 1..5);
    holds(3000, (proptest::collection::vec(drawn_line(), 0..6), steps), |(drawn, steps)| {
        let initial = cart_of(&drawn);
        let (mut cart, mut replayed) = (initial.clone(), initial.clone());
        let mut gains = Vec::new();
        for (discount, scope, of_initial) in &steps {
            let gain = gain_of(discount, &cart, of_initial.then_some(&initial), scope, &drawn);
            let before = cart.clone();
            cart.add(&gain).unwrap();
            is_sound(&cart, Some(&before))?;
            let on_lines: u64 = cart
                .lines
                .iter()
                .zip(&before.lines)
                .map(|(now, then)| then.subtotal().minor() - now.subtotal().minor())
                .sum();
            prop_assert_eq!(gain.on_lines().unwrap_or_default(), money(on_lines));
            gains.push(gain);
        }
        gains.iter().for_each(|gain| replayed.add(gain).unwrap());
        prop_assert_eq!(replayed, cart);
        Ok(())
    });
}

/// Raises a limit, or removes it.
fn raised<T: Copy>(limit: Option<T>, by: impl Fn(T) -> T, away: bool) -> Option<T> {
    limit.filter(|_| !away).map(by)
}

#[test]
fn a_larger_limit_never_gives_less() {
    let inputs =
        (proptest::collection::vec(drawn_line(), 1..6), discount(), scope(), 0..7_u8, 1..500_u64, any::<bool>());
    holds(3000, inputs, |(drawn, discount, scope, which, by, away)| {
        let cart = cart_of(&drawn);
        let (mut more, mut wider) = (discount.clone(), scope.clone());
        let money_up = |limit: Option<Money>| raised(limit, |limit| limit.checked_add(money(by)).unwrap(), away);
        match (&mut more, which) {
            (Discount::Percent { amount_limit, .. }, 0) => *amount_limit = money_up(*amount_limit),
            (
                Discount::Percent { aggregated_amount_limit, .. } | Discount::Amount { aggregated_amount_limit, .. },
                0 | 1,
            ) => *aggregated_amount_limit = money_up(*aggregated_amount_limit),
            _ => {
                for entry in &mut wider.included {
                    let terms = &mut entry.terms;
                    match which {
                        0 | 2 => terms.quantity_limit = raised(terms.quantity_limit, |limit| limit + by, away),
                        3 => terms.amount_limit = money_up(terms.amount_limit),
                        _ => terms.aggregated_amount_limit = money_up(terms.aggregated_amount_limit),
                    }
                }
            }
        }
        // Limits on units only distribute one amount differently, and an entry's limit may then cut more of it.
        let spreads = matches!(
            discount,
            Discount::Amount {
                effect: Some(
                    AmountEffect::ApplyToItemsProportionally | AmountEffect::ApplyToItemsProportionallyByQuantity
                ),
                ..
            }
        );
        prop_assume!(!(spreads && matches!(which, 0 | 2)));
        let total = |discount: &Discount, scope: &Scope| gain_of(discount, &cart, None, scope, &drawn).total().unwrap();
        // With a limit over several lines, more units of one line may leave fewer to a dearer one.
        let shared = scope.included.iter().any(|entry| entry.terms.aggregated_quantity_limit.is_some());
        prop_assume!(!(shared && matches!(which, 0 | 2)));
        prop_assert!(total(&discount, &scope) <= total(&more, &wider));
        Ok(())
    });
}

#[test]
fn gift_credits_pay_up_to_the_balance() {
    let inputs = (proptest::collection::vec(drawn_line(), 1..6), scope(), 0..6000_u64, any::<bool>());
    holds(2000, inputs, |(drawn, scope, credits, on_items)| {
        let mut cart = cart_of(&drawn);
        let reach = reach_of(&scope, &drawn, &cart);
        let effect = if on_items { GiftEffect::ApplyToItems } else { GiftEffect::ApplyToOrder };
        let in_scope = LinesInScope { cart: &cart, base: DiscountBase::Discounted, scope: &scope, covered: &reach };
        let Ok(gain) = apply_gift(effect, money(credits), in_scope) else { return Ok(()) };
        prop_assert!(gain.total().unwrap() <= money(credits).min(cart.total().unwrap()));
        cart.add(&gain).unwrap();
        is_sound(&cart, None)
    });
}

fn free_goods() -> impl Strategy<Value = FreeGoods> {
    let effects =
        [UnitEffect::AddNewItems, UnitEffect::AddMissingItems, UnitEffect::AddSameItems, UnitEffect::ReplaceItems];
    (0..4_usize, 0..4_usize, 1..6_u64, proptest::option::weighted(0.8, 0..900_u64)).prop_map(
        move |(effect, product, units, price)| FreeGoods {
            effect: effects[effect],
            units,
            goods: GoodsRef::new(GoodsObject::Product, GOODS[product].into(), None),
            price: price.map(money),
            item: Item { product_id: Some(GOODS[product].into()), ..Item::default() },
        },
    )
}

#[test]
fn free_units_change_the_cart_as_reported() {
    let inputs =
        (proptest::collection::vec(drawn_line(), 0..5), scope(), proptest::collection::vec(free_goods(), 1..4));
    holds(4000, inputs, |(drawn, scope, all)| {
        let before = cart_of(&drawn);
        let reach = reach_of(&scope, &drawn, &before);
        let gain = add_units(&all, &before, OrderLines::of(&items_of(&drawn)), &reach, false).unwrap();
        let mut cart = before.clone();
        cart.add(&gain).unwrap();
        is_sound(&cart, Some(&before))?;
        prop_assert_eq!(cart.lines.len(), before.lines.len() + cart.added().len());
        let signed = |amount: Option<Money>| i64::try_from(amount.unwrap_or_default().minor()).unwrap();
        let mut delta = 0;
        for (position, line) in cart.lines.iter().enumerate() {
            let then = before.lines.get(position).copied().unwrap_or_default();
            let change = cart.changed_at(position);
            let (units, amount, free) = change.map_or((0, None, 0), |one| (one.units, one.amount, one.free));
            prop_assert_eq!(line.quantity as i64 - then.quantity as i64, units);
            prop_assert_eq!(line.free - then.free, free);
            prop_assert_eq!(signed(line.amount) - signed(then.amount), amount.unwrap_or(0));
            prop_assert_eq!(gain.units_at(position), change.map(|one| (one.units, one.amount, one.free)));
            delta += amount.unwrap_or(0);
        }
        prop_assert_eq!(signed(cart.amount) - signed(before.amount), delta);
        for replaced in cart.replaced() {
            prop_assert_eq!(replaced.target_discount, replaced.target_amount.remaining_after(replaced.source_amount));
        }
        let adds = all.iter().all(|goods| goods.effect == UnitEffect::AddNewItems);
        if adds {
            prop_assert_eq!(cart.total(), before.total());
        }
        Ok(())
    });
}

#[test]
fn an_order_without_its_free_units_is_the_paid_amount() {
    let adds = free_goods().prop_filter("nothing is replaced", |goods| goods.effect != UnitEffect::ReplaceItems);
    let inputs = (proptest::collection::vec(drawn_line(), 0..5), proptest::collection::vec(adds, 1..4));
    holds(4000, inputs, |(drawn, all)| {
        let priced = |line: &Drawn| line.sent.is_none() && line.price.is_some();
        let drawn: Vec<Drawn> = drawn.into_iter().filter(priced).collect();
        let plain = |line: &Drawn| Drawn { free: 0, discount: None, ..line.clone() };
        let drawn: Vec<Drawn> = drawn.iter().map(plain).collect();
        let mut cart = cart_of(&drawn);
        let before = cart.clone();
        let reach = reach_of(&Scope::default(), &drawn, &before);
        let gain = add_units(&all, &before, OrderLines::of(&items_of(&drawn)), &reach, false).unwrap();
        cart.add(&gain).unwrap();
        let paid = cart.without_free_units();
        prop_assert_eq!(paid.total(), cart.total());
        // The customer's units that became free are the removed ones, at their price.
        let mut gone = 0;
        for (position, line) in paid.lines.iter().enumerate() {
            let then = drawn.get(position).map_or(0, |line| line.quantity);
            let now = cart.lines[position];
            prop_assert_eq!(line.quantity, now.quantity - now.free);
            let price = now.price.map_or(0, Money::minor);
            gone += price * (then - line.quantity);
            prop_assert_eq!(line.amount.unwrap_or_default().minor(), price * line.quantity);
            prop_assert_eq!(line.discount.unwrap_or_default().is_zero(), true);
        }
        let left = |amount: Option<Money>| amount.map(|amount| amount.minor() - gone);
        prop_assert_eq!(paid.amount.map(Money::minor), left(before.amount));
        prop_assert_eq!(paid.initial_amount.map(Money::minor), left(before.initial_amount));
        Ok(())
    });
}
