//! Tests invariant 2: spread amounts add up, against a second model in exact fractions.

use std::cmp::Ordering;

use proptest::prelude::*;
use scrip::money::Money;
use scrip::pricing::spread::{SpreadShare, spread};

use crate::properties::holds;

/// A fraction, compared by cross-multiplication and never divided.
#[derive(Clone, Copy)]
struct Fraction {
    above: u128,
    below: u128,
}

impl Fraction {
    fn floor(self) -> u128 {
        // Counting down from the quotient keeps this model independent of the engine's formula.
        let mut whole = self.above / self.below + 1;
        while whole * self.below > self.above {
            whole -= 1;
        }
        whole
    }

    fn rest(self) -> Fraction {
        Fraction { above: self.above - self.floor() * self.below, below: self.below }
    }

    fn order(self, other: Fraction) -> Ordering {
        (self.above * other.below).cmp(&(other.above * self.below))
    }
}

/// Implements docs/spec/calculation.md 1.5 and 5.7 in the simple way: floors, then one unit at a time to the largest remainder, then the
/// caps.
fn model(amount: u64, weights: &[u64], caps: &[u64]) -> Vec<u64> {
    let below: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    if below == 0 {
        return vec![0; weights.len()];
    }
    let exact: Vec<Fraction> =
        weights.iter().map(|weight| Fraction { above: u128::from(amount) * u128::from(*weight), below }).collect();
    let mut shares: Vec<u128> = exact.iter().map(|share| share.floor()).collect();
    let mut rests: Vec<Option<Fraction>> = exact.iter().map(|share| Some(share.rest())).collect();
    while shares.iter().sum::<u128>() < u128::from(amount) {
        let mut best: Option<(usize, Fraction)> = None;
        for (position, rest) in rests.iter().enumerate() {
            if let Some(rest) = rest {
                let better = best.is_none_or(|(_, known)| rest.order(known) == Ordering::Greater);
                best = if better { Some((position, *rest)) } else { best };
            }
        }
        let (position, _) = best.expect("fewer units are missing than there are lines");
        shares[position] += 1;
        rests[position] = None;
    }
    let mut spare = 0;
    for (share, cap) in shares.iter_mut().zip(caps) {
        while *share > u128::from(*cap) {
            let over = *share - u128::from(*cap);
            *share -= over;
            spare += over;
        }
    }
    for ((share, cap), weight) in shares.iter_mut().zip(caps).zip(weights) {
        if *weight > 0 {
            let more = spare.min(u128::from(*cap) - *share);
            *share += more;
            spare -= more;
        }
    }
    shares.into_iter().map(|share| u64::try_from(share).unwrap()).collect()
}

fn lines() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let weight = prop_oneof![3 => 0..20_u64, 3 => 0..10_000_u64, 1 => 0..9_007_199_254_740_991_u64];
    let cap = prop_oneof![3 => 0..500_u64, 2 => 0..100_000_u64, 1 => Just(9_007_199_254_740_991_u64)];
    prop::collection::vec((weight, cap), 0..12)
}

fn spread_plain(amount: u64, weights: &[u64], caps: &[u64]) -> Vec<u64> {
    let money = |minor: u64| Money::new(i64::try_from(minor).unwrap()).unwrap();
    let lines = weights.iter().zip(caps).enumerate();
    let mut shares: Vec<SpreadShare> =
        lines.map(|(position, (weight, cap))| SpreadShare::new(position, *weight, money(*cap))).collect();
    spread(money(amount), &mut shares);
    shares.into_iter().map(|share| share.given.minor()).collect()
}

#[test]
fn a_spread_equals_the_second_model() {
    holds(6_000, (0..200_000_u64, lines()), |(amount, lines)| {
        let (weights, caps): (Vec<u64>, Vec<u64>) = lines.into_iter().unzip();
        prop_assert_eq!(spread_plain(amount, &weights, &caps), model(amount, &weights, &caps));
        Ok(())
    });
}

#[test]
fn a_spread_adds_up_within_its_caps() {
    holds(6_000, (0..9_007_199_254_740_991_u64, lines()), |(amount, lines)| {
        let (weights, caps): (Vec<u64>, Vec<u64>) = lines.into_iter().unzip();
        let shares = spread_plain(amount, &weights, &caps);
        prop_assert_eq!(shares.len(), weights.len());
        prop_assert!(shares.iter().zip(&caps).all(|(share, cap)| share <= cap));
        let open = caps.iter().zip(&weights).filter(|(_, weight)| **weight > 0);
        let room: u128 = open.map(|(cap, _)| u128::from(*cap)).sum();
        let given: u128 = shares.iter().map(|share| u128::from(*share)).sum();
        prop_assert_eq!(given, room.min(u128::from(amount)));
        Ok(())
    });
}

#[test]
fn equal_weights_differ_by_one_and_the_lower_lines_get_it() {
    holds(2_000, (0..1_000_000_u64, 1..40_usize, 1..9_000_u64), |(amount, count, weight)| {
        let shares = spread_plain(amount, &vec![weight; count], &vec![amount; count]);
        prop_assert!(shares.windows(2).all(|pair| pair[0] == pair[1] || pair[0] == pair[1] + 1));
        prop_assert!(shares.first().unwrap() - shares.last().unwrap() <= 1);
        Ok(())
    });
}

/// Among lines of different weight the order of the lines does not matter.
#[test]
fn a_spread_does_not_depend_on_the_order_of_lines() {
    let distinct = prop::collection::btree_set(1..10_000_u64, 1..10);
    holds(2_000, (0..100_000_u64, distinct, any::<u64>()), |(amount, weights, turn)| {
        let weights: Vec<u64> = weights.into_iter().collect();
        let rests: std::collections::BTreeSet<u128> = {
            let below: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
            weights.iter().map(|weight| u128::from(amount) * u128::from(*weight) % below).collect()
        };
        prop_assume!(rests.len() == weights.len());
        let turn = usize::try_from(turn % weights.len() as u64).unwrap();
        let mut turned = weights.clone();
        turned.rotate_left(turn);
        let caps = vec![amount; weights.len()];
        let mut shares = spread_plain(amount, &weights, &caps);
        shares.rotate_left(turn);
        prop_assert_eq!(shares, spread_plain(amount, &turned, &caps));
        Ok(())
    });
}
