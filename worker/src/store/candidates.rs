//! Reads all candidates of a qualification from the store: one statement for each kind, for all campaigns, for all rules and
//! for all balances.

mod rows;

use super::Store;
use super::document::{read_stored, readable, unreadable};
use super::sql::{self, Fault, SqlRow};
pub use rows::list_newest_ids;
use rows::{
    CodeCampaign, accounts_with_holds, assigned_rules, balances_of, list_passed_on, list_published, newest, parents,
    rules_with_ids, voucher_rows, with_ids,
};
use scrip::facts::{
    CandidateEntry, CandidateFilter, Candidates, Fact, Known, credits_account, incentive_account, listed_time_of_stack,
    points_account,
};
use scrip::model::promotion::PromotionStack;
use scrip::model::qualification::{Candidate, CandidateObject};
use scrip::model::redeemable::{Campaign, Grant, RedeemableTerms};
use scrip::model::visibility::ListedTime;
use scrip::rules::Rule;
use scrip::text::Text;
use scrip::time::Instant;
use scrip::wire::Node;
use scrip::wire::candidates::{read_campaign_voucher, read_candidate};
use scrip::wire::cursor::{JsonCursor, Read};
use scrip::wire::document::read_bytes;
use scrip::wire::rules::read_rule;
use scrip::wire::voucher::{read_campaign, read_stack, read_tier, read_voucher};
use std::collections::{BTreeMap, BTreeSet};

/// Candidates, with the facts that a decision needs of them.
#[derive(Default)]
pub struct CandidateRows {
    /// Instant of the read.
    pub now: Instant,
    /// Prepared candidates.
    pub set: Candidates,
    /// Vouchers by code and by id, tiers by id.
    pub incentives: BTreeMap<Text, RedeemableTerms>,
    /// Terms of a campaign's future voucher, by the campaign's id.
    pub campaign_vouchers: BTreeMap<Text, RedeemableTerms>,
    /// Campaigns by id.
    pub campaigns: BTreeMap<Text, Campaign>,
    /// Rules assigned to candidates, by id; `None` for a rule that cannot be read.
    pub rules: BTreeMap<Text, Option<Rule>>,
    /// Ids of the tiers of each stack, by the id of the stack. A client sees a stack by these.
    pub tiers_of_stacks: BTreeMap<Text, Vec<Text>>,
    /// Ids of assigned rules, by the name to which they are assigned.
    pub assigned: BTreeMap<Text, Vec<Text>>,
    /// Balances of the limiting accounts.
    pub balances: BTreeMap<String, i64>,
    /// Limiting accounts without holds.
    pub unheld: BTreeSet<String>,
}

impl CandidateRows {
    /// Reads the candidates.
    pub fn read(store: &Store<'_>, filter: &CandidateFilter<'_>, now: Instant) -> Result<CandidateRows, Fault> {
        let mut offered = CandidateRows { now, ..CandidateRows::default() };
        let mut programs = BTreeMap::new();
        let mut list = Vec::new();
        if filter.stacks {
            list.extend(offered.read_stacks(store, filter, &mut programs)?);
        } else {
            if !filter.only_own && !filter.client {
                list.extend(offered.read_campaigns(store, &mut programs, None)?);
            }
            let (passed_on, published) = (list_passed_on(store, filter)?, list_published(store, filter)?);
            let vouchers = voucher_rows(store, filter, &programs, passed_on.union(&published))?;
            let tiers = if filter.only_own { Vec::new() } else { newest(store, "promotion_tier")? };
            offered.read_parents(store, &mut programs, vouchers.iter().chain(&tiers))?;
            list.extend(offered.read_incentives(store, &vouchers, CandidateObject::Voucher, &programs)?);
            for candidate in &mut list {
                candidate.passed_on = passed_on.contains(candidate.id.as_str());
                candidate.published = published.contains(candidate.id.as_str());
            }
            list.extend(offered.read_incentives(store, &tiers, CandidateObject::PromotionTier, &programs)?);
        }
        offered.read_rules(store, &list)?;
        offered.read_balances(store)?;
        offered.set = offered.prepare(&list, filter.client);
        Ok(offered)
    }

