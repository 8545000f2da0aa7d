//! Decides how discounts, gifts and scopes are read and written. It must not know where they act.
//!
//! endpoints.md section 1, shape S7; calculation.md sections 4 and 7.

use serde::Deserialize;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::model::scope::{GoodsObject, GoodsRef};
use crate::model::voucher::{AmountEffect, Discount, Gift, GiftEffect, PercentEffect};
use crate::money::{Money, Percent};
use crate::wire::order_view::entry;
use crate::wire::problem::Problem;

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum DiscountType {
    Amount,
    Percent,
}

/// A discount as it is sent or stored.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub struct DiscountBody {
    #[serde(rename = "type")]
    kind: DiscountType,
    percent_off: Option<Percent>,
    amount_off: Option<Money>,
    amount_limit: Option<Money>,
    aggregated_amount_limit: Option<Money>,
    effect: Option<AmountEffect>,
}

impl DiscountBody {
    /// The discount, when its fields fit its type.
    pub fn into_model(self) -> Result<Discount, Problem> {
        let aggregated_amount_limit = self.aggregated_amount_limit;
        match self.kind {
            DiscountType::Amount => Ok(Discount::Amount {
                amount_off: self.amount_off.ok_or_else(|| Problem::missing("", "amount_off"))?,
                aggregated_amount_limit,
                effect: self.effect,
            }),
            DiscountType::Percent => Ok(Discount::Percent {
                percent_off: self.percent_off.ok_or_else(|| Problem::missing("", "percent_off"))?,
                amount_limit: self.amount_limit,
                aggregated_amount_limit,
                effect: self.effect.map(percent_effect).transpose()?,
            }),
        }
    }
}

/// The effects of a percentage are two of those of an amount.
fn percent_effect(effect: AmountEffect) -> Result<PercentEffect, Problem> {
    match effect {
        AmountEffect::ApplyToOrder => Ok(PercentEffect::ApplyToOrder),
        AmountEffect::ApplyToItems => Ok(PercentEffect::ApplyToItems),
        _ => Err(Problem::at("effect", "must be one of APPLY_TO_ORDER, APPLY_TO_ITEMS for type PERCENT")),
    }
}

/// A gift as it is sent or stored.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub struct GiftBody {
    amount: Option<Money>,
    subtracted_amount: Option<Money>,
    effect: Option<GiftEffect>,
}

impl GiftBody {
    /// The gift.
    pub fn into_model(self) -> Result<Gift, Problem> {
        Ok(Gift {
            amount: self.amount.ok_or_else(|| Problem::missing("", "amount"))?,
            subtracted_amount: self.subtracted_amount.unwrap_or_default(),
            effect: self.effect.unwrap_or_default(),
        })
    }
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
