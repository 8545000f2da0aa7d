//! Reads and writes discounts and gift cards.
//!
//! docs/spec/endpoints.md section 1, shape S7; docs/spec/calculation.md#4.

mod shapes;

pub use shapes::{DISCOUNT, GIFT, RESOLVED};

use std::sync::Arc;

use crate::formula::Formula;
use crate::json::Node;
use crate::model::discount::{
    AmountEffect, Discount, Dynamic, GiftCard, GiftEffect, PercentEffect, UnitEffect, UnitOff,
};
use crate::wire::cursor::{JsonCursor, NameTable, Read, name_of, read};
use crate::wire::order::read_goods;
use crate::wire::writer::Writer;

pub use crate::wire::scope::read_scope;

const EFFECTS: NameTable<AmountEffect> = &[
    ("APPLY_TO_ORDER", AmountEffect::ApplyToOrder),
    ("APPLY_TO_ITEMS", AmountEffect::ApplyToItems),
    ("APPLY_TO_ITEMS_PROPORTIONALLY", AmountEffect::ApplyToItemsProportionally),
    ("APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY", AmountEffect::ApplyToItemsProportionallyByQuantity),
    ("APPLY_TO_ITEMS_BY_QUANTITY", AmountEffect::ApplyToItemsByQuantity),
];

const PERCENT_EFFECTS: NameTable<PercentEffect> =
    &[("APPLY_TO_ORDER", PercentEffect::ApplyToOrder), ("APPLY_TO_ITEMS", PercentEffect::ApplyToItems)];

const GIFT_EFFECTS: NameTable<GiftEffect> =
    &[("APPLY_TO_ORDER", GiftEffect::ApplyToOrder), ("APPLY_TO_ITEMS", GiftEffect::ApplyToItems)];

/// The names of unit effects. `REPLACE_ITEMS` is written like any other effect: each unit in scope becomes `unit_off`
/// units of `unit_type` (docs/spec/calculation.md#5.9 has no example of a request; inferred).
const UNIT_EFFECTS: NameTable<UnitEffect> = &[
    ("ADD_NEW_ITEMS", UnitEffect::AddNewItems),
    ("ADD_MISSING_ITEMS", UnitEffect::AddMissingItems),
    ("ADD_SAME_ITEMS", UnitEffect::AddSameItems),
    ("REPLACE_ITEMS", UnitEffect::ReplaceItems),
];

/// The name of a discount of several kinds of units.
const MANY: &str = "ADD_MANY_ITEMS";

/// The types of discount.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum DiscountType {
    #[default]
    Percent,
    Amount,
    Fixed,
    Unit,
}

const KINDS: NameTable<DiscountType> = &[
    ("AMOUNT", DiscountType::Amount),
    ("PERCENT", DiscountType::Percent),
    ("FIXED", DiscountType::Fixed),
    ("UNIT", DiscountType::Unit),
];

/// The fields with the types of discount that they belong to. A field of another type is refused, because it would have
/// no effect.
const FIELDS: &[(&str, &[DiscountType])] = &[
    ("percent_off", &[DiscountType::Percent]),
    ("percent_off_formula", &[DiscountType::Percent]),
    ("amount_off", &[DiscountType::Amount]),
    ("amount_off_formula", &[DiscountType::Amount]),
    ("fixed_amount", &[DiscountType::Fixed]),
    ("fixed_amount_formula", &[DiscountType::Fixed]),
    ("unit_off", &[DiscountType::Unit]),
    ("unit_off_formula", &[DiscountType::Unit]),
    ("unit_type", &[DiscountType::Unit]),
    ("units", &[DiscountType::Unit]),
    ("product", &[DiscountType::Unit]),
    ("sku", &[DiscountType::Unit]),
    ("amount_limit", &[DiscountType::Percent]),
    ("aggregated_amount_limit", &[DiscountType::Percent, DiscountType::Amount]),
];

