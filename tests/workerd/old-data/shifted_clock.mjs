// Moves the clock of the Worker by a constant, so that old data is as old as it was when its answers were recorded. The module in front
// imports this one first.
import settings from "./settings.json";

const { offset } = settings;
const Native = Date;

globalThis.Date = class Date extends Native {
  constructor(...parts) {
    if (parts.length === 0) super(Native.now() + offset);
    else super(...parts);
  }

  static now() {
    return Native.now() + offset;
  }
};

/** Converts a moment of the Worker to one of the machine. */
export const ofMachine = (moment) => Number(moment) - offset;
