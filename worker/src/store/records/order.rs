//! Orders.

use super::members::record;
use serde_json::Value as Json;

record!("An order.", OrderRecord, as_order);

impl<'a> OrderRecord<'a> {
    /// Returns the ID of the customer.
    pub fn customer_id(self) -> Option<&'a str> {
        self.0.text("customer_id")
    }

    /// Returns the ID of the customer who referred the buyer.
    pub fn referrer_id(self) -> Option<&'a str> {
        self.0.text("referrer_id")
    }

    /// Returns the amount after discounts, in minor units.
    pub fn total(self) -> Option<u64> {
        self.0.count("total_amount").or_else(|| self.0.count("amount"))
    }

    /// Returns the returns of the order, oldest first.
    pub fn returns(self) -> &'a [Json] {
        self.0.list("returns")
    }
}