/// Reads a discount; its fields must fit its type.
pub fn read_discount(at: &JsonCursor<'_>) -> Discount {
    at.object();
    let kind = at.need("type", |kind| kind.one_of(KINDS));
    for (name, _) in FIELDS.iter().filter(|(_, kinds)| !kinds.contains(&kind)) {
        if let Some(stray) = at.get(name) {
            let kind = name_of(KINDS, kind).unwrap_or_default();
            stray.problem(&format!("must NOT be present on a discount of type {kind}"));
        }
    }
    let aggregated_amount_limit = at.option("aggregated_amount_limit", read::money);
    let percent_effect = |at: &JsonCursor<'_>| at.option("effect", |effect| effect.one_of(PERCENT_EFFECTS));
    match kind {
        DiscountType::Percent => Discount::Percent {
            percent_off: Dynamic {
                plain: at.need("percent_off", read::percent),
                formula: formula_of(at, "percent_off_formula"),
            },
            amount_limit: at.option("amount_limit", read::money),
            aggregated_amount_limit,
            effect: percent_effect(at),
        },
        DiscountType::Amount => Discount::Amount {
            amount_off: Dynamic {
                plain: at.need("amount_off", read::money),
                formula: formula_of(at, "amount_off_formula"),
            },
            aggregated_amount_limit,
            effect: at.option("effect", |effect| effect.one_of(EFFECTS)),
        },
        DiscountType::Fixed => {
            let fixed_amount = dynamic(at, "fixed_amount", "fixed_amount_formula", read::money);
            let effect = percent_effect(at);
            let priced = fixed_amount.plain.is_some() || fixed_amount.formula.is_some();
            if effect == Some(PercentEffect::ApplyToOrder) && !priced {
                at.missing("fixed_amount");
            }
            Discount::Fixed { fixed_amount, effect }
        }
        DiscountType::Unit => read_units(at),
    }
}

fn read_units(at: &JsonCursor<'_>) -> Discount {
    let is_many = |effect: &JsonCursor<'_>| matches!(effect.node, Node::Text(text) if text == MANY);
    if !at.get("effect").as_ref().is_some_and(is_many) && at.get("units").is_none() {
        return Discount::Unit(Box::new(read_unit(at)));
    }
    at.option("effect", |effect| effect.one_of(&[(MANY, ())]));
    let units = at.need("units", |units| {
        let all = units.all(|unit| {
            unit.option("effect", |effect| effect.one_of(&[("ADD_NEW_ITEMS", ()), ("ADD_MISSING_ITEMS", ())]));
            read_unit(unit)
        });
        if all.is_empty() {
            units.problem("must NOT have fewer than 1 items");
        }
        all
    });
    Discount::Units(units)
}

fn read_unit(at: &JsonCursor<'_>) -> UnitOff {
    at.object();
    let unit_type = at.need("unit_type", read::text);
    let effect = at.option("effect", |effect| effect.one_of(UNIT_EFFECTS));
    let unit_off = dynamic(at, "unit_off", "unit_off_formula", read_count);
    UnitOff {
        effect: effect.unwrap_or_else(|| UnitEffect::default_of(&unit_type)),
        unit_off: Dynamic { plain: unit_off.plain.unwrap_or(1), formula: unit_off.formula },
        unit_type,
        product: at.option("product", read_goods),
        sku: at.option("sku", read_goods),
    }
}

/// Reads a number, at least 1.
pub(crate) fn read_count(at: &JsonCursor<'_>) -> u64 {
    let count = at.whole_number();
    if count == 0 {
        at.wrong("must be at least 1");
    }
    count
}

/// Reads an optional number, and its formula.
pub(crate) fn dynamic<T>(at: &JsonCursor<'_>, plain: &str, formula: &str, read: Read<T>) -> Dynamic<Option<T>> {
    Dynamic { plain: at.option(plain, read), formula: formula_of(at, formula) }
}

fn formula_of(at: &JsonCursor<'_>, name: &str) -> Option<Arc<Formula>> {
    at.option(name, |formula| read_formula(formula, formula.str())).flatten()
}

/// Parses a formula; reports a problem if it is invalid.
pub(crate) fn read_formula(at: &JsonCursor<'_>, text: &str) -> Option<Arc<Formula>> {
    match Formula::parse(text) {
        Ok(read) => Some(Arc::new(read)),
        Err(error) => {
            at.problem(&error.text());
            None
        }
    }
}

