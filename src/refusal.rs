//! Decides every reason for which something is refused: key, status, message and details, in their order of precedence.
//! It must not know what led to a refusal or how an answer carries it.
//!
//! errors-and-auth.md section 3, validation-rules.md sections 8 and 9.

use std::borrow::Cow;
use std::ops::Deref;

use crate::text::{Text, joined};

pub mod why;

pub use why::{Act, Change, Why};

macro_rules! catalogue {
    ($($(#[$note:meta])* $reason:ident: $code:literal, $key:literal, $message:literal,)*) => {
        /// The closed catalogue, a row each: HTTP status, key, message. What one redeemable can be refused for stands in the
        /// order in which it is checked.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason {
            $($(#[$note])* $reason,)*
        }

        impl Reason {
            /// Every reason there is.
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
    /// A thing that is named does not exist.
    NotFound: 404, "not_found", "Resource not found",
    /// A document that it takes to decide is there and cannot be read.
    Unreadable: 400, "unreadable_document", "Document cannot be read",
    /// The voucher or its campaign is switched off.
    VoucherDisabled: 400, "voucher_disabled", "voucher is disabled",
    /// Before the start date.
    VoucherNotActive: 400, "voucher_not_active", "voucher not active yet",
    /// After the expiration date.
    VoucherExpired: 400, "voucher_expired", "voucher expired",
    /// Outside of a recurring window.
    VoucherNotActiveNow: 400, "voucher_not_active_now", "voucher not active now",
    /// The tier or its promotion is switched off.
    PromotionInactive: 400, "promotion_inactive", "Inactive Promotion",
    /// Outside of the tier's or the promotion's time.
    PromotionNotActiveNow: 400, "promotion_not_active_now", "promotion not active now",
    /// Whoever was given a referral code uses it.
    ReferrerNotPermittedToRedeem: 400, "referrer_not_permitted_to_redeem", "voucher cannot be redeemed by referrer",
    /// No redemption is left, those under other locks counted.
    QuantityExceeded: 400, "quantity_exceeded", "quantity exceeded",
    /// Gift parameters on something that is no gift card.
    InvalidGift: 400, "invalid_gift", "Invalid gift",
    /// More credits than the card has.
    GiftAmountExceeded: 400, "gift_amount_exceeded", "gift amount exceeded",
    /// A loyalty card without a reward to exchange its points for.
    MissingReward: 400, "missing_reward", "Missing reward",
    /// The customer does not hold the loyalty card.
    NotTheHolder: 400, "invalid_customer", "Customer must be a holder of a loyalty card.",
    /// More points than the card has.
    LoyaltyCardPointsExceeded: 400, "loyalty_card_points_exceeded", "loyalty card points exceeded",
    /// None of the goods is left.
    RewardOutOfStock: 400, "reward_out_of_stock", "Cannot purchase reward when stock is not available",
    /// No code of the campaign is left that a reward could be.
    NoCodeLeft: 400, "no_voucher_suitable_for_publication", "Couldn't find any voucher suitable for publication",
    /// A rule needs a customer.
    MissingCustomer: 400, "missing_customer", "Missing customer",
    /// The grant needs an order.
    MissingOrder: 400, "missing_order", "Missing order",
    /// The grant needs an order amount.
    MissingAmount: 400, "missing_amount", "Missing amount",
    /// The grant needs lines.
    MissingOrderItems: 400, "missing_order_items", "Missing order items",
    /// Gift credits for lines, and no line in scope has an amount.
    MissingOrderItemsAmount: 400, "missing_order_items_amount", "Missing applicable order items",
    /// A rule about the customer does not hold.
    CustomerRulesViolated: 400, "customer_rules_violated", "customer does not match validation rules",
    /// The rule that a code is for whom it was published to does not hold: in the words of the customer's rules, and about the code.
    NotPublishedTo: 400, "customer_rules_violated", "customer does not match validation rules",
    /// A rule about the order does not hold.
    OrderRulesViolated: 400, "order_rules_violated", "order does not match validation rules",
    /// A rule about the redemption does not hold.
    RedemptionRulesViolated: 400, "redemption_rules_violated", "redemption does not match validation rules",
    /// Nothing of the request could be applied.
    NoApplicableRedeemables: 400, "no_applicable_redeemables", "No applicable redeemables",
    /// The request takes more work than one may.
    TooMuchWork: 400, "request_too_complex", "Request takes too much work",
    /// One redeemable named twice.
    DuplicatedRedeemables: 400, "duplicated_redeemables", "Duplicated redeemables detected",
    /// A combination that is never allowed.
    InvalidRedeemables: 400, "invalid_redeemables", "Invalid redeemables",
    /// Two names that mean two things.
    DuplicateFound: 409, "duplicate_found", "Duplicated resource found",
    /// Amounts that cannot be.
    InvalidAmount: 400, "invalid_amount", "Invalid Amount",
    /// The redemption has been undone before.
    AlreadyRolledBack: 400, "already_rolled_back", "Already rolled back",
    /// A child of a stack cannot be undone alone.
    InvalidRedemptionParent: 400, "invalid_redemption_parent", "Invalid redemption parent",
    /// A stack is undone as a whole, and only a success can be.
    InvalidRedemption: 400, "invalid_redemption", "Invalid redemption",
    /// The customer is not the redemption's.
    InvalidCustomer: 400, "invalid_customer", "Invalid customer",
    /// The order is not the redemption's.
    InvalidOrder: 400, "invalid_order", "Invalid order",
    /// What whoever asks may not ask.
    InvalidPayload: 400, "invalid_payload", "Invalid payload",
}

impl Reason {
    /// The machine key.
    pub fn key(self) -> &'static str {
        self.row().1
    }

    /// The text for people; part of the contract.
    pub fn message(self) -> &'static str {
        self.row().2
    }

    /// The HTTP status.
    pub fn code(self) -> u16 {
        self.row().0
    }
}

/// One refusal: the reason, and what of the request it is about. It is one pointer, because whatever is decided can be
/// this instead, and every decision hands it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(Box<Refused>);

/// What a [`Refusal`] says. That of a rule, which nearly all are, is short; its longer text is made when it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub reason: Reason,
    /// The longer text, or the id of the rule that is violated.
    details: Text,
    /// The kind of redeemable that has the rule; empty when it is no rule.
    rule_of: &'static str,
    more: Option<Box<More>>,
}

/// What few refusals say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct More {
    resource: Option<(&'static str, Text)>,
    custom: Option<String>,
    why: Option<Why>,
}

impl Deref for Refusal {
    type Target = Refused;

    fn deref(&self) -> &Refused {
        &self.0
    }
}

impl Refusal {
    /// A refusal with nothing but its details.
    #[inline]
    pub fn new(reason: Reason, details: impl Into<Text>) -> Refusal {
        Refusal::said(reason, details.into(), "")
    }

    /// A rule of this id that a kind of redeemable has, and that is violated; `unanswered` names the test that nothing which
    /// is redeemed can answer, where it is because of that.
    #[inline]
    pub fn violated(reason: Reason, kind: &'static str, rule: &Text, unanswered: Option<&'static str>) -> Refusal {
        match unanswered {
            None => Refusal::said(reason, rule.clone(), kind),
            Some(test) => {
                let only_earning = joined(&[rule, ", in which only earning can answer `", test, "`"]);
                Refusal::said(reason, only_earning, kind)
            }
        }
    }

    #[inline(never)]
    fn said(reason: Reason, details: Text, rule_of: &'static str) -> Refusal {
        Refusal(Box::new(Refused { reason, details, rule_of, more: None }))
    }

    /// A thing that does not exist.
    #[cold]
    #[inline(never)]
    pub fn not_found(resource_type: &'static str, id: &str) -> Refusal {
        let details = joined(&["Cannot find ", resource_type, " with id ", id]);
        Refusal::new(Reason::NotFound, details).about(resource_type, id)
    }

    /// A thing that is named by an id that nothing has, and by a `source_id` that another one has.
    #[cold]
    #[inline(never)]
    pub fn taken(resource_type: &'static str, source_id: &str) -> Refusal {
        let details = joined(&["Duplicated ", resource_type, " exists with id ", source_id]);
        Refusal::new(Reason::DuplicateFound, details).about(resource_type, source_id)
    }

    /// A thing that is there and whose document cannot be read.
    #[cold]
    #[inline(never)]
    pub fn unreadable(resource_type: &str, id: &str) -> Refusal {
        Refusal::new(Reason::Unreadable, joined(&["Cannot read ", resource_type, " with id ", id]))
    }

    /// The same refusal, about this thing.
    #[cold]
    #[inline(never)]
    pub fn about(mut self, resource_type: &'static str, id: &str) -> Refusal {
        self.more().resource = Some((resource_type, Text::from(id)));
        self
    }

    /// The same refusal, with what the author of a rule wrote for it.
    #[inline]
    pub fn worded(self, custom: Option<&str>) -> Refusal {
        match custom {
            Some(custom) => self.worded_so(custom),
            None => self,
        }
    }

    #[inline(never)]
    fn worded_so(mut self, custom: &str) -> Refusal {
        self.more().custom = Some(custom.to_owned());
        self
    }

    /// The same refusal, with the test that failed.
    #[inline(never)]
    pub fn because(mut self, why: Why) -> Refusal {
        self.more().why = Some(why);
        self
    }

    #[inline(never)]
    fn more(&mut self) -> &mut More {
        self.0.more.get_or_insert_default()
    }
}

impl Refused {
    /// The longer text; often the code.
    pub fn details(&self) -> Cow<'_, str> {
        match self.rule_of {
            "" => Cow::Borrowed(&self.details),
            kind => {
                Cow::Owned([kind, " cannot be redeemed because of violated validation rules: ", &self.details].concat())
            }
        }
    }

    /// Type and identifier of the thing it is about.
    pub fn resource(&self) -> Option<(&'static str, &Text)> {
        self.more.as_ref()?.resource.as_ref().map(|(kind, id)| (*kind, id))
    }

    /// The text that the author of a rule wrote for it.
    pub fn custom(&self) -> Option<&str> {
        self.more.as_ref()?.custom.as_deref()
    }

    /// Which test of a rule failed; only there when a trace was asked for.
    pub fn why(&self) -> Option<&Why> {
        self.more.as_ref()?.why.as_ref()
    }
}

/// Why a redeemable was left out without being at fault (calculation.md section 11.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// Enough are applied.
    Limit,
    /// Enough of its category are applied.
    CategoryLimit,
    /// Enough exclusive ones are applied.
    ExclusiveLimit,
    /// Enough exclusive ones of its category are applied.
    ExclusiveCategoryLimit,
    /// An exclusive one is present, and this is neither exclusive nor joint.
    Exclusion,
    /// Mode ALL, and one before it failed.
    PrecedingFailure,
    /// It would grant nothing.
    NoEffect,
    /// Only the server knows it; ours, for decisions made from a bundle.
    Undecided,
}

