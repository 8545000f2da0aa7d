//! Finds, converts and deletes earning rules of loyalty campaigns (v1).

use crate::documents::resource::plain_key;
use crate::documents::shapes;
use crate::domain::campaigns::campaign::find_loyalty_campaign;
use crate::domain::validation_rules::assignments;
use crate::http::list_options::List;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use crate::store::records::AssignmentRecord;
use serde_json::Value as Json;

/// Earning rules as a resource: the parent is the campaign.
pub const CAMPAIGN_RULE: Resource = Resource {
    object: "earning_rule",
    shape: shapes::campaign_earning_rules::CAMPAIGN_RULE.described(),
    parameter: "earningRuleId",
    key: plain_key,
    to_json,
    list: List {
        data_ref: "data",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at")],
        filters: &[],
        conditions: &[],
    },
};

/// Returns rules with the validation rule that is assigned to each.
pub fn to_json(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let mut assigned = assignments::load_json(call, &documents)?;
    let rules = documents.into_iter().map(|document| {
        let first = assigned.remove(&document.id).unwrap_or_default().into_iter().next();
        rule_to_json(
            document,
            first.and_then(|assignment| AssignmentRecord::of_value(&assignment).rule_id().cloned()).unwrap_or_default(),
        )
    });
    Ok(rules.collect())
}

/// Returns a rule with its validation rule.
pub fn rule_to_json(document: Document, validation_rule_id: Json) -> Json {
    let mut body = document.body;
    body.insert("validation_rule_id".into(), validation_rule_id);
    Json::Object(body)
}

/// Finds the rule that the path names, in the campaign that it names.
pub fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let loyalty_campaign = find_loyalty_campaign(call)?;
    let rule = CAMPAIGN_RULE.find(call)?;
    match rule.parent.as_ref() == Some(&loyalty_campaign.id) {
        true => Ok(rule),
        false => Err(not_found(CAMPAIGN_RULE.object, &rule.id).into()),
    }
}

/// Queues the deletion of the rules of a deleted campaign.
pub fn delete_all(call: &mut Call<'_, '_>, campaign_id: &str) {
    call.store.delete_campaign_earning_rules(campaign_id);
}
