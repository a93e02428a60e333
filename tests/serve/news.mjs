// News for a person: the mark "new", a notice of the desktop, and the palette. By keyboard.

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
  seen.signs = await Promise.all(["ready", "waiting"].map((part) =>
    page.locator(`section[aria-labelledby=${part}] .sign`).allInnerTexts()));
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
  await page.keyboard.press("Control+k");
  await field.waitFor();
  await page.keyboard.type("retry");
  await page.getByRole("option", { name: /retry/i }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Retry" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("1");
  await fresh.first().waitFor();
  const before = await page.evaluate(async () => {
    const answer = await fetch("/api/snapshot");
    return (await answer.json()).data;
  });
  await page.keyboard.press("m");
  await fresh.first().waitFor({ state: "detached" });
  // A board that was read before does not bring the mark back.
  const { seq } = before;
  const board = { ...before, spent_today_micros: 1_230_000 };
  const late = { kind: "change", data: { seq, since: seq, atoms: [], gone: [], board } };
  // The next board is on its way: the page is looked at as soon as it shows the late one.
  seen.afterLate = await page.evaluate((told) => new Promise((resolve) => {
    new MutationObserver(() => {
      if (!document.body.innerText.includes("$1.23 today")) return;
      resolve(document.querySelectorAll(".new").length);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
    new BroadcastChannel("el").postMessage(told);
  }), late);

  // A choice of the palette is about the row that had the focus, and no key waits for the server.
  const focused = () =>
    page.evaluate(() => document.activeElement.closest("[data-atom]")?.dataset.atom);
  await page.route("**/api/atoms/*", async (route) => {
    await new Promise((goOn) => setTimeout(goOn, 1_000));
    await route.continue();
  });
  await page.keyboard.press("j");
  const row = await focused();
  await page.keyboard.press(":");
  await page.keyboard.type("put off");
  await page.keyboard.press("Enter");
  await page.keyboard.type("tomorrow");
  seen.typed = await page.getByLabel("Until").inputValue();
  await page.getByRole("dialog").getByText(row).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("k");
  seen.isBack = row !== undefined && (await focused()) === row;
});
