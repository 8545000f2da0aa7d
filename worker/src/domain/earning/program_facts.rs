//! Facts for earning in loyalty programs (v2): members, matching rules, cards and earlier fired rules. A fact cannot return an
//! error, so a fault of the store is recorded and must be checked at the end ([`StoredEarnings::finish`]).

use crate::domain::clock::LocalTime;
use crate::domain::earning::fired_rules;
use crate::domain::loyalty_members::card;
use crate::domain::loyalty_programs::kinds::{CARD, CARD_DEFINITION, EARNING_RULE, INCENTIVE, MEMBER, PROGRAM};
use crate::store::Store;
use crate::store::amount::CheckedAmount;
use crate::store::document::{UnreadableFact, read_loaded, read_stored, readable};
use crate::store::documents::loyalty_programs::CustomerMemberships;
use crate::store::facts::StoreFacts;
use crate::store::loyalty::earning::ProgramRule;
use crate::store::loyalty::program_revision::{ProgramRevision, RevisionCache, once};
use crate::store::sql::Fault;
use scrip::count::Countable;
use scrip::facts::cards::card_account;
use scrip::facts::earning::{
    CurrentTier, Earning, EarningCard, EarningFacts, EarningKey, EarningRule, EarningStatus, Incentive, LoyaltyProgram,
    Membership, StoredEarning,
};
use scrip::facts::{Fact, Facts, Known};
use scrip::model::order::Metadata;
use scrip::points::limits::{EarnedSoFar, EarningLimits, FireCount};
use scrip::points::{CardDefinition, LifetimeTotal, PointsAccount, Revocation};
use scrip::text::Text;
use scrip::time::Instant;
use scrip::wire::cursor::read;
use scrip::wire::loyalty::card_definition::read_card_definition;
use scrip::wire::loyalty::earning_rule::read_earning_rule;
use scrip::wire::loyalty::incentive::read_incentive;
use scrip::wire::loyalty::program::read_program;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A member of a program.
struct Member {
    id: String,
    is_active: bool,
    metadata: Metadata,
    program: LoyaltyProgram,
    rules: Vec<String>,
    tiers: Vec<CurrentTier>,
    cards: Vec<EarningCard>,
}

/// Rules with a matching trigger, by id; `None` for a rule that cannot be read.
pub type Rules = BTreeMap<String, Option<Arc<EarningRule>>>;
/// Card definitions by id; those that cannot be read are missing.
pub type CardDefinitions = BTreeMap<String, Arc<CardDefinition>>;

static PROGRAMS: RevisionCache<LoyaltyProgram> = RevisionCache::empty();
/// By program and event.
static RULES: RevisionCache<Vec<(String, Option<Arc<EarningRule>>)>> = RevisionCache::empty();
static DEFINITIONS: RevisionCache<CardDefinition> = RevisionCache::empty();

/// Query for the earnings of a customer.
pub struct EarningQuery<'q> {
    /// The customer.
    pub customer_id: &'q str,
    /// Event name: `customer.order.paid`, ...
    pub event: &'q str,
    /// Id of the only membership to consider; `None` for all.
    pub only: Option<&'q str>,
    /// Metadata that replaces the stored metadata of members.
    pub metadata: Option<Metadata>,
}

/// Memberships of a customer with the rules that may earn in them.
#[derive(Default)]
pub struct Memberships {
    members: Vec<Member>,
    revision: ProgramRevision,
    /// Rules with a matching trigger.
    pub rules: Rules,
    /// Definitions of the cards.
    pub definitions: CardDefinitions,
}

impl Memberships {
    /// Loads the memberships of a customer for an event.
    pub fn load(store: &Store<'_>, query: &EarningQuery<'_>) -> Result<Memberships, Fault> {
        let mut read = Memberships::default();
        read.find_members(store, query)?;
        if !read.members.is_empty() {
            read.find_rules(store, query.event)?;
        }
        if !read.rules.is_empty() {
            read.find_definitions(store)?;
        }
        Ok(read)
    }

