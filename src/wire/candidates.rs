//! Decides what of a document matters to whoever lists it: its kind, its age, whose it is, whether anybody may be told of
//! it. It must not know what it grants.
//!
//! calculation.md section 13; objects.md sections 5 to 7.

use crate::model::incentive::Incentive;
use crate::model::qualification::{Candidate, CandidateObject};
use crate::ordered_map::OrderedMap;
use crate::text::Text;
use crate::wire::cursor::{Cursor, read};
use crate::wire::voucher::read_voucher;

/// What a set of rules lists, and what the codes of its campaigns would be, by campaign.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// Campaigns with a code for each customer, vouchers, tiers and stacks, as they came.
    pub candidates: Vec<Candidate>,
    /// What a code of each campaign would be; its id is the campaign's.
    pub campaign_vouchers: Vec<Incentive>,
}

/// What of a campaign matters to its codes and tiers.
#[derive(Debug, Clone, Default)]
struct Program {
    campaign_type: Option<Text>,
    /// Its one code is for everybody.
    standalone: bool,
}

/// Reads what a set of rules lists.
pub fn read_listed(body: &Cursor<'_>) -> Listed {
    let mut listed = Listed::default();
    let mut programs: OrderedMap<Program> = OrderedMap::default();
    for (kind, object) in [
        ("campaigns", CandidateObject::Campaign),
        ("vouchers", CandidateObject::Voucher),
        ("promotion_tiers", CandidateObject::PromotionTier),
        ("promotion_stacks", CandidateObject::PromotionStack),
    ] {
        let Some(documents) = body.get(kind) else { continue };
        for document in documents.items() {
            let mut candidate = read_candidate(&document, object);
            if object == CandidateObject::Campaign {
                let standalone = is(&document, "type", "STANDALONE");
                programs
                    .put(candidate.id.clone(), Program { campaign_type: candidate.campaign_type.clone(), standalone });
                match read_campaign_voucher(&document).filter(|_| !standalone) {
                    Some(voucher) => listed.campaign_vouchers.push(voucher),
                    None => continue,
                }
            } else if let Some(id) = candidate.campaign_id.as_deref() {
                let program = programs.get(id).cloned().unwrap_or_default();
                candidate.public = object != CandidateObject::Voucher || program.standalone;
                candidate.campaign_type = candidate.campaign_type.or(program.campaign_type);
            }
            listed.candidates.push(candidate);
        }
    }
    listed
}

/// Reads one document. A code of a campaign is public only if the campaign says so, which whoever calls knows.
pub fn read_candidate(at: &Cursor<'_>, object: CandidateObject) -> Candidate {
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

/// Reads what a code of a campaign would be, when the campaign has codes. It is known by the campaign's id.
pub fn read_campaign_voucher(at: &Cursor<'_>) -> Option<Incentive> {
    let config = at.get("voucher")?;
    let id = at.option("id", read::name).or(at.option("name", read::text)).unwrap_or_default();
    let voucher = read_voucher(&config, "");
    // Nobody has redeemed the next code yet, and the campaign's own window and category are found with the campaign.
    Some(Incentive { id: id.clone(), code: Text::default(), campaign_id: Some(id), quantity: None, ..voucher })
}

fn kind_of_voucher(at: &Cursor<'_>) -> Text {
    let said = at.get("type").and_then(|said| said.node.as_str().map(Text::from));
    match said {
        Some(said) => said,
        _ if at.get("gift").is_some() => "GIFT_VOUCHER".into(),
        _ if at.get("loyalty_card").is_some() => "LOYALTY_CARD".into(),
        _ => "DISCOUNT_VOUCHER".into(),
    }
}

fn is(at: &Cursor<'_>, name: &str, word: &str) -> bool {
    at.get(name).is_some_and(|value| value.node.as_str() == Some(word))
}
