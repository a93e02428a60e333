// Measures the board in a real browser, for scripts/measure-board. Each figure is taken in the page
// or from the kernel, and has the driver's own time in it: read upper bounds.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { drive } from "./page.mjs";

const { EL, DIFF, LOG, SERVER } = process.env;

function middle(all) {
  const sorted = [...all].sort((a, b) => a - b);
  const [first, last] = [sorted[0], sorted.at(-1)].map(Math.round);
  return `${Math.round(sorted[sorted.length >> 1])} ms (${first} to ${last})`;
}

/** The kernel's count of a process's own memory, in MB. */
function memory(pid) {
  const sizes = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Math.round(Number(/^Pss:\s+(\d+)/m.exec(sizes)[1]) / 1024);
}

await drive(async ({ page, seen, link, origin, project }) => {
  seen.figures = [];
  const tell = (name, figure) => seen.figures.push([name, figure]);
  const el = (...words) => execFileSync(EL, words, { cwd: project, encoding: "utf8" });
  const root = await page.context().browser().newBrowserCDPSession();
  const tab = await page.context().newCDPSession(page);
  const ofTab = async () => {
    await tab.send("HeapProfiler.enable");
    await tab.send("HeapProfiler.collectGarbage");
    const { processInfo } = await root.send("SystemInfo.getProcessInfo");
    const renderers = processInfo.filter((one) => one.type === "renderer").map((one) => one.id);
    const { metrics } = await tab.send("Performance.getMetrics");
    const heap = metrics.find((one) => one.name === "JSHeapUsedSize").value / 1e6;
    return { memory: Math.max(...renderers.map(memory)), heap };
  };
  await tab.send("Performance.enable");
  await page.goto(link);
  const rows = page.locator(".rows > li");
  await rows.nth(10).waitFor();

  const painted = [];
  for (let n = 0; n < 7; n++) {
    const begun = performance.now();
    await page.goto(`${origin}/`);
    await rows.nth(10).waitFor();
    painted.push(performance.now() - begun);
  }
  tell("from the address to the first rows: Queue", middle(painted));

  const told = [];
  for (let n = 0; n < 12; n++) {
    el("update", DIFF, "--title", `Seen ${n} times`);
    const begun = performance.now();
    await page.getByText(`Seen ${n} times`).first().waitFor();
    told.push(performance.now() - begun);
  }
  tell("the end of a command to its change on the screen", middle(told));

  const before = await ofTab();
  const script = `
import sqlite3, time
db = sqlite3.connect(".eluent/el.db", timeout=30)
for part in range(100):
    now = int(time.time() * 1e6)
    for n in range(100):
        id = f"m-{100 + part * 90 + n:05}"
        db.execute("UPDATE atoms SET updated_at = ?, priority = ? WHERE id = ?", (now, n % 6, id))
        db.execute("INSERT INTO events (at, actor, kind, atom_id) VALUES (?, 'ann', 'updated', ?)",
                   (now, id))
    db.commit()
    time.sleep(0.1)
`;
  execFileSync("python3", ["-c", script], { cwd: project });
  el("update", DIFF, "--title", "After ten thousand events");
  await page.getByText("After ten thousand events").first().waitFor();
  const after = await ofTab();
  tell("memory of the tab", `${before.memory} MB, its heap ${before.heap.toFixed(1)} MB`);
  tell("the same after 10,000 events", `${after.memory} MB, ${after.heap.toFixed(1)} MB`);

  const opened = async (path, shown) => {
    const begun = performance.now();
    await page.goto(`${origin}${path}`);
    await shown.first().waitFor();
    return `${Math.round(performance.now() - begun)} ms`;
  };
  const first = page.locator(".line.added code", { hasText: "line 1 of the file" });
  tell("a diff of 20,000 lines opens", await opened(`/a/${DIFF}/review`, first));
  const scrolled = performance.now();
  const last = page.locator(".line.added code", { hasText: "line 20000 of the file" });
  while (!(await last.count())) {
    await page.evaluate(() => {
      for (const box of [document.scrollingElement, ...document.querySelectorAll("*")]) {
        if (box.scrollHeight > box.clientHeight) box.scrollTop = box.scrollHeight;
      }
    });
    await page.waitForTimeout(20);
  }
  tell("its end is on the screen after", `${Math.round(performance.now() - scrolled)} ms`);
  await page.goto(`${origin}/a/${LOG}`);
  await page.getByText("Transcript").first().waitFor();
  const asked = performance.now();
  await page.keyboard.press("l");
  const log = page.getByRole("log");
  await log.getByText("Part 56000").first().waitFor();
  tell("a transcript of 50 MB shows its end", `${Math.round(performance.now() - asked)} ms`);
  const above = await log.evaluate((box) => box.firstElementChild?.textContent.slice(0, 12));
  await log.evaluate((box) => (box.scrollTop = 0));
  await log.getByText(above).first().waitFor();
  tell("memory of the tab then", `${(await ofTab()).memory} MB`);
  tell("the server", `${memory(SERVER)} MB`);
});
