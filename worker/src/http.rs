//! Requests and replies as data: limits and reading of requests, matching of routes, and writing of responses.

pub mod allowed_origins;
pub mod answer;
pub mod caller;
pub mod client_publication_policy;
pub mod decision_headers;
pub mod decision_observer;
pub mod edge_policy;
pub mod entity_names;
pub mod file;
pub mod health;
pub mod list_options;
pub mod metrics;
pub mod name_limits;
pub mod public;
pub mod query;
pub mod rate_limits;
pub mod reply;
pub mod request;
pub mod request_checks;
pub mod route;
pub mod shape;
pub mod table;
pub mod time_zone;
pub mod upload;
