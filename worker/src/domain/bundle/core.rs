//! Builds the core of a bundle in steps: the offers in force within its horizon, with all that their decisions need, as every client of
//! the project may see them. Never private codes, counts, or customer data.
//!
//! All steps belong to one revision of the documents: where it changes between two slices, the build begins again, and reads only what was
//! written since. A selection that has not read all goes on reading before that, so that not each slice lists all ids again. An urgent build
//! that has selected all is completed for its revision.

use crate::domain::bundle::core_summary::CoreSummary;
use crate::domain::bundle::horizon::Horizon;
use crate::domain::bundle::parts::{CoreParts, PartWriter};
use crate::domain::bundle::preparation::{CoreTexts, Preparation, PreparedDocuments};
use crate::domain::bundle::project::{BundleProject, hash_settings};
use crate::domain::bundle::read_documents::ReadDocuments;
use crate::domain::bundle::sealed_codes::BoxWriter;
use crate::domain::bundle::selection::OfferSelection;
use crate::store::Store;
use crate::store::bundle_goods::{self, WrittenNames};
use crate::store::bundle_heads::{self, BundleState};
use crate::store::sql::Fault;
use scrip::time::Instant;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};

/// Rows of a slice that writing a part counts as: hash and storage of 512 kB.
const PART_ROWS: u64 = 100;

/// Rows of a slice that a selection counts as which follows an outdated one: it lists all ids at once, so it has a slice of its own.
const SELECTION_ROWS: u64 = 5_000;

/// Core of a bundle.
#[derive(Debug)]
pub struct Core {
    /// Its rule set, as JSON in parts.
    pub parts: CoreParts,
    /// Data about it.
    pub summary: CoreSummary,
}

/// Work that a slice of the build may do.
#[derive(Debug, Clone, Copy)]
pub struct SliceBudget {
    /// Number of rows of the core.
    pub rows: u64,
    /// Number of rows of the goods.
    pub goods_rows: u64,
    /// True if a core whose documents are read is to be completed, because they change too often.
    pub is_urgent: bool,
}

/// State of a build. The steps of the first one read documents.
#[derive(Debug)]
enum CoreStage {
    Selecting(Box<OfferSelection>),
    Preparing(Box<Preparation>),
    Sealing(Box<CoreTexts>, Box<BoxWriter>, Box<CoreSummary>),
    Writing(VecDeque<String>, PartWriter, Box<CoreSummary>),
    Complete(Box<Core>),
}

/// Build of a core. It stays in memory between slices; a process that ends before the last one begins it again.
#[derive(Debug)]
pub struct CoreBuild {
    project: String,
    settings: String,
    /// Of the project: a restored archive has another one, and may repeat revisions.
    epoch: i64,
    /// Revision of the documents.
    pub revision: String,
    /// Documents that it has read.
    read: ReadDocuments,
    /// Revision from which on the written documents are recorded.
    recorded: Option<String>,
    horizon: Horizon,
    /// True if documents have changed since the selection began. Then it only reads documents, for the selection that follows.
    is_outdated: bool,
    /// Time of the last slice.
    continued: Instant,
    /// `None` after a fault.
    stage: Option<CoreStage>,
}

impl CoreBuild {
    /// Begins the build of a core for an instant; the documents have this state.
    pub fn begin(
        store: &Store<'_>,
        project: &BundleProject<'_>,
        state: &BundleState,
        now: Instant,
    ) -> Result<CoreBuild, Fault> {
        CoreBuild::begin_with(store, project, state, now, ReadDocuments::default())
    }

    /// Continues the build of a project where it may be continued. Otherwise begins it again, with the documents that have not changed.
    pub fn resume(
        store: &Store<'_>,
        project: &BundleProject<'_>,
        state: &BundleState,
        now: Instant,
        is_urgent: bool,
    ) -> Result<CoreBuild, Fault> {
        match take_build(project) {
            Some(kept) if kept.is_usable(project, state, now, is_urgent) => Ok(CoreBuild { continued: now, ..kept }),
            Some(kept) => kept.restart(store, project, state, now),
            None => CoreBuild::begin(store, project, state, now),
        }
    }

    fn begin_with(
        store: &Store<'_>,
        project: &BundleProject<'_>,
        state: &BundleState,
        now: Instant,
        read: ReadDocuments,
    ) -> Result<CoreBuild, Fault> {
        let selection = OfferSelection::begin(store, now)?;
        Ok(CoreBuild {
            project: project.id.to_owned(),
            settings: hash_settings(project),
            epoch: state.epoch,
            revision: state.revision.clone(),
            read,
            recorded: None,
            horizon: selection.horizon,
            is_outdated: false,
            continued: now,
            stage: Some(CoreStage::Selecting(Box::new(selection))),
        })
    }

