//! Members of v1 loyalty campaigns: the cards of a campaign, and their publication to customers.

use crate::api::publications::publications::{RequestedPublication, check_customer, publish_requested};
use crate::api::vouchers::vouchers::list_within;
use crate::documents::common_fields::{BEFORE_AFTER, CUSTOMER_OBJECT, KEY, LIMIT, PAGE};
use crate::documents::shapes;
use crate::domain::campaigns::campaign::find_loyalty_campaign;
use crate::domain::publications::PublicationRequest;
use crate::domain::vouchers::voucher::{ORDERS, VOUCHER, find_by_name, find_card};
use crate::http::list_options::List;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, get, post};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::records::PublicationRecord;
use serde_json::{Value as Json, json};

const BODY: &[Field] = &[
    may("voucher", KEY)
        .description("Code or ID of a free card of the campaign. Absent means any free card, or a new one in an `AUTO_UPDATE` campaign."),
    may("source_id", KEY)
        .description("Identifier of the publication in the caller's system, unique among the publications of servers."),
    must("customer", CUSTOMER_OBJECT)
        .description("Customer to receive the card, with `id`, `source_id` or `email`. The customer is updated as sent, or created."),
    may("metadata", FieldType::Map),
    may("channel", FieldType::Name(100))
        .description("Name of the channel, as the publication contains the value. Default `API`."),
];

/// The list of cards has one page more than that of vouchers.
const CARDS: List = List { page_max: 100, ..VOUCHER.list };

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/loyalties/{campaignId}/members", "List the cards of a loyalty campaign", list)
        .describe(
            "listLoyaltyCampaignMembers",
            "Returns the cards of a loyalty campaign, with and without holders, the newest first by default. All conditions of the query must be met. A campaign of another type is refused with `not_found`, an unknown order with `invalid_query_params`.",
        )
        .returns("The cards of this page and the total.")
        .of(&VOUCHER)
        .lists_resource(shapes::TOTAL)
        .scope("loyalties")
        .query(&[
            LIMIT,
            PAGE,
            may("customer", KEY)
                .description("ID or `source_id` of a customer. Only cards that this customer holds are listed."),
            may("created_at", BEFORE_AFTER).description("Bounds on the moment of creation, in UTC."),
            may("updated_at", BEFORE_AFTER).description("Bounds on the moment of the last change, in UTC."),
            may("order", FieldType::OneOf(ORDERS))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
            may("code", KEY).description("Exact code of a card. Only the card with this code is listed."),
            may("ids", FieldType::List(&KEY, 0, 100))
                .description("IDs of cards. Only these cards are listed; an empty list selects all."),
        ]),
    post("/v1/loyalties/{campaignId}/members", "Add a member to a loyalty campaign", join)
        .describe(
            "createLoyaltyCampaignMember",
            "Publishes one card of a loyalty campaign to a customer, who becomes the holder and can earn points on the card. The webhook events `publication.succeeded` and `voucher.published` follow. A customer who already has a card of the campaign is refused with `voucher_cannot_be_published`, a campaign without free cards with `no_voucher_suitable_for_publication`.",
        )
        .returns("The card, with its holder.")
        .of(&VOUCHER)
        .scope("loyalties")
        .body(BODY),
    get("/v1/loyalties/members/{memberId}", "Get a loyalty card", get_card)
        .describe(
            "getLoyaltyCard",
            "Returns one loyalty card by its code or ID, with its points as of now. A voucher of another type is refused with `not_found`.",
        )
        .returns("The loyalty card.")
        .of(&VOUCHER)
        .scope("loyalties"),
    get("/v1/loyalties/{campaignId}/members/{memberId}", "Get a loyalty card of a campaign", get_card)
        .describe(
            "getLoyaltyCampaignMember",
            "Returns one card of a loyalty campaign by its code or ID, with its points as of now. A card of another campaign is refused with `not_found`.",
        )
        .returns("The loyalty card.")
        .of(&VOUCHER)
        .scope("loyalties"),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let loyalty_campaign = find_loyalty_campaign(call)?;
    let mut clause = Clause::of_kind(VOUCHER.object).at(call.now_ms());
    clause.within(&loyalty_campaign.id);
    list_within(call, &CARDS, clause)
}

fn get_card(call: &mut Call<'_, '_>) -> HandlerResult {
    let card = find_card(call)?;
    Ok(Response::json(VOUCHER.one_to_json(call, card)?))
}

/// Publishes a card of the campaign to the customer: the named one, or the next one without a holder.
fn join(call: &mut Call<'_, '_>) -> HandlerResult {
    let loyalty_campaign = find_loyalty_campaign(call)?;
    let sent = call.body(Nulls::Dropped)?;
    let sent = PublicationRecord::of(&sent);
    let customer = sent.customer_members().cloned().unwrap_or_default();
    check_customer(call, &customer)?;
    let voucher = sent.voucher().map(str::to_owned);
    check_card(call, &loyalty_campaign, voucher.as_deref())?;
    let request = PublicationRequest {
        campaign: Some(loyalty_campaign.id).filter(|_| voucher.is_none()),
        voucher,
        count: 1,
        source_id: sent.source_id().map(str::to_owned),
        metadata: sent.metadata().cloned().unwrap_or(json!({})),
        channel: sent.channel().unwrap_or("API").to_owned(),
        join_once: false,
    };
    let mut publication = publish_requested(call, RequestedPublication { request, customer })?;
    Ok(Response::json(publication.get_mut("voucher").map(Json::take).unwrap_or_default()))
}

/// Checks that a named card belongs to the loyalty campaign.
fn check_card(call: &Call<'_, '_>, loyalty_campaign: &Document, code: Option<&str>) -> Result<(), CallError> {
    let Some(code) = code else { return Ok(()) };
    match find_by_name(call, code)?.parent.as_ref() == Some(&loyalty_campaign.id) {
        true => Ok(()),
        false => Err(not_found(VOUCHER.object, code).into()),
    }
}
