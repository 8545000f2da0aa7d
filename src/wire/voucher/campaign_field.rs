//! A field of campaigns, as the table of the fields declares one: its text in answers and requests, and its other uses.

use super::shapes::VALIDITY;
use crate::shape::{Field, FieldType, may, must};

/// A list of a campaign's fields.
#[derive(Clone, Copy)]
pub(super) enum FieldList {
    /// The members of an answer.
    Answer,
    /// The creation of a campaign of any type.
    Creation,
    /// The update of a campaign of any type.
    Update,
    /// The creation of a loyalty campaign.
    LoyaltyCreation,
    /// The update of a loyalty campaign.
    LoyaltyUpdate,
    /// The creation by a template.
    TemplateSetup,
}

/// The number of these lists.
const LISTS: usize = 6;

/// A use of a field in addition to answers and requests.
#[derive(Clone, Copy)]
pub(super) enum FieldUse {
    /// Templates keep the field.
    Templates,
    /// Vouchers inherit the field.
    Vouchers,
    /// Bundles disclose the field to clients.
    Bundles,
    /// An update to `null` removes the field from the document.
    RemovedByNull,
    /// An update to `null` changes nothing.
    UnchangedByNull,
}

/// The number of these uses.
const USES: usize = 5;

/// The value of a field in a new campaign whose request omits the field.
#[derive(Clone, Copy)]
pub(super) enum InitialValue {
    /// `null`.
    Null,
    /// `false`.
    False,
    /// `true`.
    True,
    /// `{}`.
    Empty,
}

/// A field of campaigns.
#[derive(Clone, Copy)]
pub(super) struct CampaignField {
    pub(super) name: &'static str,
    kind: FieldType,
    lists: [Option<Field>; LISTS],
    uses: [bool; USES],
    initial: Option<InitialValue>,
    /// The only type of campaign that has the field.
    campaign_type: Option<&'static str>,
}

/// A field that is in no list yet.
pub(super) const fn field(name: &'static str, kind: FieldType) -> CampaignField {
    CampaignField { name, kind, lists: [None; LISTS], uses: [false; USES], initial: None, campaign_type: None }
}

#[allow(clippy::indexing_slicing, reason = "runs while the program is compiled")]
impl CampaignField {
    /// Returns the declaration of the field in a list.
    pub(super) const fn in_list(&self, list: FieldList) -> Option<Field> {
        self.lists[list as usize]
    }

    /// Returns the name of the field if it has a use.
    pub(super) const fn name_if(&self, purpose: FieldUse) -> Option<&'static str> {
        if self.uses[purpose as usize] { Some(self.name) } else { None }
    }

    /// Returns the name and the initial value.
    pub(super) const fn with_initial(&self) -> Option<(&'static str, InitialValue)> {
        match self.initial {
            Some(value) => Some((self.name, value)),
            None => None,
        }
    }

    /// Returns the name and the only type of campaign.
    pub(super) const fn with_type(&self) -> Option<(&'static str, &'static str)> {
        match self.campaign_type {
            Some(campaign_type) => Some((self.name, campaign_type)),
            None => None,
        }
    }

    /// Adds another declaration of the field to a list.
    pub(super) const fn listed(self, list: FieldList, field: Field) -> CampaignField {
        let mut lists = self.lists;
        lists[list as usize] = Some(field);
        CampaignField { lists, ..self }
    }

    /// Writes the field into answers of campaigns that have the field.
    pub(super) const fn answer(self, text: &'static str) -> CampaignField {
        self.listed(FieldList::Answer, may(self.name, self.kind).description(text))
    }

    /// Writes the field into every answer.
    pub(super) const fn answer_always(self, text: &'static str) -> CampaignField {
        self.listed(FieldList::Answer, must(self.name, self.kind).description(text))
    }

    /// Writes the field as answers of vouchers and tiers do.
    pub(super) const fn answer_as_validity(self) -> CampaignField {
        self.listed(FieldList::Answer, named(VALIDITY, self.name))
    }

    /// Lets answers have `null`.
    pub(super) const fn or_null(self) -> CampaignField {
        match self.in_list(FieldList::Answer) {
            Some(field) => self.listed(FieldList::Answer, field.or_null()),
            None => self,
        }
    }

    pub(super) const fn creation(self, text: &'static str) -> CampaignField {
        self.listed(FieldList::Creation, may(self.name, self.kind).description(text))
    }

    pub(super) const fn update(self, text: &'static str) -> CampaignField {
        self.listed(FieldList::Update, may(self.name, self.kind).description(text))
    }

    pub(super) const fn loyalty_creation(self, text: &'static str) -> CampaignField {
        self.listed(FieldList::LoyaltyCreation, may(self.name, self.kind).description(text))
    }

    pub(super) const fn loyalty_update(self, text: &'static str) -> CampaignField {
        self.listed(FieldList::LoyaltyUpdate, may(self.name, self.kind).description(text))
    }

    pub(super) const fn template_setup(self, text: &'static str) -> CampaignField {
        self.listed(FieldList::TemplateSetup, may(self.name, self.kind).description(text))
    }

    pub(super) const fn initial(self, value: InitialValue) -> CampaignField {
        CampaignField { initial: Some(value), ..self }
    }

    pub(super) const fn used_by(self, purpose: FieldUse) -> CampaignField {
        let mut uses = self.uses;
        uses[purpose as usize] = true;
        CampaignField { uses, ..self }
    }

    pub(super) const fn only_of(self, campaign_type: &'static str) -> CampaignField {
        CampaignField { campaign_type: Some(campaign_type), ..self }
    }
}

/// Finds a field by its name.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
const fn named(fields: &[Field], name: &str) -> Field {
    let mut at = 0;
    while !is_equal(fields[at].name.as_bytes(), name.as_bytes()) {
        at += 1;
    }
    fields[at]
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
