//! Routes as plain data, the matching of a request to one of them, and the call that its handler receives.

use crate::http::caller::{Caller, CredentialClass};
use crate::http::entity_names::EntityNames;
use crate::http::list_options::{CURSOR, List};
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, error_reply};
use crate::http::request::Request;
use crate::http::request_checks;
use crate::http::shape::{self, Field, FieldType, Nulls};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::facts::Catalogue;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::Context;
use scrip::id::Ids;
use scrip::model::client::ClientContext;
use scrip::shape::{EMPTY, description};
use serde_json::{Map, Value as Json};
use std::cell::Cell;

pub use crate::http::answer::{Response, ResponseBody};
pub use crate::http::caller::ClientSwitch;
use crate::http::decision_observer::DecisionObserver;

/// An operation of the API.
#[derive(Clone, Copy)]
pub struct Route {
    /// `GET`, `POST`, ...
    pub method: &'static str,
    /// The path, with `{names}` for its parameters.
    pub path: &'static str,
    /// Its summary in the API description, in the imperative: `List vouchers`.
    pub summary: &'static str,
    /// Its `operationId`, verb and resource: `listVouchers`.
    pub id: &'static str,
    /// Its description in the API description, in the third person.
    pub about: &'static str,
    /// The contents of its successful response, for the API description.
    pub returns: &'static str,
    /// Credentials that may call it; an empty list means that it is public.
    pub classes: &'static [CredentialClass],
    /// The OAuth scope that allows it, in addition to `api` or `client_api`.
    pub scope: &'static str,
    /// Second OAuth scope that allows it, if there is one.
    pub second_scope: Option<&'static str>,
    /// Client permission that the project must have enabled.
    pub switch: Option<ClientSwitch>,
    /// Fields of its body.
    pub body: &'static [Field],
    /// True if the body is a list of objects with those fields.
    pub many: bool,
    /// True if the body is a form.
    pub form: bool,
    /// True if the body is a CSV file, bare or in a form of several parts.
    pub upload: bool,
    /// True if JSON of another type than the body's counts as no body: existing clients call it so.
    pub bodiless: bool,
    /// Parameters of its query.
    pub query: &'static [Field],
    /// HTTP status of success.
    pub success: u16,
    /// Type of the response body.
    pub answers: FieldType,
    /// For a list: the member that contains the items, and the other members of the list.
    pub list: Option<(&'static str, &'static [Field])>,
    /// True if that list is read by cursors, and has no total.
    pub by_cursor: bool,
    /// Status and type of a second successful response, if there is one.
    pub also: Option<(u16, FieldType)>,
    /// Media type and an example of the file that it returns to any caller with its address.
    pub file: Option<(&'static str, &'static str)>,
    /// Resource of its handler.
    pub resource: Option<&'static Resource>,
    /// Names of that resource, if it has states.
    pub entity: Option<&'static EntityNames>,
    /// True if it redeems, so that a project may keep its input for a replay.
    pub keeps_input: bool,
    /// True if its response is stored under an Idempotency-Key.
    pub stores_response: bool,
    /// True if the directory's object answers it, and not that of a project.
    pub in_directory: bool,
    /// True if it may be forwarded to another project that the key manages.
    pub forwards: bool,
    /// True if its caller names codes, so that a client can guess them.
    pub names_codes: bool,
    /// True if it writes, although it is a GET: older clients publish and lock so.
    pub writes: bool,
    /// Handler of the route.
    pub run: fn(&mut Call<'_, '_>) -> HandlerResult,
}

const fn route(
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    run: fn(&mut Call<'_, '_>) -> HandlerResult,
) -> Route {
    Route {
        method,
        path,
        summary: description(summary),
        id: "",
        about: "",
        returns: "",
        classes: &[CredentialClass::Server, CredentialClass::OAuth],
        scope: "",
        second_scope: None,
        switch: None,
        body: &[],
        many: false,
        form: false,
        upload: false,
        bodiless: false,
        query: &[],
        success: 200,
        answers: EMPTY,
        list: None,
        by_cursor: false,
        also: None,
        file: None,
        resource: None,
        entity: None,
        keeps_input: false,
        stores_response: true,
        in_directory: false,
        forwards: false,
        names_codes: false,
        writes: false,
        run,
    }
}

