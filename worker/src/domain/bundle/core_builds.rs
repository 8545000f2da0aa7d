//! Builds of cores that are not complete, in the memory of the process, from one slice to the next.
//!
//! A process that ends loses them, and the next slice begins a new one. They are not stored: a core of thousands of documents would be written
//! twice for each change.

use crate::domain::bundle::core::CoreBuild;
use crate::domain::bundle::project::BundleProject;
use std::cell::RefCell;
use std::collections::VecDeque;

/// Maximum number of builds, because several projects share a process. Beyond it the oldest begins again.
const BUILDS_MAX: usize = 4;

thread_local! {
    static BUILDS: RefCell<VecDeque<CoreBuild>> = const { RefCell::new(VecDeque::new()) };
}

/// Takes the build of a project.
pub fn take(project: &BundleProject<'_>) -> Option<CoreBuild> {
    BUILDS.with_borrow_mut(|builds| {
        let position = builds.iter().position(|build| build.is_of(project))?;
        builds.remove(position)
    })
}

/// Keeps a build for the next slice.
pub fn keep(build: CoreBuild) {
    BUILDS.with_borrow_mut(|builds| {
        if builds.len() >= BUILDS_MAX {
            builds.pop_front();
        }
        builds.push_back(build);
    });
}
