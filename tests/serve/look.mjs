// Looks at a project in motion: each page shows what there is, and the pictures of the README are
// taken.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { drive } from "./page.mjs";

await drive(async ({ page, seen, link, project, origin, check, inView, picture, terminal }) => {
  await terminal(readFileSync(join(project, "terminal"), "utf8"));
  await page.goto(link);
  const needs = page.locator(".rows.needs > li");
  await needs.nth(2).waitFor();
  seen.needs = await needs.evaluateAll((all) =>
    all.map((row) => [row.querySelector(".word").textContent, row.dataset.atom]));
  for (let at = 0; at < 3; at++) await inView(needs.nth(at));
  const running = page.locator("section", { hasText: "Running" }).locator("li");
  await running.nth(1).waitFor();
  await inView(running.nth(1));
  await page.locator("section", { hasText: "Waiting" }).locator("li").nth(2).waitFor();
  await picture("queue");
  // The key that a row names does what the row says.
  await page.keyboard.press("j");
  await page.keyboard.press("c");
  await page.getByRole("heading", { name: "Answer" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  seen.focused = await page.evaluate(() =>
    document.activeElement?.closest("[data-atom]")?.dataset.atom);
  const review = seen.needs.find(([kind]) => kind === "review")[1];
  await page.goto(`${origin}/a/${review}/review`);
  const lines = page.locator(".line.added");
  await lines.nth(3).waitFor();
  await inView(lines.nth(3));
  await lines.nth(2).getByRole("button").click();
  await page.keyboard.type("Say how long it takes");
  await page.keyboard.press("Control+Enter");
  await page.getByText("1 remark held").waitFor();
  await picture("review");
  await page.keyboard.press("v");
  await lines.first().waitFor({ state: "detached" });
  seen.folded = true;
  await page.goto(`${origin}/graph`);
  await page.locator(".node").nth(4).waitFor();
  await picture("graph");
  await page.goto(`${origin}/board`);
  await page.locator(".card").nth(5).waitFor();
  await check("a full board");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture("board");
});
