//! State of the facts of a decision: the store, the documents that were read, and the first fault.

use super::voucher_details::{AssignedRule, VoucherDetails};
use crate::store::Store;
use crate::store::candidates::CandidateRows;
use crate::store::document::{Document, StoredDocument, UnreadableFact};
use crate::store::sql::{Fault, SqlRow};
use crate::store::tracking::Tracker;
use scrip::budget::StepBudget;
use scrip::facts::Known;
use scrip::model::order::Goods;
use scrip::points::campaign_tiers::CampaignTier;
use scrip::rules::{Rule, Segment};
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};
use serde_json::Value as Json;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Documents by their id.
pub type DocumentsById = BTreeMap<String, Document>;

/// Goods by kind and requested name; `None` for names without goods.
pub(super) type GoodsByName = BTreeMap<(&'static str, String), Option<Arc<Goods>>>;

/// Goods that were read. They are valid for all decisions of a request until goods are written.
#[derive(Default)]
pub struct Catalogue(pub(super) RefCell<GoodsByName>);

impl Catalogue {
    /// Drops the cached goods after a write.
    pub fn clear(&self) {
        self.0.take();
    }
}

/// Finds the loyalty tiers of a customer by id. The domain provides it, because the store has no program rules.
pub type FindTiers<'a> = Box<dyn Fn(&str) -> Result<Vec<Text>, Fault> + 'a>;

/// Finds the tier of a loyalty card in its campaign, by the card's id. The domain provides it, because the store has no tier rules.
pub type FindCardTier<'a> = Box<dyn Fn(&str) -> Result<Option<CampaignTier>, Fault> + 'a>;

/// Finds the members of a customer with the balances of the cards, by id. The domain provides it, because the store has no card rules.
pub type FindBalances<'a> = Box<dyn Fn(&str) -> Result<Option<Json>, Fault> + 'a>;

/// Functions of the domain that compute facts.
pub struct FactFinders<'a> {
    /// Finds the loyalty tiers of a customer.
    pub find_tiers: FindTiers<'a>,
    /// Finds the tier of a card in its campaign.
    pub find_card_tier: FindCardTier<'a>,
    /// Finds the balances of the cards of a customer.
    pub find_balances: FindBalances<'a>,
}

/// Time and settings of a decision.
pub struct DecisionSettings {
    /// Instant of the decision.
    pub now: Instant,
    /// Time zone of the project.
    pub zone: Arc<TimeZone>,
    /// True when codes differ by case.
    pub case_sensitive: bool,
    /// True when customers have tracking ids.
    pub tracked: bool,
}

/// Facts of a project.
pub struct StoreFacts<'a, 's> {
    pub(super) store: &'a Store<'s>,
    /// Instant of the decisions: points depend on it.
    pub(super) now: Instant,
    pub(super) zone: Arc<TimeZone>,
    pub(super) case_sensitive: bool,
    /// True when customers have tracking ids. Test calls that compare with the engine have none.
    pub(super) tracked: bool,
    pub(super) tracker: OnceCell<Tracker>,
    pub(super) cache: RefCell<ReadCache>,
    pub(super) catalogue: &'a Catalogue,
    /// Candidates, once a qualification has read them.
    pub(super) offered: OnceCell<CandidateRows>,
    /// Finds the loyalty tiers of a customer.
    pub(super) find_tiers: FindTiers<'a>,
    /// Finds the tier of a card in its campaign.
    pub(super) find_card_tier: FindCardTier<'a>,
    /// Finds the balances of the cards of a customer.
    pub(super) find_balances: FindBalances<'a>,
    /// Remaining step budget of all decisions of a request.
    pub(super) work: RefCell<StepBudget>,
}

/// What a held amount is of: an account at an instant, without the holds of an owner.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HeldKey {
    pub(super) account: String,
    pub(super) now_ms: i64,
    pub(super) key: String,
    pub(super) owner: Option<String>,
    pub(super) servers: bool,
}

