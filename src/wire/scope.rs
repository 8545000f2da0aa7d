//! Reads scopes, and writes the list of goods in a result.
//!
//! docs/spec/calculation.md#7; docs/spec/validation-rules.md#5.

mod shapes;

pub use shapes::{GOODS_LIST, SCOPE};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::formula::Formula;
use crate::json::Node;
use crate::model::discount::Dynamic;
use crate::model::scope::{Cap, CapKind, GoodsObject, Scope, ScopeEntry, TargetKind, UnitLimits, UnitOrder};
use crate::pricing::CoveredUnits;
use crate::wire::cursor::{JsonCursor, NameTable, name_of, read};
use crate::wire::goods::read_goods;
use crate::wire::offer::{dynamic, read_count, read_formula};
use crate::wire::writer::Writer;

pub(crate) const PICKS: NameTable<UnitOrder> = &[
    ("APPLY_TO_EVERY", UnitOrder::Every),
    ("APPLY_TO_CHEAPEST", UnitOrder::ToCheapest),
    ("APPLY_FROM_CHEAPEST", UnitOrder::FromCheapest),
    ("APPLY_TO_MOST_EXPENSIVE", UnitOrder::ToMostExpensive),
    ("APPLY_FROM_MOST_EXPENSIVE", UnitOrder::FromMostExpensive),
];

pub(crate) const TARGETS: NameTable<TargetKind> = &[("ITEM", TargetKind::Item), ("UNIT", TargetKind::Unit)];

macro_rules! cap {
    ($name:literal, $tier:literal, $customer:literal, $each:literal) => {
        ($name, concat!($name, "_formula"), CapKind { tier: $tier, customer: $customer, each: $each })
    };
}

/// The caps over the lifetime of a campaign or tier (docs/spec/calculation.md#7.1).
pub(crate) const CAPS: &[(&str, &str, CapKind)] = &[
    cap!("product_campaign_quantity_limit", false, false, false),
    cap!("product_customer_campaign_quantity_limit", false, true, false),
    cap!("product_in_collection_campaign_quantity_limit", false, false, true),
    cap!("product_in_collection_customer_campaign_quantity_limit", false, true, true),
    cap!("product_promotion_tier_quantity_limit", true, false, false),
    cap!("product_customer_promotion_tier_quantity_limit", true, true, false),
    cap!("product_in_collection_promotion_tier_quantity_limit", true, false, true),
    cap!("product_in_collection_customer_promotion_tier_quantity_limit", true, true, true),
];

/// The maximum number of different limits and selections in one scope; each scans all lines of an order.
const GROUPS_MAX: usize = 200;

/// Reads the scope of a rule.
pub fn read_scope(at: &JsonCursor<'_>) -> Scope {
    at.object();
    let included_all = at.option("included_all", read::flag).unwrap_or(false);
    let (mut included, excluded) = (at.list("included", read_entry), at.list("excluded", read_entry));
    let mut groups: Vec<&UnitLimits> = Vec::new();
    for entry in &included {
        if !groups.contains(&&entry.terms) {
            groups.push(&entry.terms);
        }
        if groups.len() > GROUPS_MAX {
            at.problem("must NOT have more than 200 different limits in .included");
            included = Vec::new();
            break;
        }
    }
    Scope::new(included_all, included, excluded)
}

