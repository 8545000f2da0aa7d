//! Lists the fields of campaigns, each once: its text in answers and requests, its initial value and its other uses.
//! Every list of a campaign's fields is selected from this table.
//!
//! `voucher` and `promotion` configure other objects in requests, as `vouchers_count` and `validation_rules` do: the
//! operations declare these. The table is in the engine because a set of rules may have every member that answers have.

use super::campaign_field::{CampaignField, FieldList, FieldUse, InitialValue, field};
use super::campaigns::{OF_VOUCHERS, PROMOTION, QUALIFICATION, REFERRAL, REFERRAL_REQUEST};
use super::shapes::{ASSIGNMENTS, CATEGORIES, DAYS_OF_WEEK, HOURS, TIMEFRAME, VISIBILITY};
use crate::shape::{COUNT, Field, FieldType, KEY, may, must, object, shape};
use serde_json::{Map, Value, json};

/// The types of campaigns.
const TYPES: &[&str] = &["PROMOTION", "GIFT_VOUCHERS", "REFERRAL_PROGRAM", "DISCOUNT_COUPONS", "LOYALTY_PROGRAM"];

/// Every field, in the order of answers and checks.
const FIELDS: &[CampaignField] = &[
    field("id", KEY)
        .answer_always("")
        .used_by(FieldUse::Bundles),
    field("name", KEY)
        .answer_always("Name of the campaign, unique in the project.")
        .listed(FieldList::Creation, must("name", KEY)
            .description("Name of the campaign, unique in the project."))
        .listed(FieldList::LoyaltyCreation, must("name", KEY)
            .description("Name of the campaign, unique in the project. The name can identify the campaign in paths."))
        .listed(FieldList::TemplateSetup, must("name", KEY)
            .description("Name of the new campaign, unique in the project."))
        .used_by(FieldUse::Bundles),
    field("description", FieldType::Text)
        .answer("Description of the campaign for the merchant. `null` or absent without one.")
        .or_null()
        .creation("Description of the campaign for the merchant.")
        .update("Description of the campaign for the merchant. `null` removes the description.")
        .loyalty_creation("Description of the campaign for the merchant.")
        .loyalty_update("Description of the campaign for the merchant. `null` removes the description.")
        .template_setup("Description of the campaign for the merchant. Default is the description of the campaign that the template was made from.")
        .initial(InitialValue::Null)
        .used_by(FieldUse::Templates)
        .used_by(FieldUse::RemovedByNull),
    field("campaign_type", FieldType::OneOf(TYPES))
        .answer_always("Type of campaign, which decides between vouchers, loyalty cards, referral codes and promotion tiers.")
        .creation("Type of campaign. Default is the type that fits the vouchers: `DISCOUNT_COUPONS`, `GIFT_VOUCHERS`, `LOYALTY_PROGRAM` or, for referral codes, `REFERRAL_PROGRAM`.")
        .listed(FieldList::LoyaltyCreation, may("campaign_type", FieldType::OneOf(&["LOYALTY_PROGRAM"]))
            .description("Type of the campaign. Always `LOYALTY_PROGRAM` here, and so by default."))
        .used_by(FieldUse::Bundles),
    field("type", FieldType::OneOf(&["AUTO_UPDATE", "STATIC", "STANDALONE"]))
        .answer_always("Supply of vouchers: `AUTO_UPDATE` generates one when none is free to publish, `STATIC` does not, `STANDALONE` has a single voucher.")
        .creation("Supply of vouchers: `AUTO_UPDATE` generates one when none is free to publish, `STATIC` does not, `STANDALONE` has a single voucher. Default `AUTO_UPDATE`.")
        .update("Supply of vouchers: `AUTO_UPDATE` generates one when none is free to publish, `STATIC` does not. `STANDALONE` is only accepted if already set.")
        .listed(FieldList::LoyaltyCreation, may("type", FieldType::OneOf(&["AUTO_UPDATE", "STATIC"]))
            .description("Supply of cards: `AUTO_UPDATE` generates a card for each new member, `STATIC` assigns only existing cards. Default `AUTO_UPDATE`."))
        .listed(FieldList::LoyaltyUpdate, may("type", FieldType::OneOf(&["AUTO_UPDATE", "STATIC"]))
            .description("Supply of cards: `AUTO_UPDATE` generates a card for each new member, `STATIC` assigns only existing cards."))
        .template_setup("Supply of vouchers: `AUTO_UPDATE` generates one when none is free to publish, `STATIC` does not, `STANDALONE` has a single voucher. Default is that of the template.")
        .used_by(FieldUse::Templates)
        .used_by(FieldUse::Bundles)
        .used_by(FieldUse::UnchangedByNull),
    field("join_once", FieldType::Bool)
        .answer_always("`true` if a customer receives at most one voucher of the campaign.")
        .creation("`true` if a customer receives at most one voucher of the campaign. Default `false`. Always `true` for a loyalty campaign and `false` for `STANDALONE`.")
        .update("`true` if a customer receives at most one voucher of the campaign. Ignored for loyalty campaigns and for `STANDALONE`; `null` leaves the setting as is.")
        .loyalty_creation("Flag that is always `true` for loyalty campaigns: a customer gets one card. A sent value is ignored.")
        .loyalty_update("Flag that is always `true` for loyalty campaigns. A sent value is ignored.")
        .template_setup("`true` if a customer receives at most one voucher of the campaign. Always `false` for `STANDALONE`. Default is that of the template.")
        .initial(InitialValue::False)
        .used_by(FieldUse::Templates)
        .used_by(FieldUse::UnchangedByNull),
    field("auto_join", FieldType::Bool)
        .answer_always("`true` if earning points gives a card of a loyalty campaign to a customer without one.")
        .creation("`true` if earning points gives a card of a loyalty campaign to a customer without one. Default `false`. No effect on other types.")
        .update("`true` if earning points gives a card of a loyalty campaign to a customer without one. `null` leaves the setting as is.")
        .loyalty_creation("`true` if a customer without a card gets one with the first earning. Default `false`.")
        .loyalty_update("`true` if a customer without a card gets one with the first earning. `null` leaves the setting as is.")
        .template_setup("`true` if customers join automatically, which has an effect on loyalty campaigns only. Default is that of the template.")
        .initial(InitialValue::False)
        .used_by(FieldUse::Templates)
        .used_by(FieldUse::UnchangedByNull),
    field("use_voucher_metadata_schema", FieldType::Bool)
        .answer_always("`true` if metadata of the vouchers follows the schema of vouchers, `false` for the schema of campaigns.")
        .creation("`true` if metadata of the vouchers follows the schema of vouchers, `false` for the schema of campaigns. Default `false`.")
        .loyalty_creation("`true` to check the metadata of cards against the voucher schema, `false` to check against the campaign schema. Default `false`.")
        .template_setup("`true` if metadata of the vouchers follows the schema of vouchers, `false` for the schema of campaigns. Default is that of the template.")
        .initial(InitialValue::False)
        .used_by(FieldUse::Templates),
    field("activity_duration_after_publishing", FieldType::Duration)
        .answer("Time for which a voucher is valid from its publication on. `null` or absent means until the end of the voucher.")
        .or_null()
        .creation("Time for which a voucher is valid from its publication on. Replaces the start and end of the voucher.")
        .update("Time for which a voucher is valid from its publication on. Applies to later publications. `null` removes the setting.")
        .loyalty_creation("Duration for which a card is valid after its publication. Absent means that publication changes no dates.")
        .loyalty_update("Duration for which a card is valid after its publication. `null` means that publication changes no dates.")
        .template_setup("Time for which a voucher is valid from its publication on. Default is that of the template.")
        .initial(InitialValue::Null)
        .used_by(FieldUse::Templates)
        .used_by(FieldUse::Bundles)
        .used_by(FieldUse::RemovedByNull),
    field("visibility", VISIBILITY)
        .answer("Disclosure to clients of the offers of the campaign, as set. `null` or absent means the default of each: `public` for a promotion, `sealed` for the one discount code of a `STANDALONE` campaign of unlimited quantity, otherwise `server`.")
        .or_null()
        .creation("Disclosure to clients of the offers in force: `public` for everything, `sealed` for what the code opens, `server` for nothing. Absent means the default of each offer. A promotion cannot be `sealed`; a campaign with generated codes is always `server`.")
        .update("Disclosure to clients of the offers in force: `public`, `sealed` or `server`. `null` means the default of each offer. A promotion cannot be `sealed`; a campaign with generated codes is always `server`.")
        .loyalty_creation("Disclosure to clients of the cards. A loyalty campaign is always `server`; another value is refused.")
        .loyalty_update("Disclosure to clients of the cards. A loyalty campaign is always `server`; another value is refused.")
        .template_setup("Disclosure to clients of the offers in force: `public`, `sealed` or `server`. Default is that of the template.")
        .used_by(FieldUse::Templates)
        .used_by(FieldUse::RemovedByNull),
    field("vouchers_count", COUNT)
        .answer_always("Number of vouchers in the campaign. Increases while vouchers are generated."),
    field("vouchers_generation_status", FieldType::Text)
        .answer_always("Status of the generation of vouchers: `IN_PROGRESS`, `DONE` or `FAILED`."),
    field("creation_status", FieldType::Text)
        .answer_always("Status of the creation of the campaign: `IN_PROGRESS`, `DONE` or `FAILED`."),
    field("protected", FieldType::Bool)
        .answer_always("`true` if the campaign is protected from changes. Always `false`.")
        .initial(InitialValue::False),
    field("metadata", FieldType::Map)
        .answer_always("")
        .creation("")
        .update("")
        .loyalty_creation("")
        .loyalty_update("")
        .template_setup("")
        .initial(InitialValue::Empty)
        .used_by(FieldUse::Templates),
    field("validation_rules_assignments", ASSIGNMENTS)
        .answer_always("Validation rules that are assigned to the campaign."),
    field("created_at", FieldType::DateTime)
        .answer_always(""),
    field("updated_at", FieldType::DateTime)
        .answer_always("")
        .or_null()
        .initial(InitialValue::Null),
    field("voucher", OF_VOUCHERS)
        .answer("Configuration of the vouchers. Absent on a promotion.")
        .used_by(FieldUse::Templates),
    field("promotion", PROMOTION)
        .answer("Tiers of a promotion. Absent on other campaigns.")
        .only_of("PROMOTION"),
    field("referral_program", REFERRAL)
        .answer("Conversion event and reward of a referral program. Absent on other campaigns.")
        .listed(FieldList::Creation, may("referral_program", REFERRAL_REQUEST)
            .description("Conversion event and reward of a campaign of type `REFERRAL_PROGRAM`. Refused for other types."))
        .listed(FieldList::Update, may("referral_program", REFERRAL_REQUEST)
            .description("Conversion event and reward of a referral program. Replaces the present setting."))
        .only_of("REFERRAL_PROGRAM"),
    field("loyalty_tiers_expiration", QUALIFICATION)
        .answer("Points that count for the tiers of a loyalty campaign. Absent means the balance of the card.")
        .creation("Points that count for the tiers of a loyalty campaign. Default is the balance of the card. Refused for other types.")
        .update("Points that count for the tiers of a loyalty campaign. Replaces the present setting; `null` means the balance of the card.")
        .loyalty_creation("Points that count for the tiers of the campaign. Absent means the balance of the card.")
        .loyalty_update("Points that count for the tiers of the campaign. Replaces the present setting; `null` means the balance of the card.")
        .only_of("LOYALTY_PROGRAM"),
    field("object", FieldType::Any)
        .listed(FieldList::Answer, object(&["campaign"]))
        .used_by(FieldUse::Bundles),
    field("active", FieldType::Bool)
        .answer_as_validity()
        .initial(InitialValue::True)
        .used_by(FieldUse::Bundles),
    field("start_date", FieldType::DateTime)
        .answer_as_validity()
        .creation("Moment from which the campaign is valid, in UTC. A date without a time means the start of that day in the project's time zone.")
        .update("Moment from which the campaign is valid, in UTC. `null` removes this bound.")
        .loyalty_creation("Moment from which the campaign and its cards are valid, in UTC. A date without a time means the start of that day in the project's time zone.")
        .loyalty_update("Moment from which the campaign and its cards are valid, in UTC. `null` removes this bound.")
        .template_setup("Moment from which the campaign is valid, in UTC. A date without a time means the start of that day in the project's time zone.")
        .initial(InitialValue::Null)
        .used_by(FieldUse::Vouchers)
        .used_by(FieldUse::Bundles)
        .used_by(FieldUse::RemovedByNull),
    field("expiration_date", FieldType::DateTime)
        .answer_as_validity()
        .creation("Moment after which the campaign is no longer valid, in UTC. A date without a time means the end of that day in the project's time zone.")
        .update("Moment after which the campaign is no longer valid, in UTC. `null` means no end.")
        .loyalty_creation("Moment after which the campaign and its cards are no longer valid, in UTC. A date without a time means the end of that day in the project's time zone.")
        .loyalty_update("Moment after which the campaign and its cards are no longer valid, in UTC. `null` means no end.")
        .template_setup("Moment after which the campaign is no longer valid, in UTC. A date without a time means the end of that day in the project's time zone.")
        .initial(InitialValue::Null)
        .used_by(FieldUse::Vouchers)
        .used_by(FieldUse::Bundles)
        .used_by(FieldUse::RemovedByNull),
    field("validity_timeframe", TIMEFRAME)
        .answer_as_validity()
        .creation("Recurring windows in which the campaign is valid, counted from `start_date`, which is required then. Absent means at any time.")
        .update("Recurring windows in which the campaign is valid, counted from its `start_date`. `null` means at any time.")
        .loyalty_creation("Recurring windows in which the campaign is valid, counted from `start_date`, which is then required.")
        .loyalty_update("Recurring windows in which the campaign is valid, counted from its `start_date`. `null` means at any time.")
        .template_setup("Recurring windows in which the campaign is valid, counted from `start_date`, which is required then. Default is that of the template.")
        .initial(InitialValue::Null)
        .used_by(FieldUse::Templates)
        .used_by(FieldUse::Vouchers)
        .used_by(FieldUse::Bundles)
        .used_by(FieldUse::RemovedByNull),
    field("validity_day_of_week", DAYS_OF_WEEK)
        .answer_as_validity()
        .creation("Weekdays on which the campaign is valid, from 0 for Sunday to 6 for Saturday, in the project's time zone. Absent means every day.")
        .update("Weekdays on which the campaign is valid, from 0 for Sunday to 6 for Saturday, in the project's time zone. `null` means every day.")
        .loyalty_creation("Weekdays on which the campaign is valid, from 0 for Sunday to 6 for Saturday. Absent means every day.")
        .loyalty_update("Weekdays on which the campaign is valid, from 0 for Sunday to 6 for Saturday. `null` means every day.")
        .template_setup("Weekdays on which the campaign is valid, from 0 for Sunday to 6 for Saturday, in the project's time zone. Default is that of the template.")
        .initial(InitialValue::Null)
        .used_by(FieldUse::Templates)
        .used_by(FieldUse::Vouchers)
        .used_by(FieldUse::Bundles)
        .used_by(FieldUse::RemovedByNull),
    field("validity_hours", HOURS)
        .answer_as_validity()
        .creation("Hours of the day in which the campaign is valid, in the project's time zone. Absent means at any time.")
        .update("Hours of the day in which the campaign is valid, in the project's time zone. `null` means at any time.")
        .loyalty_creation("Hours of the day in which the campaign is valid. Cannot be combined with `validity_timeframe` or `validity_day_of_week`.")
        .loyalty_update("Hours of the day in which the campaign is valid. `null` means at any time.")
        .template_setup("Hours of the day in which the campaign is valid, in the project's time zone. Default is that of the template.")
        .initial(InitialValue::Null)
        .used_by(FieldUse::Templates)
        .used_by(FieldUse::Vouchers)
        .used_by(FieldUse::Bundles)
        .used_by(FieldUse::RemovedByNull),
    field("category", KEY)
        .answer_as_validity()
        .creation("Name of the category of the campaign. A category that does not exist is created.")
        .update("Name of the category of the campaign. A category that does not exist is created; `null` removes the campaign from its category.")
        .loyalty_creation("Name of the category of the campaign. A category that does not exist is created.")
        .loyalty_update("Name of the category of the campaign. A category that does not exist is created; `null` removes the campaign from its category.")
        .template_setup("Name of the category of the campaign. A category that does not exist is created. Default is that of the template.")
        .initial(InitialValue::Null)
        .used_by(FieldUse::Templates)
        .used_by(FieldUse::Vouchers)
        .used_by(FieldUse::Bundles),
    field("category_id", KEY)
        .answer_as_validity()
        .creation("ID of the category of the campaign. The category must exist.")
        .update("ID of the category of the campaign. The category must exist; `null` removes the campaign from its category.")
        .loyalty_creation("ID of the category of the campaign. The category must exist.")
        .loyalty_update("ID of the category of the campaign. The category must exist; `null` removes the campaign from its category.")
        .template_setup("ID of the category of the campaign. The category must exist. Default is the category of the template.")
        .initial(InitialValue::Null)
        .used_by(FieldUse::Vouchers)
        .used_by(FieldUse::Bundles),
    field("categories", CATEGORIES)
        .answer_as_validity(),
];

