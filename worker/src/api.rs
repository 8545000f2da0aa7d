//! The areas of the interface: a table of routes each. A file knows its own documents and nothing of another's handlers.

use crate::route::Route;

pub mod async_actions;
pub mod bundle;
pub mod campaigns;
pub mod customers;
pub mod deciding;
pub mod fields;
pub mod generation;
pub mod grants;
pub mod handing;
pub mod oauth;
pub mod publications;
pub mod redemptions;
#[cfg(feature = "rehearsal")]
pub mod rehearsals;
pub mod rollbacks;
pub mod sessions;
pub mod stacking_rules;
pub mod system;
pub mod vouchers;

/// Every route that the service has.
pub const AREAS: &[&[Route]] = &[
    system::ROUTES,
    campaigns::ROUTES,
    vouchers::ROUTES,
    customers::ROUTES,
    publications::ROUTES,
    redemptions::ROUTES,
    rollbacks::ROUTES,
    sessions::ROUTES,
    bundle::ROUTES,
    stacking_rules::ROUTES,
    async_actions::ROUTES,
    oauth::ROUTES,
    #[cfg(feature = "rehearsal")]
    rehearsals::ROUTES,
];
