/**
 * Vouchers and promotions decided in the page or on your server, without a call.
 *
 * Money is a whole number of minor units (`4900` is 49.00), and times are UTC. The same rules, request, `now` and
 * `seed` give the same bytes everywhere, the Scrip service included.
 */

/** Any JSON object. */
export type Json = { [field: string]: unknown };

/** The time and the seed of a decision; both have defaults. */
export interface Context {
  /**
   * The time of the decision: a `Date`, whole milliseconds since 1970, or ISO 8601 text with its zone
   * (`2026-03-01T12:00:00Z`). Default: now, by this machine's clock; for a bundle's rules, by the service's.
   */
  now?: Date | number | string | undefined;
  /**
   * 2 to 64 hex digits, two for a byte; shorter ones are padded with zeros. Ids in the answer are derived from it.
   * Default: 32 random bytes, so every answer has ids of its own.
   */
  seed?: string | undefined;
}

// Shapes, written from the engine's tables by `UPDATE=1 cargo nextest run -p scrip --test it types`.

/** Redeemables to validate or redeem, and the order to apply them to. */
export interface ValidationRequest extends Json {
  /** Redeemables in the order of application. Each may occur once, and a promotion stack must be the only one. */
  redeemables: RedeemableRequest[];
  /** Order to apply the redeemables to. An `id` without other fields loads the stored order. */
  order?: OrderRequest | undefined;
  /** Customer who redeems. From a client with a customer token, the customer of the token. */
  customer?: CustomerRequest | undefined;
  /** Session that sets or uses a lock. Absent means no lock. */
  session?: SessionRequest | undefined;
  /** Identifier of the customer: a `tracking_id` of an earlier answer, or a `source_id`. Used if no customer is sent. */
  tracking_id?: string | undefined;
  /** Metadata of the redemption, which validation rules can test. */
  metadata?: Json | undefined;
  /** Names of further data to include in the answer. */
  options?: OptionsRequest | undefined;
}

/** Redeemable in a request. */
export interface RedeemableRequest extends Json {
  /** Type of the redeemable. */
  object: RedeemableObject;
  /** Code of a voucher, or ID of a promotion tier or promotion stack. */
  id: string;
  /** Gift credits to spend, for a gift card. */
  gift?: {
    /** Gift credits to spend, in minor units. Absent means the highest possible number. */
    credits?: number | undefined;
  } | undefined;
  /** Reward that points buy. Required for a loyalty card. */
  reward?: {
    /** ID of the reward. */
    id: string;
    /** Number of points to spend on a reward of type `COIN`. Absent means the highest number that order and card allow. */
    points?: number | undefined;
  } | undefined;
}

/** Type of redeemable. Gift cards and loyalty cards are of type `voucher`. */
export type RedeemableObject = "voucher" | "promotion_tier" | "promotion_stack";

/** Order in a request. All amounts are in minor units. */
export interface OrderRequest extends Json {
  /** ID of the object. */
  id?: string | undefined;
  /** Unique name of the order in the merchant's system. */
  source_id?: string | undefined;
  /** Status of the order. A client may send only statuses that the client policy allows. */
  status?: "CREATED" | "PAID" | "CANCELED" | "FULFILLED" | undefined;
  /** Amount of the order before discounts, in minor units. Absent means the sum of the items. */
  amount?: number | undefined;
  /** Amount of the order before units were added by discounts, in minor units. */
  initial_amount?: number | undefined;
  /** Discount on the whole order that was given before this request, in minor units. */
  discount_amount?: number | undefined;
  /** Items of the order. */
  items?: OrderItemRequest[] | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | undefined;
  /** Moment at which the order was made, in UTC. Absent means now. */
  created_at?: string | undefined;
  /** ID or `source_id` of the buyer. Used if no customer is sent. */
  customer_id?: string | undefined;
  /** ID of the customer who referred the buyer. */
  referrer_id?: string | undefined;
  /** Buyer. Used if the request names no customer outside the order. */
  customer?: CustomerRequest | undefined;
  /** Customer who referred the buyer. Only `id` is read, and only without `referrer_id`. */
  referrer?: Json | undefined;
}

/** Item of an order in a request. */
export interface OrderItemRequest extends Json {
  /** ID of the product. */
  product_id?: string | undefined;
  /** ID of the SKU. */
  sku_id?: string | undefined;
  /** Unique name of the product or SKU in the merchant's system. Requires `related_object`. */
  source_id?: string | undefined;
  /** Type of the object that `source_id` names. */
  related_object?: "product" | "sku" | undefined;
  /** Number of units, as a number or as text. Default 1. */
  quantity?: number | string | undefined;
  /** Number of units that are free already, as a number or as text. */
  discount_quantity?: number | string | undefined;
  /** Number of units before free units were added, as a number or as text. */
  initial_quantity?: number | string | undefined;
  /** Amount of the item before discounts, in minor units. Absent means price times quantity. */
  amount?: number | undefined;
  /** Discount on the item that was given before this request, in minor units. */
  discount_amount?: number | undefined;
  /** Amount of the item before free units were added, in minor units. */
  initial_amount?: number | undefined;
  /** Price of one unit, in minor units. Absent means the price of the SKU or product. */
  price?: number | undefined;
  /** Data of the product that take precedence over the catalogue. */
  product?: Goods | undefined;
  /** Data of the SKU that take precedence over the catalogue. */
  sku?: Goods | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | undefined;
}

/** Product or SKU of an order item. A product is named by `name`, a SKU by `sku`. */
export interface Goods extends Json {
  /** ID of the object. */
  id?: string | undefined;
  /** Unique name of the product or SKU in the merchant's system. */
  source_id?: string | undefined;
  /** `true` to write these data to the catalogue when the order is stored. Default `false`. Ignored from a client. */
  override?: boolean | undefined;
  /** Name of the product. */
  name?: string | undefined;
  /** Name of the SKU. */
  sku?: string | undefined;
  /** Price of one unit, in minor units. Takes precedence over the price in the catalogue. */
  price?: number | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | undefined;
}

/** Customer in a request: names, profile and metadata. */
export interface CustomerRequest extends Json {
  /** ID of the object. */
  id?: string | undefined;
  /** Unique name of the customer in the merchant's system. The name of a stored customer never changes. */
  source_id?: string | undefined;
  /** Full name of the customer. */
  name?: string | undefined;
  /** Note of the merchant on the customer. */
  description?: string | undefined;
  /** Email address. In decisions, orders, events and publications, identifies the customer if neither `id` nor `source_id` is sent. */
  email?: string | undefined;
  /** Phone number of the customer, stored as sent. */
  phone?: string | undefined;
  /** Date of birth, used if `birthdate` is absent. */
  birthday?: string | undefined;
  /** Date of birth. A date-time is accepted as well. */
  birthdate?: string | undefined;
  /** Postal address. `null` removes the address of a stored customer. */
  address?: Address | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | undefined;
}

/** Postal address of a customer. */
export interface Address extends Json {
  /** City of the address. */
  city?: string | null | undefined;
  /** State or region of the address. */
  state?: string | null | undefined;
  /** First line of the address, with street and number. */
  line_1?: string | null | undefined;
  /** Second line of the address. */
  line_2?: string | null | undefined;
  /** Country of the address, as sent. */
  country?: string | null | undefined;
  /** Postal code of the address. */
  postal_code?: string | null | undefined;
}

/** Session, which can set a lock that reserves the applied redeemables until they are redeemed with the key. */
export interface SessionRequest extends Json {
  /** Type of session. `LOCK` sets a lock; absent sets none, and uses the lock with this key. */
  type?: "LOCK" | undefined;
  /** Key of the session. Absent means a generated key. */
  key?: string | undefined;
  /** Lifetime of the lock, in `ttl_unit`. Absent means 7 days, for a client the longest lifetime of the client policy. */
  ttl?: number | undefined;
  /** Unit of `ttl`. Default `DAYS`. */
  ttl_unit?: "DAYS" | "HOURS" | "MINUTES" | "SECONDS" | "MILLISECONDS" | "MICROSECONDS" | "NANOSECONDS" | undefined;
}

/** Names of further data to include in the answer. */
export interface OptionsRequest extends Json {
  /** Names of data to include: `order`, `redemption`, `redeemable`, `category`, `trace`. Other names are ignored. */
  expand?: string[] | undefined;
}

/** Order with the discounts of a decision. All amounts are in minor units, and an absent amount means 0. */
export interface Order extends Json {
  /** ID of the object. */
  id?: string | undefined;
  /** Status of the order. Absent if none was sent. */
  status?: "CREATED" | "PAID" | "CANCELED" | "FULFILLED" | undefined;
  /** Unique name of the order in the merchant's system. */
  source_id?: string | null | undefined;
  /** Amount of the order before discounts, in minor units, with units added by discounts. Absent without any known price. */
  amount?: number | undefined;
  /** Amount of the order before discounts added or removed units, in minor units. Absent if no units changed. */
  initial_amount?: number | undefined;
  /** Discount on the whole order so far, in minor units, with discounts of earlier requests. */
  discount_amount?: number | undefined;
  /** Sum of the discounts on the items so far, in minor units. */
  items_discount_amount?: number | undefined;
  /** Sum of `discount_amount` and `items_discount_amount`, in minor units. */
  total_discount_amount?: number | undefined;
  /** Amount to pay after all discounts, in minor units, never below 0. */
  total_amount?: number | undefined;
  /** Discount on the whole order by this request, in minor units. For a single redeemable, by this redeemable only. */
  applied_discount_amount?: number | undefined;
  /** Sum of the discounts on the items by this request, in minor units. For a single redeemable, by this redeemable only. */
  items_applied_discount_amount?: number | undefined;
  /** Sum of `applied_discount_amount` and `items_applied_discount_amount`, in minor units. */
  total_applied_discount_amount?: number | undefined;
  /** Items of the order. Absent if the order has none. */
  items?: OrderItem[] | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | undefined;
  /** ID of the buyer. Absent for a client without proof, and if the customer is not stored. */
  customer_id?: string | null | undefined;
  /** ID of the customer who referred the buyer. Absent for a client without proof. */
  referrer_id?: string | null | undefined;
  /** Type of the object. */
  object: "order";
}

/** Item of an order, with discounts and changed units. */
export interface OrderItem extends Json {
  /** ID of the item. Absent if the item is not stored. */
  id?: string | undefined;
  /** Type of the object. */
  object: "order_item";
  /** Unique name of the product or SKU in the merchant's system. Absent if the item was not named so. */
  source_id?: string | undefined;
  /** Type of the object that `source_id` names. */
  related_object?: "product" | "sku" | undefined;
  /** ID of the product. Absent if unknown. */
  product_id?: string | undefined;
  /** ID of the SKU. Absent if unknown. */
  sku_id?: string | undefined;
  /** Number of units, with units added by discounts. */
  quantity: number;
  /** Number of units before discounts added or removed some. 0 for an item that a discount added. */
  initial_quantity?: number | undefined;
  /** Number of free units so far. */
  discount_quantity?: number | undefined;
  /** Number of units made free by this request. For a single redeemable, by this redeemable only. */
  applied_discount_quantity?: number | undefined;
  /** Number of units added by this request, negative for removed units. For a single redeemable, by this redeemable only. */
  applied_quantity?: number | undefined;
  /** Amount of the units in `applied_quantity`, in minor units, negative for removed units. */
  applied_quantity_amount?: number | undefined;
  /** Amount of the item before discounts, in minor units. Absent if no price is known. */
  amount?: number | undefined;
  /** Amount of the item before discounts added or removed units, in minor units. */
  initial_amount?: number | undefined;
  /** Discount on the item so far, in minor units, with discounts of earlier requests. */
  discount_amount?: number | undefined;
  /** Discount on the item by this request, in minor units. For a single redeemable, by this redeemable only. */
  applied_discount_amount?: number | undefined;
  /** Price of one unit, in minor units. Absent if no price is known. */
  price?: number | undefined;
  /** Amount of the item after its discounts, in minor units, never below 0. */
  subtotal_amount?: number | undefined;
  /** Replacements of units of this item by units of another. Absent if none. */
  application_details?: {
    /** Index of the item that lost units, from 0. */
    source_index: number;
    /** Number of units that were removed, as a negative number. */
    source_applied_quantity: number;
    /** Amount of the removed units in minor units, as a negative number. */
    source_applied_quantity_amount: number;
    /** Index of the item that gained units, from 0. */
    target_index: number;
    /** Number of units that were added. */
    target_applied_quantity: number;
    /** Amount of the added units, in minor units. */
    target_applied_quantity_amount: number;
    /** Discount on the added units, in minor units. */
    target_applied_discount_amount: number;
  }[] | undefined;
  /** Product of the item. Absent if the item is of no known product. */
  product?: Goods | undefined;
  /** SKU of the item. Absent if the item is of no known SKU. */
  sku?: Goods | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | undefined;
}

/** Reason for which a redeemable is not applied. */
export interface Refusal extends Json {
  /** HTTP status that a redemption would be answered with. */
  code?: number | undefined;
  /** Machine-readable error key. See the list of error keys. */
  key: string;
  /** Short text of the error, for people. Programs decide by `key`. */
  message: string;
  /** Longer text for people, usually with the code, the rule or the field. Absent when the error key is sufficient. */
  details?: string | undefined;
  /** ID of the request, as in the log of the service. */
  request_id?: string | undefined;
  /** ID or code of the object that the refusal is about. Absent when the refusal is about no object. */
  resource_id?: string | undefined;
  /** Type of the object in `resource_id`. */
  resource_type?: string | undefined;
  /** Custom error of the violated validation rule. Absent when the rule declares none. */
  error?: {
    /** Text that the author of the validation rule wrote for customers. */
    message: string;
  } | undefined;
}

/** Discount as applied, with the values that its formulas gave. */
export interface Discount extends Json {
  /** Type of discount: `AMOUNT` off, `PERCENT` off, a `FIXED` price, or free units (`UNIT`). */
  type: "AMOUNT" | "PERCENT" | "FIXED" | "UNIT";
  /** Part of the order that the discount acts on, or the way of giving units. */
  effect: "APPLY_TO_ORDER" | "APPLY_TO_ITEMS" | "APPLY_TO_ITEMS_PROPORTIONALLY" | "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY" | "APPLY_TO_ITEMS_BY_QUANTITY" | "ADD_MISSING_ITEMS" | "ADD_NEW_ITEMS" | "ADD_SAME_ITEMS" | "ADD_MANY_ITEMS" | "REPLACE_ITEMS";
  /** `true` if a formula determined the value. */
  is_dynamic?: boolean | undefined;
  /** Amount of the discount, in minor units. Present for `AMOUNT`. */
  amount_off?: number | undefined;
  /** Percentage of the discount. Present for `PERCENT`. */
  percent_off?: number | undefined;
  /** Amount that remains to pay for the order or for each unit, in minor units. Absent if prices are defined for each item. */
  fixed_amount?: number | undefined;
  /** Highest discount of the order, or of each order item, in minor units. Absent without a limit. */
  amount_limit?: number | undefined;
  /** Highest discount of all order items together, in minor units. Absent without a limit. */
  aggregated_amount_limit?: number | undefined;
  /** Number of units that are given. Present for `UNIT`. */
  unit_off?: number | undefined;
  /** ID of the product, SKU or collection that is given. Present for `UNIT`. */
  unit_type?: string | undefined;
  /** Product that is given. */
  product?: Goods | undefined;
  /** SKU that is given. */
  sku?: Goods | undefined;
  /** Products and SKUs that are given together. Present for `ADD_MANY_ITEMS`. */
  units?: {
    /** Number of units that are given. */
    unit_off: number;
    /** ID of the product or SKU that is given. */
    unit_type: string;
    /** Method of adding the units. */
    effect?: "APPLY_TO_ORDER" | "APPLY_TO_ITEMS" | "APPLY_TO_ITEMS_PROPORTIONALLY" | "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY" | "APPLY_TO_ITEMS_BY_QUANTITY" | "ADD_MISSING_ITEMS" | "ADD_NEW_ITEMS" | "ADD_SAME_ITEMS" | "ADD_MANY_ITEMS" | "REPLACE_ITEMS" | undefined;
    /** Product that is given. */
    product?: Goods | undefined;
    /** SKU that is given. */
    sku?: Goods | undefined;
  }[] | undefined;
}

/** Grant of a redeemable: discount, gift credits or points. */
export interface Grant extends Json {
  /** Discount of a coupon or promotion tier, with resolved amounts. */
  discount?: Discount | undefined;
  /** Gift credits of a gift card. Absent for other redeemables. */
  gift?: {
    /** Gift credits on the card before the redemption, in minor units. */
    balance: number;
    /** Gift credits that are spent, in minor units. */
    credits: number;
    /** Gift credits that sessions reserve, in minor units. Present in qualifications with a session. */
    locked_credits?: number | undefined;
  } | undefined;
  /** Points of a loyalty card. Absent for other redeemables. */
  loyalty_card?: {
    /** Number of points that are spent. Without a reward, number of points on the card. */
    points: number;
    /** Number of points on the card. Present without a reward. */
    balance?: number | undefined;
  } | undefined;
  /** Reward that the points buy. Absent without a reward. */
  reward?: Reward | undefined;
  /** Product bundles that the validation rules require. Absent if none are required. */
  bundle?: Bundles | undefined;
}

/** Reward that points buy, with the price. */
export interface Reward extends Json {
  /** ID of the object. */
  id: string;
  /** ID of the reward assignment that sets the price. */
  assignment_id: string;
  /** Type of the object. */
  object: "reward";
  /** Name of the reward. */
  name: string;
  /** Type of reward: `MATERIAL` a product, `CAMPAIGN` a voucher or a balance, `COIN` a discount in money. */
  type: "MATERIAL" | "CAMPAIGN" | "COIN";
  /** Number of points that the reward costs. */
  points: number;
}

/** Product bundles that the validation rules of a redeemable require. */
export interface Bundles extends Json {
  /** Number of bundles that the order completes. */
  quantity: number;
  /** Largest number of bundles that count. */
  limit: number;
  /** Units of the order that belong to complete bundles. */
  identified: {
    /** Type of the product: `product`, `sku` or `products_collection`. */
    object: string;
    /** ID of the product, SKU or collection. */
    id: string;
    /** Number of units. */
    item_quantity: number;
    /** Index of the item in the order, from 0. */
    item_index: number;
  }[];
  /** Units that are missing for the next bundle. Absent if none. */
  missing?: {
    /** Type of the product: `product`, `sku` or `products_collection`. */
    object: string;
    /** ID of the product, SKU or collection. */
    id: string;
    /** Number of units. */
    item_quantity: number;
  }[] | undefined;
}

