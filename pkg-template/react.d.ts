/** Hooks for React over `open` of `@scrip-edge/page`. They work in client components; on a server they return what is there before anything is fetched. */
import type { AsOf, OpenOptions, Order, OrderRequest, Shop, ShopProblem, ShopState, ValidationRequest, Verdict } from "./scrip.js";

/** State of a shop for a component. */
export interface ShopInUse {
  /** Undefined until it is open. */
  readonly shop: Shop | undefined;
  /** Undefined until the shop is open; `broken` with the `problem` where it cannot be opened. */
  readonly state: ShopState | undefined;
  readonly asOf: AsOf;
  readonly problem: ShopProblem | undefined;
}

/** Opens a shop while the component is mounted. Another `url` or `key` opens another one; of the other options the first ones count, of `customer` the latest. */
export function useShop(options: OpenOptions): ShopInUse;

/** Returns the verdict on a request: at once what is known, then the result of `check`, and again when the rules change. Undefined until it is decided. */
export function useVerdict(shop: Shop | undefined, request: (ValidationRequest & { order: OrderRequest }) | null | undefined): Verdict<Order> | undefined;
export function useVerdict(shop: Shop | undefined, request: ValidationRequest | string | null | undefined): Verdict | undefined;
