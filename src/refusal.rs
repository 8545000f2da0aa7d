//! Decides every reason for which something is refused: key, status, message and details, in their order of precedence.
//! It must not know what led to a refusal or how an answer carries it.
//!
//! errors-and-auth.md section 3, validation-rules.md sections 8 and 9.

use crate::text::Text;

/// The closed catalogue. Variants of one redeemable stand in the order in which they are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// A thing that is named does not exist.
    NotFound,
    /// The voucher or its campaign is switched off.
    VoucherDisabled,
    /// Before the start date.
    VoucherNotActive,
    /// After the expiration date.
    VoucherExpired,
    /// Outside of a recurring window.
    VoucherNotActiveNow,
    /// No redemption is left, those under other locks counted.
    QuantityExceeded,
    /// Gift parameters on something that is no gift card.
    InvalidGift,
    /// More credits than the card has.
    GiftAmountExceeded,
    /// A rule needs a customer.
    MissingCustomer,
    /// The grant needs an order.
    MissingOrder,
    /// The grant needs an order amount.
    MissingAmount,
    /// The grant needs lines.
    MissingOrderItems,
    /// Gift credits for lines, and no line in scope has an amount.
    MissingOrderItemsAmount,
    /// A rule about the customer does not hold.
    CustomerRulesViolated,
    /// A rule about the order does not hold.
    OrderRulesViolated,
    /// A rule about the redemption does not hold.
    RedemptionRulesViolated,
    /// Nothing of the request could be applied.
    NoApplicableRedeemables,
    /// One redeemable named twice.
    DuplicatedRedeemables,
    /// A combination that is never allowed.
    InvalidRedeemables,
    /// Amounts that cannot be.
    InvalidAmount,
    /// The redemption has been undone before.
    AlreadyRolledBack,
    /// A child of a stack cannot be undone alone.
    InvalidRedemptionParent,
    /// A stack is undone as a whole, and only a success can be.
    InvalidRedemption,
    /// The customer is not the redemption's.
    InvalidCustomer,
    /// The order is not the redemption's.
    InvalidOrder,
}

impl Reason {
    /// Every reason there is.
    pub const ALL: [Reason; 25] = {
        use Reason::*;
        [
            NotFound,
            VoucherDisabled,
            VoucherNotActive,
            VoucherExpired,
            VoucherNotActiveNow,
            QuantityExceeded,
            InvalidGift,
            GiftAmountExceeded,
            MissingCustomer,
            MissingOrder,
            MissingAmount,
            MissingOrderItems,
            MissingOrderItemsAmount,
            CustomerRulesViolated,
            OrderRulesViolated,
            RedemptionRulesViolated,
            NoApplicableRedeemables,
            DuplicatedRedeemables,
            InvalidRedeemables,
            InvalidAmount,
            AlreadyRolledBack,
            InvalidRedemptionParent,
            InvalidRedemption,
            InvalidCustomer,
            InvalidOrder,
        ]
    };

    /// The machine key.
    pub fn key(self) -> &'static str {
        self.texts().0
    }

    /// The text for people; part of the contract.
    pub fn message(self) -> &'static str {
        self.texts().1
    }

    /// The HTTP status.
    pub fn code(self) -> u16 {
        if self == Reason::NotFound { 404 } else { 400 }
    }

    fn texts(self) -> (&'static str, &'static str) {
        match self {
            Reason::NotFound => ("not_found", "Resource not found"),
            Reason::VoucherDisabled => ("voucher_disabled", "voucher is disabled"),
            Reason::VoucherNotActive => ("voucher_not_active", "voucher not active yet"),
            Reason::VoucherExpired => ("voucher_expired", "voucher expired"),
            Reason::VoucherNotActiveNow => ("voucher_not_active_now", "voucher not active now"),
            Reason::QuantityExceeded => ("quantity_exceeded", "quantity exceeded"),
            Reason::InvalidGift => ("invalid_gift", "Invalid gift"),
            Reason::GiftAmountExceeded => ("gift_amount_exceeded", "gift amount exceeded"),
            Reason::MissingCustomer => ("missing_customer", "Missing customer"),
            Reason::MissingOrder => ("missing_order", "Missing order"),
            Reason::MissingAmount => ("missing_amount", "Missing amount"),
            Reason::MissingOrderItems => ("missing_order_items", "Missing order items"),
            Reason::MissingOrderItemsAmount => ("missing_order_items_amount", "Missing applicable order items"),
            Reason::CustomerRulesViolated => ("customer_rules_violated", "customer does not match validation rules"),
            Reason::OrderRulesViolated => ("order_rules_violated", "order does not match validation rules"),
            Reason::RedemptionRulesViolated => {
                ("redemption_rules_violated", "redemption does not match validation rules")
            }
            Reason::NoApplicableRedeemables => ("no_applicable_redeemables", "No applicable redeemables"),
            Reason::DuplicatedRedeemables => ("duplicated_redeemables", "Duplicated redeemables detected"),
            Reason::InvalidRedeemables => ("invalid_redeemables", "Invalid redeemables"),
            Reason::InvalidAmount => ("invalid_amount", "Invalid Amount"),
            Reason::AlreadyRolledBack => ("already_rolled_back", "Already rolled back"),
            Reason::InvalidRedemptionParent => ("invalid_redemption_parent", "Invalid redemption parent"),
            Reason::InvalidRedemption => ("invalid_redemption", "Invalid redemption"),
            Reason::InvalidCustomer => ("invalid_customer", "Invalid customer"),
            Reason::InvalidOrder => ("invalid_order", "Invalid order"),
        }
    }
}

/// One refusal: the reason, and what of the request it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// The longer text; often the code.
    pub details: String,
    /// Type and identifier of the thing it is about.
    pub resource: Option<(&'static str, Text)>,
    /// The text that the author of a rule wrote for it.
    pub custom: Option<String>,
}

impl Refusal {
    /// A refusal with nothing but its details.
    pub fn new(reason: Reason, details: impl Into<String>) -> Refusal {
        Refusal { reason, details: details.into(), resource: None, custom: None }
    }

    /// A thing that does not exist.
    pub fn not_found(resource_type: &'static str, id: &str) -> Refusal {
        Refusal {
            resource: Some((resource_type, Text::from(id))),
            ..Refusal::new(Reason::NotFound, format!("Cannot find {resource_type} with id {id}"))
        }
    }

    /// The same refusal, about this thing.
    pub fn about(mut self, resource_type: &'static str, id: &str) -> Refusal {
        self.resource = Some((resource_type, Text::from(id)));
        self
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
