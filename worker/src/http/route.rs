//! Routes as plain data, the matching of a request to one of them, and the call that its verb is given.
//! It must not know what any verb does.

use crate::http::caller::{Caller, Class};
use crate::http::intake;
use crate::http::life::Life;
use crate::http::listing::{CURSOR, List};
use crate::http::query::Query;
use crate::http::reply::{CallError, ErrorBody, error_reply};
use crate::http::request::Request;
use crate::http::shape::{self, Field, Kind, Nulls};
use crate::moment;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::facts::Catalogue;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::id::Ids;
use scrip::model::page::Page;
use scrip::shape::{EMPTY, description};
use serde_json::{Map, Value as Json};
use std::cell::Cell;

/// An operation of the interface.
#[derive(Clone, Copy)]
pub struct Route {
    /// `GET`, `POST`, ...
    pub method: &'static str,
    /// The path, with `{names}` for its parameters.
    pub path: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// Which credentials may call it; none at all means that it is public.
    pub classes: &'static [Class],
    /// The OAuth scope that opens it, beside `api` or `client_api`.
    pub scope: &'static str,
    /// The switch of the project that a client-side caller needs.
    pub switch: Option<Switch>,
    /// The fields of its body.
    pub body: &'static [Field],
    /// Whether the body is a list of objects with those fields.
    pub many: bool,
    /// Whether the body is a form.
    pub form: bool,
    /// Whether the body is a CSV file, bare or in a form of several parts.
    pub upload: bool,
    /// Whether JSON that is not what the body should be counts as no body: existing clients call it so.
    pub bodiless: bool,
    /// The parameters of its query.
    pub query: &'static [Field],
    /// The status of success.
    pub success: u16,
    /// What it answers.
    pub answers: Kind,
    /// Where that is a list: the member that holds what is listed, and what else the list says.
    pub list: Option<(&'static str, &'static [Field])>,
    /// Whether that list is gone through by cursors, and has no total.
    pub by_cursor: bool,
    /// What it answers beside that, where there is more than one success.
    pub also: Option<(u16, Kind)>,
    /// The media type of the file that it answers to whoever has its address, and an example.
    pub file: Option<(&'static str, &'static str)>,
    /// The resource that the patterns work on.
    pub resource: Option<&'static Resource>,
    /// The names of that resource, where it has states.
    pub life: Option<&'static Life>,
    /// Whether its answer is kept under an Idempotency-Key.
    pub remembered: bool,
    /// Whether the directory's object answers it, and not that of a project.
    pub in_directory: bool,
    /// Whether it may go on to another project that the key manages.
    pub goes_on: bool,
    /// Whether its caller names codes, so that a page that calls it can guess them.
    pub names_codes: bool,
    /// Whether it writes down what its caller wants, although it is a GET: older clients publish and lock so.
    pub writes: bool,
    /// What it does.
    pub run: fn(&mut Call<'_, '_>) -> Outcome,
}

/// What a project may switch on for its client-side keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Redeeming from a page.
    Redeem,
    /// Publishing from a page.
    Publish,
    /// Telling of events from a page.
    Events,
    /// Writing down customers from a page.
    Customers,
    /// Listing codes from a page.
    Vouchers,
}

const fn route(
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    run: fn(&mut Call<'_, '_>) -> Outcome,
) -> Route {
    Route {
        method,
        path,
        summary: description(summary),
        classes: &[Class::Server, Class::OAuth],
        scope: "",
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
        life: None,
        remembered: true,
        in_directory: false,
        goes_on: false,
        names_codes: false,
        writes: false,
        run,
    }
}

/// A reading operation.
pub const fn get(path: &'static str, summary: &'static str, run: fn(&mut Call<'_, '_>) -> Outcome) -> Route {
    route("GET", path, summary, run)
}

/// A creating or acting operation.
pub const fn post(path: &'static str, summary: &'static str, run: fn(&mut Call<'_, '_>) -> Outcome) -> Route {
    route("POST", path, summary, run)
}

/// A changing operation.
pub const fn put(path: &'static str, summary: &'static str, run: fn(&mut Call<'_, '_>) -> Outcome) -> Route {
    route("PUT", path, summary, run)
}

/// A removing operation.
pub const fn delete(path: &'static str, summary: &'static str, run: fn(&mut Call<'_, '_>) -> Outcome) -> Route {
    route("DELETE", path, summary, run)
}

