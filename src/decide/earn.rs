//! Decides what an event earns for each membership of the customer: the rules that fire, the matching earning and the
//! granted effects. For every other rule it gives the reason. An estimate and real earning are the same decision.
//!
//! docs/spec/loyalty.md#4.2.

pub mod amount;
pub mod context;
pub mod corrections;
pub mod granting;
pub mod order_points;
pub mod verdict;

pub use context::EarningEvent;
pub use corrections::{EarningCorrection, OrderTransition, PointsCorrection, RemainingOrder, decide_corrections};
pub use order_points::order_points;
pub use verdict::{
    EarningMismatch, Earnings, EffectSkipped, FiredEarning, GrantedContent, GrantedEffect, GrantedPoints,
    MemberEarnings, NotEarned, RuleOutcome,
};

use crate::decide::case::Case;
use crate::decide::items::Items;
use crate::decide::request_usage::RequestUsage;
use crate::decide::rule_input::request_facts;
use crate::facts::earning::PointsAmount;
use crate::facts::earning::{EarningEffect, EarningFacts, EarningKey, EarningRule, EarningStatus, Membership, Trigger};
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
pub struct EarningRequest<'a> {
    /// The customer of the event.
    pub customer: &'a Customer,
    /// The content of the event.
    pub event: EarningEvent<'a>,
    /// The key by which the event earns once; `None` for an estimate, which does not check earlier earning.
    pub key: Option<&'a EarningKey>,
}

/// Returns what an event earns.
pub fn earn(facts: &dyn Facts, earning: &dyn EarningFacts, request: EarningRequest<'_>, context: &Context) -> Earnings {
    let none = |not_earned: NotEarned| Earnings { not_earned: Some(not_earned), memberships: Vec::new() };
    match request.key.map_or(Known::Absent, |key| earning.status(key)) {
        Known::Is(EarningStatus::New) | Known::Absent => {}
        Known::Is(EarningStatus::Earned | EarningStatus::Revoked) => return none(NotEarned::Repeated),
        Known::Unknown | Known::Unreadable => return none(NotEarned::Unreadable),
    }
    let Some(customer_id) = &request.customer.id else { return Earnings::default() };
    let members = match earning.memberships(customer_id) {
        Known::Is(members) => members,
        Known::Absent => return Earnings::default(),
        Known::Unknown | Known::Unreadable => return none(NotEarned::Unreadable),
    };
    if members.is_empty() {
        return Earnings::default();
    }
    let redeemables = Redeemables::default();
    let mut case = Case::with_stacking_rules(Fact::own(StackingRules::default()), facts, &redeemables, context);
    if settle(&mut case, request.customer, request.event).is_err() {
        return none(NotEarned::Unreadable);
    }
    let items = Items::with_collections(&case, &collections(&members, earning, request.event));
    let tiers: Vec<Text> = members.iter().flat_map(|member| &member.tiers).map(|held| held.tier_id.clone()).collect();
    let (setting, usage) = (request_facts(&case), RequestUsage::default());
    let earning_context = EarningContext {
        event: request.event,
        case: &case,
        items: &items,
        setting: &setting,
        usage: &usage,
        tiers: &tiers,
    };
    let mut granting = GrantBudget::new(earning);
    let memberships =
        members.iter().map(|member| of_member(member, &earning_context, earning, &mut granting)).collect();
    // A decision that exceeded its step budget is not returned.
    match case.budget.is_over() {
        true => none(NotEarned::Unreadable),
        false => Earnings { not_earned: None, memberships },
    }
}

