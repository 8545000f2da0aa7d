/**
 * Vouchers and promotions decided in the page or on your server, without a call.
 *
 * Money is a whole number of minor units (`4900` is 49.00), moments are UTC, and the same rules, request, `now` and
 * `seed` give the same bytes everywhere, the Scrip service included.
 */

/** Any JSON object. */
export type Json = { [field: string]: unknown };

/** When and with which seed a decision is made; both are filled in when left out. */
export interface Context {
  /**
   * The moment of the decision: a `Date`, whole milliseconds since 1970, or ISO 8601 text with its zone
   * (`2026-03-01T12:00:00Z`). Default: now.
   */
  now?: Date | number | string;
  /**
   * 2 to 64 hex digits, two for a byte; shorter ones are filled with zeros. Ids in the answer are made from it.
   * Default: 32 random bytes, so every answer has ids of its own.
   */
  seed?: string;
}

// Shapes, written from the engine's tables by `UPDATE=1 cargo nextest run -p scrip --test types`.

/** What is asked: redeemables, and the order that they are for. */
export interface ValidationRequest extends Json {
  /** In the order in which they are applied; a promotion stack stands alone. */
  redeemables: RedeemableRequest[];
  /** The cart. */
  order?: OrderRequest;
  /** Whose cart it is. */
  customer?: CustomerRequest;
  /** A lock on what applies. */
  session?: SessionRequest;
  /** Stands for the customer. */
  tracking_id?: string;
  /** Of the redemption; rules may ask for it. */
  metadata?: Json;
  /** What is shown beyond the usual. */
  options?: OptionsRequest;
}

/** A redeemable as it is asked for. */
export interface RedeemableRequest extends Json {
  /** What it is. */
  object: RedeemableObject;
  /** Of a voucher its code, of a tier or a stack its id. */
  id: string;
  /** What is spent of a gift card. */
  gift?: {
    /** Minor units; as much as possible when left out. */
    credits?: number;
  };
  /** What points are exchanged for. */
  reward?: {
    /** The service's own name for it. */
    id: string;
    /** Points of a loyalty card. */
    points?: number;
  };
}

/** What can be redeemed: a gift card and a loyalty card are vouchers. */
export type RedeemableObject = "voucher" | "promotion_tier" | "promotion_stack";

/** A cart as it is sent. */
export interface OrderRequest extends Json {
  /** The service's own name for it. */
  id?: string;
  /** The caller's name for it. */
  source_id?: string;
  /** How it stands. */
  status?: "CREATED" | "PAID" | "CANCELED" | "FULFILLED";
  /** Minor units; the sum of the lines when left out. */
  amount?: number;
  /** Before units were added, in minor units. */
  initial_amount?: number;
  /** Taken off the order as a whole before this request. */
  discount_amount?: number;
  /** Its lines. */
  items?: OrderItemRequest[];
  /** Custom data. */
  metadata?: Json;
  /** When it was made. */
  created_at?: string;
  /** Whose it is. */
  customer_id?: string;
  /** The id of the customer who referred. */
  referrer_id?: string;
  /** Who buys, where the request says it nowhere else. */
  customer?: CustomerRequest;
  /** Who referred: only the id is read. */
  referrer?: Json;
}

/** A line of a cart as it is sent. */
export interface OrderItemRequest extends Json {
  /** The id of the product. */
  product_id?: string;
  /** The id of the SKU. */
  sku_id?: string;
  /** The caller's name for the goods. */
  source_id?: string;
  /** What `source_id` names. */
  related_object?: "product" | "sku";
  /** Units, whole, also as text; 1 when left out. */
  quantity?: number | string;
  /** Units that are free. */
  discount_quantity?: number | string;
  /** Units that the customer put in the cart. */
  initial_quantity?: number | string;
  /** Of the line, in minor units; price times quantity when left out. */
  amount?: number;
  /** Taken off the line before this request. */
  discount_amount?: number;
  /** Before units were added, in minor units. */
  initial_amount?: number;
  /** Of one unit, in minor units. */
  price?: number;
  /** What is known of the product beside the catalogue. */
  product?: Goods;
  /** What is known of the SKU beside the catalogue. */
  sku?: Goods;
  /** Custom data. */
  metadata?: Json;
}

/** A product, with its `name`, or a SKU, which is called `sku`. */
export interface Goods extends Json {
  /** The service's own name for it. */
  id?: string;
  /** The caller's name for it. */
  source_id?: string;
  /** Whether the catalogue takes what is sent here. */
  override?: boolean;
  /** What people call it. */
  name?: string;
  /** What people call the SKU. */
  sku?: string;
  /** Of one unit, in minor units. */
  price?: number;
  /** Custom data. */
  metadata?: Json;
}

