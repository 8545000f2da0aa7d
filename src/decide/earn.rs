//! Decides what an event earns: for every membership of the customer, which rules fire, which earning of each, and what of its
//! effects the member gets; and of every rule that does not fire, why. It must not know JSON or how anything is stored, and it
//! changes nothing: examining and earning are one decision.
//!
//! loyalty-v2.md section 4.2.

pub mod amount;
pub mod give_back;
pub mod granting;
pub mod scene;
pub mod verdict;

pub use give_back::{GiveBack, Turn, give_back};
pub use scene::What;
pub use verdict::{
    Earnings, Firing, Gift, Granted, GrantedPoints, Idle, MemberEarnings, Mismatch, RuleOutcome, Withheld,
};

use crate::decide::case::Case;
use crate::decide::items::Items;
use crate::decide::rule_input::request_facts;
use crate::decide::running::Running;
use crate::facts::earning::Amount;
use crate::facts::earning::{EarningFacts, EarningRule, Effect, Membership, Occasion, Standing, Trigger};
use crate::facts::{Fact, Facts, Known};
use crate::id::Context;
use crate::model::customer::Customer;
use crate::model::request::Redeemables;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::model::stacking::StackingRules;
use crate::points::limits::{Fired, TriggerLimits};
use crate::text::Text;
use granting::Granting;
use scene::{Scene, settle};

/// An event that may earn.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// To whom it happened.
    pub customer: &'a Customer,
    /// What happened.
    pub what: What<'a>,
    /// What it is known by; without one nobody asks whether it earned before, as for an examination.
    pub occasion: Option<&'a Occasion>,
}

/// What an event earns.
pub fn earn(facts: &dyn Facts, earning: &dyn EarningFacts, event: Event<'_>, context: &Context) -> Earnings {
    let none = |idle: Idle| Earnings { idle: Some(idle), memberships: Vec::new() };
    match event.occasion.map_or(Known::Absent, |occasion| earning.standing(occasion)) {
        Known::Is(Standing::New) | Known::Absent => {}
        Known::Is(Standing::Earned | Standing::GivenBack) => return none(Idle::Repeated),
        Known::Unknown | Known::Unreadable => return none(Idle::Unreadable),
    }
    let Some(customer_id) = &event.customer.id else { return Earnings::default() };
    let members = match earning.memberships(customer_id) {
        Known::Is(members) => members,
        Known::Absent => return Earnings::default(),
        Known::Unknown | Known::Unreadable => return none(Idle::Unreadable),
    };
    if members.is_empty() {
        return Earnings::default();
    }
    let asked = Redeemables::default();
    let mut case = Case::under(Fact::own(StackingRules::default()), facts, &asked, context);
    if settle(&mut case, event.customer, event.what).is_err() {
        return none(Idle::Unreadable);
    }
    let items = Items::naming(&case, &collections(&members, earning, event.what));
    let tiers: Vec<Text> = members.iter().flat_map(|member| &member.tiers).map(|held| held.tier_id.clone()).collect();
    let (setting, running) = (request_facts(&case), Running::default());
    let scene =
        Scene { what: event.what, case: &case, items: &items, setting: &setting, running: &running, tiers: &tiers };
    let mut granting = Granting::new(earning);
    let memberships = members.iter().map(|member| of_member(member, &scene, earning, &mut granting)).collect();
    // What was decided once too much was asked for is told to nobody.
    match case.work.is_over() {
        true => none(Idle::Unreadable),
        false => Earnings { idle: None, memberships },
    }
}

fn of_member(
    member: &Membership<'_>,
    scene: &Scene<'_>,
    facts: &dyn EarningFacts,
    granting: &mut Granting<'_>,
) -> MemberEarnings {
    let (now, zone) = (scene.case.context.now, &*scene.case.zone);
    let idle = match (member.is_active && member.program.is_active, member.program.validity.holds(now, zone)) {
        (false, _) => Some(Idle::Inactive),
        (true, false) => Some(Idle::OutOfTime),
        (true, true) => None,
    };
    let rules = match idle {
        Some(_) => Vec::new(),
        None => {
            let outcome = |(id, rule): &(Text, Known<Fact<'_, EarningRule>>)| {
                let outcome = match rule {
                    Known::Is(rule) => fire(rule, member, scene, facts, granting),
                    Known::Absent => Err(Idle::Inactive),
                    Known::Unknown | Known::Unreadable => Err(Idle::Unreadable),
                };
                RuleOutcome { rule_id: id.clone(), outcome }
            };
            member.rules.iter().map(outcome).collect()
        }
    };
    MemberEarnings { member_id: member.member_id.clone(), program_id: member.program.id.clone(), idle, rules }
}

/// What a rule gives a member, in the order in which the reasons against it are told.
fn fire(
    rule: &EarningRule,
    member: &Membership<'_>,
    scene: &Scene<'_>,
    facts: &dyn EarningFacts,
    granting: &mut Granting<'_>,
) -> Result<Firing, Idle> {
    let (now, zone) = (scene.case.context.now, &*scene.case.zone);
    if !is_about(&rule.trigger, scene.what) {
        return Err(Idle::OtherTrigger);
    }
    if !rule.is_active {
        return Err(Idle::Inactive);
    }
    if !rule.validity.holds(now, zone) {
        return Err(Idle::OutOfTime);
    }
    if rule.limits != TriggerLimits::default() {
        let fired = match facts.fired(&member.member_id, &rule.id, rule.limits.since(now, zone)) {
            Known::Is(fired) => fired,
            Known::Absent => Fired::default(),
            Known::Unknown | Known::Unreadable => return Err(Idle::Unreadable),
        };
        rule.limits.allow(fired, now, zone).map_err(Idle::Resting)?;
    }
    let mut mismatches = Vec::new();
    for earning in &rule.earnings {
        match scene.check(earning, member) {
            Ok(()) => {
                let effects = earning.effects.iter().map(|effect| granting.grant(effect, member, scene)).collect();
                return Ok(Firing { earning_id: earning.id.clone(), effects });
            }
            // Nobody can say whether an earlier one would have won.
            Err(Mismatch::Unreadable) => return Err(Idle::Unreadable),
            Err(mismatch) => mismatches.push(mismatch),
        }
    }
    Err(Idle::NoMatch(mismatches))
}

/// Whether a rule waits for what happened.
fn is_about(trigger: &Trigger, what: What<'_>) -> bool {
    match (trigger, what) {
        (Trigger::OrderPaid, What::OrderPaid(_)) => true,
        (Trigger::CustomEvent(schema), What::CustomEvent { schema_id, .. }) => {
            schema_id.is_none_or(|schema_id| schema == schema_id)
        }
        (Trigger::SegmentEntered(segment), What::SegmentEntered(id)) => id.is_none_or(|id| segment == id),
        (Trigger::OrderPaid | Trigger::CustomEvent(_) | Trigger::SegmentEntered(_), _) => false,
    }
}

/// The collections that rules and effects name which may be asked, each once.
fn collections(members: &[Membership<'_>], facts: &dyn EarningFacts, what: What<'_>) -> Vec<Text> {
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
                        && let crate::facts::earning::Gives::Points(points) = &incentive.gives
                    {
                        goods_of(&points.amount).iter().for_each(&mut see);
                    }
                }
            }
        }
    }
    named
}

fn goods_of(amount: &Amount) -> &[GoodsRef] {
    match amount {
        Amount::Proportional { base, .. } => base.goods().unwrap_or_default(),
        Amount::Formula { plain, .. } => goods_of(plain),
        Amount::Fixed(_) => &[],
    }
}
