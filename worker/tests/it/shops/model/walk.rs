//! Tries one redeemable after the other: 11.2.

use super::effect::{self, EffectMode};
use super::free_units::{Claims, View, covers, join, note};
use super::gift;
use super::order::{self, Order};
use super::order_json::show;
use super::rule_evaluation::{self, Case};
use super::scope::Scope;
use super::sorting::{self, Candidate};
use super::{Outcome, Status, Verdict};
use crate::shops::shop::Book;
use serde_json::Value as Json;

/// The result of one redeemable on an order.
struct Applied {
    order: Order,
    some: bool,
}

/// Tries the redeemables until the hidden units equal the units that become free (D19): first past refusals, and then once more in the mode
/// of the request. If that does not settle, every unit ever claimed is hidden, and all must apply with and without it.
pub fn walk(book: &Book, request: &Json) -> Outcome {
    let partial = book.stacking["redeemables_application_mode"] == "PARTIAL";
    let mut round = Round { partial: true, unsettled: false, hidden: Claims::new() };
    let mut ever = Claims::new();
    for number in 1.. {
        let (outcome, made) = one_walk(book, request, &round);
        let most = outcome.verdicts.len() + 1;
        let settled = if round.unsettled { covers(&round.hidden, &made) } else { made == round.hidden };
        if settled || number > 2 * most {
            break;
        }
        join(&mut ever, &made);
        round.unsettled = number >= most;
        round.hidden = if round.unsettled { ever.clone() } else { made };
    }
    round.partial = partial;
    one_walk(book, request, &round).0
}

/// The options of one walk.
struct Round {
    partial: bool,
    unsettled: bool,
    hidden: Claims,
}

impl Round {
    /// The orders on which a redeemable must apply; its effect is computed on the last one.
    fn views(&self, order: &Order, id: &str, is_past: &dyn Fn(&str) -> bool) -> Vec<View> {
        let view = View::of(order, &self.hidden, &|claimer| claimer != id && !is_past(claimer));
        let whole = self.unsettled.then(|| View::of(order, &Claims::new(), &|_| false));
        whole.into_iter().chain([view]).collect()
    }
}

fn one_walk(book: &Book, request: &Json, round: &Round) -> (Outcome, Claims) {
    let first = order::read(book, &request["order"]);
    let list = sorting::candidates(book, request);
    let exclusive = list.iter().any(|candidate| {
        let views = round.views(&first, &candidate.id, &|_| false);
        let holds = || views.iter().all(|view| check(book, request, candidate, &view.order).is_ok());
        candidate.is_in(&book.stacking, "exclusive_categories") && holds()
    });
    let mut running = first.clone();
    let mut applied: Vec<Candidate> = Vec::new();
    let mut verdicts: Vec<Verdict> = Vec::new();
    let mut failed = false;
    let mut made = Claims::new();
    for candidate in sorting::sort(book, list, exclusive) {
        let mut shown = None;
        let is_past = |claimer: &str| match round.unsettled {
            true => applied.iter().any(|one| one.id == claimer),
            false => verdicts.iter().any(|one| one.id == claimer),
        };
        let status = if excluded(book, &candidate, exclusive) {
            Status::Skipped("exclusion_rules_not_met".into())
        } else if failed && !round.partial {
            Status::Skipped("preceding_validation_failed".into())
        } else if let Some(key) = beyond(book, &candidate, &applied) {
            Status::Skipped(key.into())
        } else {
            let see = |order: &Order| round.views(order, &candidate.id, &is_past);
            match one(book, request, &candidate, &running, &see) {
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
                    note(&mut made, &candidate.id, &running, &after);
                    running = after;
                    applied.push(candidate.clone());
                    Status::Applicable
                }
            }
        };
        verdicts.push(Verdict { id: candidate.id, status, order: shown });
    }
    let valid = if round.partial { !applied.is_empty() } else { !failed };
    let order = valid.then(|| show(&first, &running));
    (Outcome { valid, verdicts, order }, made)
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

/// Step 7.3: the conditions before an effect.
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
    rule_evaluation::check(&rules(book, candidate), &case(book, request, candidate, &order.paid(), None))
}

fn case<'a>(
    book: &'a Book,
    request: &'a Json,
    candidate: &'a Candidate,
    order: &'a Order,
    total_behind: Option<i128>,
) -> Case<'a> {
    let (customer, metadata) = (rule_evaluation::customer(book, request), &request["metadata"]);
    Case { book, customer, metadata, order, code: &candidate.id, total_behind }
}

/// Checks the validity of a code, a tier or a campaign in March 2026.
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

/// Applies one redeemable to an order, or returns the key of the refusal. `see` returns the orders on which it must apply.
fn one(
    book: &Book,
    request: &Json,
    candidate: &Candidate,
    order: &Order,
    see: &dyn Fn(&Order) -> Vec<View>,
) -> Result<Applied, String> {
    let views = see(order);
    for view in &views {
        check(book, request, candidate, &view.order)?;
    }
    let view = views.last().unwrap();
    let thing = candidate.thing.as_ref().unwrap();
    let rules = rules(book, candidate);
    let (way, scope) = (way(book, candidate), Scope::read(&rules));
    let card = &thing["gift"];
    let discount = if thing["action"].is_null() { &thing["discount"] } else { &thing["action"]["discount"] };
    let (after, some) = if !card.is_null() {
        let code = &candidate.id;
        let used = book.redeemed.iter().filter(|(redeemed, ..)| redeemed == code).map(|(.., credits)| credits).sum();
        let credits = gift::credits(card, candidate.credits, used)?;
        let mut after = view.order.clone();
        let some = gift::apply(book, card, credits, &scope, &mut after, &way)?;
        (view.uncovered(after), some)
    } else if effect::is_of_running_order(discount, &scope, &way) {
        let mut after = order.clone();
        effect::apply(book, discount, &scope, &mut after, &way);
        // At most the remaining amount without the units that are free for others.
        after.discount = after.discount.min(order.discount + view.order.total());
        let off = after.discount + after.items_discount() - order.discount - order.items_discount();
        (after, off > 0)
    } else {
        let mut after = view.order.clone();
        let some = effect::apply(book, discount, &scope, &mut after, &way);
        (view.uncovered(after), some)
    };
    for (before, behind) in views.iter().zip(see(&after)) {
        rule_evaluation::check(
            &rules,
            &case(book, request, candidate, &before.order.paid(), Some(behind.order.total())),
        )?;
    }
    Ok(Applied { order: after, some })
}

fn way(book: &Book, candidate: &Candidate) -> EffectMode {
    let rules = &book.stacking;
    let initial = if candidate.is_in(rules, "initial_amount_mode_categories") {
        true
    } else {
        !candidate.is_in(rules, "discounted_amount_mode_categories")
            && rules["discount_calculation_mode"] == "INITIAL_AMOUNT"
    };
    EffectMode { initial, once: rules["redeemables_products_application_mode"] == "ONCE" }
}

/// The rules of a redeemable: its own, then those of its campaign.
pub fn rules<'a>(book: &'a Book, candidate: &Candidate) -> Vec<&'a Json> {
    let things = [&candidate.thing, &candidate.campaign];
    let ids = things.into_iter().flatten().filter_map(|thing| thing["id"].as_str());
    ids.flat_map(|id| book.assigned.iter().filter(move |(_, to)| to == id))
        .map(|(rule, _)| Book::of(&book.rules, "id", rule).unwrap())
        .collect()
}