    /// Tests if no rule of any program matches the event.
    pub fn has_no_rules(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the members whose tiers a rule reads: all of them, because a rule that reads tiers reads those of every program.
    pub fn members_with_tier_rules(&self) -> Vec<String> {
        let reads_tiers = |earning: &Earning| {
            let mut reads_tiers = earning.tiers.is_some();
            earning.rule.tests.each_leaf(&mut |leaf| reads_tiers |= leaf.test.name.text == "customer.loyalty.tier");
            reads_tiers
        };
        let any = self.rules.values().flatten().any(|rule| rule.earnings.iter().any(reads_tiers));
        self.members.iter().filter(|_| any).map(|member| member.id.clone()).collect()
    }

    /// Sets the current tier of a member.
    pub fn add_tier(&mut self, member_id: &str, tier: CurrentTier) {
        if let Some(member) = self.members.iter_mut().find(|member| member.id == member_id) {
            member.tiers.push(tier);
        }
    }

    /// Loads members and cards with one statement, because every member has a card.
    fn find_members(&mut self, store: &Store<'_>, query: &EarningQuery<'_>) -> Result<(), Fault> {
        let CustomerMemberships { rows, revision } = store.list_memberships(query.customer_id, query.only)?;
        self.revision = revision;
        let names: Vec<&str> = rows.iter().map(|row| row.program_id.as_str()).collect();
        let programs = PROGRAMS.find(store, &self.revision, PROGRAM.stored, &names, read_program)?;
        for row in &rows {
            let (id, program) = (row.member_id.as_str(), row.program_id.as_str());
            if self.members.last().is_none_or(|last| last.id != id) {
                let Some(known) = programs.get(program) else { continue };
                // A program that cannot be read grants nothing.
                let inactive = || LoyaltyProgram { id: program.into(), is_active: false, ..LoyaltyProgram::default() };
                let mut metadata = read_metadata(store, id, row.metadata.as_deref())?;
                if let Some(assumed) = &query.metadata {
                    metadata.overlay(assumed.iter());
                }
                self.members.push(Member {
                    id: id.to_owned(),
                    is_active: row.status.as_deref() == Some("ACTIVE"),
                    metadata,
                    program: known.as_deref().cloned().unwrap_or_else(inactive),
                    rules: Vec::new(),
                    tiers: Vec::new(),
                    cards: Vec::new(),
                });
            }
            if let (Some(card), Some(definition)) = (&row.card_id, &row.card_definition_id) {
                let (id, card_definition_id) = (card.as_str().into(), definition.as_str().into());
                let own = EarningCard { id, card_definition_id, limits: EarningLimits::default() };
                self.members.last_mut().into_iter().for_each(|member| member.cards.push(own.clone()));
            }
        }
        Ok(())
    }

    fn find_rules(&mut self, store: &Store<'_>, event: &str) -> Result<(), Fault> {
        let active = self.members.iter().filter(|member| member.is_active && member.program.is_active);
        let programs: Vec<&str> = active.map(|member| member.program.id.as_str()).collect();
        for (program, matching) in find_matching_rules(store, &self.revision, &programs, event)? {
            let members = self.members.iter_mut().filter(|member| member.program.id == program.as_str());
            members.for_each(|member| member.rules.extend(matching.iter().map(|(id, _)| id.clone())));
            self.rules.extend(matching.iter().cloned());
        }
        Ok(())
    }

    /// Loads the card definitions; a card whose definition cannot be read earns nothing.
    fn find_definitions(&mut self, store: &Store<'_>) -> Result<(), Fault> {
        let cards = self.members.iter().flat_map(|member| &member.cards);
        let mut names: Vec<&str> = cards.map(|card| card.card_definition_id.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let found = DEFINITIONS.find(store, &self.revision, CARD_DEFINITION.stored, &names, read_card_definition)?;
        self.definitions = found.into_iter().filter_map(|(id, read)| Some((id, read?))).collect();
        for member in &mut self.members {
            member.cards.retain_mut(|card| {
                let known = self.definitions.get(card.card_definition_id.as_str());
                known.is_some_and(|known| {
                    card.limits = known.earning;
                    true
                })
            });
        }
        Ok(())
    }
}

/// Parses the metadata of a member.
fn read_metadata(store: &Store<'_>, id: &str, text: Option<&str>) -> Result<Metadata, Fault> {
    match text {
        None | Some("{}") => Ok(Metadata::default()),
        Some(text) => Ok(readable(store, read_stored(MEMBER.stored, id, text, read::metadata))?.unwrap_or_default()),
    }
}

/// Rules of a program with a matching trigger, in the order of their assignment.
type ProgramRules = Arc<Vec<(String, Option<Arc<EarningRule>>)>>;

/// Returns the rules of programs that match an event, by program.
fn find_matching_rules(
    store: &Store<'_>,
    revision: &ProgramRevision,
    programs: &[&str],
    event: &str,
) -> Result<BTreeMap<String, ProgramRules>, Fault> {
    let name = |program: &str| format!("{program}/{event}");
    let mut found = BTreeMap::new();
    let mut missing: Vec<&str> = Vec::new();
    for program in programs {
        match RULES.get(revision, &name(program)).flatten() {
            Some(known) => drop(found.insert((*program).to_owned(), known)),
            None => missing.push(program),
        }
    }
    if missing.is_empty() {
        return Ok(found);
    }
    let stored = store.list_program_rules(&missing, event)?;
    for program in missing {
        let (mut rules, mut bytes) = (Vec::new(), 0_usize);
        for ProgramRule { id, text, .. } in stored.iter().filter(|rule| rule.program_id == program) {
            let read = once(store, read_stored(EARNING_RULE.stored, id, text, read_earning_rule))?;
            if read.as_ref().is_none_or(|rule| rule.is_active) {
                rules.push((id.clone(), read));
            }
            // A size in memory.
            bytes = bytes.saturating_add(text.len());
        }
        let rules = Arc::new(rules);
        RULES.insert(revision, &name(program), Some(Arc::clone(&rules)), bytes);
        found.insert(program.to_owned(), rules);
    }
    Ok(found)
}

/// Stored facts about the earnings of a customer.
pub struct StoredEarnings<'a, 's> {
    store: &'a Store<'s>,
    facts: &'a StoreFacts<'a, 's>,
    present: &'a LocalTime,
    memberships: &'a Memberships,
    fault: RefCell<Option<Fault>>,
}

impl<'a, 's> StoredEarnings<'a, 's> {
    /// Creates the facts for one decision.
    pub fn new(
        store: &'a Store<'s>,
        facts: &'a StoreFacts<'a, 's>,
        present: &'a LocalTime,
        memberships: &'a Memberships,
    ) -> StoredEarnings<'a, 's> {
        StoredEarnings { store, facts, present, memberships, fault: RefCell::default() }
    }

    /// Ends the reads; returns the fault of the store, if there was one.
    pub fn finish(self) -> Result<(), Fault> {
        self.fault.into_inner().map_or(Ok(()), Err)
    }

    /// Converts an outcome to a fact; a fault is recorded, and an unreadable document is reported to the operator.
    fn to_fact<T>(&self, outcome: Result<Option<T>, UnreadableFact>) -> Known<T> {
        match outcome {
            Ok(fact) => fact.into(),
            Err(UnreadableFact::Unreadable(what)) => {
                self.store.warn(what);
                Known::Unreadable
            }
            Err(UnreadableFact::Fault(fault)) => {
                self.fault.borrow_mut().get_or_insert(fault);
                Known::Unreadable
            }
        }
    }

    fn find_earned(&self, card_id: &str, since: Option<Instant>) -> Result<Option<EarnedSoFar>, UnreadableFact> {
        let Some(row) = self.store.document(CARD.stored, card_id)? else { return Ok(None) };
        let loaded = card::load(self.store, row, &[])?;
        let settled = loaded.card.settle(&self.present.now()).map_err(|refused| {
            UnreadableFact::Unreadable(format!("the card `{card_id}` cannot be settled: {refused:?}"))
        })?;
        let moved = |figure| {
            let account = card_account(card_id, &PointsAccount::LifetimeTotal(figure));
            // Nothing has moved before an unlimited time; a fault of the other facts ends the call.
            since.map_or(0, |since| self.facts.moved(&account, since).found().unwrap_or(0))
        };
        // Pending points count when they are earned, not again when they are activated.
        let all = moved(LifetimeTotal::Earned).plus(moved(LifetimeTotal::PendingTotal))?;
        let in_period = all.remaining_after(moved(LifetimeTotal::PendingActivated));
        Ok(Some(EarnedSoFar { balance: settled.card.balance(), pending: settled.card.pending_points(), in_period }))
    }

    fn find_incentive(&self, id: &str) -> Result<Option<Incentive>, UnreadableFact> {
        let Some(document) = self.store.document(INCENTIVE.stored, id)? else { return Ok(None) };
        read_loaded(INCENTIVE.stored, &document, read_incentive).map(Some)
    }

    fn find_definition(&self, id: &str) -> Result<Option<CardDefinition>, UnreadableFact> {
        let Some(document) = self.store.document(CARD_DEFINITION.stored, id)? else { return Ok(None) };
        read_loaded(CARD_DEFINITION.stored, &document, read_card_definition).map(Some)
    }
}

impl EarningFacts for StoredEarnings<'_, '_> {
    fn status(&self, earning_key: &EarningKey) -> Known<EarningStatus> {
        self.to_fact(fired_rules::find_status(self.store, earning_key).map_err(UnreadableFact::Fault))
    }

    fn memberships(&self, _: &str) -> Known<Vec<Membership<'_>>> {
        let rule = |id: &String| {
            let rule = self.memberships.rules.get(id).and_then(Option::as_deref);
            (Text::from(id.as_str()), rule.map_or(Known::Unreadable, |rule| Known::Is(Fact::Borrowed(rule))))
        };
        let member = |member: &'_ Member| Membership {
            member_id: member.id.as_str().into(),
            is_active: member.is_active,
            metadata: member.metadata.clone(),
            program: Fact::own(member.program.clone()),
            rules: member.rules.iter().map(rule).collect(),
            tiers: member.tiers.clone(),
            cards: member.cards.clone(),
        };
        Known::Is(self.memberships.members.iter().map(member).collect())
    }

