//! Rows of loyalty: earnings, rewards bought with points, statistics and the revision of program documents.

pub mod bought_rewards;
pub mod earning;
pub mod program_revision;
pub mod statistics;
