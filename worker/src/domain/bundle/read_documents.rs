//! Documents that a build has read, by their names, with what its selection needs of each. They stay in memory until the core is complete:
//! where documents change between two slices, only these are read again.

use crate::domain::bundle::goods_sets::{ListedGoods, list_goods_of};
use crate::store::Store;
use crate::store::bundle_goods::{self, WrittenNames};
use crate::store::document::Document;
use crate::store::documents::any_kind;
use crate::store::sql::Fault;
use scrip::bundle::{number_conditions, segments_of};
use scrip::model::redeemable::{Campaign, RedeemableTerms};
use scrip::wire::cursor::Read;
use scrip::wire::document::read_fields;
use scrip::wire::readability;
use scrip::wire::voucher::{read_campaign, read_tier, read_voucher};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Member of an offer with the name of goods.
const UNIT_TYPE: &str = "unit_type";
/// Kind of collections.
const COLLECTION: &str = "products_collection";

/// Document that a build has read.
#[derive(Debug, Clone)]
pub struct ReadDocument {
    /// The document.
    pub document: Document,
    /// Terms that the selection needs; `None` if it cannot be read.
    pub terms: Option<ReadTerms>,
}

/// Terms of a readable document that a selection needs.
#[derive(Debug, Clone)]
pub enum ReadTerms {
    /// Of a campaign.
    Campaign(Box<Campaign>),
    /// Of a voucher or a promotion tier, with the names of goods in it.
    Offer(Box<RedeemableTerms>, BTreeSet<String>),
    /// Of a validation rule, the ids of the segments in it.
    Rule(BTreeSet<String>),
    /// Of a product collection, the goods that it lists, and true if the catalogue has all of them.
    Collection(ListedGoods, bool),
    /// Of other documents, nothing.
    Other,
}

impl ReadDocument {
    fn of(store: &Store<'_>, kind: &str, document: Document) -> Result<ReadDocument, Fault> {
        let terms = match readability::check_fields(kind, &document.body) {
            Ok(()) => Some(read_terms(store, kind, &document)?),
            Err(problem) => {
                store.warn(format!("the stored {kind} `{}` cannot be read: {problem}", document.id));
                None
            }
        };
        Ok(ReadDocument { document, terms })
    }

    /// Returns the terms of a campaign.
    pub fn campaign(&self) -> Result<&Campaign, Fault> {
        match &self.terms {
            Some(ReadTerms::Campaign(campaign)) => Ok(campaign),
            _ => Err(self.mistaken("campaign")),
        }
    }

    /// Returns the terms of a voucher or a tier.
    pub fn offer(&self) -> Result<&RedeemableTerms, Fault> {
        match &self.terms {
            Some(ReadTerms::Offer(offer, _)) => Ok(offer),
            _ => Err(self.mistaken("offer")),
        }
    }

    /// Returns the names of goods in an offer.
    pub fn goods_names(&self) -> Option<&BTreeSet<String>> {
        match &self.terms {
            Some(ReadTerms::Offer(_, names)) => Some(names).filter(|names| !names.is_empty()),
            _ => None,
        }
    }

    /// Returns the ids of the segments in a rule.
    pub fn segments(&self) -> impl Iterator<Item = &String> {
        match &self.terms {
            Some(ReadTerms::Rule(segments)) => Some(segments),
            _ => None,
        }
        .into_iter()
        .flatten()
    }

    /// Returns true if the catalogue has all goods that a collection lists.
    pub fn has_listed(&self) -> bool {
        matches!(self.terms, Some(ReadTerms::Collection(_, true)))
    }

    /// Returns true if it is a collection that lists goods with names that were written.
    fn lists(&self, written: &WrittenNames) -> bool {
        let Some(ReadTerms::Collection(listed, _)) = &self.terms else { return false };
        listed.iter().any(|(kind, names)| names.iter().any(|name| is_written(written, kind, name)))
    }

    fn mistaken(&self, kind: &str) -> Fault {
        Fault(format!("the stored document `{}` is no {kind} that was read", self.document.id))
    }
}

fn read_terms(store: &Store<'_>, kind: &str, document: &Document) -> Result<ReadTerms, Fault> {
    let offer = |offer: RedeemableTerms| {
        let mut names = BTreeSet::new();
        document.body.values().for_each(|value| collect_goods_names(value, &mut names));
        ReadTerms::Offer(Box::new(offer), names)
    };
    Ok(match kind {
        "campaign" => ReadTerms::Campaign(Box::new(read_fact(document, read_campaign)?)),
        "voucher" => offer(read_fact(document, |at| read_voucher(at, ""))?),
        "promotion_tier" => offer(read_fact(document, |at| read_tier(at, ""))?),
        "validation_rules" => {
            let mut segments = BTreeSet::new();
            // The numbers are those of a copy, which is dropped.
            number_conditions::<Fault>(&mut document.body.clone(), &mut |condition| {
                segments.extend(segments_of(condition).into_iter().map(str::to_owned));
                Ok(0)
            })?;
            ReadTerms::Rule(segments)
        }
        COLLECTION => {
            let listed = list_goods_of(document);
            let has_listed = has_all(store, &listed)?;
            ReadTerms::Collection(listed, has_listed)
        }
        _ => ReadTerms::Other,
    })
}

