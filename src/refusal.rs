//! Defines the closed catalogue of refusals: key, status, message and details, in their order of precedence.
//!
//! docs/spec/errors-and-auth.md#3, docs/spec/validation-rules.md sections 8 and 9.

use std::borrow::Cow;
use std::ops::Deref;

use crate::text::Text;

pub mod why;

pub use why::{Remedy, RemedyAction, RuleExplanation};

macro_rules! catalogue {
    ($($(#[$note:meta])* $reason:ident: $code:literal, $key:literal, $message:literal,)*) => {
        /// The closed catalogue, one row each: HTTP status, key, message. Reasons against one redeemable are in the
        /// order in which they are checked.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason {
            $($(#[$note])* $reason,)*
        }

        impl Reason {
            /// All reasons.
            pub const ALL: &[Reason] = &[$(Reason::$reason,)*];

            fn row(self) -> (u16, &'static str, &'static str) {
                match self {
                    $(Reason::$reason => ($code, $key, $message),)*
                }
            }
        }
    };
}

catalogue! {
    /// A named object does not exist.
    NotFound: 404, "not_found", "Resource not found",
    /// A document that the decision needs is stored and cannot be read.
    Unreadable: 400, "unreadable_document", "Document cannot be read",
    /// The voucher or its campaign is not active.
    VoucherDisabled: 400, "voucher_disabled", "voucher is disabled",
    /// Before the start date.
    VoucherNotActive: 400, "voucher_not_active", "voucher not active yet",
    /// After the expiration date.
    VoucherExpired: 400, "voucher_expired", "voucher expired",
    /// Outside a recurring window.
    VoucherNotActiveNow: 400, "voucher_not_active_now", "voucher not active now",
    /// The tier or its promotion is not active.
    PromotionInactive: 400, "promotion_inactive", "Inactive Promotion",
    /// Outside the validity of the tier or the promotion.
    PromotionNotActiveNow: 400, "promotion_not_active_now", "promotion not active now",
    /// The referrer uses their own referral code.
    ReferrerNotPermittedToRedeem: 400, "referrer_not_permitted_to_redeem", "voucher cannot be redeemed by referrer",
    /// No redemption is left, less other locks.
    QuantityExceeded: 400, "quantity_exceeded", "quantity exceeded",
    /// Gift parameters on a redeemable that is no gift card.
    InvalidGift: 400, "invalid_gift", "Invalid gift",
    /// More credits than the card has.
    GiftAmountExceeded: 400, "gift_amount_exceeded", "gift amount exceeded",
    /// A loyalty card without a reward to exchange its points for.
    MissingReward: 400, "missing_reward", "Missing reward",
    /// The customer is not the holder of the loyalty card.
    NotTheHolder: 400, "invalid_customer", "Customer must be a holder of a loyalty card.",
    /// More points than the card has.
    LoyaltyCardPointsExceeded: 400, "loyalty_card_points_exceeded", "loyalty card points exceeded",
    /// The stock of the goods is used up.
    RewardOutOfStock: 400, "reward_out_of_stock", "Cannot purchase reward when stock is not available",
    /// The campaign of the reward has no code left.
    NoCodeLeft: 400, "no_voucher_suitable_for_publication", "Couldn't find any voucher suitable for publication",
    /// A rule needs a customer.
    MissingCustomer: 400, "missing_customer", "Missing customer",
    /// The grant needs an order.
    MissingOrder: 400, "missing_order", "Missing order",
    /// The grant needs an order amount.
    MissingAmount: 400, "missing_amount", "Missing amount",
    /// The grant needs lines.
    MissingOrderItems: 400, "missing_order_items", "Missing order items",
    /// Gift credits for items without an eligible line in scope.
    MissingOrderItemsAmount: 400, "missing_order_items_amount", "Missing applicable order items",
    /// A rule about the customer fails.
    CustomerRulesViolated: 400, "customer_rules_violated", "customer does not match validation rules",
    /// The rule that limits a code to the customer it was published to fails: with the key of customer rules, about the
    /// code.
    NotPublishedTo: 400, "customer_rules_violated", "customer does not match validation rules",
    /// A rule about the order fails.
    OrderRulesViolated: 400, "order_rules_violated", "order does not match validation rules",
    /// A rule about the redemption fails.
    RedemptionRulesViolated: 400, "redemption_rules_violated", "redemption does not match validation rules",
    /// The free units are of goods that neither the catalogue nor the order has.
    FreeGoodsNotFound: 400, "free_product_not_found", "Free product not found",
    /// A redeemable gives free units, and a return that decides it again grants none.
    FreeUnitsNotRechecked: 400, "free_units_not_rechecked", "Free units are not decided again",
    /// No redeemable of the request could be applied.
    NoApplicableRedeemables: 400, "no_applicable_redeemables", "No applicable redeemables",
    /// The request takes more steps than one decision may.
    TooMuchWork: 400, "request_too_complex", "Request takes too much work",
    /// One redeemable is named twice.
    DuplicatedRedeemables: 400, "duplicated_redeemables", "Duplicated redeemables detected",
    /// A combination that is never allowed.
    InvalidRedeemables: 400, "invalid_redeemables", "Invalid redeemables",
    /// Two names identify different objects.
    DuplicateFound: 409, "duplicate_found", "Duplicated resource found",
    /// Amounts are out of bounds.
    InvalidAmount: 400, "invalid_amount", "Invalid Amount",
    /// The redemption was rolled back before.
    AlreadyRolledBack: 400, "already_rolled_back", "Already rolled back",
    /// A child of a stack cannot be rolled back separately.
    InvalidRedemptionParent: 400, "invalid_redemption_parent", "Invalid redemption parent",
    /// A stack is rolled back as a whole, and only after success.
    InvalidRedemption: 400, "invalid_redemption", "Invalid redemption",
    /// The customer is not the redemption's.
    InvalidCustomer: 400, "invalid_customer", "Invalid customer",
    /// The order is not the redemption's.
    InvalidOrder: 400, "invalid_order", "Invalid order",
    /// The caller must not send this value.
    InvalidPayload: 400, "invalid_payload", "Invalid payload",
}

impl Reason {
    /// Returns the machine-readable key.
    pub fn key(self) -> &'static str {
        self.row().1
    }

    /// Returns the message for people; part of the contract.
    pub fn message(self) -> &'static str {
        self.row().2
    }

    /// Returns the HTTP status.
    pub fn code(self) -> u16 {
        self.row().0
    }
}

/// One refusal: the reason, and its details. It has the size of one pointer, because most decisions can return and pass
/// it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(Box<RefusalText>);

/// The content of a [`Refusal`]. That of a rule, the most common one, is short; its longer text is built when it is
/// written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalText {
    /// The reason.
    pub reason: Reason,
    /// The longer text, or the id of the violated rule.
    details: Text,
    /// The type of redeemable that has the rule; empty without a rule.
    rule_of: &'static str,
    more: Option<Box<RefusalExtras>>,
}

