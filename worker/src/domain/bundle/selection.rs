//! Selects the documents of a core in steps: the offers in force within its horizon, with all that their decisions read.
//!
//! A step reads at most [`STEP_DOCUMENTS`] documents, beside the goods that they name. All steps of a selection read the same revision: where
//! it changes, another selection begins with the documents that were read and have not changed.

use crate::domain::bundle::core_summary::STEP_DOCUMENTS;
use crate::domain::bundle::customer_conditions::NumberedConditions;
use crate::domain::bundle::goods_sets::NumberedSets;
use crate::domain::bundle::horizon::{Horizon, OpenCampaigns, retain_campaigns_of};
use crate::domain::bundle::named_goods::NamedGoods;
use crate::domain::bundle::read_documents::{ReadDocument, ReadDocuments};
use crate::domain::bundle::sealed_codes::SealedCode;
use crate::domain::bundle::unreadable_names::UnreadableNames;
use crate::store::Store;
use crate::store::candidates;
use crate::store::documents::{any_kind, campaigns, vouchers};
use crate::store::sql::Fault;
use crate::store::{bundle_goods, bundle_heads};
use scrip::money::LARGEST;
use scrip::time::Instant;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// Maximum number of offers in a core, because a client has limited space. Older ones are left out, and a client's verdict on them is
/// provisional.
const OFFERS_MAX: usize = 5_000;
/// Maximum number of codes without a campaign that are sealed by default, because a key is derived for each.
const SEALED_MAX: usize = 1_000;
/// Number of campaigns whose ids are listed at once.
const LISTED_CAMPAIGNS: usize = 1_000;

/// Kinds of documents in the order in which they are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SelectionPhase {
    Campaigns,
    Codes,
    Tiers,
    /// Which codes are sealed, and the goods that the offers name.
    NamedGoods,
    Stacks,
    Assignments,
    Rules,
    Segments,
    Collections,
    Categories,
    Done,
}

impl SelectionPhase {
    /// Returns the kind of the documents that are read by their ids.
    fn kind(self) -> &'static str {
        match self {
            SelectionPhase::Codes => "voucher",
            SelectionPhase::Tiers => "promotion_tier",
            SelectionPhase::Stacks => "promotion_stack",
            SelectionPhase::Assignments => "validation_rules_assignment",
            SelectionPhase::Rules => "validation_rules",
            SelectionPhase::Segments => "segment",
            SelectionPhase::Collections => "products_collection",
            SelectionPhase::Categories => "category",
            SelectionPhase::Campaigns | SelectionPhase::NamedGoods | SelectionPhase::Done => "campaign",
        }
    }
}

/// Documents of a core.
#[derive(Debug, Default)]
pub struct SelectedDocuments {
    /// Campaigns of the offers.
    pub campaigns: Vec<Rc<ReadDocument>>,
    /// Codes in force, and at last those that have ended.
    pub vouchers: Vec<Rc<ReadDocument>>,
    /// Promotion tiers.
    pub tiers: Vec<Rc<ReadDocument>>,
    /// Promotion stacks.
    pub stacks: Vec<Rc<ReadDocument>>,
    /// Assignments of rules to these.
    pub assignments: Vec<Rc<ReadDocument>>,
    /// The assigned rules.
    pub rules: Vec<Rc<ReadDocument>>,
    /// Segments that these rules name, by id.
    pub segments: BTreeMap<String, Rc<ReadDocument>>,
    /// Product collections, also those that nothing names.
    pub collections: Vec<Rc<ReadDocument>>,
    /// Categories, also those that nothing names.
    pub categories: Vec<Rc<ReadDocument>>,
    /// Goods that public offers name.
    pub goods: NamedGoods,
}

/// Selection of the documents, as far as it has come.
#[derive(Debug)]
pub struct OfferSelection {
    phase: SelectionPhase,
    /// Ids of the documents of this phase that are to be read.
    pending: VecDeque<String>,
    /// Position before which the next campaigns are stored.
    before: i64,
    /// Number of codes and tiers whose visibility is known.
    judged: usize,
    open: OpenCampaigns,
    ended: Vec<Rc<ReadDocument>>,
    known_tiers: BTreeSet<String>,
    /// Its horizon.
    pub horizon: Horizon,
    /// The documents.
    pub documents: SelectedDocuments,
    /// Codes that the core contains in boxes only, by the ids of their vouchers.
    pub sealed: BTreeMap<String, SealedCode>,
    /// True if there are too many codes that are sealed by default; then the core has none of these.
    pub has_too_many: bool,
    /// Names of documents that cannot be read.
    pub unreadable: UnreadableNames,
    /// Kinds that the core does not fully disclose.
    pub left_out: BTreeSet<&'static str>,
    /// Ids of the promotions that qualifications do not examine: the service examines the newest of each kind.
    pub unexamined: Vec<String>,
    /// Conditions about the customer.
    pub conditions: NumberedConditions,
    /// Conditions on goods.
    pub sets: NumberedSets,
}

