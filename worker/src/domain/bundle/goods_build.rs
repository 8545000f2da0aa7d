//! Keeps the goods buckets of the bundle up to date, in slices: first the names of changed goods, then their buckets, then the tree.
//!
//! Triggers mark changed products and SKUs (`0041_bundle_goods.sql`). One that changed costs its buckets and the pages above them.
//! Numbers of rows and places in the tree saturate: they are bounds of reads, and sizes.

use crate::domain::bundle::goods_buckets::{NameChanges, bucket_count_for, build_bucket, update_bucket};
use crate::domain::bundle::goods_sets::build_sorter;
use crate::domain::bundle::goods_tree::{PAGE_HASHES, count_page_levels, make_page};
use crate::domain::bundle::project::BundleProject;
use crate::store::Store;
use crate::store::amount::CheckedAmount;
use crate::store::bundle_goods::{self as stored, GoodsTree, MarkedGoods};
use crate::store::bundle_heads::{self, BundlePart};
use crate::store::sql::Fault;
use scrip::bundle::GoodsSorter;
use scrip::model::client::ClientContext;
use scrip::model::goods_buckets::{bucket_of, hash_prefix};
use scrip::text::sha256_hex;
use scrip::wire::project::client::client_policy_of;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Form of the buckets: another one builds all of them again.
const FORM: u32 = 2;
/// Rows of a slice that a bucket counts as.
const BUCKET_ROWS: u64 = 10;

/// Tree of the goods, as a head claims it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoodsRoot {
    /// Hash that proves each bucket.
    pub root: String,
    /// Number of buckets.
    pub buckets: u32,
}

/// Builds the changed goods, at most `rows` rows; returns the tree when it is up to date and its entries contain these sets.
pub fn refresh(
    store: &mut Store<'_>,
    project: &BundleProject<'_>,
    sets: &BTreeMap<u64, String>,
    now_ms: i64,
    rows: u64,
) -> Result<Option<GoodsRoot>, Fault> {
    let terms = client_policy_of(&project.settings.client);
    let terms = terms.map_err(|problem| Fault(format!("the project's client policy cannot be read: {problem}")))?;
    // Conditions compare days in the project's zone.
    let zone = if sets.is_empty() { &Json::Null } else { project.zone() };
    let content = json!([
        FORM,
        terms.metadata.product.iter().map(|key| key.as_str()).collect::<Vec<&str>>(),
        sets.iter().collect::<Vec<(&u64, &String)>>(),
        zone
    ]);
    let content_hash = sha256_hex(content.to_string().as_bytes());
    let client = ClientContext { policy: terms, ..ClientContext::default() };
    let tree = stored::find_tree(store)?.unwrap_or_default();
    // A bound of rows.
    let mut marked = stored::list_marked(store, rows_of(rows.saturating_add(1)))?;
    let has_all_marked = u64::try_from(marked.len()).is_ok_and(|count| count <= rows);
    marked.truncate(usize::try_from(rows).unwrap_or(usize::MAX));
    if let (Some(root), true, true) = (&tree.root, marked.is_empty(), tree.content_hash == content_hash)
        && !stored::is_marked(store)?
    {
        return Ok(Some(GoodsRoot { root: root.clone(), buckets: tree.buckets }));
    }
    let (changes, changed) = update_names(store, &marked)?;
    let removed = i64::try_from(changes.removed.len()).unwrap_or(i64::MAX);
    let added = i64::try_from(changes.added.len()).unwrap_or(i64::MAX);
    let names = tree.names.plus(added)?.minus(removed)?;
    let mut tree = GoodsTree { names, root: None, sets: sets.clone(), ..tree };
    if !has_all_marked {
        stored::mark_places(store, 0, &buckets_of(&changed, tree.buckets));
        stored::update_tree(store, &tree);
        return Ok(None);
    }
    let buckets = bucket_count_for(names, tree.buckets);
    let is_new = (buckets, &content_hash) != (tree.buckets, &tree.content_hash);
    if is_new {
        stored::restart(store, buckets, now_ms);
        tree = GoodsTree { buckets, content_hash, ..tree };
    }
    let changed = buckets_of(&changed, buckets);
    let sorter = build_sorter(sets, project.zone())?;
    let mut build = TreeBuild { store, client, sorter, changes, buckets, is_new, now_ms, hashes: BTreeMap::new() };
    let is_built = build.build_buckets(changed, rows)?;
    if is_built {
        tree.root = Some(build.build_pages()?);
    }
    stored::update_tree(store, &tree);
    Ok(tree.root.map(|root| GoodsRoot { root, buckets }))
}

