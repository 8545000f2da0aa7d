//! Purchases of rewards and payments of orders with points (v2).

use super::Members;
use super::members::record;
use crate::store::sql::Fault;
use scrip::decide::returns::BoughtGoods;
use scrip::text::Text;
use serde_json::Value as Json;

record!("A purchase of a reward.", PurchaseRecord, as_purchase);
record!("A request to pay an order with points.", PaymentRequestRecord);
record!("A payment of an order with points.", PaymentRecord, as_payment);

impl<'a> PurchaseRecord<'a> {
    /// Returns the ID of the program.
    pub fn program_id(self) -> Option<&'a str> {
        self.0.text("program_id")
    }

    /// Returns the ID of the transaction of the card.
    pub fn card_transaction_id(self) -> Option<&'a Json> {
        self.0.value("card_transaction_id")
    }

    /// Returns the result of the fulfilment; `null` if absent.
    pub fn result(self) -> Json {
        self.0.object("details").copy("result")
    }

    /// Returns the digital part of the result.
    pub fn digital(self) -> DigitalResult<'a> {
        DigitalResult(self.0.object("details").object("result").object("digital"))
    }

    /// Returns true for an approved purchase, which can be refunded.
    pub fn is_approved(self) -> bool {
        self.0.text("type") == Some("PURCHASE") && self.0.text("status") == Some("APPROVED")
    }

    /// Returns the ID of the reward; empty if absent.
    pub fn reward_id(self) -> &'a str {
        self.0.text("reward_id").unwrap_or_default()
    }

    /// Returns the ID of the card; empty if absent.
    pub fn card_id(self) -> &'a str {
        self.0.text("card_id").unwrap_or_default()
    }

    /// Returns the account of the stock that the purchase reduced.
    pub fn stock_account(self) -> Option<&'a str> {
        self.0.object("kept").text("stock")
    }
}

impl<'a> PaymentRecord<'a> {
    /// Returns the ID of the card; empty if absent.
    pub fn card_id(self) -> &'a str {
        self.0.text("card_id").unwrap_or_default()
    }

    /// Returns the ID of the order; empty if absent.
    pub fn order_id(self) -> &'a str {
        self.0.text("order_id").unwrap_or_default()
    }

    /// Returns the ID of the transaction of the card; empty if absent.
    pub fn card_transaction_id(self) -> &'a str {
        self.0.text("card_transaction_id").unwrap_or_default()
    }

    /// Returns the number of points that were spent; `None` if it is unreadable.
    pub fn spent(self) -> Option<u64> {
        self.stored_count("spent")
    }

    /// Returns the number of points that were refunded; `None` if it is unreadable.
    pub fn refunded(self) -> Option<u64> {
        self.stored_count("back")
    }

    /// Returns the amount that was paid, in minor units; `None` if it is unreadable.
    pub fn amount(self) -> Option<u64> {
        self.stored_count("amount")
    }

    /// Returns the snapshot of the order.
    pub fn order_snapshot(self) -> Option<&'a Json> {
        self.0.object("kept").value("bought")
    }

    fn stored_count(self, name: &str) -> Option<u64> {
        self.0.object("kept").count(name)
    }
}

impl<'a> PaymentRequestRecord<'a> {
    /// Returns the ID of the order.
    pub fn order_id(self) -> Option<&'a str> {
        self.0.object("order").text("id")
    }

    /// Returns the `source_id` of the order.
    pub fn order_source_id(self) -> Option<&'a str> {
        self.0.object("order").text("source_id")
    }

    /// Returns the ID of the card; empty if absent.
    pub fn card_id(self) -> &'a str {
        self.0.text("card_id").unwrap_or_default()
    }

    /// Returns the largest number of points, or the largest amount.
    pub fn limit(self, block: &str) -> Option<u64> {
        self.0.object("payment_limit").object(block).count("max")
    }

    /// Returns true if the payment is only computed.
    pub fn is_dry_run(self) -> bool {
        self.0.text("mode") == Some("DRY_RUN")
    }
}

/// The digital part of what a purchase gave.
#[derive(Debug, Clone, Copy)]
pub struct DigitalResult<'a>(Members<'a>);

impl<'a> DigitalResult<'a> {
    /// Returns the first discount coupon, as the ID of the voucher.
    pub fn coupon(self) -> Option<&'a str> {
        Members::of_value(self.0.list("discount_coupons").first()).text("id")
    }

    /// Returns the first gift card: the ID of the voucher, and its balance.
    pub fn gift_card(self) -> Result<Option<(&'a str, u64)>, Fault> {
        let card = Members::of_value(self.0.list("gift_vouchers").first());
        let Some(id) = card.text("id") else { return Ok(None) };
        Ok(Some((id, card.required_amount("balance")?)))
    }

    /// Returns the points on a card of the member: the ID of the card, and their number.
    pub fn points(self) -> Result<Option<(&'a str, u64)>, Fault> {
        let points = self.0.object("loyalty_card_points");
        if points.map().is_none() {
            return Ok(None);
        }
        Ok(Some((points.text("card_id").unwrap_or_default(), points.required_amount("points")?)))
    }
}

/// The snapshot of an order that was paid.
#[derive(Debug, Clone, Copy)]
pub struct OrderSnapshotRecord<'a>(Members<'a>);

impl<'a> OrderSnapshotRecord<'a> {
    /// Reads a snapshot.
    pub fn of_value(value: &'a Json) -> OrderSnapshotRecord<'a> {
        OrderSnapshotRecord(Members::of_value(Some(value)))
    }

    /// Returns the amount, in minor units.
    pub fn amount(self) -> Result<u64, Fault> {
        self.0.required_amount("amount")
    }

    /// Returns the goods with their quantities and amounts.
    pub fn goods(self) -> Result<Vec<BoughtGoods>, Fault> {
        let goods = self.0.value("goods").and_then(Json::as_array);
        let goods = goods.ok_or_else(|| Fault::new("the snapshot of an order has no goods"))?;
        let read = |goods: &Json| {
            let [name, quantity, amount] = goods.as_array()?.as_slice() else { return None };
            let name = Text::from(name.as_str()?);
            Some(BoughtGoods { name, quantity: quantity.as_u64()?, amount: amount.as_u64()? })
        };
        let read = |goods| read(goods).ok_or_else(|| Fault(format!("goods of an order cannot be read: {goods}")));
        goods.iter().map(read).collect()
    }
}
