//! Reads everything that may qualify from the store: a statement for each kind, one for all campaigns, one for all rules,
//! one for all balances, however many there are. It must not know what qualifies.

use super::Store;
use super::document::{illegible, legible, read_stored};
use super::sql::{self, Fault, Row};
use scrip::facts::{Candidates, Entry, Fact, Known, Seek, credits_account, incentive_account, points_account};
use scrip::model::incentive::{Campaign, Grant, Incentive};
use scrip::model::qualification::{Candidate, CandidateObject};
use scrip::rules::Rule;
use scrip::text::Text;
use scrip::time::Instant;
use scrip::wire::Node;
use scrip::wire::candidates::{read_campaign_voucher, read_candidate};
use scrip::wire::cursor::{Cursor, Read};
use scrip::wire::document::read_whole;
use scrip::wire::rules::read_rule;
use scrip::wire::voucher::{read_campaign, read_stack, read_tier, read_voucher};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// How many of one kind are looked at, the newest first: a project may have a million codes that anybody may use.
const CANDIDATES_MAX: i64 = 2_000;

/// Everything that may qualify, and what a decision will ask of it.
#[derive(Default)]
pub struct Offered {
    /// The moment at which it is what it is.
    pub now: Instant,
    /// All of it, prepared.
    pub set: Candidates,
    /// Vouchers by code and by id, tiers by id.
    pub incentives: BTreeMap<Text, Incentive>,
    /// What a code of a campaign would be, by the campaign's id.
    pub campaign_vouchers: BTreeMap<Text, Incentive>,
    /// Campaigns by id.
    pub campaigns: BTreeMap<Text, Campaign>,
    /// Every rule that was assigned to any of them, by id; nothing for one that cannot be read.
    pub rules: BTreeMap<Text, Option<Rule>>,
    /// The ids of the rules assigned to each name.
    pub assigned: BTreeMap<Text, Vec<Text>>,
    /// Balances of the accounts that limit them.
    pub balances: BTreeMap<String, i64>,
    /// Those of these accounts that nobody holds anything of.
    pub unheld: BTreeSet<String>,
}

/// Codes that stand for a campaign, as its document says it.
struct Program {
    campaign_type: Option<Text>,
    standalone: bool,
}

impl Offered {
    /// Reads it.
    pub fn read(store: &Store<'_>, seek: &Seek<'_>, now: Instant) -> Result<Offered, Fault> {
        let mut offered = Offered { now, ..Offered::default() };
        let mut programs = BTreeMap::new();
        let mut list = Vec::new();
        if seek.stacks {
            list.extend(read_stacks(store)?);
        } else {
            if !seek.wallet {
                list.extend(offered.read_campaigns(store, &mut programs, None)?);
            }
            let (passed_on, published) = (passed_on(store, seek)?, published(store, seek)?);
            let vouchers = voucher_rows(store, seek, &programs, passed_on.union(&published))?;
            let tiers = if seek.wallet { Vec::new() } else { newest(store, "promotion_tier")? };
            let missing = parents(vouchers.iter().chain(&tiers))?;
            let missing: Vec<&str> = missing.into_iter().filter(|id| !programs.contains_key(*id)).collect();
            if !missing.is_empty() {
                // Campaigns of codes that are somebody's, and of tiers, are not listed themselves here.
                offered.read_campaigns(store, &mut programs, Some(&missing))?;
            }
            list.extend(offered.read_incentives(store, &vouchers, CandidateObject::Voucher, &programs)?);
            for candidate in &mut list {
                candidate.passed_on = passed_on.contains(candidate.id.as_str());
                candidate.published = published.contains(candidate.id.as_str());
            }
            list.extend(offered.read_incentives(store, &tiers, CandidateObject::PromotionTier, &programs)?);
        }
        offered.read_rules(store, &list)?;
        offered.read_balances(store)?;
        offered.set = offered.prepare(&list);
        Ok(offered)
    }