/// Returns true if the goods are not up to date.
pub fn is_waiting(store: &Store<'_>) -> Result<bool, Fault> {
    let tree = stored::find_tree(store)?;
    Ok(tree.is_none_or(|tree| tree.root.is_none()) || stored::is_marked(store)?)
}

fn rows_of(rows: u64) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Stores the names of changed goods; returns the changes, and the prefixes whose buckets are to be built.
fn update_names(store: &mut Store<'_>, marked: &[MarkedGoods]) -> Result<(NameChanges, BTreeSet<u32>), Fault> {
    let (mut changes, mut changed) = (NameChanges::default(), BTreeSet::new());
    for MarkedGoods { seq, names, prefixes } in marked {
        let present: BTreeSet<u32> = names.iter().map(|name| hash_prefix(name)).collect();
        changes.added.extend(present.difference(prefixes).map(|prefix| (*prefix, *seq)));
        changes.removed.extend(prefixes.difference(&present).map(|prefix| (*prefix, *seq)));
        changes.kept.extend(present.intersection(prefixes).map(|prefix| (*prefix, *seq)));
        changed.extend(present.union(prefixes));
    }
    stored::update_names(store, &changes.added, &changes.removed);
    let seqs: Vec<i64> = marked.iter().map(|goods| goods.seq).collect();
    if !seqs.is_empty() {
        stored::delete_marks(store, &seqs);
    }
    Ok((changes, changed))
}

/// Returns the buckets of some prefixes; none before there are buckets.
fn buckets_of(prefixes: &BTreeSet<u32>, buckets: u32) -> BTreeSet<u32> {
    if buckets == 0 {
        return BTreeSet::new();
    }
    prefixes.iter().map(|prefix| bucket_of(*prefix, buckets)).collect()
}

/// Work on a tree in one transaction, whose writes cannot be read yet.
struct TreeBuild<'b, 's> {
    store: &'b mut Store<'s>,
    client: ClientContext,
    sorter: Option<GoodsSorter>,
    changes: NameChanges,
    buckets: u32,
    /// True if the stored hashes are those of another tree.
    is_new: bool,
    now_ms: i64,
    /// New hashes by level and place.
    hashes: BTreeMap<u32, BTreeMap<u32, String>>,
}

impl TreeBuild<'_, '_> {
    /// Builds the marked buckets, and these, as far as the rows reach; returns true if none is left.
    fn build_buckets(&mut self, changed: BTreeSet<u32>, rows: u64) -> Result<bool, Fault> {
        let limit = usize::try_from(rows.div_ceil(BUCKET_ROWS)).unwrap_or(usize::MAX);
        let mut marked = changed;
        // Of these it is not known which of their goods have changed.
        let mut unknown = BTreeSet::new();
        if self.is_new {
            marked = (0..self.buckets).collect();
        } else {
            // One more than are built shows that some are left; those after it stay marked.
            let most = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
            unknown = stored::list_marked_places(self.store, 0, most)?;
            marked.extend(&unknown);
        }
        let left: BTreeSet<u32> = marked.iter().copied().skip(limit).collect();
        let mut parts = BTreeMap::new();
        for bucket in marked.iter().take(limit) {
            let former = if self.is_new || unknown.contains(bucket) { None } else { self.find_former(*bucket)? };
            let sorter = self.sorter.as_ref();
            let updated = match former {
                Some(former) => update_bucket(self.store, &self.client, sorter, &self.changes, &former)?,
                None => None,
            };
            let part = match updated {
                Some(part) => part,
                None => build_bucket(self.store, &self.client, sorter, &self.changes, *bucket, self.buckets)?,
            };
            parts.insert(*bucket, part);
        }
        let above: BTreeSet<u32> = self.replace(0, parts)?.iter().map(|place| page_of(*place)).collect();
        if !self.is_new {
            stored::mark_places(self.store, 0, &left);
        }
        if !left.is_empty() {
            stored::mark_places(self.store, 1, &above);
        }
        Ok(left.is_empty())
    }

