//! What a page is told: for each of its routes what an answer may hold, as data, and the one place where the rest is left out.
//! Whatever is not named here is not told: nothing of a person, of what others did, of what the shop notes for itself. It must
//! not know how an answer comes about, and changes nothing that is stored.

/// Of these members beside those that say when something holds: `These`, or `Said` without those that are nothing.
macro_rules! with_windows {
    ($told:ident, $($member:expr),* $(,)?) => {
        $told(&[
            ("active", All),
            ("start_date", All),
            ("expiration_date", All),
            ("validity_timeframe", All),
            ("validity_day_of_week", All),
            ("validity_hours", All),
            $($member),*
        ])
    };
}

mod bundle;
pub mod disclosure;
mod trees;

use crate::access::page::shown::disclosure::Disclosure;
use crate::access::page::shown::disclosure::Of;
use crate::http::route::{Answer, Body, Route};
use crate::store::sql::Fault;
use scrip::model::page::{Page, PublicMetadata, is_public};
use scrip::text::Text;
use serde_json::Value as Json;

/// Who sees to it that an answer holds no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeper {
    /// [`keep`], after the verb.
    Here,
    /// The engine, whose writer knows that a page asks: a page with a bundle writes the same bytes.
    Engine,
    /// The verb, with [`keep_of`]: the answer is named by its content.
    Verb,
}

/// What is told on a route.
struct Shown {
    path: &'static str,
    keeper: Keeper,
    told: &'static Disclosure,
}

const SHOWN: &[Shown] = &[
    Shown { path: "/client/v1/validations", keeper: Keeper::Engine, told: &trees::VALIDATION },
    Shown { path: "/client/v1/qualifications", keeper: Keeper::Engine, told: &trees::QUALIFICATION },
    Shown { path: "/client/v1/validate", keeper: Keeper::Here, told: &trees::FLAT },
    Shown { path: "/client/v1/redemptions", keeper: Keeper::Here, told: &trees::REDEMPTIONS },
    Shown { path: "/client/v1/redeem", keeper: Keeper::Here, told: &trees::REDEMPTION },
    Shown { path: "/client/v1/promotions/tiers", keeper: Keeper::Here, told: &trees::TIERS },
    Shown { path: "/client/v1/publish", keeper: Keeper::Here, told: &trees::PUBLICATION },
    Shown { path: "/client/v1/events", keeper: Keeper::Here, told: &trees::EVENT },
    Shown { path: "/client/v1/customers", keeper: Keeper::Here, told: &trees::CUSTOMER_OF_PAGE },
    Shown { path: "/client/v1/vouchers", keeper: Keeper::Here, told: &trees::VOUCHERS },
    Shown { path: "/client/v1/consents", keeper: Keeper::Here, told: &Disclosure::All },
    Shown { path: "/client/v1/customers/{customerId}/consents", keeper: Keeper::Here, told: &Disclosure::All },
    Shown { path: "/client/v1/bundle", keeper: Keeper::Verb, told: &bundle::BUNDLE },
];

/// The paths of which something is said.
pub fn paths() -> impl Iterator<Item = &'static str> {
    SHOWN.iter().map(|shown| shown.path)
}

/// Who keeps the answers of a route from holding more; none of a route that nothing is said about.
pub fn keeper_of(route: &Route) -> Option<Keeper> {
    Some(SHOWN.iter().find(|shown| shown.path == route.path)?.keeper)
}

/// What a page is told on a route; nothing is said of what only servers call.
pub fn told_on(route: &Route) -> Option<&'static Disclosure> {
    Some(SHOWN.iter().find(|shown| shown.path == route.path)?.told)
}

/// Leaves out of an answer what the page is not told. Refusals say only what is said of the request.
pub fn keep(route: &Route, page: &Page, answer: &mut Answer) -> Result<(), Fault> {
    let unknown = || Fault(format!("nothing says what the route {} may tell a page", route.path));
    let keeper = keeper_of(route).ok_or_else(unknown)?;
    if keeper != Keeper::Here || answer.status >= 400 {
        return Ok(());
    }
    match &mut answer.body {
        Body::Value(body) => keep_of(route, page, body),
        Body::Written(written) if written.is_empty() => {}
        // A redemption's records are printed to be stored, and told as they are stored: a page is told a copy with less.
        Body::Written(written) => {
            let mut body: Json = serde_json::from_slice(written)
                .map_err(|error| Fault(format!("the answer of {} does not read: {error}", route.path)))?;
            keep_of(route, page, &mut body);
            answer.body = Body::Value(body);
        }
    }
    Ok(())
}

