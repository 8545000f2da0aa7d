//! Observation of the decision of a redemption, while the redemption is repeated.

use scrip::decide::{Decision, RedemptionDecision};
use scrip::model::request::Redeemables;
use scrip::refusal::Refusal;

/// A decided redemption, or the refusal of the whole request.
pub type DecidedRedemption<'d> = Result<Decision<RedemptionDecision<'d>>, Refusal>;

/// Function that receives the request and the decision of a redemption.
pub type DecisionObserver<'c> = &'c (dyn for<'d> Fn(&Redeemables, &DecidedRedemption<'d>) + 'c);
