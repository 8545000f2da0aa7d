//! Answers a decision's questions from the store. Here nothing is unknown: what is not stored does not exist.
//! It must not know what the decision is. A question has no way to fail, so a fault of the store is kept and must be
//! asked for at the end ([`StoreFacts::finish`]).

mod counts;
mod goods;
mod rules;

use super::Store;
use super::candidates::Offered;
use super::document::{Document, Stored, Unread, illegible, legible, read_stored};
use super::ledger::account_of;
use super::sql::{self, Fault, Row};
use crate::store::code::code_key;
use crate::store::tracking::Tracker;
use scrip::facts::{
    Assignment, Candidates, Fact, Facts, Known, Seek, credits_account, incentive_account, redemptions_account,
    tier_account,
};
use scrip::json::Node;
use scrip::ledger::{AccountId, Session, Transfer};
use scrip::model::customer::Customer;
use scrip::model::incentive::{Campaign, Category, Incentive};
use scrip::model::order::{Goods, Order};
use scrip::model::promotion::Stack;
use scrip::model::redemption::PastRedemption;
use scrip::model::reward::{Reward, RewardAssignment};
use scrip::model::stacking::StackingRules;
use scrip::rules::{Collection, Rule, Segment};
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};
use scrip::wire::at::Read;
use scrip::wire::customer::read_customer;
use scrip::wire::order::read_order;
use scrip::wire::past::read_past;
use scrip::wire::reward::{read_reward, read_reward_assignment};
use scrip::wire::rules::{read_assignment, read_collection, read_segment};
use scrip::wire::stacking::read_stacking_rules;
use scrip::wire::voucher::{read_campaign, read_category, read_stack, read_stored_tier, read_stored_voucher};
use scrip::work::Work;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Documents by their id.
pub type ById = BTreeMap<String, Document>;

/// The facts of a project, as its store has them.
pub struct StoreFacts<'a, 's> {
    store: &'a Store<'s>,
    zone: Arc<TimeZone>,
    case_sensitive: bool,
    /// Whether customers have tracking ids; those of a rehearsal do not, as in a decision without the service.
    tracked: bool,
    tracker: OnceCell<Tracker>,
    seen: RefCell<Seen>,
    /// Everything that may qualify, for whoever asks for that.
    offered: OnceCell<Offered>,
    /// How much work is left, for the decisions of one request together.
    work: RefCell<Work>,
}

/// What has been read already, and what went wrong.
#[derive(Default)]
struct Seen {
    campaigns: BTreeMap<String, String>,
    balances: BTreeMap<String, i64>,
    /// Accounts that nobody holds anything of.
    unheld: Vec<String>,
    customers: BTreeMap<String, Stored>,
    orders: BTreeSet<String>,
    goods: goods::Catalogue,
    /// Rules by id: what many redeemables have is read once.
    rules: BTreeMap<String, Arc<Rule>>,
    fault: Option<Fault>,
}

impl<'a, 's> StoreFacts<'a, 's> {
    /// The facts for one decision.
    pub fn new(store: &'a Store<'s>, zone: Arc<TimeZone>, case_sensitive: bool, tracked: bool) -> StoreFacts<'a, 's> {
        StoreFacts {
            store,
            zone,
            case_sensitive,
            tracked,
            tracker: OnceCell::new(),
            seen: RefCell::default(),
            offered: OnceCell::new(),
            work: RefCell::default(),
        }
    }

    /// Notes what a decision left of the work that the request may do.
    pub fn left(&self, work: &Work) {
        self.work.replace(work.clone());
    }

    /// The project's tracker, read when it is first needed.
    fn tracker(&self) -> Result<&Tracker, Fault> {
        if let Some(tracker) = self.tracker.get() {
            return Ok(tracker);
        }
        let read = Tracker::stored(self.store)?;
        Ok(self.tracker.get_or_init(|| read))
    }

    /// Whether the order with this id was read.
    pub fn has_seen_order(&self, id: &str) -> bool {
        self.seen.borrow().orders.contains(id)
    }

    /// Ends the asking: the fault of the store, if there was one.
    pub fn end(self) -> Result<(), Fault> {
        self.seen.into_inner().fault.map_or(Ok(()), Err)
    }

    /// Ends the asking with the customers that were read, by id, to be changed.
    pub fn finish(self) -> Result<ById, Fault> {
        let seen = self.seen.into_inner();
        match seen.fault {
            Some(fault) => Err(fault),
            None => seen.customers.into_iter().map(|(id, stored)| Ok((id, stored.document()?))).collect(),
        }
    }

    /// The fact; what does not read is noted for whoever keeps the service.
    fn known<T>(&self, outcome: Result<Option<T>, Unread>) -> Known<T> {
        match outcome {
            Ok(fact) => fact.into(),
            Err(Unread::Fault(fault)) => self.note(Err(fault)).into(),
            Err(Unread::Illegible(what)) => {
                self.store.note(what);
                Known::Unreadable
            }
        }
    }

