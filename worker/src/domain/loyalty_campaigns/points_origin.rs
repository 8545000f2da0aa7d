//! The origin of points of a loyalty campaign (v1): the rule that granted them, and the event that it answers.

use crate::store::document::Document;
use scrip::decide::earn::EarningEvent;
use serde_json::{Value as Json, json};

/// Origin of earned points, as their transactions contain it.
#[derive(Debug, Clone, Default)]
pub struct PointsOrigin {
    /// Earning rule that granted them; `None` when it was deleted.
    pub rule: Option<OriginRule>,
    /// Event that the rule answers.
    pub event: Option<OriginEvent>,
    /// Tier of the holder before the points were earned.
    pub tier: Option<OriginTier>,
}

/// Earning rule of points.
#[derive(Debug, Clone)]
pub struct OriginRule {
    id: String,
    /// Text that the rule contains to customers.
    banner: Option<Json>,
}

/// Event that earns points.
#[derive(Debug, Clone)]
pub enum OriginEvent {
    /// An order was paid.
    Order {
        /// Its id.
        id: Option<String>,
        /// Its identifier by the caller.
        source_id: Option<String>,
    },
    /// A custom event was received.
    EventSchema {
        /// Id of its schema.
        id: Option<String>,
        /// Its name.
        name: Option<String>,
    },
    /// The customer entered a segment.
    Segment {
        /// Its id.
        id: Option<String>,
    },
}

/// Tier of a card's holder.
#[derive(Debug, Clone)]
pub struct OriginTier {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
}

impl PointsOrigin {
    /// Returns the origin of points that a rule grants for an event.
    pub fn of(rule: &Document, event: EarningEvent<'_>) -> PointsOrigin {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let record = rule.as_earning_rule();
        let event = match event {
            EarningEvent::OrderPaid(order) => {
                OriginEvent::Order { id: owned(order.id.as_deref()), source_id: owned(order.source_id.as_deref()) }
            }
            EarningEvent::CustomEvent { schema_id, .. } => {
                OriginEvent::EventSchema { id: owned(schema_id), name: owned(record.event()) }
            }
            EarningEvent::SegmentEntered(id) => OriginEvent::Segment { id: owned(id) },
        };
        let rule = OriginRule { id: rule.id.clone(), banner: record.banner().cloned() };
        PointsOrigin { rule: Some(rule), event: Some(event), tier: None }
    }

    /// Returns the origin of points of an order whose rule is not known any more.
    pub fn of_order(id: &str) -> PointsOrigin {
        let event = OriginEvent::Order { id: Some(id.to_owned()), source_id: None };
        PointsOrigin { event: Some(event), ..PointsOrigin::default() }
    }

    /// Returns the id of the order that earned the points.
    pub fn order_id(&self) -> Option<&str> {
        match &self.event {
            Some(OriginEvent::Order { id, .. }) => id.as_deref(),
            Some(OriginEvent::EventSchema { .. } | OriginEvent::Segment { .. }) | None => None,
        }
    }

    /// Returns the details of a transaction: the origin, and a member of the transaction's own.
    pub fn details_with(&self, name: &str, own: Json) -> Json {
        let rule = self.rule.as_ref().map(|rule| {
            let source = rule.banner.as_ref().map_or(json!({}), |banner| json!({ "banner": banner }));
            ("earning_rule", json!({ "id": rule.id, "source": source }))
        });
        let event = self.event.as_ref().map(|event| match event {
            OriginEvent::Order { id, source_id } => ("order", json!({ "id": id, "source_id": source_id })),
            OriginEvent::EventSchema { id, name } => ("event_schema", json!({ "id": id, "name": name })),
            OriginEvent::Segment { id } => ("segment", json!({ "id": id })),
        });
        let tier = self.tier.as_ref();
        let tier = tier.map(|tier| ("holder_loyalty_tier", json!({ "id": tier.id, "name": tier.name })));
        let members = [rule, event, tier, Some((name, own))];
        members.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
