//! Decides how discounts, gifts and scopes are read and written. It must not know where they act.
//!
//! endpoints.md section 1, shape S7; calculation.md sections 4 and 7.

use crate::model::discount::{AmountEffect, Discount, Gift, GiftEffect, PercentEffect};
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::wire::at::{At, Words, read, word};
use crate::wire::out::Out;
use crate::wire::problem::Problem;

const EFFECTS: Words<AmountEffect> = &[
    ("APPLY_TO_ORDER", AmountEffect::ApplyToOrder),
    ("APPLY_TO_ITEMS", AmountEffect::ApplyToItems),
    ("APPLY_TO_ITEMS_PROPORTIONALLY", AmountEffect::ApplyToItemsProportionally),
    ("APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY", AmountEffect::ApplyToItemsProportionallyByQuantity),
    ("APPLY_TO_ITEMS_BY_QUANTITY", AmountEffect::ApplyToItemsByQuantity),
];

const PERCENT_EFFECTS: Words<PercentEffect> =
    &[("APPLY_TO_ORDER", PercentEffect::ApplyToOrder), ("APPLY_TO_ITEMS", PercentEffect::ApplyToItems)];

const GIFT_EFFECTS: Words<GiftEffect> =
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

/// Writes a discount as a validation echoes it: with the effect that it takes. `scoped` says whether a scope names
/// goods, which decides the effect of a discount without one.
pub(crate) fn put_discount(out: &mut Out, discount: &Discount, scoped: bool) {
    out.object(|out| {
        let effect = match discount {
            Discount::Percent { percent_off, amount_limit, aggregated_amount_limit, effect } => {
                out.member("type").text("PERCENT");
                out.member("percent_off").raw(&percent_off.to_string());
                out.money_if("amount_limit", *amount_limit);
                out.money_if("aggregated_amount_limit", *aggregated_amount_limit);
                effect.and_then(|effect| word(PERCENT_EFFECTS, effect))
            }
            Discount::Amount { amount_off, aggregated_amount_limit, effect } => {
                out.member("type").text("AMOUNT");
                out.member("amount_off").number(amount_off.minor());
                out.money_if("aggregated_amount_limit", *aggregated_amount_limit);
                effect.and_then(|effect| word(EFFECTS, effect))
            }
        };
        let inherited = if scoped { "APPLY_TO_ITEMS" } else { "APPLY_TO_ORDER" };
        out.member("effect").text(effect.unwrap_or(inherited));
        out.member("is_dynamic").flag(false);
    });
}

/// Writes products and SKUs in the envelope of lists.
pub(crate) fn put_goods_list(out: &mut Out, list: &[GoodsRef]) {
    out.object(|out| {
        out.member("data").list(|out| {
            for goods in list {
                out.item().object(|out| {
                    let object = match goods.object {
                        GoodsObject::Product => "product",
                        GoodsObject::Sku => "sku",
                        GoodsObject::Collection => "products_collection",
                    };
                    out.member("object").text(object);
                    out.member("id").text(&goods.id);
                    out.text_if("source_id", goods.source_id.as_ref());
                    out.member("strict").flag(false);
                    out.member("effect").text("APPLY_TO_EVERY");
                });
            }
        });
        out.member("total").number(u64::try_from(list.len()).unwrap_or(0));
        out.member("data_ref").text("data");
        out.member("object").text("list");
    });
}
