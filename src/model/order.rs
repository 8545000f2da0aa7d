//! Decides what an order is before any discount: its lines, the amounts sent with it, who buys.
//! It must not know prices from a catalogue or what a discount does to a line.
//!
//! calculation.md section 2.

use crate::money::Money;
use crate::text::{Symbol, Text};

/// Custom key/value pairs, sorted by key so that they are written the same everywhere.
pub type Metadata = crate::json::Members;

/// How many lines one order may have (calculation.md section 2.1).
pub const LARGEST_ORDER: usize = 500;

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
    /// The product, by id.
    pub product_id: Option<Text>,
    /// The SKU, by id.
    pub sku_id: Option<Text>,
    /// The symbols of the product's id and the SKU's, where nothing else says what goods the line is; those of no name
    /// where that is to be found out. What changes an id, or says more, takes them away.
    pub symbols: [Symbol; 2],
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