/// Facts that were read, and the first fault. A decision may ask for one fact many times, as the search for the best stack does.
#[derive(Default)]
pub(super) struct ReadCache {
    /// Rows of the vouchers that were expected, by key; `None` for a key without a voucher.
    pub(super) vouchers: BTreeMap<String, Option<SqlRow>>,
    /// Rules that are assigned to vouchers and their campaigns, by the voucher's id.
    pub(super) rules_of_vouchers: BTreeMap<String, Vec<AssignedRule>>,
    /// Details of vouchers by their id.
    pub(super) details: BTreeMap<String, VoucherDetails>,
    pub(super) campaigns: BTreeMap<String, String>,
    pub(super) balances: BTreeMap<String, i64>,
    /// Amounts that were moved since an instant, by account and instant in milliseconds.
    pub(super) moved: BTreeMap<(String, i64), u64>,
    /// Held amounts.
    pub(super) held: BTreeMap<HeldKey, u64>,
    /// True if it is known that no account has a hold.
    pub(super) has_no_holds: bool,
    /// Accounts without holds.
    pub(super) unheld: Vec<String>,
    pub(super) customers: BTreeMap<String, StoredDocument>,
    /// Ids of the customers that were looked up by a name; `None` if there is none.
    pub(super) customer_ids: BTreeMap<String, Option<String>>,
    pub(super) orders: BTreeSet<String>,
    /// Loyalty tiers of customers.
    pub(super) tiers: BTreeMap<String, Vec<Text>>,
    /// Rules by id: a rule that many redeemables share is read once.
    pub(super) rules: BTreeMap<String, Arc<Rule>>,
    /// Segments by id: several conditions may name one.
    pub(super) segments: BTreeMap<String, Arc<Segment>>,
    pub(super) fault: Option<Fault>,
}

impl<'a, 's> StoreFacts<'a, 's> {
    /// Creates the facts for one decision.
    pub fn new(
        store: &'a Store<'s>,
        catalogue: &'a Catalogue,
        settings: DecisionSettings,
        finders: FactFinders<'a>,
    ) -> StoreFacts<'a, 's> {
        let DecisionSettings { now, zone, case_sensitive, tracked } = settings;
        let FactFinders { find_tiers, find_card_tier, find_balances } = finders;
        StoreFacts {
            find_tiers,
            find_card_tier,
            find_balances,
            store,
            now,
            zone,
            case_sensitive,
            tracked,
            tracker: OnceCell::new(),
            cache: RefCell::default(),
            catalogue,
            offered: OnceCell::new(),
            work: RefCell::default(),
        }
    }

    /// Stores the step budget that a decision left.
    pub fn set_step_budget(&self, work: &StepBudget) {
        self.work.replace(work.clone());
    }

    /// Returns the project's tracker, loaded on first use.
    pub(super) fn tracker(&self) -> Result<&Tracker, Fault> {
        if let Some(tracker) = self.tracker.get() {
            return Ok(tracker);
        }
        let read = Tracker::load(self.store)?;
        Ok(self.tracker.get_or_init(|| read))
    }

    /// Tests if the order with this id was read.
    pub fn has_read_order(&self, id: &str) -> bool {
        self.cache.borrow().orders.contains(id)
    }

    /// Ends the reads; returns the fault of the store, if there was one.
    pub fn end(self) -> Result<(), Fault> {
        self.cache.into_inner().fault.map_or(Ok(()), Err)
    }

    /// Ends the reads; returns the customers that were read, by id.
    pub fn finish(self) -> Result<DocumentsById, Fault> {
        let cache = self.cache.into_inner();
        match cache.fault {
            Some(fault) => Err(fault),
            None => cache.customers.into_iter().map(|(id, stored)| Ok((id, stored.document()?))).collect(),
        }
    }

    /// Converts an outcome to a fact; an unreadable document is reported to the operator.
    pub(super) fn known<T>(&self, outcome: Result<Option<T>, UnreadableFact>) -> Known<T> {
        match outcome {
            Ok(fact) => fact.into(),
            Err(UnreadableFact::Fault(fault)) => self.record_fault(Err(fault)).into(),
            Err(UnreadableFact::Unreadable(reason)) => {
                self.store.warn(reason);
                Known::Unreadable
            }
        }
    }

    /// Returns the value; a fault is recorded, and `None` is returned.
    pub(super) fn record_fault<T>(&self, outcome: Result<Option<T>, Fault>) -> Option<T> {
        outcome.unwrap_or_else(|fault| {
            self.cache.borrow_mut().fault.get_or_insert(fault);
            None
        })
    }
}
