// A page of a real browser for the tests of the board: what goes wrong in it is kept, and what it
// shows is looked at.
//
//   node TEST.mjs PACKAGES BROWSER LINK PROJECT PICTURES
//
// Prints one line of JSON: what was seen.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pageOf } from "./terminal.mjs";

const [packages, executablePath, link, project, pictures] = process.argv.slice(2);
const SOON = 40_000;

/** Opens a browser, does what the test says, and prints what was seen. */
export async function drive(run) {
  const require = createRequire(join(packages, "package.json"));
  const { chromium } = require("playwright-core");
  const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
  const seen = { wrong: [], barriers: [], outside: [] };
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
  const page = await context.newPage();
  page.setDefaultTimeout(SOON);
  const origin = new URL(link).origin;
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) seen.wrong.push(message.text());
  });
  page.on("pageerror", (error) => seen.wrong.push(String(error)));
  page.on("dialog", (dialog) => {
    seen.wrong.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(origin)) seen.outside.push(request.url());
  });

  /** Looks for barriers, in light and dark. */
  async function check(where) {
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(axe);
      const found = await page.evaluate(() =>
        window.axe.run(document, {
          runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
        }),
      );
      for (const one of found.violations) {
        const places = one.nodes.slice(0, 3).map((node) => `${node.target} ${node.failureSummary}`);
        seen.barriers.push(`${where}, ${colorScheme}: ${one.id}: ${places.join("; ")}`);
      }
    }
    await page.emulateMedia({ colorScheme: "light" });
  }

  async function inView(locator) {
    const box = await locator.first().boundingBox();
    const { width, height } = page.viewportSize();
    const isIn = box && box.width > 0 && box.height > 0 && box.x >= 0 && box.y >= 0 &&
      box.x < width && box.y < height;
    if (!isIn) seen.wrong.push(`not to be seen: ${locator} at ${JSON.stringify(box)}`);
  }

  async function picture(name) {
    if (pictures) await page.screenshot({ path: join(pictures, `board-${name}.png`) });
  }

  /** A picture of what a terminal shows. */
  async function terminal(captured) {
    if (!pictures) return;
    const screen = await context.newPage();
    await screen.setContent(pageOf(captured));
    await screen.locator("pre").screenshot({ path: join(pictures, "board-terminal.png") });
    await screen.close();
  }

  /** Looks at the page as on a phone: nothing is wider than the screen. */
  async function isNarrow(where) {
    const before = page.viewportSize();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.waitForTimeout(200);
    await check(`${where} on a phone`);
    const [wide, room] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
    ]);
    if (wide > room) seen.wrong.push(`${where} is ${wide} wide on a screen of ${room}`);
    await page.setViewportSize(before);
  }

  const tools = {
    page, seen, link, project, origin, check, inView, picture, terminal, isNarrow,
  };
  try {
    await run(tools);
  } catch (error) {
    seen.failed = String(error?.stack ?? error);
    seen.page = await page.locator("body").innerText().catch(() => "");
  }
  await browser.close();
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}
