//! Filters responses for clients: for each client-side route, the members that a response may contain, as data. Members that are
//! not named are removed: personal data, actions of others, and the merchant's internal notes. Stored data is not changed.

/// Disclosure of these members and of the validity period: `These`, or `NonNull` without members that are null. A macro, because a constant cannot join lists.
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
    /// Filter [`apply`], after the handler.
    Here,
    /// The engine, whose writer receives the client context: a client with a bundle writes equal bytes.
    Engine,
    /// The handler itself, with [`filter_core`] and [`filter_goods`], because the response is named by its content.
    Handler,
}

/// Disclosure of one route.
struct DisclosureRow {
    path: &'static str,
    filter: ResponseFilter,
    disclosure: &'static Disclosure,
}

const DISCLOSURES: &[DisclosureRow] = &[
    DisclosureRow { path: "/client/v1/validations", filter: ResponseFilter::Engine, disclosure: &trees::VALIDATION },
    DisclosureRow {
        path: "/client/v1/qualifications",
        filter: ResponseFilter::Engine,
        disclosure: &trees::QUALIFICATION,
    },
    DisclosureRow { path: "/client/v1/validate", filter: ResponseFilter::Here, disclosure: &trees::LEGACY_VALIDATION },
    DisclosureRow { path: "/client/v1/redemptions", filter: ResponseFilter::Here, disclosure: &trees::REDEMPTIONS },
    DisclosureRow { path: "/client/v1/redeem", filter: ResponseFilter::Here, disclosure: &trees::REDEMPTION },
    DisclosureRow { path: "/client/v1/promotions/tiers", filter: ResponseFilter::Here, disclosure: &trees::TIERS },
    DisclosureRow { path: "/client/v1/publish", filter: ResponseFilter::Here, disclosure: &trees::PUBLICATION },
    DisclosureRow { path: "/client/v1/events", filter: ResponseFilter::Here, disclosure: &trees::EVENT },
    DisclosureRow { path: "/client/v1/customers", filter: ResponseFilter::Here, disclosure: &trees::CREATED_CUSTOMER },
    DisclosureRow { path: "/client/v1/vouchers", filter: ResponseFilter::Here, disclosure: &trees::VOUCHERS },
    DisclosureRow { path: "/client/v1/consents", filter: ResponseFilter::Here, disclosure: &Disclosure::All },
    DisclosureRow {
        path: "/client/v1/customers/{customerId}/consents",
        filter: ResponseFilter::Here,
        disclosure: &Disclosure::All,
    },
    DisclosureRow { path: "/client/v1/bundle/me", filter: ResponseFilter::Handler, disclosure: &Disclosure::All },
    DisclosureRow { path: "/client/v1/bundle", filter: ResponseFilter::Handler, disclosure: &Disclosure::All },
    DisclosureRow {
        path: "/client/v1/bundle/{projectId}/{hash}",
        filter: ResponseFilter::Handler,
        disclosure: &bundle::CORE,
    },
    DisclosureRow {
        path: "/client/v1/bundle/{projectId}/goods/{root}/{bucket}",
        filter: ResponseFilter::Handler,
        disclosure: &bundle::GOODS_ANSWER,
    },
    // Its messages are heads.
    DisclosureRow { path: "/client/v1/bundle/feed", filter: ResponseFilter::Handler, disclosure: &Disclosure::All },
    // Public halves of keys, made for clients.
    DisclosureRow { path: "/client/v1/jwks", filter: ResponseFilter::Here, disclosure: &Disclosure::All },
];

/// Returns the paths that have a disclosure.
pub fn paths() -> impl Iterator<Item = &'static str> {
    DISCLOSURES.iter().map(|row| row.path)
}

/// Returns the component that filters the responses of a route; `None` for a route without a disclosure.
pub fn filter_of(route: &Route) -> Option<ResponseFilter> {
    Some(DISCLOSURES.iter().find(|row| row.path == route.path)?.filter)
}

/// Returns the disclosure of a client-side route; `None` for a route that only servers call.
pub fn disclosure_of(route: &Route) -> Option<&'static Disclosure> {
    Some(DISCLOSURES.iter().find(|row| row.path == route.path)?.disclosure)
}