/// The rare parts of a refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct RefusalExtras {
    resource: Option<(&'static str, Text)>,
    custom: Option<String>,
    why: Option<RuleExplanation>,
}

impl Deref for Refusal {
    type Target = RefusalText;

    fn deref(&self) -> &RefusalText {
        &self.0
    }
}

impl Refusal {
    /// Returns a refusal with only its details.
    #[inline]
    pub fn new(reason: Reason, details: impl Into<Text>) -> Refusal {
        Refusal::with_text(reason, details.into(), "")
    }

    /// Returns the refusal of a violated rule, for the type of redeemable that has it. `unanswered` names the test, if
    /// any, that never passes for a redemption.
    #[inline]
    pub fn violated(reason: Reason, kind: &'static str, rule: &Text, unanswered: Option<&'static str>) -> Refusal {
        match unanswered {
            None => Refusal::with_text(reason, rule.clone(), kind),
            Some(test) => {
                let only_earning = format!("{rule}, in which only earning can answer `{test}`").into();
                Refusal::with_text(reason, only_earning, kind)
            }
        }
    }

    #[inline(never)]
    fn with_text(reason: Reason, details: Text, rule_of: &'static str) -> Refusal {
        Refusal(Box::new(RefusalText { reason, details, rule_of, more: None }))
    }

    /// Replaces a code by its name in the request, if the details are that code.
    #[must_use]
    pub fn with_requested_name(mut self, code: &Text, name: &Text) -> Refusal {
        if self.0.rule_of.is_empty() && self.0.details == *code {
            self.0.details = name.clone();
        }
        self
    }

    /// Returns the refusal of an object that does not exist.
    #[cold]
    #[inline(never)]
    pub fn not_found(resource_type: &'static str, id: &str) -> Refusal {
        let details = format!("Cannot find {resource_type} with id {id}");
        Refusal::new(Reason::NotFound, details).with_resource(resource_type, id)
    }

    /// Returns the refusal of an object whose id does not exist and whose `source_id` belongs to another one.
    #[cold]
    #[inline(never)]
    pub fn duplicate(resource_type: &'static str, source_id: &str) -> Refusal {
        let details = format!("Duplicated {resource_type} exists with id {source_id}");
        Refusal::new(Reason::DuplicateFound, details).with_resource(resource_type, source_id)
    }

