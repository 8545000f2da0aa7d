//! Webhook subscriptions of a project, and the secret that signs its deliveries.

use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes;
use crate::http::caller::WebhookSecret;
use crate::http::list_options::List;
use crate::http::route::{Call, Resource};
use crate::store::Store;
use crate::store::sql::Fault;
use crate::store::webhooks::outbox::{self, TOKEN, WEBHOOK as KIND};

/// Maximum number of webhooks of a project: each gets its own copy of every delivery.
pub const WEBHOOKS_MAX: usize = 20;

/// Webhooks as a resource.
pub const WEBHOOK: Resource = Resource {
    object: KIND,
    shape: shapes::project::WEBHOOK.described(),
    parameter: "webhookId",
    key: plain_key,
    to_json: bodies_to_json,
    list: List { data_ref: "data", page_max: 1, orders: &[], filters: &[], conditions: &[] },
};

/// Misspelled event names of the published description: both spellings are accepted, the correct one is sent.
const FORMER_NAMES: &[(&str, &str)] = &[
    ("campaign.vouchers.aded", "campaign.vouchers.added"),
    ("voucher.gift.balance_aded", "voucher.gift.balance_added"),
    ("voucher.loyalty_card.points_aded", "voucher.loyalty_card.points_added"),
    ("voucher.loyalty_card.pending_points.aded", "voucher.loyalty_card.pending_points.added"),
];

/// Returns the correct name of an event.
pub fn current_name(name: &str) -> &str {
    FORMER_NAMES.iter().find(|(wrong, _)| *wrong == name).map_or(name, |(_, right)| right)
}

/// Names of the events to which a webhook can subscribe.
pub const NAMES: &[&str] = &[
    "business_validation_rule.assignment.created",
    "business_validation_rule.assignment.deleted",
    "business_validation_rule.created",
    "business_validation_rule.deleted",
    "business_validation_rule.updated",
    "campaign.created",
    "campaign.deleted",
    "campaign.disabled",
    "campaign.earning_rule.assigned",
    "campaign.earning_rule.deleted",
    "campaign.earning_rule.disabled",
    "campaign.earning_rule.enabled",
    "campaign.earning_rule.updated",
    "campaign.enabled",
    "campaign.loyalty_tier.created",
    "campaign.loyalty_tier.deleted",
    "campaign.loyalty_tier.updated",
    "campaign.promotion_stack.created",
    "campaign.promotion_stack.updated",
    "campaign.promotion_tier.created",
    "campaign.promotion_tier.deleted",
    "campaign.promotion_tier.disabled",
    "campaign.promotion_tier.enabled",
    "campaign.promotion_tier.updated",
    "campaign.referral_tier.created",
    "campaign.referral_tier.deleted",
    "campaign.referral_tier.updated",
    "campaign.reward.assignment.created",
    "campaign.reward.assignment.deleted",
    "campaign.reward.assignment.updated",
    "campaign.updated",
    "campaign.vouchers.added",
    "campaign.vouchers.aded",
    "campaign.vouchers.generation.completed",
    "campaign.vouchers.generation.failed",
    "campaign.vouchers.generation.started",
    "customer.confirmed",
    "customer.created",
    "customer.deleted",
    "customer.rewarded",
    "customer.rewarded.loyalty_points",
    "customer.updated",
    "order.updated",
    "publication.succeeded",
    "redemption.failed",
    "redemption.rollback.failed",
    "redemption.rollback.succeeded",
    "redemption.succeeded",
    "voucher.created",
    "voucher.deleted",
    "voucher.disabled",
    "voucher.enabled",
    "voucher.gift.balance_added",
    "voucher.gift.balance_aded",
    "voucher.gift.transaction.created",
    "voucher.loyalty_card.pending_points.activated",
    "voucher.loyalty_card.pending_points.added",
    "voucher.loyalty_card.pending_points.aded",
    "voucher.loyalty_card.pending_points.canceled",
    "voucher.loyalty_card.pending_points.updated",
    "voucher.loyalty_card.points_added",
    "voucher.loyalty_card.points_aded",
    "voucher.loyalty_card.points_expired",
    "voucher.loyalty_card.transaction.created",
    "voucher.published",
    "voucher.updated",
];

/// Path under which the entry sends a project's object its webhook secret; no route uses it.
pub const WEBHOOK_TOKEN_PATH: &str = "/internal/webhook-token";

/// Stores the secret that signs the project's deliveries: that of the directory, else one that the database generates,
/// because event seeds may be public. It is stored because deliveries are sent without a caller.
pub fn store_token(call: &mut Call<'_, '_>) -> Result<(), Fault> {
    if let Some(signing) = &call.caller.signing {
        store_secret(call.store, &call.caller.project, signing, call.context.now.millis());
    } else if call.store.document("secret", TOKEN)?.is_none() {
        outbox::insert_token(call.store, &call.caller.project, call.context.now.millis());
    }
    Ok(())
}

/// Signs the project's deliveries with this secret from now on, unless a newer one is stored.
pub fn store_secret(store: &mut Store<'_>, project: &str, signing: &WebhookSecret, now_ms: i64) {
    outbox::update_token(store, project, &signing.token, signing.since_ms, now_ms);
}
