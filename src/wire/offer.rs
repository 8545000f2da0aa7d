//! Decides how discounts, gifts and scopes are read and written. It must not know where they act.
//!
//! endpoints.md section 1, shape S7; calculation.md sections 4 and 7.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::model::scope::{GoodsObject, GoodsRef};
use crate::model::voucher::{AmountEffect, Discount, Gift, GiftEffect, PercentEffect};
use crate::wire::at::{At, read};
use crate::wire::order_view::entry;
use crate::wire::problem::Problem;

const EFFECTS: &[(&str, AmountEffect)] = &[
    ("APPLY_TO_ORDER", AmountEffect::ApplyToOrder),
    ("APPLY_TO_ITEMS", AmountEffect::ApplyToItems),
    ("APPLY_TO_ITEMS_PROPORTIONALLY", AmountEffect::ApplyToItemsProportionally),
    ("APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY", AmountEffect::ApplyToItemsProportionallyByQuantity),
    ("APPLY_TO_ITEMS_BY_QUANTITY", AmountEffect::ApplyToItemsByQuantity),
];

const PERCENT_EFFECTS: &[(&str, PercentEffect)] =
    &[("APPLY_TO_ORDER", PercentEffect::ApplyToOrder), ("APPLY_TO_ITEMS", PercentEffect::ApplyToItems)];

const GIFT_EFFECTS: &[(&str, GiftEffect)] =
    &[("APPLY_TO_ORDER", GiftEffect::ApplyToOrder), ("APPLY_TO_ITEMS", GiftEffect::ApplyToItems)];

/// Reads a discount; its fields must fit its type.
pub fn read_discount(at: &At<'_>) -> Result<Discount, Problem> {
    at.object()?;
    let is_percent = at.need("type", |kind| kind.one_of(&[("AMOUNT", false), ("PERCENT", true)]))?;
    let aggregated_amount_limit = at.option("aggregated_amount_limit", read::money)?;
    if is_percent {
        return Ok(Discount::Percent {
            percent_off: at.need("percent_off", read::percent)?,
            amount_limit: at.option("amount_limit", read::money)?,
            aggregated_amount_limit,
            effect: at.option("effect", |effect| effect.one_of(PERCENT_EFFECTS))?,
        });
    }
    Ok(Discount::Amount {
        amount_off: at.need("amount_off", read::money)?,
        aggregated_amount_limit,
        effect: at.option("effect", |effect| effect.one_of(EFFECTS))?,
    })
}

/// Reads a gift.
pub fn read_gift(at: &At<'_>) -> Result<Gift, Problem> {
    at.object()?;
    Ok(Gift {
        amount: at.need("amount", read::money)?,
        subtracted_amount: at.option("subtracted_amount", read::money)?.unwrap_or_default(),
        effect: at.option("effect", |effect| effect.one_of(GIFT_EFFECTS))?.unwrap_or_default(),
    })
}

/// A discount as a validation echoes it, with the effect that it takes.
pub struct DiscountView<'a> {
    /// The discount.
    pub discount: &'a Discount,
    /// Whether a scope names goods, which decides the effect of a discount without one.
    pub scoped: bool,
}

impl Serialize for DiscountView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.discount {
            Discount::Percent { percent_off, amount_limit, aggregated_amount_limit, effect } => {
                let inherited = if self.scoped { PercentEffect::ApplyToItems } else { PercentEffect::ApplyToOrder };
                map.serialize_entry("type", "PERCENT")?;
                map.serialize_entry("percent_off", percent_off)?;
                entry(&mut map, "amount_limit", amount_limit)?;
                entry(&mut map, "aggregated_amount_limit", aggregated_amount_limit)?;
                map.serialize_entry("effect", &effect.unwrap_or(inherited))?;
            }
            Discount::Amount { amount_off, aggregated_amount_limit, effect } => {
                let inherited = if self.scoped { AmountEffect::ApplyToItems } else { AmountEffect::ApplyToOrder };
                map.serialize_entry("type", "AMOUNT")?;
                map.serialize_entry("amount_off", amount_off)?;
                entry(&mut map, "aggregated_amount_limit", aggregated_amount_limit)?;
                map.serialize_entry("effect", &effect.unwrap_or(inherited))?;
            }
        }
        map.serialize_entry("is_dynamic", &false)?;
        map.end()
    }
}

/// A list of products and SKUs in the envelope of lists.
pub struct GoodsList<'a>(pub &'a [GoodsRef]);

#[derive(serde::Serialize)]
struct GoodsEntry<'a> {
    object: GoodsObject,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_id: Option<&'a str>,
    strict: bool,
    effect: &'static str,
}

impl Serialize for GoodsList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries: Vec<GoodsEntry<'_>> = self
            .0
            .iter()
            .map(|goods| GoodsEntry {
                object: goods.object,
                id: &goods.id,
                source_id: goods.source_id.as_deref(),
                strict: false,
                effect: "APPLY_TO_EVERY",
            })
            .collect();
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("data", &entries)?;
        map.serialize_entry("total", &entries.len())?;
        map.serialize_entry("data_ref", "data")?;
        map.serialize_entry("object", "list")?;
        map.end()
    }
}
