//! Decides what an event earns for each membership of the customer: the rules that fire, the matching earning and the
//! granted effects. For every other rule it gives the reason. An estimate and real earning are the same decision.
//!
//! docs/spec/loyalty.md#4.2.

pub mod amount;
pub mod context;
pub mod give_back;
pub mod granting;
pub mod order_points;
pub mod verdict;

pub use context::EarningEvent;
pub use give_back::{EarningCorrection, GiveBack, OrderLeft, OrderTransition, give_back};
pub use order_points::order_points;
pub use verdict::{
    EarningMismatch, Earnings, EffectSkipped, FiredEarning, GrantedEffect, GrantedGift, GrantedPoints, MemberEarnings,
    NotEarned, RuleOutcome,
};

use crate::decide::case::Case;
use crate::decide::items::Items;
use crate::decide::request_usage::RequestUsage;
use crate::decide::rule_input::request_facts;
use crate::facts::earning::Amount;
use crate::facts::earning::{EarningFacts, EarningKey, EarningRule, EarningStatus, Effect, Membership, Trigger};
use crate::facts::{Fact, Facts, Known};
use crate::id::Context;
use crate::model::customer::Customer;
use crate::model::request::Redeemables;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::model::stacking::StackingRules;
use crate::points::limits::{FireCount, TriggerLimits};
use crate::text::Text;
use context::{EarningContext, settle};
use granting::GrantBudget;

/// An event that may earn.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// The customer of the event.
    pub customer: &'a Customer,
    /// The content of the event.
    pub what: EarningEvent<'a>,
    /// The key by which the event earns once; `None` for an estimate, which does not check earlier earning.
    pub occasion: Option<&'a EarningKey>,
}

/// Returns what an event earns.
pub fn earn(facts: &dyn Facts, earning: &dyn EarningFacts, event: Event<'_>, context: &Context) -> Earnings {
    let none = |idle: NotEarned| Earnings { idle: Some(idle), memberships: Vec::new() };
    match event.occasion.map_or(Known::Absent, |occasion| earning.standing(occasion)) {
        Known::Is(EarningStatus::New) | Known::Absent => {}
        Known::Is(EarningStatus::Earned | EarningStatus::GivenBack) => return none(NotEarned::Repeated),
        Known::Unknown | Known::Unreadable => return none(NotEarned::Unreadable),
    }
    let Some(customer_id) = &event.customer.id else { return Earnings::default() };
    let members = match earning.memberships(customer_id) {
        Known::Is(members) => members,
        Known::Absent => return Earnings::default(),
        Known::Unknown | Known::Unreadable => return none(NotEarned::Unreadable),
    };
    if members.is_empty() {
        return Earnings::default();
    }
    let asked = Redeemables::default();
    let mut case = Case::under(Fact::own(StackingRules::default()), facts, &asked, context);
    if settle(&mut case, event.customer, event.what).is_err() {
        return none(NotEarned::Unreadable);
    }
    let items = Items::naming(&case, &collections(&members, earning, event.what));
    let tiers: Vec<Text> = members.iter().flat_map(|member| &member.tiers).map(|held| held.tier_id.clone()).collect();
    let (setting, running) = (request_facts(&case), RequestUsage::default());
    let scene = EarningContext {
        what: event.what,
        case: &case,
        items: &items,
        setting: &setting,
        running: &running,
        tiers: &tiers,
    };
    let mut granting = GrantBudget::new(earning);
    let memberships = members.iter().map(|member| of_member(member, &scene, earning, &mut granting)).collect();
    // A decision that exceeded its step budget is not returned.
    match case.work.is_over() {
        true => none(NotEarned::Unreadable),
        false => Earnings { idle: None, memberships },
    }
}

fn of_member(
    member: &Membership<'_>,
    scene: &EarningContext<'_>,
    facts: &dyn EarningFacts,
    granting: &mut GrantBudget<'_>,
) -> MemberEarnings {
    let (now, zone) = (scene.case.context.now, &*scene.case.zone);
    let idle = match (member.is_active && member.program.is_active, member.program.validity.holds(now, zone)) {
        (false, _) => Some(NotEarned::Inactive),
        (true, false) => Some(NotEarned::OutOfTime),
        (true, true) => None,
    };
    let rules = match idle {
        Some(_) => Vec::new(),
        None => {
            let mut outcome = |id: &Text, rule: &Known<Fact<'_, EarningRule>>| {
                let outcome = match rule {
                    Known::Is(rule) => fire(rule, member, scene, facts, granting),
                    Known::Absent => Err(NotEarned::Inactive),
                    Known::Unknown | Known::Unreadable => Err(NotEarned::Unreadable),
                };
                RuleOutcome { rule_id: id.clone(), outcome }
            };
            member.rules.iter().map(|(id, rule)| outcome(id, rule)).collect()
        }
    };
    MemberEarnings { member_id: member.member_id.clone(), program_id: member.program.id.clone(), idle, rules }
}