fn read_entry(at: &JsonCursor<'_>) -> ScopeEntry {
    let goods = read_goods(at, None);
    let mut caps = Vec::new();
    for (name, formula, kind) in CAPS {
        let most = dynamic(at, name, formula, read::whole_number);
        if most.plain.is_some() || most.formula.is_some() {
            caps.push(Cap { kind: *kind, most });
        }
    }
    let mut entry = ScopeEntry::every(goods);
    let terms = &mut entry.terms;
    at.fill("effect", &mut terms.pick, |effect| effect.one_of(PICKS));
    at.fill("target", &mut terms.target, |target| target.one_of(TARGETS));
    at.fill("skip_initially", &mut terms.skip_initially, read::whole_number);
    at.fill("repeat", &mut terms.repeat, read_count);
    at.fill_optional("quantity_limit", &mut terms.quantity_limit, read::whole_number);
    at.fill_optional("aggregated_quantity_limit", &mut terms.aggregated_quantity_limit, read::whole_number);
    at.fill_optional("amount_limit", &mut terms.amount_limit, read::money);
    at.fill_optional("aggregated_amount_limit", &mut terms.aggregated_amount_limit, read::money);
    terms.caps = caps;
    at.fill_optional("product_id", &mut entry.product.0, read::name);
    at.fill_optional("product_source_id", &mut entry.product.1, read::name);
    entry.price = Dynamic {
        plain: at.option("price", read::money),
        formula: at.option("price_formula", read_price_formula).flatten(),
    };
    entry
}

/// Reads a formula for a price, which may be a plain number: the published format allows both.
fn read_price_formula(at: &JsonCursor<'_>) -> Option<Arc<Formula>> {
    match at.node {
        Node::Integer(number) => read_formula(at, &number.to_string()),
        Node::Fraction(number) => read_formula(at, number),
        _ => read_formula(at, at.str()),
    }
}

/// The maximum number of units in an order of which a result lists each one (docs/spec/calculation.md#7.1).
const NUMBERED_UNITS_MAX: u64 = 1000;

/// The goods of a line as a result names them.
#[derive(Clone, Copy)]
pub(crate) struct ResultGoods<'a> {
    /// The type.
    pub object: GoodsObject,
    /// Its id or, if the catalogue does not have it, its `source_id`.
    pub id: &'a str,
    /// Its `source_id`.
    pub source_id: Option<&'a str>,
}

/// One of the two lists of goods in a result (docs/spec/calculation.md#7.2).
pub(crate) struct GoodsList<'a> {
    /// The entries of the rule.
    pub entries: &'a [ScopeEntry],
    /// The units of the order that they cover; only those of this list.
    pub covered: Vec<CoveredUnits>,
    /// `true` for the list of excluded goods.
    pub excluded: bool,
    /// All units of the order.
    pub units: u64,
    /// Returns the goods of a line.
    pub goods: &'a dyn Fn(usize) -> Option<ResultGoods<'a>>,
}

