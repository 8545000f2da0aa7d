//! Tests that a redeemable which qualifies singly is one that a validation of it alone would apply, with the same order.

use crate::shops::checks::{TrialReport, validated};
use crate::shops::compare;
use crate::shops::model::{self, Status};
use crate::shops::shop::Shop;
use serde_json::{Value as Json, json};

/// Returns the candidates of a qualification, and the redeemable that is validated for each.
fn candidates(shop: &Shop) -> Vec<(Json, Json)> {
    let mut list = Vec::new();
    for voucher in &shop.book.vouchers {
        let campaign = shop.book.campaigns.iter().find(|campaign| campaign["id"] == voucher["campaign_id"]);
        let asked = json!({ "object": "voucher", "id": voucher["code"] });
        match campaign {
            // Codes of a campaign without a holder are listed as the campaign.
            Some(campaign) if campaign["type"] != "STANDALONE" => {
                let code = voucher["code"].as_str().unwrap();
                let fresh = !shop.book.redeemed.iter().any(|(redeemed, ..)| redeemed == code);
                // The first code is as the campaign created it, unless it was used.
                if fresh && code.ends_with("-0") {
                    list.push((campaign["id"].clone(), asked));
                }
            }
            _ => list.push((voucher["code"].clone(), asked)),
        }
    }
    list.extend(
        shop.book
            .tiers
            .iter()
            .map(|tier| (tier["id"].clone(), json!({ "object": "promotion_tier", "id": tier["id"] }))),
    );
    list
}

pub fn qualifies(shop: &mut Shop, request: &Json, report: &mut TrialReport) -> Result<(), String> {
    let mut asked = request.clone();
    asked.as_object_mut().unwrap().remove("redeemables");
    asked["options"] = json!({ "limit": 50 });
    let answer = shop.desk.ask("POST /v1/qualifications", &asked);
    let fault = |text: String| Err(format!("alone: {text}\n  POST /v1/qualifications {asked}"));
    if answer.status != 200 {
        return fault(format!("status {}: {}", answer.status, answer.json));
    }
    let found = answer.json["redeemables"]["data"].as_array().unwrap();
    for (name, redeemable) in candidates(shop) {
        // A qualification leaves out counts of customers and, without a customer, all rules that read one (section 13).
        let (customer, counts) = model::looks_at(&shop.book, &redeemable);
        if counts || (customer && request["customer"].is_null()) {
            continue;
        }
        let mut alone = request.clone();
        alone["redeemables"] = json!([redeemable]);
        let outcome = validated(shop, &alone)?;
        let verdict = &outcome.verdicts[0];
        let listed = found.iter().find(|one| one["id"] == name);
        let applies = verdict.status == Status::Applicable;
        report.reach(if applies { "qualifies" } else { "does not qualify" });
        if listed.is_some() != applies {
            return fault(format!("{name} is {:?} alone and listed: {}\n  {alone}", verdict.status, listed.is_some()));
        }
        if let Some(listed) = listed {
            let got = compare::amounts(&listed["order"]);
            if let Some(wrong) = compare::order_difference(verdict.order.as_ref(), Some(&got)) {
                return fault(format!("the order of {name}: {wrong}\n  {alone}"));
            }
        }
    }
    Ok(())
}
