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

/** What is asked: redeemables, and the order that they are for. The body of `POST /client/v1/validations`. */
export interface ValidationRequest extends Json {
  /** 1 to 30, in the order in which they are applied; a promotion stack stands alone. */
  redeemables: {
    /** A gift card and a loyalty card are vouchers. */
    object: RedeemableObject;
    /** Of a voucher its code, of a tier or a stack its id. */
    id: string;
    /** What is spent of a gift card, in minor units; as much as possible when left out. */
    gift?: { credits?: number };
    /** What the points of a loyalty card are exchanged for. */
    reward?: { id: string; points?: number };
  }[];
  /** The cart. */
  order?: OrderRequest;
  /** Whose cart it is. */
  customer?: { id?: string; source_id?: string; metadata?: Json; [field: string]: unknown };
  /** A lock on what applies; the service sets it. */
  session?: Partial<Session>;
  /** Stands for the customer. */
  tracking_id?: string;
  /** Of the redemption that is planned; rules may ask for it. */
  metadata?: Json;
  options?: { expand?: ("order" | "redemption" | "redeemable" | "category" | "trace")[]; [field: string]: unknown };
}

/** What can be redeemed. */
export type RedeemableObject = "voucher" | "promotion_tier" | "promotion_stack";

/** A cart as it is sent. */
export interface OrderRequest extends Json {
  id?: string;
  source_id?: string;
  /** Minor units; the sum of the lines when left out. */
  amount?: number;
  /** Up to 500 lines. */
  items?: {
    product_id?: string;
    sku_id?: string;
    source_id?: string;
    related_object?: "product" | "sku";
    /** Whole, also as text; 1 when left out. */
    quantity?: number | string;
    /** Of one unit, in minor units. */
    price?: number;
    /** Of the line, in minor units; price times quantity when left out. */
    amount?: number;
    /** What is known of the product beside the catalogue. */
    product?: Goods & Json;
    /** What is known of the SKU beside the catalogue. */
    sku?: Goods & Json;
    metadata?: Json;
    [field: string]: unknown;
  }[];
  metadata?: Json;
}

/** A product, with its `name`, or a SKU, which is called `sku`. */
export interface Goods {
  id?: string;
  source_id?: string;
  name?: string;
  sku?: string;
  /** Of one unit, in minor units. */
  price?: number;
  override?: boolean;
  metadata?: Json;
}

/** An order with what was done to it. All amounts are minor units. */
export interface Order extends Json {
  id?: string;
  source_id?: string;
  status?: "CREATED" | "PAID" | "CANCELED" | "FULFILLED";
  /** Before discounts, units included that were added. */
  amount?: number;
  /** Before units were added. */
  initial_amount?: number;
  /** Taken off the order as a whole. */
  discount_amount?: number;
  /** Taken off its lines. */
  items_discount_amount?: number;
  /** Taken off by everything, earlier requests included. */
  total_discount_amount?: number;
  /** To pay; never below zero. */
  total_amount?: number;
  /** Taken off the order as a whole by this request. */
  applied_discount_amount?: number;
  /** Taken off its lines by this request. */
  items_applied_discount_amount?: number;
  /** Taken off by this request. */
  total_applied_discount_amount?: number;
  items?: OrderItem[];
  metadata?: Json;
  /** Whose it is; pages are not told. */
  customer_id?: string | null;
  /** Who referred them; pages are not told. */
  referrer_id?: string | null;
  object: "order";
}

/** A line of an order with what was done to it. */
export interface OrderItem extends Json {
  /** Of a line that the service keeps. */
  id?: string;
  object: "order_item";
  source_id?: string;
  related_object?: "product" | "sku";
  product_id?: string;
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
  initial_amount?: number;
  discount_amount?: number;
  applied_discount_amount?: number;
  /** Of one unit. */
  price?: number;
  /** After the discounts of the line. */
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
  product?: Goods;
  sku?: Goods;
  metadata?: Json;
}

/** Why something is not applied. */
export interface Refusal extends Json {
  /** For programs: `voucher_expired`, `not_found`, … */
  key: string;
  /** For people. */
  message: string;
  /** Which rule, which code. */
  details?: string;
  /** The HTTP status that redeeming would answer. */
  code?: number;
  request_id?: string;
  resource_id?: string;
  resource_type?: string;
  /** The words of the rule's author. */
  error?: { message: string };
}