    /// The newest campaigns or those of these ids; gives those that stand for their codes.
    fn read_campaigns(
        &mut self,
        store: &Store<'_>,
        programs: &mut BTreeMap<Text, Program>,
        ids: Option<&[&str]>,
    ) -> Result<Vec<Candidate>, Fault> {
        let rows = match ids {
            None => newest(store, "campaign")?,
            Some(ids) => store.rows(
                "SELECT seq, id, parent, body FROM document WHERE kind = 'campaign' AND id IN (SELECT value FROM json_each(?1))",
                &[Json::from(ids.to_vec()).to_string().into()],
            )?,
        };
        let mut list = Vec::new();
        for row in &rows {
            let (id, text) = (sql::text(row, 1)?, sql::text(row, 3)?);
            let read = |at: &Cursor<'_>| {
                let standalone = at.node.get("type").and_then(Node::as_str) == Some("STANDALONE");
                let candidate = read_candidate(at, CandidateObject::Campaign);
                (standalone, candidate, read_campaign(at), read_campaign_voucher(at))
            };
            let read = read_whole(text.as_bytes(), read).map_err(|problem| illegible("campaign", id, &problem));
            // Its codes and tiers are left out with it.
            let Some((standalone, candidate, campaign, voucher)) = legible(store, read)? else { continue };
            programs.insert(id.into(), Program { campaign_type: candidate.campaign_type.clone(), standalone });
            self.campaigns.insert(id.into(), campaign);
            if let Some(voucher) = voucher.filter(|_| !standalone) {
                self.campaign_vouchers.insert(id.into(), voucher);
                list.push(candidate);
            }
        }
        Ok(list)
    }

    fn read_incentives(
        &mut self,
        store: &Store<'_>,
        rows: &[Row],
        object: CandidateObject,
        programs: &BTreeMap<Text, Program>,
    ) -> Result<Vec<Candidate>, Fault> {
        let mut list = Vec::new();
        for row in rows {
            let (id, text) = (sql::text(row, 1)?, sql::text(row, 3)?);
            let is_voucher = object == CandidateObject::Voucher;
            // One whose campaign is gone is gone as well.
            if sql::text_or_null(row, 2)?.is_some_and(|parent| !programs.contains_key(parent)) {
                continue;
            }
            let read = |at: &Cursor<'_>| {
                let incentive = if is_voucher { read_voucher(at, text) } else { read_tier(at, text) };
                (read_candidate(at, object), incentive)
            };
            let read = read_whole(text.as_bytes(), read).map_err(|problem| illegible(object.name(), id, &problem));
            let Some((mut candidate, incentive)) = legible(store, read)? else { continue };
            let incentive = incentive.at(self.now);
            if let Some(program) = incentive.campaign_id.as_ref().and_then(|id| programs.get(id)) {
                candidate.public = !is_voucher || program.standalone;
                candidate.campaign_type = candidate.campaign_type.or_else(|| program.campaign_type.clone());
            }
            if is_voucher && incentive.code != incentive.id {
                self.incentives.insert(incentive.code.clone(), incentive.clone());
            }
            self.incentives.insert(incentive.id.clone(), incentive);
            list.push(candidate);
        }
        Ok(list)
    }

    /// The rules of all candidates and of their campaigns.
    fn read_rules(&mut self, store: &Store<'_>, list: &[Candidate]) -> Result<(), Fault> {
        let mut names: BTreeSet<&str> = self.campaigns.keys().map(Text::as_str).collect();
        names.extend(list.iter().flat_map(|candidate| [candidate.id.as_str(), candidate.code.as_str()]));
        let names: Vec<&str> = names.into_iter().collect();
        let given = store.rows_among(
            "SELECT parent, CASE json_type(body, '$.rule_id') WHEN 'text' THEN json_extract(body, '$.rule_id') END FROM document
             WHERE kind = 'validation_rules_assignment' AND parent IN (SELECT value FROM json_each(?1)) ORDER BY seq",
            &names,
        )?;
        let mut wanted = BTreeSet::new();
        for row in &given {
            // A rule without a name can be any.
            let rule = sql::text_or_null(row, 1)?.unwrap_or_default();
            self.assigned.entry(sql::text(row, 0)?.into()).or_default().push(rule.into());
            wanted.insert(rule);
        }
        self.rules.insert(Text::default(), None);
        let rows = store.rows(
            "SELECT id, body FROM document WHERE kind = 'validation_rules' AND id IN (SELECT value FROM json_each(?1))",
            &[Json::from(wanted.into_iter().collect::<Vec<&str>>()).to_string().into()],
        )?;
        for row in &rows {
            let id = sql::text(row, 0)?;
            let read = read_stored("validation rule", id, sql::text(row, 1)?, read_rule);
            self.rules.insert(id.into(), legible(store, read)?);
        }
        Ok(())
    }

    /// What is left of everything that is limited.
    fn read_balances(&mut self, store: &Store<'_>) -> Result<(), Fault> {
        let mut accounts = BTreeSet::new();
        for incentive in self.incentives.values() {
            if incentive.quantity.is_some() {
                accounts.insert(incentive_account(incentive).to_string());
            }
            match incentive.grant {
                Grant::Gift(_) => drop(accounts.insert(credits_account(&incentive.id).to_string())),
                Grant::Loyalty(_) => drop(accounts.insert(points_account(&incentive.id).to_string())),
                Grant::Discount(_) => {}
            }
        }
        if accounts.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = accounts.iter().map(String::as_str).collect();
        let rows = store
            .rows_among("SELECT id, balance FROM account WHERE id IN (SELECT value FROM json_each(?1))", &names)?;
        let held = store.rows_among(
            "SELECT DISTINCT account FROM hold WHERE account IN (SELECT value FROM json_each(?1))",
            &names,
        )?;
        self.balances = accounts.iter().map(|account| (account.clone(), 0)).collect();
        for row in &rows {
            self.balances.insert(sql::text(row, 0)?.to_owned(), sql::int(row, 1)?);
        }
        for row in &held {
            accounts.remove(sql::text(row, 0)?);
        }
        self.unheld = accounts;
        Ok(())
    }

    /// Whether this voucher, tier or campaign was read, and its rules with it.
    pub fn has(&self, id: &str) -> bool {
        self.incentives.contains_key(id) || self.campaign_vouchers.contains_key(id)
    }

    /// The rules assigned to these names, each once; all of them must be readable.
    pub fn rules_of(&self, names: &[&str]) -> Known<Vec<Fact<'_, Rule>>> {
        let mut rules: Vec<Fact<'_, Rule>> = Vec::new();
        for id in names.iter().filter_map(|name| self.assigned.get(*name)).flatten() {
            match self.rules.get(id) {
                Some(Some(rule)) if rules.iter().any(|known| known.id == rule.id) => {}
                Some(Some(rule)) => rules.push(Fact::Lent(rule)),
                Some(None) => return Known::Unreadable,
                // The rule is gone.
                None => {}
            }
        }
        Known::Is(rules)
    }

    fn prepare(&self, list: &[Candidate]) -> Candidates {
        let mut entries = Vec::with_capacity(list.len());
        for candidate in list {
            let incentive = match candidate.object {
                CandidateObject::Campaign => self.campaign_vouchers.get(&candidate.id),
                CandidateObject::Voucher | CandidateObject::PromotionTier => self.incentives.get(&candidate.id),
                CandidateObject::PromotionStack => None,
            };
            let campaign_id = incentive.and_then(|incentive| incentive.campaign_id.as_ref());
            let mut names = vec![candidate.id.as_str(), candidate.code.as_str()];
            names.extend(campaign_id.map(Text::as_str));
            let rules = if incentive.is_some() { self.rules_of(&names) } else { Known::Is(Vec::new()) };
            // Nobody can say whom it is for.
            let Known::Is(rules) = rules else { continue };
            let campaign = campaign_id.and_then(|id| self.campaigns.get(id));
            entries.push(Entry { candidate, incentive, campaign, rules });
        }
        Candidates::new(&entries, true)
    }
}