    /// Returns true if it is of this project.
    pub fn is_of(&self, project: &BundleProject<'_>) -> bool {
        self.project == project.id
    }

    /// Returns true if it may be continued at a time when the documents have this state. An urgent one that has selected its documents
    /// is completed, also where they have changed since.
    fn is_usable(&self, project: &BundleProject<'_>, state: &BundleState, now: Instant, is_urgent: bool) -> bool {
        let has_selected = !matches!(self.stage, Some(CoreStage::Selecting(_)));
        (self.revision == state.revision || has_selected && is_urgent)
            && self.epoch == state.epoch
            && self.stage.is_some()
            && self.settings == hash_settings(project)
            && self.horizon.includes(now)
    }

    /// Begins again with the documents that it has read and that have not been written since; with none if that is not known. A selection
    /// that has not read all is continued before.
    fn restart(
        mut self,
        store: &Store<'_>,
        project: &BundleProject<'_>,
        state: &BundleState,
        now: Instant,
    ) -> Result<CoreBuild, Fault> {
        let Some(written) = self.list_written(store, state)? else {
            return CoreBuild::begin(store, project, state, now);
        };
        self.read.forget(&written);
        let is_reading = matches!(self.stage, Some(CoreStage::Selecting(_)));
        if !is_reading || self.settings != hash_settings(project) || !self.horizon.includes(now) {
            return CoreBuild::begin_with(store, project, state, now, self.read);
        }
        Ok(CoreBuild { revision: state.revision.clone(), is_outdated: true, continued: now, ..self })
    }

    /// Lists the documents that were written since it was kept; `None` if that is not known.
    fn list_written(&self, store: &Store<'_>, state: &BundleState) -> Result<Option<WrittenNames>, Fault> {
        match &self.recorded {
            Some(recorded) if self.epoch == state.epoch => bundle_goods::list_written(store, recorded),
            _ => Ok(None),
        }
    }

    /// Returns true if goods of this state belong to the core: none that it names or lists was written since it was read.
    pub fn fits_goods(&self, store: &Store<'_>, state: &BundleState) -> Result<bool, Fault> {
        if self.revision == state.revision {
            return Ok(true);
        }
        Ok(self.list_written(store, state)?.is_some_and(|written| !self.read.has_goods_of(&written)))
    }

    /// Has the documents recorded that are written from now on, until the core is complete. That is repeated, because a slice may be undone.
    fn record_written(&mut self, store: &mut Store<'_>, is_complete: bool) {
        if is_complete {
            bundle_goods::end_record_of_written(store);
        } else if self.recorded.as_ref() != Some(&self.revision) {
            bundle_goods::record_written_from(store, &self.revision);
            self.recorded = Some(self.revision.clone());
        }
    }

    /// Returns the sets of the complete core.
    pub fn sets(&self) -> Option<&BTreeMap<u64, String>> {
        match &self.stage {
            Some(CoreStage::Complete(core)) => Some(&core.summary.sets),
            _ => None,
        }
    }

    /// Returns the complete core.
    pub fn into_core(self) -> Option<Core> {
        match self.stage {
            Some(CoreStage::Complete(core)) => Some(*core),
            _ => None,
        }
    }

    /// Returns true if an outdated selection has read all documents: another one follows.
    fn has_read_all(&self) -> bool {
        matches!(&self.stage, Some(CoreStage::Selecting(selection)) if self.is_outdated && selection.is_done())
    }

    /// Continues the build, as far as the rows reach; returns true if the core is complete.
    pub fn advance(
        &mut self,
        store: &mut Store<'_>,
        project: &BundleProject<'_>,
        budget: &mut SliceBudget,
    ) -> Result<bool, Fault> {
        loop {
            if budget.rows > 0 && self.has_read_all() {
                let selection = OfferSelection::begin(store, self.continued)?;
                (self.horizon, self.is_outdated) = (selection.horizon, false);
                self.stage = Some(CoreStage::Selecting(Box::new(selection)));
            }
            let Some(stage) = self.stage.take() else {
                return Err(Fault::new("a build of a core continues after a fault"));
            };
            let is_selecting = matches!(stage, CoreStage::Selecting(_));
            let is_complete = matches!(stage, CoreStage::Complete(_));
            if is_complete || budget.rows == 0 {
                self.stage = Some(stage);
                self.record_written(store, is_complete);
                return Ok(is_complete);
            }
            let CoreStep { stage, rows } =
                stage.step(store, project, self.horizon.built, self.is_outdated, &mut self.read)?;
            if let (true, CoreStage::Preparing(preparation)) = (is_selecting, &stage) {
                self.horizon = preparation.horizon();
            }
            self.stage = Some(stage);
            // The last step may take more than there is.
            budget.rows = budget.rows.saturating_sub(rows);
            if self.has_read_all() {
                // Nothing is left then.
                budget.rows = budget.rows.saturating_sub(SELECTION_ROWS);
            }
        }
    }
}

