//! What earning in loyalty campaigns asks of the store: the campaigns with rules that wait for what happened, the customer's cards of
//! them, and whether it happened before. It must not know what is earned, nor what becomes of it.

use crate::shop::campaigns::{CAMPAIGN, PROGRAM};
use crate::shop::program_rules::PROGRAM_RULE;
use crate::store::Store;
use crate::store::document::{self, COLUMNS, Document, legible, read_held};
use crate::store::facts::StoreFacts;
use crate::store::sql::Fault;
use scrip::decide::earn::What;
use scrip::facts::earning::{
    EarningCard, EarningFacts, EarningRule, Incentive, Membership, Occasion, PastEarning, Program, Standing,
};
use scrip::facts::{Fact, Facts, Known};
use scrip::model::order::Metadata;
use scrip::points::Revocation;
use scrip::points::limits::{EarnedSoFar, EarningLimits, Fired};
use scrip::rules::Rule;
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};
use scrip::wire::loyalty::program_rule::read_program_rule;
use scrip::wire::voucher::{read_campaign, read_voucher};
use serde_json::Value as Json;

/// A loyalty campaign in which a customer may earn.
pub struct Joined {
    /// The campaign.
    pub campaign: Document,
    /// The customer's card of it; nothing where they have none.
    pub card: Option<Document>,
    /// The rules that wait for what happened, with what their transactions tell of them; nothing of one that does not read.
    pub rules: Vec<(Document, Option<EarningRule>)>,
    is_open: bool,
    program: Program,
}

/// Why nothing can be earned in a campaign now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// It is switched off, or does not hold now.
    Campaign,
    /// The customer's card is, or does not.
    Card,
    /// The customer has no card, and does not get one by earning.
    NoMember,
}

impl Joined {
    /// Why nothing can be earned at a moment, if there is a reason.
    pub fn closed(&self, now: Instant, zone: &TimeZone) -> Option<Closed> {
        let is_running = self.program.is_active && self.program.validity.holds(now, zone);
        match (is_running, self.is_open, &self.card) {
            (false, _, _) => Some(Closed::Campaign),
            (true, true, _) => None,
            (true, false, Some(_)) => Some(Closed::Card),
            (true, false, None) => Some(Closed::NoMember),
        }
    }

    /// The rule with an id.
    pub fn rule(&self, id: &str) -> Option<&Document> {
        self.rules.iter().map(|(rule, _)| rule).find(|rule| rule.id == id)
    }
}

