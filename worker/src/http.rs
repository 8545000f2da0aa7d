//! Requests and replies as data: what comes in, how it is bounded and read, which route it is, and how an answer is written.
//! It must not know documents, credentials or what any operation does.

pub mod caller;
pub mod health;
pub mod intake;
pub mod life;
pub mod listing;
pub mod metrics;
pub mod names;
pub mod origins;
pub mod public;
pub mod publishing;
pub mod query;
pub mod rates;
pub mod reply;
pub mod request;
pub mod route;
pub mod shape;
pub mod table;
pub mod time_zone;
pub mod upload;
