//! Decides how rewards and their assignments are read, and shown where points were exchanged for them. It must not
//! know cards or balances.
//!
//! calculation.md section 10; endpoints.md, rewards.

use crate::json::Node;
use crate::model::reward::{Coin, Reward, RewardAssignment, RewardKind};
use crate::money::Money;
use crate::shape::shape;
use crate::shape::{COUNT, Field, KEY, Kind, may, must};
use crate::text::Decimal;
use crate::wire::cursor::{Cursor, read};
use crate::wire::writer::Writer;

/// A reward that points are exchanged for.
pub const REWARD: Kind = shape!("Reward", "What points are exchanged for", OF_REWARD);

/// What is told of a reward.
pub const OF_REWARD: &[Field] = &[
    must("id", KEY),
    must("assignment_id", KEY),
    must("object", Kind::OneOf(&["reward"])),
    must("name", Kind::Text),
    must("type", Kind::OneOf(&["MATERIAL", "CAMPAIGN", "COIN"])),
    must("points", COUNT).says("What it costs"),
];

/// What a reward gives.
pub const PARAMETERS: Kind = Kind::Object(&[
    may("campaign", Kind::Object(&[must("id", KEY), may("balance", COUNT), may("type", Kind::Text)]))
        .says("The campaign whose code it is"),
    may("product", Kind::Object(&[must("id", KEY), may("sku_id", KEY).or_null()])).says("The product that it is"),
    may(
        "coin",
        Kind::Object(&[
            must("exchange_ratio", Kind::Any).says("Major units that are given"),
            may("points_ratio", Kind::Any).says("For so many points"),
        ]),
    )
    .says("The money that it is"),
]);

/// Reads a reward from its document; what its `parameters` hold says what kind it is.
pub fn read_reward(at: &Cursor<'_>) -> Reward {
    at.object();
    Reward {
        id: at.need("id", read::name),
        name: at.option("name", read::text).unwrap_or_default(),
        kind: at.need("parameters", read_kind),
        stock: at.option("stock", read::whole_number),
        metadata: at.option("metadata", read::metadata).unwrap_or_default(),
    }
}

fn read_kind(at: &Cursor<'_>) -> RewardKind {
    at.object();
    if let Some(coin) = at.option("coin", read_coin) {
        return RewardKind::Coin(coin);
    }
    let campaign = at.option("campaign", |campaign| {
        campaign.object();
        let balance = campaign.option("balance", read::whole_number);
        RewardKind::Campaign { campaign_id: campaign.need("id", read::name), balance }
    });
    if let Some(campaign) = campaign {
        return campaign;
    }
    at.need("product", |product| {
        product.object();
        RewardKind::Material {
            product_id: product.need("id", read::name),
            sku_id: product.option("sku_id", read::name),
        }
    })
}

fn read_coin(at: &Cursor<'_>) -> Coin {
    at.object();
    let points = at.option("points_ratio", |at| {
        let points = at.quantity();
        if points == 0 {
            at.wrong("must be at least 1");
        }
        points
    });
    Coin { value: at.need("exchange_ratio", read_major), points: points.unwrap_or(1) }
}

/// An amount in major units, as a number or as text: minor units, half up (calculation.md section 10.3).
fn read_major(at: &Cursor<'_>) -> Money {
    let parsed = match at.node {
        Node::Whole(number) => minor_of(&number.to_string()),
        Node::Fraction(text) => minor_of(text),
        Node::Text(text) => minor_of(text),
        _ => None,
    };
    at.or_wrong(parsed.filter(|money| !money.is_zero()), "must be an amount of at least 0.01")
}

fn minor_of(text: &str) -> Option<Money> {
    let tenths = Decimal::plain(text)?.times_ten_to(3)?;
    Money::from_wide(tenths.checked_add(5)?.checked_div(10)?)
}

/// Reads the assignment of a reward to a campaign.
pub fn read_reward_assignment(at: &Cursor<'_>) -> RewardAssignment {
    at.object();
    let points = at.option("parameters", |parameters| {
        parameters.object();
        parameters.option("loyalty", |loyalty| {
            loyalty.object();
            loyalty.option("points", read::whole_number)
        })
    });
    RewardAssignment {
        id: at.need("id", read::name),
        reward_id: at.need("reward_id", read::name),
        campaign_id: at.need("related_object_id", read::name),
        points: points.flatten().flatten(),
        tier_id: None,
    }
}

/// Writes a reward as the next value, with what it cost.
pub(crate) fn put_reward(out: &mut Writer, reward: &Reward, assignment: &RewardAssignment, points: u64) {
    out.object(|out| put_reward_members(out, reward, assignment, points));
}

/// The members of a reward.
pub(crate) fn put_reward_members(out: &mut Writer, reward: &Reward, assignment: &RewardAssignment, points: u64) {
    out.put_text("id", &reward.id);
    out.put_text("assignment_id", &assignment.id);
    out.put_word("object", "reward");
    out.put_text("name", &reward.name);
    let kind = match &reward.kind {
        RewardKind::Material { .. } => "MATERIAL",
        RewardKind::Campaign { .. } => "CAMPAIGN",
        RewardKind::Coin(_) => "COIN",
    };
    out.put_text("type", kind);
    out.put_number("points", points);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::minor_of;

    #[test]
    fn major_units_become_minor_ones_half_up() {
        let minor = |text: &str| minor_of(text).map(crate::money::Money::minor);
        let cases = [("20", 2000), ("0.5", 50), ("1.005", 101), ("1.004999", 100), ("12.34", 1234)];
        for (text, wanted) in cases {
            assert_eq!(minor(text), Some(wanted), "{text}");
        }
        for text in ["", "-1", "1e3", ".5", "1.x"] {
            assert_eq!(minor(text), None, "{text}");
        }
    }
}
