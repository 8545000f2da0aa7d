//! Decides which products, SKUs and collections a grant is about, which of their units, and within which limits; and
//! what a bundle is made of. It must not know lines or amounts of an order.
//!
//! calculation.md sections 7 and 8.

use crate::formula::Formula;
use crate::model::discount::Dynamic;
use crate::money::Money;
use crate::text::Text;

/// What an entry names. The later, the more specific: of several entries on one line the most specific counts.
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
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            GoodsObject::Collection => "products_collection",
            GoodsObject::Product => "product",
            GoodsObject::Sku => "sku",
        }
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
}

impl GoodsRef {
    /// The goods of this id and identifier.
    pub fn new(object: GoodsObject, id: Text, source_id: Option<Text>) -> GoodsRef {
        GoodsRef { object, id, source_id }
    }
}

/// In which order the targets of an entry are taken, and which of them (calculation.md section 7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pick {
    /// All, as the request has them.
    #[default]
    Every,
    /// Those with the lowest unit price.
    ToCheapest,
    /// All, from the lowest unit price.
    FromCheapest,
    /// Those with the highest unit price.
    ToMostExpensive,
    /// All, from the highest unit price.
    FromMostExpensive,
}

/// What `skip_initially` and `repeat` count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetKind {
    /// Lines.
    #[default]
    Item,
    /// Units, on through all lines.
    Unit,
}

/// A cap on discounted units over the life of a campaign or tier (calculation.md section 7.1).
#[derive(Debug, Clone, PartialEq)]
pub struct Cap {
    /// What is counted.
    pub kind: CapKind,
    /// The most; a formula without a plain number that cannot be evaluated is no cap.
    pub most: Dynamic<Option<u64>>,
}

/// What a cap counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapKind {
    /// Of a promotion tier, not of the campaign.
    pub tier: bool,
    /// Of each customer, not of all together.
    pub customer: bool,
    /// Of each product of the collection, not of the entry as a whole.
    pub each: bool,
}

/// How the units of an entry are selected and limited.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Order and choice of targets.
    pub pick: Pick,
    /// What is counted as a target.
    pub target: TargetKind,
    /// How many targets are passed over first.
    pub skip_initially: u64,
    /// Every n-th target, at least 1.
    pub repeat: u64,
    /// Most units of each line.
    pub quantity_limit: Option<u64>,
    /// Most units of all lines.
    pub aggregated_quantity_limit: Option<u64>,
    /// The most off each line.
    pub amount_limit: Option<Money>,
    /// The most off all lines.
    pub aggregated_amount_limit: Option<Money>,
    /// Caps over the life of the campaign or tier.
    pub caps: Vec<Cap>,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms {
            pick: Pick::Every,
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
pub struct Entry {
    /// What it names.
    pub goods: GoodsRef,
    /// The product of a SKU, by id and by the caller's identifier, as sent.
    pub product: (Option<Text>, Option<Text>),
    /// The new unit price of a FIXED discount.
    pub price: Dynamic<Option<Money>>,
    /// Which of its units, within which limits.
    pub terms: Terms,
    /// The first entry of the list with equal terms: those share one list of targets (calculation.md section 19, D2).
    pub group: usize,
}

impl Entry {
    /// An entry that covers every unit.
    pub fn every(goods: GoodsRef) -> Entry {
        Entry { goods, product: (None, None), price: Dynamic::fixed(None), terms: Terms::default(), group: 0 }
    }

    /// The formulas of the entry, for whoever wants to know what they read.
    pub fn formulas(&self) -> impl Iterator<Item = &Formula> {
        let caps = self.terms.caps.iter().filter_map(|cap| cap.most.formula.as_deref());
        self.price.formula.as_deref().into_iter().chain(caps)
    }
}

/// The lines a grant is about: all or those included, without those excluded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scope {
    /// Every line, whatever `included` says.
    pub included_all: bool,
    /// These; with none, every line (calculation.md section 19, D1).
    pub included: Vec<Entry>,
    /// Never these; exclusion wins.
    pub excluded: Vec<Entry>,
    /// Whether any entry selects or limits; otherwise every unit of every line in scope is discounted.
    pub selective: bool,
}

impl Scope {
    /// A scope of these entries, with equal ones grouped.
    pub fn new(included_all: bool, mut included: Vec<Entry>, excluded: Vec<Entry>) -> Scope {
        let plain = Terms::default();
        let selective = included.iter().any(|entry| entry.terms != plain);
        // The first entries of the groups so far: of a list that reads, they are few.
        let mut heads: Vec<usize> = Vec::new();
        for place in 0..included.len() {
            let terms = |place: usize| included.get(place).map(|entry| &entry.terms);
            let known = heads.iter().copied().find(|head| terms(*head) == terms(place));
            let head = known.unwrap_or_else(|| {
                heads.push(place);
                place
            });
            if let Some(entry) = included.get_mut(place) {
                entry.group = head;
            }
        }
        Scope { included_all, included, excluded, selective }
    }

    /// The same scope with its limits on units so many times as large: complete bundles multiply them (calculation.md
    /// section 8).
    pub fn with_more_units(&self, times: u64) -> Scope {
        let mut scope = self.clone();
        for entry in &mut scope.included {
            let terms = &mut entry.terms;
            for limit in [&mut terms.quantity_limit, &mut terms.aggregated_quantity_limit] {
                *limit = limit.map(|limit| limit.saturating_mul(times));
            }
        }
        scope
    }

    /// Puts goods into it, or out of it, with every unit of them.
    pub fn add(&mut self, goods: GoodsRef, included: bool) {
        let plain = Terms::default();
        let list = if included { &mut self.included } else { &mut self.excluded };
        let group = list.iter().position(|entry| entry.terms == plain).unwrap_or(list.len());
        list.push(Entry { group, ..Entry::every(goods) });
    }

    /// All goods that it names: first those included, then those excluded.
    pub fn goods(&self) -> impl Iterator<Item = &GoodsRef> {
        self.included.iter().chain(&self.excluded).map(|entry| &entry.goods)
    }

    /// Whether it names any product: then a discount without an effect acts on lines.
    pub fn names_goods(&self) -> bool {
        !self.included.is_empty() || !self.excluded.is_empty()
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