impl OfferSelection {
    /// Begins the selection of an instant.
    pub fn begin(store: &Store<'_>, now: Instant) -> Result<OfferSelection, Fault> {
        let last = bundle_heads::find_offers(store)?.map(|last| last.conditions);
        Ok(OfferSelection {
            phase: SelectionPhase::Campaigns,
            pending: VecDeque::new(),
            // A statement takes no larger number on the platform.
            before: LARGEST,
            judged: 0,
            open: OpenCampaigns::default(),
            ended: Vec::new(),
            known_tiers: BTreeSet::new(),
            horizon: Horizon::of_build(now)?,
            documents: SelectedDocuments::default(),
            sealed: BTreeMap::new(),
            has_too_many: false,
            unreadable: UnreadableNames::default(),
            left_out: BTreeSet::new(),
            unexamined: Vec::new(),
            conditions: NumberedConditions::after(last.unwrap_or_default()),
            sets: NumberedSets::after(bundle_goods::find_tree(store)?.unwrap_or_default().sets),
        })
    }

    /// Returns true if all documents are selected.
    pub fn is_done(&self) -> bool {
        self.phase == SelectionPhase::Done
    }

    /// Selects the next documents; returns how many it has read: none where all have been read before. `read` has those that were
    /// read so far.
    pub fn step(&mut self, store: &Store<'_>, read: &mut ReadDocuments) -> Result<usize, Fault> {
        let is_phase_done = match self.phase {
            SelectionPhase::NamedGoods => self.select_named_goods(store, read)?,
            phase => {
                let count = STEP_DOCUMENTS.min(self.pending.len());
                let ids: Vec<String> = self.pending.drain(..count).collect();
                let found = read.list(store, phase.kind(), &ids)?;
                if phase == SelectionPhase::Segments {
                    let found = found.into_iter().map(|segment| (segment.document.id.clone(), segment));
                    self.documents.segments.extend(found);
                } else {
                    let readable = self.unreadable.leave_out(phase.kind(), found);
                    self.add(readable)?;
                }
                self.pending.is_empty() && (phase != SelectionPhase::Campaigns || !self.list_campaigns(store)?)
            }
        };
        if is_phase_done {
            self.begin_next_phase(store)?;
        }
        Ok(read.take_count())
    }

    /// Lists the next campaigns of which an offer may be in force, the newest first. Returns false if there are no more, or too many.
    fn list_campaigns(&mut self, store: &Store<'_>) -> Result<bool, Fault> {
        if self.open.count() > OFFERS_MAX {
            self.left_out.insert("offers");
            return Ok(false);
        }
        let (since_ms, limit) = (self.horizon.ended_since_ms(), rows_of(LISTED_CAMPAIGNS));
        let listed = campaigns::list_ids_with_offers(store, since_ms, limit, self.before)?;
        self.before = listed.last().map_or(self.before, |(_, position)| *position);
        self.pending = listed.into_iter().map(|(id, _)| id).collect();
        Ok(!self.pending.is_empty())
    }

    /// Decides which of the next codes are sealed, and reads the goods that these and the tiers name. Returns true after the last ones.
    fn select_named_goods(&mut self, store: &Store<'_>, read: &mut ReadDocuments) -> Result<bool, Fault> {
        let SelectedDocuments { vouchers, tiers, goods, .. } = &mut self.documents;
        let mut public = BTreeSet::new();
        let next = vouchers.iter().map(|voucher| (voucher, true)).chain(tiers.iter().map(|tier| (tier, false)));
        let next: Vec<(&Rc<ReadDocument>, bool)> = next.skip(self.judged).take(STEP_DOCUMENTS).collect();
        for (offer, is_voucher) in &next {
            let names = offer.goods_names();
            if *is_voucher && !self.open.is_public(offer)? {
                let goods = names.map(|names| NamedGoods::find(read, store, names.clone())).transpose()?;
                // Goods that do not read are left out, and a verdict lacks them.
                let goods = goods.filter(NamedGoods::is_readable);
                self.sealed.insert(offer.document.id.clone(), SealedCode::new(&offer.document, goods));
            } else {
                public.extend(names.into_iter().flatten().cloned());
            }
        }
        goods.join(NamedGoods::find(read, store, public)?);
        // It is at most the number of the offers.
        self.judged = self.judged.saturating_add(next.len());
        Ok(next.len() < STEP_DOCUMENTS)
    }