impl Skip {
    /// The machine key.
    pub fn key(self) -> &'static str {
        self.texts().0
    }

    /// The text for people.
    pub fn message(self) -> &'static str {
        self.texts().1
    }

    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Skip::Limit => ("applicable_redeemables_limit_exceeded", "Applicable redeemables limit exceeded"),
            Skip::CategoryLimit => (
                "applicable_redeemables_per_category_limit_exceeded",
                "Applicable redeemables limit per category exceeded",
            ),
            Skip::ExclusiveLimit => {
                ("applicable_exclusive_redeemables_limit_exceeded", "Applicable exclusive redeemables limit exceeded")
            }
            Skip::ExclusiveCategoryLimit => (
                "applicable_exclusive_redeemables_per_category_limit_exceeded",
                "Applicable exclusive redeemables limit per category exceeded",
            ),
            Skip::Exclusion => ("exclusion_rules_not_met", "Redeemable cannot be applied due to exclusion rules"),
            Skip::PrecedingFailure => {
                ("preceding_validation_failed", "Redeemable cannot be applied due to preceding validation failure")
            }
            Skip::NoEffect => ("no_effect", "Redeemable cannot be applied due to no effect"),
            Skip::Undecided => ("known_to_server_only", "Redeemable is known to the server only"),
        }
    }
}