    /// The value, or nothing and a note of the fault.
    fn note<T>(&self, outcome: Result<Option<T>, Fault>) -> Option<T> {
        outcome.unwrap_or_else(|fault| {
            self.seen.borrow_mut().fault.get_or_insert(fault);
            None
        })
    }

    /// A voucher with its campaign and its balances, in one look. One whose campaign is gone is gone as well.
    fn voucher_row(&self, code: &str) -> Result<Option<Row>, Fault> {
        let redemptions = account_of(redemptions_account, "v.id");
        let credits = account_of(credits_account, "v.id");
        let select = format!(
            "SELECT v.body, c.id, c.body, v.parent,
            (SELECT balance FROM account WHERE id = {redemptions}), (SELECT balance FROM account WHERE id = {credits}),
            EXISTS (SELECT 1 FROM hold WHERE account = {redemptions}), EXISTS (SELECT 1 FROM hold WHERE account = {credits})
            FROM document v LEFT JOIN document c ON c.kind = 'campaign' AND c.id = v.parent WHERE v.kind = 'voucher'"
        );
        let key = code_key(code, self.case_sensitive);
        match self.store.row(&format!("{select} AND v.key = ?1"), &[key.into()])? {
            Some(row) => Ok(Some(row)),
            None => self.store.row(&format!("{select} AND v.id = ?1"), &[code.into()]),
        }
    }

    fn find_voucher(&self, code: &str) -> Result<Option<Incentive>, Unread> {
        let Some(row) = self.voucher_row(code)? else { return Ok(None) };
        let campaign = sql::text_or_null(&row, 1)?;
        if campaign.is_none() && sql::text_or_null(&row, 3)?.is_some() {
            return Ok(None);
        }
        let voucher =
            read_stored_voucher(sql::text(&row, 0)?).map_err(|problem| illegible("voucher", code, &problem))?;
        let mut seen = self.seen.borrow_mut();
        if let Some(id) = campaign {
            seen.campaigns.insert(id.to_owned(), sql::text(&row, 2)?.to_owned());
        }
        for (account, balance, held) in [(redemptions_account(&voucher.id), 4, 6), (credits_account(&voucher.id), 5, 7)]
        {
            seen.balances.insert(account.to_string(), sql::int_or_null(&row, balance)?.unwrap_or(0));
            if sql::int(&row, held)? == 0 {
                seen.unheld.push(account.to_string());
            }
        }
        Ok(Some(voucher))
    }

    fn find_campaign(&self, id: &str) -> Result<Option<Campaign>, Unread> {
        if let Some(text) = self.seen.borrow().campaigns.get(id) {
            return read_stored("campaign", id, text, read_campaign).map(Some);
        }
        let stored = self.store.stored("campaign", id)?;
        stored.map(|stored| read_stored("campaign", id, &stored.text, read_campaign)).transpose()
    }

    /// A tier whose promotion is gone is gone as well.
    fn find_tier(&self, id: &str) -> Result<Option<Incentive>, Unread> {
        let select = format!(
            "SELECT t.body, t.parent, c.id, c.body, (SELECT balance FROM account WHERE id = {})
             FROM document t LEFT JOIN document c ON c.kind = 'campaign' AND c.id = t.parent
             WHERE t.kind = 'promotion_tier' AND t.id = ?1",
            account_of(tier_account, "t.id")
        );
        let row = self.store.row(&select, &[id.into()])?;
        let Some(row) = row else { return Ok(None) };
        let campaign = sql::text_or_null(&row, 2)?;
        if campaign.is_none() && sql::text_or_null(&row, 1)?.is_some() {
            return Ok(None);
        }
        let tier =
            read_stored_tier(sql::text(&row, 0)?).map_err(|problem| illegible("promotion tier", id, &problem))?;
        let mut seen = self.seen.borrow_mut();
        if let Some(id) = campaign {
            seen.campaigns.insert(id.to_owned(), sql::text(&row, 3)?.to_owned());
        }
        seen.balances.insert(incentive_account(&tier).to_string(), sql::int_or_null(&row, 4)?.unwrap_or(0));
        Ok(Some(tier))
    }

    fn find_reward_assignment(&self, reward_id: &str, campaign_id: &str) -> Result<Option<RewardAssignment>, Unread> {
        let row = self.store.row(
            "SELECT id, body FROM document WHERE kind = 'reward_assignment' AND parent = ?1
             AND json_extract(body, '$.related_object_id') = ?2 ORDER BY seq LIMIT 1",
            &[reward_id.into(), campaign_id.into()],
        )?;
        let read = |row: Row| {
            read_stored("reward assignment", sql::text(&row, 0)?, sql::text(&row, 1)?, read_reward_assignment)
        };
        row.map(read).transpose()
    }

