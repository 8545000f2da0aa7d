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

/** An order as it is sent. Amounts are minor units. */
export interface OrderRequest {
  /** The sum of the lines when left out. */
  amount?: number;
  /** Taken off the order by earlier requests. */
  discount_amount?: number;
  /** Up to 500 lines. */
  items?: {
    product_id?: string;
    sku_id?: string;
    /** Your own name for it; `related_object` says of what. */
    source_id?: string;
    related_object?: "product" | "sku";
    /** Whole; 1 when left out. */
    quantity?: number | string;
    /** Of one unit. */
    price?: number;
    /** Of the line; price times quantity when left out. */
    amount?: number;
    /** Taken off the line by earlier requests. */
    discount_amount?: number;
    product?: { id?: string; source_id?: string; name?: string; price?: number; override?: boolean; metadata?: Json };
    sku?: { id?: string; source_id?: string; sku?: string; price?: number; override?: boolean; metadata?: Json };
    metadata?: Json;
    [field: string]: unknown;
  }[];
  metadata?: Json;
  [field: string]: unknown;
}

/** Who buys. */
export interface CustomerRequest {
  id?: string;
  source_id?: string;
  metadata?: Json;
  [field: string]: unknown;
}

/** How long a lock holds. */
export type TtlUnit = "DAYS" | "HOURS" | "MINUTES" | "SECONDS" | "MILLISECONDS" | "MICROSECONDS" | "NANOSECONDS";

/** What can be redeemed: a code, a tier of a promotion, or a stack of tiers, which stands alone. */
export type RedeemableObject = "voucher" | "promotion_tier" | "promotion_stack";

/** What is asked: redeemables, and the order that they are for. The body of `POST /client/v1/validations`. */
export interface ValidationRequest {
  /** 1 to 30, in the order in which they are applied. */
  redeemables: {
    object: RedeemableObject;
    /** A code; of a tier or a stack its id. */
    id: string;
    /** What is spent of a gift card; as much as possible when left out. */
    gift?: { credits?: number };
    /** What points of a loyalty card are exchanged for. */
    reward?: { id: string; points?: number };
  }[];
  /** The cart. */
  order?: OrderRequest;
  /** Whose cart it is. */
  customer?: CustomerRequest;
  /** Holds what is asked for until the order is paid; only the server can keep it. */
  session?: { type?: "LOCK"; key?: string; ttl?: number; ttl_unit?: TtlUnit };
  /** The customer by another name. */
  tracking_id?: string;
  metadata?: Json;
  options?: {
    /** What to tell beyond the usual; names that mean nothing here are passed over. */
    expand?: ("order" | "redeemable" | "category" | "redemption" | "trace")[];
  };
  [field: string]: unknown;
}

/** A product as answers show it beside a line. */
export interface ProductOfLine {
  id?: string;
  source_id?: string;
  name?: string;
  price?: number;
  override?: boolean;
  metadata?: Json;
}

/** A SKU as answers show it beside a line. */
export interface SkuOfLine {
  id?: string;
  source_id?: string;
  sku?: string;
  price?: number;
  override?: boolean;
  metadata?: Json;
}

/** A line of an order with what was done to it. All amounts are minor units. */
export interface OrderItem {
  object: "order_item";
  /** Of a line of a stored order. */
  id?: string;
  product_id?: string;
  sku_id?: string;
  source_id?: string;
  related_object?: "product" | "sku";
  quantity: number;
  /** Units before any came free. */
  initial_quantity?: number;
  /** Units that are free, by everything. */
  discount_quantity?: number;
  /** Units that this request, or this redeemable, made free. */
  applied_discount_quantity?: number;
  /** Units that came, or went when below zero. */
  applied_quantity?: number;
  applied_quantity_amount?: number;
  /** Before discounts. */
  amount?: number;
  initial_amount?: number;
  /** Taken off by everything, earlier requests included. */
  discount_amount?: number;
  /** Taken off by this request, or by this redeemable. */
  applied_discount_amount?: number;
  /** Of one unit. */
  price?: number;
  /** Of the line after discounts. */
  subtotal_amount?: number;
  /** What was given in place of units of this line. */
  application_details?: {
    source_index: number;
    source_applied_quantity: number;
    source_applied_quantity_amount: number;
    target_index: number;
    target_applied_quantity: number;
    target_applied_quantity_amount: number;
    target_applied_discount_amount: number;
  }[];
  product?: ProductOfLine;
  sku?: SkuOfLine;
  metadata?: Json;
}