/// Declares a reading operation.
pub const fn get(path: &'static str, summary: &'static str, run: fn(&mut Call<'_, '_>) -> HandlerResult) -> Route {
    route("GET", path, summary, run)
}

/// Declares a creating or acting operation.
pub const fn post(path: &'static str, summary: &'static str, run: fn(&mut Call<'_, '_>) -> HandlerResult) -> Route {
    route("POST", path, summary, run)
}

/// Declares a changing operation.
pub const fn put(path: &'static str, summary: &'static str, run: fn(&mut Call<'_, '_>) -> HandlerResult) -> Route {
    route("PUT", path, summary, run)
}

/// Declares a removing operation.
pub const fn delete(path: &'static str, summary: &'static str, run: fn(&mut Call<'_, '_>) -> HandlerResult) -> Route {
    route("DELETE", path, summary, run)
}

impl Route {
    /// Declares the `operationId` and the description, which only the API description contains.
    pub const fn describe(mut self, id: &'static str, about: &'static str) -> Route {
        self.id = description(id);
        self.about = description(about);
        self
    }
    /// Declares the contents of the successful response, which only the API description contains.
    pub const fn returns(mut self, contents: &'static str) -> Route {
        self.returns = description(contents);
        self
    }
    /// Declares the resource of the handler.
    pub const fn of(mut self, resource: &'static Resource) -> Route {
        self.resource = Some(resource);
        self.answers = resource.shape;
        self
    }
    /// Declares the resource of the handler, which has states.
    pub const fn with_lifecycle(mut self, resource: &'static Resource, entity: &'static EntityNames) -> Route {
        self.entity = Some(entity);
        self.of(resource)
    }
    /// Allows the operation for an OAuth scope.
    pub const fn scope(mut self, scope: &'static str) -> Route {
        self.scope = scope;
        self
    }
    /// Allows the operation for another OAuth scope as well.
    pub const fn or_scope(mut self, scope: &'static str) -> Route {
        self.second_scope = Some(scope);
        self
    }
    /// Returns the OAuth scopes, each of which allows it.
    pub fn scopes(&self) -> impl Iterator<Item = &'static str> {
        [self.scope].into_iter().chain(self.second_scope)
    }
    /// Returns the OAuth scope that opens all routes of its side, and the prefix of the other scopes of that side.
    pub fn scope_names(&self) -> (&'static str, &'static str) {
        if self.is_client_side() { ("client_api", "client_") } else { ("api", "") }
    }
    /// Declares the credentials that it is called with.
    pub const fn for_classes(mut self, classes: &'static [CredentialClass]) -> Route {
        self.classes = classes;
        self
    }
    /// Closes it to clients unless the project allows it.
    pub const fn allowed_by(mut self, switch: ClientSwitch) -> Route {
        self.switch = Some(switch);
        self
    }
    /// Declares the fields of the body.
    pub const fn body(mut self, body: &'static [Field]) -> Route {
        self.body = body;
        self
    }
    /// Declares a list of objects with these fields, which a job writes.
    pub const fn many(mut self, body: &'static [Field]) -> Route {
        self.body = body;
        self.many = true;
        self
    }
    /// Declares a form with these fields.
    pub const fn form(mut self, body: &'static [Field]) -> Route {
        self.body = body;
        self.form = true;
        self
    }
    /// Declares a CSV file, and a form with these fields.
    pub const fn upload(mut self, body: &'static [Field]) -> Route {
        self.body = body;
        self.upload = true;
        self
    }
    /// Returns the media kind that its body is read as.
    pub fn media_kind(&self) -> request_checks::MediaKind {
        match (self.form, self.upload) {
            (true, _) => request_checks::MediaKind::Form,
            (_, true) => request_checks::MediaKind::File,
            _ => request_checks::MediaKind::Json,
        }
    }
    /// Declares that existing clients call it without a body, or with JSON that is not an object in its place.
    pub const fn bodiless(mut self) -> Route {
        self.bodiless = true;
        self
    }
    /// Declares the parameters of the query.
    pub const fn query(mut self, query: &'static [Field]) -> Route {
        self.query = query;
        self
    }
    /// Declares the status and type of the response.
    pub const fn answers(mut self, success: u16, answers: FieldType) -> Route {
        self.success = success;
        self.answers = answers.described();
        self
    }
    /// Declares a page of the resource as the response.
    pub const fn lists_resource(mut self, beside: &'static [Field]) -> Route {
        if let Some(resource) = self.resource {
            self.list = Some((resource.list.data_ref, beside));
        }
        self
    }
    /// Declares a list of this type as the response.
    pub const fn lists(mut self, data_ref: &'static str, of: FieldType, beside: &'static [Field]) -> Route {
        self.answers = of.described();
        self.list = Some((data_ref, beside));
        self
    }
    /// Declares a cursor-based list of this type as the response.
    pub const fn pages(mut self, of: FieldType) -> Route {
        self.by_cursor = true;
        self.lists("data", of, CURSOR)
    }
    /// Declares a second successful response.
    pub const fn or_answers(mut self, success: u16, answers: FieldType) -> Route {
        self.also = Some((success, answers.described()));
        self
    }
    /// Declares that it returns a file of this media type to any caller with its address, and gives an example.
    pub const fn file(mut self, media: &'static str, example: &'static str) -> Route {
        self.file = Some((media, example));
        self
    }
    /// Declares that it redeems: a project may keep its input for a replay.
    pub const fn keeps_input(mut self) -> Route {
        self.keeps_input = true;
        self
    }
    /// Excludes its response from Idempotency-Key storage, because it contains a secret.
    pub const fn without_stored_response(mut self) -> Route {
        self.stores_response = false;
        self
    }
    /// Declares that the directory answers it, because it is about projects or credentials.
    pub const fn in_directory(mut self) -> Route {
        self.in_directory = true;
        self
    }
    /// Allows forwarding to another project that the key manages, where the response is made and stored.
    pub const fn forwards(mut self) -> Route {
        self.forwards = true;
        self
    }
    /// Declares that the request names codes.
    pub const fn names_codes(mut self) -> Route {
        self.names_codes = true;
        self
    }
    /// Declares that it writes, although it is a GET.
    pub const fn writes_on_get(mut self) -> Route {
        self.writes = true;
        self
    }
    /// Returns true if it only reads.
    pub fn is_read(&self) -> bool {
        self.method == "GET" && !self.writes
    }
    /// Returns true if it acts on many objects at once: such calls have their own rate limit.
    pub fn is_bulk(&self) -> bool {
        self.many || self.success == 202
    }
    /// Returns true if it belongs to the client side.
    pub fn is_client_side(&self) -> bool {
        self.path.starts_with("/client/")
    }
}

