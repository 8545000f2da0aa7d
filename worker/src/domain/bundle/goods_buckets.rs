//! The bytes of a goods bucket: its products and SKUs as every client of the project may see them. Bounds of buckets saturate at the last
//! hash.

use crate::access::client::response_filter;
use crate::domain::bundle::disclosed_documents::disclose;
use crate::domain::bundle::goods_sets::write_sets;
use crate::domain::bundle::goods_tree::BUCKET_BEGIN;
use crate::store::Store;
use crate::store::bundle_goods;
use crate::store::bundle_heads::BundlePart;
use crate::store::document::Document;
use crate::store::documents::products;
use crate::store::sql::Fault;
use scrip::bundle::GoodsSorter;
use scrip::model::client::ClientContext;
use scrip::text::sha256_hex;
use scrip::wire::readability;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Kinds of goods.
pub const GOODS: [&str; 2] = ["product", "sku"];
/// Average number of names of a bucket above which there are more buckets, when they are counted again.
const NAMES_MAX: i64 = 150;
/// Average numbers of names between which the number of buckets stays.
const NAMES_KEPT: [i64; 2] = [40, 200];

/// Returns the number of buckets for a number of names; `present` is the number so far, or 0.
pub fn bucket_count_for(names: i64, present: u32) -> u32 {
    // Beyond the type is beyond every number of names.
    let bound = |average: i64| average.saturating_mul(i64::from(present));
    let [least, most] = NAMES_KEPT.map(bound);
    if present > 0 && names <= most && (present == 1 || names >= least) {
        return present;
    }
    // The number of buckets has a limit below.
    let minimum = u32::try_from(names.max(1).div_euclid(NAMES_MAX)).unwrap_or(u32::MAX).saturating_add(1);
    minimum.checked_next_power_of_two().unwrap_or(u32::MAX).min(scrip::model::goods_buckets::BUCKETS_MAX)
}

/// Names that changes of this transaction add and remove, which are not written yet.
#[derive(Debug, Default)]
pub struct NameChanges {
    /// New names.
    pub added: Vec<bundle_goods::NamePlace>,
    /// Names that the goods do not have any more.
    pub removed: Vec<bundle_goods::NamePlace>,
    /// Names of changed goods that have the same names as before.
    pub kept: Vec<bundle_goods::NamePlace>,
}

impl NameChanges {
    /// Returns the positions of the changed goods of a bucket; `None` if goods may have come or gone.
    fn find_kept(&self, bounds: BucketBounds) -> Option<BTreeSet<i64>> {
        let is_in = |(prefix, _): &&bundle_goods::NamePlace| (bounds.from..=bounds.to).contains(prefix);
        let is_moved = self.added.iter().chain(&self.removed).any(|name| is_in(&name));
        (!is_moved).then(|| self.kept.iter().filter(is_in).map(|(_, seq)| *seq).collect())
    }

    /// Returns the positions of the goods of a bucket.
    fn apply(&self, found: &mut BTreeSet<i64>, store: &Store<'_>, from: u32, to: u32) -> Result<(), Fault> {
        let in_range = |names: &[bundle_goods::NamePlace]| -> Vec<i64> {
            names.iter().filter(|(prefix, _)| (from..=to).contains(prefix)).map(|(_, seq)| *seq).collect()
        };
        let removed = in_range(&self.removed);
        if !removed.is_empty() {
            // One that lost a name may have another one in this bucket.
            let lost: BTreeSet<(u32, i64)> = self.removed.iter().copied().collect();
            let stored_names = bundle_goods::list_names_of(store, &removed)?;
            let has_other = |seq: &i64| {
                stored_names.iter().any(|name| name.1 == *seq && (from..=to).contains(&name.0) && !lost.contains(name))
            };
            removed.iter().filter(|seq| !has_other(seq)).for_each(|seq| _ = found.remove(seq));
        }
        found.extend(in_range(&self.added));
        Ok(())
    }
}

/// First and last prefix of a bucket.
#[derive(Debug, Clone, Copy)]
struct BucketBounds {
    from: u32,
    to: u32,
}

impl BucketBounds {
    fn of(bucket: u32, buckets: u32) -> BucketBounds {
        // A number of 32 bits plus one fits 64 bits.
        let width = u64::from(u32::MAX).saturating_add(1).checked_div(u64::from(buckets)).unwrap_or(0);
        // The last bucket ends at the last hash.
        let from = u32::try_from(u64::from(bucket).saturating_mul(width)).unwrap_or(u32::MAX);
        // The last bucket ends at the last hash.
        let to = from.saturating_add(u32::try_from(width.saturating_sub(1)).unwrap_or(u32::MAX));
        BucketBounds { from, to }
    }
}

/// A bucket whose goods can all be read, with its entries as they are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BucketEntries<'b> {
    bucket: u32,
    buckets: u32,
    #[serde(borrow)]
    products: Vec<&'b RawValue>,
    #[serde(borrow)]
    skus: Vec<&'b RawValue>,
}

/// The name of an entry.
#[derive(Deserialize)]
struct EntryId<'e> {
    #[serde(borrow)]
    id: Cow<'e, str>,
}

