/** The same as `scrip`, with the loading left to you: nothing here knows where the wasm is. */
export * from "./scrip.js";

/** Loads the engine from a URL, a `Response`, bytes or a compiled module. */
export function load(source: string | URL | Response | BufferSource | WebAssembly.Module): Promise<void>;

/** Loads the engine at once, from bytes or a compiled module. */
export function loadSync(source: BufferSource | WebAssembly.Module): void;
