//! The tree of hashes over the goods buckets, divided into pages: 64 hashes of the level below. A page is stored under the root of its
//! hashes. A changed bucket therefore changes one page of each level, and its path is read from one page of each level.

use crate::store::bundle_heads::BundlePart;
use crate::store::sql::Fault;
use scrip::bundle::goods_tree::{GoodsHash, parent_hash, read_hash, root_of_path};
use scrip::text::hex;
use serde::{Deserialize, Serialize};

/// Number of hashes of a full page.
pub const PAGE_HASHES: u32 = 64;

/// Stored page.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GoodsPage {
    /// Hashes of the level below, of a power of two of places.
    hashes: Vec<String>,
    /// Number of buckets below them.
    buckets: u32,
}

/// Returns the number of levels of pages above `buckets` buckets.
pub fn count_page_levels(buckets: u32) -> u32 {
    let (mut levels, mut count) = (0_u32, buckets);
    while count > 1 {
        count = count.div_ceil(PAGE_HASHES);
        // A level has fewer pages than the one below.
        levels = levels.saturating_add(1);
    }
    levels
}

/// Makes a page of a level from the hashes below; the tree has `buckets` buckets.
pub fn make_page(level: u32, hashes: Vec<String>, buckets: u32) -> Result<BundlePart, Fault> {
    let root = root_of(&hashes).ok_or_else(|| Fault::new("the hashes of the goods cannot be read"))?;
    let buckets = PAGE_HASHES.checked_pow(level).map_or(buckets, |full| full.min(buckets));
    let body = serde_json::to_string(&GoodsPage { hashes, buckets }).map_err(|error| Fault(error.to_string()))?;
    Ok(BundlePart { hash: hex(&root), body })
}

fn read_all(hashes: &[String]) -> Option<Vec<GoodsHash>> {
    hashes.iter().map(|hash| read_hash(hash)).collect()
}

/// Returns the hashes of the next level of the binary tree; `None` where they have no pairs.
fn parents_of(hashes: &[GoodsHash]) -> Option<Vec<GoodsHash>> {
    let parent = |pair: &[GoodsHash]| match pair {
        [left, right] => Some(parent_hash(left, right)),
        _ => None,
    };
    hashes.chunks(2).map(parent).collect()
}

fn root_of(hashes: &[String]) -> Option<GoodsHash> {
    let mut level = read_all(hashes)?;
    while level.len() > 1 {
        level = parents_of(&level)?;
    }
    level.first().copied()
}

/// Returns the neighbours on the way from a place to the root.
fn neighbours_of(hashes: &[String], place: usize) -> Option<Vec<String>> {
    let (mut level, mut place, mut neighbours) = (read_all(hashes)?, place, Vec::new());
    while level.len() > 1 {
        neighbours.push(hex(level.get(place ^ 1)?));
        level = parents_of(&level)?;
        place >>= 1;
    }
    Some(neighbours)
}

/// Maximum number of parts on the way from a root to a bucket: a level has 64 times as many parts as the one above. Wrong copies could lead
/// on without end.
const STEPS_MAX: u32 = 5;

/// Search for a bucket from the root of a tree downwards; each step reads one stored part.
#[derive(Debug)]
pub struct BucketSearch {
    /// Hash of the part to read next.
    hash: String,
    /// Place of the bucket below it.
    place: u32,
    /// Neighbours so far, those of the lower pages first.
    path: Vec<String>,
    /// True if the next part is known to be the bucket.
    is_at_bucket: bool,
    /// Number of parts that were read.
    steps: u32,
}

impl BucketSearch {
    /// Begins at a root.
    pub fn new(root: &str, place: u32) -> BucketSearch {
        BucketSearch { hash: root.to_owned(), place, path: Vec::new(), is_at_bucket: false, steps: 0 }
    }

    /// Returns the hash of the part to read next.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the answer for a caller who has the bucket of a hash: only the path. `None` if the bucket is not reached yet, or another.
    pub fn answer_known(&self, have: &str) -> Option<Vec<u8>> {
        (self.is_at_bucket && self.hash == have).then(|| self.write(None))
    }

    /// Takes the part of the hash. Returns the answer when it is the bucket, else `None`: then the search continues. `Err` means that
    /// there is no such bucket, or that it is too far from the root.
    pub fn read(&mut self, part: &[u8]) -> Result<Option<Vec<u8>>, NoBucket> {
        Ok(self.is_bucket(part)?.then(|| self.write(Some(part))))
    }

