//! The whole way of a request without the runtime: entry, directory, project, each over its own SQLite in memory.

use scrip::Context;
use scrip::time::Instant;
use scrip_worker::access::auth::{self, Wanted};
use scrip_worker::access::guesses::{self, Asker, Guesses, Verdict};
use scrip_worker::access::{keys, rates};
use scrip_worker::directory;
use scrip_worker::http::caller::{CARRIED, Caller, ONWARD};
use scrip_worker::http::public;
use scrip_worker::http::reply;
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::service::{self};
use scrip_worker::store::Store;
use scrip_worker::store::sqlite::Sqlite;
use scrip_worker::table::TABLE;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Two projects: the development's, and one that is closed to pages and whose codes do not differ by case.
pub const SETUP: &str = include_str!("../../../tests/stories/setup.json");

/// The description of the interface, which lies beside the Worker.
const DESCRIPTION: &str = include_str!("../../openapi.json");

pub struct Edge {
    directory: Object,
    projects: RefCell<HashMap<String, Object>>,
    gates: RefCell<HashMap<String, Guesses>>,
    counts: RefCell<rates::Counts>,
    /// Records of keys as the entry keeps them, by their names.
    keys: RefCell<HashMap<String, Kept>>,
    count: Cell<u64>,
}

/// How long a record of a key is believed, and how long it is not asked for again where it does not fit: as in `host/key.rs`.
const FRESH_MS: i64 = 60_000;
const SETTLED_MS: i64 = 1_000;

/// A record of a key, and when its owner gave it.
#[derive(Clone)]
struct Kept {
    at_ms: i64,
    record: String,
}

struct Object {
    sql: Sqlite,
    fresh: Cell<bool>,
    alarm: Cell<Option<i64>>,
    /// What the service noted for whoever keeps it.
    notes: RefCell<Vec<String>>,
}

impl Object {
    fn new() -> Object {
        Object {
            sql: Sqlite::memory().unwrap(),
            fresh: Cell::new(true),
            alarm: Cell::new(None),
            notes: RefCell::default(),
        }
    }

    /// One event: inside a transaction that a fault undoes, as the object's shell has it.
    fn event<T>(
        &self,
        context: &Context,
        act: impl FnOnce(&mut Store<'_>) -> Result<T, scrip_worker::store::sql::Fault>,
    ) -> Result<T, String> {
        let fresh = self.fresh.get();
        let outcome = self.sql.transaction(|sql| {
            let mut store = if fresh { Store::open(sql, context.now.millis())? } else { Store::new(sql) };
            let outcome = act(&mut store)?;
            self.notes.borrow_mut().extend(store.take_notes());
            if let Some(at) = store.alarm() {
                self.alarm.set(Some(at));
            }
            Ok(outcome)
        });
        let replanned = self.sql.take_replanned();
        assert!(fresh || replanned.is_empty(), "a plan follows what is bound (`+?1` instead of `?1`): {replanned:#?}");
        if outcome.is_ok() {
            self.fresh.set(false);
        }
        outcome.map_err(|fault| fault.0)
    }
}

impl Edge {
    pub fn new() -> Edge {
        Edge {
            directory: Object::new(),
            projects: RefCell::default(),
            gates: RefCell::default(),
            counts: RefCell::default(),
            keys: RefCell::default(),
            count: Cell::new(0),
        }
    }

    /// A seed that no other event has.
    fn context(&self, now_ms: i64, seed: Option<[u8; 32]>) -> Context {
        self.count.set(self.count.get() + 1);
        let mut fresh = [0; 32];
        fresh[..8].copy_from_slice(&self.count.get().to_be_bytes());
        Context { now: Instant::from_millis(now_ms).unwrap(), seed: seed.unwrap_or(fresh) }
    }

    pub fn send(&self, mut request: Request, now_ms: i64, seed: Option<[u8; 32]>) -> Reply {
        let context = self.context(now_ms, seed);
        let request_id = format!("v-{:018x}", self.count.get());
        request.headers.retain(|(name, _)| !name.starts_with("scrip-") || name.starts_with("scrip-rehearsal"));
        if request.body.len() > scrip_worker::http::reply::BODY_BYTES_MAX {
            return scrip_worker::http::reply::too_large(&request_id);
        }
        let (name, path) = match auth::lookup_key(&TABLE, &request, &request_id) {
            Ok(Wanted::Answered(reply)) | Err(reply) => return reply,
            Ok(Wanted::Description) => return Reply { body: DESCRIPTION.into(), ..public::describe(&request_id) },
            Ok(Wanted::Health) => return self.ask(scrip_worker::http::health::ASKED.to_owned(), &context),
            Ok(Wanted::Key { kv_key, object, path }) => {
                assert_eq!(object, "directory");
                (kv_key, path)
            }
        };
        let caller = match self.admit(&request, (&name, path), (&context, &request_id), now_ms) {
            Ok(caller) => caller,
            Err(reply) => return reply,
        };
        let verdict = self.counts.borrow_mut().ask(&TABLE, &request, &caller, now_ms);
        let share = match verdict {
            rates::Verdict::Unlimited => None,
            rates::Verdict::Within(share) => Some(share),
            rates::Verdict::Beyond { share, seconds, of } => {
                let mut reply = rates::refused(&request_id, &share, seconds, of);
                caller.origin.iter().for_each(|origin| reply::allow_origin(&mut reply, origin));
                return reply;
            }
        };
        let mut reply = self.pass(request, caller, (&context, &request_id), now_ms);
        share.iter().for_each(|share| share.tell(&mut reply));
        reply
    }

