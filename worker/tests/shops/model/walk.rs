//! One redeemable after the other: 11.2.

use super::effect::{self, Way};
use super::gift;
use super::holds::{self, Case};
use super::order::{self, Order};
use super::scope::Scope;
use super::show::show;
use super::sorting::{self, Candidate};
use super::{Outcome, Status, Verdict};
use crate::shops::shop::Book;
use serde_json::Value as Json;

/// What one redeemable comes to on an order.
struct Applied {
    order: Order,
    some: bool,
}

pub fn walk(book: &Book, request: &Json) -> Outcome {
    let first = order::read(book, &request["order"]);
    let list = sorting::candidates(book, request);
    let exclusive = list.iter().any(|candidate| {
        candidate.is_in(&book.stacking, "exclusive_categories") && check(book, request, candidate, &first).is_ok()
    });
    let partial = book.stacking["redeemables_application_mode"] == "PARTIAL";
    let mut running = first.clone();
    let mut applied: Vec<Candidate> = Vec::new();
    let mut verdicts = Vec::new();
    let mut failed = false;
    for candidate in sorting::sort(book, list, exclusive) {
        let mut shown = None;
        let status = if excluded(book, &candidate, exclusive) {
            Status::Skipped("exclusion_rules_not_met".into())
        } else if failed && !partial {
            Status::Skipped("preceding_validation_failed".into())
        } else if let Some(key) = beyond(book, &candidate, &applied) {
            Status::Skipped(key.into())
        } else {
            match one(book, request, &candidate, &running) {
                Err(key) => {
                    failed = true;
                    Status::Inapplicable(key)
                }
                Ok(step) if !step.some && skips_no_effect(book, &candidate) => Status::Skipped("no_effect".into()),
                Ok(step) => {
                    let mut after = step.order;
                    for (at, line) in after.lines.iter_mut().enumerate() {
                        let before = running.lines.get(at).map_or(0, |line| line.discount);
                        line.touched |= line.discount > before;
                    }
                    shown = Some(show(&running, &after));
                    running = after;
                    applied.push(candidate.clone());
                    Status::Applicable
                }
            }
        };
        verdicts.push(Verdict { id: candidate.id, status, order: shown });
    }
    let valid = if partial { !applied.is_empty() } else { !failed };
    let order = valid.then(|| show(&first, &running));
    Outcome { valid, verdicts, order }
}

/// Step 5; one that does not exist is not excluded (D9).
fn excluded(book: &Book, candidate: &Candidate, exclusive: bool) -> bool {
    let stays = ["exclusive_categories", "joint_categories"].iter().any(|list| candidate.is_in(&book.stacking, list));
    exclusive && candidate.thing.is_some() && !stays
}

/// Step 7.2: the limits.
fn beyond(book: &Book, candidate: &Candidate, applied: &[Candidate]) -> Option<&'static str> {
    let rules = &book.stacking;
    let own = candidate.is_in(rules, "exclusive_categories");
    let limit = |name: &str| rules[name].as_u64().and_then(|limit| usize::try_from(limit).ok());
    let same = applied.iter().filter(|one| one.category == candidate.category && one.category.is_some()).count();
    let exclusives = applied.iter().filter(|one| one.is_in(rules, "exclusive_categories")).count();
    if applied.len() >= limit("applicable_redeemables_limit").unwrap_or(5) {
        return Some("applicable_redeemables_limit_exceeded");
    }
    if let Some(category) = &candidate.category {
        let of_it = rules["applicable_redeemables_category_limits"][category].as_u64().map(|limit| limit as usize);
        if of_it.or(limit("applicable_redeemables_per_category_limit")).is_some_and(|limit| same >= limit) {
            return Some("applicable_redeemables_per_category_limit_exceeded");
        }
    }
    if own && exclusives >= limit("applicable_exclusive_redeemables_limit").unwrap_or(1) {
        return Some("applicable_exclusive_redeemables_limit_exceeded");
    }
    let of_category = limit("applicable_exclusive_redeemables_per_category_limit");
    if own && of_category.is_some_and(|limit| same >= limit) {
        return Some("applicable_exclusive_redeemables_per_category_limit_exceeded");
    }
    None
}

fn skips_no_effect(book: &Book, candidate: &Candidate) -> bool {
    let rules = &book.stacking;
    if candidate.is_in(rules, "no_effect_redeem_anyway_categories") {
        return false;
    }
    candidate.is_in(rules, "no_effect_skip_categories") || rules["redeemables_no_effect_rule"] == "SKIP"
}

