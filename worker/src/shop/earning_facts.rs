//! What earning asks of the store: members with their programs, the rules that wait for what happened, cards, and what fired before.
//! It must not know what is earned, nor what becomes of it. A question has no way to fail, so a fault of the store is kept and must
//! be asked for at the end ([`StoredEarnings::end`]).

use crate::shop::cards::{self, Present};
use crate::shop::firings;
use crate::shop::lives::{CARD, CARD_DEFINITION, EARNING_RULE, INCENTIVE, MEMBER, PROGRAM};
use crate::store::Store;
use crate::store::document::{Unread, legible, read_held, read_stored};
use crate::store::edition::{Edition, Readings, once};
use crate::store::facts::StoreFacts;
use crate::store::sql::{self, Fault};
use scrip::facts::cards::card_account;
use scrip::facts::earning::{
    Earning, EarningCard, EarningFacts, EarningRule, HeldTier, Incentive, Membership, Occasion, PastEarning, Program,
    Standing,
};
use scrip::facts::{Fact, Facts, Known};
use scrip::model::order::Metadata;
use scrip::points::limits::{EarnedSoFar, EarningLimits, Fired};
use scrip::points::{CardDefinition, Figure, Place, Revocation};
use scrip::text::Text;
use scrip::time::Instant;
use scrip::wire::cursor::read;
use scrip::wire::loyalty::card_definition::read_card_definition;
use scrip::wire::loyalty::earning_rule::read_earning_rule;
use scrip::wire::loyalty::incentive::read_incentive;
use scrip::wire::loyalty::program::read_program;
use serde_json::{Map, Value as Json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// A member of a program.
struct Member {
    id: String,
    is_active: bool,
    metadata: Metadata,
    program: Program,
    rules: Vec<String>,
    tiers: Vec<HeldTier>,
    cards: Vec<EarningCard>,
}

/// The rules that wait for what happened, by id; nothing for one that does not read.
pub type Rules = BTreeMap<String, Option<Arc<EarningRule>>>;
/// The definitions of cards, by id; one that does not read is left out.
pub type Definitions = BTreeMap<String, Arc<CardDefinition>>;

static PROGRAMS: Readings<Program> = Readings::empty();
/// By program and event.
static RULES: Readings<Vec<(String, Option<Arc<EarningRule>>)>> = Readings::empty();
static DEFINITIONS: Readings<CardDefinition> = Readings::empty();

/// What is asked about.
pub struct Asked<'q> {
    /// The customer.
    pub customer_id: &'q str,
    /// What happens: `customer.order.paid`, ...
    pub event: &'q str,
    /// The one membership that is meant; all where none is.
    pub only: Option<&'q str>,
    /// What members say instead of what they are stored with.
    pub metadata: Option<&'q Map<String, Json>>,
}

/// The memberships of a customer with what may be earned in them.
#[derive(Default)]
pub struct Memberships {
    members: Vec<Member>,
    edition: Edition,
    /// The rules that wait for what happens.
    pub rules: Rules,
    /// The definitions of the cards.
    pub definitions: Definitions,
}

impl Memberships {
    /// What there is for a customer by an event of a kind.
    pub fn read(store: &Store<'_>, asked: &Asked<'_>) -> Result<Memberships, Fault> {
        let mut read = Memberships::default();
        read.find_members(store, asked)?;
        if !read.members.is_empty() {
            read.find_rules(store, asked.event)?;
        }
        if !read.rules.is_empty() {
            read.find_definitions(store)?;
        }
        Ok(read)
    }

    /// Whether no rule of any program waits for what happened.
    pub fn is_idle(&self) -> bool {
        self.rules.is_empty()
    }

    /// The members whose tiers some rule asks for: all, as one that looks at the tiers of a customer looks at every program's.
    pub fn asking_tiers(&self) -> Vec<String> {
        let asks = |earning: &Earning| {
            let mut asks = earning.tiers.is_some();
            earning.rule.tests.each_leaf(&mut |leaf| asks |= leaf.test.name.text == "customer.loyalty.tier");
            asks
        };
        let any = self.rules.values().flatten().any(|rule| rule.earnings.iter().any(asks));
        self.members.iter().filter(|_| any).map(|member| member.id.clone()).collect()
    }

    /// Says in which tier a member is.
    pub fn put_tier(&mut self, member_id: &str, tier: HeldTier) {
        if let Some(member) = self.members.iter_mut().find(|member| member.id == member_id) {
            member.tiers.push(tier);
        }
    }