/** A customer as one is sent: two names, custom data and a profile. */
export interface CustomerRequest extends Json {
  /** The service's own name for it. */
  id?: string;
  /** The caller's name for it. */
  source_id?: string;
  /** What people call it. */
  name?: string;
  /** What it is about, for people. */
  description?: string;
  /** The e-mail address; it names nobody. */
  email?: string;
  /** The telephone number. */
  phone?: string;
  /** The day of birth. */
  birthday?: string;
  /** The day of birth. */
  birthdate?: string;
  /** Where they live. */
  address?: Address;
  /** Custom data. */
  metadata?: Json;
}

/** An address. */
export interface Address extends Json {
  /** The town. */
  city?: string;
  /** The state or region. */
  state?: string;
  /** Street and number. */
  line_1?: string;
  /** What else is needed to find it. */
  line_2?: string;
  /** The country. */
  country?: string;
  /** The postal code. */
  postal_code?: string;
}

/** A lock on what applies, so that it can be redeemed with its key. */
export interface SessionRequest extends Json {
  /** Which kind of it. */
  type?: "LOCK";
  /** Whose lock; the service makes one when left out. */
  key?: string;
  /** How long it lasts. */
  ttl?: number;
  /** The unit of `ttl`. */
  ttl_unit?: "DAYS" | "HOURS" | "MINUTES" | "SECONDS" | "MILLISECONDS" | "MICROSECONDS" | "NANOSECONDS";
}

/** What an answer shows beyond the usual. */
export interface OptionsRequest extends Json {
  /** `order`, `redemption`, `redeemable`, `category`, `trace`; other names are passed over. */
  expand?: string[];
}

/** An order with what was done to it. All amounts are minor units. */
export interface Order extends Json {
  /** The service's own name for it. */
  id?: string;
  /** How it stands. */
  status?: "CREATED" | "PAID" | "CANCELED" | "FULFILLED";
  /** The caller's name for it. */
  source_id?: string | null;
  /** Before discounts, units included that were added. */
  amount?: number;
  /** Before units were added, in minor units. */
  initial_amount?: number;
  /** Taken off the order as a whole. */
  discount_amount?: number;
  /** Taken off its lines, in minor units. */
  items_discount_amount?: number;
  /** Taken off by everything, earlier requests included. */
  total_discount_amount?: number;
  /** To pay; never below zero. */
  total_amount?: number;
  /** Taken off the order as a whole by this request. */
  applied_discount_amount?: number;
  /** Taken off its lines by this request. */
  items_applied_discount_amount?: number;
  /** Taken off by this request, lines and the order as a whole. */
  total_applied_discount_amount?: number;
  /** Its lines. */
  items?: OrderItem[];
  /** Custom data. */
  metadata?: Json;
  /** Whose it is; pages are not told. */
  customer_id?: string | null;
  /** Who referred them; pages are not told. */
  referrer_id?: string | null;
  /** What it is. */
  object: "order";
}

/** A line of an order with what was done to it. */
export interface OrderItem extends Json {
  /** Of a line that the service keeps. */
  id?: string;
  /** What it is. */
  object: "order_item";
  /** The caller's name for the goods. */
  source_id?: string;
  /** What `source_id` names. */
  related_object?: "product" | "sku";
  /** The id of the product. */
  product_id?: string;
  /** The id of the SKU. */
  sku_id?: string;
  /** Units, those included that were added. */
  quantity: number;
  /** Units that the customer put in the cart, where units came or went. */
  initial_quantity?: number;
  /** Units that are free. */
  discount_quantity?: number;
  /** Units that became free by this request. */
  applied_discount_quantity?: number;
  /** Units that came, or went: below zero. */
  applied_quantity?: number;
  /** Their money. */
  applied_quantity_amount?: number;
  /** Before discounts. */
  amount?: number;
  /** Before units were added, in minor units. */
  initial_amount?: number;
  /** Taken off, in minor units. */
  discount_amount?: number;
  /** Taken off by this request. */
  applied_discount_amount?: number;
  /** Of one unit, in minor units. */
  price?: number;
  /** After the discounts of the line. */
  subtotal_amount?: number;
  /** What was given in place of units of this line. */
  application_details?: {
    /** The line that lost units. */
    source_index: number;
    /** Units that it lost, below zero. */
    source_applied_quantity: number;
    /** Their money, below zero. */
    source_applied_quantity_amount: number;
    /** The line that won units. */
    target_index: number;
    /** Units that it won. */
    target_applied_quantity: number;
    /** Their money. */
    target_applied_quantity_amount: number;
    /** Taken off them. */
    target_applied_discount_amount: number;
  }[];
  /** The product. */
  product?: Goods;
  /** The SKU. */
  sku?: Goods;
  /** Custom data. */
  metadata?: Json;
}

