//! The content of a bundle: a core, and the goods that belong to it because their entries contain its sets.

use crate::domain::bundle::core::{BundleProject, Core};
use crate::domain::bundle::goods_build::{self, GoodsRoot};
use crate::store::Store;
use crate::store::bundle_goods as stored;
use crate::store::sql::Fault;
use scrip::time::Instant;
use std::collections::BTreeMap;

/// Core with its goods; without goods while their buckets are not up to date.
#[derive(Debug)]
pub struct BundleContent {
    /// The core.
    pub core: Core,
    /// The tree of the goods.
    pub goods: Option<GoodsRoot>,
}

/// Work on a content in one transaction, whose writes cannot be read yet.
#[derive(Debug)]
pub struct ContentBuild {
    /// The core, unless the goods came first.
    core: Option<Core>,
    /// Sets that the goods contain.
    sets: BTreeMap<u64, String>,
    goods: Option<GoodsRoot>,
}

impl ContentBuild {
    /// Builds the goods as far as the rows reach: with the sets of the present core. Where an earlier slice has begun it, with the sets of
    /// then, so that not every slice builds a core.
    pub fn refresh(
        store: &mut Store<'_>,
        project: &BundleProject<'_>,
        now: Instant,
        rows: u64,
    ) -> Result<ContentBuild, Fault> {
        let started = stored::find_tree(store)?.filter(|tree| tree.root.is_none());
        let (core, sets) = match started {
            Some(tree) => (None, tree.sets),
            None => {
                let core = Core::build(store, project, now)?;
                let sets = core.sets.clone();
                (Some(core), sets)
            }
        };
        let goods = goods_build::refresh(store, project, &sets, now.millis(), rows)?;
        Ok(ContentBuild { core, sets, goods })
    }

    /// Returns true if the goods are up to date.
    pub fn has_goods(&self) -> bool {
        self.goods.is_some()
    }

    /// Builds the core, if that is not done. If its sets are others than those of the goods, these are to be built again.
    pub fn finish(
        self,
        store: &mut Store<'_>,
        project: &BundleProject<'_>,
        now: Instant,
    ) -> Result<BundleContent, Fault> {
        let core = match self.core {
            Some(core) => core,
            None => Core::build(store, project, now)?,
        };
        if core.sets == self.sets {
            return Ok(BundleContent { core, goods: self.goods });
        }
        stored::request_sets(store, &core.sets);
        Ok(BundleContent { core, goods: None })
    }
}