/** List of the items that a redeemable applies to, or does not apply to. */
export interface GoodsList extends Json {
  /** Type of the object. */
  object: "list";
  /** Name of the member that contains the entries. Always `data`. */
  data_ref: "data";
  /** Entries of the validation rule, and one entry for each product or SKU of the order that they cover. */
  data: {
    /** Type of the object. */
    object: "product" | "sku" | "products_collection";
    /** ID of the object. */
    id: string;
    /** Identifier of the product, SKU or collection in the merchant's system. */
    source_id?: string | undefined;
    /** ID of the product of a SKU. */
    product_id?: string | undefined;
    /** Identifier of the product of a SKU in the merchant's system. */
    product_source_id?: string | undefined;
    /** `true` for a product or SKU of the order, `false` for an entry of the validation rule. Set in results, without effect in a rule. */
    strict?: boolean | undefined;
    /** Price of one unit with a discount of type `FIXED`, in minor units. Default is the `fixed_amount` of the discount. */
    price?: number | undefined;
    /** Formula for `price`, in major units. `price` is used instead if the formula cannot be evaluated. */
    price_formula?: number | string | undefined;
    /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
    product_campaign_quantity_limit?: number | undefined;
    /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
    product_campaign_quantity_limit_formula?: string | undefined;
    /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
    product_customer_campaign_quantity_limit?: number | undefined;
    /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
    product_customer_campaign_quantity_limit_formula?: string | undefined;
    /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
    product_in_collection_campaign_quantity_limit?: number | undefined;
    /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
    product_in_collection_campaign_quantity_limit_formula?: string | undefined;
    /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
    product_in_collection_customer_campaign_quantity_limit?: number | undefined;
    /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
    product_in_collection_customer_campaign_quantity_limit_formula?: string | undefined;
    /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
    product_promotion_tier_quantity_limit?: number | undefined;
    /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
    product_promotion_tier_quantity_limit_formula?: string | undefined;
    /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
    product_customer_promotion_tier_quantity_limit?: number | undefined;
    /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
    product_customer_promotion_tier_quantity_limit_formula?: string | undefined;
    /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
    product_in_collection_promotion_tier_quantity_limit?: number | undefined;
    /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
    product_in_collection_promotion_tier_quantity_limit_formula?: string | undefined;
    /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
    product_in_collection_customer_promotion_tier_quantity_limit?: number | undefined;
    /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
    product_in_collection_customer_promotion_tier_quantity_limit_formula?: string | undefined;
    /** Selection and order of the targets by unit price. Default `APPLY_TO_EVERY`. */
    effect?: "APPLY_TO_EVERY" | "APPLY_TO_CHEAPEST" | "APPLY_FROM_CHEAPEST" | "APPLY_TO_MOST_EXPENSIVE" | "APPLY_FROM_MOST_EXPENSIVE" | undefined;
    /** Highest number of discounted units of each order item. Absent means no limit. */
    quantity_limit?: number | undefined;
    /** Highest number of discounted units of all order items of this entry. Absent means no limit. */
    aggregated_quantity_limit?: number | undefined;
    /** Highest discount of each order item, in minor units. Absent means no limit. */
    amount_limit?: number | undefined;
    /** Highest discount of all order items of this entry, in minor units. Absent means no limit. */
    aggregated_amount_limit?: number | undefined;
    /** Number of targets to skip first. Default 0. */
    skip_initially?: number | undefined;
    /** Distance between discounted targets: 1 for each, 2 for every second. Default 1. */
    repeat?: number | undefined;
    /** Unit of selection: order items (`ITEM`) or their single units (`UNIT`). Default `ITEM`. */
    target?: "ITEM" | "UNIT" | undefined;
    /** Positions of the order items that are covered, from 0, in the order of application. Set in results, without effect in a rule. */
    order_item_indices?: number[] | undefined;
    /** Units of the order items that are covered, in the order of application. */
    order_item_units?: {
      /** Position of the order item, from 0. */
      index: number;
      /** Numbers of the covered units of the order item, from 1. Absent if `units_limit_exceeded` is `true`. */
      units?: number[] | undefined;
      /** `true` if the order has too many units to list them. Discounts are still calculated in full. */
      units_limit_exceeded?: boolean | undefined;
    }[] | undefined;
  }[];
  /** Number of entries. */
  total: number;
}

/** Data that `expand` adds to a redeemable. */
export interface Expanded extends Json {
  /** Metadata of the redeemable. Present with `expand` `redeemable`. */
  metadata?: Json | undefined;
  /** Name of a promotion tier or promotion stack. Present with `expand` `redeemable`. */
  name?: string | undefined;
  /** Text of a promotion tier to display in a shop. Present with `expand` `redeemable`. */
  banner?: string | undefined;
  /** Name of the campaign. Present with `expand` `redeemable`. */
  campaign_name?: string | undefined;
  /** ID of the campaign. Present with `expand` `redeemable`. */
  campaign_id?: string | undefined;
  /** Category of the redeemable, or none. Present with `expand` `category`. */
  categories?: Category[] | undefined;
}

/** Category of a redeemable, with its role in the stacking rules. */
export interface Category extends Json {
  /** ID of the object. */
  id: string;
  /** Name of the category, unique in the project. */
  name: string;
  /** Rank of the category; a lower number comes first. Used if the stacking rules sort by `CATEGORY_HIERARCHY`. */
  hierarchy: number;
  /** Type of the object. */
  object: "category";
  /** Moment of the creation, in UTC. */
  created_at?: string | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Role in the stacking rules: `EXCLUSIVE` redeemables exclude those of other categories, except for `JOINT` ones. Absent without a role. */
  stacking_rules_type?: "JOINT" | "EXCLUSIVE" | undefined;
}

/** Verdict on one redeemable, discriminated by `status`. */
export type Redeemable = ApplicableRedeemable | InapplicableRedeemable | SkippedRedeemable;

/** Redeemable that applies. */
export interface ApplicableRedeemable extends Json {
  /** Status of the verdict. Always `APPLICABLE`. */
  status: "APPLICABLE";
  /** Code or ID as requested. For a promotion stack, the ID of the promotion tier. */
  id: string;
  /** Type of the redeemable. */
  object: RedeemableObject;
  /** Order after this redeemable and those before, with the discounts. Absent without an order. */
  order?: Order | undefined;
  /** Products, SKUs and collections that the discount may act on. */
  applicable_to: GoodsList;
  /** Products, SKUs and collections that the discount leaves out. */
  inapplicable_to: GoodsList;
  /** Grant of the redeemable. */
  result: Grant;
  /** Metadata of the redeemable. Present with `expand` `redeemable`. */
  metadata?: Json | undefined;
  /** Name of a promotion tier or promotion stack. Present with `expand` `redeemable`. */
  name?: string | undefined;
  /** Text of a promotion tier to display in a shop. Present with `expand` `redeemable`. */
  banner?: string | undefined;
  /** Name of the campaign. Present with `expand` `redeemable`. */
  campaign_name?: string | undefined;
  /** ID of the campaign. Present with `expand` `redeemable`. */
  campaign_id?: string | undefined;
  /** Category of the redeemable, or none. Present with `expand` `category`. */
  categories?: Category[] | undefined;
}

/** Redeemable that does not apply. */
export interface InapplicableRedeemable extends Json {
  /** Status of the verdict. Always `INAPPLICABLE`. */
  status: "INAPPLICABLE";
  /** Code or ID as requested. For a promotion stack, the ID of the promotion tier. */
  id: string;
  /** Type of the redeemable. */
  object: RedeemableObject;
  /** Reason for which the redeemable does not apply. */
  result: {
    /** Error that a redemption would be answered with. */
    error: Refusal;
    /** Key and message of the error. The message is that of the validation rule if the rule has one. */
    details: Reason;
    /** Product bundles that the validation rules require. Absent if none are required. */
    bundle?: Bundles | undefined;
  };
  /** Metadata of the redeemable. Present with `expand` `redeemable`. */
  metadata?: Json | undefined;
  /** Name of a promotion tier or promotion stack. Present with `expand` `redeemable`. */
  name?: string | undefined;
  /** Text of a promotion tier to display in a shop. Present with `expand` `redeemable`. */
  banner?: string | undefined;
  /** Name of the campaign. Present with `expand` `redeemable`. */
  campaign_name?: string | undefined;
  /** ID of the campaign. Present with `expand` `redeemable`. */
  campaign_id?: string | undefined;
  /** Category of the redeemable, or none. Present with `expand` `category`. */
  categories?: Category[] | undefined;
}

/** Short form of a reason. */
export interface Reason extends Json {
  /** Machine-readable key of the reason. See the list of error keys. */
  key: string;
  /** Short text of the reason, for people. */
  message: string;
}

/** Redeemable that was skipped without fault. The key is `known_to_server_only` if only the server can decide. */
export interface SkippedRedeemable extends Json {
  /** Status of the verdict. Always `SKIPPED`. */
  status: "SKIPPED";
  /** Code or ID as requested. For a promotion stack, the ID of the promotion tier. */
  id: string;
  /** Type of the redeemable. */
  object: RedeemableObject;
  /** Reason for which the redeemable was skipped. */
  result: {
    /** Key and message of the reason. */
    details: Reason;
  };
  /** Metadata of the redeemable. Present with `expand` `redeemable`. */
  metadata?: Json | undefined;
  /** Name of a promotion tier or promotion stack. Present with `expand` `redeemable`. */
  name?: string | undefined;
  /** Text of a promotion tier to display in a shop. Present with `expand` `redeemable`. */
  banner?: string | undefined;
  /** Name of the campaign. Present with `expand` `redeemable`. */
  campaign_name?: string | undefined;
  /** ID of the campaign. Present with `expand` `redeemable`. */
  campaign_id?: string | undefined;
  /** Category of the redeemable, or none. Present with `expand` `category`. */
  categories?: Category[] | undefined;
}

/** Lock that reserves redeemables for a limited time. */
export interface Session extends Json {
  /** Type of session. Always `LOCK`. */
  type: "LOCK";
  /** Key of the session, to send with the redemption. */
  key: string;
  /** Lifetime of the lock, in `ttl_unit`. */
  ttl: number;
  /** Unit of `ttl`. */
  ttl_unit: "DAYS" | "HOURS" | "MINUTES" | "SECONDS" | "MILLISECONDS" | "MICROSECONDS" | "NANOSECONDS";
}

/** Verdict on a request with several redeemables. */
export interface Validation extends Json {
  /** ID of the object. */
  id: string;
  /** `true` if the request can be redeemed as sent. */
  valid: boolean;
  /** Verdicts on all redeemables in application mode `ALL`. In mode `PARTIAL` those that apply, or if none, those refused. */
  redeemables: Redeemable[];
  /** Verdicts on redeemables that do not apply. Absent if none. */
  inapplicable_redeemables?: InapplicableRedeemable[] | undefined;
  /** Verdicts on redeemables that were skipped. Absent if none. */
  skipped_redeemables?: SkippedRedeemable[] | undefined;
  /** Order after all redeemables, with the discounts. Present if `valid` is `true` and an order was sent. */
  order?: Order | undefined;
  /** Encrypted identifier of the customer, which later requests may contain. */
  tracking_id?: string | undefined;
  /** Lock that was set. Absent if the request contained no `session`. */
  session?: Session | undefined;
  /** Stacking rules of the project that were followed. */
  stacking_rules: StackingRules;
  /** Facts that the client does not have and on which the verdict depends: the verdict is provisional. Absent if it is final. */
  missing?: string[] | undefined;
  /** Fields that only the server can fill, left out of a client's answer: `tracking_id`. Absent if none. */
  omitted?: string[] | undefined;
  /** Explanation of the verdict on each redeemable, in the order of evaluation. Present with `expand` `trace`. */
  trace?: Trace[] | undefined;
}

/** Stacking rules that the project applies to several redeemables in one request. */
export interface StackingRules extends Json {
  /** IDs of exclusive categories. A redeemable in one of them excludes all redeemables outside exclusive and joint categories. Default none. */
  exclusive_categories: string[];
  /** IDs of joint categories. Their redeemables can be combined with exclusive ones. Default none. */
  joint_categories: string[];
  /** Highest number of redeemables in one request. Default 30. */
  redeemables_limit: number;
  /** Highest number of redeemables that one request applies; further ones are skipped. At most `redeemables_limit`. Default 5. */
  applicable_redeemables_limit: number;
  /** Highest number of redeemables of one category that one request applies. At most `applicable_redeemables_limit`. `null` means no limit and is the default. */
  applicable_redeemables_per_category_limit: number | null;
  /** Limits of single categories by their ID. Replace `applicable_redeemables_per_category_limit` for these categories. Default none. */
  applicable_redeemables_category_limits: Record<string, number>;
  /** Highest number of exclusive redeemables that one request applies. Default 1. */
  applicable_exclusive_redeemables_limit: number;
  /** Highest number of exclusive redeemables of one category that one request applies. At most `applicable_exclusive_redeemables_limit`. `null` or absent means no limit. */
  applicable_exclusive_redeemables_per_category_limit?: number | null | undefined;
  /** Handling of a redeemable that fails: `ALL` then applies none, `PARTIAL` applies the others. Default `ALL`. */
  redeemables_application_mode: "ALL" | "PARTIAL";
  /** Order of application: as in the request (`REQUESTED_ORDER`), or by rank of the category (`CATEGORY_HIERARCHY`). Default `REQUESTED_ORDER`. */
  redeemables_sorting_rule: "CATEGORY_HIERARCHY" | "REQUESTED_ORDER";
  /** Discounts on one order item in a request: `STACK` allows several, `ONCE` allows one. Default `STACK`. */
  redeemables_products_application_mode: "STACK" | "ONCE";
  /** Handling of a redeemable without effect on the order: `REDEEM_ANYWAY` applies the redeemable, `SKIP` does not. Default `REDEEM_ANYWAY`. */
  redeemables_no_effect_rule: "REDEEM_ANYWAY" | "SKIP";
  /** IDs of categories that always skip a redeemable without effect. Default none. */
  no_effect_skip_categories: string[];
  /** IDs of categories that always apply a redeemable without effect. Default none. */
  no_effect_redeem_anyway_categories: string[];
  /** Effect of a rollback on the order: `WITH_ORDER` also removes the discount from the order, `WITHOUT_ORDER` leaves the order unchanged. Default `WITH_ORDER`. */
  redeemables_rollback_order_mode: "WITH_ORDER" | "WITHOUT_ORDER";
  /** Order of joint redeemables with exclusive ones: after them (`JOINT_ALWAYS_LAST`), or all by `redeemables_sorting_rule`. Cannot be changed. */
  grouped_redeemables_sorting_rule: "JOINT_ALWAYS_LAST" | "REDEEMABLES_SORTING_RULE";
}

/** Explanation of the verdict on one redeemable. A client gets fewer details than a server. */
export interface Trace extends Json {
  /** Code or ID of the redeemable, as requested. */
  id?: string | undefined;
  /** Type of the redeemable. */
  object?: RedeemableObject | undefined;
  /** Result for the redeemable: `APPLIED`, `SKIPPED` without fault, or `REFUSED`. */
  verdict: "APPLIED" | "SKIPPED" | "REFUSED";
  /** Discount of the redeemable in total, in minor units. Present for `APPLIED`. */
  amount?: number | undefined;
  /** Part of the discount on the whole order, in minor units. */
  order_amount?: number | undefined;
  /** Parts of the discount on single items. Present for `APPLIED`. */
  lines?: {
    /** Index of the item in the order, from 0. */
    index: number;
    /** Discount on the item, in minor units. */
    amount: number;
  }[] | undefined;
  /** Machine-readable reason. Absent for `APPLIED`. */
  key?: string | undefined;
  /** Short text of the reason, for people. Absent for `APPLIED`. */
  message?: string | undefined;
  /** Longer text of the reason, for people. Absent for a client. */
  details?: string | undefined;
  /** Text that the author of the validation rule wrote for customers. Absent if the rule has none. */
  custom_message?: string | undefined;
  /** Limit of the stacking rules that was reached. Present if a limit was the reason. */
  limit?: number | undefined;
  /** Change with which the redeemable would apply, without the product. Present for a client. */
  change?: Change | undefined;
  /** Validation rule and test that refused. Absent for a client. */
  rule?: {
    /** ID of the validation rule. */
    id: string;
    /** Key of the test in the validation rule, with the keys of enclosing tests. */
    test: string;
    /** Name of the tested fact. */
    name: string;
    /** Metadata property that was tested. Absent if the test is not about metadata. */
    property?: string | undefined;
    /** Operator that was not met. Absent if the test has none. */
    operator?: string | undefined;
    /** Values that the test compares with. */
    wanted: string[];
    /** Value that the test found. Absent if there was none. */
    found?: string | undefined;
    /** Change with which the test would be met. Absent if none is known. */
    change?: Change | undefined;
  } | undefined;
}

/** Smallest change with which a test of a validation rule would be met. */
export interface Change extends Json {
  /** Kind of change: `more`, `less`, `add`, `remove`, `set`, `after` or `before`. */
  act: string;
  /** Size of the change, in minor units or units. Absent if the change is not a number. */
  by?: number | undefined;
  /** Product, value or moment that the change concerns. Absent if the change concerns the tested value itself. */
  of?: string | undefined;
  /** Description of the change, for people. */
  text: string;
}

/** Error that is returned if a request cannot be read. */
export interface Invalid extends Json {
  /** HTTP status that the service would answer with. */
  code: number;
  /** Machine-readable error key. See the list of error keys. */
  key: string;
  /** Short text of the error, for people. Programs decide by `key`. */
  message: string;
  /** Longer text for people, usually with the code, the rule or the field. Absent when the error key is sufficient. */
  details?: string | undefined;
  /** ID of the request, as in the log of the service. */
  request_id?: string | undefined;
  /** ID or code of the object that the refusal is about. Absent when the refusal is about no object. */
  resource_id?: string | undefined;
  /** Type of the object in `resource_id`. */
  resource_type?: string | undefined;
  /** Custom error of the violated validation rule. Absent when the rule declares none. */
  error?: {
    /** Text that the author of the validation rule wrote for customers. */
    message: string;
  } | undefined;
}

/** Customer, order and options of a qualification. An empty object means an anonymous customer without an order. */
export interface QualificationRequest extends Json {
  /** Customer that redeemables are sought for. Absent means an anonymous customer. */
  customer?: CustomerRequest | undefined;
  /** Order to which the redeemables would apply. */
  order?: OrderRequest | undefined;
  /** Identifier of the customer: a `tracking_id` of an earlier answer, or a `source_id`. Used if no customer is sent. */
  tracking_id?: string | undefined;
  /** Kind of redeemables to find, and facts to evaluate. Default `ALL`: redeemables that apply to this customer and order. */
  scenario?: "ALL" | "CUSTOMER_WALLET" | "AUDIENCE_ONLY" | "PRODUCTS" | "PRODUCTS_DISCOUNT" | "PROMOTION_STACKS" | "PRODUCTS_BY_CUSTOMER" | "PRODUCTS_DISCOUNT_BY_CUSTOMER" | undefined;
  /** Size of the page, filters, sorting and further data to include. */
  options?: {
    /** Largest number of results on one page. Default 5. A client gets fewer if the answer would exceed 1,000,000 bytes, or after 120,000 steps of evaluation. A candidate takes 100 steps and one for each order item, a promotion stack thirty times as many. */
    limit?: number | undefined;
    /** Value of `more_starting_after` of the previous page. `null` or absent means the first page. */
    starting_after?: string | null | undefined;
    /** Conditions by field of the results. */
    filters?: {
      /** Junction of the fields. Default `and`: all conditions must be met; `or` requires one. */
      junction?: "and" | "or" | "AND" | "OR" | undefined;
      /** Conditions on the ID of the category. */
      category_id?: FilterConditions | undefined;
      /** Conditions on the ID of the campaign. */
      campaign_id?: FilterConditions | undefined;
      /** Conditions on the type of the campaign. */
      campaign_type?: FilterConditions | undefined;
      /** Conditions on the ID of the result. */
      resource_id?: FilterConditions | undefined;
      /** Conditions on the type of the result: `campaign`, `voucher` or `promotion_tier`. */
      resource_type?: FilterConditions | undefined;
      /** Conditions on the type of the voucher. */
      voucher_type?: FilterConditions | undefined;
      /** Conditions on the code of the voucher. */
      code?: FilterConditions | undefined;
      /** Conditions on the role of the customer: `OWNER`, `REFERRER` or `REFEREE`. */
      holder_role?: FilterConditions | undefined;
    } | undefined;
    /** Names of data to include: `redeemable`, `category`, `validation_rules`. Other names are ignored. */
    expand?: string[] | undefined;
    /** `true` to add `best`: of the results, those that together save most. Default `false`. */
    optimise?: boolean | undefined;
    /** Order of the results: `DEFAULT` the newest first, `BEST_DEAL` the largest discount first, `LEAST_DEAL` the smallest first. */
    sorting_rule?: "DEFAULT" | "BEST_DEAL" | "LEAST_DEAL" | undefined;
  } | undefined;
  /** Session whose reservations count as available. Sets no lock. */
  session?: {
    /** Type of session. Always `LOCK`. */
    type?: "LOCK" | undefined;
    /** Key of the session. */
    key?: string | undefined;
  } | undefined;
  /** Metadata of the planned redemption, which validation rules can test. */
  metadata?: Json | undefined;
}

