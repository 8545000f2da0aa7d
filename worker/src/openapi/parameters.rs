//! The parameters of paths in the API description: a text for each name. Does not depend on any operation.

/// Texts of parameters: the name, the prefix of the paths for which the text is valid, and the text. The first match counts.
const PARAMETERS: &[(&str, &str, &str)] = &[
    ("assetId", "", "Signed ID of the image, as `assets` of the voucher contains it."),
    ("assignmentId", "/v1/validation-rules", "ID of the assignment of the validation rule."),
    ("assignmentId", "", "ID of the reward assignment."),
    ("asyncActionId", "", "ID of the async action, as `async_action_id` of the response that started it."),
    ("benefitId", "", "ID of the benefit."),
    ("binEntryId", "", "ID of the entry of the trash bin."),
    ("brandingId", "", "ID of the brand."),
    ("bucketId", "", "ID of the bucket of points."),
    ("bucket", "", "Number of the goods bucket, from 0."),
    ("campaignId", "/v1/loyalties", "ID or name of the loyalty campaign."),
    ("campaignId", "", "ID or name of the campaign."),
    ("campaignTemplateId", "", "ID or name of the campaign template."),
    ("cardDefinitionId", "", "ID of the card definition."),
    ("cardId", "", "ID of the member card."),
    ("categoryId", "", "ID or name of the category."),
    ("code", "/v1/campaigns", "Code of the new voucher."),
    ("code", "", "Code or ID of the voucher; on creation, the code of the new voucher."),
    ("customEventSchemaId", "", "ID or name of the schema of custom events."),
    (
        "customerId",
        "/v2/loyalties/",
        "ID of the customer, or the other name that the parameter `identification_type` selects.",
    ),
    ("customerId", "", "ID or `source_id` of the customer."),
    ("earningRuleId", "", "ID of the earning rule."),
    ("exportId", "", "ID of the export."),
    ("holderId", "", "ID of the holder of the referral code."),
    ("incentiveId", "", "ID of the incentive."),
    ("keyId", "", "ID of the key, as `id` in the list of keys. The public ID `app_id` is not accepted."),
    ("locationId", "", "ID of the location."),
    ("loyaltyTierId", "", "ID of the loyalty tier."),
    ("memberId", "/v1/referrals", "Referral code, or the ID of its voucher."),
    ("memberId", "/v1/", "Code of the loyalty card, or the ID of its voucher."),
    ("memberId", "", "ID of the member."),
    ("metadataSchemaId", "", "ID of the metadata schema, or its `related_object`."),
    ("orderId", "", "ID or `source_id` of the order."),
    ("parentRedemptionId", "", "ID of the parent redemption of redeemables that were redeemed together."),
    ("pendingPointsId", "", "ID of the entry of pending points."),
    ("productCollectionId", "", "ID of the product collection."),
    ("productId", "", "ID or `source_id` of the product."),
    ("programId", "", "ID of the loyalty program."),
    (
        "hash",
        "",
        "SHA-256 of the bytes in 64 lower-case hexadecimal digits, as `core` of the head or `parts` of an index names it.",
    ),
    ("projectId", "/client/v1/bundle", "ID of the project, as `iss` of the head names it."),
    ("projectId", "", "ID of the project. The key must belong to the project or manage it."),
    ("promotionTierId", "", "ID of the promotion tier."),
    ("redemptionId", "", "ID of the redemption."),
    ("resource", "", "Type of the resource, as `related_object` of the schema, or the ID of the schema."),
    ("rewardId", "", "ID of the reward."),
    ("rewardTransactionId", "", "ID of the reward transaction that records the purchase."),
    ("segmentId", "", "ID of the segment."),
    ("sessionKey", "", "Key of the session that holds the lock."),
    ("skuId", "", "ID or `source_id` of the SKU."),
    ("root", "", "Root of the tree of goods buckets, as the claim `goods` of the head has it."),
    ("stackId", "", "ID of the promotion stack."),
    ("stackingRulesId", "", "ID of the stacking rules."),
    ("tierId", "/v1/promotions", "ID of the promotion tier."),
    ("tierId", "", "ID of the tier."),
    ("tierStructureId", "", "ID of the tier structure."),
    ("userId", "", "ID of the user."),
    ("validationRuleId", "", "ID of the validation rule."),
    ("webhookId", "", "ID of the webhook."),
];

/// Returns the text of a parameter of a path; empty where there is none.
pub fn description(path: &str, parameter: &str) -> &'static str {
    let fits = |(name, start, _): &&(&str, &str, &str)| *name == parameter && path.starts_with(start);
    PARAMETERS.iter().find(fits).map_or("", |(_, _, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::description;
    use crate::routes::AREAS;

    #[test]
    fn every_parameter_of_a_path_has_a_text() {
        for route in AREAS.iter().flat_map(|area| area.iter()).filter(|route| !route.path.starts_with("/test-hooks/")) {
            for name in route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
                assert!(!description(route.path, name).is_empty(), "{name} of {} has no text", route.path);
            }
        }
    }
}