/// The campaigns in which a customer may earn by what happened: those that they have a card of, and those that whoever earns joins.
pub fn joined(
    store: &Store<'_>,
    facts: &StoreFacts<'_, '_>,
    (customer_id, what): (&str, What<'_>),
    (now, zone): (Instant, &TimeZone),
) -> Result<Vec<Joined>, Fault> {
    let mut rules = waiting(store, facts, what)?;
    let mut names: Vec<&str> = rules.iter().filter_map(|(rule, _)| rule.parent.as_deref()).collect();
    names.dedup();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let campaigns = store.documents_by_names(CAMPAIGN.object, &[], &names)?;
    let mut found = Vec::new();
    for campaign in campaigns {
        if campaign.body.get("campaign_type").and_then(Json::as_str) != Some(PROGRAM) {
            continue;
        }
        let own = rules.extract_if(.., |(rule, _)| rule.parent.as_ref() == Some(&campaign.id)).collect();
        found.push(join(store, campaign, (Some(customer_id), own), (now, zone))?);
    }
    Ok(found)
}

/// One campaign in which a customer may earn by what happens; of somebody who is not stored there is no card.
pub fn joined_to(
    store: &Store<'_>,
    facts: &StoreFacts<'_, '_>,
    campaign: &Document,
    (customer_id, what): (Option<&str>, What<'_>),
    at: (Instant, &TimeZone),
) -> Result<Joined, Fault> {
    let mut rules = waiting(store, facts, what)?;
    rules.retain(|(rule, _)| rule.parent.as_ref() == Some(&campaign.id));
    join(store, campaign.clone(), (customer_id, rules), at)
}

fn join(
    store: &Store<'_>,
    campaign: Document,
    (customer_id, rules): (Option<&str>, Vec<(Document, Option<EarningRule>)>),
    (now, zone): (Instant, &TimeZone),
) -> Result<Joined, Fault> {
    let card = match customer_id {
        Some(customer_id) => store.card_of(&campaign.id, customer_id)?,
        None => None,
    };
    let is_open = match &card {
        Some(card) => is_usable(store, card, (now, zone))?,
        None => campaign.body.get("auto_join").and_then(Json::as_bool) == Some(true),
    };
    let read = legible(store, read_held(CAMPAIGN.object, &campaign, read_campaign))?;
    // Nothing is earned in a campaign that does not read.
    let program = match read {
        Some(read) => Program { id: read.id, is_active: read.active, validity: read.validity },
        None => Program { id: campaign.id.as_str().into(), is_active: false, ..Program::default() },
    };
    Ok(Joined { campaign, card, rules, is_open, program })
}

/// Whether points go to a card now: it is switched on and within its dates.
fn is_usable(store: &Store<'_>, card: &Document, (now, zone): (Instant, &TimeZone)) -> Result<bool, Fault> {
    let read = legible(store, read_held("voucher", card, |at| read_voucher(at, "")))?;
    Ok(read.is_some_and(|card| card.active && card.validity.holds(now, zone)))
}

/// The rules that wait for what happened, each with its validation rule, those of one campaign together.
fn waiting(
    store: &Store<'_>,
    facts: &StoreFacts<'_, '_>,
    what: What<'_>,
) -> Result<Vec<(Document, Option<EarningRule>)>, Fault> {
    let (column, value) = match what {
        What::OrderPaid(_) => ("$.event", "order.paid"),
        What::CustomEvent { schema_id, .. } => ("$.custom_event.schema_id", schema_id.unwrap_or_default()),
        What::SegmentEntered(id) => ("$.segment.id", id.unwrap_or_default()),
    };
    let rows = store.rows(
        &format!(
            "SELECT {COLUMNS} FROM document WHERE kind = +?1 AND json_extract(body, ?2) = +?3 AND json_extract(body, '$.active')
             ORDER BY parent, seq"
        ),
        &[PROGRAM_RULE.object.into(), column.into(), value.into()],
    )?;
    let mut found = Vec::new();
    for row in &rows {
        let document = document::read(row)?;
        let mut read = legible(store, read_held("earning rule", &document, read_program_rule))?;
        match assigned(facts, &document.id) {
            Ok(None) => {}
            Ok(Some(rule)) => {
                let earnings = read.iter_mut().flat_map(|read| &mut read.earnings);
                earnings.for_each(|earning| earning.rule = rule.clone());
            }
            Err(Unsaid) => read = None,
        }
        found.push((document, read));
    }
    Ok(found)
}

/// Nobody can say what is asked.
struct Unsaid;

/// The validation rule of an earning rule, which has one at most.
fn assigned(facts: &StoreFacts<'_, '_>, id: &str) -> Result<Option<Rule>, Unsaid> {
    match facts.rules_of(id) {
        Known::Absent => Ok(None),
        Known::Is(rules) => match rules.as_slice() {
            [] => Ok(None),
            [rule] => Ok(Some((**rule).clone())),
            _ => Err(Unsaid),
        },
        Known::Unknown | Known::Unreadable => Err(Unsaid),
    }
}

/// What the store says of what a customer may earn in campaigns.
pub struct ProgramEarnings<'a> {
    /// The campaigns.
    pub joined: &'a [Joined],
    /// What became of the occasion.
    pub standing: Standing,
}

impl EarningFacts for ProgramEarnings<'_> {
    fn standing(&self, _: &Occasion) -> Known<Standing> {
        Known::Is(self.standing)
    }

    fn memberships(&self, _: &str) -> Known<Vec<Membership<'_>>> {
        let rule = |(rule, read): &'_ (Document, Option<EarningRule>)| {
            let id = Text::from(rule.id.as_str());
            (id, read.clone().map_or(Known::Unreadable, |read| Known::Is(Fact::own(read))))
        };
        let member = |joined: &Joined| {
            let id = Text::from(joined.campaign.id.as_str());
            Membership {
                member_id: id.clone(),
                is_active: joined.is_open,
                metadata: Metadata::default(),
                program: Fact::own(joined.program.clone()),
                rules: joined.rules.iter().map(rule).collect(),
                tiers: Vec::new(),
                cards: vec![EarningCard { id: id.clone(), card_definition_id: id, limits: EarningLimits::default() }],
            }
        };
        Known::Is(self.joined.iter().map(member).collect())
    }

    fn fired(&self, _: &str, _: &str, _: Option<Instant>) -> Known<Fired> {
        Known::Absent
    }

    fn earned(&self, _: &str, _: Option<Instant>) -> Known<EarnedSoFar> {
        Known::Absent
    }

    fn incentive(&self, _: &str) -> Known<Fact<'_, Incentive>> {
        Known::Absent
    }

    fn past(&self, _: &Occasion) -> Known<Vec<PastEarning>> {
        Known::Absent
    }

    fn revocation(&self, _: &str) -> Known<Option<Revocation>> {
        Known::Absent
    }
}