/** Conditions on the value of one field. */
export interface FilterConditions extends Json {
  /** Conditions by operator. All must be met. */
  conditions?: {
    /** Value that the field must have. Only the first of several values counts. */
    "$is"?: string[] | string | undefined;
    /** Value that the field must not have. Only the first of several values counts. */
    "$is_not"?: string[] | string | undefined;
    /** Values of which the field must have one. */
    "$in"?: string[] | string | undefined;
    /** Values of which the field must have none. */
    "$not_in"?: string[] | string | undefined;
    /** Condition that the field has a value. The operand is ignored. */
    "$has_value"?: unknown | undefined;
    /** Condition that the field has no value. The operand is ignored. */
    "$is_unknown"?: unknown | undefined;
  } | undefined;
}

/** Page of redeemables that apply, and the order as sent. */
export interface Qualification extends Json {
  /** Page of redeemables and campaigns that apply. */
  redeemables: {
    /** Type of the object. */
    object: "list";
    /** Name of the member that contains the results. Always `data`. */
    data_ref: "data";
    /** Redeemables and campaigns that apply, in the requested order. */
    data: QualifiedRedeemable[];
    /** Number of results on all pages. For a client, candidates that were not evaluated count as results. */
    total: number;
    /** `true` if a further page exists, also after a page with fewer than `limit` results. */
    has_more: boolean;
    /** Value of `starting_after` for the next page, to be sent with all digits. Absent on the last page. */
    more_starting_after?: string | undefined;
  };
  /** Encrypted identifier of the customer, which later requests may contain. */
  tracking_id?: string | undefined;
  /** Order as sent, without computed amounts. Absent if none was sent. */
  order?: Order | undefined;
  /** Stacking rules of the project, by which results may be combined. */
  stacking_rules: StackingRules;
  /** Results that together save most. Present with `optimise`. */
  best?: BestStack | undefined;
  /** Facts that the client does not have and on which the results depend: the results are provisional. Absent if they are final. */
  missing?: string[] | undefined;
  /** Fields that only the server can fill, left out of a client's answer: `tracking_id`. Absent if none. */
  omitted?: string[] | undefined;
}

/** Redeemable or campaign that applies, evaluated separately. */
export interface QualifiedRedeemable extends Json {
  /** ID of the result, or code of a voucher, to use as the `id` of a redeemable. */
  id: string;
  /** Type of the result. */
  object: "campaign" | "voucher" | "promotion_tier" | "promotion_stack";
  /** Moment of the creation, in UTC. */
  created_at?: string | undefined;
  /** Grant of the redeemable. Absent for a campaign. */
  result?: Grant | undefined;
  /** Order with the discounts of this redeemable only. Absent without an order. */
  order?: Order | undefined;
  /** Products, SKUs and collections that the discount may act on. */
  applicable_to?: GoodsList | undefined;
  /** Products, SKUs and collections that the discount leaves out. */
  inapplicable_to?: GoodsList | undefined;
  /** ID of the first validation rule of the result. Absent if none. */
  validation_rule_id?: string | undefined;
  /** Assignments of validation rules to the result. Present with `expand` `validation_rules`. */
  validation_rules_assignments?: {
    /** Type of the object. */
    object: "list";
    /** Name of the member that contains the assignments. Always `data`. */
    data_ref: "data";
    /** Assignments of validation rules. */
    data: {
      /** ID of the object. */
      id: string;
      /** ID of the validation rule. */
      rule_id: string;
      /** ID of the object that the rule is assigned to. */
      related_object_id: string;
      /** Type of the object that the rule is assigned to. */
      related_object_type: string;
      /** Type of the object. */
      object: "validation_rules_assignment";
      /** Result of the rule: `VALID`, `PARTIALLY_VALID` if tests were omitted, `INVALID` if a product bundle is missing. */
      validation_status: "VALID" | "PARTIALLY_VALID" | "INVALID";
      /** Names of tests that the qualification omitted. */
      validation_omitted_rules: string[];
    }[];
    /** Number of assignments. */
    total: number;
  } | undefined;
  /** Promotion tiers of a promotion stack that apply. Absent for other results. */
  redeemables?: ApplicableRedeemable[] | undefined;
  /** Metadata of the result. Present with `expand` `redeemable`. */
  metadata?: Json | undefined;
  /** Name of a campaign, promotion tier or promotion stack. Present with `expand` `redeemable`. */
  name?: string | undefined;
  /** Text of a promotion tier to display in a shop. Present with `expand` `redeemable`. */
  banner?: string | undefined;
  /** Name of the campaign. Present with `expand` `redeemable`. */
  campaign_name?: string | undefined;
  /** ID of the campaign. Present with `expand` `redeemable`. */
  campaign_id?: string | undefined;
  /** Category of the result, or none. Present with `expand` `category`. */
  categories?: Category[] | undefined;
}

/** Vouchers and promotion tiers of the qualification that together save most, in the order in which they do. A validation of them gives the same amounts. */
export interface BestStack extends Json {
  /** Redeemables to send to a validation or redemption, in order. Empty if nothing saves. */
  redeemables: {
    /** Type of the redeemable. */
    object: "voucher" | "promotion_tier";
    /** Code of the voucher, or ID of the promotion tier. */
    id: string;
  }[];
  /** Order with the discounts of these redeemables. Absent without an order. */
  order?: Order | undefined;
  /** Sum of the discounts of these redeemables, at most the amount of the order. */
  saved_amount: number;
  /** `true` if no other combination of the results saves more. `false` if the search ended before. */
  proven: boolean;
  /** Largest amount that another combination could save in addition. Absent if it is proven, or if no bound is known. */
  unproven_amount?: number | undefined;
}

/** Stacking rules of a project. Without `id` they are the defaults. */
export interface StoredStackingRules extends Json {
  /** IDs of exclusive categories. A redeemable in one of them excludes all redeemables outside exclusive and joint categories. Default none. */
  exclusive_categories: string[];
  /** IDs of joint categories. Their redeemables can be combined with exclusive ones. Default none. */
  joint_categories: string[];
  /** Highest number of redeemables in one request. Default 30. */
  redeemables_limit: number;
  /** Highest number of redeemables that one request applies; further ones are skipped. At most `redeemables_limit`. Default 5. */
  applicable_redeemables_limit: number;
  /** Highest number of redeemables of one category that one request applies. At most `applicable_redeemables_limit`. `null` means no limit and is the default. */
  applicable_redeemables_per_category_limit: number | null;
  /** Limits of single categories by their ID. Replace `applicable_redeemables_per_category_limit` for these categories. Default none. */
  applicable_redeemables_category_limits: Record<string, number>;
  /** Highest number of exclusive redeemables that one request applies. Default 1. */
  applicable_exclusive_redeemables_limit: number;
  /** Highest number of exclusive redeemables of one category that one request applies. At most `applicable_exclusive_redeemables_limit`. `null` or absent means no limit. */
  applicable_exclusive_redeemables_per_category_limit?: number | null | undefined;
  /** Base of a discount: the amounts before all discounts (`INITIAL_AMOUNT`) or after earlier ones (`DISCOUNTED_AMOUNT`). Default `DISCOUNTED_AMOUNT`. */
  discount_calculation_mode: "INITIAL_AMOUNT" | "DISCOUNTED_AMOUNT";
  /** IDs of categories that always calculate from the amounts before all discounts. Default none. */
  initial_amount_mode_categories: string[];
  /** IDs of categories that always calculate from the amounts after earlier discounts. Default none. */
  discounted_amount_mode_categories: string[];
  /** Handling of a redeemable that fails: `ALL` then applies none, `PARTIAL` applies the others. Default `ALL`. */
  redeemables_application_mode: "ALL" | "PARTIAL";
  /** Order of application: as in the request (`REQUESTED_ORDER`), or by rank of the category (`CATEGORY_HIERARCHY`). Default `REQUESTED_ORDER`. */
  redeemables_sorting_rule: "CATEGORY_HIERARCHY" | "REQUESTED_ORDER";
  /** Discounts on one order item in a request: `STACK` allows several, `ONCE` allows one. Default `STACK`. */
  redeemables_products_application_mode: "STACK" | "ONCE";
  /** Handling of a redeemable without effect on the order: `REDEEM_ANYWAY` applies the redeemable, `SKIP` does not. Default `REDEEM_ANYWAY`. */
  redeemables_no_effect_rule: "REDEEM_ANYWAY" | "SKIP";
  /** IDs of categories that always skip a redeemable without effect. Default none. */
  no_effect_skip_categories: string[];
  /** IDs of categories that always apply a redeemable without effect. Default none. */
  no_effect_redeem_anyway_categories: string[];
  /** Effect of a rollback on the order: `WITH_ORDER` also removes the discount from the order, `WITHOUT_ORDER` leaves the order unchanged. Default `WITH_ORDER`. */
  redeemables_rollback_order_mode: "WITH_ORDER" | "WITHOUT_ORDER";
  /** Order of joint redeemables with exclusive ones: after them (`JOINT_ALWAYS_LAST`), or all by `redeemables_sorting_rule`. Cannot be changed. */
  grouped_redeemables_sorting_rule: "JOINT_ALWAYS_LAST" | "REDEEMABLES_SORTING_RULE";
  /** ID of the object. */
  id?: string | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Type of the object. */
  object?: "stacking_rules" | undefined;
}

/** Time zone with the moments at which the UTC offset changes. */
export interface TimeZone extends Json {
  /** Name of the time zone in the IANA database. */
  name: string;
  /** Seconds ahead of UTC before the first transition, negative for zones behind UTC. Default 0. */
  offset?: number | undefined;
  /** Changes of the UTC offset, in ascending order of time. */
  transitions?: {
    /** Moment of the change, in UTC. */
    at: string;
    /** Seconds ahead of UTC from this moment on, negative for zones behind UTC. */
    offset: number;
  }[] | undefined;
}

/** Named conditions on customer, order and redemption, and the items that a discount acts on. Assignments put a rule into effect. */
export interface ValidationRule extends Json {
  /** ID of the object. */
  id: string;
  /** Name of the rule. */
  name: string;
  /** Form in which the rule was edited. Stored as sent, without effect. */
  type: "expression" | "basic" | "advanced" | "complex";
  /** Kind of object for which editors offer the rule. Does not restrict assignments. */
  context_type: string;
  /** Tests by their keys, and the logic that joins them. Empty without tests. */
  rules: RuleTests;
  /** Product bundles that an order must contain. Empty without bundles. */
  bundle_rules: BundleRules;
  /** Items that a discount with this rule acts on. */
  applicable_to: Scope;
  /** Message of the merchant for failed tests without a message of their own. `null` without one. */
  error: {
    /** Text of the message. `null` or absent without one. */
    message?: string | null | undefined;
  } | null;
  /** Parts of the definition that are probably mistakes. Present only in the response to a creation or a change. */
  warnings?: {
    /** Path of the part in the rule. */
    path: string;
    /** Description of the mistake. */
    text: string;
  }[] | undefined;
  /** Number of objects that the rule is assigned to. */
  assignments_count: number;
  /** Moment of the creation, in UTC. */
  created_at: string;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at: string | null;
  /** Type of the object. */
  object: "validation_rules";
}

/** Tests by their keys, and the logic that joins them. */
export type RuleTests = {
  /** Expression that joins the keys with `and`, `or` and parentheses. Keys that are not mentioned are not evaluated. `null` or absent means that all must pass. */
  logic?: string | null | undefined;
  [name: string]: RuleTest | null | string | undefined;
};

/** Test of one fact about the customer, order or redemption. */
export interface RuleTest extends Json {
  /** Name of the fact to test. */
  name: "customer.segment" | "customer_segment" | "customer.metadata" | "customer.loyalty.tier" | "publication.redeemable_by_linked_customer" | "order.amount" | "order.total_amount" | "order.initial_amount" | "order.metadata" | "order.items.count" | "order.items.price_any" | "order.items.price_each" | "order.items.metadata_any" | "order.items.metadata_each" | "order.items.any" | "order.items.every" | "order.items.none" | "order.items.cheapest" | "order.items.most_expensive" | "order.items.aggregated_amount" | "order.items.aggregated_quantity" | "order.items.price" | "order.items.quantity" | "order.items.metadata" | "product.id" | "sku.id" | "product.price" | "sku.price" | "product.quantity" | "sku.quantity" | "product.discount_applicable" | "sku.discount_applicable" | "product.metadata" | "product.metadata.aggregated_quantity" | "product.metadata.aggregated_amount" | "product.metadata.discount_applicable" | "product.metadata.match_all" | "redemption.count.daily" | "redemption.count.weekly" | "redemption.count.monthly" | "redemption.count.per_customer" | "redemption.count.per_customer.daily" | "redemption.count.per_customer.weekly" | "redemption.count.per_customer.monthly" | "redemption.count.per_api_key" | "redemption.count.per_user" | "redemption.api_key" | "redemption.user.login" | "redemption.metadata" | "redemption.gift.amount" | "redemption.reward.pay_with_points.points_used" | "campaign.orders.amount" | "campaign.orders.amount_discounted" | "campaign.redemptions.count" | "campaign.redemptions.count.daily" | "campaign.redemptions.count.weekly" | "campaign.redemptions.count.monthly" | "campaign.redemptions.customers_count" | "campaign.redemptions.customers_count.daily" | "campaign.redemptions.customers_count.weekly" | "campaign.redemptions.customers_count.monthly" | "custom_event.metadata" | "member.metadata";
  /** Key of the metadata to test. Required if `name` refers to metadata. `null` or absent for other names. */
  property?: string | null | undefined;
  /** Conditions on the tested value, all of which must be met. `null` or absent means none. */
  conditions?: RuleConditions | null | undefined;
  /** Tests of the matched items. `null` or absent means none. */
  rules?: RuleTests | null | undefined;
  /** Message of the merchant if the test fails. `null` or absent means the message of the rule. */
  error?: {
    /** Text of the message. `null` or absent means none. */
    message?: string | null | undefined;
  } | null | undefined;
}

/** Conditions on the tested value, all of which must be met. */
export interface RuleConditions extends Json {
  /** Accepted values. The tested value must equal one of them. */
  "$is"?: (string | number | boolean | RuleGoods)[] | string | number | boolean | RuleGoods | undefined;
  /** Accepted values. The tested value must equal one of them. */
  "$in"?: (string | number | boolean | RuleGoods)[] | string | number | boolean | RuleGoods | undefined;
  /** Excluded values. The tested value must equal none of them. */
  "$is_not"?: (string | number | boolean | RuleGoods)[] | string | number | boolean | RuleGoods | undefined;
  /** Excluded values. The tested value must equal none of them. */
  "$not_in"?: (string | number | boolean | RuleGoods)[] | string | number | boolean | RuleGoods | undefined;
  /** Upper bound. The tested value must be lower. */
  "$less_than"?: (number | string)[] | number | string | undefined;
  /** Upper bound. The tested value must be lower or equal. */
  "$less_than_or_equal"?: (number | string)[] | number | string | undefined;
  /** Upper bound. The tested value must be lower or equal. */
  "$less_than_equal"?: (number | string)[] | number | string | undefined;
  /** Lower bound. The tested value must be higher. */
  "$more_than"?: (number | string)[] | number | string | undefined;
  /** Lower bound. The tested value must be higher. */
  "$greater_than"?: (number | string)[] | number | string | undefined;
  /** Lower bound. The tested value must be higher or equal. */
  "$more_than_or_equal"?: (number | string)[] | number | string | undefined;
  /** Lower bound. The tested value must be higher or equal. */
  "$more_than_equal"?: (number | string)[] | number | string | undefined;
  /** Lower bound. The tested value must be higher or equal. */
  "$greater_than_or_equal"?: (number | string)[] | number | string | undefined;
  /** Lower bound. The tested value must be higher or equal. */
  "$greater_than_equal"?: (number | string)[] | number | string | undefined;
  /** Prefixes. The tested text must begin with one of them. */
  "$starts_with"?: string[] | string | undefined;
  /** Suffixes. The tested text must end with one of them. */
  "$ends_with"?: string[] | string | undefined;
  /** Parts of a text or elements of a list. The tested value must contain one of them. */
  "$contains"?: (string | number | boolean | RuleGoods)[] | string | number | boolean | RuleGoods | undefined;
  /** Parts of a text or elements of a list. The tested value must contain none of them. */
  "$not_contain"?: (string | number | boolean | RuleGoods)[] | string | number | boolean | RuleGoods | undefined;
  /** Number of elements that the tested list must have. */
  "$count"?: (number | string)[] | number | string | undefined;
  /** Number of elements. The tested list must have more. */
  "$count_more"?: (number | string)[] | number | string | undefined;
  /** Number of elements. The tested list must have fewer. */
  "$count_less"?: (number | string)[] | number | string | undefined;
  /** Collections of products. The tested product or SKU must belong to one of them. */
  "$from"?: RuleGoods[] | RuleGoods | undefined;
  /** Moment. The tested moment must be later. */
  "$after"?: string[] | string | undefined;
  /** Moment. The tested moment must be earlier. */
  "$before"?: string[] | string | undefined;
  /** Number of days. The tested date must be more days in the past, in the project's time zone. */
  "$more_than_ago"?: (number | string)[] | number | string | undefined;
  /** Number of days. The tested date must be fewer days in the past, in the project's time zone. */
  "$less_than_ago"?: (number | string)[] | number | string | undefined;
  /** Number of days. The tested date must be exactly that many days in the past, in the project's time zone. */
  "$is_days_ago"?: (number | string)[] | number | string | undefined;
  /** Number of days. The tested date must be more days in the future, in the project's time zone. */
  "$more_than_future"?: (number | string)[] | number | string | undefined;
  /** Number of days. The tested date must be fewer days in the future, in the project's time zone. */
  "$less_than_future"?: (number | string)[] | number | string | undefined;
  /** Number of days. The tested date must be exactly that many days in the future, in the project's time zone. */
  "$is_days_in_future"?: (number | string)[] | number | string | undefined;
  /** Recurring window in the form `start;interval;duration`. The tested moment must lie inside. */
  "$timeframe"?: string[] | string | undefined;
  /** Period in the form `from;to`. The tested moment must lie inside. */
  "$timeframe_absolute"?: string[] | string | undefined;
  /** Hours on weekdays in the form `HH:MM;HH:MM;d,d`, in the project's time zone. The tested moment must lie inside. */
  "$timeframe_daily_hours"?: string[] | string | undefined;
  /** Weekdays, from 0 for Sunday to 6 for Saturday. The tested date must fall on one of them. */
  "$dow"?: number[] | number | undefined;
  /** Elements. The tested list must have exactly these, in any order. */
  "$not_differ"?: (string | number | boolean | RuleGoods)[] | string | number | boolean | RuleGoods | undefined;
  /** Elements. The tested list must have none of them. */
  "$not_intersect"?: (string | number | boolean | RuleGoods)[] | string | number | boolean | RuleGoods | undefined;
  /** Condition that the tested value is present. The content of this field is ignored. */
  "$has_value"?: unknown | undefined;
  /** Condition that the tested value is missing. The content of this field is ignored. */
  "$is_unknown"?: unknown | undefined;
  /** Condition that the tested date lies in the previous month, in the project's time zone. The content of this field is ignored. */
  "$previous_month"?: unknown | undefined;
  /** Condition that the tested date lies in the current month, in the project's time zone. The content of this field is ignored. */
  "$this_month"?: unknown | undefined;
  /** Condition that the tested date lies in the next month, in the project's time zone. The content of this field is ignored. */
  "$next_month"?: unknown | undefined;
}