    /// The members and their cards are read together, each as far as earning asks: whoever is in a program has a card.
    fn find_members(&mut self, store: &Store<'_>, asked: &Asked<'_>) -> Result<(), Fault> {
        let rows = store.rows(
            &MEMBERS_WITH_CARDS,
            &[MEMBER.stored.into(), asked.customer_id.into(), CARD.stored.into(), asked.only.map(str::to_owned).into()],
        )?;
        if let Some(row) = rows.first() {
            self.edition = Edition::said(sql::text(row, 6)?);
        }
        let names: Vec<&str> = rows.iter().filter_map(|row| sql::text(row, 1).ok()).collect();
        let programs = PROGRAMS.find(store, &self.edition, (PROGRAM.stored, &names), read_program)?;
        for row in &rows {
            let (id, program) = (sql::text(row, 0)?, sql::text(row, 1)?);
            if self.members.last().is_none_or(|last| last.id != id) {
                let Some(known) = programs.get(program) else { continue };
                // Nothing is earned in a program that does not read.
                let idle = || Program { id: program.into(), is_active: false, ..Program::default() };
                let mut metadata = member_data(store, id, sql::text_or_null(row, 3)?)?;
                if let Some(supposed) = asked.metadata {
                    metadata.overlay(Metadata::of_fields(supposed).iter());
                }
                self.members.push(Member {
                    id: id.to_owned(),
                    is_active: sql::text_or_null(row, 2)? == Some("ACTIVE"),
                    metadata,
                    program: known.as_deref().cloned().unwrap_or_else(idle),
                    rules: Vec::new(),
                    tiers: Vec::new(),
                    cards: Vec::new(),
                });
            }
            if let (Some(card), Some(definition)) = (sql::text_or_null(row, 4)?, sql::text_or_null(row, 5)?) {
                let (id, card_definition_id) = (card.into(), definition.into());
                let own = EarningCard { id, card_definition_id, limits: EarningLimits::default() };
                self.members.last_mut().into_iter().for_each(|member| member.cards.push(own.clone()));
            }
        }
        Ok(())
    }

    fn find_rules(&mut self, store: &Store<'_>, event: &str) -> Result<(), Fault> {
        let active = self.members.iter().filter(|member| member.is_active && member.program.is_active);
        let programs: Vec<&str> = active.map(|member| member.program.id.as_str()).collect();
        for (program, waiting) in waiting(store, &self.edition, &programs, event)? {
            let members = self.members.iter_mut().filter(|member| member.program.id == program.as_str());
            members.for_each(|member| member.rules.extend(waiting.iter().map(|(id, _)| id.clone())));
            self.rules.extend(waiting.iter().cloned());
        }
        Ok(())
    }

    /// What the definitions of the cards say; a card of one that does not read earns nothing.
    fn find_definitions(&mut self, store: &Store<'_>) -> Result<(), Fault> {
        let cards = self.members.iter().flat_map(|member| &member.cards);
        let mut names: Vec<&str> = cards.map(|card| card.card_definition_id.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let found = DEFINITIONS.find(store, &self.edition, (CARD_DEFINITION.stored, &names), read_card_definition)?;
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

/// What a member says, of whom the store has this text of it.
fn member_data(store: &Store<'_>, id: &str, text: Option<&str>) -> Result<Metadata, Fault> {
    match text {
        None | Some("{}") => Ok(Metadata::default()),
        Some(text) => Ok(legible(store, read_stored(MEMBER.stored, id, text, read::metadata))?.unwrap_or_default()),
    }
}

/// The members of a customer, or the one that is meant, with their cards, and the edition.
static MEMBERS_WITH_CARDS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT member.id, member.parent, json_extract(member.body, '$.status'), json_extract(member.body, '$.metadata'),
           card.id, json_extract(card.body, '$.card_definition_id'), {}
         FROM document AS member LEFT JOIN document AS card ON card.kind = +?3 AND card.parent = member.id
         WHERE member.kind = +?1 AND member.holder = +?2 AND (?4 IS NULL OR member.id = +?4) ORDER BY member.seq, card.seq",
        Edition::COLUMN
    )
});

/// The rules of a program that wait for an event, in the order in which they were assigned.
type Waiting = Arc<Vec<(String, Option<Arc<EarningRule>>)>>;

/// The rules of programs that wait for an event, by program.
fn waiting(
    store: &Store<'_>,
    edition: &Edition,
    programs: &[&str],
    event: &str,
) -> Result<BTreeMap<String, Waiting>, Fault> {
    let name = |program: &str| format!("{program}/{event}");
    let mut found = BTreeMap::new();
    let mut wanted: Vec<&str> = Vec::new();
    for program in programs {
        match RULES.get(edition, &name(program)).flatten() {
            Some(known) => drop(found.insert((*program).to_owned(), known)),
            None => wanted.push(program),
        }
    }
    if wanted.is_empty() {
        return Ok(found);
    }
    let rows = store.rows(
        "SELECT assigned.parent, rule.id, rule.body FROM document AS assigned
         JOIN document AS rule ON rule.kind = +?3 AND rule.id = assigned.holder AND rule.parent = +?4
         WHERE assigned.kind = +?1 AND assigned.parent IN (SELECT value FROM json_each(?2))
         ORDER BY assigned.parent, assigned.seq",
        &[
            EARNING_RULE.assigned.unwrap_or_default().into(),
            Json::from(wanted.clone()).to_string().into(),
            EARNING_RULE.stored.into(),
            event.into(),
        ],
    )?;
    for program in wanted {
        let (mut rules, mut bytes) = (Vec::new(), 0_usize);
        for row in rows.iter().filter(|row| sql::text(row, 0).is_ok_and(|parent| parent == program)) {
            let (id, text) = (sql::text(row, 1)?, sql::text(row, 2)?);
            let read = once(store, read_stored(EARNING_RULE.stored, id, text, read_earning_rule))?;
            if read.as_ref().is_none_or(|rule| rule.is_active) {
                rules.push((id.to_owned(), read));
            }
            bytes = bytes.saturating_add(text.len());
        }
        let rules = Arc::new(rules);
        RULES.put(edition, &name(program), (Some(Arc::clone(&rules)), bytes));
        found.insert(program.to_owned(), rules);
    }
    Ok(found)
}

