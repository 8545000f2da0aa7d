//! Typed views of documents: the members of each kind that control flow reads, by methods.
//!
//! A view borrows the body of its document. Unknown members stay in the body, and writes go through the body. An absent
//! member, `null` and a value of another type all read as absent. Only amounts differ: one that is unreadable is a fault.

mod campaign;
mod catalogue;
mod customer;
mod earning;
mod export;
mod members;
mod order;
mod payment;
mod points;
mod program;
mod reward;
mod setup;
mod validity;
mod voucher;

pub use campaign::{CampaignRecord, CodeConfig, TemplateRecord, VoucherConfig};
pub use catalogue::{CategoryRecord, CollectionRecord, ObjectReference};
pub use customer::{CustomEventRecord, CustomerRecord, HolderRecord, NamingRecord};
pub use earning::{CampaignTierRecord, EarnedPointsEntry, EarnedPointsRecord, EarningRowRecord, EarningRuleRecord};
pub use export::{ExportParameters, ExportRecord};
pub use members::Members;
pub use order::OrderRecord;
pub use payment::{DigitalResult, OrderSnapshotRecord, PaymentRecord, PaymentRequestRecord, PurchaseRecord};
pub use points::{PENDING_DETAILS, PendingPointsRecord, TransactionDetailsRecord, TransactionRecord};
pub use program::{
    CardRecord, CostRecord, EarningRecord, EntityRecord, IS_ANNOUNCED, ProgramRewardRecord, ProgramRuleRecord,
    RuleTestRecord, TierConditionsRecord, TierRequirementRecord, TierStateRecord,
};
pub use reward::{AssignmentRecord, ReferralGrantRecord, RewardAssignmentRecord, RewardContentRecord, RewardRecord};
pub use setup::{
    AsyncActionRecord, EventSchemaRecord, ProjectRecord, PropertyRecord, SegmentRecord, UserRecord, WebhookRecord,
};
pub use validity::{PointsRecord, ValidityRecord};
pub use voucher::{DiscountRecord, PromotionTierRecord, PublicationRecord, RedemptionRecord, VoucherRecord};