/// Selects a value of each field that has one, while the program is compiled.
macro_rules! select {
    ($of:ty, $blank:expr, $field:ident => $value:expr) => {{
        #[expect(clippy::indexing_slicing, reason = "runs while the program is compiled")]
        const COUNT: usize = {
            let (mut count, mut at) = (0, 0);
            while at < FIELDS.len() {
                let $field = &FIELDS[at];
                count += $value.is_some() as usize;
                at += 1;
            }
            count
        };
        #[expect(clippy::indexing_slicing, reason = "runs while the program is compiled")]
        const ALL: [$of; COUNT] = {
            let mut all = [$blank; COUNT];
            let (mut count, mut at) = (0, 0);
            while at < FIELDS.len() {
                let $field = &FIELDS[at];
                if let Some(value) = $value {
                    all[count] = value;
                    count += 1;
                }
                at += 1;
            }
            all
        };
        &ALL
    }};
}

const NO_FIELD: Field = may("", FieldType::Any);

/// A campaign.
pub const CAMPAIGN: FieldType = shape!(
    "Campaign",
    "Configuration that vouchers or promotion tiers are made from. Vouchers inherit validity, category and validation rules.",
    select!(Field, NO_FIELD, field => field.in_list(FieldList::Answer))
);

/// Fields of the creation of a campaign of any type.
pub const CREATION: &[Field] = select!(Field, NO_FIELD, field => field.in_list(FieldList::Creation));
/// Fields of the update of a campaign of any type.
pub const UPDATE: &[Field] = select!(Field, NO_FIELD, field => field.in_list(FieldList::Update));
/// Fields of the creation of a loyalty campaign.
pub const LOYALTY_CREATION: &[Field] = select!(Field, NO_FIELD, field => field.in_list(FieldList::LoyaltyCreation));
/// Fields of the update of a loyalty campaign.
pub const LOYALTY_UPDATE: &[Field] = select!(Field, NO_FIELD, field => field.in_list(FieldList::LoyaltyUpdate));
/// Fields of the creation by a template.
pub const TEMPLATE_SETUP: &[Field] = select!(Field, NO_FIELD, field => field.in_list(FieldList::TemplateSetup));
/// Names of the fields that templates keep.
pub const TEMPLATE_FIELDS: &[&str] = select!(&str, "", field => field.name_if(FieldUse::Templates));
/// Names of the fields that vouchers inherit.
pub const INHERITED: &[&str] = select!(&str, "", field => field.name_if(FieldUse::Vouchers));
/// Names of the fields that bundles disclose.
pub const IN_BUNDLES: &[&str] = select!(&str, "", field => field.name_if(FieldUse::Bundles));
/// Names of the fields that an update to `null` removes.
pub const REMOVED_BY_NULL: &[&str] = select!(&str, "", field => field.name_if(FieldUse::RemovedByNull));
/// Names of the fields that an update to `null` leaves as they are.
pub const UNCHANGED_BY_NULL: &[&str] = select!(&str, "", field => field.name_if(FieldUse::UnchangedByNull));
/// Names of the fields that only campaigns of one type have, with the type.
pub const OF_ONE_TYPE: &[(&str, &str)] = select!((&str, &str), ("", ""), field => field.with_type());

const INITIAL: &[(&str, InitialValue)] =
    select!((&str, InitialValue), ("", InitialValue::Null), field => field.with_initial());

/// Returns the members of a new campaign that do not depend on the request.
pub fn initial_members() -> Map<String, Value> {
    let value = |initial: InitialValue| match initial {
        InitialValue::Null => Value::Null,
        InitialValue::False => Value::Bool(false),
        InitialValue::True => Value::Bool(true),
        InitialValue::Empty => json!({}),
    };
    INITIAL.iter().map(|(name, initial)| ((*name).to_owned(), value(*initial))).collect()
}
