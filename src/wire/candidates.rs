//! Reads from documents the data that candidates of qualifications need: type, age, holder, publicity.
//!
//! docs/spec/calculation.md#13; docs/spec/objects.md sections 5 to 7.

use crate::model::qualification::{Candidate, CandidateObject};
use crate::model::redeemable::RedeemableTerms;
use crate::ordered_map::OrderedMap;
use crate::text::Text;
use crate::wire::cursor::{JsonCursor, read};
use crate::wire::voucher::read_voucher;

/// The candidates of a set of rules, and the terms of its campaigns' future codes.
#[derive(Debug, Clone, Default)]
pub struct CandidateList {
    /// Campaigns with a code for each customer, vouchers, tiers and stacks, in the given order.
    pub candidates: Vec<Candidate>,
    /// The terms of a code of each campaign, with the campaign's id.
    pub campaign_vouchers: Vec<RedeemableTerms>,
    programs: OrderedMap<CodeCampaign>,
}

/// The campaign data that its codes and tiers need.
#[derive(Debug, Clone, Default)]
struct CodeCampaign {
    campaign_type: Option<Text>,
    /// Its one code is public.
    standalone: bool,
}

impl CandidateList {
    /// Adds a campaign; the terms of its codes are listed if each customer gets one.
    pub fn add_campaign(&mut self, at: &JsonCursor<'_>) {
        let candidate = read_candidate(at, CandidateObject::Campaign);
        let standalone = is(at, "type", "STANDALONE");
        self.programs
            .insert(candidate.id.clone(), CodeCampaign { campaign_type: candidate.campaign_type.clone(), standalone });
        if let Some(voucher) = read_campaign_voucher(at).filter(|_| !standalone) {
            self.campaign_vouchers.push(voucher);
            self.candidates.push(candidate);
        }
    }

    /// Adds a voucher, a tier or a stack, after its campaign.
    pub fn add(&mut self, at: &JsonCursor<'_>, object: CandidateObject, campaign_id: Option<&Text>) {
        let mut candidate = read_candidate(at, object);
        candidate.campaign_id = candidate.campaign_id.or(campaign_id.cloned());
        if let Some(id) = candidate.campaign_id.as_deref() {
            let program = self.programs.get(id).cloned().unwrap_or_default();
            candidate.public = object != CandidateObject::Voucher || program.standalone;
            candidate.campaign_type = candidate.campaign_type.or(program.campaign_type);
        }
        self.candidates.push(candidate);
    }
}

/// Reads one document. A code is public only if its campaign is, which the caller decides.
pub fn read_candidate(at: &JsonCursor<'_>, object: CandidateObject) -> Candidate {
    let text = |name| at.option(name, read::text);
    let nested = |outer: &str, name| at.get(outer).and_then(|outer| outer.option(name, read::text));
    let is_voucher = object == CandidateObject::Voucher;
    let code = if is_voucher { text("code").unwrap_or_default() } else { Text::default() };
    let name = if is_voucher { None } else { text("name") };
    let id = text("id").or(name.clone()).unwrap_or_else(|| code.clone());
    let campaign_id = match object {
        CandidateObject::Campaign => Some(id.clone()),
        _ => text("campaign_id").or(text("promotion_id")).or(nested("campaign", "id")),
    };
    let voucher_type = match object {
        CandidateObject::Campaign => at.get("voucher").map(|voucher| kind_of_voucher(&voucher)),
        CandidateObject::Voucher => Some(kind_of_voucher(at)),
        CandidateObject::PromotionTier | CandidateObject::PromotionStack => None,
    };
    let campaign_type = match object {
        CandidateObject::Campaign => text("campaign_type"),
        CandidateObject::Voucher => None,
        CandidateObject::PromotionTier | CandidateObject::PromotionStack => Some("PROMOTION".into()),
    };
    Candidate {
        object,
        public: !is_voucher || campaign_id.is_none(),
        code: if is_voucher { code } else { id.clone() },
        id,
        name,
        created_at: at.option("created_at", read::instant).unwrap_or_default(),
        campaign_id,
        campaign_type,
        category_id: text("category_id"),
        voucher_type,
        holder_id: text("holder_id"),
        referrer_id: text("referrer_id"),
        passed_on: false,
        published: false,
    }
}

/// Reads the terms of a code of a campaign, if the campaign has codes, with the campaign's id.
pub fn read_campaign_voucher(at: &JsonCursor<'_>) -> Option<RedeemableTerms> {
    let config = at.get("voucher")?;
    let id = at.option("id", read::name).or(at.option("name", read::text)).unwrap_or_default();
    let voucher = read_voucher(&config, "");
    // The next code has no redemptions, and its campaign is found for window and category.
    Some(RedeemableTerms { id: id.clone(), code: Text::default(), campaign_id: Some(id), quantity: None, ..voucher })
}

fn kind_of_voucher(at: &JsonCursor<'_>) -> Text {
    let kind = at.get("type").and_then(|kind| kind.node.as_str().map(Text::from));
    match kind {
        Some(kind) => kind,
        _ if at.get("gift").is_some() => "GIFT_VOUCHER".into(),
        _ if at.get("loyalty_card").is_some() => "LOYALTY_CARD".into(),
        _ => "DISCOUNT_VOUCHER".into(),
    }
}

fn is(at: &JsonCursor<'_>, name: &str, value: &str) -> bool {
    at.get(name).is_some_and(|member| member.node.as_str() == Some(value))
}