    /// Takes the part of the hash, as `read` does; returns true if it is the bucket.
    pub fn is_bucket(&mut self, part: &[u8]) -> Result<bool, NoBucket> {
        self.steps = self.steps.checked_add(1).filter(|steps| *steps <= STEPS_MAX).ok_or(NoBucket)?;
        if !self.is_at_bucket
            && let Ok(page) = serde_json::from_slice::<GoodsPage>(part)
        {
            return self.descend(&page).map(|()| false).ok_or(NoBucket);
        }
        // A tree of one bucket has no page.
        let is_bucket = self.is_at_bucket || part.starts_with(BUCKET_BEGIN.as_bytes());
        if is_bucket && self.place == 0 { Ok(true) } else { Err(NoBucket) }
    }

    /// Returns true if the path of a bucket that was found leads to the root, as a client proves it. A page is stored under the root of its
    /// hashes and not of its bytes, so only the whole path proves what KV has.
    pub fn proves(&self, bucket: &[u8], root: &str, number: u32) -> bool {
        root_of_path(bucket, number, &self.path.concat()).as_deref() == Some(root)
    }

    fn descend(&mut self, page: &GoodsPage) -> Option<()> {
        let below = page.buckets.checked_div(u32::try_from(page.hashes.len()).ok()?)?;
        let place = usize::try_from(self.place.checked_div(below)?).ok()?;
        page.hashes.get(place)?.clone_into(&mut self.hash);
        let mut path = neighbours_of(&page.hashes, place)?;
        path.append(&mut self.path);
        self.path = path;
        self.place = self.place.checked_rem(below)?;
        self.is_at_bucket = below == 1;
        Some(())
    }

    /// Writes the answer; the bytes of the bucket stay as they are, because its hash is of these.
    fn write(&self, bucket: Option<&[u8]>) -> Vec<u8> {
        let mut answer = format!("{{\"path\":{}", serde_json::Value::from(self.path.clone())).into_bytes();
        if let Some(bucket) = bucket {
            answer.extend_from_slice(b",\"goods\":");
            answer.extend_from_slice(bucket);
        }
        answer.push(b'}');
        answer
    }
}

/// First bytes of a bucket.
pub const BUCKET_BEGIN: &str = "{\"bucket\":";

/// A root without the bucket of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoBucket;

#[cfg(test)]
mod tests {
    use super::*;
    use scrip::text::sha256_hex;
    use serde_json::Value as Json;
    use std::collections::BTreeMap;

    /// Returns a tree of `buckets` buckets, as its parts by hash, and its root.
    fn tree(buckets: u32) -> (BTreeMap<String, String>, String) {
        let mut parts = BTreeMap::new();
        let bodies = (0..buckets).map(|bucket| format!("{BUCKET_BEGIN}{bucket}}}"));
        let mut below: Vec<String> = bodies
            .map(|body| {
                let hash = sha256_hex(body.as_bytes());
                parts.insert(hash.clone(), body);
                hash
            })
            .collect();
        for level in 1..=count_page_levels(buckets) {
            let pages: Vec<BundlePart> =
                below.chunks(64).map(|hashes| make_page(level, hashes.to_vec(), buckets).unwrap()).collect();
            below = pages.iter().map(|page| page.hash.clone()).collect();
            parts.extend(pages.into_iter().map(|page| (page.hash, page.body)));
        }
        assert_eq!(below.len(), 1);
        (parts, below.remove(0))
    }

    /// A page of a hostile copy that names itself leads to no bucket. It is given up after as many parts as the largest tree has on a way.
    #[test]
    fn a_page_that_leads_back_to_itself_ends_the_search() {
        let page = make_page(2, vec!["0".repeat(64); 64], 4_096).unwrap().body;
        let mut search = BucketSearch::new(&"0".repeat(64), 0);
        let steps = (0..100).take_while(|_| search.is_bucket(page.as_bytes()) == Ok(false)).count();
        assert_eq!(steps, 5);
        let (parts, root) = tree(64 * 64 * 2);
        let mut search = BucketSearch::new(&root, 64 * 64 * 2 - 1);
        let steps = (0..5).take_while(|_| !search.is_bucket(parts[search.hash()].as_bytes()).unwrap()).count();
        assert_eq!(steps, 3, "a tree of three levels of pages");
    }

