//! Decides who calls in tests that ask the service without its host: the key of a server, whose project is in UTC.

use scrip_worker::http::caller::{Caller, Class, Settings};

/// The header with which the host says who calls.
pub fn server() -> (String, String) {
    let settings = Settings {
        name: String::new(),
        time_zone: "UTC".into(),
        currency: "EUR".into(),
        case_sensitive_codes: true,
        charset: None,
        client: true.into(),
        address_header: None,
    };
    let caller = Caller {
        project: "proj_dev".into(),
        class: Class::Server,
        key_id: "dev-app".into(),
        user: None,
        scopes: vec![],
        origin: None,
        channel: None,
        address: None,
        origins: vec![],
        redeem: true,
        publish: scrip_worker::http::publishing::Publishing::Any(true),
        events: true,
        role: None,
        signing: None,
        others: Default::default(),
        rates: Default::default(),
        local: false,
        settings,
    };
    ("scrip-caller".to_owned(), caller.header())
}
