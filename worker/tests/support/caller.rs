//! Provides the caller of tests that call the service without its host: a server key whose project is in UTC.

use scrip_worker::http::caller::{Caller, CredentialClass, Settings};

/// The header in which the host describes the caller.
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
        class: CredentialClass::Server,
        key_id: "dev-app".into(),
        secrets: vec![],
        user: None,
        scopes: vec![],
        origin: None,
        channel: None,
        address: None,
        origins: vec![],
        redeem: true,
        publish: scrip_worker::http::client_publication_policy::Publishing::Any(true),
        events: true,
        role: None,
        signing: None,
        others: Default::default(),
        rates: Default::default(),
        expires_at: None,
        local: false,
        settings,
    };
    ("scrip-caller".to_owned(), caller.header())
}
