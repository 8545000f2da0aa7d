//! Writes the answer and the record of a failed redemption: the request, its amount, the customer and the reason.
//!
//! docs/spec/calculation.md#14, docs/spec/objects.md#11.

use crate::decide::redeem::{RedemptionDecision, RedemptionFailure};
use crate::decide::rollback::RollbackRequest;
use crate::facts::Offer;
use crate::id::Context;
use crate::json::Node;
use crate::model::order::Metadata;
use crate::model::redeemable::IncentiveObject;
use crate::model::redemption::StoredRedemption;
use crate::model::request::RedeemableObject;
use crate::refusal::Reason;
use crate::stacking::ApplyOutcome;
use crate::text::Text;
use crate::time::Instant;
use crate::wire::error;
use crate::wire::redemptions::record::{Common, PrintedAnswer, Record, object_name, write_reference};
use crate::wire::writer::Writer;

/// The maximum size of metadata in a failure's record, in bytes of JSON.
const METADATA_MAX: usize = 1_000;

/// Writes the metadata of a failure's record: all of it if it is short, or else none. Repeated failures must not fill
/// the disk with sent data.
fn write_metadata(out: &mut Writer, metadata: &Metadata) {
    let printed = Writer::record_of(|out| out.metadata(metadata));
    out.write_raw("metadata", if printed.len() <= METADATA_MAX { &printed } else { "{}" });
}

/// Writes a failed redemption: the error for the caller, and the record, with a hash of the order if one was sent.
pub fn write_failure(
    redeemed: &RedemptionDecision<'_>,
    failure: &RedemptionFailure,
    context: &Context,
    order_hash: Option<&str>,
) -> PrintedAnswer {
    let RedemptionFailure { id, visible_refusal: refusal, reason } = failure;
    let evaluated = &redeemed.evaluated;
    let refused = evaluated.walk.steps.iter().find(|step| matches!(step.outcome, ApplyOutcome::Refused(_)));
    let step = refused.or(evaluated.walk.steps.first());
    let offer = step.and_then(|step| evaluated.requested_offer(step));
    let redeemable = step.and_then(|step| evaluated.redeemable(step)).or(evaluated.request.redeemables.first());
    // The record names the requested stack, and not its tiers.
    let stack = evaluated.stack.as_ref().map(|id| (RedeemableObject::PromotionStack, id));
    let common = Common {
        id,
        date: redeemed.date,
        customer_id: redeemed.customer_id.as_ref(),
        tracking_id: evaluated.tracking_id.as_ref(),
        channel_id: &evaluated.request.channel.id,
        session: evaluated.request.session.as_ref().and_then(|session| session.key.as_ref()),
    };
    // Of the order every failure stores the amount, of the customer the id.
    let amount = evaluated.order.as_ref().and(evaluated.priced.cart.amount);
    let text = Writer::record_of(|out| {
        out.object(|out| {
            common.write(out);
            out.member("redemption").null();
            out.write_constant("result", "FAILURE");
            out.write_constant("status", "FAILED");
            write_metadata(out, &evaluated.request.metadata);
            write_reference(out, "customer", redeemed.customer_id.as_ref());
            out.member("order").null();
            out.money_if("order_amount", amount);
            out.text_if("order_hash", order_hash);
            out.write_constant("failure_code", reason.key());
            out.write_text("failure_message", reason.message());
            if let Some((object, id)) = stack.or(redeemable.map(|redeemable| (redeemable.object, &redeemable.id))) {
                out.member("redeemable").object(|out| {
                    out.write_constant("object", object.name());
                    out.write_text("id", id);
                });
            }
            match offer {
                Some(offer) => write_offer(out, offer),
                None => {
                    out.write_constant("related_object_type", "redemption");
                    out.write_text("related_object_id", id);
                }
            }
        });
    });
    let message = match refusal.resource() {
        Some(_) => refusal.clone(),
        None => refusal.clone().with_resource("redemption", id),
    };
    let answer = error::write(&message, &context.request_id());
    let parent = offer.map(|offer| offer.incentive.id.clone());
    let record = Record { kind: "redemption", id: id.clone(), parent, holder: redeemed.customer_id.clone(), text };
    PrintedAnswer { status: refusal.reason.code(), answer, records: vec![record] }
}

/// Writes the names of the requested voucher or tier into the open object.
fn write_offer(out: &mut Writer, offer: &Offer<'_>) {
    let incentive = &offer.incentive;
    let kind = object_name(incentive.object);
    out.write_constant("related_object_type", kind);
    out.write_text("related_object_id", &incentive.id);
    out.member(kind).object(|out| {
        out.write_text("id", &incentive.id);
        out.text_or_null("campaign_id", incentive.campaign_id.as_ref());
        match incentive.object {
            IncentiveObject::PromotionTier => {
                out.text_or_null("name", incentive.tier.as_ref().map(|tier| &tier.name));
            }
            IncentiveObject::Voucher => {
                out.write_text("code", &incentive.code);
                out.text_or_null("campaign", offer.campaign.as_ref().map(|campaign| &campaign.name));
            }
        }
        out.write_constant("object", kind);
    });
}

/// Returns the record of a refused rollback.
pub fn record_refused(
    id: &Text,
    redemption: &StoredRedemption,
    request: &RollbackRequest,
    reason: Reason,
    date: Instant,
) -> Record {
    let text = Writer::record_of(|out| {
        out.object(|out| {
            out.write_text("id", id);
            out.write_constant("object", "redemption_rollback");
            out.write_text("date", &date.text());
            out.text_or_null("customer_id", redemption.customer_id.as_ref());
            write_metadata(out, &request.metadata);
            out.write_text("redemption", &redemption.id);
            out.text_or_null("reason", request.reason.as_ref());
            out.write_constant("result", "FAILURE");
            out.write_constant("status", "FAILED");
            out.write_constant("failure_code", reason.key());
            out.write_text("failure_message", reason.message());
            out.member("order").null();
            write_reference(out, "customer", redemption.customer_id.as_ref());
            for name in ["tracking_id", "channel", "related_object_type", "related_object_id"] {
                out.member(name).value(redemption.document.get(name).unwrap_or(&Node::Null));
            }
        });
    });
    let (parent, holder) = (redemption.redeemed.clone(), redemption.customer_id.clone());
    Record { kind: "redemption", id: id.clone(), parent, holder, text }
}
