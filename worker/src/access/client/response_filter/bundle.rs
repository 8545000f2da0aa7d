//! Disclosure of a bundle: the members of the rules that a decision reads, and no others.
//!
//! The engine has to know which facts a bundle omits: metadata that is not public is removed here, and is unknown in the engine.

use super::disclosure::DisclosedMetadata;
use super::disclosure::Disclosure::{self, All, Metadata, NonNull, These};
use scrip::wire::voucher::campaign_fields::IN_BUNDLES;

const CAMPAIGN: Disclosure = NonNull(&disclosed::<{ IN_BUNDLES.len() }>(IN_BUNDLES));

/// Discloses all of each member.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
const fn disclosed<const N: usize>(names: &[&'static str]) -> [(&'static str, Disclosure); N] {
    let mut all = [const { ("", All) }; N];
    let mut place = 0;
    while place < N {
        all[place].0 = names[place];
        place += 1;
    }
    all
}

/// A voucher without a count: a public one in the core, a sealed one in its box.
const VOUCHER: Disclosure = with_windows!(
    NonNull,
    ("id", All),
    ("code", All),
    ("type", All),
    ("discount", All),
    ("gift", NonNull(&[("amount", All), ("effect", All)])),
    ("campaign_id", All),
    ("category_id", All),
    ("redemption", These(&[("quantity", All)])),
    ("metadata", Metadata(DisclosedMetadata::Voucher)),
    ("object", All),
);

/// A voucher of the customer that a supplement is for, with its code.
const OWN_VOUCHER: Disclosure = with_windows!(
    NonNull,
    ("id", All),
    ("code", All),
    ("type", All),
    ("discount", All),
    ("gift", NonNull(&[("amount", All), ("effect", All)])),
    ("loyalty_card", NonNull(&[("points", All)])),
    ("campaign_id", All),
    ("category_id", All),
    ("holder_id", All),
    ("referrer_id", All),
    ("is_referral_code", All),
    ("redemption", These(&[("quantity", All)])),
    ("metadata", Metadata(DisclosedMetadata::Voucher)),
    ("created_at", All),
    ("object", All),
);

const TIER: Disclosure = with_windows!(
    NonNull,
    ("id", All),
    ("name", All),
    ("banner", All),
    ("action", All),
    ("hierarchy", All),
    ("campaign_id", All),
    ("promotion_id", All),
    ("category_id", All),
    ("metadata", Metadata(DisclosedMetadata::Campaign)),
    ("created_at", All),
    ("object", All),
);

const STACK: Disclosure = NonNull(&[
    ("id", All),
    ("name", All),
    ("campaign_id", All),
    ("category_id", All),
    ("tiers", NonNull(&[("ids", All)])),
    ("created_at", All),
    ("object", All),
]);

const CATEGORY: Disclosure = NonNull(&[
    ("id", All),
    ("name", All),
    ("hierarchy", All),
    ("created_at", All),
    ("updated_at", All),
    ("object", All),
]);

/// A product or SKU: the members that prices and rules read.
const GOODS: Disclosure = NonNull(&[
    ("id", All),
    ("source_id", All),
    ("product_id", All),
    ("name", All),
    ("sku", All),
    ("price", All),
    ("metadata", Metadata(DisclosedMetadata::Goods)),
    ("sets", All),
    ("out_of_sets", All),
]);

/// A goods bucket.
pub const GOODS_BUCKET: Disclosure =
    These(&[("bucket", All), ("buckets", All), ("products", GOODS), ("skus", GOODS), ("unreadable", All)]);

/// A goods bucket with its path, or the path alone.
pub const GOODS_ANSWER: Disclosure = These(&[("path", All), ("goods", GOODS_BUCKET)]);

/// A collection, with the content that the core replaces by the number of a set.
const COLLECTION: Disclosure = NonNull(&[
    ("id", All),
    ("type", All),
    ("filter", All),
    ("products", NonNull(&[("id", All), ("source_id", All), ("object", All)])),
    ("set", All),
    ("others", All),
    ("steps", All),
    ("object", All),
]);

const RULE: Disclosure = NonNull(&[
    ("id", All),
    ("rules", All),
    ("bundle_rules", All),
    ("applicable_to", All),
    ("error", NonNull(&[("message", All)])),
    ("object", All),
]);

/// Members of stacking rules that a decision reads. Change times would only give the bundle another name.
const STACKING: Disclosure = NonNull(&[
    ("exclusive_categories", All),
    ("joint_categories", All),
    ("redeemables_limit", All),
    ("applicable_redeemables_limit", All),
    ("applicable_redeemables_per_category_limit", All),
    ("applicable_redeemables_category_limits", All),
    ("applicable_exclusive_redeemables_limit", All),
    ("applicable_exclusive_redeemables_per_category_limit", All),
    ("discount_calculation_mode", All),
    ("initial_amount_mode_categories", All),
    ("discounted_amount_mode_categories", All),
    ("redeemables_application_mode", All),
    ("redeemables_sorting_rule", All),
    ("redeemables_products_application_mode", All),
    ("redeemables_no_effect_rule", All),
    ("no_effect_skip_categories", All),
    ("no_effect_redeem_anyway_categories", All),
    ("redeemables_rollback_order_mode", All),
    ("grouped_redeemables_sorting_rule", All),
]);

/// The client policy of the project, without the other settings of its setup.
const TERMS: Disclosure = These(&[
    ("customers", All),
    ("customer_fields", All),
    ("own_fields", All),
    ("order_statuses", All),
    ("reasons", All),
    ("session_seconds", All),
    ("metadata", All),
]);

const ASSIGNMENT: Disclosure = NonNull(&[("rule_id", All), ("related_object_id", All)]);

/// The documents of a supplement that are about offers.
pub const OWN_OFFERS: Disclosure = These(&[
    ("campaigns", CAMPAIGN),
    ("vouchers", OWN_VOUCHER),
    ("categories", CATEGORY),
    ("validation_rules", RULE),
    ("validation_rules_assignments", ASSIGNMENT),
]);

/// The core of a bundle, or its index.
pub const CORE: Disclosure = These(&[
    ("complete", All),
    ("counted", All),
    ("client", TERMS),
    ("case_sensitive_codes", All),
    ("named_goods", All),
    ("public_offers", All),
    ("unexamined_offers", All),
    ("new_customer", These(&[("met", All), ("unmet", All)])),
    ("metadata_schemas", All),
    ("project", These(&[("id", All)])),
    ("time_zone", All),
    ("stacking_rules", STACKING),
    ("campaigns", CAMPAIGN),
    ("vouchers", VOUCHER),
    ("promotion_tiers", TIER),
    ("promotion_stacks", STACK),
    ("categories", CATEGORY),
    ("products", GOODS),
    ("skus", GOODS),
    ("product_collections", COLLECTION),
    ("validation_rules", RULE),
    ("validation_rules_assignments", ASSIGNMENT),
    ("unreadable", All),
    ("sealed_codes", All),
    ("parts", All),
]);
