//! The earning rules of campaigns, as every area that names one finds and shows them. It must not know what is earned.

use crate::document::resource::plain_key;
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, Resource};
use crate::shop::assignments;
use crate::shop::campaigns::find_program;
use crate::store::document::Document;
use serde_json::Value as Json;

/// Earning rules as a resource: the parent is the campaign.
pub const PROGRAM_RULE: Resource = Resource {
    object: "earning_rule",
    shape: shapes::program_rules::PROGRAM_RULE.described(),
    parameter: "earningRuleId",
    key: plain_key,
    show,
    list: List {
        data_ref: "data",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at")],
        filters: &[],
        conditions: &[],
    },
};

/// Rules with the validation rule that is assigned to each.
pub fn show(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let mut assigned = assignments::assigned(call, &documents)?;
    let shown = documents.into_iter().map(|document| {
        let first = assigned.remove(&document.id).unwrap_or_default().into_iter().next();
        show_with(document, first.and_then(|assignment| assignment.get("rule_id").cloned()).unwrap_or_default())
    });
    Ok(shown.collect())
}

/// A rule with its validation rule.
pub fn show_with(document: Document, validation_rule_id: Json) -> Json {
    let mut body = document.body;
    body.insert("validation_rule_id".into(), validation_rule_id);
    Json::Object(body)
}

/// The rule that the path names, of the program that it names.
pub fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let program = find_program(call)?;
    let rule = PROGRAM_RULE.find(call)?;
    match rule.parent.as_ref() == Some(&program.id) {
        true => Ok(rule),
        false => Err(not_found(PROGRAM_RULE.object, &rule.id).into()),
    }
}

/// Removes the rules of a program that goes, at the commit.
pub fn remove_all(call: &mut Call<'_, '_>, campaign_id: &str) {
    call.store.write(
        "DELETE FROM document WHERE kind = 'validation_rules_assignment' AND parent IN
           (SELECT id FROM document WHERE kind = 'earning_rule' AND parent = +?1)",
        vec![campaign_id.into()],
    );
    call.store.write("DELETE FROM document WHERE kind = 'earning_rule' AND parent = +?1", vec![campaign_id.into()]);
}
