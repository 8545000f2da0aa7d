//! Compares the service with a model: generators of shops and carts, the model, and the checks of the answers.

pub mod bundle_client;
pub mod calls;
pub mod carts;
pub mod checks;
pub mod compare;
pub mod goods;
pub mod model;
pub mod offers;
pub mod random;
pub mod rules;
pub mod scopes;
pub mod service_calls;
pub mod shop;
pub mod single_qualification;