/** Product, SKU or collection that a test compares with. */
export interface RuleGoods extends Json {
  /** Type of the object. */
  object?: "product" | "sku" | "products_collection" | undefined;
  /** ID of the object. */
  id?: string | null | undefined;
  /** Identifier of the product, SKU or collection in the merchant's system. `null` or absent if named by `id`. */
  source_id?: string | null | undefined;
  /** Type of the product, SKU or collection. Stored as sent, without effect. */
  type?: string | null | undefined;
}

/** Parts of a product bundle by their keys, and the number of bundles that count. */
export type BundleRules = {
  /** Highest number of bundles that count in one order. Absent means 1, `null` means 100. */
  limit?: number | null | undefined;
  /** Expression that joins the keys. Stored as sent; a bundle always needs all parts. */
  logic?: string | null | undefined;
  [name: string]: BundlePart | null | number | string | undefined;
};

/** Part of a product bundle. */
export interface BundlePart extends Json {
  /** Name of the fact to test. Always `order.items.any`. */
  name: "order.items.any";
  /** Products, SKUs or collections that form the part. */
  conditions?: BundleConditions | null | undefined;
  /** Test of the number of units in each bundle. `null` or absent means one unit. */
  rules?: RuleTests | null | undefined;
  /** Message of the merchant if the test fails. `null` or absent means the message of the rule. */
  error?: {
    /** Text of the message. `null` or absent means none. */
    message?: string | null | undefined;
  } | null | undefined;
}

/** Products, SKUs or collections that form a part of a product bundle. */
export interface BundleConditions extends Json {
  /** Accepted values. The tested value must equal one of them. */
  "$is"?: RuleGoods[] | RuleGoods | undefined;
  /** Accepted values. The tested value must equal one of them. */
  "$in"?: RuleGoods[] | RuleGoods | undefined;
  /** Collections of products. The tested product or SKU must belong to one of them. */
  "$from"?: RuleGoods[] | RuleGoods | undefined;
}

/** Items that a discount with this validation rule acts on. */
export interface Scope extends Json {
  /** Items that the discount does not act on, even if they are included. Default none. */
  excluded?: ScopeEntry[] | undefined;
  /** Items that the discount acts on. Default none, which means all items that are not excluded. */
  included?: ScopeEntry[] | undefined;
  /** `true` if the discount acts on all items that are not excluded. Default `false`. */
  included_all?: boolean | undefined;
}

/** Product, SKU or collection that a discount acts on or not, and the limits of the discount. */
export interface ScopeEntry extends Json {
  /** Type of the object. */
  object: "product" | "sku" | "products_collection";
  /** ID of the object. */
  id: string;
  /** Identifier of the product, SKU or collection in the merchant's system. */
  source_id?: string | undefined;
  /** ID of the product of a SKU. */
  product_id?: string | undefined;
  /** Identifier of the product of a SKU in the merchant's system. */
  product_source_id?: string | undefined;
  /** `true` for a product or SKU of the order, `false` for an entry of the validation rule. Set in results, without effect in a rule. */
  strict?: boolean | undefined;
  /** Price of one unit with a discount of type `FIXED`, in minor units. Default is the `fixed_amount` of the discount. */
  price?: number | undefined;
  /** Formula for `price`, in major units. `price` is used instead if the formula cannot be evaluated. */
  price_formula?: number | string | undefined;
  /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
  product_campaign_quantity_limit?: number | undefined;
  /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
  product_campaign_quantity_limit_formula?: string | undefined;
  /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
  product_customer_campaign_quantity_limit?: number | undefined;
  /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
  product_customer_campaign_quantity_limit_formula?: string | undefined;
  /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
  product_in_collection_campaign_quantity_limit?: number | undefined;
  /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
  product_in_collection_campaign_quantity_limit_formula?: string | undefined;
  /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
  product_in_collection_customer_campaign_quantity_limit?: number | undefined;
  /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
  product_in_collection_customer_campaign_quantity_limit_formula?: string | undefined;
  /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
  product_promotion_tier_quantity_limit?: number | undefined;
  /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
  product_promotion_tier_quantity_limit_formula?: string | undefined;
  /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
  product_customer_promotion_tier_quantity_limit?: number | undefined;
  /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
  product_customer_promotion_tier_quantity_limit_formula?: string | undefined;
  /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
  product_in_collection_promotion_tier_quantity_limit?: number | undefined;
  /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
  product_in_collection_promotion_tier_quantity_limit_formula?: string | undefined;
  /** Highest number of units that are discounted over the lifetime of the campaign or promotion tier. Names with `customer` count each customer separately, names with `in_collection` each product. */
  product_in_collection_customer_promotion_tier_quantity_limit?: number | undefined;
  /** Formula for the limit of the same name, which is used instead if the formula cannot be evaluated. */
  product_in_collection_customer_promotion_tier_quantity_limit_formula?: string | undefined;
  /** Selection and order of the targets by unit price. Default `APPLY_TO_EVERY`. */
  effect?: "APPLY_TO_EVERY" | "APPLY_TO_CHEAPEST" | "APPLY_FROM_CHEAPEST" | "APPLY_TO_MOST_EXPENSIVE" | "APPLY_FROM_MOST_EXPENSIVE" | undefined;
  /** Highest number of discounted units of each order item. Absent means no limit. */
  quantity_limit?: number | undefined;
  /** Highest number of discounted units of all order items of this entry. Absent means no limit. */
  aggregated_quantity_limit?: number | undefined;
  /** Highest discount of each order item, in minor units. Absent means no limit. */
  amount_limit?: number | undefined;
  /** Highest discount of all order items of this entry, in minor units. Absent means no limit. */
  aggregated_amount_limit?: number | undefined;
  /** Number of targets to skip first. Default 0. */
  skip_initially?: number | undefined;
  /** Distance between discounted targets: 1 for each, 2 for every second. Default 1. */
  repeat?: number | undefined;
  /** Unit of selection: order items (`ITEM`) or their single units (`UNIT`). Default `ITEM`. */
  target?: "ITEM" | "UNIT" | undefined;
  /** Positions of the order items that are covered, from 0, in the order of application. Set in results, without effect in a rule. */
  order_item_indices?: number[] | undefined;
  /** Units of the order items that are covered. Set in results, without effect in a rule. */
  order_item_units?: Json[] | undefined;
}

/** List of the validation rules that are assigned to an object. */
export interface ValidationRulesAssignments extends Json {
  /** Type of the object. */
  object: "list";
  /** Name of the member that contains the assignments. Always `data`. */
  data_ref: "data";
  /** Assignments of the object, the oldest first. */
  data: ValidationRulesAssignment[];
  /** Number of assignments. */
  total: number;
}

/** Assignment of a validation rule to an object, which the rule then restricts. */
export interface ValidationRulesAssignment extends Json {
  /** ID of the object. */
  id: string;
  /** ID of the validation rule. */
  rule_id: string;
  /** ID of the object that the rule is assigned to. */
  related_object_id?: string | undefined;
  /** Type of the object that the rule is assigned to. */
  related_object_type?: string | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Result of the rule in a qualification: `PARTIALLY_VALID` if tests were omitted, `INVALID` if a product bundle is missing. Always `VALID` elsewhere. */
  validation_status?: "VALID" | "PARTIALLY_VALID" | "INVALID" | undefined;
  /** Names of tests that the qualification omitted. Empty outside qualifications. */
  validation_omitted_rules?: string[] | undefined;
  /** Type of the object. */
  object?: "validation_rules_assignment" | undefined;
}

/** Discount as defined on a voucher, campaign or promotion tier. The fields that are allowed depend on `type`. */
export interface DiscountDefinition extends Json {
  /** Type of discount: `AMOUNT` off, `PERCENT` off, a `FIXED` price, or free units (`UNIT`). */
  type: "AMOUNT" | "PERCENT" | "FIXED" | "UNIT";
  /** Amount of the discount, in minor units. Required for `AMOUNT`. */
  amount_off?: number | undefined;
  /** Formula for `amount_off`, in major units. `amount_off` is used instead if the formula cannot be evaluated. */
  amount_off_formula?: string | undefined;
  /** Percentage of the discount, with at most 6 decimals. Required for `PERCENT`. */
  percent_off?: number | undefined;
  /** Formula for `percent_off`, which is used instead if the formula cannot be evaluated. */
  percent_off_formula?: string | undefined;
  /** Amount that remains to pay for the order or for each unit, in minor units. For `FIXED`; required if `effect` is `APPLY_TO_ORDER` and no formula is present. */
  fixed_amount?: number | undefined;
  /** Formula for `fixed_amount`, in major units. `fixed_amount` is used instead if the formula cannot be evaluated. */
  fixed_amount_formula?: string | undefined;
  /** Highest discount of the order, or of each order item, in minor units. For `PERCENT` only. Absent means no limit. */
  amount_limit?: number | undefined;
  /** Highest discount of all order items together, in minor units. For `PERCENT` and `AMOUNT`; no effect on `APPLY_TO_ORDER`. Absent means no limit. */
  aggregated_amount_limit?: number | undefined;
  /** Number of units to give. For `UNIT`. Default 1. */
  unit_off?: number | undefined;
  /** Formula for `unit_off`, which is used instead if the formula cannot be evaluated. */
  unit_off_formula?: string | undefined;
  /** ID of the product or SKU to give; for `ADD_SAME_ITEMS` also of a collection. `prod_5h1pp1ng` represents shipping. Required for `UNIT` without `units`. */
  unit_type?: string | undefined;
  /** Product that is given, as sent. */
  product?: {
    /** ID of the object. */
    id?: string | undefined;
    /** Identifier of the product in the merchant's system. */
    source_id?: string | undefined;
    /** Name of the product. */
    name?: string | undefined;
  } | undefined;
  /** SKU that is given, as sent. */
  sku?: {
    /** ID of the object. */
    id?: string | undefined;
    /** Identifier of the SKU in the merchant's system. */
    source_id?: string | undefined;
    /** Name of the SKU. */
    sku?: string | undefined;
    /** Name of the product of the SKU. */
    name?: string | undefined;
  } | undefined;
  /** Products and SKUs that are given together. Required for `ADD_MANY_ITEMS`. */
  units?: {
    /** Number of units to give. Default 1. */
    unit_off?: number | undefined;
    /** Formula for `unit_off`, which is used instead if the formula cannot be evaluated. */
    unit_off_formula?: string | undefined;
    /** ID of the product or SKU that is added. `prod_5h1pp1ng` represents shipping. */
    unit_type: string;
    /** Method of adding the units: `ADD_NEW_ITEMS` always adds them, `ADD_MISSING_ITEMS` first makes units free that are already in the order. */
    effect: "ADD_NEW_ITEMS" | "ADD_MISSING_ITEMS";
    /** Product of the units, as sent. */
    product?: {
      /** ID of the object. */
      id?: string | undefined;
      /** Identifier of the product in the merchant's system. */
      source_id?: string | undefined;
      /** Name of the product. */
      name?: string | undefined;
    } | undefined;
    /** SKU of the units, as sent. */
    sku?: {
      /** ID of the object. */
      id?: string | undefined;
      /** Identifier of the SKU in the merchant's system. */
      source_id?: string | undefined;
      /** Name of the SKU. */
      sku?: string | undefined;
      /** Name of the product of the SKU. */
      name?: string | undefined;
    } | undefined;
  }[] | undefined;
  /** `true` if a formula determines the value. Stored as sent, without effect. */
  is_dynamic?: boolean | undefined;
  /** Part of the order that the discount acts on, or the way of giving units. Default is the items of the validation rule, or else the order. */
  effect?: "APPLY_TO_ORDER" | "APPLY_TO_ITEMS" | "APPLY_TO_ITEMS_PROPORTIONALLY" | "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY" | "APPLY_TO_ITEMS_BY_QUANTITY" | "ADD_MISSING_ITEMS" | "ADD_NEW_ITEMS" | "ADD_SAME_ITEMS" | "ADD_MANY_ITEMS" | "REPLACE_ITEMS" | undefined;
}

/** Recurring windows of validity, counted from the `start_date` of the same object. */
export interface ValidityTimeframe extends Json {
  /** Time from the start of one window to the start of the next. */
  interval: string;
  /** Length of each window. */
  duration: string;
}

/** Hours of the day on given weekdays, in the project's time zone. */
export interface ValidityHours extends Json {
  /** Windows of hours. A moment in any of them is valid. */
  daily: {
    /** Time of day at which the window begins. */
    start_time: string;
    /** Weekdays of the window, from 0 for Sunday to 6 for Saturday. */
    days_of_week: number[];
    /** Time of day at which the window ends, not before `start_time`. `null` or absent means midnight. */
    expiration_time?: string | null | undefined;
  }[];
}

/** Amount and balance of a gift card. */
export interface GiftDefinition extends Json {
  /** Amount ever loaded on the card, in minor units. */
  amount: number;
  /** Amount that can be spent now, in minor units. Default is `amount` less `subtracted_amount`. */
  balance?: number | undefined;
  /** Amount that was subtracted other than by redemptions, in minor units. */
  subtracted_amount?: number | undefined;
  /** Part of the order that the card pays: the order or only the items of the validation rule. Default `APPLY_TO_ORDER`. */
  effect?: "APPLY_TO_ORDER" | "APPLY_TO_ITEMS" | undefined;
}

/** Loyalty card as a campaign defines it for new cards. */
export interface LoyaltyCardDefinition extends Json {
  /** Number of points on a new card. */
  points: number;
  /** Number of spendable points on a new card. Equal to `points`; another number in a request is ignored or refused. */
  balance?: number | undefined;
  /** Rules by which the points expire. Absent means that points do not expire. */
  expiration_rules?: {
    /** Kind of expiration: a number of months after the points arrive, or a fixed day of each year. */
    period_type: "FIXED_DAY_OF_YEAR" | "MONTH";
    /** Number of months until the points expire, at the end of that day. Required for `MONTH`; 0 means the day of arrival. */
    period_value?: number | undefined;
    /** Calendar period to the end of which the expiration is postponed. Absent means no postponement. */
    rounding_type?: "END_OF_MONTH" | "END_OF_QUARTER" | "END_OF_HALF_YEAR" | "END_OF_YEAR" | "PARTICULAR_MONTH" | undefined;
    /** Month of `PARTICULAR_MONTH`, 1 for January. */
    rounding_value?: number | undefined;
    /** Month in which the points expire, 1 for January. Required for `FIXED_DAY_OF_YEAR`. */
    fixed_month?: number | undefined;
    /** Day of the month at the end of which the points expire. Required for `FIXED_DAY_OF_YEAR`. */
    fixed_day?: number | undefined;
  } | undefined;
}

/** Discount of a promotion, which is redeemed without a code. */
export interface PromotionTier extends Json {
  /** ID of the object. */
  id: string;
  /** Name of the tier. */
  name: string;
  /** Text that presents the tier to customers. `null` or absent without one. */
  banner?: string | null | undefined;
  /** Grant of the tier. */
  action?: {
    /** Discount that the tier grants. */
    discount: DiscountDefinition;
  } | undefined;
  /** Rank of the tier in its promotion; a lower number comes first. */
  hierarchy?: number | undefined;
  /** ID of the promotion that the tier belongs to. */
  campaign_id: string | null;
  /** ID of the promotion that the tier belongs to. Equal to `campaign_id`. */
  promotion_id?: string | undefined;
  /** Disclosure to clients of the tier, as set: `public` or `server`. A promotion that is `server` has precedence. `null` or absent means `public`. */
  visibility?: "public" | "sealed" | "server" | null | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Type of the object. */
  object: "promotion_tier";
  /** `true` if enabled. An object that is disabled cannot be redeemed. */
  active?: boolean | undefined;
  /** Moment from which a redemption is possible, in UTC. `null` or absent means no bound. */
  start_date?: string | null | undefined;
  /** Moment after which a redemption is no longer possible, in UTC. `null` or absent means no end. */
  expiration_date?: string | null | undefined;
  /** Recurring windows in which a redemption is possible, counted from `start_date`. `null` or absent means at any time. */
  validity_timeframe?: ValidityTimeframe | null | undefined;
  /** Weekdays on which a redemption is possible, 0 for Sunday to 6 for Saturday, in the project's time zone. `null` or absent means every day. */
  validity_day_of_week?: number[] | null | undefined;
  /** Hours of the day in which a redemption is possible. `null` or absent means at any time. */
  validity_hours?: ValidityHours | null | undefined;
  /** Name of the category. `null` or absent without a category. */
  category?: string | null | undefined;
  /** ID of the category. `null` or absent without a category. */
  category_id?: string | null | undefined;
  /** Category of the object, or else of its campaign. Empty without a category or when not requested with `expand`. */
  categories?: Category[] | undefined;
  /** Promotion that the tier belongs to. */
  campaign: {
    /** ID of the object. */
    id: string;
    /** ID of the category of the campaign. `null` or absent without a category. */
    category_id?: string | null | undefined;
    /** Type of the object. */
    object: "campaign";
    /** `true` if enabled. An object that is disabled cannot be redeemed. */
    active?: boolean | undefined;
    /** Moment from which a redemption is possible, in UTC. `null` or absent means no bound. */
    start_date?: string | null | undefined;
    /** Moment after which a redemption is no longer possible, in UTC. `null` or absent means no end. */
    expiration_date?: string | null | undefined;
    /** Recurring windows in which a redemption is possible, counted from `start_date`. `null` or absent means at any time. */
    validity_timeframe?: ValidityTimeframe | null | undefined;
    /** Weekdays on which a redemption is possible, 0 for Sunday to 6 for Saturday, in the project's time zone. `null` or absent means every day. */
    validity_day_of_week?: number[] | null | undefined;
    /** Hours of the day in which a redemption is possible. `null` or absent means at any time. */
    validity_hours?: ValidityHours | null | undefined;
  };
  /** Redemptions of the tier so far. */
  summary?: {
    /** Redemptions of the tier. */
    redemptions: {
      /** Number of redemptions, without those rolled back. */
      total_redeemed: number;
    };
    /** Orders that the tier was redeemed on. */
    orders: {
      /** Total value of the orders, in minor units. */
      total_amount: number;
      /** Total discount that the tier gave on the orders, in minor units. */
      total_discount_amount: number;
    };
  } | undefined;
  /** Validation rules that are assigned to the tier. */
  validation_rule_assignments: ValidationRulesAssignments;
}

/** Points that count for the tiers of a loyalty campaign, and the time for which a tier is kept. */
export interface LoyaltyTiersExpiration extends Json {
  /** Points that count: `BALANCE` of the card, or `POINTS_IN_PERIOD`, the points that a card gained in a calendar period. Default `BALANCE`. */
  qualification_type?: "BALANCE" | "POINTS_IN_PERIOD" | undefined;
  /** Length of the calendar period, in the project's time zone. Required for `POINTS_IN_PERIOD`. */
  qualification_period?: "MONTH" | "QUARTER" | "HALF_YEAR" | "YEAR" | undefined;
  /** Start of a tier. Only `IMMEDIATE` is possible with `BALANCE`. */
  start_date?: {
    /** Start of a tier: `IMMEDIATE` when the points are reached, or with the `NEXT_PERIOD`. Default `IMMEDIATE`. */
    type: "IMMEDIATE" | "NEXT_PERIOD";
  } | undefined;
  /** End of a tier. */
  expiration_date?: {
    /** End of a tier. Default `BALANCE_DROP` with `BALANCE`, `END_OF_PERIOD` with `POINTS_IN_PERIOD`; `CUSTOM` is refused once the campaign has tiers. */
    type: "END_OF_PERIOD" | "END_OF_NEXT_PERIOD" | "BALANCE_DROP" | "CUSTOM";
    /** Time by which the end is postponed. Only no time (`P0D`) is possible once the campaign has tiers. Default `P0D`. */
    extend?: string | undefined;
    /** Rounding of the end of a tier. */
    rounding?: {
      /** Unit to which the end is rounded. */
      type?: "MONTH" | "QUARTER" | "HALF_YEAR" | "YEAR" | "CUSTOM" | undefined;
      /** Side of the unit to which the end is rounded. */
      strategy?: "START" | "END" | undefined;
      /** Unit of `value`. */
      unit?: "MONTH" | undefined;
      /** Number of units of a `CUSTOM` rounding. */
      value?: number | undefined;
    } | undefined;
  } | undefined;
}