    fn find(parts: &BTreeMap<String, String>, root: &str, place: u32) -> Option<Json> {
        let mut search = BucketSearch::new(root, place);
        for _ in 0..5 {
            match search.read(parts.get(search.hash())?.as_bytes()) {
                Ok(None) => {}
                Ok(Some(answer)) => return Some(serde_json::from_slice(&answer).unwrap()),
                Err(NoBucket) => return None,
            }
        }
        panic!("the search has no end")
    }

    #[test]
    fn each_bucket_is_found_with_the_path_to_the_root() {
        for buckets in [1, 2, 32, 64, 128, 4_096, 8_192] {
            let (parts, root) = tree(buckets);
            for place in [0, 1, 31, 63, 64, buckets / 2, buckets - 1].into_iter().filter(|place| *place < buckets) {
                let found = find(&parts, &root, place).unwrap();
                assert_eq!(found["goods"]["bucket"], place);
                let path: String =
                    found["path"].as_array().unwrap().iter().map(|hash| hash.as_str().unwrap()).collect();
                assert_eq!(path.len(), 64 * usize::try_from(buckets.ilog2()).unwrap(), "{buckets}");
                let bucket = format!("{BUCKET_BEGIN}{place}}}");
                assert_eq!(root_of_path(bucket.as_bytes(), place, &path).as_ref(), Some(&root), "{place} of {buckets}");
            }
            assert_eq!(find(&parts, &root, buckets), None);
        }
    }

    /// Returns true if a bucket is found and proven.
    fn is_proven(parts: &BTreeMap<String, String>, root: &str, number: u32) -> bool {
        let mut search = BucketSearch::new(root, number);
        for _ in 0..5 {
            let Some(part) = parts.get(search.hash()) else { return false };
            match search.is_bucket(part.as_bytes()) {
                Ok(true) => return search.proves(part.as_bytes(), root, number),
                Ok(false) => {}
                Err(NoBucket) => return false,
            }
        }
        panic!("the search has no end")
    }

    #[test]
    fn a_bucket_is_proven_unless_any_part_on_its_way_is_another_one() {
        for buckets in [1, 2, 32, 128] {
            let (parts, root) = tree(buckets);
            for number in 0..buckets {
                assert!(is_proven(&parts, &root, number), "{number} of {buckets}");
            }
            for (hash, part) in &parts {
                let others = match serde_json::from_str::<GoodsPage>(part) {
                    // Another number of buckets below, hashes in another order, the page of another bucket.
                    Ok(GoodsPage { mut hashes, buckets }) => {
                        hashes.rotate_left(1);
                        let rotated = GoodsPage { hashes, buckets };
                        let fewer =
                            part.replace(&format!("\"buckets\":{buckets}"), &format!("\"buckets\":{}", buckets / 2));
                        vec![serde_json::to_string(&rotated).unwrap(), fewer]
                    }
                    Err(_) => vec![part.replace('}', " }"), format!("{BUCKET_BEGIN}999}}")],
                };
                for other in others {
                    let mut damaged = parts.clone();
                    damaged.insert(hash.clone(), other.clone());
                    let proven: Vec<u32> = (0..buckets).filter(|number| is_proven(&damaged, &root, *number)).collect();
                    let right = |number: &u32| find(&damaged, &root, *number) == find(&parts, &root, *number);
                    assert!(proven.iter().all(right), "{other}");
                    assert!(u32::try_from(proven.len()).unwrap() < buckets, "{other} in place of {part}");
                }
            }
        }
    }

    #[test]
    fn a_caller_who_has_the_bucket_gets_the_path_alone() {
        let (parts, root) = tree(128);
        let mut search = BucketSearch::new(&root, 77);
        let hash = sha256_hex(format!("{BUCKET_BEGIN}77}}").as_bytes());
        for _ in 0..2 {
            assert_eq!(search.answer_known(&hash), None);
            assert_eq!(search.read(parts[search.hash()].as_bytes()), Ok(None));
        }
        assert_eq!(search.answer_known(&root), None);
        let answer: Json = serde_json::from_slice(&search.answer_known(&hash).unwrap()).unwrap();
        assert_eq!((answer["path"].as_array().unwrap().len(), answer.get("goods")), (7, None));
    }

    #[test]
    fn what_is_no_page_is_no_bucket() {
        for part in [
            "",
            "{}",
            "{\"complete\":false}",
            "{\"hashes\":[],\"buckets\":1}",
            "{\"hashes\":[\"x\",\"y\"],\"buckets\":2}",
        ] {
            assert_eq!(BucketSearch::new("root", 0).read(part.as_bytes()), Err(NoBucket), "{part}");
        }
    }
}
