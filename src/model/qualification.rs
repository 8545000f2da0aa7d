//! Defines a request for a qualification, and its candidates.
//!
//! docs/spec/calculation.md#13.

use crate::count::Countable;
use crate::model::request::Redeemables;
use crate::text::Text;
use crate::time::Instant;

/// The number of results of a page if the request has none.
pub const DEFAULT_LIMIT: u64 = 5;
/// The largest page.
pub const LARGEST_LIMIT: u64 = 100;

/// The scenario of a qualification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scenario {
    /// All redeemables that apply to this customer and order.
    #[default]
    All,
    /// Vouchers of the customer that apply to this order.
    CustomerWallet,
    /// All redeemables that the customer's profile allows, regardless of the order.
    AudienceOnly,
    /// Redeemables that discount or require the products of the order.
    Products,
    /// Redeemables that discount the products of the order.
    ProductsDiscount,
    /// Promotion stacks that apply to this order.
    PromotionStacks,
    /// As `Products`, for redeemables that the customer's profile allows.
    ProductsByCustomer,
    /// As `ProductsDiscount`, for redeemables that the customer's profile allows.
    ProductsDiscountByCustomer,
}

/// The order of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QualificationSort {
    /// The newest first.
    #[default]
    Default,
    /// The largest discount first.
    BestDeal,
    /// The smallest discount first.
    LeastDeal,
}

/// The field of a result that a filter compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QualificationField {
    /// Its category, or its campaign's.
    CategoryId,
    /// Its campaign.
    CampaignId,
    /// The type of its campaign.
    CampaignType,
    /// Its own id.
    ResourceId,
    /// Campaign, voucher, promotion tier or promotion stack.
    ResourceType,
    /// The type of the voucher.
    VoucherType,
    /// A voucher's code.
    Code,
    /// The role of the customer for a voucher.
    HolderRole,
}

/// The comparison of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// The field is one of the values.
    In,
    /// The field is none of the values.
    NotIn,
    /// The field has a value.
    HasValue,
    /// The field has no value.
    IsUnknown,
}

/// One condition on one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualificationFilter {
    /// The field.
    pub field: QualificationField,
    /// The comparison.
    pub compare: Compare,
    /// The values.
    pub values: Vec<Text>,
}

/// The last result of a page: its creation time and, if others have the same, its number among them; otherwise 0. It is
/// written as an instant, with that number after the milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageEnd {
    /// The creation time.
    pub created_at: Instant,
    /// The number among those with this creation time.
    pub ordinal: usize,
}

impl PageEnd {
    /// Returns whether a result has been returned, sorted by age, if this was the last.
    pub fn has_passed(self, result: PageEnd) -> bool {
        let is_up_to = self.ordinal == 0 || result.ordinal <= self.ordinal;
        result.created_at > self.created_at || result.created_at == self.created_at && is_up_to
    }

    /// Parses the text of [`PageEnd::text`]; a plain instant means that all results of that instant have been returned.
    pub fn parse(text: &str) -> Option<PageEnd> {
        let (_, fraction) = text.split_once('.').unwrap_or_default();
        let finer = fraction.get(3..9).and_then(|digits| digits.parse().ok());
        Some(PageEnd { created_at: Instant::parse(text)?, ordinal: finer.unwrap_or_default() })
    }

    /// Returns the text in ISO 8601, UTC.
    pub fn text(self) -> String {
        let mut text = self.created_at.text();
        if self.ordinal > 0 {
            // Six digits at most: the seventh keeps leading zeros.
            let digits = self.ordinal.saturating_add(1_000_000).to_string();
            text.truncate(text.len().remaining_after(1));
            text.extend([digits.get(1..).unwrap_or_default(), "Z"]);
        }
        text
    }
}

/// A request for a qualification.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QualificationRequest {
    /// Customer, order, lock and expansions: all except redeemables.
    pub request: Redeemables,
    /// The scenario.
    pub scenario: Scenario,
    /// The number of results, 1 to [`LARGEST_LIMIT`].
    pub limit: usize,
    /// The cursor after which results start.
    pub starting_after: Option<PageEnd>,
    /// The filters.
    pub filters: Vec<QualificationFilter>,
    /// `true` if one filter is enough.
    pub any_filter: bool,
    /// The order of results.
    pub sorting: QualificationSort,
    /// `true` to include the validation rules of each result.
    pub expand_rules: bool,
    /// `true` to find the stack of results that saves most.
    pub optimise: bool,
}

/// The type of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateObject {
    /// A campaign with a code for each customer: any one of its codes would apply.
    Campaign,
    /// A voucher.
    Voucher,
    /// A tier of a promotion.
    PromotionTier,
    /// A promotion stack.
    PromotionStack,
}

impl CandidateObject {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            CandidateObject::Campaign => "campaign",
            CandidateObject::Voucher => "voucher",
            CandidateObject::PromotionTier => "promotion_tier",
            CandidateObject::PromotionStack => "promotion_stack",
        }
    }
}

/// The data of a candidate, except its grant and validity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its type.
    pub object: CandidateObject,
    /// Its id.
    pub id: Text,
    /// Its name in a request: a voucher's code, otherwise its id.
    pub code: Text,
    /// Its name, if it has one.
    pub name: Option<Text>,
    /// Its creation time.
    pub created_at: Instant,
    /// Its campaign.
    pub campaign_id: Option<Text>,
    /// The type of its campaign, as stored.
    pub campaign_type: Option<Text>,
    /// Its category, or its campaign's.
    pub category_id: Option<Text>,
    /// The type of the voucher, or of the campaign's vouchers, as stored.
    pub voucher_type: Option<Text>,
    /// Its holder.
    pub holder_id: Option<Text>,
    /// Its referrer.
    pub referrer_id: Option<Text>,
    /// `true` if it was passed on to the customer of the request.
    pub passed_on: bool,
    /// `true` if it was published to them; a public code has no holder even then.
    pub published: bool,
    /// `true` if it may be returned to every caller.
    pub public: bool,
}