    /// Adds readable documents of the present phase.
    fn add(&mut self, mut found: Vec<Rc<ReadDocument>>) -> Result<(), Fault> {
        let documents = &mut self.documents;
        match self.phase {
            SelectionPhase::Campaigns => {
                self.open.select(&mut found, &mut self.horizon)?;
                documents.campaigns.append(&mut found);
                if self.open.count() > OFFERS_MAX {
                    self.pending.clear();
                }
            }
            SelectionPhase::Codes => {
                self.ended.append(&mut self.open.list_ended(&found, &self.horizon)?);
                self.open.retain_vouchers(&mut found, &mut self.horizon)?;
                documents.vouchers.append(&mut found);
            }
            SelectionPhase::Tiers => {
                self.open.retain_tiers(&mut found, &mut self.horizon)?;
                documents.tiers.append(&mut found);
            }
            SelectionPhase::Stacks => {
                // A stack names its tiers, so clients know those only whose tiers they all know.
                found.retain(|stack| {
                    let ids =
                        stack.document.body.get("tiers").and_then(|tiers| tiers.get("ids")).and_then(Json::as_array);
                    ids.into_iter().flatten().filter_map(Json::as_str).all(|id| self.known_tiers.contains(id))
                });
                documents.stacks.append(&mut found);
            }
            SelectionPhase::Assignments => documents.assignments.append(&mut found),
            SelectionPhase::Rules => documents.rules.append(&mut found),
            SelectionPhase::Collections => documents.collections.append(&mut found),
            SelectionPhase::Categories => documents.categories.append(&mut found),
            SelectionPhase::NamedGoods | SelectionPhase::Segments | SelectionPhase::Done => {}
        }
        Ok(())
    }

    /// Ends the present phase, and lists the ids of the next one's documents.
    fn begin_next_phase(&mut self, store: &Store<'_>) -> Result<(), Fault> {
        let documents = &self.documents;
        let within = |phase: SelectionPhase, parents: &[&Rc<ReadDocument>]| {
            let parents: Vec<&str> = parents.iter().map(|parent| parent.document.id.as_str()).collect();
            any_kind::list_ids_within_any(store, phase.kind(), &parents)
        };
        let campaigns: Vec<&Rc<ReadDocument>> = documents.campaigns.iter().collect();
        let (next, ids) = match self.phase {
            SelectionPhase::Campaigns => (SelectionPhase::Codes, self.list_codes(store)?),
            SelectionPhase::Codes => (SelectionPhase::Tiers, within(SelectionPhase::Tiers, &campaigns)?),
            SelectionPhase::Tiers => {
                self.retain_newest();
                (SelectionPhase::NamedGoods, Vec::new())
            }
            SelectionPhase::NamedGoods => {
                self.known_tiers = documents.tiers.iter().map(|tier| tier.document.id.clone()).collect();
                (SelectionPhase::Stacks, within(SelectionPhase::Stacks, &campaigns)?)
            }
            SelectionPhase::Stacks => {
                let documents = &mut self.documents;
                let offers = documents.vouchers.iter().chain(&self.ended).chain(&documents.tiers);
                retain_campaigns_of(&mut documents.campaigns, offers);
                self.unexamined = list_unexamined(store, documents)?;
                let guarded = documents.campaigns.iter().chain(&documents.vouchers).chain(&documents.tiers);
                (SelectionPhase::Assignments, within(SelectionPhase::Assignments, &guarded.collect::<Vec<_>>())?)
            }
            SelectionPhase::Assignments => {
                let rules = documents.assignments.iter();
                let rules: Vec<&str> =
                    rules.filter_map(|one| one.document.as_assignment().rule_id()?.as_str()).collect();
                (SelectionPhase::Rules, any_kind::list_stored_ids(store, SelectionPhase::Rules.kind(), &rules)?)
            }
            SelectionPhase::Rules => {
                let segments: BTreeSet<&String> = documents.rules.iter().flat_map(|rule| rule.segments()).collect();
                (SelectionPhase::Segments, segments.into_iter().cloned().collect())
            }
            SelectionPhase::Segments => {
                let ids = self.list_newest(store, SelectionPhase::Collections, "collections")?;
                (SelectionPhase::Collections, ids)
            }
            SelectionPhase::Collections => {
                let ids = self.list_newest(store, SelectionPhase::Categories, "categories")?;
                (SelectionPhase::Categories, ids)
            }
            SelectionPhase::Categories | SelectionPhase::Done => {
                self.finish();
                (SelectionPhase::Done, Vec::new())
            }
        };
        (self.phase, self.pending) = (next, ids.into());
        Ok(())
    }

