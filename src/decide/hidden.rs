//! Decides which metadata a decision looks at without having been told it: a page's rules hold only what is public of goods and
//! offers, so that of everything else only the server knows whether it is there. It must not know what asks.

use crate::decide::case::Case;
use crate::model::incentive::{Incentive, IncentiveObject};
use crate::model::order::{Goods, Item, RelatedObject};
use crate::model::page::is_public;
use crate::rules::{Field, Filter};
use crate::text::{Text, joined};

impl Case<'_> {
    /// The names of a property of a line's goods that was not told. What was sent with the line is all there.
    #[inline]
    pub fn hidden_of_goods(&self, line: usize, item: Option<&Item>, property: &str) -> Option<[Option<Text>; 2]> {
        let public = self.facts.public_metadata()?;
        if is_public(&public.product, property) { None } else { Some(self.listed(line, item, property)) }
    }

    /// The same for every property that a filter looks at.
    pub fn hidden_of_filter(&self, line: usize, item: Option<&Item>, filter: &Filter, lacks: &mut Vec<Text>) {
        for (field, _) in &filter.fields {
            if let Field::Metadata(property) = field {
                lacks.extend(self.hidden_of_goods(line, item, property).into_iter().flatten().flatten());
            }
        }
    }

    /// The name of a property of a voucher or tier that was not told.
    pub fn hidden_of_offer(&self, incentive: &Incentive, property: &str) -> Option<Text> {
        let public = self.facts.public_metadata()?;
        let kind = match incentive.object {
            IncentiveObject::Voucher => "voucher",
            IncentiveObject::PromotionTier => "promotion_tier",
        };
        let is_told = is_public(public.of(incentive.object), property);
        if is_told { None } else { Some(named(kind, Some(&incentive.id), property)) }
    }

    /// The property of a line's SKU and product, as far as they are the catalogue's. Goods of lines that unit effects add are.
    #[cold]
    fn listed(&self, line: usize, item: Option<&Item>, property: &str) -> [Option<Text>; 2] {
        let is_added = self.order.as_deref().is_none_or(|order| line >= order.items.len());
        let own = |kind| item.filter(|_| is_added).and_then(|item| item.goods(kind));
        let sku = self.priced.sku(line).or_else(|| own(RelatedObject::Sku));
        let product = self.priced.product(line).or_else(|| own(RelatedObject::Product));
        let name = |kind, goods: &Goods| named(kind, goods.id.as_ref().or(goods.source_id.as_ref()), property);
        [sku.map(|sku| name("sku", sku)), product.map(|product| name("product", product))]
    }
}

fn named(kind: &str, id: Option<&Text>, property: &str) -> Text {
    joined(&[kind, "/", id.map_or("", Text::as_str), "/metadata/", property])
}
