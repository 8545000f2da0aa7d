//! Tests that the number of bundles is the largest that the units allow, against a model that tries each number.

use proptest::prelude::*;
use scrip::model::scope::{BundleEntry, BundleRules, GoodsObject, GoodsRef};
use scrip::pricing::{Bundles, Cart, Line, count_bundles};
use scrip::rules::{OrderLines, ResolvedLine};
use scrip::text::Text;

use crate::properties::holds;

/// Checks that as many bundles were found as there can be, of so many units each, and that used and lacking units are theirs.
fn check_found(found: &Bundles, most: u64, units: u64) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.quantity, most);
    prop_assert_eq!(found.missing.is_empty(), most > 0);
    let used: u64 = found.identified.iter().map(|(_, units)| units).sum();
    let lacking: u64 = found.missing.iter().map(|(_, units)| units).sum();
    prop_assert_eq!(used + lacking, most.max(1) * units);
    Ok(())
}

/// docs/spec/calculation.md#8 for entries of SKUs and of their products: each number of bundles is tried, from the largest.
#[test]
fn the_number_of_bundles_is_the_largest_possible() {
    let lines = proptest::collection::vec((0..2_usize, proptest::option::of(0..2_usize), 0..9_u64, 0..3_u64), 0..6);
    let needs = proptest::collection::vec((0..2_usize, proptest::option::of(0..2_usize), 1..4_u64), 1..4);
    holds(4000, (lines, needs, 1..6_u64), |(lines, needs, limit)| {
        const PRODUCTS: [&str; 2] = ["p0", "p1"];
        const SKUS: [[&str; 2]; 2] = [["p0s0", "p0s1"], ["p1s0", "p1s1"]];
        let items: Vec<ResolvedLine<'_>> = lines
            .iter()
            .map(|(product, sku, ..)| {
                let named = |name: &str| &*Box::leak(Box::new(Text::from(name)));
                ResolvedLine::new(
                    [Some(named(PRODUCTS[*product])), None],
                    [sku.map(|sku| named(SKUS[*product][sku])), None],
                )
            })
            .collect();
        let line = |(_, _, quantity, free): &(usize, Option<usize>, u64, u64)| Line {
            quantity: *quantity,
            free: *free.min(quantity),
            ..Line::default()
        };
        let cart = Cart::new(lines.iter().map(line).collect(), None).unwrap();
        let entry = |(product, sku, quantity): &(usize, Option<usize>, u64)| {
            let (object, id) = match sku {
                Some(sku) => (GoodsObject::Sku, SKUS[*product][*sku]),
                None => (GoodsObject::Product, PRODUCTS[*product]),
            };
            BundleEntry { goods: vec![GoodsRef::new(object, id.into(), None)], quantity: *quantity }
        };
        let rules = BundleRules { entries: needs.iter().map(entry).collect(), limit };
        let paid = |is_selected: &dyn Fn(usize, Option<usize>) -> bool| -> u64 {
            let those = lines.iter().filter(|(product, sku, ..)| is_selected(*product, *sku));
            those.map(|(_, _, quantity, free)| quantity - free.min(quantity)).sum()
        };
        let needed_units = |is_selected: &dyn Fn(usize, Option<usize>) -> bool| -> u64 {
            needs.iter().filter(|(product, sku, _)| is_selected(*product, *sku)).map(|(_, _, units)| units).sum()
        };
        // Units of a SKU serve its own entries first; a product's entries take what is left of all its lines.
        let fits = |bundles: u64| {
            (0..2).all(|product| {
                let whole = |one: usize, _: Option<usize>| one == product;
                let of_skus = (0..2).all(|sku| {
                    let own = |one: usize, other: Option<usize>| one == product && other == Some(sku);
                    bundles * needed_units(&own) <= paid(&own)
                });
                of_skus && bundles * needed_units(&whole) <= paid(&whole)
            })
        };
        let most = (0..=limit).rev().find(|bundles| fits(*bundles)).unwrap();
        let found = count_bundles(&rules, OrderLines::of(&items), &cart);
        check_found(&found, most, needed_units(&|_, _| true))
    });
}

/// docs/spec/calculation.md#8 for entries of any of several products. A number of bundles is complete if every group of entries
/// finds enough units on all lines that serve any of them (Hall's marriage theorem).
#[test]
fn no_complete_bundle_of_alternatives_is_overlooked() {
    const PRODUCTS: [&str; 4] = ["p0", "p1", "p2", "p3"];
    let lines = proptest::collection::vec((0..4_usize, 0..6_u64), 0..6);
    let needs = proptest::collection::vec((1..16_u8, 1..4_u64), 1..5);
    holds(4000, (lines, needs, 1..5_u64), |(lines, needs, limit)| {
        let named = |position: usize| &*Box::leak(Box::new(Text::from(PRODUCTS[position])));
        let mut items: Vec<ResolvedLine<'_>> = Vec::new();
        let mut quantities = Vec::new();
        for (product, quantity) in &lines {
            items.push(ResolvedLine::new([Some(named(*product)), None], [None, None]));
            quantities.push(Line { quantity: *quantity, ..Line::default() });
        }
        let cart = Cart::new(quantities, None).unwrap();
        let goods_of = |products: u8| {
            let those = (0..4).filter(move |position| products >> position & 1 == 1);
            those.map(|position| GoodsRef::new(GoodsObject::Product, PRODUCTS[position].into(), None)).collect()
        };
        let entries =
            needs.iter().map(|(products, quantity)| BundleEntry { goods: goods_of(*products), quantity: *quantity });
        let rules = BundleRules { entries: entries.collect(), limit };
        let fits = |bundles: u64| {
            (1..1_u32 << needs.len()).all(|group| {
                let those = || {
                    needs.iter().enumerate().filter(|(position, _)| group >> position & 1 == 1).map(|(_, need)| need)
                };
                let products = those().fold(0, |all, (products, _)| all | products);
                let is_selected: u64 = those().map(|(_, quantity)| quantity * bundles).sum();
                let there = lines.iter().filter(|(product, _)| products >> product & 1 == 1).map(|(_, units)| units);
                is_selected <= there.sum()
            })
        };
        let most = (0..=limit).rev().find(|bundles| fits(*bundles)).unwrap();
        let found = count_bundles(&rules, OrderLines::of(&items), &cart);
        check_found(&found, most, needs.iter().map(|(_, quantity)| quantity).sum())
    });
}
