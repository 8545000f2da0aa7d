//! Defines the scope of a grant: products, SKUs and collections, the selection of their units, and limits. It also
//! defines product bundles.
//!
//! docs/spec/calculation.md sections 7 and 8.

use crate::formula::Formula;
use crate::model::discount::Dynamic;
use crate::money::Money;
use crate::text::Text;

/// The type of goods of an entry, from general to specific: of several entries for one line the most specific counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum GoodsObject {
    /// The products and SKUs of a collection.
    #[default]
    Collection,
    /// A product and all its SKUs.
    Product,
    /// One SKU.
    Sku,
}

impl GoodsObject {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            GoodsObject::Collection => "products_collection",
            GoodsObject::Product => "product",
            GoodsObject::Sku => "sku",
        }
    }
}

/// A product, SKU or collection, by id or `source_id`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GoodsRef {
    /// The type.
    pub object: GoodsObject,
    /// Its id, or its `source_id` if the catalogue does not have it.
    pub id: Text,
    /// Its `source_id`.
    pub source_id: Option<Text>,
}

impl GoodsRef {
    /// Returns the goods of this id and `source_id`.
    pub fn new(object: GoodsObject, id: Text, source_id: Option<Text>) -> GoodsRef {
        GoodsRef { object, id, source_id }
    }
}

/// The order in which the targets of an entry are selected, and which of them (docs/spec/calculation.md#7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnitOrder {
    /// All, in the order of the request.
    #[default]
    Every,
    /// Targets with the lowest unit price.
    ToCheapest,
    /// All, from the lowest unit price.
    FromCheapest,
    /// Targets with the highest unit price.
    ToMostExpensive,
    /// All, from the highest unit price.
    FromMostExpensive,
}

/// The target that `skip_initially` and `repeat` count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetKind {
    /// Lines.
    #[default]
    Item,
    /// Units, across all lines.
    Unit,
}

/// A cap on discounted units over the lifetime of a campaign or tier (docs/spec/calculation.md#7.1).
#[derive(Debug, Clone, PartialEq)]
pub struct Cap {
    /// The counted unit.
    pub kind: CapKind,
    /// The maximum; a formula without a plain number that cannot be evaluated is no cap.
    pub most: Dynamic<Option<u64>>,
}

/// The counted unit of a cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapKind {
    /// `true` for the promotion tier, `false` for the campaign.
    pub tier: bool,
    /// `true` for each customer, `false` for all together.
    pub customer: bool,
    /// `true` for each product of the collection, `false` for the whole entry.
    pub each: bool,
}

/// The selection and limits of the units of an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitLimits {
    /// Order and selection of targets.
    pub pick: UnitOrder,
    /// The counted target.
    pub target: TargetKind,
    /// The number of targets to skip first.
    pub skip_initially: u64,
    /// Every n-th target, at least 1.
    pub repeat: u64,
    /// The maximum units of each line.
    pub quantity_limit: Option<u64>,
    /// The maximum units of all lines.
    pub aggregated_quantity_limit: Option<u64>,
    /// The maximum discount of each line.
    pub amount_limit: Option<Money>,
    /// The maximum discount of all lines.
    pub aggregated_amount_limit: Option<Money>,
    /// Caps over the lifetime of the campaign or tier.
    pub caps: Vec<Cap>,
}

impl Default for UnitLimits {
    fn default() -> UnitLimits {
        UnitLimits {
            pick: UnitOrder::Every,
            target: TargetKind::Item,
            skip_initially: 0,
            repeat: 1,
            quantity_limit: None,
            aggregated_quantity_limit: None,
            amount_limit: None,
            aggregated_amount_limit: None,
            caps: Vec::new(),
        }
    }
}

/// One entry of a scope.
#[derive(Debug, Clone, PartialEq)]
pub struct ScopeEntry {
    /// The goods.
    pub goods: GoodsRef,
    /// The product of a SKU, by id and `source_id`, as sent.
    pub product: (Option<Text>, Option<Text>),
    /// The new unit price of a FIXED discount.
    pub price: Dynamic<Option<Money>>,
    /// The selection and limits of its units.
    pub terms: UnitLimits,
    /// The index of the first entry with equal terms: those share one list of targets (docs/spec/calculation.md#19,
    /// D2).
    pub group: usize,
}