/// Returns what a rule gives a member. The first reason against it counts.
fn fire(
    rule: &EarningRule,
    member: &Membership<'_>,
    scene: &EarningContext<'_>,
    facts: &dyn EarningFacts,
    granting: &mut GrantBudget<'_>,
) -> Result<FiredEarning, NotEarned> {
    let (now, zone) = (scene.case.context.now, &*scene.case.zone);
    if !is_about(&rule.trigger, scene.what) {
        return Err(NotEarned::OtherTrigger);
    }
    if !rule.is_active {
        return Err(NotEarned::Inactive);
    }
    if !rule.validity.holds(now, zone) {
        return Err(NotEarned::OutOfTime);
    }
    if rule.limits != TriggerLimits::default() {
        let fired = match facts.fired(&member.member_id, &rule.id, rule.limits.since(now, zone)) {
            Known::Is(fired) => fired,
            Known::Absent => FireCount::default(),
            Known::Unknown | Known::Unreadable => return Err(NotEarned::Unreadable),
        };
        rule.limits.allow(fired, now, zone).map_err(NotEarned::LimitRefusal)?;
    }
    let mut mismatches = Vec::new();
    for earning in &rule.earnings {
        match scene.check(earning, member) {
            Ok(()) => {
                let effects: Vec<_> =
                    earning.effects.iter().map(|effect| granting.grant(effect, member, scene)).collect();
                let absent = earning.effects.iter().zip(&effects).filter_map(|(effect, granted)| match granted {
                    Err(EffectSkipped::NoPoints | EffectSkipped::NoNumber | EffectSkipped::Limited) => {
                        granting.absent(effect, member, scene)
                    }
                    Ok(_) | Err(_) => None,
                });
                let absent = absent.collect();
                return Ok(FiredEarning { earning_id: earning.id.clone(), effects, absent });
            }
            // It is unknown whether an earlier earning would have matched.
            Err(EarningMismatch::Unreadable) => return Err(NotEarned::Unreadable),
            Err(mismatch) => mismatches.push(mismatch),
        }
    }
    Err(NotEarned::NoMatch(mismatches))
}

/// Returns whether the trigger of a rule matches the event.
fn is_about(trigger: &Trigger, what: EarningEvent<'_>) -> bool {
    match (trigger, what) {
        (Trigger::OrderPaid, EarningEvent::OrderPaid(_)) => true,
        (Trigger::CustomEvent(schema), EarningEvent::CustomEvent { schema_id, .. }) => {
            schema_id.is_none_or(|schema_id| schema == schema_id)
        }
        (Trigger::SegmentEntered(segment), EarningEvent::SegmentEntered(id)) => id.is_none_or(|id| segment == id),
        (Trigger::OrderPaid | Trigger::CustomEvent(_) | Trigger::SegmentEntered(_), _) => false,
    }
}

/// Returns the collections that rules and effects name and whose content may be needed, each once.
fn collections(members: &[Membership<'_>], facts: &dyn EarningFacts, what: EarningEvent<'_>) -> Vec<Text> {
    let mut named: Vec<Text> = Vec::new();
    if what.order().is_none() {
        return named;
    }
    let mut see = |goods: &GoodsRef| {
        if goods.object == GoodsObject::Collection && !named.contains(&goods.id) {
            named.push(goods.id.clone());
        }
    };
    let rules = members.iter().flat_map(|member| &member.rules).filter_map(|(_, rule)| match rule {
        Known::Is(rule) if rule.is_active && is_about(&rule.trigger, what) => Some(&**rule),
        Known::Is(_) | Known::Absent | Known::Unknown | Known::Unreadable => None,
    });
    for earning in rules.flat_map(|rule| &rule.earnings) {
        earning.rule.each_goods(&mut see);
        for effect in &earning.effects {
            match effect {
                Effect::Points(points) => goods_of(&points.amount).iter().for_each(&mut see),
                Effect::Incentive(id) => {
                    if let Known::Is(incentive) = facts.incentive(id)
                        && let crate::facts::earning::IncentiveGrant::Points(points) = &incentive.gives
                    {
                        goods_of(&points.amount).iter().for_each(&mut see);
                    }
                }
            }
        }
    }
    named
}

pub(super) fn goods_of(amount: &Amount) -> &[GoodsRef] {
    match amount {
        Amount::Proportional { base, .. } => base.goods().unwrap_or_default(),
        Amount::Formula { plain, .. } => goods_of(plain),
        Amount::Fixed(_) => &[],
    }
}