/** An order with what was done to it. All amounts are minor units. */
export interface Order {
  object: "order";
  id?: string;
  source_id?: string;
  status?: "CREATED" | "PAID" | "CANCELED" | "FULFILLED";
  /** Whose it is, and who sent them. */
  customer_id?: string;
  referrer_id?: string;
  /** Before discounts. */
  amount?: number;
  /** Before free units came to it. */
  initial_amount?: number;
  /** Taken off the order, not its lines, by everything. */
  discount_amount?: number;
  /** Taken off the lines by everything. */
  items_discount_amount?: number;
  /** Taken off by everything, earlier requests included. */
  total_discount_amount?: number;
  /** To pay; never below zero. */
  total_amount?: number;
  /** Taken off the order by this request; in a redeemable's own order, by it alone. */
  applied_discount_amount?: number;
  /** Taken off the lines by this request, or by this redeemable. */
  items_applied_discount_amount?: number;
  /** Taken off by this request, or by this redeemable. */
  total_applied_discount_amount?: number;
  items?: OrderItem[];
  metadata?: Json;
}

/** Why a redeemable is not applied. */
export interface Refusal {
  /** The HTTP status that a redemption would have. */
  code: number;
  /** For programs: `voucher_expired`, `not_found`, … */
  key: string;
  /** For people. */
  message: string;
  /** Which rule, which code. */
  details?: string;
  request_id?: string;
  /** What it is about. */
  resource_id?: string;
  resource_type?: string;
  /** The words of the rule that was violated, when it has any. */
  error?: { message: string };
}

/** What a unit discount gives. */
export interface UnitOff {
  unit_off: number;
  /** The product or SKU. */
  unit_type: string;
  product?: { id?: string; source_id?: string; name?: string };
  sku?: { id?: string; source_id?: string; sku?: string };
}

/** How a discount of money is spread. */
export type DiscountEffect =
  | "APPLY_TO_ORDER" | "APPLY_TO_ITEMS" | "APPLY_TO_ITEMS_BY_QUANTITY"
  | "APPLY_TO_ITEMS_PROPORTIONALLY" | "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY";

/** A discount with the numbers that it has on this order; `is_dynamic` says that a formula gave them. */
export type Discount =
  | { type: "PERCENT"; percent_off: number; amount_limit?: number; aggregated_amount_limit?: number;
      effect: DiscountEffect; is_dynamic: boolean }
  | { type: "AMOUNT"; amount_off: number; aggregated_amount_limit?: number; effect: DiscountEffect; is_dynamic: boolean }
  /** Without `fixed_amount` the prices stand in `applicable_to`. */
  | { type: "FIXED"; fixed_amount?: number; effect: DiscountEffect; is_dynamic?: boolean }
  | (UnitOff & { type: "UNIT"; effect: "ADD_NEW_ITEMS" | "ADD_MISSING_ITEMS" | "ADD_SAME_ITEMS" | "REPLACE_ITEMS"; is_dynamic: boolean })
  | { type: "UNIT"; units: (UnitOff & { effect?: "ADD_NEW_ITEMS" | "ADD_MISSING_ITEMS" })[]; effect: "ADD_MANY_ITEMS"; is_dynamic: boolean };

/** Goods of a bundle. */
export interface BundleItem {
  object: "product" | "sku" | "products_collection";
  id: string;
  item_quantity: number;
}

/** The bundles that the rules of a redeemable ask for. */
export interface Bundles {
  /** Complete ones in the order. */
  quantity: number;
  /** How many count. */
  limit: number;
  identified: (BundleItem & { item_index: number })[];
  missing?: BundleItem[];
}

/** What a redeemable gives; of one that gives nothing, why. */
export interface RedeemableResult {
  discount?: Discount;
  bundle?: Bundles;
  /** `locked_credits` are told in qualifications: what sessions hold of the card. */
  gift?: { balance: number; credits: number; locked_credits?: number };
  /** `balance` is told where no reward is asked for. */
  loyalty_card?: { points: number; balance?: number };
  reward?: {
    object: "reward";
    id: string;
    assignment_id: string;
    name: string;
    type: "CAMPAIGN" | "COIN" | "MATERIAL";
    points: number;
  };
  /** Of what is inapplicable. */
  error?: Refusal;
  /** Of what is inapplicable or skipped; `key` is `known_to_server_only` when the rules do not have the code. */
  details?: { message: string; key: string };
}