/// Replaces the entries of changed goods in the former text of a bucket, so that the others need not be read. Returns `None` where
/// that is not enough: goods have come, gone or cannot be read.
pub fn update_bucket(
    store: &Store<'_>,
    client: &ClientContext,
    sorter: Option<&GoodsSorter>,
    changes: &NameChanges,
    former: &str,
) -> Result<Option<BundlePart>, Fault> {
    let Ok(BucketEntries { bucket, buckets, products, skus }) = serde_json::from_str(former) else { return Ok(None) };
    let Some(seqs) = changes.find_kept(BucketBounds::of(bucket, buckets)) else { return Ok(None) };
    let [product, sku] = GOODS;
    let (mut changed_products, mut changed_skus) =
        (products::list_at(store, product, &seqs)?, products::list_at(store, sku, &seqs)?);
    let reads = |kind: &str, goods: &[Document]| goods.iter().all(|goods| is_readable(store, kind, goods));
    if !reads(product, &changed_products) || !reads(sku, &changed_skus) {
        return Ok(None);
    }
    write_sets(sorter, &mut changed_products, &mut changed_skus);
    let mut lists = Vec::new();
    for (list, entries, changed) in [("products", products, changed_products), ("skus", skus, changed_skus)] {
        let ids: Vec<String> = changed.iter().map(|goods| goods.id.clone()).collect();
        let texts = disclose(client, list, changed).into_iter().map(|entry| entry.to_string());
        let mut changed: BTreeMap<String, String> = ids.into_iter().zip(texts).collect();
        let mut written = Vec::new();
        for entry in entries {
            let EntryId { id } = serde_json::from_str(entry.get()).map_err(|error| Fault(error.to_string()))?;
            written.push(changed.remove(&*id).map_or(Cow::Borrowed(entry.get()), Cow::Owned));
        }
        if !changed.is_empty() {
            return Ok(None);
        }
        lists.push(format!("\"{list}\":[{}]", written.join(",")));
    }
    let body = format!("{BUCKET_BEGIN}{bucket},\"buckets\":{buckets},{}}}", lists.join(","));
    Ok(Some(BundlePart { hash: sha256_hex(body.as_bytes()), body }))
}

/// Builds one of `buckets` buckets.
pub fn build_bucket(
    store: &Store<'_>,
    client: &ClientContext,
    sorter: Option<&GoodsSorter>,
    changes: &NameChanges,
    bucket: u32,
    buckets: u32,
) -> Result<BundlePart, Fault> {
    let BucketBounds { from, to } = BucketBounds::of(bucket, buckets);
    let mut found = bundle_goods::list_named(store, from, to)?;
    changes.apply(&mut found, store, from, to)?;
    let mut unreadable = Vec::new();
    let mut read = |kind: &str| -> Result<Vec<Document>, Fault> {
        let stored = products::list_at(store, kind, &found)?.into_iter();
        let (readable, others) = stored.partition::<Vec<Document>, _>(|goods| is_readable(store, kind, goods));
        unreadable.extend(others.iter().map(|goods| names_of(kind, goods)));
        Ok(readable)
    };
    let [products, skus] = GOODS;
    let (mut products, mut skus) = (read(products)?, read(skus)?);
    write_sets(sorter, &mut products, &mut skus);
    let bodies = |goods: Vec<Document>| goods.into_iter().map(|goods| Json::Object(goods.body)).collect::<Json>();
    let mut json = json!({ "bucket": bucket, "buckets": buckets, "products": bodies(products), "skus": bodies(skus) });
    if let (Some(json), false) = (json.as_object_mut(), unreadable.is_empty()) {
        json.insert("unreadable".into(), unreadable.into());
    }
    response_filter::filter_goods(client, &mut json);
    let body = json.to_string();
    if !body.starts_with(BUCKET_BEGIN) {
        return Err(Fault::new("a goods bucket does not begin with its number"));
    }
    Ok(BundlePart { hash: sha256_hex(body.as_bytes()), body })
}

fn is_readable(store: &Store<'_>, kind: &str, goods: &Document) -> bool {
    match readability::check_fields(kind, &goods.body) {
        Ok(()) => true,
        Err(problem) => {
            store.warn(format!("the stored {kind} `{}` cannot be read: {problem}", goods.id));
            false
        }
    }
}

/// Returns the names of goods that cannot be read.
pub fn names_of(kind: &str, goods: &Document) -> Json {
    json!({ "object": kind, "id": goods.id, "source_id": goods.key })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_about_a_hundred_names_in_a_bucket() {
        let fitting = [(0, 1), (149, 1), (150, 2), (400_000, 4_096), (3_300, 32), (i64::MAX, 1 << 20)];
        for (names, buckets) in fitting {
            assert_eq!(bucket_count_for(names, 0), buckets, "{names}");
        }
        // A few names more or less change no number of buckets.
        assert_eq!([199, 200, 201].map(|names| bucket_count_for(names, 1)), [1, 1, 2]);
        assert_eq!([639, 640, 3_200, 3_201].map(|names| bucket_count_for(names, 16)), [8, 16, 16, 32]);
    }
}
