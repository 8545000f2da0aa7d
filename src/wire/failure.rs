//! Decides what is said and what is kept of a redemption that failed: who asked for what, of how much, and why not. It must
//! not know for how long.
//!
//! calculation.md section 14, objects.md section 11.

use serde_json::{Map, Value, json};

use crate::decide::redeem::{Failure, Redeemed};
use crate::id::Context;
use crate::model::incentive::IncentiveObject;
use crate::model::order::Metadata;
use crate::stacking::Outcome;
use crate::text::Text;
use crate::wire::error;
use crate::wire::redemption::{Document, Written, common, object_name, value};

/// Bytes of metadata, written as JSON, that a failure keeps.
const METADATA_MAX: usize = 1_000;

/// The metadata that a failure keeps: all of it where it is short, or else none. Whoever fails again and again must not
/// fill the disk with what is sent along.
pub fn kept_metadata(metadata: &Metadata) -> Value {
    let metadata = value(metadata);
    if metadata.to_string().len() <= METADATA_MAX { metadata } else { json!({}) }
}

/// The customer that a failure names: by the id alone.
pub fn kept_customer(id: Option<&str>) -> Value {
    id.map_or(Value::Null, |id| json!({ "id": id, "object": "customer" }))
}

/// A failed redemption: the error for the caller, and the record of it.
pub(super) fn write_failure(redeemed: &Redeemed<'_>, failure: &Failure, context: &Context) -> Written {
    let Failure { id, told: refusal, reason } = failure;
    let evaluated = &redeemed.evaluated;
    let refused = evaluated.walk.steps.iter().find(|step| matches!(step.outcome, Outcome::Refused(_)));
    let step = refused.or(evaluated.walk.steps.first());
    let voucher =
        step.and_then(|step| evaluated.meant(step)).map(|offer| (&*offer.incentive, offer.campaign.as_deref()));
    let mut body = record(redeemed, id);
    body.insert("failure_code".into(), reason.key().into());
    body.insert("failure_message".into(), reason.message().into());
    let asked = step.and_then(|step| evaluated.redeemable(step)).or(evaluated.request.redeemables.first());
    if let Some(asked) = asked {
        body.insert("redeemable".into(), json!({ "object": asked.object.name(), "id": asked.id }));
    }
    let related = match voucher {
        Some((incentive, _)) => (object_name(incentive), &incentive.id),
        None => ("redemption", id),
    };
    body.insert("related_object_type".into(), related.0.into());
    body.insert("related_object_id".into(), value(related.1));
    if let Some((tier, _)) = voucher.filter(|(incentive, _)| incentive.object == IncentiveObject::PromotionTier) {
        let name = tier.tier.as_ref().map(|tier| &tier.name);
        let shown = json!({ "id": tier.id, "name": name, "campaign_id": tier.campaign_id, "object": "promotion_tier" });
        body.insert("promotion_tier".into(), shown);
    } else if let Some((voucher, campaign)) = voucher {
        let name = campaign.map(|campaign| &campaign.name);
        let shown = json!({ "id": voucher.id, "code": voucher.code, "campaign": name, "campaign_id": voucher.campaign_id, "object": "voucher" });
        body.insert("voucher".into(), shown);
    }
    let request_id = context.request_id();
    let told = match refusal.resource() {
        Some(_) => refusal.clone(),
        None => refusal.clone().about("redemption", id),
    };
    let answer = error::write(&told, &request_id).to_json();
    let parent = voucher.map(|(voucher, _)| voucher.id.clone());
    let document = Document { kind: "redemption", id: id.clone(), parent, holder: redeemed.customer_id.clone(), body };
    Written { status: refusal.reason.code(), answer, documents: vec![document] }
}

/// What every failure keeps: of the order the amount, of the customer the id.
fn record(redeemed: &Redeemed<'_>, id: &Text) -> Map<String, Value> {
    let evaluated = &redeemed.evaluated;
    let mut body = common(redeemed, id);
    body.insert("result".into(), "FAILURE".into());
    body.insert("status".into(), "FAILED".into());
    body.insert("metadata".into(), kept_metadata(&evaluated.request.metadata));
    body.insert("customer".into(), kept_customer(redeemed.customer_id.as_deref()));
    body.insert("order".into(), Value::Null);
    if let Some(amount) = evaluated.order.as_ref().and(evaluated.priced.cart.amount) {
        body.insert("order_amount".into(), amount.minor().into());
    }
    body
}
