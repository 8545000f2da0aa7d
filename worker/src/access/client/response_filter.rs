//! Filters responses for clients: for each client-side route, the members that a response may contain, as data. Members that are
//! not named are removed: personal data, actions of others, and the merchant's internal notes. Stored data is not changed.

/// Disclosure of these members and of the validity period: `These`, or `Said` without members that are null.
macro_rules! with_windows {
    ($details:ident, $($member:expr),* $(,)?) => {
        $details(&[
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

use crate::access::client::response_filter::disclosure::DisclosedMetadata;
use crate::access::client::response_filter::disclosure::Disclosure;
use crate::http::route::{Response, ResponseBody, Route};
use crate::store::sql::Fault;
use scrip::model::client::{ClientContext, PublicMetadata, is_public};
use scrip::text::Text;
use serde_json::Value as Json;

/// Component that removes undisclosed members from responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseFilter {
    /// Filter [`keep`], after the handler.
    Here,
    /// The engine, whose writer receives the client context: a client with a bundle writes equal bytes.
    Engine,
    /// The handler itself, with [`keep_core`] and [`keep_goods`], because the response is named by its content.
    Verb,
}

/// Disclosure of one route.
struct DisclosureRow {
    path: &'static str,
    keeper: ResponseFilter,
    disclosure: &'static Disclosure,
}

const SHOWN: &[DisclosureRow] = &[
    DisclosureRow { path: "/client/v1/validations", keeper: ResponseFilter::Engine, disclosure: &trees::VALIDATION },
    DisclosureRow {
        path: "/client/v1/qualifications",
        keeper: ResponseFilter::Engine,
        disclosure: &trees::QUALIFICATION,
    },
    DisclosureRow { path: "/client/v1/validate", keeper: ResponseFilter::Here, disclosure: &trees::FLAT },
    DisclosureRow { path: "/client/v1/redemptions", keeper: ResponseFilter::Here, disclosure: &trees::REDEMPTIONS },
    DisclosureRow { path: "/client/v1/redeem", keeper: ResponseFilter::Here, disclosure: &trees::REDEMPTION },
    DisclosureRow { path: "/client/v1/promotions/tiers", keeper: ResponseFilter::Here, disclosure: &trees::TIERS },
    DisclosureRow { path: "/client/v1/publish", keeper: ResponseFilter::Here, disclosure: &trees::PUBLICATION },
    DisclosureRow { path: "/client/v1/events", keeper: ResponseFilter::Here, disclosure: &trees::EVENT },
    DisclosureRow { path: "/client/v1/customers", keeper: ResponseFilter::Here, disclosure: &trees::CUSTOMER_OF_PAGE },
    DisclosureRow { path: "/client/v1/vouchers", keeper: ResponseFilter::Here, disclosure: &trees::VOUCHERS },
    DisclosureRow { path: "/client/v1/consents", keeper: ResponseFilter::Here, disclosure: &Disclosure::All },
    DisclosureRow {
        path: "/client/v1/customers/{customerId}/consents",
        keeper: ResponseFilter::Here,
        disclosure: &Disclosure::All,
    },
    DisclosureRow { path: "/client/v1/bundle/me", keeper: ResponseFilter::Verb, disclosure: &Disclosure::All },
    DisclosureRow { path: "/client/v1/bundle", keeper: ResponseFilter::Verb, disclosure: &Disclosure::All },
    DisclosureRow {
        path: "/client/v1/bundle/{projectId}/{hash}",
        keeper: ResponseFilter::Verb,
        disclosure: &bundle::CORE,
    },
    DisclosureRow {
        path: "/client/v1/bundle/{projectId}/goods/{root}/{bucket}",
        keeper: ResponseFilter::Verb,
        disclosure: &bundle::GOODS_ANSWER,
    },
    // Its messages are heads.
    DisclosureRow { path: "/client/v1/bundle/feed", keeper: ResponseFilter::Verb, disclosure: &Disclosure::All },
    // Public halves of keys, made for clients.
    DisclosureRow { path: "/client/v1/jwks", keeper: ResponseFilter::Here, disclosure: &Disclosure::All },
];

/// Returns the paths that have a disclosure.
pub fn paths() -> impl Iterator<Item = &'static str> {
    SHOWN.iter().map(|shown| shown.path)
}

/// Returns the component that filters the responses of a route; `None` for a route without a disclosure.
pub fn keeper_of(route: &Route) -> Option<ResponseFilter> {
    Some(SHOWN.iter().find(|shown| shown.path == route.path)?.keeper)
}

/// Returns the disclosure of a client-side route; `None` for a route that only servers call.
pub fn disclosure_on(route: &Route) -> Option<&'static Disclosure> {
    Some(SHOWN.iter().find(|shown| shown.path == route.path)?.disclosure)
}

/// Removes from a response the members that the client may not see. Refusals contain only facts about the request.
pub fn keep(route: &Route, page: &ClientContext, answer: &mut Response) -> Result<(), Fault> {
    let unknown = || Fault(format!("the route {} has no response filter for clients", route.path));
    let keeper = keeper_of(route).ok_or_else(unknown)?;
    if keeper != ResponseFilter::Here || answer.status >= 400 {
        return Ok(());
    }
    match &mut answer.body {
        ResponseBody::Value(body) => keep_of(route, page, body),
        ResponseBody::Written(written) if written.is_empty() => {}
        // Redemption records are serialized for the store and returned as stored: a client receives a reduced copy.
        ResponseBody::Written(written) => {
            let mut body: Json = serde_json::from_slice(written)
                .map_err(|error| Fault(format!("the answer of {} does not read: {error}", route.path)))?;
            keep_of(route, page, &mut body);
            answer.body = ResponseBody::Value(body);
        }
    }
    Ok(())
}

/// Removes undisclosed members from the core of a bundle.
pub fn keep_core(page: &ClientContext, core: &mut Json) {
    ResponseReader { page }.keep(&bundle::CORE, core);
}

/// Removes undisclosed members from a goods bucket of a bundle.
pub fn keep_goods(page: &ClientContext, bucket: &mut Json) {
    ResponseReader { page }.keep(&bundle::GOODS_BUCKET, bucket);
}

/// Removes undisclosed members from the vouchers of a supplement's customer, and from what they name.
pub fn keep_own_offers(page: &ClientContext, offers: &mut Json) {
    ResponseReader { page }.keep(&bundle::OWN_OFFERS, offers);
}

/// Removes undisclosed members from a body that is not serialized yet.
pub fn keep_of(route: &Route, page: &ClientContext, body: &mut Json) {
    match SHOWN.iter().find(|shown| shown.path == route.path) {
        Some(shown) => ResponseReader { page }.keep(shown.disclosure, body),
        None => *body = Json::Null,
    }
}

/// Client that receives a response.
struct ResponseReader<'p> {
    page: &'p ClientContext,
}

