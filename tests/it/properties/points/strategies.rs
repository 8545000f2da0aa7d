//! Generates the operations of a history and the time between them.

use proptest::prelude::*;

use super::unit_points_model::How;

/// The next operation. Its subject is selected from the past events.
#[derive(Debug, Clone)]
pub enum Act {
    Earn(usize, usize, usize),
    Add(usize, usize),
    Purchase(usize, usize),
    Spend(usize),
    Subtract(usize, bool),
    Reverse(usize),
    Refund(usize, usize),
    Revoke(usize, usize, How),
    Expire(usize),
    Activate(usize),
    Cancel(usize),
    Happens(&'static str),
}

/// The passing of time before an operation.
#[derive(Debug, Clone)]
pub enum Pass {
    By(i64),
    /// To a change of clocks, the next year, or the next due instant, and this much further.
    To(u8, i64),
}

pub fn act() -> impl Strategy<Value = Act> {
    let (few, any_of) = (0..9_usize, 0..1_000_usize);
    let how = prop_oneof![Just(How::Pending), Just(How::ToZero), Just(How::BelowZero)];
    let all = prop_oneof![1 => 0..6_usize, 2 => Just(99)];
    prop_oneof![
        8 => (few.clone(), 0..3_usize, 0..2_usize).prop_map(|(points, plan, hold)| Act::Earn(points, plan, hold)),
        1 => (few.clone(), 0..3_usize).prop_map(|(points, plan)| Act::Add(points, plan)),
        1 => (few.clone(), 0..3_usize).prop_map(|(points, plan)| Act::Purchase(points, plan)),
        6 => (0..10_usize).prop_map(Act::Spend),
        1 => (few.clone(), any::<bool>()).prop_map(|(points, below)| Act::Subtract(points, below)),
        1 => few.prop_map(Act::Reverse),
        5 => (any_of.clone(), all.clone()).prop_map(|(which, points)| Act::Refund(which, points)),
        4 => (any_of.clone(), all, how).prop_map(|(which, points, how)| Act::Revoke(which, points, how)),
        1 => any_of.clone().prop_map(Act::Expire),
        1 => any_of.clone().prop_map(Act::Activate),
        1 => any_of.prop_map(Act::Cancel),
        2 => prop::sample::select(vec!["ms_a", "ms_b"]).prop_map(Act::Happens),
    ]
}

pub fn pass() -> impl Strategy<Value = Pass> {
    const DAY: i64 = 86_400_000;
    prop_oneof![
        5 => (0..DAY / 8).prop_map(Pass::By),
        3 => (0..5 * DAY).prop_map(Pass::By),
        1 => (0..60 * DAY).prop_map(Pass::By),
        1 => (0..400 * DAY).prop_map(Pass::By),
        1 => (0..2_u8, -DAY / 8..DAY / 8).prop_map(|(sort, by)| Pass::To(sort, by)),
        2 => (Just(2_u8), prop_oneof![Just(-1_i64), Just(0), Just(1)]).prop_map(|(sort, by)| Pass::To(sort, by)),
    ]
}