    /// Lists the ids of the codes that clients may know: of public campaigns, with a setting of their own, and sealed by default.
    fn list_codes(&mut self, store: &Store<'_>) -> Result<Vec<String>, Fault> {
        let public = self.documents.campaigns.iter().filter(|campaign| campaign.document.as_campaign().is_standalone());
        let public: Vec<&str> = public.map(|campaign| campaign.document.id.as_str()).collect();
        let mut ids = any_kind::list_ids_within_any(store, SelectionPhase::Codes.kind(), &public)?;
        let mut visible = vouchers::list_visible_ids(store, self.horizon.ended_since_ms(), one_more(OFFERS_MAX))?;
        if visible.len() > OFFERS_MAX {
            self.left_out.insert("codes");
            visible.truncate(OFFERS_MAX);
        }
        ids.append(&mut visible);
        let unlimited = vouchers::list_unlimited_ids(store, one_more(SEALED_MAX))?;
        self.has_too_many = unlimited.len() > SEALED_MAX;
        if !self.has_too_many {
            ids.extend(unlimited);
        }
        Ok(ids)
    }

    /// Lists the ids of the documents of a phase, newest first, as many as a core may contain offers.
    fn list_newest(
        &mut self,
        store: &Store<'_>,
        phase: SelectionPhase,
        name: &'static str,
    ) -> Result<Vec<String>, Fault> {
        let mut ids = any_kind::list_last_ids(store, phase.kind(), one_more(OFFERS_MAX))?;
        if ids.len() > OFFERS_MAX {
            self.left_out.insert(name);
            ids.truncate(OFFERS_MAX);
        }
        Ok(ids)
    }

    /// Keeps the newest offers, as many as a core may contain, and the newest ended codes.
    fn retain_newest(&mut self) {
        if self.open.retain_newest_ended(&mut self.ended) {
            self.left_out.insert("codes");
        }
        let SelectedDocuments { tiers, vouchers, .. } = &mut self.documents;
        let mut times: Vec<i64> = tiers.iter().chain(vouchers.iter()).map(|offer| offer.document.created_at).collect();
        if times.len() <= OFFERS_MAX {
            return;
        }
        self.left_out.insert("offers");
        times.sort_unstable_by(|one, other| other.cmp(one));
        let oldest = times.get(OFFERS_MAX).copied().unwrap_or(i64::MIN);
        // All offers of one instant are left out, unless all offers have the same.
        let is_newer = |offer: &Rc<ReadDocument>| offer.document.created_at > oldest;
        if times.first().is_some_and(|newest| *newest > oldest) {
            tiers.retain(is_newer);
            vouchers.retain(is_newer);
        } else {
            tiers.truncate(OFFERS_MAX);
            // More tiers than the limit leave no room for vouchers.
            vouchers.truncate(OFFERS_MAX.saturating_sub(tiers.len()));
        }
    }

    /// Separates goods that cannot be read, and adds the ended codes where all documents can.
    fn finish(&mut self) {
        let SelectedDocuments { vouchers, goods, .. } = &mut self.documents;
        for (kind, unreadable) in goods.remove_unreadable() {
            self.unreadable.record(kind, &unreadable);
        }
        if self.unreadable.0.is_empty() {
            let ended = self.ended.iter().map(|code| &code.document);
            self.sealed.extend(ended.map(|code| (code.id.clone(), SealedCode::of_ended(code))));
            vouchers.append(&mut self.ended);
        }
    }
}

fn list_unexamined(store: &Store<'_>, documents: &SelectedDocuments) -> Result<Vec<String>, Fault> {
    let mut unexamined = Vec::new();
    for (kind, offers) in [("promotion_tier", &documents.tiers), ("promotion_stack", &documents.stacks)] {
        let newest = candidates::list_newest_ids(store, kind)?;
        unexamined.extend(offers.iter().map(|offer| &offer.document.id).filter(|id| !newest.contains(*id)).cloned());
    }
    Ok(unexamined)
}

fn rows_of(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn one_more(most: usize) -> i64 {
    // One row more than the limit: it exists if the limit is exceeded.
    rows_of(most).saturating_add(1)
}
