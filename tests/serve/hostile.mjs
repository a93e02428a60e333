// Looks at every page of a project in which every text is hostile: nothing of it becomes an element
// or a link, and nothing hides or reorders what is shown.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { drive } from "./page.mjs";

await drive(async ({ page, seen, link, origin, project, check, isNarrow }) => {
  const { atoms, running, reviewed } =
    JSON.parse(readFileSync(join(project, "hostile.json"), "utf8"));
  await page.goto(link);
  await page.getByRole("heading", { name: "Needs you" }).waitFor();
  seen.pages = [];
  const paths = ["/", "/board", "/runs", "/graph", "/plans", "/money",
    ...atoms.map((id) => `/a/${id}`), `/a/${reviewed}/review`, `/a/${running}/review`];
  for (const path of paths) {
    await page.goto(origin + path);
    await page.locator("main").waitFor();
    await page.waitForLoadState("networkidle").catch(() => undefined);
    await page.waitForTimeout(500);
    const inside = page.locator("main");
    const found = await inside.evaluate((main) => {
      const bad = "img, script, iframe, object, embed, form:not(.filters), base, meta, link," +
        " style, foreignObject, animate, use, image, [onerror], [onload], [onclick]";
      // Our own plots and axes are the only drawings.
      const drawings = [...main.querySelectorAll("svg")].filter((svg) =>
        !svg.closest(".sheet, .plot, .attempt"));
      const links = [...main.querySelectorAll("a")].map((one) => one.href)
        .filter((href) => !href.startsWith(location.origin));
      const hidden =
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/;
      return {
        elements: [...main.querySelectorAll(bad)].map((one) => one.outerHTML.slice(0, 200)),
        drawings: drawings.length,
        links,
        hidden: hidden.exec(main.innerText)?.[0].codePointAt(0) ?? null,
        shows: main.innerText.includes("onerror"),
      };
    });
    seen.pages.push({ path, ...found });
  }
  await page.goto(`${origin}/a/${running}`);
  await page.getByRole("log").getByText("evil.example").first().waitFor();
  await check("a hostile transcript");
  await isNarrow("a hostile transcript");
  await page.goto(`${origin}/`);
  await page.getByRole("heading", { name: "Needs you" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").fill("onerror");
  await page.getByRole("option").first().waitFor();
  seen.palette = await page.locator("dialog img, dialog script").count();
});