/** Points of one loyalty card. */
export interface LoyaltyCard extends Json {
  /** Number of points ever added to the card. */
  points: number;
  /** Number of points that can be spent now. */
  balance?: number | undefined;
  /** Number of points that were subtracted other than by redemptions and expiration. */
  subtracted_points?: number | undefined;
  /** Number of points that have expired. */
  expired_points?: number | undefined;
  /** Number of earned points that cannot be spent yet. */
  pending_points?: number | undefined;
  /** Last day on which the next points to expire can be spent, in the project's time zone. `null` if none expire. */
  next_expiration_date?: string | null | undefined;
  /** Number of points that expire after `next_expiration_date`. `null` if none expire. */
  next_expiration_points?: number | null | undefined;
  /** Rules by which the points expire. Absent means that points do not expire. */
  expiration_rules?: {
    /** Kind of expiration: a number of months after the points arrive, or a fixed day of each year. */
    period_type: "FIXED_DAY_OF_YEAR" | "MONTH";
    /** Number of months until the points expire, at the end of that day. Required for `MONTH`; 0 means the day of arrival. */
    period_value?: number | undefined;
    /** Calendar period to the end of which the expiration is postponed. Absent means no postponement. */
    rounding_type?: "END_OF_MONTH" | "END_OF_QUARTER" | "END_OF_HALF_YEAR" | "END_OF_YEAR" | "PARTICULAR_MONTH" | undefined;
    /** Month of `PARTICULAR_MONTH`, 1 for January. */
    rounding_value?: number | undefined;
    /** Month in which the points expire, 1 for January. Required for `FIXED_DAY_OF_YEAR`. */
    fixed_month?: number | undefined;
    /** Day of the month at the end of which the points expire. Required for `FIXED_DAY_OF_YEAR`. */
    fixed_day?: number | undefined;
  } | undefined;
}

/** Images of the code of a voucher. */
export interface Assets extends Json {
  /** QR code. `null` for a code of more than 2953 bytes. */
  qr: Image | null;
  /** Barcode (Code 128). `null` for a code of more than 80 characters or with characters outside printable ASCII. */
  barcode: Image | null;
}

/** Image of the code of a voucher. */
export interface Image extends Json {
  /** ID of the object. */
  id: string;
  /** Public address of the image in SVG, which needs no credentials. */
  url: string;
}

/** Return of part of an order, as stored in the order. */
export interface OrderReturn extends Json {
  /** ID of the object. */
  id: string;
  /** Type of the object. */
  object: "order_return";
  /** Moment of the return, in UTC. */
  date: string;
  /** Method by which discounts were settled: `SHARE` by shares, `RECHECK` by deciding the redeemables again. */
  policy: "SHARE" | "RECHECK";
  /** Units that were returned, by order item. */
  items: {
    /** ID of the order item. `null` if the item has none. */
    id: string | null;
    /** Number of returned units that were paid. */
    quantity: number;
    /** Number of free units that were returned with the paid units. */
    free_quantity: number;
    /** Amount of the returned units before discounts, in minor units. */
    amount: number;
    /** Share of the returned units in the discount of the item, in minor units. */
    discount_amount: number;
    /** Share of the returned units in the discount of the whole order, in minor units. */
    order_discount_amount: number;
  }[];
  /** Amount of all returned units before discounts, in minor units. */
  amount: number;
  /** Discount that is given up by the return, in minor units. */
  discount_amount: number;
  /** Amount to refund to the customer, in minor units. */
  refund_amount: number;
  /** Part of the cost of the remaining order that is not paid, in minor units. Absent means 0. */
  uncovered_amount?: number | undefined;
  /** Effects of the return on each redemption of the order. */
  redemptions: ReturnedRedemption[];
  /** Points earned by the order that the return revokes. Absent if none. */
  earned_points?: ReturnedPoints[] | undefined;
  /** Points spent on the order that are refunded to member cards. Absent if none. */
  spent_points?: ReturnedPoints[] | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata: Json;
}

/** Effect of a return on one redemption of the order. */
export interface ReturnedRedemption extends Json {
  /** ID of the redemption. */
  id: string;
  /** Type of the redeemed object. */
  related_object_type: "voucher" | "promotion_tier";
  /** ID of the redeemed voucher or promotion tier. `null` if unknown. */
  related_object_id: string | null;
  /** Method by which the discount was settled. `SHARE` also if a deleted redeemable cannot be decided again. */
  policy: "SHARE" | "RECHECK";
  /** Part of the discount that is given up by the return, in minor units. */
  discount_amount: number;
  /** `true` if the redemption no longer counts, because all items were returned. */
  given_back: boolean;
  /** Gift credits that are refunded to the card. Absent if the redemption spent none. */
  gift?: {
    /** Gift credits that are refunded to the card, in minor units. */
    amount: number;
  } | undefined;
  /** Points that are refunded to the card. Absent if the redemption spent none. */
  loyalty_card?: {
    /** Number of points that are refunded to the card. */
    points: number;
  } | undefined;
  /** Reason for which the redeemable grants nothing on the remaining items. Absent if a discount remains. */
  lost?: {
    /** Machine-readable error key of the reason. */
    key: string;
    /** Short text of the reason, for people. */
    message: string;
    /** Longer text of the reason, for people. */
    details: string;
  } | undefined;
  /** Discounts and units of the redemption that remain after the return. */
  remaining: {
    /** Discount that remains on the whole order, in minor units. Absent means 0. */
    discount_amount?: number | undefined;
    /** Effects that remain on single items. */
    items?: {
      /** ID of the order item. */
      id: string;
      /** Discount that remains on the item, in minor units. Absent means 0. */
      discount_amount?: number | undefined;
      /** Number of units that the redemption added to the item, negative for removed units. Absent means 0. */
      quantity?: number | undefined;
      /** Number of units of the item that remain free. Absent means 0. */
      free_quantity?: number | undefined;
      /** Amount of the added units in minor units, negative for removed units. Absent means 0. */
      amount?: number | undefined;
    }[] | undefined;
  };
}

/** Points that a return takes from a card or refunds to a card. */
export interface ReturnedPoints extends Json {
  /** ID of the loyalty card of a loyalty campaign. Absent for a member card. */
  voucher_id?: string | undefined;
  /** ID of the member card of a loyalty program. Absent for a loyalty card. */
  card_id?: string | undefined;
  /** Number of points that are moved. */
  points: number;
  /** Number of points that could not be taken, because the customer had spent them. */
  missing_points?: number | undefined;
  /** Part of the order that the points had paid, in minor units. Present for points that were spent. */
  amount?: number | undefined;
}

/** Conditions on customers, products or SKUs by the path of a field, and the junction that joins them. */
export type Filter = {
  /** Junction of the conditions: `and` requires all of them, `or` requires one. */
  junction?: "and" | "or" | "AND" | "OR" | undefined;
  [name: string]: "and" | "or" | "AND" | "OR" | undefined | {
    /** Conditions on the field, all of which must be met. */
    conditions: FieldConditions;
  };
};

/** Conditions on one field, all of which must be met. */
export interface FieldConditions extends Json {
  /** Accepted values. The tested value must equal one of them. */
  "$is"?: (string | number | boolean)[] | string | number | boolean | undefined;
  /** Excluded values. The tested value must equal none of them. */
  "$is_not"?: (string | number | boolean)[] | string | number | boolean | undefined;
  /** Accepted values. The tested value must equal one of them. */
  "$in"?: (string | number | boolean)[] | string | number | boolean | undefined;
  /** Excluded values. The tested value must equal none of them. */
  "$not_in"?: (string | number | boolean)[] | string | number | boolean | undefined;
  /** Parts of a text or elements of a list. The tested value must contain one of them. */
  "$contains"?: (string | number | boolean)[] | string | number | boolean | undefined;
  /** Parts of a text or elements of a list. The tested value must contain none of them. */
  "$not_contain"?: (string | number | boolean)[] | string | number | boolean | undefined;
  /** Prefixes. The tested text must begin with one of them. */
  "$starts_with"?: string[] | string | undefined;
  /** Suffixes. The tested text must end with one of them. */
  "$ends_with"?: string[] | string | undefined;
  /** Condition that the tested value is present. The content of this field is ignored. */
  "$has_value"?: unknown | undefined;
  /** Condition that the tested value is missing. The content of this field is ignored. */
  "$is_unknown"?: unknown | undefined;
  /** Lower bound. The tested value must be higher. */
  "$more_than"?: (number | string)[] | number | string | undefined;
  /** Upper bound. The tested value must be lower. */
  "$less_than"?: (number | string)[] | number | string | undefined;
  /** Lower bound. The tested value must be higher or equal. */
  "$more_than_equal"?: (number | string)[] | number | string | undefined;
  /** Upper bound. The tested value must be lower or equal. */
  "$less_than_equal"?: (number | string)[] | number | string | undefined;
  /** Moment. The tested moment must be later. */
  "$after"?: string[] | string | undefined;
  /** Moment. The tested moment must be earlier. */
  "$before"?: string[] | string | undefined;
  /** Number of days. The tested date must be more days in the past, in the project's time zone. */
  "$more_than_ago"?: (number | string)[] | number | string | undefined;
  /** Number of days. The tested date must be fewer days in the past, in the project's time zone. */
  "$less_than_ago"?: (number | string)[] | number | string | undefined;
  /** Number of days. The tested date must be exactly that many days in the past, in the project's time zone. */
  "$is_days_ago"?: (number | string)[] | number | string | undefined;
  /** Number of days. The tested date must be more days in the future, in the project's time zone. */
  "$more_than_future"?: (number | string)[] | number | string | undefined;
  /** Number of days. The tested date must be fewer days in the future, in the project's time zone. */
  "$less_than_future"?: (number | string)[] | number | string | undefined;
  /** Number of days. The tested date must be exactly that many days in the future, in the project's time zone. */
  "$is_days_in_future"?: (number | string)[] | number | string | undefined;
  /** Number of elements that the tested list must have. */
  "$count"?: (number | string)[] | number | string | undefined;
  /** Number of elements. The tested list must have fewer. */
  "$count_less"?: (number | string)[] | number | string | undefined;
  /** Number of elements. The tested list must have more. */
  "$count_more"?: (number | string)[] | number | string | undefined;
  /** Condition that the tested date lies in the next month, in the project's time zone. The content of this field is ignored. */
  "$next_month"?: unknown | undefined;
  /** Condition that the tested date lies in the current month, in the project's time zone. The content of this field is ignored. */
  "$this_month"?: unknown | undefined;
  /** Condition that the tested date lies in the previous month, in the project's time zone. The content of this field is ignored. */
  "$previous_month"?: unknown | undefined;
}

/** What rules take of a campaign. */
export interface CampaignDocument {
  /** Validation rules of the object, by ID or as objects. */
  validation_rules?: Given<(string | ValidationRule)[]> | null | undefined;
  /** Assignments of validation rules to the object. */
  validation_rules_assignments?: Given<ValidationRulesAssignments | ValidationRulesAssignment[]> | null | undefined;
  /** Assignments of validation rules to the object. */
  validation_rule_assignments?: Given<ValidationRulesAssignments | ValidationRulesAssignment[]> | null | undefined;
  /** Tiers of a promotion. */
  promotion?: Given<{
    /** Type of the object. */
    object?: unknown | undefined;
    /** Name of the member that contains the tiers. Ignored. */
    data_ref?: unknown | undefined;
    /** Tiers of the promotion. */
    tiers?: {
      /** Validation rules of the object, by ID or as objects. */
      validation_rules?: (string | ValidationRule)[] | undefined;
      /** Assignments of validation rules to the object. */
      validation_rules_assignments?: ValidationRulesAssignments | ValidationRulesAssignment[] | undefined;
      /** Assignments of validation rules to the object. */
      validation_rule_assignments?: ValidationRulesAssignments | ValidationRulesAssignment[] | undefined;
      /** ID of the object. */
      id: string;
      /** Name of the tier. */
      name: string;
      /** Text that presents the tier to customers. `null` or absent without one. */
      banner?: string | null | undefined;
      /** Grant of the tier. */
      action?: {
        /** Discount that the tier grants. */
        discount: DiscountDefinition;
      } | undefined;
      /** Rank of the tier in its promotion; a lower number comes first. */
      hierarchy?: number | undefined;
      /** ID of the promotion that the tier belongs to. */
      campaign_id: string | null;
      /** ID of the promotion that the tier belongs to. Equal to `campaign_id`. */
      promotion_id?: string | undefined;
      /** Disclosure to clients of the tier, as set: `public` or `server`. A promotion that is `server` has precedence. `null` or absent means `public`. */
      visibility?: "public" | "sealed" | "server" | null | undefined;
      /** Metadata: custom properties of the merchant, by key. */
      metadata?: Json | undefined;
      /** Moment of the creation, in UTC. */
      created_at?: string | undefined;
      /** Moment of the last change, in UTC. `null` means no change since the creation. */
      updated_at?: string | null | undefined;
      /** Type of the object. */
      object: "promotion_tier";
      /** `true` if enabled. An object that is disabled cannot be redeemed. */
      active?: boolean | undefined;
      /** Moment from which a redemption is possible, in UTC. `null` or absent means no bound. */
      start_date?: string | null | undefined;
      /** Moment after which a redemption is no longer possible, in UTC. `null` or absent means no end. */
      expiration_date?: string | null | undefined;
      /** Recurring windows in which a redemption is possible, counted from `start_date`. `null` or absent means at any time. */
      validity_timeframe?: ValidityTimeframe | null | undefined;
      /** Weekdays on which a redemption is possible, 0 for Sunday to 6 for Saturday, in the project's time zone. `null` or absent means every day. */
      validity_day_of_week?: number[] | null | undefined;
      /** Hours of the day in which a redemption is possible. `null` or absent means at any time. */
      validity_hours?: ValidityHours | null | undefined;
      /** Name of the category. `null` or absent without a category. */
      category?: string | null | undefined;
      /** ID of the category. `null` or absent without a category. */
      category_id?: string | null | undefined;
      /** Category of the object, or else of its campaign. Empty without a category or when not requested with `expand`. */
      categories?: Category[] | undefined;
      /** Promotion that the tier belongs to. */
      campaign: {
        /** ID of the object. */
        id: string;
        /** ID of the category of the campaign. `null` or absent without a category. */
        category_id?: string | null | undefined;
        /** Type of the object. */
        object: "campaign";
        /** `true` if enabled. An object that is disabled cannot be redeemed. */
        active?: boolean | undefined;
        /** Moment from which a redemption is possible, in UTC. `null` or absent means no bound. */
        start_date?: string | null | undefined;
        /** Moment after which a redemption is no longer possible, in UTC. `null` or absent means no end. */
        expiration_date?: string | null | undefined;
        /** Recurring windows in which a redemption is possible, counted from `start_date`. `null` or absent means at any time. */
        validity_timeframe?: ValidityTimeframe | null | undefined;
        /** Weekdays on which a redemption is possible, 0 for Sunday to 6 for Saturday, in the project's time zone. `null` or absent means every day. */
        validity_day_of_week?: number[] | null | undefined;
        /** Hours of the day in which a redemption is possible. `null` or absent means at any time. */
        validity_hours?: ValidityHours | null | undefined;
      };
      /** Redemptions of the tier so far. */
      summary?: {
        /** Redemptions of the tier. */
        redemptions: {
          /** Number of redemptions, without those rolled back. */
          total_redeemed: number;
        };
        /** Orders that the tier was redeemed on. */
        orders: {
          /** Total value of the orders, in minor units. */
          total_amount: number;
          /** Total discount that the tier gave on the orders, in minor units. */
          total_discount_amount: number;
        };
      } | undefined;
    }[] | undefined;
    /** Number of tiers. Ignored. */
    total?: unknown | undefined;
    /** `true` if more tiers follow. Ignored. */
    has_more?: unknown | undefined;
  }> | null | undefined;
  /** ID of the object. */
  id?: string | null | undefined;
  /** Name of the campaign, unique in the project. */
  name?: string | null | undefined;
  /** Description of the campaign for the merchant. `null` or absent without one. */
  description?: string | null | undefined;
  /** Type of campaign, which decides between vouchers, loyalty cards, referral codes and promotion tiers. */
  campaign_type?: Given<"PROMOTION" | "GIFT_VOUCHERS" | "REFERRAL_PROGRAM" | "DISCOUNT_COUPONS" | "LOYALTY_PROGRAM"> | null | undefined;
  /** Supply of vouchers: `AUTO_UPDATE` generates one when none is free to publish, `STATIC` does not, `STANDALONE` has a single voucher. */
  type?: Given<"AUTO_UPDATE" | "STATIC" | "STANDALONE"> | null | undefined;
  /** `true` if a customer receives at most one voucher of the campaign. */
  join_once?: boolean | null | undefined;
  /** `true` if earning points gives a card of a loyalty campaign to a customer without one. */
  auto_join?: boolean | null | undefined;
  /** `true` if metadata of the vouchers follows the schema of vouchers, `false` for the schema of campaigns. */
  use_voucher_metadata_schema?: boolean | null | undefined;
  /** Time for which a voucher is valid from its publication on. `null` or absent means until the end of the voucher. */
  activity_duration_after_publishing?: string | null | undefined;
  /** Disclosure to clients of the offers of the campaign, as set. `null` or absent means the default of each: `public` for a promotion, `sealed` for the one discount code of a `STANDALONE` campaign of unlimited quantity, otherwise `server`. */
  visibility?: Given<"public" | "sealed" | "server"> | null | undefined;
  /** Number of vouchers in the campaign. Increases while vouchers are generated. */
  vouchers_count?: number | null | undefined;
  /** Status of the generation of vouchers: `IN_PROGRESS`, `DONE` or `FAILED`. */
  vouchers_generation_status?: string | null | undefined;
  /** Status of the creation of the campaign: `IN_PROGRESS`, `DONE` or `FAILED`. */
  creation_status?: string | null | undefined;
  /** `true` if the campaign is protected from changes. Always `false`. */
  protected?: boolean | null | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Configuration of the vouchers. Absent on a promotion. */
  voucher?: Given<{
    /** Type of the vouchers. */
    type: "DISCOUNT_VOUCHER" | "GIFT_VOUCHER" | "LOYALTY_CARD";
    /** Discount of each voucher. Present for discount coupons and referral codes. */
    discount?: DiscountDefinition | undefined;
    /** Amount on each gift card. Present for gift vouchers. */
    gift?: GiftDefinition | undefined;
    /** Points on each new card, and their expiration rules. Present for loyalty campaigns. */
    loyalty_card?: LoyaltyCardDefinition | undefined;
    /** Form of the generated codes. */
    code_config: {
      /** Number of generated characters in a code. */
      length: number;
      /** Characters that generated characters are drawn from. */
      charset: string;
      /** Pattern of a code between prefix and postfix, with `#` for each generated character. */
      pattern: string;
      /** Text at the beginning of each code. Absent means none. */
      prefix?: string | undefined;
      /** Text at the end of each code. Absent means none. */
      postfix?: string | undefined;
    };
    /** Limit on the redemptions of each voucher. */
    redemption: {
      /** Number of redemptions of each voucher. `null` means no limit. */
      quantity: number | null;
    };
    /** `true` if the vouchers are referral codes. */
    is_referral_code: boolean;
    /** Moment from which new vouchers can be redeemed, in UTC. Same as that of the campaign. */
    start_date?: string | undefined;
    /** Moment after which new vouchers can no longer be redeemed, in UTC. Same as that of the campaign. */
    expiration_date?: string | undefined;
    /** Recurring windows in which new vouchers can be redeemed. Same as those of the campaign. */
    validity_timeframe?: ValidityTimeframe | undefined;
    /** Weekdays on which new vouchers can be redeemed, from 0 for Sunday to 6 for Saturday. Same as those of the campaign. */
    validity_day_of_week?: number[] | undefined;
    /** Hours of the day in which new vouchers can be redeemed. Same as those of the campaign. */
    validity_hours?: ValidityHours | undefined;
  }> | null | undefined;
  /** Conversion event and reward of a referral program. Absent on other campaigns. */
  referral_program?: Given<{
    /** Event that completes a referral: a redemption of the code or a custom event. Absent means `redemption`. */
    conversion_event_type?: "redemption" | "custom_event" | undefined;
    /** Custom event that completes a referral. Has an effect only if `conversion_event_type` is `custom_event`. */
    custom_event?: {
      /** ID of the object. */
      id?: string | undefined;
      /** Name of the custom event. */
      name?: string | undefined;
    } | undefined;
    /** Reward of the referee, granted once for each campaign. Absent means no reward. */
    referee_reward?: {
      /** Type of the card that receives the reward. */
      type?: "LOYALTY_CARD" | "GIFT_VOUCHER" | undefined;
      /** Amount of the reward: points for a loyalty card, minor units for a gift card. */
      amount?: number | undefined;
      /** Campaign of the card. */
      related_object_parent?: {
        /** ID of the object. */
        id?: string | undefined;
        /** Name of the campaign. */
        name?: string | undefined;
        /** Type of the object. */
        object?: string | undefined;
      } | undefined;
    } | undefined;
  }> | null | undefined;
  /** Points that count for the tiers of a loyalty campaign. Absent means the balance of the card. */
  loyalty_tiers_expiration?: Given<LoyaltyTiersExpiration> | null | undefined;
  /** Type of the object. */
  object?: Given<"campaign"> | null | undefined;
  /** `true` if enabled. An object that is disabled cannot be redeemed. */
  active?: boolean | null | undefined;
  /** Moment from which a redemption is possible, in UTC. `null` or absent means no bound. */
  start_date?: string | null | undefined;
  /** Moment after which a redemption is no longer possible, in UTC. `null` or absent means no end. */
  expiration_date?: string | null | undefined;
  /** Recurring windows in which a redemption is possible, counted from `start_date`. `null` or absent means at any time. */
  validity_timeframe?: Given<ValidityTimeframe> | null | undefined;
  /** Weekdays on which a redemption is possible, 0 for Sunday to 6 for Saturday, in the project's time zone. `null` or absent means every day. */
  validity_day_of_week?: Given<number[]> | null | undefined;
  /** Hours of the day in which a redemption is possible. `null` or absent means at any time. */
  validity_hours?: Given<ValidityHours> | null | undefined;
  /** Name of the category. `null` or absent without a category. */
  category?: string | null | undefined;
  /** ID of the category. `null` or absent without a category. */
  category_id?: string | null | undefined;
  /** Category of the object, or else of its campaign. Empty without a category or when not requested with `expand`. */
  categories?: Given<Category[]> | null | undefined;
}

