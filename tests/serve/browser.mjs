// Drives the board in a real browser, by keyboard alone, against the real el serve and el work:
// files an atom, sees it run, reads its transcript, reviews its diff, remarks on a line, rejects,
// sees the remark in the next attempt's context, approves, and lands.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drive } from "./page.mjs";

let page, seen, link, project, origin, check, inView;
await drive(async (tools) => {
  ({ page, seen, link, project, origin, check, inView } = tools);
  await run();
});

async function run() {
  await page.goto(link);
  await page.getByText("There are no atoms yet").waitFor();
  seen.address = page.url();
  await check("queue, empty");

  // File an atom.
  await page.keyboard.press("+");
  await page.getByLabel("Title").waitFor();
  await page.keyboard.type("Write a greeting <script>alert(1)</script>");
  await page.keyboard.press("Tab");
  await page.keyboard.insertText(readFileSync(join(project, "description.md"), "utf8"));
  await check("the form of a new atom");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("review");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/a\//);
  const id = new URL(page.url()).pathname.slice(3);
  seen.id = id;

  // It runs, and its transcript follows it.
  const log = page.getByRole("log");
  await log.getByText("I begin with the greeting.").waitFor();
  await check("an atom at work");
  writeFileSync(join(project, "../tmp/go"), "");

  // It waits for a review, first of all in the queue.
  await page.keyboard.press("Escape");
  const entry = page.locator(`.rows.needs [data-atom="${id}"]`);
  await entry.getByText("review", { exact: true }).waitFor();
  await inView(entry);
  await check("queue");
  await page.keyboard.press("j");
  await page.keyboard.press("d");
  await page.waitForURL(/\/review$/);
  const line = page.locator(".line.added code", { hasText: "Hallo" });
  await line.waitFor();
  await inView(line);
  await check("review");
  // In two columns, and back.
  await page.keyboard.press("s");
  await inView(page.locator(".pair .line.added code", { hasText: "Hallo" }));
  await check("side by side");
  await page.keyboard.press("s");
  await page.locator(".pair").first().waitFor({ state: "detached" });

  // A remark on the line, held, and sent with the rejection.
  await page.keyboard.press("j");
  await page.keyboard.press("c");
  await page.getByLabel("Remark", { exact: true }).waitFor();
  await page.keyboard.type("Say it in English");
  await check("a remark");
  await page.keyboard.press("Control+Enter");
  await page.getByText("1 remark held").waitFor();
  await page.reload();
  await page.getByText("1 remark held").waitFor();
  await page.keyboard.press("r");
  await page.getByLabel("Reason").waitFor();
  await page.keyboard.type("The language is wrong");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/a/${id}$`));
  await page.getByText("The language is wrong").first().waitFor();

  // The next attempt; then it is approved, and lands.
  const approve = page.getByRole("button", { name: "approve" });
  const second = page.locator("li.attempt", { hasText: "attempt 2" });
  await second.filter({ hasText: "✓ review" }).waitFor();
  await approve.waitFor();
  await page.keyboard.press("a");
  await page.getByRole("heading", { name: "Approve" }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "land" }).waitFor();
  await page.keyboard.press("L");
  await page.getByRole("heading", { name: "Land" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByText("Its branch was landed on main").waitFor();
  await page.getByRole("button", { name: "land" }).waitFor({ state: "detached" });
  await check("an atom that is done");
  seen.landed = true;

  await hostile();
  await others(id);
  await offline();
  await keys();
  await narrow(id);
}

/** Texts of others are shown, and do nothing. */
async function hostile() {
  writeFileSync(join(project, "landed"), "");
  while (!existsSync(join(project, "hostile"))) await page.waitForTimeout(100);
  const id = readFileSync(join(project, "hostile"), "utf8").trim();
  await page.goto(`${origin}/a/${id}`);
  await page.getByText("an image").first().waitFor();
  const inside = page.locator("main");
  seen.hostile = {
    elements: await inside.locator("img, script, iframe, object, form, [onerror]").count(),
    links: await inside.locator(".markdown a").evaluateAll((all) => all.map((one) => one.href)),
    text: await inside.innerText(),
  };
  await check("an atom with hostile texts");
}

/** The other pages: the board with its filters, the runs, the graph. */
async function others(id) {
  await page.keyboard.press("2");
  const card = page.locator(".card", { hasText: "onerror" });
  await card.waitFor();
  await inView(card);
  await check("board");
  await page.keyboard.press("/");
  await page.keyboard.type("no such words");
  await page.getByText("the filter hides all").waitFor();
  seen.filter = new URL(page.url()).search;
  await page.reload();
  await page.getByRole("button", { name: "Clear it" }).press("Enter");
  await card.waitFor();
  await page.keyboard.press("l");
  seen.chosen = await page.evaluate(() =>
    document.activeElement?.closest("[data-atom]")?.dataset.atom);
  await page.keyboard.press("3");
  const bar = page.locator(`[data-atom="${id}"]`, { hasText: "attempt 2" });
  await bar.waitFor();
  await inView(bar);
  await check("runs");
  await page.keyboard.press("4");
  const node = page.locator(".node", { hasText: "Waits for the other" });
  await node.waitFor();
  await inView(node);
  await check("graph");
}

/** A connection that is lost is told, and comes back without a reload. */
async function offline() {
  await page.goto(`${origin}/`);
  await page.getByRole("heading", { name: "Needs you" }).waitFor();
  await page.evaluate(() => (window.isSame = true));
  writeFileSync(join(project, "stop-server"), "");
  await page.getByText("The connection to el serve is lost").waitFor();
  await page.getByText("Filed while it was away").waitFor();
  await page.getByText("The connection to el serve is lost").waitFor({ state: "detached" });
  seen.recovered = await page.evaluate(() => window.isSame === true);
  // The browser itself tells of the calls that could not be made.
  seen.wrong = seen.wrong.filter((text) => !text.includes("ERR_"));
}

async function keys() {
  await page.keyboard.press("?");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  await check("keys");
  seen.keys = await page.locator("dl.keys").innerText();
  await page.keyboard.press("Escape");
}

async function narrow(id) {
  await page.setViewportSize({ width: 360, height: 740 });
  const pages = ["/", "/board", "/runs", "/graph", "/plans", "/money"];
  for (const path of [...pages, `/a/${id}`, `/a/${id}/review`]) {
    await page.goto(origin + path);
    await page.locator("h1, h2").first().waitFor();
    await page.waitForTimeout(300);
    await check(`${path} on a phone`);
    const [wide, room] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
    ]);
    if (wide > room) seen.wrong.push(`${path} is ${wide} wide on a screen of ${room}`);
  }
}