    /// Reads the newest campaigns, or those with these ids; returns the campaigns that are candidates themselves.
    fn read_campaigns(
        &mut self,
        store: &Store<'_>,
        programs: &mut BTreeMap<Text, CodeCampaign>,
        ids: Option<&[&str]>,
    ) -> Result<Vec<Candidate>, Fault> {
        let rows = match ids {
            None => newest(store, "campaign")?,
            Some(ids) => with_ids(store, "campaign", ids)?,
        };
        let mut list = Vec::new();
        for row in &rows {
            let (id, text) = (sql::text(row, 1)?, sql::text(row, 3)?);
            let read = |at: &JsonCursor<'_>| {
                let standalone = at.node.get("type").and_then(Node::as_str) == Some("STANDALONE");
                let candidate = read_candidate(at, CandidateObject::Campaign);
                (standalone, candidate, read_campaign(at), read_campaign_voucher(at))
            };
            let read = read_bytes(text.as_bytes(), read).map_err(|problem| unreadable("campaign", id, &problem));
            // Its codes and tiers are left out with it.
            let Some((standalone, candidate, campaign, voucher)) = readable(store, read)? else { continue };
            programs.insert(id.into(), CodeCampaign { campaign_type: candidate.campaign_type.clone(), standalone });
            self.campaigns.insert(id.into(), campaign);
            if let Some(voucher) = voucher.filter(|_| !standalone) {
                self.campaign_vouchers.insert(id.into(), voucher);
                list.push(candidate);
            }
        }
        Ok(list)
    }

    /// Reads the campaigns of assigned codes and of tiers, which are not candidates themselves.
    fn read_parents<'r>(
        &mut self,
        store: &Store<'_>,
        programs: &mut BTreeMap<Text, CodeCampaign>,
        rows: impl Iterator<Item = &'r SqlRow>,
    ) -> Result<(), Fault> {
        let parents = parents(rows)?;
        let missing: Vec<&str> = parents.into_iter().filter(|id| !programs.contains_key(*id)).collect();
        if !missing.is_empty() {
            self.read_campaigns(store, programs, Some(&missing))?;
        }
        Ok(())
    }

    /// Reads the stacks; for a client also their tiers, by which the client sees a stack.
    fn read_stacks(
        &mut self,
        store: &Store<'_>,
        filter: &CandidateFilter<'_>,
        programs: &mut BTreeMap<Text, CodeCampaign>,
    ) -> Result<Vec<Candidate>, Fault> {
        let mut list = Vec::new();
        for row in &newest(store, "promotion_stack")? {
            let read: Read<(PromotionStack, Candidate)> =
                |at| (read_stack(at), read_candidate(at, CandidateObject::PromotionStack));
            let read = read_stored("promotion stack", sql::text(row, 1)?, sql::text(row, 3)?, read);
            let Some((stack, candidate)) = readable(store, read)? else { continue };
            self.tiers_of_stacks.insert(candidate.id.clone(), stack.tiers);
            list.push(candidate);
        }
        if filter.client {
            let named: BTreeSet<&str> = self.tiers_of_stacks.values().flatten().map(Text::as_str).collect();
            let rows = with_ids(store, "promotion_tier", &named.into_iter().collect::<Vec<&str>>())?;
            self.read_parents(store, programs, rows.iter())?;
            self.read_incentives(store, &rows, CandidateObject::PromotionTier, programs)?;
        }
        Ok(list)
    }

    fn read_incentives(
        &mut self,
        store: &Store<'_>,
        rows: &[SqlRow],
        object: CandidateObject,
        programs: &BTreeMap<Text, CodeCampaign>,
    ) -> Result<Vec<Candidate>, Fault> {
        let mut list = Vec::new();
        for row in rows {
            let (id, text) = (sql::text(row, 1)?, sql::text(row, 3)?);
            let is_voucher = object == CandidateObject::Voucher;
            // A candidate without its campaign counts as deleted.
            if sql::text_or_null(row, 2)?.is_some_and(|parent| !programs.contains_key(parent)) {
                continue;
            }
            let read = |at: &JsonCursor<'_>| {
                let incentive = if is_voucher { read_voucher(at, text) } else { read_tier(at, text) };
                (read_candidate(at, object), incentive)
            };
            let read = read_bytes(text.as_bytes(), read).map_err(|problem| unreadable(object.name(), id, &problem));
            let Some((mut candidate, incentive)) = readable(store, read)? else { continue };
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

    /// Reads the rules of all candidates and their campaigns.
    fn read_rules(&mut self, store: &Store<'_>, list: &[Candidate]) -> Result<(), Fault> {
        let mut names: BTreeSet<&str> = self.campaigns.keys().chain(self.incentives.keys()).map(Text::as_str).collect();
        names.extend(list.iter().flat_map(|candidate| [candidate.id.as_str(), candidate.code.as_str()]));
        let names: Vec<&str> = names.into_iter().collect();
        let given = assigned_rules(store, &names)?;
        let mut rule_ids = BTreeSet::new();
        for row in &given {
            // An assignment without a rule name could mean any rule.
            let rule = sql::text_or_null(row, 1)?.unwrap_or_default();
            self.assigned.entry(sql::text(row, 0)?.into()).or_default().push(rule.into());
            rule_ids.insert(rule);
        }
        self.rules.insert(Text::default(), None);
        let rows = rules_with_ids(store, &rule_ids.into_iter().collect::<Vec<&str>>())?;
        for row in &rows {
            let id = sql::text(row, 0)?;
            let read = read_stored("validation rule", id, sql::text(row, 1)?, read_rule);
            self.rules.insert(id.into(), readable(store, read)?);
        }
        Ok(())
    }

    /// Reads the balances of all limited candidates.
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
        let (rows, held) = (balances_of(store, &names)?, accounts_with_holds(store, &names)?);
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

    /// Tests if this voucher, tier or campaign was read, with its rules.
    pub fn has(&self, id: &str) -> bool {
        self.incentives.contains_key(id) || self.campaign_vouchers.contains_key(id)
    }

    /// Returns the rules assigned to names, without duplicates; all must be readable.
    pub fn rules_of(&self, names: &[&str]) -> Known<Vec<Fact<'_, Rule>>> {
        let mut rules: Vec<Fact<'_, Rule>> = Vec::new();
        for id in names.iter().filter_map(|name| self.assigned.get(*name)).flatten() {
            match self.rules.get(id) {
                Some(Some(rule)) if rules.iter().any(|known| known.id == rule.id) => {}
                Some(Some(rule)) => rules.push(Fact::Borrowed(rule)),
                Some(None) => return Known::Unreadable,
                // The rule is deleted.
                None => {}
            }
        }
        Known::Is(rules)
    }

    /// Prepares the candidates; for a client, the promotions that clients see now, so that none costs steps which a bundle does not have.
    fn prepare(&self, list: &[Candidate], client: bool) -> Candidates {
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
            // It is unknown to which customers it applies.
            let Known::Is(rules) = rules else { continue };
            let campaign = campaign_id.and_then(|id| self.campaigns.get(id));
            let listed = match candidate.object {
                CandidateObject::PromotionTier => self.listed_time_of_tier(&candidate.id),
                CandidateObject::PromotionStack => self
                    .tiers_of_stacks
                    .get(&candidate.id)
                    .and_then(|tiers| listed_time_of_stack(tiers.iter().map(|tier| self.listed_time_of_tier(tier)))),
                CandidateObject::Campaign | CandidateObject::Voucher => None,
            };
            let is_seen =
                candidate.object == CandidateObject::Voucher || listed.is_some_and(|time| time.covers(self.now));
            if is_seen || !client {
                entries.push(CandidateEntry { candidate, incentive, campaign, rules, listed });
            }
        }
        Candidates { complete: true, listed_complete: true, own_complete: true, ..Candidates::new(&entries) }
    }

    fn listed_time_of_tier(&self, id: &str) -> Option<ListedTime> {
        let tier = self.incentives.get(id)?;
        let campaign = tier.campaign_id.as_ref().and_then(|id| self.campaigns.get(id));
        tier.listed_time(campaign)
    }
}
