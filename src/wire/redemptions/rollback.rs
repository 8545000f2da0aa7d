//! Writes a rollback: the answer, its own records, and the changed records of the redemption and of the order.
//!
//! docs/spec/calculation.md#15, docs/spec/objects.md#11.

use crate::count::Countable;
use crate::decide::rollback::{RollbackDecision, RollbackRequest, UndonePart};
use crate::json::Node;
use crate::model::order::{Order, OrderStatus};
use crate::model::redemption::{RedeemedVoucher, SpentUnits};
use crate::model::stacking::RollbackMode;
use crate::pricing::Cart;
use crate::pricing::lines::PricedOrder;
use crate::text::Text;
use crate::wire::cursor::name_of;
use crate::wire::order::view::{AppliedScope, OrderView};
use crate::wire::project::stacking::ROLLBACK_MODES;
use crate::wire::redemptions::record::{PrintedAnswer, Record};
use crate::wire::redemptions::stored_order::OrderRecord;
use crate::wire::writer::Writer;

/// The data of the service for a rollback; empty for a decision without the service.
#[derive(Debug, Clone, Default)]
pub struct StoredObjects {
    /// The channel of the caller.
    pub channel_id: Option<Text>,
    /// The vouchers after the rollback, as JSON by id.
    pub vouchers: Vec<(Text, String)>,
}

/// Writes a rollback. For a stack the answer lists every part. For a single redemption it is the rollback itself,
/// unless the request used the route for stacks.
pub fn write_rollback(
    rolled_back: &RollbackDecision,
    request: &RollbackRequest,
    service: &StoredObjects,
) -> PrintedAnswer {
    // The unpaid part of a canceled order is written again when the order is paid again.
    let is_hidden = |order: &&Order| order.status == Some(OrderStatus::Canceled) && order.uncovered.is_some();
    let hidden = rolled_back.order.as_ref().filter(is_hidden);
    let stored = hidden.map(|order| print_order(order, rolled_back));
    let visible = hidden.map(|order| Order { uncovered: None, ..order.clone() });
    let order = visible.as_ref().or(rolled_back.order.as_ref()).map(|order| print_order(order, rolled_back));
    let writer = RollbackWriter { rolled_back, request, service, order: order.as_deref() };
    let mut records = Vec::new();
    let mut write = |part: &UndonePart, is_stack: bool| {
        let rollback = writer.print(part, is_stack);
        records.push(record(&part.id, part, rollback.clone()));
        records.push(record(&part.redemption.id, part, print_undone(part, rolled_back)));
        rollback
    };
    let rollbacks: Vec<String> = rolled_back.parts.iter().map(|part| write(part, false)).collect();
    let parent = rolled_back.parent.as_ref().map(|part| write(part, true));
    if let (Some(text), Some(order), RollbackMode::WithOrder) = (&order, &rolled_back.order, rolled_back.mode)
        && let Some(id) = order.id.clone()
    {
        let (parent, holder) = (order.source_id.clone(), order.customer_id.clone());
        records.push(Record { kind: "order", id, parent, holder, text: stored.as_ref().unwrap_or(text).clone() });
    }
    let answer = match (request.stack, rollbacks.first()) {
        (false, Some(single)) => single.clone(),
        _ => Writer::record_of(|out| {
            out.object(|out| {
                out.member("rollbacks").list(|out| rollbacks.iter().for_each(|one| out.item().raw(one)));
                for (name, json) in [("parent_rollback", &parent), ("order", &order)] {
                    json.iter().for_each(|json| out.write_raw(name, json));
                }
            });
        }),
    };
    PrintedAnswer { status: 200, answer: answer.into_bytes(), records }
}

fn record(id: &Text, part: &UndonePart, text: String) -> Record {
    let redemption = &part.redemption;
    Record {
        kind: "redemption",
        id: id.clone(),
        parent: redemption.redeemed.clone(),
        holder: redemption.customer_id.clone(),
        text,
    }
}

/// A count by its name; `None` if it was not counted.
type Count<'a> = (&'a str, Option<u64>);

