// Gives the CommonJS entry a text encoder and decoder: jsdom, as tests in Jest run in it, has no such globals.
export { TextDecoder, TextEncoder } from "node:util";
