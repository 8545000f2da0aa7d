//! Creates the objects that an example names, when they are first named, with calls of the service.

use crate::in_process::Edge;
use scrip_worker::http::request::Request;
use scrip_worker::store::sql::text;
use serde_json::{Map, Value as Json};
use std::cell::{Cell, RefCell};

pub struct Shop<'r> {
    edge: Edge,
    now: Cell<i64>,
    nth: Cell<u64>,
    /// The calls that create each object: `{ names, steps: [{ as?, call, send?, bind? }] }`.
    recipes: &'r [Json],
    bound: RefCell<Map<String, Json>>,
}

impl<'r> Shop<'r> {
    pub fn new(recipes: &'r [Json]) -> Shop<'r> {
        let (now, nth) = (Cell::new(1_772_535_600_000), Cell::new(0));
        let shop = Shop { edge: Edge::new(), now, nth, recipes, bound: RefCell::default() };
        // The first call of a project creates its tables.
        shop.send("server", "GET", "/v1/campaigns", "", &Json::Null);
        shop
    }

    pub fn send(&self, who: &str, method: &str, path: &str, query: &str, body: &Json) -> (u16, Json) {
        self.now.set(self.now.get() + 1);
        let headers: &[(&str, &str)] = match who {
            "server" => &[("x-app-id", "dev-app"), ("x-app-token", "dev-token")],
            "management" => &[("x-management-id", "dev-management"), ("x-management-token", "dev-management-token")],
            other => panic!("`{other}` is no known caller"),
        };
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
        let reply = self.edge.send(request, self.now.get(), None);
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
    }

    /// Names of the written activities in order.
    pub fn activities(&self) -> Vec<String> {
        let names = "SELECT json_extract(body, '$.type') FROM document WHERE kind = 'activity' ORDER BY seq";
        let rows = self.edge.run("proj_dev", names, &[]);
        rows.iter().map(|row| text(row, 0).unwrap().to_owned()).collect()
    }

    /// Drops an object by name, and the objects that were created with it.
    pub fn drop_object(&self, name: &str) {
        let recipe = self.recipe(name);
        let mut bound = self.bound.borrow_mut();
        recipe["names"].as_array().unwrap().iter().for_each(|name| {
            bound.remove(name.as_str().unwrap());
        });
        recipe["steps"].as_array().unwrap().iter().for_each(|step| {
            step["bind"].as_object().into_iter().flatten().for_each(|(name, _)| {
                bound.remove(name);
            });
        });
    }

    fn recipe(&self, name: &str) -> &'r Json {
        let is = |recipe: &&Json| recipe["names"].as_array().unwrap().iter().any(|known| known == name);
        self.recipes.iter().find(is).unwrap_or_else(|| panic!("nothing makes ${name}"))
    }

    fn value(&self, name: &str) -> Json {
        if name == "nth" {
            self.nth.set(self.nth.get() + 1);
            return Json::from(self.nth.get().to_string());
        }
        if let Some(value) = self.bound.borrow().get(name) {
            return value.clone();
        }
        for step in self.recipe(name)["steps"].as_array().unwrap() {
            let call = self.fill_text(step["call"].as_str().unwrap());
            let sent = self.fill(&step["send"]);
            let (method, path) = call.split_once(' ').unwrap();
            let (status, made) = self.send(step["as"].as_str().unwrap_or("server"), method, path, "", &sent);
            assert_eq!(status / 100, 2, "making ${name}, {call} with {sent}: {made}");
            for (name, pointer) in step["bind"].as_object().into_iter().flatten() {
                let value = made.pointer(pointer.as_str().unwrap());
                let value = value.unwrap_or_else(|| panic!("{call} answers no {pointer}: {made}")).clone();
                self.bound.borrow_mut().insert(name.clone(), value);
            }
        }
        let bound = self.bound.borrow();
        bound.get(name).unwrap_or_else(|| panic!("the recipe of ${name} binds it nowhere")).clone()
    }

    /// Returns a value with its references replaced.
    pub fn fill(&self, value: &Json) -> Json {
        match value {
            Json::String(text) if text.contains('$') => Json::from(self.fill_text(text)),
            Json::Array(values) => values.iter().map(|value| self.fill(value)).collect(),
            Json::Object(members) => members.iter().map(|(name, value)| (name.clone(), self.fill(value))).collect(),
            other => other.clone(),
        }
    }

    pub fn fill_text(&self, text: &str) -> String {
        let mut parts = text.split('$');
        let mut filled = parts.next().unwrap().to_owned();
        for part in parts {
            let end = part
                .find(|character: char| character != '_' && !character.is_ascii_alphanumeric())
                .unwrap_or(part.len());
            let value = self.value(&part[..end]);
            filled.push_str(value.as_str().unwrap());
            filled.push_str(&part[end..]);
        }
        filled
    }
}