impl GoodsList<'_> {
    /// Writes the entries of the rule, and one for each product or SKU of the order that they cover, in the format of a
    /// list.
    pub fn write(&self, out: &mut Writer) {
        if self.entries.is_empty() && self.covered.is_empty() {
            return write_list(out, 0, |_| {});
        }
        let concrete = self.concrete();
        // The covered lines in the order of the entries, so that each entry finds its own at the front of the rest.
        let mut by_entry: Vec<&CoveredUnits> = self.covered.iter().filter(|covered| covered.entry.is_some()).collect();
        by_entry.sort_by_cached_key(|covered| {
            covered.entry.map_or(u64::MAX, |entry| u64::try_from(entry).unwrap_or(u64::MAX))
        });
        let mut rest = by_entry.into_iter().peekable();
        // Memory bounds both lists.
        let total = self.entries.len().saturating_add(concrete.len());
        write_list(out, total, |out| {
            for (position, entry) in self.entries.iter().enumerate() {
                out.item().object(|out| {
                    write_name(out, entry.goods.object, &entry.goods.id, entry.goods.source_id.as_deref());
                    out.text_if("product_id", entry.product.0.as_ref());
                    out.text_if("product_source_id", entry.product.1.as_ref());
                    out.write_flag("strict", false);
                    write_terms(out, entry);
                    let covered = std::iter::from_fn(|| rest.next_if(|covered| covered.entry == Some(position)));
                    self.write_covered(out, &covered.collect::<Vec<_>>());
                });
            }
            for (goods, covered) in &concrete {
                let entry = covered.first().and_then(|covered| self.entries.get(covered.entry?));
                out.item().object(|out| {
                    write_name(out, goods.object, goods.id, goods.source_id);
                    out.write_flag("strict", true);
                    out.constant_if("effect", entry.and_then(|entry| name_of(PICKS, entry.terms.pick)));
                    self.write_covered(out, covered);
                });
            }
        });
    }

    /// Returns the products and SKUs of the order that the entries cover, each once, with its lines.
    fn concrete(&self) -> Vec<(ResultGoods<'_>, Vec<&CoveredUnits>)> {
        let mut positions = BTreeMap::new();
        let mut found: Vec<(ResultGoods<'_>, Vec<&CoveredUnits>)> = Vec::new();
        for covered in self.covered.iter().filter(|covered| covered.entry.is_some()) {
            let Some(goods) = (self.goods)(covered.position) else { continue };
            let position = *positions.entry((goods.object, goods.id)).or_insert(found.len());
            match found.get_mut(position) {
                Some((_, lines)) => lines.push(covered),
                None => found.push((goods, vec![covered])),
            }
        }
        found
    }

    /// Writes the covered lines and units, in the order of selection.
    fn write_covered(&self, out: &mut Writer, covered: &[&CoveredUnits]) {
        let index = |covered: &CoveredUnits| u64::try_from(covered.position).unwrap_or(0);
        if covered.is_empty() {
            return;
        }
        out.member("order_item_indices")
            .list(|out| covered.iter().for_each(|covered| out.item().number(index(covered))));
        if self.excluded {
            return;
        }
        out.member("order_item_units").list(|out| {
            for line in covered {
                out.item().object(|out| {
                    out.write_number("index", index(line));
                    if self.units > NUMBERED_UNITS_MAX {
                        out.write_flag("units_limit_exceeded", true);
                        return;
                    }
                    out.member("units").list(|out| {
                        let after = |unit: &u64| unit.checked_add(line.step);
                        let units = std::iter::successors(Some(line.first), after);
                        let count = usize::try_from(line.units).unwrap_or(0);
                        units.take(count).for_each(|unit| out.item().number(unit));
                    });
                });
            }
        });
    }
}

/// Writes the members of a list.
fn write_list(out: &mut Writer, total: usize, data: impl FnOnce(&mut Writer)) {
    out.object(|out| {
        out.member("data").list(data);
        out.write_number("total", u64::try_from(total).unwrap_or(0));
        out.write_constant("data_ref", "data");
        out.write_constant("object", "list");
    });
}

/// Writes the names of goods in a result.
pub(crate) fn write_name(out: &mut Writer, object: GoodsObject, id: &str, source_id: Option<&str>) {
    out.write_constant("object", object.name());
    out.write_text("id", id);
    out.text_if("source_id", source_id);
}

/// Writes a formula in a format that can be sent again.
fn write_formula(out: &mut Writer, name: &'static str, formula: Option<&Formula>) {
    if let Some(formula) = formula {
        out.write_text(name, &formula.to_string());
    }
}

/// Writes the selection and limits of an entry, without defaults.
fn write_terms(out: &mut Writer, entry: &ScopeEntry) {
    let terms = &entry.terms;
    out.money_if("price", entry.price.plain);
    write_formula(out, "price_formula", entry.price.formula.as_deref());
    out.constant_if("effect", name_of(PICKS, terms.pick));
    out.number_if("quantity_limit", terms.quantity_limit);
    out.number_if("aggregated_quantity_limit", terms.aggregated_quantity_limit);
    out.money_if("amount_limit", terms.amount_limit);
    out.money_if("aggregated_amount_limit", terms.aggregated_amount_limit);
    for (name, formula, kind) in CAPS {
        let Some(cap) = terms.caps.iter().find(|cap| cap.kind == *kind) else { continue };
        out.number_if(name, cap.most.plain);
        write_formula(out, formula, cap.most.formula.as_deref());
    }
    out.number_if("skip_initially", Some(terms.skip_initially).filter(|skip| *skip > 0));
    out.number_if("repeat", Some(terms.repeat).filter(|repeat| *repeat > 1));
    out.constant_if("target", name_of(TARGETS, terms.target).filter(|_| terms.target != TargetKind::Item));
}