/// Result of a handler.
pub type HandlerResult = Result<Response, CallError>;

/// Members of the body of a request. Those of [`Call::body`] have the shape that the route declares.
pub type RequestBody = Map<String, Json>;

/// Call of a route: the input of its handler.
pub struct Call<'c, 's> {
    /// The route.
    pub route: &'static Route,
    /// The request as sent.
    pub request: &'c Request,
    /// Caller.
    pub caller: &'c Caller,
    /// The decoded query.
    pub query: Query,
    /// The store.
    pub store: &'c mut Store<'s>,
    /// Current time and seed.
    pub context: &'c Context,
    /// Generator of ids.
    pub ids: Ids,
    /// The id of the request.
    pub request_id: &'c str,
    /// The decoded parameters of the path.
    pub params: Vec<(&'static str, String)>,
    /// Context of the client that calls; `None` for a server of the merchant.
    pub client: Option<ClientContext>,
    /// Number of codes that a client has named without success.
    pub failed_attempts: &'c Cell<usize>,
    /// Cached products and SKUs of the project, until some are written.
    pub catalogue: Catalogue,
    /// Finds a route, for a call that repeats another; `None` in a job.
    pub find_route: Option<FindRoute>,
    /// Observer of the decision of a repeated redemption.
    pub observer: Option<DecisionObserver<'c>>,
    /// Runs a slice of the due jobs; for tests only.
    #[cfg(feature = "test-hooks")]
    pub run_due: Option<RunDue>,
}

/// Function that finds the route of a method and a path, with the decoded parameters.
pub type FindRoute = fn(&str, &str) -> Option<(&'static Route, Vec<(&'static str, String)>)>;

