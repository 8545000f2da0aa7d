//! What the facts of a decision rest on: the store, and what has been read of it already or went wrong. It must not know what
//! is asked.

use crate::store::Store;
use crate::store::candidates::Offered;
use crate::store::document::{Document, Stored, Unread};
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use scrip::facts::Known;
use scrip::model::order::Goods;
use scrip::points::tiered::CampaignTier;
use scrip::rules::Rule;
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};
use scrip::work::Work;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Documents by their id.
pub type ById = BTreeMap<String, Document>;

/// Goods by their kind and a name that was asked for; none where there are none.
pub(super) type ByName = BTreeMap<(&'static str, String), Option<Arc<Goods>>>;

/// What has been read of the catalogue. It is true for all decisions of a request until goods are written.
#[derive(Default)]
pub struct Catalogue(pub(super) RefCell<ByName>);

impl Catalogue {
    /// Forgets what was read: it may be otherwise now.
    pub fn forget(&self) {
        self.0.take();
    }
}

/// How the loyalty tiers of a customer are found, by the customer's id: the store knows no programs.
pub type FindTiers<'a> = Box<dyn Fn(&str) -> Result<Vec<Text>, Fault> + 'a>;

/// How the tier of its campaign is found that a loyalty card is in, by the card's id: the store does not know which points lead to one.
pub type FindCardTier<'a> = Box<dyn Fn(&str) -> Result<Option<CampaignTier>, Fault> + 'a>;

/// The facts of a project, as its store has them.
pub struct StoreFacts<'a, 's> {
    pub(super) store: &'a Store<'s>,
    /// The moment of the decisions: what is on a card is so at a moment.
    pub(super) now: Instant,
    pub(super) zone: Arc<TimeZone>,
    pub(super) case_sensitive: bool,
    /// Whether customers have tracking ids; those of a rehearsal do not, as in a decision without the service.
    pub(super) tracked: bool,
    pub(super) tracker: OnceCell<Tracker>,
    pub(super) seen: RefCell<Seen>,
    pub(super) catalogue: &'a Catalogue,
    /// Everything that may qualify, for whoever asks for that.
    pub(super) offered: OnceCell<Offered>,
    /// Finds the loyalty tiers that a customer is in.
    pub(super) find_tiers: FindTiers<'a>,
    /// Finds the tier of its campaign that a card is in.
    pub(super) find_card_tier: FindCardTier<'a>,
    /// How much work is left, for the decisions of one request together.
    pub(super) work: RefCell<Work>,
}

/// What has been read already, and what went wrong.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) campaigns: BTreeMap<String, String>,
    pub(super) balances: BTreeMap<String, i64>,
    /// Accounts that nobody holds anything of.
    pub(super) unheld: Vec<String>,
    pub(super) customers: BTreeMap<String, Stored>,
    pub(super) orders: BTreeSet<String>,
    /// The loyalty tiers of customers.
    pub(super) tiers: BTreeMap<String, Vec<Text>>,
    /// Rules by id: what many redeemables have is read once.
    pub(super) rules: BTreeMap<String, Arc<Rule>>,
    pub(super) fault: Option<Fault>,
}

impl<'a, 's> StoreFacts<'a, 's> {
    /// The facts for one decision.
    pub fn new(
        (store, catalogue): (&'a Store<'s>, &'a Catalogue),
        (now, zone): (Instant, Arc<TimeZone>),
        [case_sensitive, tracked]: [bool; 2],
        (find_tiers, find_card_tier): (FindTiers<'a>, FindCardTier<'a>),
    ) -> StoreFacts<'a, 's> {
        StoreFacts {
            find_tiers,
            find_card_tier,
            store,
            now,
            zone,
            case_sensitive,
            tracked,
            tracker: OnceCell::new(),
            seen: RefCell::default(),
            catalogue,
            offered: OnceCell::new(),
            work: RefCell::default(),
        }
    }

    /// Notes what a decision left of the work that the request may do.
    pub fn left(&self, work: &Work) {
        self.work.replace(work.clone());
    }

    /// The project's tracker, read when it is first needed.
    pub(super) fn tracker(&self) -> Result<&Tracker, Fault> {
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
    pub(super) fn known<T>(&self, outcome: Result<Option<T>, Unread>) -> Known<T> {
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
    pub(super) fn note<T>(&self, outcome: Result<Option<T>, Fault>) -> Option<T> {
        outcome.unwrap_or_else(|fault| {
            self.seen.borrow_mut().fault.get_or_insert(fault);
            None
        })
    }
}
