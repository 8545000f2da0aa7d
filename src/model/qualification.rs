//! Decides what a request to qualify can say, and what is known of everything that may be found. It must not know JSON
//! or what qualifies.
//!
//! calculation.md section 13.

use crate::model::request::Redeemables;
use crate::text::Text;
use crate::time::Instant;

/// How many results one page has when the request does not say, and at most.
pub const DEFAULT_LIMIT: u64 = 5;
/// The largest page.
pub const LARGEST_LIMIT: u64 = 50;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scenario {
    /// Whatever works for this customer and order.
    #[default]
    All,
    /// Vouchers of the customer that work for this order.
    CustomerWallet,
    /// Whatever the customer's profile allows, whatever the order.
    AudienceOnly,
    /// What discounts the products of the order or asks for them.
    Products,
    /// What discounts the products of the order.
    ProductsDiscount,
    /// Stacks of promotion tiers that work for this order.
    PromotionStacks,
    /// As `Products`, for what the customer's profile allows.
    ProductsByCustomer,
    /// As `ProductsDiscount`, for what the customer's profile allows.
    ProductsDiscountByCustomer,
}

/// In which order results come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortingRule {
    /// The newest first.
    #[default]
    Default,
    /// The largest discount first.
    BestDeal,
    /// The smallest discount first.
    LeastDeal,
}

/// What of a result is compared by a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Its category, or its campaign's.
    CategoryId,
    /// Its campaign.
    CampaignId,
    /// What its campaign is made of.
    CampaignType,
    /// Its own id.
    ResourceId,
    /// Campaign, voucher or tier.
    ResourceType,
    /// What kind of voucher it is.
    VoucherType,
    /// A voucher's code.
    Code,
    /// What the customer is to a voucher.
    HolderRole,
}

/// How a filter compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// It is one of them.
    In,
    /// It is none of them.
    NotIn,
    /// It says anything at all.
    HasValue,
    /// It says nothing.
    IsUnknown,
}

/// One condition on one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// What is compared.
    pub field: Field,
    /// How.
    pub compare: Compare,
    /// With what.
    pub values: Vec<Text>,
}

/// The last result of a page: the moment at which it was created and, where others of that moment follow it, how many of them there have
/// been, it among them; otherwise 0. It is written as a moment, with their number behind the milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageEnd {
    /// When it was created.
    pub created_at: Instant,
    /// How many of that moment have been shown.
    pub of_moment: usize,
}

impl PageEnd {
    /// Reads what [`PageEnd::text`] writes; any moment says that all of it have been shown.
    pub fn parse(text: &str) -> Option<PageEnd> {
        let (_, fraction) = text.split_once('.').unwrap_or_default();
        let finer = fraction.get(3..9).and_then(|digits| digits.parse().ok());
        Some(PageEnd { created_at: Instant::parse(text)?, of_moment: finer.unwrap_or_default() })
    }

    /// As ISO 8601 in UTC.
    pub fn text(self) -> String {
        let text = self.created_at.text();
        match self.of_moment {
            0 => text,
            shown => {
                [text.trim_end_matches('Z'), &shown.saturating_add(1_000_000).to_string().split_off(1), "Z"].concat()
            }
        }
    }
}

/// A request for what qualifies.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Qualify {
    /// Who, for which order, under which lock, what to show: everything but redeemables.
    pub request: Redeemables,
    /// What is looked for.
    pub scenario: Scenario,
    /// How many results, 1 to [`LARGEST_LIMIT`].
    pub limit: usize,
    /// Only what comes after this.
    pub starting_after: Option<PageEnd>,
    /// What results must be.
    pub filters: Vec<Filter>,
    /// Whether one filter is enough.
    pub any_filter: bool,
    /// In which order.
    pub sorting: SortingRule,
    /// Whether to show the validation rules of each result.
    pub expand_rules: bool,
}

/// What kind of thing may be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateObject {
    /// A campaign with a code for each customer: one of its codes would do.
    Campaign,
    /// A code.
    Voucher,
    /// A tier of a promotion.
    PromotionTier,
    /// A stack of tiers.
    PromotionStack,
}

impl CandidateObject {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            CandidateObject::Campaign => "campaign",
            CandidateObject::Voucher => "voucher",
            CandidateObject::PromotionTier => "promotion_tier",
            CandidateObject::PromotionStack => "promotion_stack",
        }
    }
}

/// What is known of something that may be found, apart from what it grants and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its kind.
    pub object: CandidateObject,
    /// Its id.
    pub id: Text,
    /// What a redeemable calls it: a voucher's code, otherwise its id.
    pub code: Text,
    /// Its name, of those that have one.
    pub name: Option<Text>,
    /// When it was created.
    pub created_at: Instant,
    /// Its campaign.
    pub campaign_id: Option<Text>,
    /// What its campaign is made of, as written.
    pub campaign_type: Option<Text>,
    /// Its category, or its campaign's.
    pub category_id: Option<Text>,
    /// What kind of voucher it is or gives out, as written.
    pub voucher_type: Option<Text>,
    /// The customer who holds it.
    pub holder_id: Option<Text>,
    /// The customer who may pass it on.
    pub referrer_id: Option<Text>,
    /// Whether it was passed on to the customer whom it is sought for.
    pub passed_on: bool,
    /// Whether it was published to them; nobody holds a public code for that.
    pub published: bool,
    /// Whether anybody may be told of it.
    pub public: bool,
}