/** What rules take of a voucher. */
export interface VoucherDocument {
  /** Validation rules of the object, by ID or as objects. */
  validation_rules?: Given<(string | ValidationRule)[]> | null | undefined;
  /** Assignments of validation rules to the object. */
  validation_rules_assignments?: Given<ValidationRulesAssignments | ValidationRulesAssignment[]> | null | undefined;
  /** Assignments of validation rules to the object. */
  validation_rule_assignments?: Given<ValidationRulesAssignments | ValidationRulesAssignment[]> | null | undefined;
  /** ID of the object. */
  id?: string | null | undefined;
  /** Code of the voucher, unique in the project. */
  code?: string | null | undefined;
  /** Name of the campaign of the voucher. `null` or absent without a campaign. */
  campaign?: string | null | undefined;
  /** ID of the campaign of the voucher. `null` or absent without a campaign. */
  campaign_id?: string | null | undefined;
  /** Type of the voucher, which decides between `discount`, `gift` and `loyalty_card`. */
  type?: Given<"DISCOUNT_VOUCHER" | "GIFT_VOUCHER" | "LOYALTY_CARD"> | null | undefined;
  /** Discount of the voucher. `null` or absent unless the type is `DISCOUNT_VOUCHER`. */
  discount?: Given<DiscountDefinition> | null | undefined;
  /** Balance of the gift card. `null` or absent unless the type is `GIFT_VOUCHER`. */
  gift?: Given<GiftDefinition> | null | undefined;
  /** Points of the loyalty card. `null` or absent unless the type is `LOYALTY_CARD`. */
  loyalty_card?: Given<LoyaltyCard> | null | undefined;
  /** `true` if enabled. An object that is disabled cannot be redeemed. */
  active?: boolean | null | undefined;
  /** Moment from which a redemption is possible, in UTC. `null` or absent means no bound. */
  start_date?: string | null | undefined;
  /** Moment after which a redemption is no longer possible, in UTC. `null` or absent means no end. */
  expiration_date?: string | null | undefined;
  /** Recurring windows in which a redemption is possible, counted from `start_date`. `null` or absent means at any time. */
  validity_timeframe?: Given<ValidityTimeframe> | null | undefined;
  /** Weekdays on which a redemption is possible, 0 for Sunday to 6 for Saturday, in the project's time zone. `null` or absent means every day. */
  validity_day_of_week?: Given<number[]> | null | undefined;
  /** Hours of the day in which a redemption is possible. `null` or absent means at any time. */
  validity_hours?: Given<ValidityHours> | null | undefined;
  /** Name of the category. `null` or absent without a category. */
  category?: string | null | undefined;
  /** ID of the category. `null` or absent without a category. */
  category_id?: string | null | undefined;
  /** Category of the object, or else of its campaign. Empty without a category or when not requested with `expand`. */
  categories?: Given<Category[]> | null | undefined;
  /** Disclosure to clients of a voucher without a campaign, as set. `null` or absent means the default: `sealed` for a discount of unlimited quantity, otherwise `server`. Within a campaign the setting of the campaign applies. */
  visibility?: Given<"public" | "sealed" | "server"> | null | undefined;
  /** Note of the merchant on the voucher. `null` or absent without a note. */
  additional_info?: string | null | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | null | undefined;
  /** `true` if the voucher is a referral code. */
  is_referral_code?: boolean | null | undefined;
  /** ID of the customer who owns the voucher. Absent without a holder. */
  holder_id?: string | null | undefined;
  /** ID of the customer who passes a referral code on. Absent on other vouchers. */
  referrer_id?: string | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Limit on the redemptions of the voucher, and the redemptions so far. */
  redemption?: Given<{
    /** Number of redemptions that are allowed in total. `null` means no limit. */
    quantity?: number | null | undefined;
    /** Number of redemptions so far, without those rolled back. */
    redeemed_quantity?: number | undefined;
    /** Amount spent from a gift card so far, in minor units. Present on gift cards. */
    redeemed_amount?: number | undefined;
    /** Number of points spent from a loyalty card so far. Present on loyalty cards. */
    redeemed_points?: number | undefined;
    /** Type of the object. */
    object?: "list" | undefined;
    /** Path of the list of redemptions of the voucher. */
    url?: string | undefined;
  }> | null | undefined;
  /** Publications of the voucher so far. */
  publish?: Given<{
    /** Type of the object. */
    object: "list";
    /** Number of publications of the voucher. */
    count: number;
    /** Path of the list of publications of the voucher. */
    url: string;
  }> | null | undefined;
  /** Images of the code. */
  assets?: Given<Assets> | null | undefined;
  /** Type of the object. */
  object?: Given<"voucher"> | null | undefined;
  /** Form of a generated code. Ignored. */
  code_config?: Json | null | undefined;
}

/** What rules take of a promotion tier. */
export interface PromotionTierDocument {
  /** Validation rules of the object, by ID or as objects. */
  validation_rules?: Given<(string | ValidationRule)[]> | null | undefined;
  /** Assignments of validation rules to the object. */
  validation_rules_assignments?: Given<ValidationRulesAssignments | ValidationRulesAssignment[]> | null | undefined;
  /** Assignments of validation rules to the object. */
  validation_rule_assignments?: Given<ValidationRulesAssignments | ValidationRulesAssignment[]> | null | undefined;
  /** ID of the object. */
  id?: string | null | undefined;
  /** Name of the tier. */
  name?: string | null | undefined;
  /** Text that presents the tier to customers. `null` or absent without one. */
  banner?: string | null | undefined;
  /** Grant of the tier. */
  action?: Given<{
    /** Discount that the tier grants. */
    discount: DiscountDefinition;
  }> | null | undefined;
  /** Rank of the tier in its promotion; a lower number comes first. */
  hierarchy?: number | null | undefined;
  /** ID of the promotion that the tier belongs to. */
  campaign_id?: string | null | undefined;
  /** ID of the promotion that the tier belongs to. Equal to `campaign_id`. */
  promotion_id?: string | null | undefined;
  /** Disclosure to clients of the tier, as set: `public` or `server`. A promotion that is `server` has precedence. `null` or absent means `public`. */
  visibility?: Given<"public" | "sealed" | "server"> | null | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Type of the object. */
  object?: Given<"promotion_tier"> | null | undefined;
  /** `true` if enabled. An object that is disabled cannot be redeemed. */
  active?: boolean | null | undefined;
  /** Moment from which a redemption is possible, in UTC. `null` or absent means no bound. */
  start_date?: string | null | undefined;
  /** Moment after which a redemption is no longer possible, in UTC. `null` or absent means no end. */
  expiration_date?: string | null | undefined;
  /** Recurring windows in which a redemption is possible, counted from `start_date`. `null` or absent means at any time. */
  validity_timeframe?: Given<ValidityTimeframe> | null | undefined;
  /** Weekdays on which a redemption is possible, 0 for Sunday to 6 for Saturday, in the project's time zone. `null` or absent means every day. */
  validity_day_of_week?: Given<number[]> | null | undefined;
  /** Hours of the day in which a redemption is possible. `null` or absent means at any time. */
  validity_hours?: Given<ValidityHours> | null | undefined;
  /** Name of the category. `null` or absent without a category. */
  category?: string | null | undefined;
  /** ID of the category. `null` or absent without a category. */
  category_id?: string | null | undefined;
  /** Category of the object, or else of its campaign. Empty without a category or when not requested with `expand`. */
  categories?: Given<Category[]> | null | undefined;
  /** Promotion that the tier belongs to. */
  campaign?: Given<{
    /** ID of the object. */
    id: string;
    /** ID of the category of the campaign. `null` or absent without a category. */
    category_id?: string | null | undefined;
    /** Type of the object. */
    object: "campaign";
    /** `true` if enabled. An object that is disabled cannot be redeemed. */
    active?: boolean | undefined;
    /** Moment from which a redemption is possible, in UTC. `null` or absent means no bound. */
    start_date?: string | null | undefined;
    /** Moment after which a redemption is no longer possible, in UTC. `null` or absent means no end. */
    expiration_date?: string | null | undefined;
    /** Recurring windows in which a redemption is possible, counted from `start_date`. `null` or absent means at any time. */
    validity_timeframe?: ValidityTimeframe | null | undefined;
    /** Weekdays on which a redemption is possible, 0 for Sunday to 6 for Saturday, in the project's time zone. `null` or absent means every day. */
    validity_day_of_week?: number[] | null | undefined;
    /** Hours of the day in which a redemption is possible. `null` or absent means at any time. */
    validity_hours?: ValidityHours | null | undefined;
  }> | null | undefined;
  /** Redemptions of the tier so far. */
  summary?: Given<{
    /** Redemptions of the tier. */
    redemptions: {
      /** Number of redemptions, without those rolled back. */
      total_redeemed: number;
    };
    /** Orders that the tier was redeemed on. */
    orders: {
      /** Total value of the orders, in minor units. */
      total_amount: number;
      /** Total discount that the tier gave on the orders, in minor units. */
      total_discount_amount: number;
    };
  }> | null | undefined;
}

/** What rules take of a promotion stack. */
export interface PromotionStackDocument {
  /** ID of the object. */
  id?: string | null | undefined;
  /** Name of the stack. */
  name?: string | null | undefined;
  /** ID of the promotion that the stack belongs to. */
  campaign_id?: string | null | undefined;
  /** ID of the category of the stack. `null` without a category. */
  category_id?: string | null | undefined;
  /** Category of the stack, or else of the promotion. Empty without a category. */
  categories?: Given<Category[]> | null | undefined;
  /** Tiers of the stack and their order. */
  tiers?: Given<{
    /** IDs of the tiers, in the order in which they are applied. */
    ids: string[];
    /** Order of the tiers. Always `MANUAL`, the order of `ids`. */
    hierarchy_mode: "MANUAL";
  }> | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Type of the object. */
  object?: Given<"promotion_stack"> | null | undefined;
}

/** What rules take of a category. */
export interface CategoryDocument {
  /** ID of the object. */
  id?: string | null | undefined;
  /** Name of the category, unique in the project. */
  name?: string | null | undefined;
  /** Rank of the category; a lower number comes first. Used if the stacking rules sort by `CATEGORY_HIERARCHY`. */
  hierarchy?: number | null | undefined;
  /** Type of the object. */
  object?: Given<"category"> | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
}

/** What rules take of a reward. */
export interface RewardDocument {
  /** ID of the object. */
  id?: string | null | undefined;
  /** Name of the reward. `null` if none was given. */
  name?: string | null | undefined;
  /** Type of reward: `MATERIAL` a product, `CAMPAIGN` a voucher or a balance, `COIN` a discount in money. */
  type?: Given<"CAMPAIGN" | "COIN" | "MATERIAL"> | null | undefined;
  /** Content of the reward, by type. */
  parameters?: Given<{
    /** Campaign whose voucher or balance the reward gives. Present for type `CAMPAIGN`. */
    campaign?: {
      /** ID of the campaign. */
      id: string;
      /** Balance that is given, in minor units for a gift card, else in points. */
      balance?: number | undefined;
      /** Type of the campaign. */
      type?: string | undefined;
    } | undefined;
    /** Product that the reward gives. Present for type `MATERIAL`. */
    product?: {
      /** ID of the product. */
      id: string;
      /** ID of the SKU. `null` or absent means the product without a variant. */
      sku_id?: string | null | undefined;
    } | undefined;
    /** Rate at which points become money. Present for type `COIN`. */
    coin?: {
      /** Amount given for `points_ratio` points, in major units, as a number or as text. */
      exchange_ratio: unknown;
      /** Number of points that buy `exchange_ratio`. Absent means 1. */
      points_ratio?: unknown | undefined;
    } | undefined;
  }> | null | undefined;
  /** Number of units that can still be bought. `null` means no limit. */
  stock?: number | null | undefined;
  /** Number of units that were bought. `null` unless the reward is of type `MATERIAL`. */
  redeemed?: number | null | undefined;
  /** Image, description and further texts of the reward, for display. */
  attributes?: Json | null | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Type of the object. */
  object?: Given<"reward"> | null | undefined;
}

/** What rules take of a reward assignment. */
export interface RewardAssignmentDocument {
  /** Validation rules of the object, by ID or as objects. */
  validation_rules?: Given<(string | ValidationRule)[]> | null | undefined;
  /** Assignments of validation rules to the object. */
  validation_rules_assignments?: Given<ValidationRulesAssignments | ValidationRulesAssignment[]> | null | undefined;
  /** Assignments of validation rules to the object. */
  validation_rule_assignments?: Given<ValidationRulesAssignments | ValidationRulesAssignment[]> | null | undefined;
  /** ID of the object. */
  id?: string | null | undefined;
  /** ID of the reward. */
  reward_id?: string | null | undefined;
  /** ID of the loyalty campaign. */
  related_object_id?: string | null | undefined;
  /** Type of the object in `related_object_id`. Always `campaign`. */
  related_object_type?: string | null | undefined;
  /** Price of the reward in this campaign. Absent for a reward of type `COIN`. */
  parameters?: Given<{
    /** Price in points. */
    loyalty: {
      /** Number of points that the reward costs in this campaign. */
      points?: number | undefined;
      /** Flag that is stored as sent and has no effect. */
      auto_redeem?: boolean | undefined;
    };
  }> | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Type of the object. */
  object?: Given<"reward_assignment"> | null | undefined;
}

/** What rules take of a customer. */
export interface CustomerDocument {
  /** ID of the object. */
  id?: string | null | undefined;
  /** Unique name of the customer in the merchant's system. `null` if none was given. */
  source_id?: string | null | undefined;
  /** Full name of the customer. `null` if unknown. */
  name?: string | null | undefined;
  /** Note of the merchant on the customer. `null` if absent. */
  description?: string | null | undefined;
  /** Email address of the customer. `null` if unknown. */
  email?: string | null | undefined;
  /** Phone number of the customer. `null` if unknown. */
  phone?: string | null | undefined;
  /** Date of birth, used if `birthdate` is `null`. */
  birthday?: string | null | undefined;
  /** Date of birth. `null` if unknown. */
  birthdate?: string | null | undefined;
  /** Postal address of the customer. `null` if unknown. */
  address?: Given<Address> | null | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | null | undefined;
  /** Empty object, kept for existing clients. */
  system_metadata?: Json | null | undefined;
  /** Counts and amounts of redemptions and orders of the customer. */
  summary?: Given<{
    /** Counts of redemptions and rollbacks of the customer. */
    redemptions: {
      /** Number of redemptions that succeeded and were not rolled back. */
      total_redeemed: number;
      /** Number of redemptions that failed. */
      total_failed: number;
      /** Number of redemptions that succeeded, with those rolled back later. */
      total_succeeded: number;
      /** Number of redemptions that were rolled back. */
      total_rolled_back: number;
      /** Number of rollbacks that failed. */
      total_rollback_failed: number;
      /** Number of rollbacks that succeeded. */
      total_rollback_succeeded: number;
      /** Gift credits of the customer. */
      gift: {
        /** Gift credits that were spent, in minor units. */
        redeemed_amount: number;
        /** Gift credits left on the gift cards that the customer holds, in minor units. */
        amount_to_go: number;
      };
      /** Points of the customer on loyalty cards. */
      loyalty_card: {
        /** Number of points that were spent. */
        redeemed_points: number;
        /** Number of points left on the loyalty cards that the customer holds. */
        points_to_go: number;
      };
    };
    /** Amounts and counts of the paid orders of the customer. */
    orders: {
      /** Amount of all paid orders after discounts, in minor units. */
      total_amount: number;
      /** Number of paid orders. */
      total_count: number;
      /** Average amount of a paid order, in minor units. */
      average_amount: number;
      /** Amount of the latest paid order, in minor units. 0 if the customer paid no order. */
      last_order_amount: number;
      /** Moment at which the latest paid order was made, in UTC. `null` if the customer paid no order. */
      last_order_date: string | null;
    };
  }> | null | undefined;
  /** Points on loyalty cards, and number of referred customers. */
  loyalty?: Given<{
    /** Number of points left on the loyalty cards that the customer holds. */
    points?: number | undefined;
    /** Number of customers referred by this customer, by all referral campaigns. */
    referred_customers: number;
    /** Points and number of referred customers by name of the campaign. */
    campaigns: Json;
  }> | null | undefined;
  /** Referrals by which the customer came as a referee. */
  referrals?: Given<{
    /** Referrals of the customer, the oldest first. */
    campaigns: {
      /** ID of the referral campaign. */
      campaign_id: string;
      /** ID of the customer who referred this customer. */
      referrer_id: string;
      /** ID of the referral code, a voucher. */
      related_object_id: string;
      /** Type of the object in `related_object_id`. Always `voucher`. */
      related_object_type: string;
      /** Moment of the referral, in UTC. */
      date: string;
    }[];
    /** Number of referrals of the customer. */
    total: number;
  }> | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Type of the object. */
  object?: Given<"customer"> | null | undefined;
  /** Points of the customer by campaign, for the filters of segments. */
  loyalty_points?: Json | null | undefined;
  /** Tracking ID of the customer, as answers show it. */
  tracking_id?: string | null | undefined;
  /** Numbers of the conditions of a bundle that the customer meets. */
  conditions?: Given<string[]> | null | undefined;
  /** Numbers of the conditions whose results no metadata in a request changes. */
  conditions_beside_metadata?: Given<string[]> | null | undefined;
  /** Numbers of the conditions whose results no other field of a sent profile changes. */
  conditions_beside_fields?: Given<string[]> | null | undefined;
}