/** Why something is not applied. */
export interface Refusal extends Json {
  /** The HTTP status that redeeming would answer. */
  code?: number;
  /** For programs: `voucher_expired`, `not_found`, …. */
  key: string;
  /** For people: why. */
  message: string;
  /** Which rule, which code. */
  details?: string;
  /** The request, as the log names it. */
  request_id?: string;
  /** The id of what the refusal is about. */
  resource_id?: string;
  /** The kind of what the refusal is about. */
  resource_type?: string;
  /** The words of the rule's author. */
  error?: {
    /** For people: why. */
    message: string;
  };
}

/** A discount with the numbers that its formulas came to. */
export interface Discount extends Json {
  /** Which kind of it. */
  type: "AMOUNT" | "PERCENT" | "FIXED" | "UNIT";
  /** What it acts on. */
  effect: "APPLY_TO_ORDER" | "APPLY_TO_ITEMS" | "APPLY_TO_ITEMS_PROPORTIONALLY" | "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY" | "APPLY_TO_ITEMS_BY_QUANTITY" | "ADD_MISSING_ITEMS" | "ADD_NEW_ITEMS" | "ADD_SAME_ITEMS" | "ADD_MANY_ITEMS" | "REPLACE_ITEMS";
  /** Whether a formula had a say. */
  is_dynamic?: boolean;
  /** Minor units that are taken off. */
  amount_off?: number;
  /** A percentage that is taken off, with at most six decimals. */
  percent_off?: number;
  /** What is left to pay, in minor units. */
  fixed_amount?: number;
  /** Takes off this much at most, in minor units. */
  amount_limit?: number;
  /** Takes off this much at most of all units together. */
  aggregated_amount_limit?: number;
  /** How many units are given. */
  unit_off?: number;
  /** Which product or SKU is given. */
  unit_type?: string;
  /** The product that is given. */
  product?: Goods;
  /** The SKU that is given. */
  sku?: Goods;
  /** What is given, where it is more than one thing. */
  units?: {
    /** How many units are given. */
    unit_off: number;
    /** Which product or SKU is given. */
    unit_type: string;
    /** What it acts on. */
    effect?: "APPLY_TO_ORDER" | "APPLY_TO_ITEMS" | "APPLY_TO_ITEMS_PROPORTIONALLY" | "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY" | "APPLY_TO_ITEMS_BY_QUANTITY" | "ADD_MISSING_ITEMS" | "ADD_NEW_ITEMS" | "ADD_SAME_ITEMS" | "ADD_MANY_ITEMS" | "REPLACE_ITEMS";
    /** The product. */
    product?: Goods;
    /** The SKU. */
    sku?: Goods;
  }[];
}

/** What a redeemable gives. */
export interface Grant extends Json {
  /** What it takes off. */
  discount?: Discount;
  /** Of a gift card: its money. */
  gift?: {
    /** What was on it. */
    balance: number;
    /** What is spent. */
    credits: number;
    /** What sessions hold of it. */
    locked_credits?: number;
  };
  /** Of a loyalty card: its points. */
  loyalty_card?: {
    /** Points that are spent, or that are on it where nothing was asked for. */
    points: number;
    /** What is on it. */
    balance?: number;
  };
  /** What points are exchanged for. */
  reward?: Reward;
  /** The bundles of goods that its rules ask for. */
  bundle?: Bundles;
}

/** What points are exchanged for. */
export interface Reward extends Json {
  /** The service's own name for it. */
  id: string;
  /** The id of the assignment of the reward. */
  assignment_id: string;
  /** What it is. */
  object: "reward";
  /** What people call it. */
  name: string;
  /** Which kind of it. */
  type: "MATERIAL" | "CAMPAIGN" | "COIN";
  /** What it costs. */
  points: number;
}

/** The bundles of goods that a rule asks for. */
export interface Bundles extends Json {
  /** How many bundles are complete. */
  quantity: number;
  /** How many count at most. */
  limit: number;
  /** What of the order belongs to them. */
  identified: {
    /** What it is. */
    object: string;
    /** The service's own name for it. */
    id: string;
    /** How many units. */
    item_quantity: number;
    /** The place of the line. */
    item_index: number;
  }[];
  /** What the next one lacks. */
  missing?: {
    /** What it is. */
    object: string;
    /** The service's own name for it. */
    id: string;
    /** How many units. */
    item_quantity: number;
  }[];
}

