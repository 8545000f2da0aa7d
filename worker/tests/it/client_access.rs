//! Tests that a client gets no access to the objects of another customer. Every route that a client's key or token reaches is called with
//! every name of such objects in every text field. The answer has the bytes of a project without those objects, and all of them stay
//! unchanged.

mod fixtures;
mod request_places;

use fixtures::TestProject;
use request_places::{Attempt, attempts, reachable};
use scrip_worker::http::request::Request;

/// Two projects that differ only in the names of the other customer's objects.
struct Shops {
    with: TestProject,
    without: TestProject,
}

impl Shops {
    fn open() -> Shops {
        Shops { with: TestProject::new("stranger", false), without: TestProject::new("elsewho1", true) }
    }
}

/// Makes all attempts for the route of a path.
fn try_all(path: &str) {
    let route = reachable().find(|route| route.path == path).unwrap();
    let shops = Shops::open();
    let mut number = 0_usize;
    let mut wrong: Vec<String> = Vec::new();
    for who in shops.with.callers() {
        let before = shops.with.belongings();
        // A token opens the same routes as the key, so the results of the key need no repetition.
        for attempt in attempts(route, &shops.with.names, who == "page") {
            number += 1;
            let Attempt { description, query, body } = attempt;
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
                    "{who}: {} {} {description}\n  {} {}\n  {} {}",
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
    crate::support::test_report::record(&serde_json::json!({ "kind": "attempts of a page", "ran": number }));
    let count = wrong.len();
    let shown: usize = std::env::var("PAGES_SHOW").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    wrong.truncate(shown);
    assert!(wrong.is_empty(), "{count} of {number} differ, of which\n{}", wrong.join("\n"));
}

/// Declares one test for each route, so that they run in parallel, and one that no route is missing.
macro_rules! routes {
    ($($name:ident $path:literal)*) => {
        $(
            #[test]
            fn $name() {
                try_all($path);
            }
        )*

        #[test]
        fn every_client_route_has_a_test() {
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
    bundle_feed "/client/v1/bundle/feed"
    bundle_supplement "/client/v1/bundle/me"
    jwks "/client/v1/jwks"
    consents "/client/v1/consents"
    customers "/client/v1/customers"
    customer_consents "/client/v1/customers/{customerId}/consents"
    vouchers "/client/v1/vouchers"
}