fn of_member(
    member: &Membership<'_>,
    earning_context: &EarningContext<'_>,
    facts: &dyn EarningFacts,
    granting: &mut GrantBudget<'_>,
) -> MemberEarnings {
    let (now, zone) = (earning_context.case.context.now, &*earning_context.case.zone);
    let not_earned = match (member.is_active && member.program.is_active, member.program.validity.holds(now, zone)) {
        (false, _) => Some(NotEarned::Inactive),
        (true, false) => Some(NotEarned::OutOfTime),
        (true, true) => None,
    };
    let rules = match not_earned {
        Some(_) => Vec::new(),
        None => {
            let mut outcome = |id: &Text, rule: &Known<Fact<'_, EarningRule>>| {
                let outcome = match rule {
                    Known::Is(rule) => fire(rule, member, earning_context, facts, granting),
                    Known::Absent => Err(NotEarned::Inactive),
                    Known::Unknown | Known::Unreadable => Err(NotEarned::Unreadable),
                };
                RuleOutcome { rule_id: id.clone(), outcome }
            };
            member.rules.iter().map(|(id, rule)| outcome(id, rule)).collect()
        }
    };
    MemberEarnings { member_id: member.member_id.clone(), program_id: member.program.id.clone(), not_earned, rules }
}

/// Returns what a rule gives a member. The first reason against it counts.
fn fire(
    rule: &EarningRule,
    member: &Membership<'_>,
    earning_context: &EarningContext<'_>,
    facts: &dyn EarningFacts,
    granting: &mut GrantBudget<'_>,
) -> Result<FiredEarning, NotEarned> {
    let (now, zone) = (earning_context.case.context.now, &*earning_context.case.zone);
    if !is_about(&rule.trigger, earning_context.event) {
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
        match earning_context.check(earning, member) {
            Ok(()) => {
                let effects: Vec<_> =
                    earning.effects.iter().map(|effect| granting.grant(effect, member, earning_context)).collect();
                let absent = earning.effects.iter().zip(&effects).filter_map(|(effect, granted)| match granted {
                    Err(EffectSkipped::NoPoints | EffectSkipped::NoNumber | EffectSkipped::Limited) => {
                        granting.ungranted_points(effect, member, earning_context)
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
fn is_about(trigger: &Trigger, event: EarningEvent<'_>) -> bool {
    match (trigger, event) {
        (Trigger::OrderPaid, EarningEvent::OrderPaid(_)) => true,
        (Trigger::CustomEvent(schema), EarningEvent::CustomEvent { schema_id, .. }) => {
            schema_id.is_none_or(|schema_id| schema == schema_id)
        }
        (Trigger::SegmentEntered(segment), EarningEvent::SegmentEntered(id)) => id.is_none_or(|id| segment == id),
        (Trigger::OrderPaid | Trigger::CustomEvent(_) | Trigger::SegmentEntered(_), _) => false,
    }
}

/// Returns the collections that rules and effects name and whose content may be needed, each once.
fn collections(members: &[Membership<'_>], facts: &dyn EarningFacts, event: EarningEvent<'_>) -> Vec<Text> {
    let mut named: Vec<Text> = Vec::new();
    if event.order().is_none() {
        return named;
    }
    let mut visit = |goods: &GoodsRef| {
        if goods.object == GoodsObject::Collection && !named.contains(&goods.id) {
            named.push(goods.id.clone());
        }
    };
    let rules = members.iter().flat_map(|member| &member.rules).filter_map(|(_, rule)| match rule {
        Known::Is(rule) if rule.is_active && is_about(&rule.trigger, event) => Some(&**rule),
        Known::Is(_) | Known::Absent | Known::Unknown | Known::Unreadable => None,
    });
    for earning in rules.flat_map(|rule| &rule.earnings) {
        earning.rule.each_goods(&mut visit);
        for effect in &earning.effects {
            match effect {
                EarningEffect::Points(points) => goods_of(&points.amount).iter().for_each(&mut visit),
                EarningEffect::Incentive(id) => {
                    if let Known::Is(incentive) = facts.incentive(id)
                        && let crate::facts::earning::IncentiveGrant::Points(points) = &incentive.gives
                    {
                        goods_of(&points.amount).iter().for_each(&mut visit);
                    }
                }
            }
        }
    }
    named
}

pub(super) fn goods_of(amount: &PointsAmount) -> &[GoodsRef] {
    match amount {
        PointsAmount::Proportional { base, .. } => base.goods().unwrap_or_default(),
        PointsAmount::Formula { plain, .. } => goods_of(plain),
        PointsAmount::Fixed(_) => &[],
    }
}