/// Function that runs a slice of due jobs, up to a number of rows.
pub type RunDue = fn(&mut Store<'_>, &Context, u64) -> Result<(), Fault>;

impl Call<'_, '_> {
    /// Returns a parameter of the path.
    pub fn param(&self, name: &str) -> &str {
        self.params.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// Returns the resource of the route.
    pub fn resource(&self) -> Result<&'static Resource, Fault> {
        self.route.resource.ok_or_else(|| Fault(format!("the route {} has no resource", self.route.path)))
    }

    /// Returns the names of the resource of the route, which has states.
    pub fn entity_names(&self) -> Result<&'static EntityNames, Fault> {
        self.route.entity.ok_or_else(|| Fault(format!("what the route {} is about has no states", self.route.path)))
    }

    /// Returns the time of the event.
    pub fn now_ms(&self) -> i64 {
        self.context.now.millis()
    }

    /// Returns the body's object as received; no body has no fields.
    pub fn source(&self) -> Result<RequestBody, ErrorBody> {
        request_checks::object(&self.request.body, self.route.bodiless)
    }

    /// Returns the objects of a body that is a list, as received; no body has none.
    pub fn sources(&self) -> Result<Vec<RequestBody>, ErrorBody> {
        request_checks::list(&self.request.body, self.route.bodiless)
    }

    /// Reads the body by the fields of the route.
    pub fn body(&self, nulls: Nulls) -> Result<RequestBody, ErrorBody> {
        Ok(shape::read(self.route.body, self.source()?, nulls)?)
    }

    /// Runs a function for its refusals only: none of its writes stay queued.
    pub fn dry_run<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, CallError>) -> Result<(), CallError> {
        let (savepoint, generators, ids) = (self.store.savepoint(), self.store.generators.clone(), self.ids.clone());
        let outcome = act(self).and_then(|_| Ok(crate::http::reply::check_writes(self.store)?));
        self.store.discard_since(savepoint);
        (self.store.generators, self.ids) = (generators, ids);
        outcome
    }

    /// Sets the update time of a document.
    pub fn touch(&self, document: &mut Document) {
        document.updated_at = Some(self.now_ms());
        document.body.insert("updated_at".into(), timestamp::text(self.now_ms()).into());
    }
}

/// Returns a refusal as a response that commits the writes: a failed redemption is stored as failed.
pub fn refused_but_written(body: &ErrorBody, request_id: &str) -> Response {
    let reply = error_reply(body, request_id);
    Response::with_bytes(reply.status, reply.body)
}

/// Function that converts the documents of one list page to JSON, all at once.
pub type DocumentsToJson = fn(&mut Call<'_, '_>, Vec<Document>) -> Result<Vec<Json>, CallError>;

/// Kind of document: its names, lookup, JSON and list.
#[derive(Clone, Copy)]
pub struct Resource {
    /// Its kind in the store and its type on the wire.
    pub object: &'static str,
    /// The name in the path, `campaignId`.
    pub parameter: &'static str,
    /// Converts the name in a path to the stored key.
    pub key: fn(&Call<'_, '_>, &str) -> String,
    /// Conversion of documents to JSON.
    pub to_json: DocumentsToJson,
    /// Shape of the JSON, for the API description.
    pub shape: FieldType,
    /// List options of the documents.
    pub list: List,
}
