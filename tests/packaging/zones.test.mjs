// Tests that the package has the world's time zones by name as the native engine has them. It gives the same local time before and after
// every change of their clocks. `zones.json` is written by the native engine (tests/it/properties/time_zones.rs).
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { before } from "node:test";
import { build } from "../../pkg-template/build.mjs";
import { countTests } from "../browser/test_report.mjs";

const check = countTests("packaging");
const pkg = new URL("../../pkg/", import.meta.url);
const zones = JSON.parse(readFileSync(new URL("zones.json", import.meta.url), "utf8"));

let scrip;
before(async () => {
  if (!existsSync(new URL("scrip.wasm", pkg))) await build();
  scrip = await import(new URL("node.js", pkg));
  await scrip.load();
}, { timeout: 600_000 });

/** Returns the local time as week day and `HH:mm`. */
function wall(ms, offset) {
  const local = new Date(ms + offset * 1000);
  return { day: local.getUTCDay(), clock: local.toISOString().slice(11, 16) };
}

/** Returns a voucher that is valid in one minute of the week. */
const voucher = (code, { day, clock }) => ({
  id: code, code, type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 1 },
  validity_hours: { daily: [{ start_time: clock, expiration_time: clock, days_of_week: [day] }] },
});

for (const [name, { offset, transitions }] of Object.entries(zones)) {
  check(`${name} from 2000 to 2037`, () => {
    let before = offset;
    const instants = [[Date.parse("2000-01-01T00:00:00Z"), offset], [Date.parse("2037-12-31T23:59:59Z"), transitions.at(-1)?.[1] ?? offset]];
    for (const [at, after] of transitions) {
      instants.push([Date.parse(at) - 1, before], [Date.parse(at), after]);
      before = after;
    }
    const vouchers = instants.map(([ms, offset], place) => voucher(`V${place}`, wall(ms, offset)));
    const rules = scrip.prepare({ complete: true, time_zone: name, vouchers });
    instants.forEach(([now], place) => {
      const valid = (now) => JSON.parse(rules.validate(
        JSON.stringify({ redeemables: [{ object: "voucher", id: `V${place}` }], order: { amount: 1000 } }), { now, seed: "01" },
      )).valid;
      assert.equal(valid(now), true, `${new Date(now).toISOString()} is ${JSON.stringify(vouchers[place].validity_hours)}`);
      // A minute of the week is another minute a day later, also across a clock change.
      assert.equal(valid(now + 86_400_000), false);
    });
    rules.free();
  });
}

check("an unknown name is refused, with the value", () => {
  for (const name of ["Europe/Atlantis", "Mars", "", "EST5EDT"]) {
    assert.throws(() => scrip.prepare({ time_zone: name }), (error) => {
      assert.equal(error.message, `rules.time_zone: must be \`UTC\` or the IANA name of a time zone that this runtime knows, such as \`Europe/Warsaw\` (actual value is \`"${name}"\`)`);
      return true;
    });
  }
});

check("a runtime without zones is reported, and rules with transitions need none", () => {
  const { Intl } = globalThis;
  try {
    globalThis.Intl = undefined;
    assert.throws(() => scrip.prepare({ time_zone: "Europe/Warsaw" }), /\.time_zone: must be .* that this runtime knows/);
    scrip.prepare({ time_zone: { name: "Europe/Warsaw", offset: 3600, transitions: [] } }).free();
    scrip.prepare({ time_zone: "UTC" }).free();
  } finally {
    globalThis.Intl = Intl;
  }
});
