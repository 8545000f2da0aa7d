//! Writes a stored order: its amounts, its customers, and the history of its redemptions.
//!
//! docs/spec/calculation.md sections 2, 3 and 14.

use crate::model::order::Order;
use crate::pricing::lines::PricedOrder;
use crate::text::Text;
use crate::time::Instant;
use crate::wire::order::stored_return::write_returns;
use crate::wire::order::view::{AppliedScope, OrderView, WrittenLines};
use crate::wire::redemptions::record::write_reference;
use crate::wire::writer::Writer;

/// The data of a stored order in addition to its amounts.
pub(in crate::wire) struct OrderRecord<'a> {
    /// The order with its amounts.
    pub view: OrderView<'a>,
    /// The time of the last change, if any.
    pub updated_at: Option<Instant>,
    /// The customer.
    pub customer_id: Option<&'a Text>,
    /// The new entry in the history: the id of the redemption, and the entry as JSON.
    pub entry: Option<(&'a Text, String)>,
    /// `true` to include customers.
    pub with_parties: bool,
}

impl OrderRecord<'_> {
    /// Writes it as the next value.
    pub(in crate::wire) fn write(&self, out: &mut Writer) {
        let order = self.view.order;
        let customer_id = self.customer_id.filter(|_| self.with_parties);
        out.object(|out| {
            self.view.write_plain(out, &mut WrittenLines::default());
            out.write_constant("object", "order");
            out.text_or_null("created_at", order.created_at.map(Instant::text));
            out.text_or_null("updated_at", self.updated_at.map(Instant::text));
            out.text_or_null("customer_id", customer_id);
            write_reference(out, "customer", customer_id);
            out.text_or_null("referrer_id", order.referrer_id.as_ref().filter(|_| self.with_parties));
            out.member("redemptions").object(|out| {
                let details = self.entry.as_ref().map(|(id, _)| id.as_str());
                for (id, entry) in order.redemptions.iter().filter(|(id, _)| Some(*id) != details) {
                    out.pair(id, |out| out.value(entry));
                }
                if let Some((id, entry)) = &self.entry {
                    out.pair(id, |out| out.raw(entry));
                }
            });
            write_returns(out, order);
            out.member("metadata").metadata(&order.metadata);
        });
    }
}

/// Writes an order as it is stored and answered, with the amounts of its lines.
pub fn write_order(order: &Order, priced: &PricedOrder<'_>, updated_at: Option<Instant>) -> String {
    Writer::record_of(|out| {
        out.object(|out| {
            OrderView::new(order, priced, &priced.cart, AppliedScope::Nothing)
                .write_plain(out, &mut WrittenLines::default());
            if order.source_id.is_none() {
                out.member("source_id").null();
            }
            out.write_constant("object", "order");
            out.text_or_null("created_at", order.created_at.map(Instant::text));
            out.text_or_null("updated_at", updated_at.map(Instant::text));
            let with_parties =
                [("customer_id", "customer", &order.customer_id), ("referrer_id", "referrer", &order.referrer_id)];
            for (name, role, id) in with_parties {
                out.text_or_null(name, id.as_ref());
                if id.is_some() {
                    write_reference(out, role, id.as_ref());
                }
            }
            out.member("redemptions").metadata(&order.redemptions);
            write_returns(out, order);
            out.member("metadata").metadata(&order.metadata);
        });
    })
}
