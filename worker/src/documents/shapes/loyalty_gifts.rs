//! The shapes of incentives: the granted items, and the blocks that belong together. Requests and responses have one shape, except for
//! fields that two revisions of the API name differently.

use crate::documents::common_fields::KEY;
use crate::documents::shapes::activities::activity;
use crate::documents::shapes::points::{CALCULATIONS, GOODS_NAMES, NAME, PROPORTIONAL, STOCK, STOCKS};
use crate::documents::tagged_blocks::{TaggedBlock, tagged_block};
use scrip::shape::{COUNT, Field, FieldType, may, must, object};
use scrip::{fields_of, shape};

const TYPES: FieldType = FieldType::OneOf(&["POINTS", "POINTS_PROPORTIONAL", "MATERIAL", "DIGITAL"]);
const NAMED: FieldType = FieldType::Object(&[must("id", KEY)]);

/// Goods that are granted.
pub const MATERIAL: FieldType = shape!(
    "MaterialItem",
    "Product or SKU that an incentive or reward gives.",
    &[
        may("type", FieldType::OneOf(&["PRODUCT", "SKU"]))
            .description("Type of the goods. Determines which block is present."),
        may("product", NAMED).description("Product that the customer receives. Present only with `PRODUCT`."),
        may(
            "sku",
            FieldType::Object(&[
                must("product_id", KEY).description("ID of the product that the SKU belongs to."),
                must("id", KEY)
            ])
        )
        .description("SKU that the customer receives. Present only with `SKU`."),
    ]
);
/// Names of goods by type.
pub const MATERIALS: TaggedBlock = tagged_block("material", "type", &[("PRODUCT", &["product"]), ("SKU", &["sku"])]);

/// Code of a campaign of discount coupons.
pub const COUPONS: Field = may(
    "discount_coupons",
    FieldType::Object(&[must("campaign_id", KEY)
        .description("ID of a campaign of type `DISCOUNT_COUPONS`. A request can also send its name.")]),
)
.description("Discount code to publish to the customer. Present only with `DISCOUNT_COUPONS`.");
/// Code of a campaign of gift cards.
pub const GIFTS: Field = may(
    "gift_vouchers",
    FieldType::Object(&[
        must("campaign_id", KEY)
            .description("ID of a campaign of type `GIFT_VOUCHERS`. A request can also send its name."),
        must("balance", COUNT).description("Amount added to the initial balance of the gift card, in minor units."),
    ]),
)
.description("Gift card to publish to the customer. Present only with `GIFT_VOUCHERS`.");

/// Code that is granted.
const DIGITAL: FieldType = shape!(
    "IncentiveVoucher",
    "Voucher that an incentive gives.",
    &[
        may("type", FieldType::OneOf(&["DISCOUNT_COUPONS", "GIFT_VOUCHERS"]))
            .description("Type of the voucher. Determines which block is present."),
        COUPONS,
        GIFTS
    ]
);

/// Granted item of an incentive, by its type.
pub const GRANTED_ITEM: TaggedBlock = tagged_block(
    "",
    "type",
    &[
        ("POINTS", &["points"]),
        ("POINTS_PROPORTIONAL", &["points_proportional"]),
        ("MATERIAL", &["material"]),
        ("DIGITAL", &["digital"]),
    ],
);
/// Blocks that belong together.
pub const CHOICES: &[TaggedBlock] = &[
    GRANTED_ITEM,
    MATERIALS,
    tagged_block(
        "digital",
        "type",
        &[("DISCOUNT_COUPONS", &["discount_coupons"]), ("GIFT_VOUCHERS", &["gift_vouchers"])],
    ),
    tagged_block("points_proportional", "calculation_type", CALCULATIONS),
    tagged_block("points_proportional.order_items.amount.applicable_to[]", "type", GOODS_NAMES),
    tagged_block("points_proportional.order_items.subtotal_amount.applicable_to[]", "type", GOODS_NAMES),
    tagged_block("points_proportional.order_items.quantity.applicable_to[]", "type", GOODS_NAMES),
    tagged_block("stock", "type", STOCKS),
];

