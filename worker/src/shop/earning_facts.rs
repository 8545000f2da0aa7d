//! What earning asks of the store: members with their programs, the rules that wait for what happened, cards, and what fired before.
//! It must not know what is earned, nor what becomes of it. A question has no way to fail, so a fault of the store is kept and must
//! be asked for at the end ([`StoredEarnings::end`]).

use crate::shop::cards::{self, Present};
use crate::shop::firings;
use crate::shop::lives::{CARD, CARD_DEFINITION, EARNING_RULE, INCENTIVE, MEMBER, PROGRAM};
use crate::store::Store;
use crate::store::document::{Document, Unread, legible, read_held, read_stored};
use crate::store::facts::StoreFacts;
use crate::store::sql::{self, Fault};
use scrip::facts::cards::card_account;
use scrip::facts::earning::{
    EarningCard, EarningFacts, EarningRule, HeldTier, Incentive, Membership, Occasion, PastEarning, Program, Standing,
};
use scrip::facts::{Fact, Facts, Known};
use scrip::model::order::Metadata;
use scrip::points::limits::{EarnedSoFar, Fired};
use scrip::points::{CardDefinition, Figure, Place, Revocation};
use scrip::text::Text;
use scrip::time::Instant;
use scrip::wire::cursor::{Read, read};
use scrip::wire::loyalty::card_definition::read_card_definition;
use scrip::wire::loyalty::earning_rule::read_earning_rule;
use scrip::wire::loyalty::incentive::read_incentive;
use scrip::wire::loyalty::program::read_program;
use serde_json::{Map, Value as Json};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A member of a program.
struct Member {
    id: String,
    is_active: bool,
    metadata: Metadata,
    program: Program,
    rules: Vec<String>,
    cards: Vec<EarningCard>,
}

/// The rules that wait for what happened, by id; nothing for one that does not read.
pub type Rules = BTreeMap<String, Option<EarningRule>>;
/// The definitions of cards, by id; one that does not read is left out.
pub type Definitions = BTreeMap<String, CardDefinition>;

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

/// What the store says of the earnings of a customer.
pub struct StoredEarnings<'a, 's> {
    store: &'a Store<'s>,
    facts: &'a StoreFacts<'a, 's>,
    present: &'a Present,
    members: Vec<Member>,
    rules: Rules,
    definitions: Definitions,
    fault: RefCell<Option<Fault>>,
}

impl<'a, 's> StoredEarnings<'a, 's> {
    /// Of nobody: for whoever asks of an occasion alone.
    pub fn of_nobody(store: &'a Store<'s>, facts: &'a StoreFacts<'a, 's>, present: &'a Present) -> Self {
        let (rules, definitions) = (BTreeMap::new(), BTreeMap::new());
        StoredEarnings { store, facts, present, members: Vec::new(), rules, definitions, fault: RefCell::default() }
    }

    /// What there is for a customer by an event of a kind.
    pub fn read(
        store: &'a Store<'s>,
        facts: &'a StoreFacts<'a, 's>,
        present: &'a Present,
        asked: &Asked<'_>,
    ) -> Result<Self, Fault> {
        let mut read = StoredEarnings::of_nobody(store, facts, present);
        read.find_members(asked)?;
        if !read.members.is_empty() {
            read.find_rules(asked.event)?;
        }
        if !read.rules.is_empty() {
            read.find_cards()?;
        }
        Ok(read)
    }

    /// Whether no rule of any program waits for what happened.
    pub fn is_idle(&self) -> bool {
        self.rules.is_empty()
    }

    /// Ends the asking with the rules and the definitions of the cards; or the fault of the store, if there was one.
    pub fn end(self) -> Result<(Rules, Definitions), Fault> {
        match self.fault.into_inner() {
            Some(fault) => Err(fault),
            None => Ok((self.rules, self.definitions)),
        }
    }

