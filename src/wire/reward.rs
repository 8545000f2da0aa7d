//! Reads rewards and their assignments, and writes rewards that points were exchanged for.
//!
//! docs/spec/calculation.md#10; docs/spec/endpoints.md, rewards.

use crate::json::Node;
use crate::model::reward::{PointsRate, Reward, RewardAssignment, RewardKind};
use crate::money::Money;
use crate::shape::shape;
use crate::shape::{COUNT, Field, FieldType, KEY, may, must, object};
use crate::text::Decimal;
use crate::wire::cursor::{JsonCursor, read};
use crate::wire::writer::Writer;

/// A reward that points are exchanged for.
pub const REWARD: FieldType = shape!("Reward", "Reward that points buy, with the price.", OF_REWARD);

/// The members of a reward in an answer.
pub const OF_REWARD: &[Field] = &[
    must("id", KEY),
    must("assignment_id", KEY).description("ID of the reward assignment that sets the price."),
    must("object", FieldType::OneOf(&["reward"])),
    must("name", FieldType::Text).description("Name of the reward."),
    must("type", FieldType::OneOf(&["MATERIAL", "CAMPAIGN", "COIN"])).description(
        "Type of reward: `MATERIAL` a product, `CAMPAIGN` a voucher or a balance, `COIN` a discount in money.",
    ),
    must("points", COUNT).description("Number of points that the reward costs."),
];

/// The content of a reward.
pub const PARAMETERS: FieldType = FieldType::Object(&[
    may(
        "campaign",
        FieldType::Object(&[
            must("id", KEY).description("ID of the campaign."),
            may("balance", COUNT).description("Balance that is given, in minor units for a gift card, else in points."),
            may("type", FieldType::Text).description("Type of the campaign."),
        ]),
    )
    .description("Campaign whose voucher or balance the reward gives. Present for type `CAMPAIGN`."),
    may(
        "product",
        FieldType::Object(&[
            must("id", KEY).description("ID of the product."),
            may("sku_id", KEY)
                .or_null()
                .description("ID of the SKU. `null` or absent means the product without a variant."),
        ]),
    )
    .description("Product that the reward gives. Present for type `MATERIAL`."),
    may(
        "coin",
        FieldType::Object(&[
            must("exchange_ratio", FieldType::Any)
                .description("Amount given for `points_ratio` points, in major units, as a number or as text."),
            may("points_ratio", FieldType::Any)
                .description("Number of points that buy `exchange_ratio`. Absent means 1."),
        ]),
    )
    .description("Rate at which points become money. Present for type `COIN`."),
]);

/// The definition of a reward.
pub const DEFINITION: FieldType = shape!(
    "RewardDefinition",
    "Reward that can be assigned to loyalty campaigns.",
    &[
        must("id", KEY),
        must("name", FieldType::Text).or_null().description("Name of the reward. `null` if none was given."),
        must("type", FieldType::OneOf(&["CAMPAIGN", "COIN", "MATERIAL"])).description(
            "Type of reward: `MATERIAL` a product, `CAMPAIGN` a voucher or a balance, `COIN` a discount in money."
        ),
        must("parameters", PARAMETERS).description("Content of the reward, by type."),
        must("stock", COUNT).or_null().description("Number of units that can still be bought. `null` means no limit."),
        must("redeemed", COUNT)
            .or_null()
            .description("Number of units that were bought. `null` unless the reward is of type `MATERIAL`."),
        must("attributes", FieldType::Map)
            .description("Image, description and further texts of the reward, for display."),
        must("metadata", FieldType::Map),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["reward"]),
    ]
);

/// The assignment of a reward.
pub const ASSIGNMENT: FieldType = shape!(
    "RewardAssignment",
    "Assignment of a reward to a loyalty campaign, with the price.",
    &[
        must("id", KEY),
        must("reward_id", KEY).description("ID of the reward."),
        must("related_object_id", KEY).description("ID of the loyalty campaign."),
        must("related_object_type", FieldType::Text)
            .description("Type of the object in `related_object_id`. Always `campaign`."),
        may(
            "parameters",
            FieldType::Object(&[must(
                "loyalty",
                FieldType::Object(&[
                    may("points", COUNT).description("Number of points that the reward costs in this campaign."),
                    may("auto_redeem", FieldType::Bool).description("Flag that is stored as sent and has no effect."),
                ]),
            )
            .description("Price in points.")]),
        )
        .description("Price of the reward in this campaign. Absent for a reward of type `COIN`."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["reward_assignment"]),
    ]
);

/// Reads a reward from its document; its `parameters` decide its type.
pub fn read_reward(at: &JsonCursor<'_>) -> Reward {
    at.object();
    Reward {
        id: at.need("id", read::name),
        name: at.option("name", read::text).unwrap_or_default(),
        kind: at.need("parameters", read_kind),
        stock: at.option("stock", read::whole_number),
        metadata: at.option("metadata", read::metadata).unwrap_or_default(),
    }
}

fn read_kind(at: &JsonCursor<'_>) -> RewardKind {
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

fn read_coin(at: &JsonCursor<'_>) -> PointsRate {
    at.object();
    let points = at.option("points_ratio", |at| {
        let points = at.quantity();
        if points == 0 {
            at.wrong("must be at least 1");
        }
        points
    });
    PointsRate { value: at.need("exchange_ratio", read_major), points: points.unwrap_or(1) }
}

/// Reads an amount in major units, as a number or as text, and returns minor units, rounded half up
/// (docs/spec/calculation.md#10.3).
fn read_major(at: &JsonCursor<'_>) -> Money {
    let parsed = match at.node {
        Node::Integer(number) => minor_of(&number.to_string()),
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
pub fn read_reward_assignment(at: &JsonCursor<'_>) -> RewardAssignment {
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

/// Writes a reward as the next value, with its price.
pub(crate) fn write_reward(out: &mut Writer, reward: &Reward, assignment: &RewardAssignment, points: u64) {
    out.object(|out| write_reward_members(out, reward, assignment, points));
}

/// Writes the members of a reward.
pub(crate) fn write_reward_members(out: &mut Writer, reward: &Reward, assignment: &RewardAssignment, points: u64) {
    out.write_text("id", &reward.id);
    out.write_text("assignment_id", &assignment.id);
    out.write_constant("object", "reward");
    out.write_text("name", &reward.name);
    let kind = match &reward.kind {
        RewardKind::Material { .. } => "MATERIAL",
        RewardKind::Campaign { .. } => "CAMPAIGN",
        RewardKind::Coin(_) => "COIN",
    };
    out.write_text("type", kind);
    out.write_number("points", points);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::minor_of;

    #[test]
    fn major_units_become_minor_ones_half_up() {
        let minor = |text: &str| minor_of(text).map(crate::money::Money::minor);
        let cases = [("20", 2000), ("0.5", 50), ("1.005", 101), ("1.004999", 100), ("12.34", 1234)];
        for (text, expected) in cases {
            assert_eq!(minor(text), Some(expected), "{text}");
        }
        for text in ["", "-1", "1e3", ".5", "1.x"] {
            assert_eq!(minor(text), None, "{text}");
        }
    }
}