/// The same for a body that is not written yet.
pub fn keep_of(route: &Route, page: &Page, body: &mut Json) {
    match SHOWN.iter().find(|shown| shown.path == route.path) {
        Some(shown) => Reader { page }.keep(shown.told, body),
        None => *body = Json::Null,
    }
}

/// The page that reads an answer.
struct Reader<'p> {
    page: &'p Page,
}

impl Reader<'_> {
    fn keep(&self, told: &Disclosure, value: &mut Json) {
        match value {
            Json::Array(items) => items.iter_mut().for_each(|item| self.keep(told, item)),
            Json::Object(members) => match told {
                Disclosure::All => {}
                Disclosure::These(names) | Disclosure::Said(names) => {
                    let nothing = matches!(told, Disclosure::Said(_));
                    members.retain(|name, value| {
                        let told = names.iter().find(|(known, _)| known == name).map(|(_, told)| told);
                        self.keep_member(told, value) && !(nothing && value.is_null())
                    });
                }
                Disclosure::Each(told) => members.retain(|_, value| self.keep_member(Some(told), value)),
                Disclosure::Metadata(of) => members.retain(|name, _| self.is_public(*of, name)),
                Disclosure::Person(told) => self.keep(told, &mut *value),
            },
            // What should have members and has none is not what is known of it.
            Json::String(_) | Json::Number(_) | Json::Bool(_) => {
                if !matches!(told, Disclosure::All | Disclosure::Person(Disclosure::All)) {
                    *value = Json::Null;
                }
            }
            Json::Null => {}
        }
    }

    /// Whether there is anything to be told of a member.
    fn keep_member(&self, told: Option<&Disclosure>, value: &mut Json) -> bool {
        match told {
            None => false,
            Some(Disclosure::Person(_)) if !self.page.is_believed() => false,
            Some(told) => {
                self.keep(told, value);
                true
            }
        }
    }

    fn is_public(&self, of: Of, name: &str) -> bool {
        let PublicMetadata { voucher, campaign, product } = &self.page.terms.metadata;
        let is = |keys: &[Text]| is_public(keys, name);
        match of {
            Of::Voucher => is(voucher),
            Of::Campaign => is(campaign),
            Of::Goods => is(product),
            Of::Offer => is(voucher) || is(campaign),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrip::model::page::Terms;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn what_is_not_named_is_not_told() {
        const TREE: Disclosure = Disclosure::These(&[
            ("a", Disclosure::All),
            ("list", Disclosure::These(&[("a", Disclosure::All)])),
            ("data", Disclosure::Metadata(Of::Goods)),
            ("who", Disclosure::Person(&Disclosure::These(&[("id", Disclosure::All)]))),
            ("said", Disclosure::Said(&[("a", Disclosure::All), ("b", Disclosure::All)])),
        ]);
        let mut terms = Terms::default();
        terms.metadata.product.push("size".into());
        let named = Page { terms: Arc::new(terms), proven: None };
        let proven = Page { proven: Some("anna".into()), ..named.clone() };
        let whole = json!({
            "a": { "b": 1 }, "b": 1, "list": [{ "a": 1, "b": 2 }, 7, null], "data": { "size": 1, "margin": 2 },
            "who": { "id": "cust_1", "email": "a@b.c" }, "said": { "a": null, "b": 1, "c": 1 },
        });
        let kept = |page: &Page| {
            let mut body = whole.clone();
            Reader { page }.keep(&TREE, &mut body);
            body
        };
        let mut wanted =
            json!({ "a": { "b": 1 }, "list": [{ "a": 1 }, null, null], "data": { "size": 1 }, "said": { "b": 1 } });
        assert_eq!(kept(&named), wanted);
        if let Some(wanted) = wanted.as_object_mut() {
            wanted.insert("who".into(), json!({ "id": "cust_1" }));
        }
        assert_eq!(kept(&proven), wanted);
    }
}