impl Route {
    /// Works on a resource.
    pub const fn of(mut self, resource: &'static Resource) -> Route {
        self.resource = Some(resource);
        self.answers = resource.shape;
        self
    }
    /// Works on a resource that has states.
    pub const fn of_life(mut self, resource: &'static Resource, life: &'static Life) -> Route {
        self.life = Some(life);
        self.of(resource)
    }
    /// Is opened by an OAuth scope.
    pub const fn scope(mut self, scope: &'static str) -> Route {
        self.scope = scope;
        self
    }
    /// Is called with these credentials.
    pub const fn for_classes(mut self, classes: &'static [Class]) -> Route {
        self.classes = classes;
        self
    }
    /// Is called from a page only where the project allows it.
    pub const fn switched(mut self, switch: Switch) -> Route {
        self.switch = Some(switch);
        self
    }
    /// Reads a body of these fields.
    pub const fn body(mut self, body: &'static [Field]) -> Route {
        self.body = body;
        self
    }
    /// Reads a list of objects of these fields, which is written later.
    pub const fn many(mut self, body: &'static [Field]) -> Route {
        self.body = body;
        self.many = true;
        self
    }
    /// Reads a form of these fields.
    pub const fn form(mut self, body: &'static [Field]) -> Route {
        self.body = body;
        self.form = true;
        self
    }
    /// Reads a CSV file, and beside it a form of these fields.
    pub const fn upload(mut self, body: &'static [Field]) -> Route {
        self.body = body;
        self.upload = true;
        self
    }
    /// How its body is read.
    pub fn sent(&self) -> intake::Sent {
        match (self.form, self.upload) {
            (true, _) => intake::Sent::Form,
            (_, true) => intake::Sent::File,
            _ => intake::Sent::Json,
        }
    }
    /// Is called without a body by existing clients, who may send JSON that is no object in its place.
    pub const fn bodiless(mut self) -> Route {
        self.bodiless = true;
        self
    }
    /// Reads these parameters of the query.
    pub const fn query(mut self, query: &'static [Field]) -> Route {
        self.query = query;
        self
    }
    /// Answers this status and this object.
    pub const fn answers(mut self, success: u16, answers: Kind) -> Route {
        self.success = success;
        self.answers = answers.described();
        self
    }
    /// Answers a page of what the resource shows.
    pub const fn listed(mut self, beside: &'static [Field]) -> Route {
        if let Some(resource) = self.resource {
            self.list = Some((resource.list.data_ref, beside));
        }
        self
    }
    /// Answers a list of these.
    pub const fn lists(mut self, data_ref: &'static str, of: Kind, beside: &'static [Field]) -> Route {
        self.answers = of.described();
        self.list = Some((data_ref, beside));
        self
    }
    /// Answers a list of these that is gone through by cursors.
    pub const fn pages(mut self, of: Kind) -> Route {
        self.by_cursor = true;
        self.lists("data", of, CURSOR)
    }
    /// Answers this status and this object in some cases.
    pub const fn or_answers(mut self, success: u16, answers: Kind) -> Route {
        self.also = Some((success, answers.described()));
        self
    }
    /// Answers a file of this media type, such as this one, to whoever has its address.
    pub const fn file(mut self, media: &'static str, example: &'static str) -> Route {
        self.file = Some((media, example));
        self
    }
    /// Is never kept under an Idempotency-Key, because its answer holds a secret.
    pub const fn forgotten(mut self) -> Route {
        self.remembered = false;
        self
    }
    /// Is about projects, and who may call: the directory answers.
    pub const fn in_directory(mut self) -> Route {
        self.in_directory = true;
        self
    }
    /// May go on to another project that the key manages, and be answered and remembered there.
    pub const fn goes_on(mut self) -> Route {
        self.goes_on = true;
        self
    }
    /// Takes names of codes.
    pub const fn names_codes(mut self) -> Route {
        self.names_codes = true;
        self
    }
    /// Writes down what its caller wants, although it is a GET.
    pub const fn writing(mut self) -> Route {
        self.writes = true;
        self
    }
    /// Whether it only reads.
    pub fn is_read(&self) -> bool {
        self.method == "GET" && !self.writes
    }
    /// Whether it is about many things at once: such calls are counted by themselves.
    pub fn is_bulk(&self) -> bool {
        self.many || self.success == 202
    }
    /// Whether it belongs to the client side.
    pub fn is_client_side(&self) -> bool {
        self.path.starts_with("/client/")
    }
}

/// What a verb gives.
pub type Outcome = Result<Answer, CallError>;

/// The body of an answer. What a page is not told is taken out of a value before it is printed.
#[derive(Debug)]
pub enum Body {
    /// JSON that is not printed yet.
    Value(Json),
    /// What the engine has printed; nothing where there is no body.
    Written(Vec<u8>),
}

/// An answer on its way out. Even one with an error status commits what the verb has written.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Its body.
    pub body: Body,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
}