/// What the store says of the earnings of a customer.
pub struct StoredEarnings<'a, 's> {
    store: &'a Store<'s>,
    facts: &'a StoreFacts<'a, 's>,
    present: &'a Present,
    of: &'a Memberships,
    fault: RefCell<Option<Fault>>,
}

impl<'a, 's> StoredEarnings<'a, 's> {
    /// The facts for one decision.
    pub fn new(
        store: &'a Store<'s>,
        facts: &'a StoreFacts<'a, 's>,
        present: &'a Present,
        of: &'a Memberships,
    ) -> StoredEarnings<'a, 's> {
        StoredEarnings { store, facts, present, of, fault: RefCell::default() }
    }

    /// Ends the asking: the fault of the store, if there was one.
    pub fn end(self) -> Result<(), Fault> {
        self.fault.into_inner().map_or(Ok(()), Err)
    }

    /// The fact; a fault is kept, and what does not read is noted for whoever keeps the service.
    fn known<T>(&self, outcome: Result<Option<T>, Unread>) -> Known<T> {
        match outcome {
            Ok(fact) => fact.into(),
            Err(Unread::Illegible(what)) => {
                self.store.note(what);
                Known::Unreadable
            }
            Err(Unread::Fault(fault)) => {
                self.fault.borrow_mut().get_or_insert(fault);
                Known::Unreadable
            }
        }
    }

    fn find_earned(&self, card_id: &str, since: Option<Instant>) -> Result<Option<EarnedSoFar>, Unread> {
        let Some(row) = self.store.document(CARD.stored, card_id)? else { return Ok(None) };
        let held = cards::load(self.store, row, &[])?;
        let settled = held
            .card
            .settle(&self.present.now())
            .map_err(|refused| Unread::Illegible(format!("the card `{card_id}` cannot be settled: {refused:?}")))?;
        let moved = |figure| {
            let account = card_account(card_id, &Place::Figure(figure));
            since.map_or(0, |since| self.facts.moved(&account, since).found().unwrap_or(0))
        };
        // What waited and became active is counted where it began to wait.
        let all = moved(Figure::Earned).saturating_add(moved(Figure::PendingTotal));
        let in_period = all.saturating_sub(moved(Figure::PendingActivated));
        Ok(Some(EarnedSoFar { balance: settled.card.balance(), pending: settled.card.waiting(), in_period }))
    }

    fn find_incentive(&self, id: &str) -> Result<Option<Incentive>, Unread> {
        let Some(document) = self.store.document(INCENTIVE.stored, id)? else { return Ok(None) };
        read_held(INCENTIVE.stored, &document, read_incentive).map(Some)
    }

    fn find_revocation(&self, definition: &str) -> Result<Option<Option<Revocation>>, Unread> {
        let Some(document) = self.store.document(CARD_DEFINITION.stored, definition)? else { return Ok(None) };
        let read = read_held(CARD_DEFINITION.stored, &document, read_card_definition)?;
        Ok(Some(read.earned_back))
    }
}

impl EarningFacts for StoredEarnings<'_, '_> {
    fn standing(&self, occasion: &Occasion) -> Known<Standing> {
        self.known(firings::standing(self.store, occasion).map_err(Unread::Fault))
    }

    fn memberships(&self, _: &str) -> Known<Vec<Membership<'_>>> {
        let rule = |id: &String| {
            let rule = self.of.rules.get(id).and_then(Option::as_deref);
            (Text::from(id.as_str()), rule.map_or(Known::Unreadable, |rule| Known::Is(Fact::Lent(rule))))
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
        Known::Is(self.of.members.iter().map(member).collect())
    }

    fn fired(&self, member_id: &str, rule_id: &str, since: Option<Instant>) -> Known<Fired> {
        self.known(firings::fired(self.store, (member_id, rule_id), since).map(Some).map_err(Unread::Fault))
    }

    fn earned(&self, card_id: &str, since: Option<Instant>) -> Known<EarnedSoFar> {
        self.known(self.find_earned(card_id, since))
    }

    fn incentive(&self, id: &str) -> Known<Fact<'_, Incentive>> {
        self.known(self.find_incentive(id)).map(Fact::own)
    }

    fn past(&self, occasion: &Occasion) -> Known<Vec<PastEarning>> {
        self.known(firings::past(self.store, occasion).map(Some).map_err(Unread::Fault))
    }

    fn revocation(&self, card_definition_id: &str) -> Known<Option<Revocation>> {
        self.known(self.find_revocation(card_definition_id))
    }
}