    /// What the directory says of itself, or of a key.
    fn ask(&self, path: String, context: &Context) -> Reply {
        let ask = Request { method: "GET".into(), path, ..Request::default() };
        self.directory.event(context, |store| directory::serve_directory(&ask, store, context, SETUP)).unwrap()
    }

    /// Judges a request by the record of its key, as the entry does: by one that it has kept for up to a minute, which is asked for anew
    /// where it does not fit.
    fn admit(
        &self,
        request: &Request,
        (name, path): (&str, String),
        (context, request_id): (&Context, &str),
        now_ms: i64,
    ) -> Result<Caller, Reply> {
        let judge = |record: Option<&Kept>| {
            let record = record.map(|kept| kept.record.as_str());
            auth::admit(&TABLE, request, record, now_ms, request_id)
        };
        let is_fresh = |kept: &Kept| kept.at_ms <= now_ms && now_ms < kept.at_ms + FRESH_MS;
        let kept = self.keys.borrow().get(name).filter(|kept| is_fresh(kept)).cloned();
        let may_be_old = kept.as_ref().is_none_or(|kept| kept.at_ms + SETTLED_MS <= now_ms);
        match kept.as_ref().map(|kept| judge(Some(kept))) {
            Some(Err(refusal)) if refusal.status == 401 && may_be_old => {}
            Some(verdict) => return verdict,
            None => {}
        }
        let found = self.ask(path, context);
        let record = (found.status == 200).then(|| String::from_utf8(found.body).unwrap());
        let kept = record.map(|record| Kept { at_ms: now_ms, record });
        match &kept {
            Some(kept) => drop(self.keys.borrow_mut().insert(name.to_owned(), kept.clone())),
            None => drop(self.keys.borrow_mut().remove(name)),
        }
        judge(kept.as_ref())
    }

    /// Hands on what was let in.
    fn pass(
        &self,
        mut request: Request,
        caller: Caller,
        (context, request_id): (&Context, &str),
        now_ms: i64,
    ) -> Reply {
        let matched = TABLE.find(&request.method, &request.path).ok();
        let asker = matched.and_then(|matched| guesses::asker(matched.route, &caller));
        if let Some(Verdict::Later(seconds)) =
            asker.as_ref().map(|asker| self.gate(asker, |gate| gate.ask(asker, now_ms)))
        {
            let mut reply = scrip_worker::http::reply::too_many(request_id, seconds);
            caller.origin.iter().for_each(|origin| reply::allow_origin(&mut reply, origin));
            return reply;
        }
        request.headers.push(("scrip-caller".into(), caller.header()));
        request.headers.push(("scrip-request-id".into(), request_id.to_owned()));
        request.headers.push(("scrip-origin".into(), "http://shop.test".into()));
        let answer = if auth::object(&TABLE, &request, &caller) == "directory" {
            self.directory.event(context, |store| directory::serve_directory(&request, store, context, SETUP))
        } else {
            self.project(&caller.project, |object| {
                object.event(context, |store| service::serve(&request, store, context))
            })
        };
        let mut reply = answer.unwrap_or_else(|fault| {
            eprintln!("{request_id}: {fault}");
            scrip_worker::http::reply::failed(request_id)
        });
        if let Some((_, project)) = reply.headers.iter().find(|(name, _)| name == ONWARD) {
            let other = caller.in_other(project).unwrap();
            request.headers.retain(|(name, _)| name != "scrip-caller");
            request.headers.push(("scrip-caller".into(), other.header()));
            request.headers.push((CARRIED.into(), "true".into()));
            request.body = reply.body;
            reply = self.project(&other.project, |object| {
                object.event(context, |store| service::serve(&request, store, context)).unwrap()
            });
        }
        while let Some(at) = reply.headers.iter().position(|(name, _)| name == "scrip-next") {
            let (_, next) = reply.headers.remove(at);
            let mut request = request.clone();
            request.headers.push(("scrip-part".into(), next));
            let part = self.project(&caller.project, |object| {
                object.event(context, |store| service::serve(&request, store, context)).unwrap()
            });
            assert_eq!(part.status, 200, "a part of an answer is gone");
            reply.body.extend(part.body);
            reply.headers.extend(part.headers.into_iter().filter(|(name, _)| name == "scrip-next"));
        }
        if let Some(asker) = &asker {
            let wrong = reply.headers.iter().find(|(name, _)| name == guesses::GUESSES);
            let wrong = wrong.map_or(0, |(_, count)| count.parse().unwrap());
            self.gate(asker, |gate| gate.settle(asker, wrong, now_ms));
            reply.headers.retain(|(name, _)| name != guesses::GUESSES);
        }
        // What the directory tells the entry alone.
        for (_, names) in reply.headers.iter().filter(|(name, _)| name == keys::FORGET) {
            names.split(',').for_each(|name| drop(self.keys.borrow_mut().remove(name)));
        }
        let emptied = reply.headers.iter().find(|(name, _)| name == keys::EMPTIED).map(|(_, project)| project.clone());
        emptied.iter().for_each(|project| drop(self.projects.borrow_mut().remove(project)));
        if let Some((_, signed)) = reply.headers.iter().find(|(name, _)| name == keys::SIGNED) {
            let read: keys::Signed = serde_json::from_str(signed).unwrap();
            let told = Request {
                method: "PUT".into(),
                path: scrip_worker::shop::webhooks::SIGNED.into(),
                body: signed.as_bytes().into(),
                ..Request::default()
            };
            let taken = self.project(&read.project, |object| {
                object.event(context, |store| service::serve(&told, store, context)).unwrap()
            });
            assert_eq!(taken.status, 204);
        }
        reply.headers.retain(|(name, _)| ![keys::FORGET, keys::EMPTIED, keys::SIGNED].contains(&name.as_str()));
        reply
    }

