//! Configuration that is not part of promotions or loyalty: webhooks, users, event schemas, async actions.

use super::members::record;
use serde_json::{Map, Value as Json};

record!("The setup of a project, stored or as a request sends it.", ProjectRecord);
record!("A webhook.", WebhookRecord, as_webhook);
record!("A segment.", SegmentRecord, as_segment);
record!("A user of the management API.", UserRecord, as_user);
record!("A schema of events or metadata.", EventSchemaRecord, as_schema);
record!("The definition of a metadata property.", PropertyRecord);
record!("An async action.", AsyncActionRecord);

impl<'a> WebhookRecord<'a> {
    /// Returns the flag of the webhook.
    pub fn is_active(self) -> Option<bool> {
        self.0.flag("active")
    }

    /// Returns the address; empty if absent.
    pub fn target_url(self) -> &'a str {
        self.0.text("target_url").unwrap_or_default()
    }

    /// Returns the names of the events.
    pub fn events(self) -> impl Iterator<Item = &'a str> {
        self.0.list("events").iter().filter_map(Json::as_str)
    }
}

impl<'a> SegmentRecord<'a> {
    /// Returns the type of segment.
    pub fn segment_type(self) -> Option<&'a str> {
        self.0.text("type")
    }

    /// Returns true if the segment is a list of customers.
    pub fn is_static(self) -> bool {
        self.segment_type() == Some("static")
    }

    /// Returns true if the segment has a filter.
    pub fn has_filter(self) -> bool {
        self.0.value("filter").is_some_and(|filter| !filter.is_null())
    }
}

impl<'a> ProjectRecord<'a> {
    /// Returns the origins of pages.
    pub fn trusted_domains(self) -> impl Iterator<Item = &'a str> {
        self.0.list("client_trusted_domains").iter().filter_map(Json::as_str)
    }

    /// Returns the characters of generated codes.
    pub fn charset(self) -> Option<&'a str> {
        self.0.object("default_code_config").text("charset")
    }

    /// Returns the number of days for which inputs of redemptions are kept; 0 if absent, as a project of an earlier version has it.
    pub fn replay_days(self) -> i64 {
        self.0.number("replay_days").unwrap_or(0)
    }

    /// Returns the rate limits.
    pub fn rate_limits(self) -> Option<&'a Json> {
        self.0.value("rate_limits")
    }

    /// Returns the notifications about use.
    pub fn usage_notifications(self) -> Option<&'a Map<String, Json>> {
        self.0.object("api_usage_notifications").map()
    }
}

impl<'a> UserRecord<'a> {
    /// Returns the login name; empty if absent.
    pub fn login(self) -> &'a str {
        self.0.text("login").unwrap_or_default()
    }

    /// Returns the roles by project.
    pub fn projects(self) -> Option<&'a Map<String, Json>> {
        self.0.object("projects").map()
    }
}

impl<'a> EventSchemaRecord<'a> {
    /// Returns the definitions of an event's members.
    pub fn definitions(self) -> Option<&'a Map<String, Json>> {
        self.0.object("schema").map()
    }

    /// Returns the properties of an event's members.
    pub fn event_properties(self) -> Option<&'a Json> {
        self.0.object("schema").value("properties")
    }

    /// Returns the properties of metadata.
    pub fn properties(self) -> Option<&'a Map<String, Json>> {
        self.0.object("properties").map()
    }
}

impl<'a> PropertyRecord<'a> {
    /// Returns the type of the values; empty if absent.
    pub fn property_type(self) -> &'a str {
        self.0.text("type").unwrap_or_default()
    }

    /// Returns true if the values are lists.
    pub fn is_list(self) -> bool {
        self.0.flag("array") == Some(true)
    }

    /// Returns true if the property was deleted.
    pub fn is_deleted(self) -> bool {
        self.0.flag("deleted") == Some(true)
    }
}

impl<'a> AsyncActionRecord<'a> {
    /// Returns the type of action.
    pub fn action_type(self) -> Option<&'a str> {
        self.0.text("type")
    }
}
