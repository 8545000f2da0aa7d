//! Caller and route of a job, which continues in the caller's name.

use crate::http::caller::Caller;
use crate::http::query::Query;
use crate::http::request::Request;
use crate::http::request_checks;
use crate::http::route::Call;
use crate::http::table::RouteTable;
use crate::store::Store;
use crate::store::facts::Catalogue;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::id::Ids;
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// Caller of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct JobCaller {
    /// The caller's credentials and settings.
    pub caller: Caller,
    /// Path of the route that the caller used.
    pub path: String,
    /// Id of the caller's request.
    pub request_id: String,
    /// Address under which the caller reached the service.
    #[serde(default)]
    pub origin: String,
}

impl JobCaller {
    /// Returns the caller of the current call.
    pub fn of(call: &Call<'_, '_>) -> JobCaller {
        let (caller, path) = (call.caller.clone(), call.route.path.to_owned());
        JobCaller {
            caller,
            path,
            request_id: call.request_id.to_owned(),
            origin: request_checks::origin(call.request).to_owned(),
        }
    }

    /// Runs a function with a call in the caller's name, at the current time.
    pub fn run<T, E: From<Fault>>(
        &self,
        store: &mut Store<'_>,
        context: &Context,
        table: &RouteTable,
        act: impl FnOnce(&mut Call<'_, '_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let matched = table.find("POST", &self.path);
        let matched =
            matched.map_err(|_| Fault(format!("the route {} of a job does not exist any more", self.path)))?;
        let headers = vec![(request_checks::ORIGIN.to_owned(), self.origin.clone())];
        let request = Request { headers, ..Request::default() };
        let mut call = Call {
            route: matched.route,
            request: &request,
            caller: &self.caller,
            query: Query::default(),
            store,
            context,
            ids: Ids::independent(context),
            request_id: &self.request_id,
            params: Vec::new(),
            client: None,
            failed_attempts: &Cell::new(0),
            catalogue: Catalogue::default(),
            find_route: None,
            observer: None,
            #[cfg(feature = "test-hooks")]
            run_due: None,
        };
        act(&mut call)
    }
}