/** What rules take of an order. */
export interface OrderDocument {
  /** ID of the object. */
  id?: string | null | undefined;
  /** Status of the order. */
  status?: Given<"CREATED" | "PAID" | "CANCELED" | "FULFILLED"> | null | undefined;
  /** Unique name of the order in the merchant's system. */
  source_id?: string | null | undefined;
  /** Amount of the order before discounts, in minor units, with units added by discounts. Absent without any known price. */
  amount?: number | null | undefined;
  /** Amount of the order before discounts added or removed units, in minor units. Absent if no units changed. */
  initial_amount?: number | null | undefined;
  /** Discount on the whole order so far, in minor units, with discounts of earlier requests. */
  discount_amount?: number | null | undefined;
  /** Sum of the discounts on the items so far, in minor units. */
  items_discount_amount?: number | null | undefined;
  /** Sum of `discount_amount` and `items_discount_amount`, in minor units. */
  total_discount_amount?: number | null | undefined;
  /** Amount to pay after all discounts, in minor units, never below 0. */
  total_amount?: number | null | undefined;
  /** Discount on the whole order by this request, in minor units. For a single redeemable, by this redeemable only. */
  applied_discount_amount?: number | null | undefined;
  /** Sum of the discounts on the items by this request, in minor units. For a single redeemable, by this redeemable only. */
  items_applied_discount_amount?: number | null | undefined;
  /** Sum of `applied_discount_amount` and `items_applied_discount_amount`, in minor units. */
  total_applied_discount_amount?: number | null | undefined;
  /** Items of the order. Absent if the order has none. */
  items?: Given<OrderItem[]> | null | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** ID of the buyer. `null` if unknown. */
  customer_id?: string | null | undefined;
  /** Buyer, by ID. Absent or `null` if unknown. */
  customer?: Given<{
    /** ID of the object. */
    id: string;
    /** Type of the object. */
    object: "customer";
  }> | null | undefined;
  /** ID of the customer who referred the buyer. `null` if unknown. */
  referrer_id?: string | null | undefined;
  /** Customer who referred the buyer, by ID. Absent if unknown. */
  referrer?: Given<{
    /** ID of the object. */
    id: string;
    /** Type of the object. */
    object: "customer";
  }> | null | undefined;
  /** Redemptions on the order, by ID of the redemption or of the parent redemption. */
  redemptions?: Given<Record<string, {
    /** Moment of the redemption, in UTC. */
    date: string;
    /** Type of the redeemed object: `voucher`, `promotion_tier`, or `redemption` for several redeemables. */
    related_object_type: string;
    /** ID of the redeemed object, or of the parent redemption. `null` if unknown. */
    related_object_id: string | null;
    /** ID of the campaign. `null` or absent if the redeemed object has none. */
    related_object_parent_id?: string | null | undefined;
    /** IDs of the redemptions of a parent redemption. Absent for a single redemption. */
    stacked?: string[] | undefined;
    /** ID of the rollback. Absent if the redemption was not rolled back. */
    rollback_id?: string | undefined;
    /** Moment of the rollback, in UTC. Absent if the redemption was not rolled back. */
    rollback_date?: string | undefined;
    /** IDs of the rollbacks of a parent rollback. Absent for a single rollback. */
    rollback_stacked?: string[] | undefined;
  }>> | null | undefined;
  /** Returns of parts of the order, the oldest first. Absent if none. */
  returns?: Given<OrderReturn[]> | null | undefined;
  /** Part of the cost of a paid order that is not paid, in minor units. Rollbacks and re-checks cause this; refunds leave the part out. */
  uncovered_amount?: number | null | undefined;
  /** Type of the object. */
  object?: Given<"order"> | null | undefined;
}

/** What rules take of a product. */
export interface ProductDocument {
  /** ID of the object. */
  id?: string | null | undefined;
  /** Unique name of the product in the merchant's system. `null` if none was given. */
  source_id?: string | null | undefined;
  /** Name of the product. `null` if unknown. */
  name?: string | null | undefined;
  /** Price of one unit, in minor units. `null` if unknown. */
  price?: number | null | undefined;
  /** Names of the attributes by which the SKUs of the product differ. */
  attributes?: Given<string[]> | null | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | null | undefined;
  /** HTTPS address of an image. `null` if there is none. */
  image_url?: string | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Type of the object. */
  object?: Given<"product"> | null | undefined;
  /** SKUs of the product. Present when a single product is read. */
  skus?: Given<{
    /** Type of the object. */
    object: "list";
    /** Name of the member that contains the SKUs. Always `data`. */
    data_ref: "data";
    /** First SKUs of the product, at most 1,000. */
    data: {
      /** ID of the object. */
      id: string;
      /** Unique name of the SKU in the merchant's system. `null` if none was given. */
      source_id: string | null;
      /** ID of the product that contains the SKU. */
      product_id: string;
      /** Name of the SKU. `null` if unknown. */
      sku: string | null;
      /** Price of one unit, in minor units. `null` means the price of the product. */
      price: number | null;
      /** Currency code of the price, for information only. `null` if unknown. */
      currency: string | null;
      /** Values of the attributes by which the SKU differs from other SKUs of the product. */
      attributes: Json;
      /** Metadata: custom properties of the merchant, by key. */
      metadata: Json;
      /** HTTPS address of an image. `null` if there is none. */
      image_url: string | null;
      /** Moment of the creation, in UTC. */
      created_at: string;
      /** Moment of the last change, in UTC. `null` means no change since the creation. */
      updated_at: string | null;
      /** Type of the object. */
      object: "sku";
    }[];
    /** Number of SKUs of the product. */
    total: number;
  }> | null | undefined;
  /** Numbers of the sets of a bundle that the goods are in. */
  sets?: Given<number[]> | null | undefined;
  /** Numbers of the sets of a bundle that the goods are not in because of their data. */
  out_of_sets?: Given<number[]> | null | undefined;
}

/** What rules take of a SKU. */
export interface SkuDocument {
  /** ID of the object. */
  id?: string | null | undefined;
  /** Unique name of the SKU in the merchant's system. `null` if none was given. */
  source_id?: string | null | undefined;
  /** ID of the product that contains the SKU. */
  product_id?: string | null | undefined;
  /** Name of the SKU. `null` if unknown. */
  sku?: string | null | undefined;
  /** Price of one unit, in minor units. `null` means the price of the product. */
  price?: number | null | undefined;
  /** Currency code of the price, for information only. `null` if unknown. */
  currency?: string | null | undefined;
  /** Values of the attributes by which the SKU differs from other SKUs of the product. */
  attributes?: Json | null | undefined;
  /** Metadata: custom properties of the merchant, by key. */
  metadata?: Json | null | undefined;
  /** HTTPS address of an image. `null` if there is none. */
  image_url?: string | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Type of the object. */
  object?: Given<"sku"> | null | undefined;
  /** Product of the SKU. Present where the SKU is returned without its product. */
  product?: Given<{
    /** ID of the object. */
    id: string;
    /** Unique name of the product in the merchant's system. `null` if none was given. */
    source_id: string | null;
    /** Name of the product. `null` if unknown. */
    name: string | null;
    /** Price of one unit, in minor units. `null` if unknown. */
    price: number | null;
    /** Names of the attributes by which the SKUs of the product differ. */
    attributes: string[];
    /** Metadata: custom properties of the merchant, by key. */
    metadata: Json;
    /** HTTPS address of an image. `null` if there is none. */
    image_url: string | null;
    /** Moment of the creation, in UTC. */
    created_at: string;
    /** Moment of the last change, in UTC. `null` means no change since the creation. */
    updated_at: string | null;
    /** Type of the object. */
    object: "product";
  }> | null | undefined;
  /** Numbers of the sets of a bundle that the goods are in. */
  sets?: Given<number[]> | null | undefined;
  /** Numbers of the sets of a bundle that the goods are not in because of their data. */
  out_of_sets?: Given<number[]> | null | undefined;
}

/** What rules take of a product collection. */
export interface ProductsCollectionDocument {
  /** ID of the object. */
  id?: string | null | undefined;
  /** Name of the collection. */
  name?: string | null | undefined;
  /** Type of the collection: `STATIC` is a fixed list, `AUTO_UPDATE` follows the filter. */
  type?: Given<"STATIC" | "AUTO_UPDATE"> | null | undefined;
  /** Conditions that products and SKUs of the collection match. Absent for a `STATIC` collection. */
  filter?: Given<Filter> | null | undefined;
  /** Products and SKUs of a `STATIC` collection. Absent for an `AUTO_UPDATE` collection. */
  products?: Given<{
    /** ID of the object. */
    id: string;
    /** ID of the product of a SKU. Absent for a product. */
    product_id?: string | undefined;
    /** Type of the object. */
    object: "product" | "sku";
  }[]> | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Type of the object. */
  object?: Given<"products_collection"> | null | undefined;
  /** Number of the set of a bundle that represents the content. */
  set?: number | null | undefined;
  /** Goods outside the catalogue: not in the set, or known to the server by name or data. */
  others?: Given<"out" | "by_name" | "by_data"> | null | undefined;
  /** Steps to find the members. Present only in a bundle. */
  steps?: number | null | undefined;
}

/** What rules take of a segment. */
export interface SegmentDocument {
  /** ID of the object. */
  id?: string | null | undefined;
  /** Name of the segment. */
  name?: string | null | undefined;
  /** Type of the segment: `static` is a fixed list, `auto-update` and `passive` follow the filter. */
  type?: Given<"static" | "auto-update" | "passive"> | null | undefined;
  /** Conditions that customers of the segment match. `null` for a `static` segment. */
  filter?: Given<Filter> | null | undefined;
  /** Status of the first evaluation of the filter: `IN_PROGRESS` or `DONE`. */
  initial_sync_status?: string | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Type of the object. */
  object?: Given<"segment"> | null | undefined;
  /** Customers of a `static` segment. */
  customers?: unknown;
}

/** What rules take of a validation rule. */
export interface ValidationRulesDocument {
  /** ID of the object. */
  id?: string | null | undefined;
  /** Name of the rule. */
  name?: string | null | undefined;
  /** Form in which the rule was edited. Stored as sent, without effect. */
  type?: Given<"expression" | "basic" | "advanced" | "complex"> | null | undefined;
  /** Kind of object for which editors offer the rule. Does not restrict assignments. */
  context_type?: string | null | undefined;
  /** Tests by their keys, and the logic that joins them. Empty without tests. */
  rules?: Given<RuleTests> | null | undefined;
  /** Product bundles that an order must contain. Empty without bundles. */
  bundle_rules?: Given<BundleRules> | null | undefined;
  /** Items that a discount with this rule acts on. */
  applicable_to?: Given<Scope> | null | undefined;
  /** Message of the merchant for failed tests without a message of their own. `null` without one. */
  error?: Given<{
    /** Text of the message. `null` or absent without one. */
    message?: string | null | undefined;
  }> | null | undefined;
  /** Parts of the definition that are probably mistakes. Present only in the response to a creation or a change. */
  warnings?: Given<{
    /** Path of the part in the rule. */
    path: string;
    /** Description of the mistake. */
    text: string;
  }[]> | null | undefined;
  /** Number of objects that the rule is assigned to. */
  assignments_count?: number | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Type of the object. */
  object?: Given<"validation_rules"> | null | undefined;
}

/** What rules take of an assignment of a validation rule. */
export interface ValidationRulesAssignmentDocument {
  /** ID of the object. */
  id?: string | null | undefined;
  /** ID of the validation rule. */
  rule_id?: string | null | undefined;
  /** ID of the object that the rule is assigned to. */
  related_object_id?: string | null | undefined;
  /** Type of the object that the rule is assigned to. */
  related_object_type?: string | null | undefined;
  /** Moment of the creation, in UTC. */
  created_at?: string | null | undefined;
  /** Moment of the last change, in UTC. `null` means no change since the creation. */
  updated_at?: string | null | undefined;
  /** Result of the rule in a qualification: `PARTIALLY_VALID` if tests were omitted, `INVALID` if a product bundle is missing. Always `VALID` elsewhere. */
  validation_status?: Given<"VALID" | "PARTIALLY_VALID" | "INVALID"> | null | undefined;
  /** Names of tests that the qualification omitted. Empty outside qualifications. */
  validation_omitted_rules?: Given<string[]> | null | undefined;
  /** Type of the object. */
  object?: Given<"validation_rules_assignment"> | null | undefined;
}

/** Rules: documents in the shapes of the service's interface, by their kinds. All of them may be missing */
export interface RuleSet {
  /** `true` if each given list contains all objects of its kind, so that others do not exist. `false` means that only the server knows the others. Default `false`. */
  complete?: boolean | null | undefined;
  /** `true` if documents, `transfers` and `holds` contain everything that was counted and reserved. `false` means that counts are unknown. Default `false`. */
  counted?: boolean | null | undefined;
  /** `true` if codes that differ only by case are different codes. Absent leaves such codes to the server. */
  case_sensitive_codes?: boolean | null | undefined;
  /** Client policy of the project. Present only in a bundle. */
  client?: unknown;
  /** ID or `source_id` of the customer that the customer token proves. */
  proven?: string | null | undefined;
  /** Counts of the customer. Present only with a bundle. */
  own_counts?: unknown;
  /** Balances of the accounts of the customer's vouchers. Present only with a bundle. */
  own_balances?: Given<Record<string, unknown>> | null | undefined;
  /** `true` if all vouchers of the customer that a qualification lists are given. Present only with a bundle. Default `false`. */
  own_candidates?: boolean | null | undefined;
  /** Numbers of the conditions that a new customer without data meets and does not meet. Present only in a bundle. */
  new_customer?: unknown;
  /** `true` if all products and SKUs are listed, even if `complete` is `false`. Default `false`. */
  whole_catalogue?: boolean | null | undefined;
  /** Names of which all products and SKUs are listed; of other names they are in goods buckets. Present only in a bundle. */
  named_goods?: Given<string[]> | null | undefined;
  /** `true` if all promotions in force that clients may list are given, even if `complete` is `false`. Default `false`. */
  public_offers?: boolean | null | undefined;
  /** IDs of listed promotions that no qualification examines, because there are too many newer ones. Default none. */
  unexamined_offers?: Given<string[]> | null | undefined;
  /** Objects for whose metadata the project has a schema, such as `order`. A verdict on their metadata is provisional. Default none. */
  metadata_schemas?: Given<string[]> | null | undefined;
  /** Project of a bundle. Present only in a bundle. */
  project?: unknown;
  /** Stacking rules of the project. An empty object means the defaults. Absent means that a verdict on several redeemables is provisional. */
  stacking_rules?: Given<StoredStackingRules> | null | undefined;
  /** Time zone of the project, as in a bundle, or `UTC`. Absent means that a verdict that depends on hours or days is provisional. */
  time_zone?: Given<string | TimeZone> | null | undefined;
  /** Documents of a bundle that the service could not read. */
  unreadable?: unknown;
  /** Reservations of sessions. Default none. */
  holds?: Given<{
    /** Code of the voucher with the reservation. The voucher must be given. */
    voucher: string;
    /** Key of the session. */
    key: string;
    /** Moment at which the reservation ends, in UTC. */
    expires_at: string;
    /** Client that owns the session. Absent means the merchant's server. */
    owner?: string | undefined;
    /** Number of reserved redemptions. Default 1. */
    quantity?: number | undefined;
    /** Reserved amount of a gift card, in minor units. Absent means none. */
    credits?: number | undefined;
    /** Number of reserved points of a loyalty card. Absent means none. */
    points?: number | undefined;
  }[]> | null | undefined;
  /** Movements between accounts of everything that was counted. Absent means that only the totals of the documents are known. */
  transfers?: Given<{
    /** ID of the object. */
    id: string;
    /** Moment of the transfer, in UTC. */
    at: string;
    /** Account that the units are taken from. */
    debit: string;
    /** Account that the units are added to. */
    credit: string;
    /** ID of the chain of transfers that happen all or none. */
    chain?: string | undefined;
    /** Number of units. Default 1. */
    amount?: number | undefined;
    /** ID of the transfer that this one reverses. */
    reverses?: string | undefined;
    /** ID of the transfer of which this one returns a part. */
    part_of?: string | undefined;
  }[]> | null | undefined;
  campaigns?: Documents<CampaignDocument> | null | undefined;
  vouchers?: Documents<VoucherDocument> | null | undefined;
  promotion_tiers?: Documents<PromotionTierDocument> | null | undefined;
  promotion_stacks?: Documents<PromotionStackDocument> | null | undefined;
  categories?: Documents<CategoryDocument> | null | undefined;
  rewards?: Documents<RewardDocument> | null | undefined;
  reward_assignments?: Documents<RewardAssignmentDocument> | null | undefined;
  customers?: Documents<CustomerDocument> | null | undefined;
  orders?: Documents<OrderDocument> | null | undefined;
  products?: Documents<ProductDocument> | null | undefined;
  skus?: Documents<SkuDocument> | null | undefined;
  product_collections?: Documents<ProductsCollectionDocument> | null | undefined;
  segments?: Documents<SegmentDocument> | null | undefined;
  validation_rules?: Documents<ValidationRulesDocument> | null | undefined;
  validation_rules_assignments?: Documents<ValidationRulesAssignmentDocument> | null | undefined;
  redemptions?: Documents<Json> | null | undefined;
}

// The end of the shapes.

/** The verdict that the request can be redeemed as it is; it has an `order` where the request has one. */
export interface ValidVerdict extends Validation {
  valid: true;
}

/** The verdict that the request cannot be redeemed as it is; its redeemables have the reasons. */
export interface InvalidVerdict extends Validation {
  valid: false;
  order?: undefined;
}

/** The error body in place of a verdict: the request cannot be read. */
export type Unreadable = Invalid & { valid?: undefined; redeemables?: undefined };

/** The answer of `validateObject`: `answer.valid` distinguishes the verdicts, and is `undefined` in the error body. */
export type ValidationAnswer = ValidVerdict | InvalidVerdict | Unreadable;

/** The answer of `qualifyObject`: only the error body has no `redeemables`. */
export type QualificationAnswer = Qualification | Unreadable;

type NamedKeys<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] };

/**
 * A document of the service as rules accept it: any of its members, also null for a missing one, and no member of another name.
 * Custom data may have any members.
 */
export type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? string extends keyof T
      ? unknown extends T[string & keyof T]
        ? [NamedKeys<T>] extends [never]
          ? T
          : { [K in NamedKeys<T> & keyof T]?: Given<T[K]> | null | undefined }
        : { [K in keyof T]?: Given<T[K]> | null | undefined }
      : { [K in keyof T]?: Given<T[K]> | null | undefined }
    : T;

