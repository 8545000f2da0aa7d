//! Decides which metadata a decision needs that the client's rules do not have. They contain only public metadata of
//! goods and offers, so the rest is known only to the server.

use crate::decide::case::Case;
use crate::model::client::is_public;
use crate::model::order::{Goods, Item, RelatedObject};
use crate::model::redeemable::{IncentiveObject, RedeemableTerms};
use crate::rules::{FilterField, ProfileFilter};
use crate::text::{Text, joined};

impl Case<'_> {
    /// Returns the names of a property of a line's goods that is not public. Metadata sent with the line is complete.
    #[inline]
    pub fn hidden_of_goods(&self, line: usize, item: Option<&Item>, property: &str) -> Option<[Option<Text>; 2]> {
        let public = self.facts.public_metadata()?;
        if is_public(&public.product, property) { None } else { Some(self.listed(line, item, property)) }
    }

    /// Adds the missing facts of every property that a filter uses.
    pub fn hidden_of_filter(&self, line: usize, item: Option<&Item>, filter: &ProfileFilter, missing: &mut Vec<Text>) {
        for (field, _) in &filter.fields {
            if let FilterField::Metadata(property) = field {
                missing.extend(self.hidden_of_goods(line, item, property).into_iter().flatten().flatten());
            }
        }
    }

    /// Returns the name of a property of a voucher or tier that is not public.
    pub fn hidden_of_offer(&self, incentive: &RedeemableTerms, property: &str) -> Option<Text> {
        let public = self.facts.public_metadata()?;
        let kind = match incentive.object {
            IncentiveObject::Voucher => "voucher",
            IncentiveObject::PromotionTier => "promotion_tier",
        };
        let is_known = is_public(public.of(incentive.object), property);
        if is_known { None } else { Some(named(kind, Some(&incentive.id), property)) }
    }

    /// Returns the property of a line's SKU and product, if they come from the catalogue. Goods of lines that unit
    /// effects add do.
    #[cold]
    fn listed(&self, line: usize, item: Option<&Item>, property: &str) -> [Option<Text>; 2] {
        let own = |kind| item.filter(|_| self.is_added(line)).and_then(|item| item.goods(kind));
        let sku = self.priced.sku(line).or_else(|| own(RelatedObject::Sku));
        let product = self.priced.product(line).or_else(|| own(RelatedObject::Product));
        let name = |kind, goods: &Goods| named(kind, goods.id.as_ref().or(goods.source_id.as_ref()), property);
        [sku.map(|sku| name("sku", sku)), product.map(|product| name("product", product))]
    }
}

fn named(kind: &str, id: Option<&Text>, property: &str) -> Text {
    joined(&[kind, "/", id.map_or("", Text::as_str), "/metadata/", property])
}
