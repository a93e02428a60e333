// Looks at the plans and at the figures, by keyboard alone.

import { drive } from "./page.mjs";

await drive(async ({ page, seen, link, origin, check, inView, picture, isNarrow }) => {
  await page.goto(link);
  await page.getByRole("heading", { name: "Needs you" }).waitFor();
  await page.keyboard.press("5");
  const plan = page.locator("main li[data-row]");
  await plan.first().waitFor();
  seen.plans = await plan.evaluateAll((all) => all.map((row) => row.innerText));
  await check("plans");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Asked of you" }).waitFor();
  seen.commands = await page.locator("button.command").allInnerTexts();
  seen.phases = await page.getByRole("region", { name: "Phases" }).locator("li").allInnerTexts();
  const layers = page.locator('section[aria-labelledby^="layer-"]');
  await layers.nth(1).waitFor();
  seen.layers = await layers.evaluateAll((all) =>
    all.map((layer) => [...layer.querySelectorAll("[data-atom]")].map((row) => row.innerText)));
  await inView(page.locator("h1"));
  await check("a plan");
  await isNarrow("a plan");
  await page.keyboard.press("Escape");
  await plan.first().waitFor();

  await page.keyboard.press("6");
  const plots = page.locator(".plot");
  await plots.nth(9).waitFor();
  seen.titles = await plots.locator("h2").allInnerTexts();
  await inView(page.locator(".bars").first());
  seen.bars = await page.locator(".bars .bar").evaluateAll((all) =>
    all.filter((bar) => bar.getBoundingClientRect().height > 1).length);
  // Each plot's figures are in a table, also for those who cannot see the bars.
  for (const summary of await page.locator(".plot summary").all()) {
    await summary.focus();
    await page.keyboard.press("Enter");
  }
  seen.tables = await plots.evaluateAll((all) =>
    all.filter((plot) => plot.querySelector("table") || plot.innerText.includes("Nothing")).length);
  seen.figures = await page.locator(".plot table").allInnerTexts();
  await check("time and money");
  await picture("money");
  await page.locator("main select").selectOption("7 days");
  await page.waitForURL(/time=7/);
  await plots.nth(9).waitFor();
  await isNarrow("time and money");
  seen.origin = origin;
});