    /// A document of a kind that is found by its id alone.
    fn find<T: Clone>(&self, kind: &str, id: &str, read: Read<T>) -> Known<Cow<'_, T>> {
        let read = |stored: Stored| read_stored(kind, id, &stored.text, read);
        let found = self.store.stored(kind, id).map_err(Unread::from);
        self.known(found.and_then(|found| found.map(read).transpose())).map(Cow::Owned)
    }

    fn find_assignments(&self, objects: &[&str]) -> Result<Vec<Assignment>, Fault> {
        let rows = self.store.rows(
            "SELECT id, body FROM document
             WHERE kind = 'validation_rules_assignment' AND parent IN (SELECT value FROM json_each(?1)) ORDER BY seq",
            &[Json::from(objects.to_vec()).to_string().into()],
        )?;
        let mut assignments = Vec::with_capacity(rows.len());
        for row in &rows {
            let (id, body) = (sql::text(row, 0)?, sql::text(row, 1)?);
            let read = read_stored("validation rules assignment", id, body, read_assignment);
            assignments.extend(legible(self.store, read)?);
        }
        Ok(assignments)
    }

    fn find_customer(&self, key: &str) -> Result<Option<Customer>, Unread> {
        let source_id = if Tracker::may_open(key) { self.tracker()?.source_id(key)? } else { None };
        let name = source_id.as_deref().unwrap_or(key);
        let Some(stored) = self.store.stored_by_name("customer", name, key)? else { return Ok(None) };
        let customer = read_stored("customer", key, &stored.text, read_customer)?;
        self.seen.borrow_mut().customers.insert(stored.id.clone(), stored);
        Ok(Some(customer))
    }

    fn find_order(&self, key: &str) -> Result<Option<Order>, Unread> {
        let Some(stored) = self.store.stored_by_name("order", key, key)? else { return Ok(None) };
        let order = read_stored("order", key, &stored.text, read_order)?;
        self.seen.borrow_mut().orders.insert(stored.id);
        Ok(Some(order))
    }

    fn find_rules_of_project(&self) -> Result<Option<StackingRules>, Unread> {
        let row =
            self.store.row("SELECT body FROM document WHERE kind = 'stacking_rules' ORDER BY seq LIMIT 1", &[])?;
        let read = |row: Row| read_stored("stacking rules", "", sql::text(&row, 0)?, read_stacking_rules);
        row.map(read).transpose()
    }
}

impl Facts for StoreFacts<'_, '_> {
    fn work(&self) -> Work {
        self.work.borrow().clone()
    }

