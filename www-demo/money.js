// Reads and formats amounts. Minor units (cents) are whole numbers everywhere else; no fraction is ever computed.
import { CURRENCY } from "./config.js";

const format = new Intl.NumberFormat(undefined, { style: "currency", currency: CURRENCY });
const PRICE = /^(\d{1,9})(?:[.,](\d{1,2}))?$/;

/** Reads `49`, `49.9` or `49,90` as minor units; returns undefined for other texts. */
export function readPrice(text) {
  const parts = PRICE.exec(text.trim());
  if (!parts) return undefined;
  return Number(parts[1]) * 100 + Number((parts[2] ?? "").padEnd(2, "0"));
}

/** Formats minor units for an input. */
export function writePrice(minor) {
  return `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, "0")}`;
}

/** Formats minor units with the currency. */
export function show(minor) {
  return format.format(minor / 100);
}

/** Reads a whole number from 1 to 999; returns undefined for other texts. */
export function readQuantity(text) {
  return /^[1-9]\d{0,2}$/.test(text.trim()) ? Number(text) : undefined;
}
