// Decides how amounts are read and shown. Minor units (cents) are whole numbers everywhere else; no fraction is ever computed.
import { CURRENCY } from "./config.js";

const format = new Intl.NumberFormat(undefined, { style: "currency", currency: CURRENCY });
const PRICE = /^(\d{1,9})(?:[.,](\d{1,2}))?$/;

/** `49`, `49.9` or `49,90` as minor units; nothing for what is no price. */
export function readPrice(text) {
  const parts = PRICE.exec(text.trim());
  if (!parts) return undefined;
  return Number(parts[1]) * 100 + Number((parts[2] ?? "").padEnd(2, "0"));
}

/** Minor units as they stand in an input. */
export function writePrice(minor) {
  return `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, "0")}`;
}

/** Minor units for people. */
export function show(minor) {
  return format.format(minor / 100);
}

/** A whole number from 1 to 999; nothing for anything else. */
export function readQuantity(text) {
  return /^[1-9]\d{0,2}$/.test(text.trim()) ? Number(text) : undefined;
}
