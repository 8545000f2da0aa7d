import type { RuleSet } from "./scrip.js";

/** Past orders: a file, a stream or text of JSON Lines or of a JSON array, those of `fromCsv`, or the orders themselves. */
export type PastOrders =
  | Blob | ReadableStream<Uint8Array> | string | Uint8Array
  | Iterable<object | string | Uint8Array> | AsyncIterable<object | string | Uint8Array>;

/** The documents of a draft, as the API has them. Its promotion tiers and vouchers are tried. */
export type Draft = Pick<
  RuleSet,
  "campaigns" | "promotion_tiers" | "vouchers" | "validation_rules" | "validation_rules_assignments" | "categories" | "product_collections" | "segments"
>;

export interface BackTestOptions {
  /** The rules under which the draft is tried: as for `prepare`, or `shop.rules`. */
  rules: RuleSet | string | Uint8Array;
  draft: Draft;
  orders: PastOrders;
  /**
   * Time at which offers, those of the draft and the others, must have started and not ended: a Date, whole milliseconds since 1970, or ISO 8601 text with
   * its zone. Default the present time, or the latest `start_date` of the draft, in the time zone of the rules, if that is later. Each order is decided at its own `created_at`.
   */
  now?: Date | number | string | undefined;
  /** Called a few times a second with the number of orders that were decided; all are read before. */
  onProgress?: ((orders: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The result of a back-test. Amounts are in minor units. Quantities, budgets, balances and limits of the draft, also those of a day, a week or a month, count
 * across the orders, in the order of their `created_at`.
 */
export interface BackTestResult {
  /** Number of orders in the file, unreadable ones included. */
  orders: number;
  /** Number of orders with the status `CANCELED`, which are not decided. */
  canceled: number;
  /** Number of orders to which the draft gives a discount, finally. */
  touched: number;
  /** Sum of these discounts. */
  cost: number;
  /** Of these, the orders whose use of limits could not be counted, since a sum would leave 64 bits: later orders are decided without it. */
  uncounted: number;
  /** Of these, the orders to which another offer alone gives more, and their customers; an order without a customer counts as one. */
  better_elsewhere: { orders: number; customers: number };
  /**
   * Orders at whose time no redeemable of the draft is in force. Where these are all orders that were decided, the draft gives nothing at all: then `message` names the
   * dates of the draft and of the orders.
   */
  not_in_force: { orders: number; message?: string };
  /** Orders about which facts are missing, in neither number above: the discount that the known facts give, and the first 100 missing facts. */
  provisional: { orders: number; cost: number; missing: string[] };
  /** Orders that cannot be read, also for their `created_at`; the first 100 with line, or position in an array, from 1. */
  unreadable: { orders: number; lines: { line: number; message: string }[] };
}

/**
 * Reads orders from the text of a CSV file, with `,`, `;` or tabs between cells. A file with the column `order_id` has a row for each line of an order: `quantity`,
 * `product_id`, `sku_id` or `source_id` with `related_object`, and `price`. Another has a row for each order, as the service exports orders: `amount`, and maybe
 * `id` and `source_id`. Both may have `created_at`, `status`, `amount`, `initial_amount`, `customer_id`, `customer_source_id` and `metadata` (JSON); other columns are
 * ignored. Amounts are whole numbers of minor units. Orders with a row that cannot be read are `unreadable` in the result, by its line and column. A quote that is not closed fails, with its line.
 * @throws TypeError when the columns cannot be those of orders
 */
export function fromCsv(csv: string): Iterable<object>;

/** Returns a result as CSV with the columns `measure`, `value` and `detail`. */
export function toCsv(result: BackTestResult): string;

/**
 * Tries a draft of a campaign on past orders, in the page: nothing is uploaded. Each order is decided at its own time as it was before discounts, with one of the
 * draft's redeemables at a time, of which the one with the largest discount counts.
 * @throws Error that names the field when rules or draft are bad, and the reason of the signal
 */
export function backTest(options: BackTestOptions): Promise<BackTestResult>;