/// The common data of the rollbacks of a request.
struct RollbackWriter<'a> {
    rolled_back: &'a RollbackDecision,
    request: &'a RollbackRequest,
    service: &'a StoredObjects,
    order: Option<&'a str>,
}

impl RollbackWriter<'_> {
    /// Returns the rollback of a redemption, or of the stack itself.
    fn print(&self, part: &UndonePart, is_stack: bool) -> String {
        let redemption = &part.redemption;
        Writer::record_of(|out| {
            out.object(|out| {
                out.write_text("id", &part.id);
                out.write_constant("object", "redemption_rollback");
                out.write_text("date", &self.rolled_back.date.text());
                out.text_or_null("customer_id", redemption.customer_id.as_ref());
                out.member("metadata").metadata(&self.request.metadata);
                out.write_text("redemption", &redemption.id);
                out.text_or_null("reason", self.request.reason.as_ref());
                out.write_constant("result", "SUCCESS");
                out.write_constant("status", "SUCCEEDED");
                out.write_raw("order", self.order.unwrap_or("null"));
                for name in ["tracking_id", "customer"] {
                    write_stored(out, part, name);
                }
                match &self.service.channel_id {
                    Some(id) => out.member("channel").object(|out| {
                        out.write_text("channel_id", id);
                        out.write_constant("channel_type", "API");
                    }),
                    None => write_stored(out, part, "channel"),
                }
                if is_stack {
                    out.write_constant("related_object_type", "redemption");
                    out.write_text("related_object_id", &part.id);
                } else {
                    write_stored(out, part, "related_object_type");
                    write_stored(out, part, "related_object_id");
                }
                redemption.spent.iter().for_each(|spent| write_refunded_units(out, *spent));
                for name in ["related_object_parent_id", "reward", "promotion_tier"] {
                    redemption.document.get(name).iter().for_each(|value| out.member(name).value(value));
                }
                redemption.voucher.iter().for_each(|voucher| self.write_voucher(out, part, voucher));
            });
        })
    }

    /// Writes the present voucher or, without the service, the voucher of the redemption with the spending refunded.
    fn write_voucher(&self, out: &mut Writer, part: &UndonePart, voucher: &RedeemedVoucher) {
        if let Some((_, json)) = self.service.vouchers.iter().find(|(id, _)| *id == voucher.id) {
            return out.write_raw("voucher", json);
        }
        // A coupon spends no units.
        let spent = part.redemption.spent.map_or(0, SpentUnits::amount);
        let lower = |count: Option<u64>, by: u64| count.map(|count| count.remaining_after(by));
        let higher = |left: Option<u64>| left.filter(|_| spent > 0).and_then(|left| left.checked_add(spent));
        let counts = [
            ("redeemed_quantity", lower(voucher.redeemed_quantity, 1)),
            ("redeemed_amount", lower(voucher.redeemed_amount, spent)),
            ("redeemed_points", lower(voucher.redeemed_points, spent)),
        ];
        let blocks: [(&str, &[Count<'_>]); 3] = [
            ("redemption", &counts),
            ("gift", &[("balance", higher(voucher.credits))]),
            ("loyalty_card", &[("balance", higher(voucher.points))]),
        ];
        let stored_voucher = part.redemption.document.get("voucher");
        out.member("voucher").object(|out| {
            for (name, value) in members(stored_voucher).filter(|(name, _)| *name != "updated_at") {
                let block = blocks.iter().find(|(block, _)| *block == name).map(|(_, counts)| *counts);
                match (block, value) {
                    (Some(counts), Node::Object(_)) => out.pair(name, |out| write_with_counts(out, value, counts)),
                    _ => out.pair(name, |out| out.value(value)),
                }
            }
            out.write_text("updated_at", &self.rolled_back.date.text());
        });
    }
}

/// Writes a member of the redemption's record, or null.
fn write_stored(out: &mut Writer, part: &UndonePart, name: &'static str) {
    out.member(name).value(part.redemption.document.get(name).unwrap_or(&Node::Null));
}

/// Writes refunded units as a negative amount.
fn write_refunded_units(out: &mut Writer, spent: SpentUnits) {
    // The rollback refuses an amount beyond 63 bits (`SummaryDelta::refunded`).
    let back = spent.amount().cast_signed().wrapping_neg();
    out.member("amount").integer(back);
    let (block, name) = match spent {
        SpentUnits::Credits(_) => ("gift", "amount"),
        SpentUnits::Points(_) => ("loyalty_card", "points"),
    };
    out.member(block).object(|out| out.member(name).integer(back));
}

/// Returns the members of an object.
fn members<'n>(of: Option<&'n Node<'_>>) -> impl Iterator<Item = (&'n str, &'n Node<'n>)> {
    let members = if let Some(Node::Object(members)) = of { members.as_slice() } else { &[] };
    members.iter().map(|(name, value)| (name.as_ref(), value))
}

