//! Customers and the holders of referral codes.

use super::members::record;
use serde_json::{Map, Value as Json};

record!("A customer, or a request that names one.", CustomerRecord, as_customer);
record!("A custom event, as a request sends one.", CustomEventRecord);
record!("A customer's relation to a referral code.", HolderRecord, as_holder);
record!("An object that may be a customer, or name one.", NamingRecord);

impl<'a> NamingRecord<'a> {
    /// Returns the ID.
    pub fn id(self) -> Option<&'a str> {
        self.0.text("id")
    }

    /// Returns the ID of the customer concerned.
    pub fn customer_id(self) -> Option<&'a str> {
        self.0.text("customer_id")
    }

    /// Returns the ID in the caller's own system.
    pub fn source_id(self) -> Option<&'a str> {
        self.0.text("source_id")
    }

    /// Returns the kind of object.
    pub fn object(self) -> Option<&'a str> {
        self.0.text("object")
    }
}

impl<'a> CustomerRecord<'a> {
    /// Returns the ID.
    pub fn id(self) -> Option<&'a str> {
        self.0.text("id")
    }

    /// Returns the ID in the caller's own system.
    pub fn source_id(self) -> Option<&'a str> {
        self.0.text("source_id")
    }

    /// Returns the name, which may be `null`.
    pub fn name(self) -> Option<&'a Json> {
        self.0.value("name")
    }

    /// Returns the e-mail address.
    pub fn email(self) -> Option<&'a str> {
        self.0.text("email")
    }

    /// Returns the e-mail address as it is written, which may be `null`.
    pub fn email_value(self) -> Option<&'a Json> {
        self.0.value("email")
    }

    /// Returns the metadata, which may be `null` in a request.
    pub fn metadata(self) -> Option<&'a Json> {
        self.0.value("metadata")
    }

    /// Returns the members whose values may identify the customer.
    pub fn identifying_members(self) -> impl Iterator<Item = &'a Json> {
        let names = ["name", "description", "email", "phone", "birthday", "birthdate", "address", "metadata"];
        names.into_iter().filter_map(move |name| self.0.value(name))
    }

    /// Returns the referral campaigns in which the customer took part.
    pub fn referral_campaigns(self) -> &'a [Json] {
        self.0.object("referrals").list("campaigns")
    }
}

impl<'a> CustomEventRecord<'a> {
    /// Returns the name of the event; empty if absent.
    pub fn event(self) -> &'a str {
        self.0.text("event").unwrap_or_default()
    }

    /// Returns the customer.
    pub fn customer(self) -> Option<&'a Map<String, Json>> {
        self.0.object("customer").map()
    }

    /// Returns true if the event names a referral code.
    pub fn has_referral(self) -> bool {
        self.0.value("referral").is_some()
    }

    /// Returns the referral code; empty if absent.
    pub fn referral_code(self) -> &'a str {
        self.0.object("referral").text("code").unwrap_or_default()
    }

    /// Returns the ID of the customer who passed the code on.
    pub fn referrer_id(self) -> Option<&'a str> {
        self.0.object("referral").text("referrer_id")
    }

    /// Returns the code of the loyalty card.
    pub fn card_code(self) -> Option<&'a str> {
        self.0.object("loyalty").text("code")
    }
}

impl<'a> HolderRecord<'a> {
    /// Returns the role: `REFERRER` or `REFEREE`.
    pub fn role(self) -> Option<&'a str> {
        self.0.text("holder_role")
    }
}