    fn gate<T>(&self, asker: &Asker, act: impl FnOnce(&mut Guesses) -> T) -> T {
        act(self.gates.borrow_mut().entry(asker.project.clone()).or_default())
    }

    fn project<T>(&self, name: &str, act: impl FnOnce(&Object) -> T) -> T {
        let mut projects = self.projects.borrow_mut();
        act(projects.entry(name.to_owned()).or_insert_with(Object::new))
    }

    #[allow(dead_code, reason = "not every test reads the log")]
    /// What a project noted since this was last asked.
    pub fn notes(&self, project: &str) -> Vec<String> {
        self.project(project, |object| object.notes.take())
    }

    #[allow(dead_code, reason = "not every test writes past the service")]
    /// Runs a statement on a project's tables, as an older version of the service could have left them.
    pub fn run(
        &self,
        project: &str,
        statement: &str,
        params: &[scrip_worker::store::sql::Value],
    ) -> Vec<scrip_worker::store::sql::Row> {
        use scrip_worker::store::sql::Sql;
        self.project(project, |object| object.sql.run(statement, params)).unwrap()
    }

    #[allow(dead_code, reason = "not every test looks below the service")]
    /// The number that a statement finds in a project's tables.
    pub fn count(&self, project: &str, statement: &str) -> i64 {
        use scrip_worker::store::sql::{Sql, int};
        self.project(project, |object| int(&object.sql.run(statement, &[]).unwrap()[0], 0)).unwrap()
    }

    #[allow(dead_code, reason = "not every test waits")]
    /// Runs the alarm of a project once when it is due, with as much work as no test minds; says whether it was.
    pub fn alarm(&self, project: &str, now_ms: i64) -> bool {
        self.alarm_of(project, now_ms, 2_000)
    }

    #[allow(dead_code, reason = "not every test waits")]
    /// The same with so many rows of work.
    pub fn alarm_of(&self, project: &str, now_ms: i64, rows: u64) -> bool {
        let context = self.context(now_ms, None);
        self.project(project, |object| match object.alarm.get().filter(|at| *at <= now_ms) {
            None => false,
            Some(_) => {
                object.alarm.set(None);
                object.event(&context, |store| service::alarm(store, &context, rows)).unwrap();
                true
            }
        })
    }

    #[allow(dead_code, reason = "not every test counts rows")]
    /// What the project's tables hold, idempotency records aside, as how many rows and a digest of all that they say: what a refused
    /// request must not change.
    pub fn rows(&self, project: &str) -> String {
        use scrip_worker::store::sql::{Row, Sql};
        use std::hash::{DefaultHasher, Hash, Hasher};
        let told = |name: &str, rows: &[Row]| {
            let mut digest = DefaultHasher::new();
            format!("{rows:?}").hash(&mut digest);
            format!("{name} {} {:016x}", rows.len(), digest.finish())
        };
        // What any call of the service may write in passing is no answer to it.
        let statements =
            [("who may call", "SELECT * FROM document WHERE kind <> 'health'"), ("tokens", "SELECT * FROM token")];
        let read = |(name, statement)| self.directory.sql.run(statement, &[]).map(|rows| told(name, &rows));
        let of_directory = statements.into_iter().map(read).collect::<Result<Vec<_>, _>>().unwrap_or_default();
        self.project(project, |object| {
            let tables = [
                "document",
                "transfer",
                "hold",
                "due",
                "generator",
                "account",
                "earning_occasion",
                "earning_firing",
                "outbox",
                "export_line",
            ];
            let read =
                |table: &&str| object.sql.run(&format!("SELECT * FROM {table}"), &[]).map(|rows| told(table, &rows));
            let read = tables.iter().map(read).collect::<Result<Vec<_>, _>>();
            read.map_or_else(|_| String::new(), |read| [of_directory, read].concat().join(" "))
        })
    }
}