/// Writes an object with replaced counts.
fn write_with_counts(out: &mut Writer, object: &Node<'_>, counts: &[Count<'_>]) {
    let count_of = |name: &str| counts.iter().find(|(known, _)| *known == name).and_then(|(_, count)| *count);
    out.object(|out| {
        for (name, value) in members(Some(object)) {
            match count_of(name) {
                Some(count) => out.pair(name, |out| out.number(count)),
                None => out.pair(name, |out| out.value(value)),
            }
        }
    });
}

/// Returns the record of the redemption after its rollback.
fn print_undone(part: &UndonePart, rolled_back: &RollbackDecision) -> String {
    let document = &part.redemption.document;
    let related = document.get("related_redemptions");
    Writer::record_of(|out| {
        out.object(|out| {
            for (name, value) in document.iter().filter(|(name, _)| !matches!(*name, "status" | "related_redemptions"))
            {
                out.pair(name, |out| out.value(value));
            }
            out.write_constant("status", "ROLLED_BACK");
            out.member("related_redemptions").object(|out| {
                for (name, value) in members(related).filter(|(name, _)| *name != "rollbacks") {
                    out.pair(name, |out| out.value(value));
                }
                let earlier = related.and_then(|related| related.get("rollbacks")).and_then(Node::as_list);
                out.member("rollbacks").list(|out| {
                    earlier.into_iter().flatten().for_each(|rollback| out.item().value(rollback));
                    out.item().object(|out| {
                        out.write_text("id", &part.id);
                        out.write_text("date", &rolled_back.date.text());
                        out.constant_if("rollback_order_mode", name_of(ROLLBACK_MODES, rolled_back.mode));
                    });
                });
            });
        });
    })
}

fn print_order(order: &Order, rolled_back: &RollbackDecision) -> String {
    let (cart, priced) = (Cart::stored(order), PricedOrder::default());
    let undone = rolled_back.parent.as_ref().or(rolled_back.parts.first());
    let entry = undone.and_then(|part| {
        let id = &part.redemption.id;
        let entry = order.redemptions.get(id).filter(|entry| matches!(entry, Node::Object(_)))?;
        Some((id, print_entry(entry, part, rolled_back)))
    });
    let record = OrderRecord {
        view: OrderView::new(order, &priced, &cart, AppliedScope::Nothing),
        updated_at: Some(rolled_back.date),
        customer_id: order.customer_id.as_ref(),
        entry,
        with_parties: true,
    };
    Writer::record_of(|out| record.write(out))
}

/// Returns the entry of the redemption in the history of its order, after the rollback.
fn print_entry(entry: &Node<'_>, part: &UndonePart, rolled_back: &RollbackDecision) -> String {
    let ours = ["rollback_id", "rollback_date", "rollback_stacked"];
    Writer::record_of(|out| {
        out.object(|out| {
            for (name, value) in members(Some(entry)).filter(|(name, _)| !ours.contains(name)) {
                out.pair(name, |out| out.value(value));
            }
            out.write_text("rollback_id", &part.id);
            out.write_text("rollback_date", &rolled_back.date.text());
            if rolled_back.parent.is_some() {
                out.member("rollback_stacked").list(|out| {
                    rolled_back.parts.iter().for_each(|part| out.item().text(&part.id));
                });
            }
        });
    })
}