/** A discount with the numbers that its formulas came to. */
export interface Discount extends Json {
  type: "AMOUNT" | "PERCENT" | "FIXED" | "UNIT";
  effect: string;
  /** Whether a formula had a say. */
  is_dynamic?: boolean;
  amount_off?: number;
  percent_off?: number;
  fixed_amount?: number;
  amount_limit?: number;
  aggregated_amount_limit?: number;
  unit_off?: number;
  unit_type?: string;
  /** The product that is given. */
  product?: Goods;
  /** The SKU that is given. */
  sku?: Goods;
  /** What is given, where it is more than one thing. */
  units?: { unit_off: number; unit_type: string; effect?: string; product?: Goods; sku?: Goods }[];
}

/** The bundles of goods that a rule asks for. */
export interface Bundles {
  quantity: number;
  limit: number;
  identified: { object: string; id: string; item_index: number; item_quantity: number }[];
  missing?: { object: string; id: string; item_quantity: number }[];
}

/** What a redeemable gives. */
export interface Grant extends Json {
  discount?: Discount;
  /** Of a gift card: what was on it, and what is spent. */
  gift?: { balance: number; credits: number; locked_credits?: number };
  /** Of a loyalty card: the points that are spent, or that are on it where nothing was asked for. */
  loyalty_card?: { points: number; balance?: number };
  reward?: { id: string; assignment_id: string; object: "reward"; name: string; type: "MATERIAL" | "CAMPAIGN" | "COIN"; points: number };
  bundle?: Bundles;
}

/** Goods that a redeemable is about, or not. */
export interface GoodsList {
  object: "list";
  data_ref: "data";
  data: {
    object: "product" | "sku" | "products_collection";
    id: string;
    source_id?: string;
    product_id?: string;
    product_source_id?: string;
    effect?: string;
    strict?: boolean;
    target?: "ITEM" | "UNIT";
    price?: number;
    /** The lines, by their places. */
    order_item_indices?: number[];
    order_item_units?: { index: number; units?: number[]; units_limit_exceeded?: boolean }[];
    /** The limits of the entry, and the formulas that they came from. */
    [limit: string]: unknown;
  }[];
  total: number;
}

/** A category of redeemables. */
export interface Category {
  id: string;
  name: string;
  hierarchy: number;
  object: "category";
  created_at?: string;
  updated_at?: string | null;
  stacking_rules_type?: "JOINT" | "EXCLUSIVE";
}

/** What `expand` adds to what is said of a redeemable. */
export interface Expanded {
  /** With `redeemable`. */
  metadata?: Json;
  name?: string;
  banner?: string;
  campaign_name?: string;
  campaign_id?: string;
  /** With `category`. */
  categories?: Category[];
}

/** The verdict on one redeemable: `status` says which. */
export type Redeemable = Applicable | Inapplicable | Skipped;

/** It applies. */
export interface Applicable extends Expanded, Json {
  status: "APPLICABLE";
  /** As it was asked for; of a stack, the tier. */
  id: string;
  object: RedeemableObject;
  /** The order after it. */
  order?: Order;
  applicable_to: GoodsList;
  inapplicable_to: GoodsList;
  result: Grant;
}

/** It does not. */
export interface Inapplicable extends Expanded, Json {
  status: "INAPPLICABLE";
  id: string;
  object: RedeemableObject;
  result: { error: Refusal; details: Reason; bundle?: Bundles };
}

/** It was not tried, or left out. */
export interface Skipped extends Expanded, Json {
  status: "SKIPPED";
  id: string;
  object: RedeemableObject;
  /** `key` is `known_to_server_only` when the rules do not have the code. */
  result: { details: Reason };
}

/** A reason in short. */
export interface Reason {
  key: string;
  message: string;
}

/** A lock on redeemables. */
export interface Session {
  type: "LOCK";
  /** What to redeem with. */
  key: string;
  ttl: number;
  ttl_unit: "DAYS" | "HOURS" | "MINUTES" | "SECONDS" | "MILLISECONDS" | "MICROSECONDS" | "NANOSECONDS";
}