    /// Returns the refusal of an object whose stored document cannot be read.
    #[cold]
    #[inline(never)]
    pub fn unreadable(resource_type: &str, id: &str) -> Refusal {
        Refusal::new(Reason::Unreadable, format!("Cannot read {resource_type} with id {id}"))
    }

    /// Amounts or counts that add up to more than can be held.
    #[cold]
    #[inline(never)]
    pub fn out_of_bounds() -> Refusal {
        let details = ["Amounts or counts add up to more than ", &crate::money::LARGEST.to_string()];
        Refusal::new(Reason::InvalidAmount, details.concat())
    }

    /// Sets the object of the refusal.
    #[cold]
    #[inline(never)]
    pub fn with_resource(mut self, resource_type: &'static str, id: &str) -> Refusal {
        self.more().resource = Some((resource_type, Text::from(id)));
        self
    }

    /// Sets the custom message of a rule.
    #[inline]
    pub fn with_message(self, custom: Option<&str>) -> Refusal {
        match custom {
            Some(custom) => self.set_message(custom),
            None => self,
        }
    }

    #[inline(never)]
    fn set_message(mut self, custom: &str) -> Refusal {
        self.more().custom = Some(custom.to_owned());
        self
    }

    /// Sets the explanation of the failed test.
    #[inline(never)]
    pub fn with_explanation(mut self, why: RuleExplanation) -> Refusal {
        self.more().why = Some(why);
        self
    }

    #[inline(never)]
    fn more(&mut self) -> &mut RefusalExtras {
        self.0.more.get_or_insert_default()
    }
}

impl RefusalText {
    /// Returns the longer text; often the code.
    pub fn details(&self) -> Cow<'_, str> {
        match self.rule_of {
            "" => Cow::Borrowed(&self.details),
            kind => {
                Cow::Owned(format!("{kind} cannot be redeemed because of violated validation rules: {}", self.details))
            }
        }
    }

    /// Returns type and identifier of the object.
    pub fn resource(&self) -> Option<(&'static str, &Text)> {
        self.more.as_ref()?.resource.as_ref().map(|(kind, id)| (*kind, id))
    }

    /// Returns the custom message of the rule.
    pub fn custom_message(&self) -> Option<&str> {
        self.more.as_ref()?.custom.as_deref()
    }

    /// Returns the explanation of the failed test; only present if a trace was requested.
    pub fn explanation(&self) -> Option<&RuleExplanation> {
        self.more.as_ref()?.why.as_ref()
    }
}

/// The reason why a redeemable was skipped without a refusal (docs/spec/calculation.md#11.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// The limit of applied redeemables is reached.
    Limit,
    /// The limit of its category is reached.
    CategoryLimit,
    /// The limit of exclusive ones is reached.
    ExclusiveLimit,
    /// The limit of exclusive ones of its category is reached.
    ExclusiveCategoryLimit,
    /// An exclusive one is present, and this is neither exclusive nor joint.
    Exclusion,
    /// Mode ALL, and an earlier one failed.
    PrecedingFailure,
    /// It has no effect.
    NoEffect,
    /// Only the server knows it; an addition to the contract, for decisions from a bundle.
    Undecided,
}

impl SkipReason {
    /// Returns the machine-readable key.
    pub fn key(self) -> &'static str {
        self.texts().0
    }

    /// Returns the message for people.
    pub fn message(self) -> &'static str {
        self.texts().1
    }

    fn texts(self) -> (&'static str, &'static str) {
        match self {
            SkipReason::Limit => ("applicable_redeemables_limit_exceeded", "Applicable redeemables limit exceeded"),
            SkipReason::CategoryLimit => (
                "applicable_redeemables_per_category_limit_exceeded",
                "Applicable redeemables limit per category exceeded",
            ),
            SkipReason::ExclusiveLimit => {
                ("applicable_exclusive_redeemables_limit_exceeded", "Applicable exclusive redeemables limit exceeded")
            }
            SkipReason::ExclusiveCategoryLimit => (
                "applicable_exclusive_redeemables_per_category_limit_exceeded",
                "Applicable exclusive redeemables limit per category exceeded",
            ),
            SkipReason::Exclusion => ("exclusion_rules_not_met", "Redeemable cannot be applied due to exclusion rules"),
            SkipReason::PrecedingFailure => {
                ("preceding_validation_failed", "Redeemable cannot be applied due to preceding validation failure")
            }
            SkipReason::NoEffect => ("no_effect", "Redeemable cannot be applied due to no effect"),
            SkipReason::Undecided => ("known_to_server_only", "Redeemable is known to the server only"),
        }
    }
}