/** What a redeemable is about. First the entries of its rule, then, `strict`, the goods of the order that they cover. */
export interface GoodsList {
  object: "list";
  data_ref: "data";
  total: number;
  data: {
    object: "product" | "sku" | "products_collection";
    id: string;
    source_id?: string;
    /** Of a SKU. */
    product_id?: string;
    product_source_id?: string;
    strict: boolean;
    effect?: "APPLY_TO_EVERY" | "APPLY_TO_CHEAPEST" | "APPLY_FROM_CHEAPEST" | "APPLY_TO_MOST_EXPENSIVE" | "APPLY_FROM_MOST_EXPENSIVE";
    /** A fixed price, and its formula. */
    price?: number;
    price_formula?: string;
    quantity_limit?: number;
    aggregated_quantity_limit?: number;
    amount_limit?: number;
    aggregated_amount_limit?: number;
    /** How many units may ever be discounted: each of the lifetime caps, and its formula. */
    [cap: `product_${string}_quantity_limit`]: number | undefined;
    [formula: `product_${string}_quantity_limit_formula`]: string | undefined;
    skip_initially?: number;
    repeat?: number;
    target?: "UNIT";
    /** The lines of the order. */
    order_item_indices?: number[];
    /** The units of each line, counted from 1; of more than a thousand they are not told one by one. */
    order_item_units?: { index: number; units?: number[]; units_limit_exceeded?: boolean }[];
  }[];
}

/** A category of redeemables. */
export interface Category {
  object: "category";
  id: string;
  name: string;
  hierarchy: number;
  created_at?: string;
  updated_at?: string | null;
  stacking_rules_type?: "EXCLUSIVE" | "JOINT";
}

/** What is told of a redeemable on request, `options.expand`. */
export interface Expanded {
  /** `redeemable`. */
  metadata?: Json;
  /** `redeemable`: of a tier. */
  name?: string;
  banner?: string;
  campaign_name?: string;
  campaign_id?: string;
  /** `category`. */
  categories?: Category[];
}

/** The verdict on one redeemable. */
export interface Redeemable extends Expanded {
  status: "APPLICABLE" | "INAPPLICABLE" | "SKIPPED";
  object: RedeemableObject;
  /** As it was asked for. */
  id: string;
  /** The order after this redeemable, when it applies. */
  order?: Order;
  /** What it is about, when it applies. */
  applicable_to?: GoodsList;
  inapplicable_to?: GoodsList;
  result: RedeemableResult;
}

/** How redeemables go together in this project. */
export interface StackingRules {
  redeemables_limit: number;
  applicable_redeemables_limit: number;
  applicable_redeemables_per_category_limit?: number;
  /** By the id of the category. */
  applicable_redeemables_category_limits: Record<string, number>;
  applicable_exclusive_redeemables_limit: number;
  applicable_exclusive_redeemables_per_category_limit?: number;
  exclusive_categories: string[];
  joint_categories: string[];
  redeemables_application_mode: "ALL" | "PARTIAL";
  redeemables_sorting_rule: "CATEGORY_HIERARCHY" | "REQUESTED_ORDER";
  redeemables_products_application_mode: "STACK" | "ONCE";
  redeemables_no_effect_rule: "REDEEM_ANYWAY" | "SKIP";
  no_effect_skip_categories: string[];
  no_effect_redeem_anyway_categories: string[];
  redeemables_rollback_order_mode: "WITH_ORDER" | "WITHOUT_ORDER";
  grouped_redeemables_sorting_rule: "JOINT_ALWAYS_LAST" | "REDEEMABLES_SORTING_RULE";
}

/** What would make a rule hold. */
export interface Change {
  act: "add" | "after" | "before" | "less" | "more" | "remove" | "set";
  by?: number;
  of?: string;
  /** For people. */
  text: string;
}