impl ResponseReader<'_> {
    fn keep(&self, details: &Disclosure, value: &mut Json) {
        match value {
            Json::Array(items) => items.iter_mut().for_each(|item| self.keep(details, item)),
            Json::Object(members) => match details {
                Disclosure::All => {}
                Disclosure::These(names) | Disclosure::Said(names) => {
                    let nothing = matches!(details, Disclosure::Said(_));
                    members.retain(|name, value| {
                        let details = names.iter().find(|(known, _)| known == name).map(|(_, details)| details);
                        self.keep_member(details, value) && !(nothing && value.is_null())
                    });
                }
                Disclosure::Each(details) => members.retain(|_, value| self.keep_member(Some(details), value)),
                Disclosure::Metadata(of) => members.retain(|name, _| self.is_public(*of, name)),
                Disclosure::Person(details) => self.keep(details, &mut *value),
            },
            // A value without members, where members are declared, is not the declared one.
            Json::String(_) | Json::Number(_) | Json::Bool(_) => {
                if !matches!(details, Disclosure::All | Disclosure::Person(Disclosure::All)) {
                    *value = Json::Null;
                }
            }
            Json::Null => {}
        }
    }

    /// Returns true if a part of a member may be disclosed.
    fn keep_member(&self, details: Option<&Disclosure>, value: &mut Json) -> bool {
        match details {
            None => false,
            Some(Disclosure::Person(_)) if !self.page.trusts_customer() => false,
            Some(details) => {
                self.keep(details, value);
                true
            }
        }
    }

    fn is_public(&self, of: DisclosedMetadata, name: &str) -> bool {
        let PublicMetadata { voucher, campaign, product } = &self.page.policy.metadata;
        let is = |keys: &[Text]| is_public(keys, name);
        match of {
            DisclosedMetadata::Voucher => is(voucher),
            DisclosedMetadata::Campaign => is(campaign),
            DisclosedMetadata::Goods => is(product),
            DisclosedMetadata::Offer => is(voucher) || is(campaign),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scrip::model::client::ClientPolicy;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn an_unlisted_member_is_left_out() {
        const TREE: Disclosure = Disclosure::These(&[
            ("a", Disclosure::All),
            ("list", Disclosure::These(&[("a", Disclosure::All)])),
            ("data", Disclosure::Metadata(DisclosedMetadata::Goods)),
            ("who", Disclosure::Person(&Disclosure::These(&[("id", Disclosure::All)]))),
            ("said", Disclosure::Said(&[("a", Disclosure::All), ("b", Disclosure::All)])),
        ]);
        let mut terms = ClientPolicy::default();
        terms.metadata.product.push("size".into());
        let named = ClientContext { policy: Arc::new(terms), ..ClientContext::default() };
        let proven = ClientContext { proven: Some("anna".into()), ..named.clone() };
        let whole = json!({
            "a": { "b": 1 }, "b": 1, "list": [{ "a": 1, "b": 2 }, 7, null], "data": { "size": 1, "margin": 2 },
            "who": { "id": "cust_1", "email": "a@b.c" }, "said": { "a": null, "b": 1, "c": 1 },
        });
        let kept = |page: &ClientContext| {
            let mut body = whole.clone();
            ResponseReader { page }.keep(&TREE, &mut body);
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