    fn stacking_rules(&self) -> Cow<'_, StackingRules> {
        Cow::Owned(match self.known(self.find_rules_of_project()) {
            Known::Is(rules) => rules,
            Known::Absent | Known::Unknown => StackingRules::default(),
            // Nobody can say what goes together.
            Known::Unreadable => StackingRules { redeemables_limit: 1, ..StackingRules::default() },
        })
    }

    fn time_zone(&self) -> Cow<'_, TimeZone> {
        Cow::Borrowed(&self.zone)
    }

    fn voucher(&self, code: &str) -> Known<Cow<'_, Incentive>> {
        if let Some(known) = self.offered.get().and_then(|offered| offered.incentives.get(code)) {
            return Known::Is(Cow::Borrowed(known));
        }
        self.known(self.find_voucher(code)).map(Cow::Owned)
    }

    fn tier(&self, id: &str) -> Known<Cow<'_, Incentive>> {
        if let Some(known) = self.offered.get().and_then(|offered| offered.incentives.get(id)) {
            return Known::Is(Cow::Borrowed(known));
        }
        self.known(self.find_tier(id)).map(Cow::Owned)
    }

    fn stack(&self, id: &str) -> Known<Cow<'_, Stack>> {
        self.find("promotion_stack", id, read_stack)
    }

    fn reward(&self, id: &str) -> Known<Cow<'_, Reward>> {
        self.find("reward", id, read_reward)
    }

    fn reward_assignment(&self, reward_id: &str, campaign_id: &str) -> Known<Cow<'_, RewardAssignment>> {
        self.known(self.find_reward_assignment(reward_id, campaign_id)).map(Cow::Owned)
    }

    fn campaign(&self, id: &str) -> Known<Cow<'_, Campaign>> {
        if let Some(known) = self.offered.get().and_then(|offered| offered.campaigns.get(id)) {
            return Known::Is(Cow::Borrowed(known));
        }
        self.known(self.find_campaign(id)).map(Cow::Owned)
    }

    fn category(&self, id: &str) -> Known<Cow<'_, Category>> {
        self.find("category", id, read_category)
    }

    fn rules_of(&self, id: &str) -> Known<Vec<Fact<'_, Rule>>> {
        self.rules_named(&[id])
    }

    fn rules(&self, voucher: &Incentive) -> Known<Vec<Fact<'_, Rule>>> {
        let names = [Some(&voucher.id), Some(&voucher.code), voucher.campaign_id.as_ref()];
        let names: Vec<&str> = names.into_iter().flatten().map(Text::as_str).collect();
        match self.offered.get().filter(|offered| offered.has(&voucher.id)) {
            Some(offered) => offered.rules_of(&names),
            None => self.rules_named(&names),
        }
    }

    fn segment(&self, id: &str) -> Known<Cow<'_, Segment>> {
        self.find("segment", id, read_segment)
    }

    fn collection(&self, id: &str) -> Known<Cow<'_, Collection>> {
        self.find("products_collection", id, read_collection)
    }

    fn customer(&self, key: &str) -> Known<Cow<'_, Customer>> {
        self.known(self.find_customer(key)).map(Cow::Owned)
    }

    fn order(&self, key: &str) -> Known<Cow<'_, Order>> {
        self.known(self.find_order(key)).map(Cow::Owned)
    }

    fn expect_goods(&self, order: &Order) {
        self.note(self.find_goods_of(order).map(Some));
    }

    fn product(&self, key: &str) -> Known<Fact<'_, Goods>> {
        self.note(self.find_goods("product", key)).map(Fact::Own).into()
    }

    fn sku(&self, key: &str) -> Known<Fact<'_, Goods>> {
        self.note(self.find_goods("sku", key)).map(Fact::Own).into()
    }

    fn balance(&self, account: &AccountId) -> Known<i64> {
        Known::Is(self.note(self.find_balance(account).map(Some)).unwrap_or(0))
    }

    fn moved(&self, account: &AccountId, since: Instant) -> Known<u64> {
        Known::Is(self.note(self.find_moved(account, since).map(Some)).unwrap_or(0))
    }

    fn held(&self, account: &AccountId, now: Instant, own: Option<&Session>) -> Known<u64> {
        Known::Is(self.note(self.find_held(account, now, own).map(Some)).unwrap_or(0))
    }

    fn redemption(&self, id: &str) -> Known<Cow<'_, PastRedemption>> {
        let stored = self.note(self.store.stored("redemption", id));
        let said = stored.and_then(|stored| self.note(stored.members().map(Some)));
        // A rollback is listed with redemptions, and is none.
        let said = said.filter(|said| said.get("object").and_then(Node::as_str) == Some("redemption"));
        said.map(|said| Cow::Owned(read_past(said))).into()
    }

    fn chain(&self, id: &str) -> Known<Vec<Transfer>> {
        Known::Is(self.note(self.find_chain(id).map(Some)).unwrap_or_default())
    }

    fn candidates(&self, seek: &Seek<'_>) -> Known<Cow<'_, Candidates>> {
        if self.offered.get().is_none() {
            let read = self.note(Offered::read(self.store, seek).map(Some)).unwrap_or_default();
            // Nobody else has set it in between.
            let _ = self.offered.set(read);
        }
        self.offered.get().map(|offered| Cow::Borrowed(&offered.set)).into()
    }

    fn free_codes(&self, campaign_id: &str, now: Instant) -> Known<Option<u64>> {
        self.known(self.find_free_codes(campaign_id, now).map(Some))
    }

    fn has_card(&self, campaign_id: &str, customer_id: &str) -> Known<bool> {
        Known::Is(self.note(self.store.card_of(campaign_id, customer_id)).is_some())
    }

    fn campaign_voucher(&self, id: &str) -> Known<Cow<'_, Incentive>> {
        self.offered.get().and_then(|offered| offered.campaign_vouchers.get(id)).map(Cow::Borrowed).into()
    }

    fn assignments(&self, objects: &[&str]) -> Known<Vec<Assignment>> {
        Known::Is(self.note(self.find_assignments(objects).map(Some)).unwrap_or_default())
    }

    fn tracking_id(&self, source_id: &str) -> Known<Text> {
        if !self.tracked {
            return Known::Absent;
        }
        let sealed = |tracker: &Tracker| match tracker.source_id(source_id)? {
            Some(_) => Ok(source_id.to_owned()),
            None => tracker.tracking_id(source_id),
        };
        self.note(self.tracker().and_then(sealed).map(|sealed| Some(Text::from(sealed)))).into()
    }
}

/// What is said of an assignment that does not name its rule.
pub(super) fn unnamed_rule(assignment: &str) -> Unread {
    Unread::Illegible(format!(
        "the stored validation rules assignment `{assignment}` does not say which rule it assigns"
    ))
}