/// Step 7.3: what must be true before there is an effect.
fn check(book: &Book, request: &Json, candidate: &Candidate, order: &Order) -> Result<(), String> {
    let Some(thing) = &candidate.thing else { return Err("not_found".into()) };
    if thing["active"] == false {
        let key = if thing["action"].is_null() { "voucher_disabled" } else { "promotion_inactive" };
        return Err(key.into());
    }
    for one in [Some(thing), candidate.campaign.as_ref()].into_iter().flatten() {
        in_time(one, thing)?;
    }
    let code = thing["code"].as_str().unwrap_or_default();
    let used: Vec<i64> =
        book.redeemed.iter().filter(|(redeemed, ..)| redeemed == code).map(|(.., credits)| *credits).collect();
    if thing["redemption"]["quantity"].as_u64().is_some_and(|most| used.len() as u64 >= most) {
        return Err("quantity_exceeded".into());
    }
    if !thing["gift"].is_null() {
        gift::credits(&thing["gift"], candidate.credits, used.iter().sum())?;
    }
    holds::check(&rules(book, candidate), &case(book, request, candidate, order, None))
}

fn case<'a>(
    book: &'a Book,
    request: &'a Json,
    candidate: &'a Candidate,
    order: &'a Order,
    total_behind: Option<i128>,
) -> Case<'a> {
    let (customer, metadata) = (holds::customer(book, request), &request["metadata"]);
    Case { book, customer, metadata, order, code: &candidate.id, total_behind }
}

/// The window of a code, a tier or a campaign, asked in March 2026.
fn in_time(one: &Json, thing: &Json) -> Result<(), String> {
    let tier = !thing["action"].is_null();
    let key = |voucher: &str| if tier { "promotion_not_active_now" } else { voucher }.to_owned();
    let month = |field: &str| one[field].as_str().map(|date| date[..7].to_owned());
    if month("start_date").is_some_and(|month| month.as_str() > "2026-03") {
        return Err(key("voucher_not_active"));
    }
    if month("expiration_date").is_some_and(|month| month.as_str() < "2026-03") {
        return Err(key("voucher_expired"));
    }
    Ok(())
}

/// One redeemable on an order, or the key of what is wrong.
fn one(book: &Book, request: &Json, candidate: &Candidate, order: &Order) -> Result<Applied, String> {
    check(book, request, candidate, order)?;
    let thing = candidate.thing.as_ref().unwrap();
    let rules = rules(book, candidate);
    let (way, scope) = (way(book, candidate), Scope::read(&rules));
    let mut after = order.clone();
    let card = &thing["gift"];
    let some = if card.is_null() {
        let discount = if thing["action"].is_null() { &thing["discount"] } else { &thing["action"]["discount"] };
        effect::apply(book, discount, &scope, &mut after, &way)
    } else {
        let code = &candidate.id;
        let used = book.redeemed.iter().filter(|(redeemed, ..)| redeemed == code).map(|(.., credits)| credits).sum();
        let credits = gift::credits(card, candidate.credits, used)?;
        gift::apply(book, card, credits, &scope, &mut after, &way)?
    };
    holds::check(&rules, &case(book, request, candidate, order, Some(after.total())))?;
    Ok(Applied { order: after, some })
}

fn way(book: &Book, candidate: &Candidate) -> Way {
    let rules = &book.stacking;
    let initial = if candidate.is_in(rules, "initial_amount_mode_categories") {
        true
    } else {
        !candidate.is_in(rules, "discounted_amount_mode_categories")
            && rules["discount_calculation_mode"] == "INITIAL_AMOUNT"
    };
    Way { initial, once: rules["redeemables_products_application_mode"] == "ONCE" }
}

/// The rules of a redeemable: its own, then those of its campaign.
pub fn rules<'a>(book: &'a Book, candidate: &Candidate) -> Vec<&'a Json> {
    let things = [&candidate.thing, &candidate.campaign];
    let ids = things.into_iter().flatten().filter_map(|thing| thing["id"].as_str());
    ids.flat_map(|id| book.assigned.iter().filter(move |(_, to)| to == id))
        .map(|(rule, _)| Book::of(&book.rules, "id", rule).unwrap())
        .collect()
}
