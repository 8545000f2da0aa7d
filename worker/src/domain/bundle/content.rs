//! The content of a bundle: a core, and the goods that belong to it because their entries contain its sets.

use crate::domain::bundle::core::{self, Core, CoreBuild, SliceBudget};
use crate::domain::bundle::goods_build::{self, GoodsRoot};
use crate::domain::bundle::project::BundleProject;
use crate::store::Store;
use crate::store::bundle_goods as stored;
use crate::store::bundle_heads;
use crate::store::sql::Fault;
use scrip::time::Instant;
use std::collections::BTreeMap;

/// Core with its goods; without goods while their buckets are not up to date.
#[derive(Debug)]
pub struct BundleContent {
    /// The core.
    pub core: Core,
    /// Revision of its documents.
    pub revision: String,
    /// The tree of the goods.
    pub goods: Option<GoodsRoot>,
}

/// Work on a content in one transaction, whose writes cannot be read yet.
#[derive(Debug)]
pub struct ContentBuild {
    core: CoreBuild,
    now: Instant,
    budget: SliceBudget,
    /// Sets that the goods contain; `None` before the core has any.
    sets: Option<BTreeMap<u64, String>>,
    goods: Option<GoodsRoot>,
}

impl ContentBuild {
    /// Continues the core, and then the goods with its sets, as far as the rows reach. Where an earlier slice has begun the goods, they
    /// keep the sets of then, and both get a half of the rows.
    pub fn refresh(
        store: &mut Store<'_>,
        project: &BundleProject<'_>,
        now: Instant,
        mut budget: SliceBudget,
    ) -> Result<ContentBuild, Fault> {
        let state = bundle_heads::find_state(store)?;
        let mut core = CoreBuild::resume(store, project, &state, now, budget.is_urgent)?;
        let started = stored::find_tree(store)?.filter(|tree| tree.root.is_none());
        if started.is_none() && !core::has_room(now) {
            // Other projects of the process occupy the memory for builds: this slice does all that is left.
            budget.rows = u64::MAX;
        }
        let sets = match started {
            Some(tree) => {
                (budget.rows, budget.goods_rows) = (budget.rows.div_ceil(2), budget.goods_rows.div_ceil(2));
                core.advance(store, project, &mut budget)?;
                Some(tree.sets)
            }
            None => {
                core.advance(store, project, &mut budget)?;
                budget.goods_rows = budget.goods_rows.min(budget.rows.max(1));
                core.sets().cloned()
            }
        };
        let goods = match &sets {
            Some(sets) => goods_build::refresh(store, project, sets, now.millis(), budget.goods_rows)?,
            None => None,
        };
        Ok(ContentBuild { core, now, budget, sets, goods })
    }

    /// Returns true if the goods are up to date.
    pub fn has_goods(&self) -> bool {
        self.goods.is_some()
    }

    /// Leaves the rest of the work to the next slice.
    pub fn keep(self) {
        core::keep_build(self.core, self.now);
    }

    /// Completes the core; `None` if the rest of it is left to the next slice. If its sets are others than those of the goods, these
    /// are to be built again. An urgent core has no goods that differ from those of its revision in a way that its sets depend on.
    pub fn finish(
        mut self,
        store: &mut Store<'_>,
        project: &BundleProject<'_>,
    ) -> Result<Option<BundleContent>, Fault> {
        if self.sets.is_none() || !self.core.advance(store, project, &mut self.budget)? {
            self.keep();
            return Ok(None);
        }
        let has_sets = self.core.sets() == self.sets.as_ref();
        let fits = has_sets && self.core.fits_goods(store, &bundle_heads::find_state(store)?)?;
        let revision = self.core.revision.clone();
        let core = self.core.into_core().ok_or_else(|| Fault::new("a complete build has no core"))?;
        if !has_sets {
            stored::request_sets(store, &core.summary.sets);
        }
        Ok(Some(BundleContent { core, revision, goods: self.goods.filter(|_| fits) }))
    }
}