/** The verdict on a request: what `POST /client/v1/validations` answers. */
export interface Validation extends Json {
  id: string;
  /** Whether the request can be redeemed as it is. */
  valid: boolean;
  redeemables: Redeemable[];
  inapplicable_redeemables?: Inapplicable[];
  skipped_redeemables?: Skipped[];
  /** Only when `valid`. */
  order?: Order;
  tracking_id?: string;
  /** The lock, where one was asked for. */
  session?: Session;
  stacking_rules: StackingRules;
  /**
   * Facts that only the server has, such as `voucher/MY-CODE` or `voucher/v_1/redemptions`. Absent when the verdict is
   * final: then the server would answer with the same bytes.
   */
  provisional?: string[];
  /** Why, redeemable by redeemable, with `expand: ["trace"]`. */
  trace?: Trace[];
}

/** Why one redeemable was applied, left out or refused; a page reads less than a server. */
export interface Trace extends Json {
  id?: string;
  object?: RedeemableObject;
  verdict: "APPLIED" | "SKIPPED" | "REFUSED";
  /** Of what applied: what it took off, off the order as a whole, and off each line by its place. */
  amount?: number;
  order_amount?: number;
  lines?: { index: number; amount: number }[];
  /** Of what did not: why. */
  key?: string;
  message?: string;
  details?: string;
  /** The words of the rule's author. */
  custom_message?: string;
  /** The limit that was reached. */
  limit?: number;
  /** What would change it, as far as a shopper may know. */
  change?: Change;
  /** The test that refused. */
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
}

/** What would have to change: `by` so many units or minor units, `of` what. */
export interface Change {
  act: string;
  by?: number;
  of?: string;
  text: string;
}

/** The project's rules for redeemables in one request. */
export interface StackingRules extends Json {
  redeemables_limit: number;
  applicable_redeemables_limit: number;
  applicable_redeemables_per_category_limit?: number | null;
  applicable_redeemables_category_limits: Record<string, number>;
  applicable_exclusive_redeemables_limit: number;
  applicable_exclusive_redeemables_per_category_limit?: number | null;
  exclusive_categories: string[];
  joint_categories: string[];
  redeemables_application_mode: "ALL" | "PARTIAL";
  redeemables_sorting_rule: "CATEGORY_HIERARCHY" | "REQUESTED_ORDER";
  redeemables_products_application_mode: "STACK" | "ONCE";
  redeemables_no_effect_rule: "REDEEM_ANYWAY" | "SKIP";
  no_effect_skip_categories: string[];
  no_effect_redeem_anyway_categories: string[];
  redeemables_rollback_order_mode: "WITH_ORDER" | "WITHOUT_ORDER";
  grouped_redeemables_sorting_rule: string;
}

/** What is answered instead when the request cannot be read: the error body of the service. */
export interface Invalid extends Refusal {
  /** The HTTP status that the service would send. */
  code: number;
}

/** What is looked for: nothing asks for whatever works for nobody in particular. */
export interface QualificationRequest {
  scenario?:
    | "ALL" | "CUSTOMER_WALLET" | "AUDIENCE_ONLY" | "PROMOTION_STACKS"
    | "PRODUCTS" | "PRODUCTS_DISCOUNT" | "PRODUCTS_BY_CUSTOMER" | "PRODUCTS_DISCOUNT_BY_CUSTOMER";
  customer?: ValidationRequest["customer"];
  order?: ValidationRequest["order"];
  /** Whose locks are one's own. */
  session?: Partial<Session>;
  tracking_id?: string;
  options?: {
    /** 1 to 50; 5 when absent. */
    limit?: number;
    /** The `more_starting_after` of the page before. */
    starting_after?: string | null;
    sorting_rule?: "DEFAULT" | "BEST_DEAL" | "LEAST_DEAL";
    expand?: ("redeemable" | "category" | "validation_rules")[];
    filters?: Record<string, unknown>;
  };
}

/** What works, page by page. */
export interface Qualification extends Json {
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

/** Something that works, by itself. */
export interface Qualified extends Expanded, Json {
  /** What a validation takes as a redeemable's id. */
  id: string;
  object: "campaign" | RedeemableObject;
  created_at?: string;
  result?: Grant;
  /** The order with it. */
  order?: Order;
  applicable_to?: GoodsList;
  inapplicable_to?: GoodsList;
  /** The first rule that guards it. */
  validation_rule_id?: string;
  /** With `validation_rules`. */
  validation_rules_assignments?: { object: "list"; data_ref: "data"; data: Json[]; total: number };
  /** Of a stack, its tiers. */
  redeemables?: Applicable[];
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