/** Goods that a redeemable is about, or not. */
export interface GoodsList extends Json {
  /** What it is. */
  object: "list";
  /** The member that holds what is listed. */
  data_ref: "data";
  /** What is listed. */
  data: {
    /** What it is. */
    object: "product" | "sku" | "products_collection";
    /** The service's own name for it. */
    id: string;
    /** The caller's name for it. */
    source_id?: string;
    /** The id of the product. */
    product_id?: string;
    /** The caller's name for the product. */
    product_source_id?: string;
    /** Whether it names goods of the order, and not the rule's own entry. */
    strict?: boolean;
    /** Of one unit, in minor units. */
    price?: number;
    /** A formula for the price. */
    price_formula?: number | string;
    /** Acts on so many units at most over the life of a campaign or tier, for each customer or each product as its name says. */
    product_campaign_quantity_limit?: number;
    /** A formula for such a limit. */
    product_campaign_quantity_limit_formula?: string;
    /** Acts on so many units at most over the life of a campaign or tier, for each customer or each product as its name says. */
    product_customer_campaign_quantity_limit?: number;
    /** A formula for such a limit. */
    product_customer_campaign_quantity_limit_formula?: string;
    /** Acts on so many units at most over the life of a campaign or tier, for each customer or each product as its name says. */
    product_in_collection_campaign_quantity_limit?: number;
    /** A formula for such a limit. */
    product_in_collection_campaign_quantity_limit_formula?: string;
    /** Acts on so many units at most over the life of a campaign or tier, for each customer or each product as its name says. */
    product_in_collection_customer_campaign_quantity_limit?: number;
    /** A formula for such a limit. */
    product_in_collection_customer_campaign_quantity_limit_formula?: string;
    /** Acts on so many units at most over the life of a campaign or tier, for each customer or each product as its name says. */
    product_promotion_tier_quantity_limit?: number;
    /** A formula for such a limit. */
    product_promotion_tier_quantity_limit_formula?: string;
    /** Acts on so many units at most over the life of a campaign or tier, for each customer or each product as its name says. */
    product_customer_promotion_tier_quantity_limit?: number;
    /** A formula for such a limit. */
    product_customer_promotion_tier_quantity_limit_formula?: string;
    /** Acts on so many units at most over the life of a campaign or tier, for each customer or each product as its name says. */
    product_in_collection_promotion_tier_quantity_limit?: number;
    /** A formula for such a limit. */
    product_in_collection_promotion_tier_quantity_limit_formula?: string;
    /** Acts on so many units at most over the life of a campaign or tier, for each customer or each product as its name says. */
    product_in_collection_customer_promotion_tier_quantity_limit?: number;
    /** A formula for such a limit. */
    product_in_collection_customer_promotion_tier_quantity_limit_formula?: string;
    /** Which of the units it acts on. */
    effect?: "APPLY_TO_EVERY" | "APPLY_TO_CHEAPEST" | "APPLY_FROM_CHEAPEST" | "APPLY_TO_MOST_EXPENSIVE" | "APPLY_FROM_MOST_EXPENSIVE";
    /** Acts on so many units of each at most. */
    quantity_limit?: number;
    /** Acts on so many units of all together at most. */
    aggregated_quantity_limit?: number;
    /** Takes off this much at most, in minor units. */
    amount_limit?: number;
    /** Takes off this much at most of all units together. */
    aggregated_amount_limit?: number;
    /** So many are passed over first. */
    skip_initially?: number;
    /** Acts on every so-manieth. */
    repeat?: number;
    /** Whether it acts on lines or on units. */
    target?: "ITEM" | "UNIT";
    /** The lines, by their places. */
    order_item_indices?: number[];
    /** The units of the lines. */
    order_item_units?: {
      /** The place of the line. */
      index: number;
      /** The units of the line, by their places. */
      units?: number[];
      /** Whether they are too many to be numbered. */
      units_limit_exceeded?: boolean;
    }[];
  }[];
  /** How many there are on all pages. */
  total: number;
}

/** What `expand` adds to what is said of a redeemable. */
export interface Expanded extends Json {
  /** Custom data, with `redeemable`. */
  metadata?: Json;
  /** The name of a tier or a stack, with `redeemable`. */
  name?: string;
  /** The line that a shop shows for it. */
  banner?: string;
  /** The name of its campaign. */
  campaign_name?: string;
  /** The id of its campaign. */
  campaign_id?: string;
  /** Its category, with `category`. */
  categories?: Category[];
}