/// The newest documents of a kind: their number, id, parent and body.
fn newest(store: &Store<'_>, kind: &str) -> Result<Vec<Row>, Fault> {
    let mut rows = store.rows(
        "SELECT seq, id, parent, body FROM document WHERE kind = +?1 ORDER BY created_at DESC, seq DESC LIMIT +?2",
        &[kind.into(), CANDIDATES_MAX.into()],
    )?;
    rows.reverse();
    Ok(rows)
}

/// The codes that somebody has passed on to the customer, by id.
fn passed_on(store: &Store<'_>, seek: &Seek<'_>) -> Result<BTreeSet<String>, Fault> {
    let Some(customer) = seek.customer else { return Ok(BTreeSet::new()) };
    let rows = store.rows(
        "SELECT parent FROM document WHERE kind = 'redeemable_holder' AND holder = +?1
           AND json_extract(body, '$.holder_role') = 'REFEREE' ORDER BY seq DESC LIMIT +?2",
        &[customer.into(), CANDIDATES_MAX.into()],
    )?;
    rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect()
}

/// The codes that were published to the customer, by id, among them public ones that nobody holds (calculation.md section 13,
/// `CUSTOMER_WALLET`).
fn published(store: &Store<'_>, seek: &Seek<'_>) -> Result<BTreeSet<String>, Fault> {
    let Some(customer) = seek.customer else { return Ok(BTreeSet::new()) };
    let rows = store.rows(
        "SELECT named.value FROM document, json_each(document.body, '$.vouchers_id') AS named
           WHERE kind = 'publication' AND holder = +?1 ORDER BY seq DESC LIMIT +?2",
        &[customer.into(), CANDIDATES_MAX.into()],
    )?;
    rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect()
}

