//! What a slice of a job did for the bundle.

/// Work of a slice on the bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleWork {
    /// It has done nothing for it.
    None,
    /// It has built a part of it.
    Continued,
    /// It has completed it, with a new head.
    Built,
}