/** A category, with what the stacking rules make of it. */
export interface Category extends Json {
  /** The service's own name for it. */
  id: string;
  /** What people call it. */
  name: string;
  /** Its rank: the lower comes first. */
  hierarchy: number;
  /** What it is. */
  object: "category";
  /** When it was made. */
  created_at?: string;
  /** When it was changed last. */
  updated_at?: string | null;
  /** Whether it applies with exclusive ones, or alone. */
  stacking_rules_type?: "JOINT" | "EXCLUSIVE";
}

/** The verdict on one redeemable: `status` says which. */
export type Redeemable = Applicable | Inapplicable | Skipped;

/** It applies. */
export interface Applicable extends Json {
  /** How it stands. */
  status: "APPLICABLE";
  /** As it was asked for; of a stack, the tier. */
  id: string;
  /** What it is. */
  object: RedeemableObject;
  /** The order after it. */
  order?: Order;
  /** Goods that it is about. */
  applicable_to: GoodsList;
  /** Goods that it is not about. */
  inapplicable_to: GoodsList;
  /** What it gives. */
  result: Grant;
  /** Custom data, with `redeemable`. */
  metadata?: Json;
  /** The name of a tier or a stack, with `redeemable`. */
  name?: string;
  /** The line that a shop shows for it. */
  banner?: string;
  /** The name of its campaign. */
  campaign_name?: string;
  /** The id of its campaign. */
  campaign_id?: string;
  /** Its category, with `category`. */
  categories?: Category[];
}

/** It does not apply. */
export interface Inapplicable extends Json {
  /** How it stands. */
  status: "INAPPLICABLE";
  /** As it was asked for; of a stack, the tier. */
  id: string;
  /** What it is. */
  object: RedeemableObject;
  /** What came of it. */
  result: {
    /** Why. */
    error: Refusal;
    /** Why, in short. */
    details: Reason;
    /** The bundles of goods that its rules ask for. */
    bundle?: Bundles;
  };
  /** Custom data, with `redeemable`. */
  metadata?: Json;
  /** The name of a tier or a stack, with `redeemable`. */
  name?: string;
  /** The line that a shop shows for it. */
  banner?: string;
  /** The name of its campaign. */
  campaign_name?: string;
  /** The id of its campaign. */
  campaign_id?: string;
  /** Its category, with `category`. */
  categories?: Category[];
}

/** A reason in short. */
export interface Reason extends Json {
  /** For programs: `voucher_expired`, `not_found`, …. */
  key: string;
  /** For people: why. */
  message: string;
}

/** It was not tried, or left out; the key is `known_to_server_only` when the rules do not have the code. */
export interface Skipped extends Json {
  /** How it stands. */
  status: "SKIPPED";
  /** As it was asked for; of a stack, the tier. */
  id: string;
  /** What it is. */
  object: RedeemableObject;
  /** What came of it. */
  result: {
    /** Why. */
    details: Reason;
  };
  /** Custom data, with `redeemable`. */
  metadata?: Json;
  /** The name of a tier or a stack, with `redeemable`. */
  name?: string;
  /** The line that a shop shows for it. */
  banner?: string;
  /** The name of its campaign. */
  campaign_name?: string;
  /** The id of its campaign. */
  campaign_id?: string;
  /** Its category, with `category`. */
  categories?: Category[];
}

/** A lock on redeemables. */
export interface Session extends Json {
  /** Which kind of it. */
  type: "LOCK";
  /** What to redeem with. */
  key: string;
  /** How long it lasts. */
  ttl: number;
  /** The unit of `ttl`. */
  ttl_unit: "DAYS" | "HOURS" | "MINUTES" | "SECONDS" | "MILLISECONDS" | "MICROSECONDS" | "NANOSECONDS";
}

/** The verdict on a request: what `POST /client/v1/validations` answers. */
export interface Validation extends Json {
  /** The service's own name for it. */
  id: string;
  /** Whether the request can be redeemed as it is. */
  valid: boolean;
  /** What applies; of a request that does not, all. */
  redeemables: Redeemable[];
  /** What does not apply. */
  inapplicable_redeemables?: Inapplicable[];
  /** What was left out. */
  skipped_redeemables?: Skipped[];
  /** The order after all; only when `valid`. */
  order?: Order;
  /** Stands for the customer. */
  tracking_id?: string;
  /** The lock, where one was asked for. */
  session?: Session;
  /** The project's rules for redeemables in one request. */
  stacking_rules: StackingRules;
  /** Facts that only the server has, such as `voucher/MY-CODE`; absent when the verdict is final. */
  provisional?: string[];
  /** Why, redeemable by redeemable, with `trace`. */
  trace?: Trace[];
}