/** A list as the service answers it; `data_ref` names the member with the items. */
export type DocumentList = { object?: "list" | undefined; data_ref: string } & Json;

/** Documents of one kind: an array, or the service's list of them. */
export type Documents<T> = readonly T[] | DocumentList;

/** Rules that were read and compiled once, ready to decide many carts. */
export interface Prepared {
  /**
   * Decides JSON text; the answer is the text that the service would send. A request that cannot be read is answered
   * with the service's error body, not thrown.
   * @throws TypeError when `request` is no text or `now` is no time
   * @throws Error when the seed is no hex, or after `free`
   */
  validate(request: string, context?: Context): string;

  /** The same for UTF-8 bytes: for callers that have an HTTP body, or compare bytes. */
  validateBytes(request: Uint8Array, context?: Context): Uint8Array;

  /**
   * The same for plain objects, for convenience. The request means the text that `JSON.stringify` makes of it, and the
   * answer is the value that `JSON.parse` reads. The text entry is faster when the JSON exists already.
   */
  validateObject(request: ValidationRequest, context?: Context): ValidationAnswer;

  /**
   * Finds the redeemables that apply to a customer and an order, each separately, newest first or by `sorting_rule`: JSON
   * text in the format of the service's qualifications. Throws the same errors as `validate`.
   */
  qualify(request: string, context?: Context): string;

  /** The same for UTF-8 bytes. */
  qualifyBytes(request: Uint8Array, context?: Context): Uint8Array;

  /** The same for plain objects. */
  qualifyObject(request: QualificationRequest, context?: Context): QualificationAnswer;

  /**
   * Finds the prices of products and SKUs, each alone: JSON text with `ids` and maybe a `customer` gives JSON text with `prices`, in the order of the
   * ids. One with `missing` is not final. Throws the same errors as `validate`.
   */
  prices(request: string, context?: Context): string;

  /**
   * Lets the decisions that follow be those of a past time, which their `context` has too. Offers count that have started and not ended at `inForceAt`; all
   * else is as at `now`: recurring hours, conditions on the time, days, weeks and months, which have no transfers after `now`.
   */
  decidePast(now: Date | number | string, inForceAt: Date | number | string): void;

  /**
   * Counts a redemption of a request, as JSON text: decisions that follow find quantities, limits and budgets with it, also those of its day, week and
   * month. Count in the order of time, each with a `seed` of its own. Returns whether it was counted: a request that does not apply or lacks a fact is not.
   */
  count(request: string, context?: Context): boolean;

  /** SHA-256 of the given rules, 64 hex digits; it identifies the rules of an answer. */
  readonly hash: string;

  /** Frees the memory. Calling it again does nothing; any other use afterwards throws an Error. */
  free(): void;

  [Symbol.dispose](): void;
}

/** A client key. It is public: bound to origins, and limited by the client policy of the project. */
export interface Credentials {
  /** Sent as `X-Client-Application-Id`. */
  id: string;
  /** Sent as `X-Client-Token`. */
  token: string;
}

/** A public Ed25519 key that signs bundles, as a JSON Web Key. */
export interface SigningKey {
  kty: "OKP";
  crv: "Ed25519";
  /** The key, base64url. */
  x: string;
  /** Its thumbprint by RFC 7638; worked out where it is absent. */
  kid?: string | undefined;
  /** The statement of another key that this one belongs to the project too: a compact JWS. */
  vouched_by?: string | null | undefined;
}

/** Why a bundle was refused; the `code` of the error. */
export type BundleRefusal =
  /** Signed by a key that is not pinned, and for which no pinned key vouches. */
  | "unknown_key"
  /** Not signed by EdDSA. */
  | "wrong_algorithm"
  /** Not signed by the key that it names. */
  | "wrong_signature"
  /** Of another project than the pinned or stored one. */
  | "wrong_project"
  /** A supplement of another customer token. */
  | "wrong_customer"
  /** Of a format that this version of the package does not read. */
  | "unknown_format"
  /** Its end is over by the service's clock. */
  | "expired"
  /** Issued five minutes ahead of the service's clock, or more. */
  | "issued_ahead"
  /** Older than the revision that was accepted before, or another one of the same revision. */
  | "older_revision"
  /** The core is not the one that the head names. */
  | "wrong_core"
  /** Goods that the root in the head does not prove. */
  | "wrong_goods"
  /** Cut, too large or unreadable. */
  | "damaged";

/**
 * Loads the engine. Call it once before `prepare`; further calls cost nothing, a failed one can be repeated. On Node
 * and workerd the engine is loaded by the import, and this resolves at once.
 * @param source the location of the wasm, when it is not next to this package: a URL, a `Response`, bytes or a compiled module
 */
export function load(source?: string | URL | Response | BufferSource | WebAssembly.Module): Promise<void>;

/** Options of rules. */
export interface PrepareOptions {
  /** Proves for which customer the rules decide: the token that is sent as `X-Customer-Token`. */
  customerToken?: string | undefined;
}

/**
 * Reads and compiles rules: JSON text, its UTF-8 bytes, or a plain object.
 * @throws Error that names the field when the rules are bad, with `cause: { path, text }` for an editor of rules; also
 *   when the engine is not loaded
 */
export function prepare(rules: string | Uint8Array | ArrayBuffer | RuleSet, options?: PrepareOptions): Prepared;

/** Where a shop keeps its rules, the goods that it needed last, and its pending redemptions. Values are plain data, as JSON has it. Values that the store cannot take stay in memory. */
export interface KeyValueStore {
  get(name: string): Promise<unknown> | unknown;
  put(name: string, value: unknown): Promise<unknown> | unknown;
  delete(name: string): Promise<unknown> | unknown;
}

/** Options of `open`. */
export interface OpenOptions {
  /** The address of the service. */
  url: string | URL;
  /** The client's key. */
  key: Credentials;
  /** The keys to trust, of `GET /client/v1/jwks`. Without them, stored ones; without these, the first fetch trusts what the service lists. */
  keys?: SigningKey[] | undefined;
  /** Default `"indexeddb"` where the host has it, otherwise `"memory"`. */
  store?: "indexeddb" | "memory" | KeyValueStore | undefined;
  /** Returns the customer token, nothing for an unknown customer. Called often: return a stored token. */
  customer?: (() => string | null | undefined | Promise<string | null | undefined>) | undefined;
  /** The age in milliseconds beyond which every verdict is provisional, since the service confirmed the rules. Default one hour. */
  maxAge?: number | undefined;
  /** Milliseconds that the service has to answer. Default 8,000. */
  timeout?: number | undefined;
  /** For servers: a client key is bound to origins, and only browsers name theirs by themselves. */
  origin?: string | undefined;
  /** Sends the requests in place of the host's `fetch`. The feed is a WebSocket. */
  fetch?: typeof globalThis.fetch | undefined;
  /** `false` fetches only at the start and on `refresh`. Default `true`. */
  poll?: boolean | undefined;
}

/** A fact that a verdict lacks: one of the package's own, or one of the engine's, such as `voucher/CODE` or `product/shirt`. */
export type MissingFact =
  /** The rules were not confirmed for longer than `maxAge`, or are over. */
  | "age"
  /** The service's time is not known yet. */
  | "clock"
  /** There are no rules yet. */
  | "bundle"
  /** The page has a customer who is not the one of the rules, or whose token cannot be used. */
  | "customer_token"
  /** The rules are of another time. */
  | "horizon"
  /** The rules are of another version of the service. */
  | "engine"
  /** The customer that the request names may be new, or is counted by a limit. */
  | "customer"
  /** A rule tests the channel of the request. */
  | "channel"
  /** Not all offers of the project are in the rules. */
  | "candidates"
  /** A request for prices had no more steps for this product: another request with the rest of the ids gives its price. */
  | "steps"
  | (string & {});

/** Of which revision of the rules a verdict is, and when the service confirmed it, in milliseconds since 1970. */
export interface AsOf {
  /** Absent where the service itself has decided, and where there are no rules. */
  revision: { epoch: number; rev: number } | undefined;
  at: number | undefined;
}

/** Why one redeemable does not apply. */
export interface RefusalReason {
  /** Type of the redeemable. */
  object: RedeemableObject;
  /** Code or ID as requested. */
  id: string;
  status: "INAPPLICABLE" | "SKIPPED";
  /** Machine-readable key of the reason. */
  key: string;
  /** Short text of the reason, for people. */
  message: string;
  /** Text that the author of the failed rule wrote for customers. */
  customMessage: string | undefined;
  /** The part of a validation rule that failed. Absent where a client may not know it. */
  failed: { rule: string; test: string; name: string; property: string | undefined; operator: string | undefined; wanted: string[] } | undefined;
  /** The value that this part found. */
  found: string | undefined;
  /** The change with which the redeemable would apply: how much more would do. */
  change: Change | undefined;
  /** The limit of the stacking rules that was reached. */
  limit: number | undefined;
}

/** What every verdict has. */
interface VerdictBase {
  /** The answer as text: for a final verdict, the bytes of the service. */
  readonly text: string;
  readonly asOf: AsOf;
  /** Fields that only the server can fill: `tracking_id`. */
  readonly omitted: string[];
}

/** The final yes: the request can be redeemed. `Ordered` is its order. */
export interface AppliesVerdict<Ordered = Order | undefined> extends VerdictBase {
  readonly kind: "final";
  readonly valid: true;
  readonly answer: ValidVerdict;
  readonly order: Ordered;
  /** The lock that `lock` has set. */
  readonly session: Session | undefined;
  /** The redeemables that do not take part in the yes. */
  readonly refusals: RefusalReason[];
  readonly likely?: undefined;
  readonly missing?: undefined;
  readonly error?: undefined;
}

/** The final no. */
export interface RefusedVerdict extends VerdictBase {
  readonly kind: "final";
  readonly valid: false;
  readonly answer: InvalidVerdict;
  readonly order?: undefined;
  readonly session?: undefined;
  readonly refusals: RefusalReason[];
  readonly likely?: undefined;
  readonly missing?: undefined;
  readonly error?: undefined;
}

/** Neither yes nor no: facts are missing. `ask` has the service decide. */
export interface ProvisionalVerdict extends VerdictBase {
  readonly kind: "provisional";
  readonly valid?: undefined;
  /** What the verdict would be by the facts that are known. Never take it for a yes. */
  readonly likely: "applies" | "refused" | "unknown";
  readonly missing: [MissingFact, ...MissingFact[]];
  /** The answer by the facts that are known. Its own `valid` is no yes, since it has `missing`. */
  readonly answer: Validation & { missing: string[] };
  readonly order?: undefined;
  readonly session?: undefined;
  readonly refusals: RefusalReason[];
  readonly error?: undefined;
}

/** The request cannot be read. */
export interface UnreadableVerdict extends VerdictBase {
  readonly kind: "unreadable";
  readonly valid?: undefined;
  readonly error: Invalid;
  readonly answer: Unreadable;
  readonly order?: undefined;
  readonly session?: undefined;
  readonly refusals?: undefined;
  readonly likely?: undefined;
  readonly missing?: undefined;
}

/** The verdict of a shop: `if (verdict.valid)` narrows to a final yes, and to nothing else. */
export type Verdict<Ordered = Order | undefined> = AppliesVerdict<Ordered> | RefusedVerdict | ProvisionalVerdict | UnreadableVerdict;

/** The offers that apply, finally. */
export interface FinalOffers extends VerdictBase {
  readonly kind: "final";
  readonly offers: QualifiedRedeemable[];
  /** The offers that together save most. Present with `optimise`. */
  readonly best: BestStack | undefined;
  readonly answer: Qualification;
  readonly likelyOffers?: undefined;
  readonly likelyBest?: undefined;
  readonly missing?: undefined;
  readonly error?: undefined;
}

/** The offers that apply by the facts that are known. */
export interface ProvisionalOffers extends VerdictBase {
  readonly kind: "provisional";
  readonly offers?: undefined;
  readonly likelyOffers: QualifiedRedeemable[];
  readonly best?: undefined;
  /** The offers that together save most by the facts that are known. Its `proven` is about them alone. */
  readonly likelyBest: BestStack | undefined;
  readonly missing: [MissingFact, ...MissingFact[]];
  readonly answer: Qualification;
  readonly error?: undefined;
}

/** The verdict of `qualify`: only a final one has `offers`. */
export type QualificationVerdict = FinalOffers | ProvisionalOffers | (UnreadableVerdict & { readonly offers?: undefined; readonly likelyOffers?: undefined; readonly best?: undefined; readonly likelyBest?: undefined });

/** Amounts of a product or SKU alone, in minor units. */
export interface PriceAmounts {
  readonly object: "product" | "sku";
  /** Price in the catalogue. */
  readonly price: number;
  /** Amount of a cart with one unit of it, after the promotions. */
  readonly discounted_price: number;
  /** `true` where the cart decides: a promotion depends on other lines, on the amount or on the customer, or the stacking rules have no room for all of a larger cart. Show it as "from". */
  readonly from: boolean;
  /** The promotion tiers, in the order in which a validation of them gives this amount. */
  readonly redeemables: readonly { readonly object: "promotion_tier"; readonly id: string }[];
}

/** The price of a product or SKU as the service would decide about a cart of it alone. */
export interface FinalPrice extends PriceAmounts {
  readonly kind: "final";
  readonly id: string;
  readonly likely?: undefined;
  readonly missing?: undefined;
  readonly error?: undefined;
}

/** Facts are missing. Never show `likely` as the price without reserve. */
export interface ProvisionalPrice {
  readonly kind: "provisional";
  readonly id: string;
  /** What is known; nothing, or its `error`, where the product itself is unknown. */
  readonly likely: PriceAmounts | { readonly error: Invalid } | undefined;
  readonly missing: readonly [MissingFact, ...MissingFact[]];
  readonly discounted_price?: undefined;
  readonly error?: undefined;
}

/** There is no price: the product does not exist, or has none in the catalogue. */
export interface UnreadablePrice {
  readonly kind: "unreadable";
  readonly id: string;
  readonly error: Invalid;
  readonly discounted_price?: undefined;
  readonly likely?: undefined;
  readonly missing?: undefined;
}

/** Only a final price has amounts. */
export type Price = FinalPrice | ProvisionalPrice | UnreadablePrice;

/** The prices of all ids, in their order, or the reason why the request cannot be read. */
export type Prices =
  | { readonly kind: "listed"; readonly prices: readonly Price[]; readonly error?: undefined; readonly answer: object; readonly text: string; readonly asOf: AsOf }
  | { readonly kind: "unreadable"; readonly prices?: undefined; readonly error: Invalid; readonly answer: object; readonly text: string; readonly asOf: AsOf };

/** The service has redeemed. */
export interface Redeemed {
  kind: "redeemed";
  status: 200;
  /** The answer of the service: `redemptions`, and the `order`. */
  answer: { redemptions: Json[]; order?: Order | undefined } & Json;
  text: string;
  /** Whether the service had counted it by an earlier attempt. */
  replayed: boolean;
}

/** The service has refused, and nothing was redeemed. */
export interface NotRedeemed {
  kind: "refused";
  status: number;
  /** The error of the service; with status 200, its answer without redemptions. */
  answer: Invalid | Json;
  text: string;
}

/** What the service answered to a redemption. */
export type Redemption = Redeemed | NotRedeemed;

/** A redemption that has no answer yet. */
export interface PendingRedemption {
  /** Its `Idempotency-Key`. */
  key: string;
  request: ValidationRequest;
  /** Time of the call, in milliseconds since 1970. */
  at: number;
  /** `false` a day later: the service does not know the key any more, and would count it again. Search its order instead. */
  isRepeatable: boolean;
  /** Sends it until the service answers. */
  resume(options?: { signal?: AbortSignal | undefined }): Promise<Redemption>;
  /** Forgets it. It may have counted. */
  forget(): Promise<void>;
}

/**
 * How far the rules can be trusted. `fresh`: just confirmed. `ageing`: for a while not. `offline`: the service does not answer. `too old`: not
 * confirmed for `maxAge`, every verdict is provisional. `broken`: what the service answers is refused, or it refuses the client or the customer.
 */
export type ShopState = "fresh" | "ageing" | "offline" | "too old" | "broken";

/** Why rules could not be renewed: no network, an error of the service, a bundle that is not proven. */
export type ShopProblem = Error & { code?: BundleRefusal | undefined; status?: number | undefined };

/** A shop that was opened. No failure of network, service or store makes `check`, `checkNow`, `qualify`, `best` or `prices` throw. */
export interface Shop {
  /** Decides about a cart, after it has fetched its products and opened its codes. */
  check(request: ValidationRequest & { order: OrderRequest }, context?: Context): Promise<Verdict<Order>>;
  check(request: ValidationRequest | string, context?: Context): Promise<Verdict>;
  /** Decides at once by what is here; what `check` would fetch is missing. */
  checkNow(request: ValidationRequest & { order: OrderRequest }, context?: Context): Verdict<Order>;
  checkNow(request: ValidationRequest | string, context?: Context): Verdict;
  /** Finds the offers that apply. */
  qualify(request?: QualificationRequest | string, context?: Context): Promise<QualificationVerdict>;
  /** Finds the offers that together save most for a cart: `verdict.best` has them in the order in which they do. */
  best(cart?: QualificationRequest | string, context?: Context): Promise<QualificationVerdict>;
  /**
   * Finds the prices of products and SKUs by id or `source_id`, at most 10,000, each alone after the promotion tiers that apply to it and together
   * save most. The customer matters for promotions with such conditions.
   */
  prices(ids: readonly string[], context?: Context & { customer?: CustomerRequest | undefined }): Promise<Prices>;
  /** Has the service decide. Fails where the service does not answer. */
  ask(request: ValidationRequest & { order: OrderRequest }): Promise<Verdict<Order>>;
  ask(request: ValidationRequest | string): Promise<Verdict>;
  /** Has the service reserve what the request uses: `verdict.session` is to be sent with the redemption. Fails where it does not answer. */
  lock(request: ValidationRequest): Promise<Verdict>;
  /**
   * Redeems: sends the request until the service answers, and resolves only with this answer. The same request that has no answer yet is
   * continued, also after a reload. The signal ends the wait, not the redemption. Fails with `code: "unanswered"` where it is unknown whether it
   * counts: it stays in `pending`.
   */
  redeem(request: ValidationRequest | string, options?: { signal?: AbortSignal | undefined }): Promise<Redemption>;
  /** The redemptions that have no answer yet, also of an earlier page. */
  pending(): Promise<PendingRedemption[]>;
  /** Fetches newer rules; `fresh` is true if the service has confirmed them. */
  refresh(): Promise<{ fresh: boolean; problem: ShopProblem | undefined }>;
  /** Calls a function with the state now and after each change of the state or the rules. Returns the end of it. */
  subscribe(listener: (state: ShopState, details: { asOf: AsOf; problem: ShopProblem | undefined }) => void): () => void;
  readonly state: ShopState;
  /** The bytes of the rules, for a back-test; undefined while there are none. Goods that are fetched apart are not in them. */
  readonly rules: Uint8Array | undefined;
  readonly asOf: AsOf;
  readonly problem: ShopProblem | undefined;
  /** Ends timers, requests and the feed. Redemptions without an answer stay in the store. */
  close(): void;
}

/**
 * Opens a shop, and loads the engine where it is not loaded (with `@scrip-edge/page/slim`, load it before). Resolves as soon as it can decide: at once with stored
 * rules, otherwise after the first answer of the service, or its failure.
 * @throws TypeError for options that cannot be used
 */
export function open(options: OpenOptions): Promise<Shop>;

/** A classic script tag of `@scrip-edge/page/script.js` sets this global. */
export as namespace scrip;