/// Removes from a response the members that the client may not see. Refusals contain only facts about the request.
pub fn apply(route: &Route, client: &ClientContext, answer: &mut Response) -> Result<(), Fault> {
    let unknown = || Fault(format!("the route {} has no response filter for clients", route.path));
    let filter = filter_of(route).ok_or_else(unknown)?;
    if filter != ResponseFilter::Here || answer.status >= 400 {
        return Ok(());
    }
    match &mut answer.body {
        ResponseBody::Value(body) => filter_body(route, client, body),
        ResponseBody::Written(written) if written.is_empty() => {}
        // Redemption records are serialized for the store and returned as stored: a client receives a reduced copy.
        ResponseBody::Written(written) => {
            let mut body: Json = serde_json::from_slice(written)
                .map_err(|error| Fault(format!("the answer of {} cannot be read: {error}", route.path)))?;
            filter_body(route, client, &mut body);
            answer.body = ResponseBody::Value(body);
        }
    }
    Ok(())
}

/// Removes undisclosed members from the core of a bundle.
pub fn filter_core(client: &ClientContext, core: &mut Json) {
    ResponseReader { client }.apply(&bundle::CORE, core);
}

/// Removes undisclosed members from a goods bucket of a bundle.
pub fn filter_goods(client: &ClientContext, bucket: &mut Json) {
    ResponseReader { client }.apply(&bundle::GOODS_BUCKET, bucket);
}

/// Removes undisclosed members from the vouchers of a supplement's customer, and from what they name.
pub fn filter_own_offers(client: &ClientContext, offers: &mut Json) {
    ResponseReader { client }.apply(&bundle::OWN_OFFERS, offers);
}

/// Removes undisclosed members from a body that is not serialized yet.
pub fn filter_body(route: &Route, client: &ClientContext, body: &mut Json) {
    match DISCLOSURES.iter().find(|row| row.path == route.path) {
        Some(row) => ResponseReader { client }.apply(row.disclosure, body),
        None => *body = Json::Null,
    }
}

/// Client that receives a response.
struct ResponseReader<'p> {
    client: &'p ClientContext,
}

impl ResponseReader<'_> {
    fn apply(&self, details: &Disclosure, value: &mut Json) {
        match value {
            Json::Array(items) => items.iter_mut().for_each(|item| self.apply(details, item)),
            Json::Object(members) => match details {
                Disclosure::All => {}
                Disclosure::These(names) | Disclosure::NonNull(names) => {
                    let nothing = matches!(details, Disclosure::NonNull(_));
                    members.retain(|name, value| {
                        let details = names.iter().find(|(known, _)| known == name).map(|(_, details)| details);
                        self.filter_member(details, value) && !(nothing && value.is_null())
                    });
                }
                Disclosure::Each(details) => members.retain(|_, value| self.filter_member(Some(details), value)),
                Disclosure::Metadata(of) => members.retain(|name, _| self.is_public(*of, name)),
                Disclosure::Person(details) => self.apply(details, &mut *value),
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
    fn filter_member(&self, details: Option<&Disclosure>, value: &mut Json) -> bool {
        match details {
            None => false,
            Some(Disclosure::Person(_)) if !self.client.trusts_customer() => false,
            Some(details) => {
                self.apply(details, value);
                true
            }
        }
    }

    fn is_public(&self, of: DisclosedMetadata, name: &str) -> bool {
        let PublicMetadata { voucher, campaign, product } = &self.client.policy.metadata;
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
            ("said", Disclosure::NonNull(&[("a", Disclosure::All), ("b", Disclosure::All)])),
        ]);
        let mut terms = ClientPolicy::default();
        terms.metadata.product.push("size".into());
        let named = ClientContext { policy: Arc::new(terms), ..ClientContext::default() };
        let proven = ClientContext { proven: Some("anna".into()), ..named.clone() };
        let unfiltered = json!({
            "a": { "b": 1 }, "b": 1, "list": [{ "a": 1, "b": 2 }, 7, null], "data": { "size": 1, "margin": 2 },
            "who": { "id": "cust_1", "email": "a@b.c" }, "said": { "a": null, "b": 1, "c": 1 },
        });
        let kept = |client: &ClientContext| {
            let mut body = unfiltered.clone();
            ResponseReader { client }.apply(&TREE, &mut body);
            body
        };
        let mut expected =
            json!({ "a": { "b": 1 }, "list": [{ "a": 1 }, null, null], "data": { "size": 1 }, "said": { "b": 1 } });
        assert_eq!(kept(&named), expected);
        if let Some(expected) = expected.as_object_mut() {
            expected.insert("who".into(), json!({ "id": "cust_1" }));
        }
        assert_eq!(kept(&proven), expected);
    }
}
