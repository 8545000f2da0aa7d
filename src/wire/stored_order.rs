//! Decides how an order is written that stands for itself: its amounts, whose it is, and what redemptions left on it. It must
//! not know who keeps it.
//!
//! calculation.md sections 2, 3 and 14.

use crate::model::order::Order;
use crate::pricing::lines::Priced;
use crate::text::Text;
use crate::time::Instant;
use crate::wire::order_view::{Applied, OrderView, Seen};
use crate::wire::record::put_reference;
use crate::wire::writer::Writer;

/// What an order says beside what it comes to.
pub(super) struct OrderRecord<'a> {
    /// What it comes to.
    pub view: OrderView<'a>,
    /// When it was changed, if ever.
    pub updated_at: Option<Instant>,
    /// Who buys.
    pub customer_id: Option<&'a Text>,
    /// The entry of a redemption that it remembers now: its id, and the entry, printed.
    pub entry: Option<(&'a Text, String)>,
    /// Whether people are told of.
    pub people: bool,
}

impl OrderRecord<'_> {
    /// Writes it as the next value.
    pub(super) fn put(&self, out: &mut Writer) {
        let order = self.view.order;
        let customer_id = self.customer_id.filter(|_| self.people);
        out.object(|out| {
            self.view.put_plain(out, &mut Seen::default());
            out.put_word("object", "order");
            out.text_or_null("created_at", order.created_at.map(Instant::text));
            out.text_or_null("updated_at", self.updated_at.map(Instant::text));
            out.text_or_null("customer_id", customer_id);
            put_reference(out, "customer", customer_id);
            out.text_or_null("referrer_id", order.referrer_id.as_ref().filter(|_| self.people));
            out.member("redemptions").object(|out| {
                let told = self.entry.as_ref().map(|(id, _)| id.as_str());
                for (id, entry) in order.redemptions.iter().filter(|(id, _)| Some(*id) != told) {
                    out.pair(id, |out| out.value(entry));
                }
                if let Some((id, entry)) = &self.entry {
                    out.pair(id, |out| out.raw(entry));
                }
            });
            out.member("metadata").metadata(&order.metadata);
        });
    }
}

/// An order that stands for itself, as it is stored and shown, with the amounts that its lines come to.
pub fn write_order(order: &Order, priced: &Priced<'_>, updated_at: Option<Instant>) -> String {
    Writer::record_of(|out| {
        out.object(|out| {
            OrderView::new(order, priced, &priced.cart, Applied::Nothing).put_plain(out, &mut Seen::default());
            if order.source_id.is_none() {
                out.member("source_id").null();
            }
            out.put_word("object", "order");
            out.text_or_null("created_at", order.created_at.map(Instant::text));
            out.text_or_null("updated_at", updated_at.map(Instant::text));
            let people =
                [("customer_id", "customer", &order.customer_id), ("referrer_id", "referrer", &order.referrer_id)];
            for (name, role, id) in people {
                out.text_or_null(name, id.as_ref());
                if id.is_some() {
                    put_reference(out, role, id.as_ref());
                }
            }
            out.member("redemptions").metadata(&order.redemptions);
            out.member("metadata").metadata(&order.metadata);
        });
    })
}