/** The project's rules for redeemables in one request. */
export interface StackingRules extends Json {
  /** Categories whose redeemables apply alone. */
  exclusive_categories: string[];
  /** Categories whose redeemables apply with exclusive ones. */
  joint_categories: string[];
  /** Redeemables in a request, at most. */
  redeemables_limit: number;
  /** Redeemables that apply, at most. */
  applicable_redeemables_limit: number;
  /** The same within a category. */
  applicable_redeemables_per_category_limit: number | null;
  /** The same for categories of their own, by their ids. */
  applicable_redeemables_category_limits: Record<string, number>;
  /** Exclusive redeemables that apply, at most. */
  applicable_exclusive_redeemables_limit: number;
  /** The same within a category. */
  applicable_exclusive_redeemables_per_category_limit?: number | null;
  /** Whether all must apply. */
  redeemables_application_mode: "ALL" | "PARTIAL";
  /** In which order they apply. */
  redeemables_sorting_rule: "CATEGORY_HIERARCHY" | "REQUESTED_ORDER";
  /** Whether several discounts may fall on one line. */
  redeemables_products_application_mode: "STACK" | "ONCE";
  /** What becomes of one that takes nothing off. */
  redeemables_no_effect_rule: "REDEEM_ANYWAY" | "SKIP";
  /** Categories of which such a one is left out. */
  no_effect_skip_categories: string[];
  /** Categories of which such a one is redeemed. */
  no_effect_redeem_anyway_categories: string[];
  /** Whether a rollback changes the order. */
  redeemables_rollback_order_mode: "WITH_ORDER" | "WITHOUT_ORDER";
  /** In which order groups of them apply. */
  grouped_redeemables_sorting_rule: "JOINT_ALWAYS_LAST" | "REDEEMABLES_SORTING_RULE";
}

/** Why one redeemable was applied, left out or refused; a page reads less than a server. */
export interface Trace extends Json {
  /** As it was asked for. */
  id?: string;
  /** What it is. */
  object?: RedeemableObject;
  /** What became of it. */
  verdict: "APPLIED" | "SKIPPED" | "REFUSED";
  /** Of what applied: what it took off. */
  amount?: number;
  /** Of it, off the order as a whole. */
  order_amount?: number;
  /** Of it, off each line. */
  lines?: {
    /** The place of the line. */
    index: number;
    /** What was taken off it. */
    amount: number;
  }[];
  /** Of what did not: why. */
  key?: string;
  /** For people: why. */
  message?: string;
  /** What in particular. */
  details?: string;
  /** The words of the rule's author. */
  custom_message?: string;
  /** The limit that was reached. */
  limit?: number;
  /** What would change it, as far as a shopper may know. */
  change?: Change;
  /** The test that refused. */
  rule?: {
    /** The service's own name for it. */
    id: string;
    /** Its key within the rule. */
    test: string;
    /** The name of the rule. */
    name: string;
    /** What of it was looked at. */
    property?: string;
    /** How it was compared. */
    operator?: string;
    /** With what. */
    wanted: string[];
    /** What there was. */
    found?: string;
    /** What would change it. */
    change?: Change;
  };
}

/** What would have to change: `by` so many units or minor units, `of` what. */
export interface Change extends Json {
  /** What to do: more, less, add, …. */
  act: string;
  /** By so many units or minor units. */
  by?: number;
  /** Of what. */
  of?: string;
  /** The same as a sentence. */
  text: string;
}

/** What is answered instead when the request cannot be read: the error body of the service. */
export interface Invalid extends Json {
  /** The HTTP status that the service would send. */
  code: number;
  /** For programs: `voucher_expired`, `not_found`, …. */
  key: string;
  /** For people: why. */
  message: string;
  /** Which rule, which code. */
  details?: string;
  /** The request, as the log names it. */
  request_id?: string;
  /** The id of what the refusal is about. */
  resource_id?: string;
  /** The kind of what the refusal is about. */
  resource_type?: string;
  /** The words of the rule's author. */
  error?: {
    /** For people: why. */
    message: string;
  };
}

