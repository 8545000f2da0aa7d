//! Decides which products and SKUs a grant is about. It must not know lines or amounts.
//!
//! calculation.md section 7.

use crate::text::{Symbol, Text};

/// What an entry names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GoodsObject {
    /// A product and all its SKUs.
    Product,
    /// One SKU.
    Sku,
    /// A collection of products and SKUs.
    Collection,
}

impl GoodsObject {
    /// The symbol of an identifier of this kind of goods.
    pub fn symbol(self, id: &str) -> Symbol {
        let kind = match self {
            GoodsObject::Product => 1,
            GoodsObject::Sku => 2,
            GoodsObject::Collection => 3,
        };
        Symbol::of(kind, id)
    }
}

/// A product, SKU or collection, by id or by the caller's identifier.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GoodsRef {
    /// What it is.
    pub object: GoodsObject,
    /// Its id, or its `source_id` when the catalogue does not have it.
    pub id: Text,
    /// The caller's identifier.
    pub source_id: Option<Text>,
    /// The symbol of `id`.
    pub symbol: Symbol,
    /// The symbol of `source_id`; that of `id` when there is none.
    pub source_symbol: Symbol,
}

impl GoodsRef {
    /// The goods of this id and identifier.
    pub fn new(object: GoodsObject, id: Text, source_id: Option<Text>) -> GoodsRef {
        let symbol = object.symbol(&id);
        let source_symbol = source_id.as_deref().map_or(symbol, |source_id| object.symbol(source_id));
        GoodsRef { object, id, source_id, symbol, source_symbol }
    }
}

/// The lines a grant is about: all or those included, without those excluded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scope {
    /// Every line, whatever `included` says.
    pub included_all: bool,
    /// These; with none, every line (calculation.md section 19, D1).
    pub included: Vec<GoodsRef>,
    /// Never these; exclusion wins.
    pub excluded: Vec<GoodsRef>,
}

impl Scope {
    /// Whether it names any product: then a discount without an effect acts on lines.
    pub fn names_goods(&self) -> bool {
        !self.included.is_empty() || !self.excluded.is_empty()
    }

    /// Puts goods into it, or out of it.
    pub fn add(&mut self, goods: GoodsRef, included: bool) {
        if included { self.included.push(goods) } else { self.excluded.push(goods) }
    }

    /// All goods that it names: first those included, then those excluded.
    pub fn goods(&self) -> impl Iterator<Item = &GoodsRef> {
        self.included.iter().chain(&self.excluded)
    }
}

/// The most bundles that one discount counts (calculation.md section 8).
pub const MOST_BUNDLES: u64 = 100;

/// What has to be in the order together, and how often it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleRules {
    /// All of these.
    pub entries: Vec<BundleEntry>,
    /// How many bundles count, 1 to [`MOST_BUNDLES`].
    pub limit: u64,
}

/// One part of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleEntry {
    /// The goods; several stand for one another.
    pub goods: Vec<GoodsRef>,
    /// Units of them in one bundle, at least 1.
    pub quantity: u64,
}