/// The customer's vouchers, those that were given to them and, unless only those are sought, the ones that anybody may use.
fn voucher_rows<'g>(
    store: &Store<'_>,
    seek: &Seek<'_>,
    programs: &BTreeMap<Text, Program>,
    given: impl Iterator<Item = &'g String>,
) -> Result<Vec<Row>, Fault> {
    let mut rows = Vec::new();
    if let Some(customer) = seek.customer {
        rows.extend(store.rows(
            "SELECT seq, id, parent, body FROM document WHERE kind = 'voucher' AND holder = +?1 ORDER BY seq DESC LIMIT +?2",
            &[customer.into(), CANDIDATES_MAX.into()],
        )?);
        let given: Vec<&str> = given.map(String::as_str).collect();
        rows.extend(store.rows_among(
            "SELECT seq, id, parent, body FROM document WHERE kind = 'voucher' AND id IN (SELECT value FROM json_each(?1))",
            &given,
        )?);
    }
    if !seek.wallet {
        rows.extend(store.rows(
            // Left to itself, the database goes through all codes of campaigns.
            "SELECT seq, id, parent, body FROM document INDEXED BY document_open WHERE kind = 'voucher' AND parent IS NULL ORDER BY created_at DESC, seq DESC LIMIT +?1",
            &[CANDIDATES_MAX.into()],
        )?);
        let standalone = programs.iter().filter(|(_, program)| program.standalone).map(|(id, _)| id.as_str());
        rows.extend(store.rows(
            "SELECT seq, id, parent, body FROM document WHERE kind = 'voucher' AND parent IN (SELECT value FROM json_each(?1))",
            &[Json::from(standalone.collect::<Vec<&str>>()).to_string().into()],
        )?);
    }
    let mut numbered = Vec::with_capacity(rows.len());
    for row in rows {
        numbered.push((sql::int(&row, 0)?, row));
    }
    numbered.sort_by_key(|(seq, _)| *seq);
    numbered.dedup_by_key(|(seq, _)| *seq);
    Ok(numbered.into_iter().map(|(_, row)| row).collect())
}

fn parents<'r>(rows: impl Iterator<Item = &'r Row>) -> Result<BTreeSet<&'r str>, Fault> {
    let mut parents = BTreeSet::new();
    for row in rows {
        parents.extend(sql::text_or_null(row, 2)?);
    }
    Ok(parents)
}

fn read_stacks(store: &Store<'_>) -> Result<Vec<Candidate>, Fault> {
    let mut stacks = Vec::new();
    for row in &newest(store, "promotion_stack")? {
        let read: Read<Candidate> = |at| {
            read_stack(at);
            read_candidate(at, CandidateObject::PromotionStack)
        };
        let read = read_stored("promotion stack", sql::text(row, 1)?, sql::text(row, 3)?, read);
        stacks.extend(legible(store, read)?);
    }
    Ok(stacks)
}