/** What is looked for: nothing asks for whatever works for nobody in particular. */
export interface QualificationRequest extends Json {
  /** For whom. */
  customer?: CustomerRequest;
  /** For which cart. */
  order?: OrderRequest;
  /** Stands for the customer. */
  tracking_id?: string;
  /** Which facts are looked at. */
  scenario?: "ALL" | "CUSTOMER_WALLET" | "AUDIENCE_ONLY" | "PRODUCTS" | "PRODUCTS_DISCOUNT" | "PROMOTION_STACKS" | "PRODUCTS_BY_CUSTOMER" | "PRODUCTS_DISCOUNT_BY_CUSTOMER";
  /** What is shown, and how much. */
  options?: {
    /** How many are shown; 5 when left out. */
    limit?: number;
    /** The `more_starting_after` of the page before. */
    starting_after?: string | null;
    /** What is found, by field. */
    filters?: {
      /** Whether all conditions must hold, or any. */
      junction?: "and" | "or" | "AND" | "OR";
      /** The id of its category. */
      category_id?: FilterConditions;
      /** The id of its campaign. */
      campaign_id?: FilterConditions;
      /** The type of the campaign. */
      campaign_type?: FilterConditions;
      /** The id of what is found. */
      resource_id?: FilterConditions;
      /** The kind of what is found. */
      resource_type?: FilterConditions;
      /** The type of the voucher. */
      voucher_type?: FilterConditions;
      /** The code of the voucher. */
      code?: FilterConditions;
      /** What the customer is to the voucher. */
      holder_role?: FilterConditions;
    };
    /** `redeemable`, `category`, `validation_rules`; other names are passed over. */
    expand?: string[];
    /** Newest first, or by what is taken off. */
    sorting_rule?: "DEFAULT" | "BEST_DEAL" | "LEAST_DEAL";
  };
  /** Whose locks are one's own. */
  session?: {
    /** Which kind of it. */
    type?: "LOCK";
    /** Whose lock. */
    key?: string;
  };
  /** Of the redemption that is planned; rules may ask for it. */
  metadata?: Json;
}

/** What a field must be. */
export interface FilterConditions extends Json {
  /** What must hold, by operator. */
  conditions?: {
    /** The first of these. */
    "$is"?: string[] | string;
    /** Anything but the first of these. */
    "$is_not"?: string[] | string;
    /** One of these. */
    "$in"?: string[] | string;
    /** None of these. */
    "$not_in"?: string[] | string;
    /** Anything at all. */
    "$has_value"?: unknown;
    /** Nothing. */
    "$is_unknown"?: unknown;
  };
}

/** What works, page by page. */
export interface Qualification extends Json {
  /** What works. */
  redeemables: {
    /** What it is. */
    object: "list";
    /** The member that holds what is listed. */
    data_ref: "data";
    /** What is listed. */
    data: Qualified[];
    /** How many there are on all pages. */
    total: number;
    /** Whether there are more after these. */
    has_more: boolean;
    /** Where the next page begins. */
    more_starting_after?: string;
  };
  /** Stands for the customer. */
  tracking_id?: string;
  /** As it was sent. */
  order?: Order;
  /** The project's rules for redeemables in one request. */
  stacking_rules: StackingRules;
  /** Facts that only the server has, such as `voucher/MY-CODE`; absent when the verdict is final. */
  provisional?: string[];
}

/** Something that works, by itself. */
export interface Qualified extends Json {
  /** What a validation takes as a redeemable's id. */
  id: string;
  /** What it is. */
  object: "campaign" | "voucher" | "promotion_tier" | "promotion_stack";
  /** When it was made. */
  created_at?: string;
  /** What it gives. */
  result?: Grant;
  /** The order with it. */
  order?: Order;
  /** Goods that it is about. */
  applicable_to?: GoodsList;
  /** Goods that it is not about. */
  inapplicable_to?: GoodsList;
  /** The first rule that guards it. */
  validation_rule_id?: string;
  /** The rules that guard it, with `validation_rules`. */
  validation_rules_assignments?: {
    /** What it is. */
    object: "list";
    /** The member that holds what is listed. */
    data_ref: "data";
    /** What is listed. */
    data: {
      /** The service's own name for it. */
      id: string;
      /** The id of the validation rule. */
      rule_id: string;
      /** The id of what it belongs to. */
      related_object_id: string;
      /** What kind of thing it belongs to. */
      related_object_type: string;
      /** What it is. */
      object: "validation_rules_assignment";
      /** Whether what was looked at of the rule holds. */
      validation_status: "VALID" | "PARTIALLY_VALID" | "INVALID";
      /** Names of the rule that were not looked at. */
      validation_omitted_rules: string[];
    }[];
    /** How many there are on all pages. */
    total: number;
  };
  /** Of a stack, its tiers. */
  redeemables?: Applicable[];
  /** Custom data, with `redeemable`. */
  metadata?: Json;
  /** What people call it, with `redeemable`. */
  name?: string;
  /** The line that a shop shows for it. */
  banner?: string;
  /** The name of its campaign. */
  campaign_name?: string;
  /** The id of its campaign. */
  campaign_id?: string;
  /** Its category, with `category`. */
  categories?: Category[];
}

