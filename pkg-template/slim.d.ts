/** Exports of `@scrip-edge/page`, for callers that load the wasm themselves. */
export * from "./scrip.js";

/** Loads the engine from a URL, a `Response`, bytes or a compiled module. */
export function load(source: string | URL | Response | BufferSource | WebAssembly.Module): Promise<void>;

/** Loads the engine at once, from bytes or a compiled module. */
export function loadSync(source: BufferSource | WebAssembly.Module): void;
