// What is new to a person: the mark "new", a notice of the desktop, and the palette. By keyboard.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { drive } from "./page.mjs";

await drive(async ({ page, seen, link, origin, project, check, isNarrow }) => {
  // The browser of the test shows no notices: what would be shown is kept.
  await page.addInitScript(() => {
    window.told = [];
    window.Notification = class {
      static permission = "granted";
      static requestPermission = async () => "granted";
      constructor(title, { body, tag }) {
        window.told.push([title, body, tag]);
      }
    };
  });
  await page.goto(link);
  await page.getByText("Nothing needs you").waitFor();
  const choice = page.getByLabel("Notify me when something needs me");
  await choice.focus();
  await page.keyboard.press("Space");
  seen.isChosen = await choice.isChecked();
  await choice.blur();
  const noted = page.waitForResponse((answer) => answer.url().endsWith("/api/looked"));
  await page.keyboard.press("m");
  seen.noted = (await noted).status();

  // The person does something else.
  await page.evaluate(() =>
    Object.defineProperty(document, "visibilityState", { get: () => "hidden" }));
  writeFileSync(join(project, "looked"), "");
  const fresh = page.locator("[data-row]", { has: page.locator(".new") });
  await fresh.first().waitFor();
  seen.fresh = await fresh.evaluateAll((all) => all.map((row) => row.dataset.atom));
  await page.getByText("1 atom new since you looked").waitFor();
  seen.told = await page.evaluate(() => window.told);
  await check("a queue with news");
  await isNarrow("a queue with news");

  // The palette finds pages, actions and atoms.
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox");
  await field.waitFor();
  await page.keyboard.type("ring bell");
  await page.getByRole("option").first().waitFor();
  await check("the palette");
  seen.options = await page.getByRole("option").allInnerTexts();
  await page.keyboard.press("Enter");
  await page.waitForURL(`${origin}/a/${seen.fresh[0]}`);
  await page.keyboard.press(":");
  await field.waitFor();
  await page.keyboard.type("no such thing");
  await page.getByText("Nothing has these letters").waitFor();
  await page.keyboard.press("Escape");
  await field.waitFor({ state: "detached" });
  // The page takes keys again once it was painted without the palette.
  const opens = () => field.waitFor({ timeout: 2_000 }).then(() => true, () => false);
  do {
    await page.keyboard.press("Control+k");
  } while (!(await opens()));
  await field.fill("retry");
  await page.getByRole("option", { name: /retry/i }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Retry" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  // The page takes its own keys again once it was painted without the dialog.
  const isThere = () => fresh.first().waitFor({ timeout: 2_000 }).then(() => true, () => false);
  do {
    await page.keyboard.press("1");
  } while (!(await isThere()));
  await page.keyboard.press("m");
  await fresh.first().waitFor({ state: "detached" });
});