// The end of the shapes.

/** Rules that were read and compiled once, ready to decide many baskets. */
export interface Prepared {
  /**
   * Decides JSON text; the answer is the text that the service would send. A request that cannot be read is answered
   * with the service's error body, not thrown.
   * @throws TypeError when `request` is no text or `now` is no moment
   * @throws Error when the seed is no hex, or after `free`
   */
  validate(request: string, context?: Context): string;

  /** The same for UTF-8 bytes: the entry for whoever has an HTTP body at hand, or wants to compare bytes. */
  validateBytes(request: Uint8Array, context?: Context): Uint8Array;

  /**
   * The same for plain objects, for convenience. Goes in as `JSON.stringify` would write it and comes out as
   * `JSON.parse` would read it; the text entry is faster when the JSON is there already.
   */
  validateObject(request: ValidationRequest, context?: Context): Validation | Invalid;

  /**
   * Finds what of the rules would work for a customer and an order, each alone, newest first or by `sorting_rule`: JSON
   * text in the shape of the service's qualifications. Throws what `validate` throws.
   */
  qualify(request: string, context?: Context): string;

  /** The same for UTF-8 bytes. */
  qualifyBytes(request: Uint8Array, context?: Context): Uint8Array;

  /** The same for plain objects. */
  qualifyObject(request: QualificationRequest, context?: Context): Qualification | Invalid;

  /** SHA-256 of the rules as they were given, 64 hex digits; the name by which answers can be told apart. */
  readonly hash: string;

  /** Gives the memory back. Calling it again does nothing; any other use afterwards throws an Error that says so. */
  free(): void;

  [Symbol.dispose](): void;
}

/** A client key. It is public by nature: bound to origins, and able to do only what the project allows to pages. */
export interface Credentials {
  /** Goes out as `X-Client-Application-Id`. */
  id: string;
  /** Goes out as `X-Client-Token`. */
  token: string;
}

/** The rules of a project as the service hands them to pages. */
export interface Bundle {
  /** As they came; keep them, with `etag`, to start offline the next time. */
  bytes: Uint8Array;
  /** What the service calls this version. */
  etag: string | null;
  /** Ready to decide. */
  prepared: Prepared;
  /** Whether the service said just now that this is the newest. */
  fresh: boolean;
  /** Why it is not: no network, an error of the service, rules that could not be read. */
  problem?: Error;
}

/** What was kept of an earlier `Bundle`; one from storage needs only its bytes and its etag. */
export type LastGood = Pick<Bundle, "bytes" | "etag"> & Partial<Bundle>;

/**
 * Loads the engine. Call it once before `prepare`; further calls cost nothing, a failed one can be repeated. On Node
 * and workerd the engine is there after the import, and this resolves at once.
 * @param source where the wasm is, when it is not beside this package: a URL, a `Response`, bytes or a compiled module
 */
export function load(source?: string | URL | Response | BufferSource | WebAssembly.Module): Promise<void>;

/**
 * Reads and compiles rules: JSON text, its UTF-8 bytes, or a plain object.
 * @throws Error that names the field when the rules are bad, with `cause: { path, text }` for an editor of rules; also
 *   when the engine is not loaded
 */
export function prepare(rules: string | Uint8Array | ArrayBuffer | Json): Prepared;

/**
 * Gets the rules from `GET {baseUrl}/client/v1/bundle`. With `lastGood` it asks only for something newer
 * (`If-None-Match`), and gives `lastGood` back with `fresh: false` and the `problem` when anything fails.
 * @throws Error when it fails and there is nothing to fall back on; with `status` and `body` when the service refused
 */
export function fetchBundle(
  baseUrl: string | URL,
  credentials: Credentials,
  lastGood?: LastGood,
  options?: {
    /** Gives up early. */
    signal?: AbortSignal;
    /** For servers: a client key is bound to origins, and only browsers name theirs by themselves. */
    origin?: string;
  },
): Promise<Bundle>;

/** A classic script tag of `scrip/script.js` sets this global. */
export as namespace scrip;