/** How the verdict on one redeemable came about. A page is told less than a server. */
export interface TraceEntry {
  id: string;
  object: RedeemableObject;
  verdict: "APPLIED" | "REFUSED" | "SKIPPED";
  /** Of what was applied: taken off in all, off the order, and off each line. */
  amount?: number;
  order_amount?: number;
  lines?: { index: number; amount: number }[];
  /** Of what was not: why. */
  key?: string;
  message?: string;
  details?: string;
  custom_message?: string;
  /** The limit that was reached. */
  limit?: number;
  /** The test that failed. */
  rule?: {
    id: string;
    test: string;
    name: string;
    property?: string;
    operator?: string;
    wanted: string[];
    found?: string;
    change?: Change;
  };
  /** To a page, without the rule. */
  change?: Change;
}

/** The verdict on a request: what `POST /client/v1/validations` answers. */
export interface Validation {
  id: string;
  /** Whether the redeemables can be redeemed for this order. */
  valid: boolean;
  redeemables: Redeemable[];
  inapplicable_redeemables?: Redeemable[];
  skipped_redeemables?: Redeemable[];
  /** Only when `valid`. */
  order?: Order;
  tracking_id?: string;
  session?: { key: string; type: "LOCK"; ttl: number; ttl_unit: TtlUnit };
  stacking_rules: StackingRules;
  /**
   * Facts that only the server has, such as `voucher/MY-CODE` or `voucher/v_1/redemptions`. Absent when the verdict is
   * final: then the server would answer with the same bytes.
   */
  provisional?: string[];
  /** On request, `options.expand: ["trace"]`. */
  trace?: TraceEntry[];
}

/** What is answered instead when the request as a whole is refused: the error body of the service. */
export interface Invalid extends Refusal {
  request_id: string;
}

/** Conditions of a filter: an operator such as `$is` or `$in`, and its values. */
export type FilterConditions = { conditions: { [operator: string]: unknown } };

/** What is looked for: nothing asks for whatever works for nobody in particular. */
export interface QualificationRequest {
  scenario?:
    | "ALL" | "CUSTOMER_WALLET" | "AUDIENCE_ONLY" | "PROMOTION_STACKS"
    | "PRODUCTS" | "PRODUCTS_DISCOUNT" | "PRODUCTS_BY_CUSTOMER" | "PRODUCTS_DISCOUNT_BY_CUSTOMER";
  customer?: CustomerRequest;
  order?: OrderRequest;
  tracking_id?: string;
  session?: ValidationRequest["session"];
  metadata?: Json;
  options?: {
    /** 1 to 50; 5 when absent. */
    limit?: number;
    /** The `more_starting_after` of the page before. */
    starting_after?: string | null;
    sorting_rule?: "DEFAULT" | "BEST_DEAL" | "LEAST_DEAL";
    expand?: ("redeemable" | "category" | "validation_rules")[];
    filters?: { junction?: "and" | "or" | "AND" | "OR" } & {
      [field in "category_id" | "campaign_id" | "campaign_type" | "resource_id" | "resource_type" | "voucher_type" | "code"
        | "holder_role"]?: FilterConditions;
    };
  };
  [field: string]: unknown;
}

/** One thing that works. */
export interface Qualified extends Expanded {
  /** What a validation takes as a redeemable's id: of a voucher its code. */
  id: string;
  object: "campaign" | RedeemableObject;
  created_at?: string;
  /** The order with it alone. */
  order?: Order;
  applicable_to?: GoodsList;
  inapplicable_to?: GoodsList;
  result?: RedeemableResult;
  /** Of a stack: each of its tiers that applies. */
  redeemables?: Redeemable[];
  validation_rule_id?: string;
  /** On request, `options.expand: ["validation_rules"]`. */
  validation_rules_assignments?: {
    object: "list";
    data_ref: "data";
    total: number;
    data: {
      object: "validation_rules_assignment";
      id: string;
      rule_id: string;
      related_object_id: string;
      related_object_type: string;
      validation_status: "VALID" | "PARTIALLY_VALID" | "INVALID";
      /** What a qualification leaves out of the rule. */
      validation_omitted_rules: string[];
    }[];
  };
}

/** What works, page by page. */
export interface Qualification {
  redeemables: {
    object: "list";
    data_ref: "data";
    data: Qualified[];
    /** On all pages. */
    total: number;
    has_more: boolean;
    more_starting_after?: string;
  };
  tracking_id?: string;
  /** As it was sent. */
  order?: Order;
  stacking_rules: StackingRules;
  /** Facts that only the server has. */
  provisional?: string[];
}

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
