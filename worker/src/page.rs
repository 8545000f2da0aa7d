//! Decides whether a page asks, on which terms of its project, and for which proven customer. It must not know what is asked for.

use crate::auth::{Caller, Class};
use crate::route::Route;
use crate::store::sql::Fault;
use scrip::model::page::Page;
use scrip::wire::page::terms_of;

/// The page that calls a route; none where one of the shop's own servers does, which may call one of the pages' routes too.
pub fn asking(route: &Route, caller: &Caller) -> Result<Option<Page>, Fault> {
    if !route.is_client_side() || caller.class == Class::Server {
        return Ok(None);
    }
    let terms = terms_of(caller.settings.client.to_string().as_bytes());
    let terms = terms.map_err(|problem| Fault(format!("the project's terms of pages do not read: {problem}")))?;
    Ok(Some(Page { terms, proven: None }))
}