/// Reads a gift card.
pub fn read_gift(at: &JsonCursor<'_>) -> GiftCard {
    at.object();
    GiftCard {
        amount: at.need("amount", read::money),
        subtracted_amount: at.option("subtracted_amount", read::money).unwrap_or_default(),
        effect: at.option("effect", |effect| effect.one_of(GIFT_EFFECTS)).unwrap_or_default(),
    }
}

/// Writes a discount as a validation returns it: with the values of its formulas and its effect. `scoped` is `true` if
/// a scope names goods, which decides the effect of a discount without one. `is_dynamic` is `true` if it has a formula.
pub(crate) fn write_discount(out: &mut Writer, discount: &Discount, scoped: bool, is_dynamic: bool) {
    out.object(|out| {
        let inherited = if scoped { "APPLY_TO_ITEMS" } else { "APPLY_TO_ORDER" };
        let effect = match discount {
            Discount::Percent { percent_off, amount_limit, aggregated_amount_limit, effect } => {
                out.write_constant("type", "PERCENT");
                out.member("percent_off").digits(&percent_off.plain.text());
                out.money_if("amount_limit", *amount_limit);
                out.money_if("aggregated_amount_limit", *aggregated_amount_limit);
                effect.and_then(|effect| name_of(PERCENT_EFFECTS, effect)).unwrap_or(inherited)
            }
            Discount::Amount { amount_off, aggregated_amount_limit, effect } => {
                out.write_constant("type", "AMOUNT");
                out.write_number("amount_off", amount_off.plain.minor());
                out.money_if("aggregated_amount_limit", *aggregated_amount_limit);
                effect.and_then(|effect| name_of(EFFECTS, effect)).unwrap_or(inherited)
            }
            Discount::Fixed { fixed_amount, effect } => {
                out.write_constant("type", "FIXED");
                out.money_if("fixed_amount", fixed_amount.plain);
                effect.and_then(|effect| name_of(PERCENT_EFFECTS, effect)).unwrap_or(inherited)
            }
            Discount::Unit(unit) => {
                out.write_constant("type", "UNIT");
                write_unit(out, unit);
                name_of(UNIT_EFFECTS, unit.effect).unwrap_or_default()
            }
            Discount::Units(units) => {
                out.write_constant("type", "UNIT");
                out.member("units").list(|out| {
                    for unit in units {
                        out.item().object(|out| {
                            write_unit(out, unit);
                            out.constant_if("effect", name_of(UNIT_EFFECTS, unit.effect));
                        });
                    }
                });
                MANY
            }
        };
        out.write_constant("effect", effect);
        // Prices of the entries of a scope are written there.
        let priced_by_entries =
            matches!(discount, Discount::Fixed { fixed_amount, .. } if fixed_amount.plain.is_none());
        if !priced_by_entries {
            out.write_flag("is_dynamic", is_dynamic);
        }
    });
}

