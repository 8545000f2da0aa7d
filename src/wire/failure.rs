//! Decides what is said and what is kept of a redemption that failed: who asked for what, of how much, and why not. It must
//! not know for how long.
//!
//! calculation.md section 14, objects.md section 11.

use crate::decide::redeem::{Failure, Redeemed};
use crate::decide::rollback::RollBack;
use crate::facts::Offer;
use crate::id::Context;
use crate::json::Node;
use crate::model::incentive::IncentiveObject;
use crate::model::order::Metadata;
use crate::model::redemption::PastRedemption;
use crate::model::request::RedeemableObject;
use crate::refusal::Reason;
use crate::stacking::Outcome;
use crate::text::Text;
use crate::time::Instant;
use crate::wire::error;
use crate::wire::record::{Common, Record, Written, object_name, put_reference};
use crate::wire::writer::Writer;

/// Bytes of metadata, written as JSON, that a failure keeps.
const METADATA_MAX: usize = 1_000;

/// The metadata that a failure keeps: all of it where it is short, or else none. Whoever fails again and again must not
/// fill the disk with what is sent along.
fn put_metadata(out: &mut Writer, metadata: &Metadata) {
    let printed = Writer::record_of(|out| out.metadata(metadata));
    out.put_raw("metadata", if printed.len() <= METADATA_MAX { &printed } else { "{}" });
}

/// A failed redemption: the error for the caller, and the record of it, with a hash of the order where one was sent.
pub fn write_failure(
    redeemed: &Redeemed<'_>,
    failure: &Failure,
    context: &Context,
    order_hash: Option<&str>,
) -> Written {
    let Failure { id, told: refusal, reason } = failure;
    let evaluated = &redeemed.evaluated;
    let refused = evaluated.walk.steps.iter().find(|step| matches!(step.outcome, Outcome::Refused(_)));
    let step = refused.or(evaluated.walk.steps.first());
    let offer = step.and_then(|step| evaluated.meant(step));
    let asked = step.and_then(|step| evaluated.redeemable(step)).or(evaluated.request.redeemables.first());
    // Whoever asks for a stack does not ask for its tiers.
    let stack = evaluated.stack.as_ref().map(|id| (RedeemableObject::PromotionStack, id));
    let common = Common {
        id,
        date: redeemed.date,
        customer_id: redeemed.customer_id.as_ref(),
        tracking_id: evaluated.tracking_id.as_ref(),
        channel_id: &evaluated.request.channel.id,
        session: evaluated.request.session.as_ref().and_then(|session| session.key.as_ref()),
    };
    // What every failure keeps: of the order the amount, of the customer the id.
    let amount = evaluated.order.as_ref().and(evaluated.priced.cart.amount);
    let text = Writer::record_of(|out| {
        out.object(|out| {
            common.put(out);
            out.member("redemption").null();
            out.put_word("result", "FAILURE");
            out.put_word("status", "FAILED");
            put_metadata(out, &evaluated.request.metadata);
            put_reference(out, "customer", redeemed.customer_id.as_ref());
            out.member("order").null();
            out.money_if("order_amount", amount);
            out.text_if("order_hash", order_hash);
            out.put_word("failure_code", reason.key());
            out.put_text("failure_message", reason.message());
            if let Some((object, id)) = stack.or(asked.map(|asked| (asked.object, &asked.id))) {
                out.member("redeemable").object(|out| {
                    out.put_word("object", object.name());
                    out.put_text("id", id);
                });
            }
            match offer {
                Some(offer) => put_offer(out, offer),
                None => {
                    out.put_word("related_object_type", "redemption");
                    out.put_text("related_object_id", id);
                }
            }
        });
    });
    let told = match refusal.resource() {
        Some(_) => refusal.clone(),
        None => refusal.clone().about("redemption", id),
    };
    let answer = error::write(&told, &context.request_id());
    let parent = offer.map(|offer| offer.incentive.id.clone());
    let record = Record { kind: "redemption", id: id.clone(), parent, holder: redeemed.customer_id.clone(), text };
    Written { status: refusal.reason.code(), answer, records: vec![record] }
}

/// Writes what was asked for into the object that is open: the voucher or the tier by its names.
fn put_offer(out: &mut Writer, offer: &Offer<'_>) {
    let incentive = &offer.incentive;
    let kind = object_name(incentive.object);
    out.put_word("related_object_type", kind);
    out.put_text("related_object_id", &incentive.id);
    out.member(kind).object(|out| {
        out.put_text("id", &incentive.id);
        out.text_or_null("campaign_id", incentive.campaign_id.as_ref());
        match incentive.object {
            IncentiveObject::PromotionTier => {
                out.text_or_null("name", incentive.tier.as_ref().map(|tier| &tier.name));
            }
            IncentiveObject::Voucher => {
                out.put_text("code", &incentive.code);
                out.text_or_null("campaign", offer.campaign.as_ref().map(|campaign| &campaign.name));
            }
        }
        out.put_word("object", kind);
    });
}

/// The record of a rollback that was refused.
pub fn record_refused(id: &Text, past: &PastRedemption, request: &RollBack, reason: Reason, date: Instant) -> Record {
    let text = Writer::record_of(|out| {
        out.object(|out| {
            out.put_text("id", id);
            out.put_word("object", "redemption_rollback");
            out.put_text("date", &date.text());
            out.text_or_null("customer_id", past.customer_id.as_ref());
            put_metadata(out, &request.metadata);
            out.put_text("redemption", &past.id);
            out.text_or_null("reason", request.reason.as_ref());
            out.put_word("result", "FAILURE");
            out.put_word("status", "FAILED");
            out.put_word("failure_code", reason.key());
            out.put_text("failure_message", reason.message());
            out.member("order").null();
            put_reference(out, "customer", past.customer_id.as_ref());
            for name in ["tracking_id", "channel", "related_object_type", "related_object_id"] {
                out.member(name).value(past.document.get(name).unwrap_or(&Node::Null));
            }
        });
    });
    let (parent, holder) = (past.redeemed.clone(), past.customer_id.clone());
    Record { kind: "redemption", id: id.clone(), parent, holder, text }
}
