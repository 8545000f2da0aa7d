// Tests that a browser shows the images of a code by their addresses. A public code reader must read the code from the rendered
// image.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import zxing from "@zxing/library";
import { boot, caller } from "../workerd/harness.mjs";
import { launch, missing } from "./chromium.mjs";
import { countTests } from "./test_report.mjs";

const { BinaryBitmap, Code128Reader, DecodeHintType, HybridBinarizer, QRCodeReader, RGBLuminanceSource } = zxing;
const HINTS = new Map([[DecodeHintType.TRY_HARDER, true], [DecodeHintType.CHARACTER_SET, "UTF-8"]]);
const CODES = ["SUMMER-10", "a", "lower CASE ~ 0123456789 {[|]}", "x".repeat(80), "Käse-ß-漢字", "y".repeat(1000)];
const PRINTED = /^[ -~]{1,80}$/;
const why = missing();
const check = countTests("browser");
let service;
let browser;

before(async () => {
  if (why) return;
  service = await boot();
  browser = await launch({ viewport: { width: 1280, height: 900 } });
}, { timeout: 300_000 });

after(async () => {
  await browser?.close();
  await service?.stop();
});

/** Returns the rendered pixels of an image, as luminance. */
async function screenshot(page, url) {
  const { width, height, light } = await page.evaluate(async (address) => {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = new OffscreenCanvas(image.naturalWidth + 80, image.naturalHeight + 80);
    const paper = canvas.getContext("2d");
    paper.fillStyle = "white";
    paper.fillRect(0, 0, canvas.width, canvas.height);
    paper.drawImage(image, 40, 40);
    const { data } = paper.getImageData(0, 0, canvas.width, canvas.height);
    return { width: canvas.width, height: canvas.height, light: Array.from({ length: data.length / 4 }, (_, place) => data[4 * place]) };
  }, url);
  return new RGBLuminanceSource(Uint8ClampedArray.from(light), width, height);
}

function read(source, Reader) {
  return new Reader().decode(new BinaryBitmap(new HybridBinarizer(source)), HINTS).getText();
}

check("a code reader reads the code from the images", async () => {
  const page = await browser.context.newPage();
  await page.goto(`${service.url}/health`);
  const call = caller(service.url);
  for (const code of CODES) {
    const { status, body } = await call("POST", "/v1/vouchers", { code, discount: { type: "AMOUNT", amount_off: 100 } });
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(body.assets.qr.url.startsWith(`${service.url}/v1/assets/qr/`), body.assets.qr.url);
    assert.equal(read(await screenshot(page, body.assets.qr.url), QRCodeReader), code);
    if (!PRINTED.test(code)) {
      assert.equal(body.assets.barcode, null, code);
      continue;
    }
    assert.equal(read(await screenshot(page, body.assets.barcode.url), Code128Reader), code);
  }
}, why);
