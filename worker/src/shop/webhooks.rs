//! Webhooks: who is to be told of what, and the secret by which receivers know us. It must not know when anything happens, nor how it
//! is sent.

use crate::document::resource::{plain_key, show_body};
use crate::document::shapes;
use crate::http::caller::Signing;
use crate::http::listing::List;
use crate::http::route::{Call, Resource};
use crate::store::Store;
use crate::store::sql::Fault;
use crate::work::outbox::{TOKEN, WEBHOOK as KIND};

/// Webhooks of a project, at most: each has a copy of every letter.
pub const WEBHOOKS_MAX: usize = 20;

/// Webhooks as a resource.
pub const WEBHOOK: Resource = Resource {
    object: KIND,
    shape: shapes::project::WEBHOOK.described(),
    parameter: "webhookId",
    key: plain_key,
    show: show_body,
    list: List { data_ref: "data", page_max: 1, orders: &[], filters: &[], conditions: &[] },
};

/// The names of events that the published description writes otherwise: both are taken, and the right one is told.
const MISSPELT: &[(&str, &str)] = &[
    ("campaign.vouchers.aded", "campaign.vouchers.added"),
    ("voucher.gift.balance_aded", "voucher.gift.balance_added"),
    ("voucher.loyalty_card.points_aded", "voucher.loyalty_card.points_added"),
    ("voucher.loyalty_card.pending_points.aded", "voucher.loyalty_card.pending_points.added"),
];

/// The right name of an event.
pub fn spelt(name: &str) -> &str {
    MISSPELT.iter().find(|(wrong, _)| *wrong == name).map_or(name, |(_, right)| right)
}

/// What a webhook may be told of, as it is sent.
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

/// Where the entry tells a project's object what signs its webhooks; no route leads there.
pub const SIGNED: &str = "/internal/webhook-token";

/// Sees to it that the project has a secret by which receivers know it: the one that the directory has, else one that the database draws,
/// as the seed of an event may be told to a page. It is kept here because whoever delivers has no caller.
pub fn keep_token(call: &mut Call<'_, '_>) -> Result<(), Fault> {
    if let Some(signing) = &call.caller.signing {
        sign_with(call.store, &call.caller.project, signing, call.context.now.millis());
    } else if call.store.document("secret", TOKEN)?.is_none() {
        call.store.write(
            "INSERT INTO document (kind, id, created_at, body)
             VALUES ('secret', ?1, ?2, json_object('secret', 'whtk_' || lower(hex(randomblob(32))), 'project', ?3))
             ON CONFLICT (kind, id) DO NOTHING",
            vec![TOKEN.into(), call.now_ms().into(), call.caller.project.as_str().into()],
        );
    }
    Ok(())
}

/// Signs from now on what the project tells with a secret, where none that was drawn later does.
pub fn sign_with(store: &mut Store<'_>, project: &str, signing: &Signing, now_ms: i64) {
    let since = signing.since_ms.into();
    store.write(
        "INSERT INTO document (kind, id, created_at, body)
         VALUES ('secret', ?1, ?2, json_object('secret', ?3, 'project', ?4, 'since_ms', ?5))
         ON CONFLICT (kind, id) DO UPDATE SET updated_at = ?2, body = excluded.body
         WHERE COALESCE(json_extract(body, '$.since_ms'), 0) <= ?5",
        vec![TOKEN.into(), now_ms.into(), signing.token.as_str().into(), project.into(), since],
    );
}