    /// Returns the text of a bucket that the tree has so far.
    fn find_former(&self, bucket: u32) -> Result<Option<String>, Fault> {
        let hash = stored::find_hashes(self.store, 0, &BTreeSet::from([bucket]))?.remove(&bucket);
        hash.map_or(Ok(None), |hash| bundle_heads::find_part(self.store, &hash))
    }

    /// Builds the pages above changed buckets; returns the root.
    fn build_pages(&mut self) -> Result<String, Fault> {
        let levels = count_page_levels(self.buckets);
        let changed = self.hashes.get(&0).into_iter().flat_map(BTreeMap::keys);
        let mut places: BTreeSet<u32> = changed.map(|place| page_of(*place)).collect();
        if !self.is_new {
            places.extend(stored::list_marked_places(self.store, 1, i64::from(u32::MAX))?);
        }
        for level in 1..=levels {
            // Levels begin with 1.
            let below = level.saturating_sub(1);
            let mut parts = BTreeMap::new();
            for place in &places {
                // Places are those of a tree in memory.
                let first = place.saturating_mul(PAGE_HASHES);
                // Places are those of a tree in memory.
                let children = (first..first.saturating_add(PAGE_HASHES)).collect();
                let hashes = self.find(below, &children)?.into_values().collect();
                parts.insert(*place, make_page(level, hashes, self.buckets)?);
            }
            places = self.replace(level, parts)?.into_iter().map(page_of).collect();
        }
        let root = self.find(levels, &BTreeSet::from([0]))?.remove(&0);
        root.ok_or_else(|| Fault::new("the goods have no root"))
    }

    /// Returns the hashes of these places of a level, with those of this transaction.
    fn find(&self, level: u32, places: &BTreeSet<u32>) -> Result<BTreeMap<u32, String>, Fault> {
        let mut found = match self.is_new {
            true => BTreeMap::new(),
            false => stored::find_hashes(self.store, level, places)?,
        };
        let own = self.hashes.get(&level).into_iter().flatten();
        found.extend(own.filter(|(place, _)| places.contains(place)).map(|(place, hash)| (*place, hash.clone())));
        Ok(found)
    }

    /// Replaces the parts of a level; returns the places whose hashes are others than before.
    fn replace(&mut self, level: u32, parts: BTreeMap<u32, BundlePart>) -> Result<Vec<u32>, Fault> {
        let mut former = self.find(level, &parts.keys().copied().collect())?;
        let hashes: BTreeMap<u32, String> = parts.iter().map(|(place, part)| (*place, part.hash.clone())).collect();
        let changed: Vec<u32> =
            hashes.iter().filter(|(place, hash)| former.get(place) != Some(hash)).map(|(place, _)| *place).collect();
        former.retain(|place, hash| !hash.is_empty() && changed.contains(place));
        let former: Vec<String> = former.into_values().collect();
        let parts: Vec<BundlePart> =
            parts.into_iter().filter(|(place, _)| changed.contains(place)).map(|(_, part)| part).collect();
        stored::replace_parts(self.store, &parts, &former, self.now_ms);
        stored::update_hashes(self.store, level, &hashes);
        let own = self.hashes.entry(level).or_default();
        own.extend(hashes.into_iter().filter(|(place, _)| changed.contains(place)));
        Ok(changed)
    }
}

/// Returns the page above a place.
fn page_of(place: u32) -> u32 {
    place.checked_div(PAGE_HASHES).unwrap_or(0)
}