    fn fired(&self, member_id: &str, rule_id: &str, since: Option<Instant>) -> Known<FireCount> {
        self.to_fact(
            fired_rules::count_fired(self.store, member_id, rule_id, since).map(Some).map_err(UnreadableFact::Fault),
        )
    }

    fn earned(&self, card_id: &str, since: Option<Instant>) -> Known<EarnedSoFar> {
        self.to_fact(self.find_earned(card_id, since))
    }

    fn incentive(&self, id: &str) -> Known<Fact<'_, Incentive>> {
        self.to_fact(self.find_incentive(id)).map(Fact::own)
    }

    fn stored_earnings(&self, earning_key: &EarningKey) -> Known<Vec<StoredEarning>> {
        self.to_fact(fired_rules::list_past_earnings(self.store, earning_key).map(Some).map_err(UnreadableFact::Fault))
    }

    fn credited_since(&self, earning_key: &EarningKey, card_id: &str, since: Instant) -> Known<u64> {
        self.to_fact(fired_rules::sum_earned(self.store, earning_key, card_id, since).map_err(UnreadableFact::Fault))
    }

    fn revocation(&self, card_definition_id: &str) -> Known<Option<Revocation>> {
        self.to_fact(self.find_definition(card_definition_id).map(|read| read.map(|read| read.revocation)))
    }

    fn limits(&self, card_definition_id: &str) -> Known<EarningLimits> {
        self.to_fact(self.find_definition(card_definition_id).map(|read| read.map(|read| read.earning)))
    }
}
