//! Reads rewards of loyalty programs.
//!
//! docs/spec/loyalty.md#7.

use crate::facts::purchase::{Cost, LoyaltyReward, RewardContent};
use crate::wire::cursor::{JsonCursor, NameTable, read};
use crate::wire::loyalty::earning_rule::read_limits;
use crate::wire::loyalty::incentive::{block, nothing, read_digital, read_material};
use crate::wire::loyalty::program::STATES;
use crate::wire::loyalty::window::read_window;
use crate::wire::rules::read_rule;

/// Reads a reward.
pub fn read_loyalty_reward(at: &JsonCursor<'_>) -> LoyaltyReward {
    at.object();
    let is_digital = at.need("type", |at| at.one_of(&[("MATERIAL", false), ("DIGITAL", true)]));
    let gives = match is_digital {
        false => block(at, "material", read_material).map(RewardContent::Item),
        true => block(at, "digital", read_given),
    };
    let costs = match at.get("costs") {
        Some(all) => all.items().map(|at| read_cost(&at)).collect(),
        None => {
            at.missing("costs");
            Vec::new()
        }
    };
    LoyaltyReward {
        id: at.need("id", read::name),
        is_active: at.need("status", |at| at.one_of(STATES)),
        validity: read_window(at),
        limits: at.option("purchase_limits", read_limits).unwrap_or_default(),
        costs,
        gives: gives.unwrap_or_else(|| RewardContent::Item(nothing())),
        is_refundable: at.option("refunds", read_refunds).unwrap_or(false),
    }
}

const REFUNDS: NameTable<bool> = &[("NONE", false), ("REFUNDABLE", true)];

fn read_refunds(at: &JsonCursor<'_>) -> bool {
    at.object();
    at.need("type", |at| at.one_of(REFUNDS))
}

/// Reads codes or points.
fn read_given(at: &JsonCursor<'_>) -> RewardContent {
    at.object();
    let Some(points) = at.get("loyalty_card_points") else { return RewardContent::Item(read_digital(at)) };
    at.need("type", |at| at.one_of(&[("LOYALTY_CARD_POINTS", ())]));
    points.object();
    RewardContent::Points {
        card_definition_id: points.need("card_definition_id", read::name),
        points: points.need("points", read::whole_number),
    }
}

fn read_cost(at: &JsonCursor<'_>) -> Cost {
    // Its tests have the format of a validation rule.
    let rule = read_rule(at);
    let spending = at.list("spending", |price| {
        price.object();
        (price.need("points", read::whole_number), price.need("card_definition_id", read::name))
    });
    let (points, card_definition_id) = spending.into_iter().next().unwrap_or_else(|| {
        at.missing("spending");
        Default::default()
    });
    Cost { id: at.need("id", read::name), rule, points, card_definition_id }
}
