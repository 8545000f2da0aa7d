//! Reads requests for the prices of goods and writes their answers.

use crate::decide::qualify::prices::{GoodsPrice, PriceOutcome};
use crate::id::Context;
use crate::json::Node;
use crate::model::price::{PRICED_GOODS_MAX, PriceRequest};
use crate::model::qualification::{
    CandidateObject, Compare, QualificationField, QualificationFilter, QualificationRequest,
};
use crate::text::Text;
use crate::wire::cursor::{JsonCursor, read_node};
use crate::wire::document::read_request;
use crate::wire::error::write_refusal;
use crate::wire::order::view::related_name;
use crate::wire::problem::Problem;
use crate::wire::request::read_other_members;
use crate::wire::writer::Writer;

/// Reads the body of a request.
pub fn read_prices(bytes: &[u8]) -> Result<PriceRequest, Problem> {
    read_request(bytes, read_body)
}

/// Reads the body of a request that was parsed before.
pub fn read_prices_node(body: &Node<'_>) -> Result<PriceRequest, Problem> {
    read_node(body, read_body)
}

fn read_body(body: &JsonCursor<'_>) -> PriceRequest {
    body.object();
    if let Some(order) = body.get("order") {
        order.problem("is not allowed: every product is priced alone");
    }
    let filter = QualificationFilter {
        field: QualificationField::ResourceType,
        compare: Compare::In,
        values: vec![CandidateObject::PromotionTier.name().into()],
    };
    let request = read_other_members(body);
    let query =
        QualificationRequest { request, filters: vec![filter], optimise: true, ..QualificationRequest::default() };
    PriceRequest { query, goods: body.need("ids", read_goods) }
}

fn read_goods(at: &JsonCursor<'_>) -> Vec<Text> {
    let name = |id: &JsonCursor<'_>| {
        let name = id.name();
        if name.is_empty() {
            id.wrong("must NOT be empty");
        }
        name
    };
    let goods = at.all(name);
    if goods.len() > PRICED_GOODS_MAX {
        let bound = format!("must NOT have more than {PRICED_GOODS_MAX} items");
        at.report(Problem::bound(at.path(), &bound, &goods.len().to_string()));
    }
    goods
}

/// Writes the JSON of an answer: a list in the order of the request.
pub fn write_prices(prices: &[GoodsPrice<'_>], context: &Context) -> Vec<u8> {
    Writer::object_of(|out| {
        out.write_constant("object", "list");
        out.write_constant("data_ref", "prices");
        out.member("prices").list(|out| prices.iter().for_each(|price| write_price(out.item(), price, context)));
    })
}

fn write_price(out: &mut Writer, price: &GoodsPrice<'_>, context: &Context) {
    out.object(|out| {
        out.write_text("id", price.name);
        match &price.outcome {
            PriceOutcome::Priced(priced) => {
                out.write_constant("object", related_name(priced.object));
                out.write_number("price", priced.price.minor());
                out.write_number("discounted_price", priced.discounted.minor());
                out.write_flag("from", priced.depends_on_cart);
                out.member("redeemables").list(|out| {
                    for tier in &priced.tiers {
                        out.item().object(|out| {
                            out.write_constant("object", CandidateObject::PromotionTier.name());
                            out.write_text("id", tier);
                        });
                    }
                });
            }
            PriceOutcome::Refused(refusal) => write_refusal(out.member("error"), refusal, &context.request_id()),
            PriceOutcome::Unknown => {}
        }
        if !price.missing.is_empty() {
            out.texts("missing", &price.missing);
        }
    });
}
