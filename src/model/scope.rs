//! Decides which products and SKUs a grant is about. It must not know lines or amounts.
//!
//! calculation.md section 7.

use crate::text::Text;

/// What an entry names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GoodsObject {
    /// A product and all its SKUs.
    Product,
    /// One SKU.
    Sku,
}

/// A product or SKU, by id or by the caller's identifier.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GoodsRef {
    /// What it is.
    pub object: GoodsObject,
    /// Its id, or its `source_id` when the catalogue does not have it.
    pub id: Text,
    /// The caller's identifier.
    pub source_id: Option<Text>,
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
}
