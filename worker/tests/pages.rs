//! What a page may do with what is somebody else's: nothing. Every route that a page's key or a client token reaches, from the table of routes,
//! with every name of somebody else's things in every place that takes a text: the answer has the bytes that it has in a shop without those
//! things, and all of them are afterwards as they were.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail loudly"
)]

#[path = "support/edge.rs"]
mod edge;
#[path = "pages/places.rs"]
mod places;
#[path = "../../tests/support/tally.rs"]
mod tally;
#[path = "pages/world.rs"]
mod world;

use places::{Attempt, attempts, reachable};
use scrip_worker::http::request::Request;
use world::World;

/// Two shops alike but for what somebody else is called.
struct Shops {
    with: World,
    without: World,
}

impl Shops {
    fn open() -> Shops {
        Shops { with: World::new("stranger", false), without: World::new("elsewho1", true) }
    }
}

/// Tries everything with the route of a path.
fn try_all(path: &str) {
    let route = reachable().find(|route| route.path == path).unwrap();
    let shops = Shops::open();
    let mut number = 0_usize;
    let mut wrong: Vec<String> = Vec::new();
    for who in shops.with.callers() {
        let before = shops.with.belongings();
        // A token opens what the key opens; what a page finds out about a place nobody else need find out again.
        for attempt in attempts(route, &shops.with.names, who == "page") {
            number += 1;
            let Attempt { told, query, body } = attempt;
            let request = || Request {
                method: route.method.into(),
                path: route.path.into(),
                query: query.clone(),
                body: body.as_ref().map(|body| body.to_string().into_bytes()).unwrap_or_default(),
                ..Request::default()
            };
            let (with, without) =
                (shops.with.attempt(who, number, request()), shops.without.attempt(who, number, request()));
            if with != without {
                let text = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
                wrong.push(format!(
                    "{who}: {} {} {told}\n  {} {}\n  {} {}",
                    route.method,
                    route.path,
                    with.status,
                    text(&with.body),
                    without.status,
                    text(&without.body)
                ));
            }
        }
        for (was, is) in before.iter().zip(shops.with.belongings()) {
            if *was != is {
                wrong.push(format!("{who}: {path} changed {}:\n  {}\n  {}", is.0, was.1, is.1));
            }
        }
    }
    tally::record(&serde_json::json!({ "kind": "attempts of a page", "ran": number }));
    let count = wrong.len();
    let shown: usize = std::env::var("PAGES_SHOW").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    wrong.truncate(shown);
    assert!(wrong.is_empty(), "{count} of {number} differ, of which\n{}", wrong.join("\n"));
}

/// One test for each route, so that they share the cores; and one that none is left out.
macro_rules! routes {
    ($($name:ident $path:literal)*) => {
        $(
            #[test]
            fn $name() {
                try_all($path);
            }
        )*

        #[test]
        fn every_route_of_a_page_is_tried() {
            let mut tried = vec![$($path),*];
            let mut paths: Vec<&str> = reachable().map(|route| route.path).collect();
            tried.sort_unstable();
            paths.sort_unstable();
            assert_eq!(paths, tried);
        }
    };
}

routes! {
    validations "/client/v1/validations"
    redemptions "/client/v1/redemptions"
    qualifications "/client/v1/qualifications"
    redeem "/client/v1/redeem"
    validate "/client/v1/validate"
    publish "/client/v1/publish"
    events "/client/v1/events"
    promotion_tiers "/client/v1/promotions/tiers"
    bundle "/client/v1/bundle"
    consents "/client/v1/consents"
    customers "/client/v1/customers"
    customer_consents "/client/v1/customers/{customerId}/consents"
    vouchers "/client/v1/vouchers"
}