/// Granted item of an incentive, in requests and responses.
const BLOCKS: &[Field] = &[
    may(
        "points",
        FieldType::Object(&[
            must("value", COUNT).description("Number of points."),
            must("card_definition_id", KEY)
                .description("ID of the card definition. The points go to the member's card of this definition."),
        ]),
    )
    .description("Fixed number of points. Present only with `POINTS`."),
    may("points_proportional", FieldType::Object(PROPORTIONAL))
        .description("Points in proportion to a number of the event. Present only with `POINTS_PROPORTIONAL`."),
    may("material", MATERIAL).description("Goods that the customer receives. Present only with `MATERIAL`."),
    may("digital", DIGITAL).description("Voucher to publish to the customer. Present only with `DIGITAL`."),
];

const STATUS: Field =
    may("status", FieldType::OneOf(&["DRAFT", "ACTIVE"])).description("Initial status. Default `DRAFT`.");
const NAME_TEXT: &str = "Name, unique among the incentives and benefits of the project.";
const TYPE_TEXT: &str = "Type of the gift. Determines which block is present.";
const NEW: &[Field] = &[must("name", NAME).description(NAME_TEXT), must("type", TYPES).description(TYPE_TEXT), STATUS];
const KNOWN: &[Field] = &[may("name", NAME).description(NAME_TEXT), may("type", TYPES).description(TYPE_TEXT)];
/// Quantity in the older revision.
const PIECES: FieldType = FieldType::Int(0, 2_147_483_647);
const OLDER_STOCK: Field = may("stock", FieldType::Either(&[PIECES, STOCK]))
    .description("Units left to grant, as a number or an object. Each grant takes one. `UNLIMITED` means no end.");
const LATER_STOCK: Field = may("stock", FieldType::Either(&[STOCK, PIECES])).description(
    "Units left to grant, as an object or a number. Each grant takes one. Unlimited by default on creation.",
);

/// Fields of a new incentive.
pub const CREATE: &[Field] = fields_of!(NEW, &[OLDER_STOCK.always()], BLOCKS);
/// Fields of a change of an incentive.
pub const UPDATE: &[Field] = fields_of!(KNOWN, &[OLDER_STOCK], BLOCKS);
/// Fields of a new benefit.
pub const CREATE_BENEFIT: &[Field] = fields_of!(NEW, &[LATER_STOCK], BLOCKS);
/// Fields of a change of a benefit.
pub const UPDATE_BENEFIT: &[Field] = fields_of!(KNOWN, &[LATER_STOCK], BLOCKS);

/// Members of an incentive or a benefit.
const INCENTIVE_FIELDS: &[Field] = &[
    must("id", KEY),
    must("name", NAME).description(NAME_TEXT),
    must("type", TYPES).description(TYPE_TEXT),
    must("status", FieldType::OneOf(&["DRAFT", "ACTIVE", "DELETED"]))
        .description("Status. Earning rules grant active incentives and benefits only."),
    must("created_at", FieldType::DateTime),
    must("updated_at", FieldType::DateTime).or_null(),
];

/// An incentive.
pub const INCENTIVE: FieldType = shape!(
    "LoyaltyIncentive",
    "Gift that earning rules grant to members: points, goods or a voucher.",
    fields_of!(
        INCENTIVE_FIELDS,
        &[
            must("stock", COUNT).or_null().description("Number of units left to grant. `null` means unlimited."),
            object(&["incentive"])
        ],
        BLOCKS
    )
);

/// An incentive under its later name.
pub const BENEFIT: FieldType = shape!(
    "LoyaltyBenefit",
    "Incentive under its later name: a gift that earning rules grant to members.",
    fields_of!(
        INCENTIVE_FIELDS,
        &[must("stock", STOCK).description("Units left to grant."), object(&["benefit"])],
        BLOCKS
    )
);

/// Activity of an incentive.
pub const INCENTIVE_ACTIVITY: FieldType = activity!("IncentiveActivity", "incentive_id");
/// Activity of a benefit.
pub const BENEFIT_ACTIVITY: FieldType = activity!("BenefitActivity", "benefit_id");