impl Answer {
    /// 200 with a JSON body.
    pub fn json(body: Json) -> Answer {
        Answer::status(200, body)
    }
    /// A status with a JSON body.
    pub fn status(status: u16, body: Json) -> Answer {
        Answer { status, body: Body::Value(body), headers: Vec::new() }
    }
    /// A status without a body.
    pub fn empty(status: u16) -> Answer {
        Answer::written(status, Vec::new())
    }
    /// 200 with a body that is already written.
    pub fn bytes(body: Vec<u8>) -> Answer {
        Answer::written(200, body)
    }
    /// A status with a body that is already written.
    pub fn written(status: u16, body: Vec<u8>) -> Answer {
        Answer { status, body: Body::Written(body), headers: Vec::new() }
    }
}

/// A call of a route: all that its verb may look at.
pub struct Call<'c, 's> {
    /// The route.
    pub route: &'static Route,
    /// The request as sent.
    pub request: &'c Request,
    /// Who asks.
    pub caller: &'c Caller,
    /// The decoded query.
    pub query: Query,
    /// The store.
    pub store: &'c mut Store<'s>,
    /// Now and the seed.
    pub context: &'c Context,
    /// The mint of ids.
    pub ids: Ids,
    /// The id of the request.
    pub request_id: &'c str,
    /// The decoded parameters of the path.
    pub params: Vec<(&'static str, String)>,
    /// The page that asks; none when one of the shop's own servers does.
    pub page: Option<Page>,
    /// How many codes a page has named that are of no use to it.
    pub guesses: &'c Cell<usize>,
    /// What has been read of the shop's goods, until some are written.
    pub catalogue: Catalogue,
    /// Runs a piece of the work that is due, for the tests only.
    #[cfg(feature = "rehearsal")]
    pub run_due: RunDue,
}

/// Runs a piece of the work that is due, of so many rows at most.
pub type RunDue = fn(&mut Store<'_>, &Context, u64) -> Result<(), Fault>;

impl Call<'_, '_> {
    /// A parameter of the path.
    pub fn param(&self, name: &str) -> &str {
        self.params.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// The resource of the route.
    pub fn resource(&self) -> Result<&'static Resource, Fault> {
        self.route.resource.ok_or_else(|| Fault(format!("the route {} has no resource", self.route.path)))
    }

    /// The names of the resource of the route, which has states.
    pub fn life(&self) -> Result<&'static Life, Fault> {
        self.route.life.ok_or_else(|| Fault(format!("what the route {} is about has no states", self.route.path)))
    }

    /// The moment of the event.
    pub fn now_ms(&self) -> i64 {
        self.context.now.millis()
    }

    /// The body's object, as it came; no body has no fields.
    pub fn source(&self) -> Result<Map<String, Json>, ErrorBody> {
        intake::object(&self.request.body, self.route.bodiless)
    }

    /// The objects of a body that is a list, as they came; no body has none.
    pub fn sources(&self) -> Result<Vec<Map<String, Json>>, ErrorBody> {
        intake::list(&self.request.body, self.route.bodiless)
    }

    /// The body, read by the fields of the route.
    pub fn body(&self, nulls: Nulls) -> Result<Map<String, Json>, ErrorBody> {
        Ok(shape::read(self.route.body, self.source()?, nulls)?)
    }

    /// Does something for its refusals alone: nothing of it is written.
    pub fn rehearse<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, CallError>) -> Result<(), CallError> {
        let (mark, drawn, ids) = (self.store.mark(), self.store.drawn.clone(), self.ids.clone());
        let outcome = act(self).and_then(|_| Ok(crate::http::reply::check_writes(self.store, mark)?));
        self.store.forget_since(mark);
        (self.store.drawn, self.ids) = (drawn, ids);
        outcome
    }

    /// Notes that a document changes now.
    pub fn touch(&self, document: &mut Document) {
        document.updated_at = Some(self.now_ms());
        document.body.insert("updated_at".into(), moment::text(self.now_ms()).into());
    }
}

/// A refusal as an answer that commits what was written: a redemption that failed is written down as such.
pub fn refused_but_written(body: &ErrorBody, request_id: &str) -> Answer {
    let reply = error_reply(body, request_id);
    Answer::written(reply.status, reply.body)
}

/// How documents become what is shown, all of a page at once.
pub type Show = fn(&mut Call<'_, '_>, Vec<Document>) -> Result<Vec<Json>, CallError>;

/// A kind of document: what it is called, how it is found, shown and listed.
#[derive(Clone, Copy)]
pub struct Resource {
    /// Its kind in the store and its type on the wire.
    pub object: &'static str,
    /// The name in the path, `campaignId`.
    pub parameter: &'static str,
    /// Turns what the path names into the key it is stored under.
    pub key: fn(&Call<'_, '_>, &str) -> String,
    /// How documents become what is shown.
    pub show: Show,
    /// The shape of what is shown, for the description alone.
    pub shape: Kind,
    /// How they are listed.
    pub list: List,
}