/// Collects the names of goods in a value of an offer.
fn collect_goods_names(value: &Json, names: &mut BTreeSet<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| collect_goods_names(item, names)),
        Json::Object(members) => members.iter().for_each(|(member, value)| match value {
            Json::String(name) if member == UNIT_TYPE => _ = names.insert(name.clone()),
            _ => collect_goods_names(value, names),
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// Returns true if the catalogue has goods for every name of a list.
fn has_all(store: &Store<'_>, listed: &ListedGoods) -> Result<bool, Fault> {
    for (kind, names) in listed {
        let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        if !bundle_goods::has_names(store, kind, &names)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_written(written: &WrittenNames, kind: &str, name: &String) -> bool {
    written.get(kind).is_some_and(|names| names.contains(name))
}

/// Reads a stored document that was found to be readable before.
fn read_fact<T>(document: &Document, read: Read<T>) -> Result<T, Fault> {
    let read = read_fields(&document.body, read);
    read.map_err(|problem| Fault(format!("the stored document `{}` cannot be read: {problem}", document.id)))
}

type DocumentsByName<T> = BTreeMap<&'static str, BTreeMap<String, T>>;

/// Documents that a build has read, as they are at its revision.
#[derive(Debug, Default)]
pub struct ReadDocuments {
    /// By kind and id.
    by_id: DocumentsByName<Rc<ReadDocument>>,
    /// Products and SKUs by kind and by each name that was looked for; none where there are none.
    goods: DocumentsByName<Vec<Rc<ReadDocument>>>,
    /// Number of documents read since the last [`ReadDocuments::take_count`].
    count: usize,
}

impl ReadDocuments {
    /// Lists the documents of a kind with some ids, in the order of these ids.
    pub fn list(
        &mut self,
        store: &Store<'_>,
        kind: &'static str,
        ids: &[String],
    ) -> Result<Vec<Rc<ReadDocument>>, Fault> {
        let known = self.by_id.entry(kind).or_default();
        let unread: Vec<&str> = ids.iter().filter(|id| !known.contains_key(*id)).map(String::as_str).collect();
        if !unread.is_empty() {
            let found = any_kind::list_with_ids(store, kind, &unread)?;
            // They fit memory.
            self.count = self.count.saturating_add(found.len());
            for document in found {
                known.insert(document.id.clone(), Rc::new(ReadDocument::of(store, kind, document)?));
            }
        }
        Ok(ids.iter().filter_map(|id| known.get(id).cloned()).collect())
    }

    /// Lists the products or SKUs with one of some names: ids or keys.
    pub fn list_goods(
        &mut self,
        store: &Store<'_>,
        kind: &'static str,
        names: &BTreeSet<String>,
    ) -> Result<Vec<Rc<ReadDocument>>, Fault> {
        let known = self.goods.entry(kind).or_default();
        let unread: Vec<&str> = names.iter().filter(|name| !known.contains_key(*name)).map(String::as_str).collect();
        if !unread.is_empty() {
            let with_ids = any_kind::list_with_ids(store, kind, &unread)?;
            let with_keys = any_kind::list_with_keys(store, kind, &unread)?;
            known.extend(unread.iter().map(|name| ((*name).to_owned(), Vec::new())));
            let all = with_ids.into_iter().chain(with_keys).map(|one| (one.id.clone(), one));
            for document in all.collect::<BTreeMap<String, Document>>().into_values() {
                self.count = self.count.saturating_add(1); // They fit memory.
                let one = Rc::new(ReadDocument::of(store, kind, document)?);
                let own_names = [Some(&one.document.id), one.document.key.as_ref()].into_iter().flatten();
                for name in own_names.filter(|name| unread.contains(&name.as_str())) {
                    known.entry(name.clone()).or_default().push(Rc::clone(&one));
                }
            }
        }
        Ok(names.iter().filter_map(|name| known.get(name)).flatten().cloned().collect())
    }

    /// Returns how many documents were read since the last call.
    pub fn take_count(&mut self) -> usize {
        std::mem::take(&mut self.count)
    }

    /// Forgets the documents with names that were written since, and collections for which these goods count.
    pub fn forget(&mut self, written: &WrittenNames) {
        for (kind, names) in written {
            for name in names {
                self.by_id.get_mut(kind.as_str()).map(|documents| documents.remove(name));
                self.goods.get_mut(kind.as_str()).map(|goods| goods.remove(name));
            }
        }
        if let Some(collections) = self.by_id.get_mut(COLLECTION) {
            collections.retain(|_, collection| !collection.lists(written));
        }
    }

    /// Returns true if goods were written since that an offer names or that a collection lists.
    pub fn has_goods_of(&self, written: &WrittenNames) -> bool {
        self.goods.iter().any(|(kind, goods)| goods.keys().any(|name| is_written(written, kind, name)))
            || self.by_id.get(COLLECTION).into_iter().flatten().any(|(_, collection)| collection.lists(written))
    }
}