impl ScopeEntry {
    /// Returns an entry that covers every unit.
    pub fn every(goods: GoodsRef) -> ScopeEntry {
        ScopeEntry { goods, product: (None, None), price: Dynamic::fixed(None), terms: UnitLimits::default(), group: 0 }
    }

    /// Returns the formulas of the entry.
    pub fn formulas(&self) -> impl Iterator<Item = &Formula> {
        let caps = self.terms.caps.iter().filter_map(|cap| cap.most.formula.as_deref());
        self.price.formula.as_deref().into_iter().chain(caps)
    }
}

/// The lines of a grant: all or those included, without those excluded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scope {
    /// `true` for every line, regardless of `included`.
    pub included_all: bool,
    /// The included goods; if empty, every line (docs/spec/calculation.md#19, D1).
    pub included: Vec<ScopeEntry>,
    /// The excluded goods; exclusion wins.
    pub excluded: Vec<ScopeEntry>,
    /// `true` if any entry selects or limits; otherwise every unit of every line in scope is discounted.
    pub selective: bool,
}

impl Scope {
    /// Returns a scope of these entries, with equal ones grouped.
    pub fn new(included_all: bool, mut included: Vec<ScopeEntry>, excluded: Vec<ScopeEntry>) -> Scope {
        let plain = UnitLimits::default();
        let selective = included.iter().any(|entry| entry.terms != plain);
        // The first entries of the groups so far: a readable list has few.
        let mut heads: Vec<usize> = Vec::new();
        for position in 0..included.len() {
            let terms = |position: usize| included.get(position).map(|entry| &entry.terms);
            let known = heads.iter().copied().find(|head| terms(*head) == terms(position));
            let head = known.unwrap_or_else(|| {
                heads.push(position);
                position
            });
            if let Some(entry) = included.get_mut(position) {
                entry.group = head;
            }
        }
        Scope { included_all, included, excluded, selective }
    }

    /// Returns the scope with its limits on units multiplied: complete bundles multiply them (docs/spec/calculation.md
    /// section 8).
    pub fn with_more_units(&self, times: u64) -> Scope {
        let mut scope = self.clone();
        for entry in &mut scope.included {
            let terms = &mut entry.terms;
            for limit in [&mut terms.quantity_limit, &mut terms.aggregated_quantity_limit] {
                // A limit beyond 64 bits is none: no line has that number of units.
                *limit = limit.and_then(|limit| limit.checked_mul(times));
            }
        }
        scope
    }

    /// Adds goods to the included or excluded ones, with every unit of them.
    pub fn add(&mut self, goods: GoodsRef, included: bool) {
        let plain = UnitLimits::default();
        let list = if included { &mut self.included } else { &mut self.excluded };
        let group = list.iter().position(|entry| entry.terms == plain).unwrap_or(list.len());
        list.push(ScopeEntry { group, ..ScopeEntry::every(goods) });
    }

    /// Returns all goods that it names: first those included, then those excluded.
    pub fn goods(&self) -> impl Iterator<Item = &GoodsRef> {
        self.included.iter().chain(&self.excluded).map(|entry| &entry.goods)
    }

    /// Returns whether it names any goods: then a discount without an effect applies to lines.
    pub fn names_goods(&self) -> bool {
        !self.included.is_empty() || !self.excluded.is_empty()
    }
}

/// The maximum number of bundles that one discount counts (docs/spec/calculation.md#8).
pub const BUNDLES_MAX: u64 = 100;

/// The goods that must be in the order together, and the number of bundles that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleRules {
    /// The entries, all of which are required.
    pub entries: Vec<BundleEntry>,
    /// The maximum number of bundles that count, 1 to [`BUNDLES_MAX`].
    pub limit: u64,
}

/// One part of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleEntry {
    /// The goods; several are alternatives.
    pub goods: Vec<GoodsRef>,
    /// Units of them in one bundle, at least 1.
    pub quantity: u64,
}