/// A step that was done.
struct CoreStep {
    /// State after it.
    stage: CoreStage,
    /// Rows of a slice that it counts as.
    rows: u64,
}

impl CoreStep {
    /// Returns a step that has treated some documents.
    fn of(stage: CoreStage, documents: usize) -> CoreStep {
        CoreStep { stage, rows: u64::try_from(documents).unwrap_or(u64::MAX).max(1) }
    }
}

impl CoreStage {
    /// Does the next step.
    fn step(
        self,
        store: &mut Store<'_>,
        project: &BundleProject<'_>,
        built: Instant,
        is_outdated: bool,
        documents: &mut ReadDocuments,
    ) -> Result<CoreStep, Fault> {
        match self {
            CoreStage::Selecting(mut selection) => {
                let read = selection.step(store, documents)?;
                let stage = match selection.is_done() && !is_outdated {
                    true => CoreStage::Preparing(Box::new(Preparation::begin(store, project, *selection)?)),
                    false => CoreStage::Selecting(selection),
                };
                // Documents that were read before cost nothing: else a build that begins again might never come further.
                Ok(CoreStep { stage, rows: u64::try_from(read).unwrap_or(u64::MAX) })
            }
            CoreStage::Preparing(mut preparation) => {
                if let Some(prepared) = preparation.step()? {
                    return Ok(CoreStep::of(CoreStage::Preparing(preparation), prepared));
                }
                let PreparedDocuments { texts, boxes, summary } = preparation.finish(store)?;
                Ok(CoreStep::of(CoreStage::Sealing(Box::new(texts), Box::new(boxes), Box::new(summary)), 1))
            }
            CoreStage::Sealing(texts, mut boxes, mut summary) => {
                if let Some(sealed) = boxes.step()? {
                    return Ok(CoreStep::of(CoreStage::Sealing(texts, boxes, summary), sealed));
                }
                if boxes.lacks_key {
                    summary.left_out.insert("codes");
                }
                let pieces = texts.into_pieces(boxes.print()?);
                Ok(CoreStep::of(CoreStage::Writing(pieces, PartWriter::default(), summary), 1))
            }
            CoreStage::Writing(mut pieces, mut writer, summary) => {
                while let Some(piece) = pieces.pop_front() {
                    let completed = writer.write(&piece);
                    if !completed.is_empty() {
                        bundle_heads::insert_unnamed_parts(store, completed, built.millis());
                        let rows = PART_ROWS;
                        return Ok(CoreStep { stage: CoreStage::Writing(pieces, writer, summary), rows });
                    }
                }
                let core = Core { parts: writer.finish(), summary: *summary };
                Ok(CoreStep { stage: CoreStage::Complete(Box::new(core)), rows: 1 })
            }
            CoreStage::Complete(core) => Ok(CoreStep::of(CoreStage::Complete(core), 0)),
        }
    }
}

/// Maximum number of builds, because several projects share a process. Beyond it a further one begins again.
const BUILDS_MAX: usize = 4;
/// Time without a slice after which a build is given up. A project continues its own within a second.
const ABANDONED_MS: u64 = 60_000;

thread_local! {
    /// Builds that are not complete, from one slice to the next. They are not stored: a core of thousands of documents would be written twice
    /// for each change.
    static BUILDS: RefCell<VecDeque<CoreBuild>> = const { RefCell::new(VecDeque::new()) };
}

/// Takes the build of a project.
fn take_build(project: &BundleProject<'_>) -> Option<CoreBuild> {
    BUILDS.with_borrow_mut(|builds| {
        let position = builds.iter().position(|build| build.is_of(project))?;
        builds.remove(position)
    })
}

/// Returns true if a further build can be kept. A project's own is taken before. Builds that nothing has continued for a minute are
/// removed: their projects may be deleted, or in another process.
pub fn has_room(now: Instant) -> bool {
    BUILDS.with_borrow_mut(|builds| {
        builds.retain(|build| build.continued.millis().abs_diff(now.millis()) < ABANDONED_MS);
        builds.len() < BUILDS_MAX
    })
}

/// Exchanges the builds in memory, so that a test has those of two processes.
#[cfg(feature = "test-hooks")]
pub fn swap_builds(others: &mut VecDeque<CoreBuild>) {
    BUILDS.with_borrow_mut(|builds| std::mem::swap(builds, others));
}

/// Keeps a build for the next slice, if there is room. Otherwise it begins again, and not that of another project. A complete one does not
/// need its documents any more.
pub fn keep_build(mut build: CoreBuild, now: Instant) {
    if build.sets().is_some() {
        (build.read, build.recorded) = (ReadDocuments::default(), None);
    }
    if has_room(now) {
        BUILDS.with_borrow_mut(|builds| builds.push_back(CoreBuild { continued: now, ..build }));
    }
}
