//! Who asked for long work, and by which route: it goes on in their name. It must not know what the work is.

use crate::http::caller::Caller;
use crate::http::intake;
use crate::http::query::Query;
use crate::http::request::Request;
use crate::http::route::Call;
use crate::http::table::Table;
use crate::store::Store;
use crate::store::facts::Catalogue;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::id::Ids;
use serde::{Deserialize, Serialize};
use std::cell::Cell;

/// Who asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Asker {
    /// They themselves.
    pub caller: Caller,
    /// The route that was asked.
    pub path: String,
    /// The id of the request.
    pub request_id: String,
    /// The address of the service as they reached it.
    #[serde(default)]
    pub origin: String,
}

impl Asker {
    /// Who asks now.
    pub fn of(call: &Call<'_, '_>) -> Asker {
        let (caller, path) = (call.caller.clone(), call.route.path.to_owned());
        Asker { caller, path, request_id: call.request_id.to_owned(), origin: intake::origin(call.request).to_owned() }
    }

    /// Does something as if they asked for it now.
    pub fn ask<T, E: From<Fault>>(
        &self,
        (store, context, table): (&mut Store<'_>, &Context, &Table),
        act: impl FnOnce(&mut Call<'_, '_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let matched = table.find("POST", &self.path);
        let matched = matched.map_err(|_| Fault(format!("the route {} of long work is gone", self.path)))?;
        let headers = vec![(intake::ORIGIN.to_owned(), self.origin.clone())];
        let request = Request { headers, ..Request::default() };
        let mut call = Call {
            route: matched.route,
            request: &request,
            caller: &self.caller,
            query: Query::default(),
            store,
            context,
            ids: Ids::beside(context),
            request_id: &self.request_id,
            params: Vec::new(),
            page: None,
            guesses: &Cell::new(0),
            catalogue: Catalogue::default(),
            #[cfg(feature = "rehearsal")]
            run_due: table.run_due,
        };
        act(&mut call)
    }
}