    fn find_members(&mut self, asked: &Asked<'_>) -> Result<(), Fault> {
        let statement = "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = ?1 AND holder = ?2 ORDER BY seq";
        let mut rows = self.store.documents(statement, &[MEMBER.stored.into(), asked.customer_id.into()])?;
        rows.retain(|row| asked.only.is_none_or(|only| only == row.id));
        let names: Vec<&str> = rows.iter().filter_map(|row| row.parent.as_deref()).collect();
        let mut programs: BTreeMap<String, Document> = BTreeMap::new();
        if !names.is_empty() {
            let found = self.store.documents_by_names(PROGRAM.stored, &[], &names)?;
            programs.extend(found.into_iter().map(|program| (program.id.clone(), program)));
        }
        for mut row in rows {
            if let (Some(supposed), Some(Json::Object(known))) = (asked.metadata, row.body.get_mut("metadata")) {
                known.extend(supposed.clone());
            }
            let Some(document) = row.parent.as_deref().and_then(|id| programs.get(id)) else { continue };
            // Nothing is earned in a program that does not read.
            let idle = Program { id: document.id.as_str().into(), is_active: false, ..Program::default() };
            let program = self.reading(PROGRAM.stored, document, read_program)?.unwrap_or(idle);
            let metadata = self.reading(MEMBER.stored, &row, |at| at.option("metadata", read::metadata))?;
            self.members.push(Member {
                is_active: row.body.get("status").and_then(Json::as_str) == Some("ACTIVE"),
                id: row.id,
                metadata: metadata.flatten().unwrap_or_default(),
                program,
                rules: Vec::new(),
                cards: Vec::new(),
            });
        }
        Ok(())
    }

    fn find_rules(&mut self, event: &str) -> Result<(), Fault> {
        let active = self.members.iter().filter(|member| member.is_active && member.program.is_active);
        let programs: Vec<&str> = active.map(|member| member.program.id.as_str()).collect();
        let rows = self.store.rows(
            "SELECT assigned.parent, rule.id, rule.body FROM document AS assigned
             JOIN document AS rule ON rule.kind = ?3 AND rule.id = assigned.holder
             WHERE assigned.kind = ?1 AND assigned.parent IN (SELECT value FROM json_each(?2))
               AND json_extract(rule.body, '$.status') = 'ACTIVE' AND json_extract(rule.body, '$.trigger.event') = ?4
             ORDER BY assigned.parent, assigned.seq",
            &[
                EARNING_RULE.assigned.unwrap_or_default().into(),
                Json::from(programs).to_string().into(),
                EARNING_RULE.stored.into(),
                event.into(),
            ],
        )?;
        for row in &rows {
            let (program, id) = (sql::text(row, 0)?, sql::text(row, 1)?);
            if !self.rules.contains_key(id) {
                let read = read_stored(EARNING_RULE.stored, id, sql::text(row, 2)?, read_earning_rule);
                let read = legible(self.store, read)?;
                self.rules.insert(id.to_owned(), read);
            }
            let members = self.members.iter_mut().filter(|member| member.program.id == program);
            members.for_each(|member| member.rules.push(id.to_owned()));
        }
        Ok(())
    }

    fn find_cards(&mut self) -> Result<(), Fault> {
        let members: Vec<&str> = self.members.iter().map(|member| member.id.as_str()).collect();
        let rows = self.store.rows(
            "SELECT parent, id, json_extract(body, '$.card_definition_id') FROM document
             WHERE kind = ?1 AND parent IN (SELECT value FROM json_each(?2)) ORDER BY seq",
            &[CARD.stored.into(), Json::from(members).to_string().into()],
        )?;
        let mut ids: Vec<&str> = Vec::new();
        for row in &rows {
            let id = sql::text(row, 2)?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        for document in self.store.documents_by_names(CARD_DEFINITION.stored, &[], &ids)? {
            if let Some(read) = self.reading(CARD_DEFINITION.stored, &document, read_card_definition)? {
                self.definitions.insert(document.id, read);
            }
        }
        for row in &rows {
            let (member, card, definition) = (sql::text(row, 0)?, sql::text(row, 1)?, sql::text(row, 2)?);
            let Some(known) = self.definitions.get(definition) else { continue };
            let limits = known.earning;
            if let Some(member) = self.members.iter_mut().find(|known| known.id == member) {
                let card_definition_id = definition.into();
                member.cards.push(EarningCard { id: card.into(), card_definition_id, limits });
            }
        }
        Ok(())
    }

    fn reading<T>(&self, kind: &str, document: &Document, read: Read<T>) -> Result<Option<T>, Fault> {
        legible(self.store, read_held(kind, document, read))
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
            let rule = self.rules.get(id).and_then(Option::as_ref);
            (Text::from(id.as_str()), rule.map_or(Known::Unreadable, |rule| Known::Is(Fact::Lent(rule))))
        };
        let member = |member: &'_ Member| Membership {
            member_id: member.id.as_str().into(),
            is_active: member.is_active,
            metadata: member.metadata.clone(),
            program: Fact::own(member.program.clone()),
            rules: member.rules.iter().map(rule).collect(),
            tiers: Vec::<HeldTier>::new(),
            cards: member.cards.clone(),
        };
        Known::Is(self.members.iter().map(member).collect())
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