/// Writes the fields of free units, with the goods in short form.
fn write_unit(out: &mut Writer, unit: &UnitOff) {
    out.write_number("unit_off", unit.unit_off.plain);
    out.write_text("unit_type", &unit.unit_type);
    for (kind, name, goods) in [("product", "name", &unit.product), ("sku", "sku", &unit.sku)] {
        let Some(goods) = goods else { continue };
        out.member(kind).object(|out| {
            out.text_if("id", goods.id.as_ref());
            out.text_if("source_id", goods.source_id.as_ref());
            out.text_if(name, goods.name.as_ref());
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{read_discount, read_scope};
    use crate::wire::cursor::Read;
    use crate::wire::document::read_document;
    use crate::wire::rules::read_bundle_rules;

    /// Returns the problem of a document; empty without one.
    fn problem_text<T>(text: &str, read: Read<T>) -> String {
        match read_document(text, read) {
            Ok(_) => String::new(),
            Err(problem) => format!("{}: {}", problem.path, problem.text),
        }
    }

    #[test]
    fn a_discount_that_does_not_fit_its_type_is_refused() {
        let cases = [
            (r#"{"type":"AMOUNT","amount_off":5,"percent_off":5}"#, "percent_off: must NOT be present"),
            (r#"{"type":"AMOUNT","amount_off":5,"amount_limit":5}"#, "amount_limit: must NOT be present"),
            (r#"{"type":"PERCENT","percent_off_formula":"5"}"#, ": should have required property 'percent_off'"),
            (r#"{"type":"PERCENT","percent_off":5,"effect":"ADD_NEW_ITEMS"}"#, "effect: must be one of APPLY_TO_ORDER"),
            (r#"{"type":"PERCENT","percent_off":5,"percent_off_formula":"5 +"}"#, "percent_off_formula: "),
            (r#"{"type":"PERCENT","percent_off":5,"percent_off_formula":5}"#, "percent_off_formula: must be a string"),
            (r#"{"type":"FIXED","effect":"APPLY_TO_ORDER"}"#, ": should have required property 'fixed_amount'"),
            (r#"{"type":"FIXED","fixed_amount":-1}"#, "fixed_amount: must be an integer from 0"),
            (r#"{"type":"FIXED","fixed_amount":1,"aggregated_amount_limit":5}"#, "aggregated_amount_limit: must NOT"),
            (r#"{"type":"UNIT","unit_off":1}"#, ": should have required property 'unit_type'"),
            (r#"{"type":"UNIT","unit_off":0,"unit_type":"prod_a"}"#, "unit_off: must be at least 1"),
            (
                r#"{"type":"UNIT","unit_type":"prod_a","effect":"APPLY_TO_ORDER"}"#,
                "effect: must be one of ADD_NEW_ITEMS",
            ),
            (r#"{"type":"UNIT","effect":"ADD_MANY_ITEMS","units":[]}"#, "units: must NOT have fewer than 1 items"),
            (r#"{"type":"UNIT","effect":"ADD_MANY_ITEMS"}"#, ": should have required property 'units'"),
            (
                r#"{"type":"UNIT","effect":"ADD_MANY_ITEMS","units":[{"unit_type":"a","effect":"REPLACE_ITEMS"}]}"#,
                "units[0].effect: must be one of ADD_NEW_ITEMS, ADD_MISSING_ITEMS",
            ),
            (r#"{"type":"GIFT"}"#, "type: must be one of AMOUNT, PERCENT, FIXED, UNIT"),
        ];
        for (text, expected) in cases {
            let details = problem_text(text, read_discount);
            assert!(details.contains(expected), "{text}\n{details}");
        }
        for text in [
            r#"{"type":"PERCENT","percent_off":5,"amount_off":null,"is_dynamic":false}"#,
            r#"{"type":"FIXED"}"#,
            r#"{"type":"UNIT","unit_type":"prod_a"}"#,
            r#"{"type":"UNIT","units":[{"unit_type":"a","unit_off":2}]}"#,
        ] {
            assert_eq!(problem_text(text, read_discount), "", "{text}");
        }
    }

    #[test]
    fn a_scope_or_bundle_that_cannot_be_is_refused() {
        let entry = |more: &str| format!(r#"{{"included":[{{"object":"product","id":"a"{more}}}]}}"#);
        let cases = [
            (entry(r#","repeat":0"#), "included[0].repeat: must be at least 1"),
            (entry(r#","effect":"APPLY_TO_ORDER""#), "included[0].effect: must be one of APPLY_TO_EVERY"),
            (entry(r#","target":"LINE""#), "included[0].target: must be one of ITEM, UNIT"),
            (entry(r#","quantity_limit":-1"#), "included[0].quantity_limit: must be an integer from 0"),
            (entry(r#","product_campaign_quantity_limit_formula":"(""#), "product_campaign_quantity_limit_formula: "),
            (
                r#"{"included":[{"object":"brand","id":"a"}]}"#.to_owned(),
                "must be one of product, sku, products_collection",
            ),
        ];
        for (text, expected) in cases {
            let details = problem_text(&text, read_scope);
            assert!(details.contains(expected), "{text}\n{details}");
        }
        for limit in ["0", "101", "\"two\""] {
            let details = problem_text(&format!(r#"{{"limit":{limit}}}"#), read_bundle_rules);
            assert!(details.contains("limit: must be an integer from 1 to 100"), "{details}");
        }
        let other = r#"{"1":{"name":"order.items.every","conditions":{"$is":[]}}}"#;
        assert!(problem_text(other, read_bundle_rules).contains("1.name: must be one of order.items.any"));
    }
}
