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

/** What is asked: codes, and the order that they are for. The body of `POST /client/v1/validations`. */
export interface ValidationRequest extends Json {
  /** 1 to 30 codes, in the order in which they are applied. */
  redeemables: { object: "voucher"; id: string; gift?: { credits: number } }[];
  /** The cart. */
  order?: {
    /** Minor units; the sum of the lines when left out. */
    amount?: number;
    /** Up to 500 lines. */
    items?: {
      product_id?: string;
      sku_id?: string;
      source_id?: string;
      related_object?: "product" | "sku";
      /** Whole, at least 1. */
      quantity?: number;
      /** Of one unit, in minor units. */
      price?: number;
      /** Of the line, in minor units; price times quantity when left out. */
      amount?: number;
      [field: string]: unknown;
    }[];
    [field: string]: unknown;
  };
  /** Whose cart it is. */
  customer?: { id?: string; source_id?: string; [field: string]: unknown };
}

/** An order with what the codes did to it. All amounts are minor units. */
export interface Order extends Json {
  /** Before discounts. */
  amount?: number;
  /** Taken off by everything, earlier requests included. */
  total_discount_amount?: number;
  /** Taken off by this request. */
  total_applied_discount_amount?: number;
  /** To pay; never below zero. */
  total_amount?: number;
}

/** Why a code is not applied. */
export interface Refusal extends Json {
  /** For programs: `voucher_expired`, `not_found`, … */
  key: string;
  /** For people. */
  message: string;
  /** Which rule, which code. */
  details?: string;
}

/** The verdict on one code. */
export interface Redeemable extends Json {
  status: "APPLICABLE" | "INAPPLICABLE" | "SKIPPED";
  /** The code as it was asked for. */
  id: string;
  object: string;
  /** The order after this code, when it applies. */
  order?: Order;
  /** A skipped code says why in `details`; `key` is `known_to_server_only` when the rules do not have the code. */
  result?: { error?: Refusal; details?: { key: string; message: string }; discount?: Json; gift?: Json; [field: string]: unknown };
}

/** The verdict on a request: what `POST /client/v1/validations` answers. */
export interface Validation extends Json {
  id: string;
  /** Whether the codes can be redeemed for this order. */
  valid: boolean;
  redeemables?: Redeemable[];
  inapplicable_redeemables?: Redeemable[];
  skipped_redeemables?: Redeemable[];
  /** Only when `valid`. */
  order?: Order;
  /**
   * Facts that only the server has, such as `voucher/MY-CODE` or `voucher/v_1/redemptions`. Absent when the verdict is
   * final: then the server would answer with the same bytes.
   */
  provisional?: string[];
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
export interface Qualification {
  redeemables: {
    object: "list";
    data_ref: "data";
    /** `id` is what a validation takes as a redeemable's id. */
    data: { id: string; object: "campaign" | "voucher" | "promotion_tier" | "promotion_stack"; created_at?: string; order?: Order;
      [field: string]: unknown }[];
    /** On all pages. */
    total: number;
    has_more: boolean;
    more_starting_after?: string;
  };
  tracking_id?: string;
  /** As it was sent. */
  order?: Order;
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
