//! Decides what an order is before any discount: its lines, the amounts sent with it, who buys.
//! It must not know prices from a catalogue or what a discount does to a line.
//!
//! calculation.md section 2.

use crate::money::Money;
use crate::text::Text;

/// Custom key/value pairs, sorted by key so that they are written the same everywhere.
pub type Metadata = crate::json::Members;

/// How many lines one order may have (calculation.md section 2.1).
pub const LARGEST_ORDER: usize = 500;

/// How the ids of lines begin (objects.md section 1).
pub const LINE_ID: &str = "ordli_";

/// Where an order is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OrderStatus {
    /// Written down, nothing more.
    #[default]
    Created,
    /// Final; a redemption makes it so.
    Paid,
    /// Called off; a rollback makes it so.
    Canceled,
    /// Delivered.
    Fulfilled,
}

impl OrderStatus {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            OrderStatus::Created => "CREATED",
            OrderStatus::Paid => "PAID",
            OrderStatus::Canceled => "CANCELED",
            OrderStatus::Fulfilled => "FULFILLED",
        }
    }
}

/// An order as the customer sent it or as it was stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Order {
    /// Assigned by the service.
    pub id: Option<Text>,
    /// The caller's own identifier.
    pub source_id: Option<Text>,
    /// As sent.
    pub status: Option<OrderStatus>,
    /// Gross amount; kept even when it differs from the sum of the lines.
    pub amount: Option<Money>,
    /// Gross amount before free units.
    pub initial_amount: Option<Money>,
    /// Order-level discount granted before this request.
    pub discount_amount: Option<Money>,
    /// The lines, at most [`LARGEST_ORDER`].
    pub items: Vec<Item>,
    /// Custom data.
    pub metadata: Metadata,
    /// The customer that a stored order belongs to.
    pub customer_id: Option<Text>,
    /// The customer who referred the buyer.
    pub referrer_id: Option<Text>,
    /// When a stored order was created.
    pub created_at: Option<crate::time::Instant>,
    /// What earlier redemptions left on a stored order, by the id of the redemption.
    pub redemptions: Metadata,
}

/// What kind of thing a `source_id` on a line names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RelatedObject {
    /// A product.
    #[default]
    Product,
    /// A variant of a product.
    Sku,
}

/// One line of an order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Item {
    /// Assigned by the service when the order is stored.
    pub id: Option<Text>,
    /// The product, by id.
    pub product_id: Option<Text>,
    /// The SKU, by id.
    pub sku_id: Option<Text>,
    /// The product or SKU by the caller's identifier.
    pub source_id: Option<Text>,
    /// What `source_id` names.
    pub related_object: Option<RelatedObject>,
    /// Units; 1 when the request says nothing.
    pub quantity: u64,
    /// Units that are free already.
    pub discount_quantity: Option<u64>,
    /// Units the customer put in the cart.
    pub initial_quantity: Option<u64>,
    /// Gross line amount; kept even when it differs from price times quantity.
    pub amount: Option<Money>,
    /// Item-level discount granted before this request.
    pub discount_amount: Option<Money>,
    /// Gross line amount before free units.
    pub initial_amount: Option<Money>,
    /// Unit price.
    pub price: Option<Money>,
    /// Product data sent with the line.
    pub product: Option<Box<Goods>>,
    /// SKU data sent with the line.
    pub sku: Option<Box<Goods>>,
    /// Custom data.
    pub metadata: Metadata,
}

impl Item {
    /// How a line names its product or its SKU, in the order in which the names count. Each may be an id or the caller's
    /// identifier, whatever the field is called (calculation.md section 19, D14).
    pub fn names(&self, kind: RelatedObject) -> impl Iterator<Item = &Text> {
        let [id, parent] = match kind {
            RelatedObject::Product => [&self.product_id, self.sku.as_ref().map_or(&None, |sku| &sku.product_id)],
            RelatedObject::Sku => [&self.sku_id, &None],
        };
        let inline = self.goods(kind);
        let source_id = self.source_id.as_ref().filter(|_| self.related_object == Some(kind));
        let [inline_id, inline_source] =
            [inline.and_then(|goods| goods.id.as_ref()), inline.and_then(|goods| goods.source_id.as_ref())];
        [id.as_ref(), source_id, inline_id, inline_source, parent.as_ref()].into_iter().flatten()
    }

    /// The data of its product or SKU that was sent with it.
    pub fn goods(&self, kind: RelatedObject) -> Option<&Goods> {
        match kind {
            RelatedObject::Product => self.product.as_deref(),
            RelatedObject::Sku => self.sku.as_deref(),
        }
    }
}

/// A product or SKU as far as a decision reads it, inline in an order or from the catalogue.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Goods {
    /// Assigned by the service.
    pub id: Option<Text>,
    /// The caller's own identifier.
    pub source_id: Option<Text>,
    /// The product of a SKU.
    pub product_id: Option<Text>,
    /// The product's name or the SKU's.
    pub name: Option<Text>,
    /// Unit price.
    pub price: Option<Money>,
    /// Whether the inline data is to be written to the catalogue.
    pub overrides: Option<bool>,
    /// Custom data.
    pub metadata: Metadata,
    /// Whether nothing but its names can be read of what the catalogue has of it.
    pub unreadable: bool,
}
