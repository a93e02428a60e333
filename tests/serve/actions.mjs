// Does every action by keyboard alone.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { drive } from "./page.mjs";

await drive(async ({ page, seen, link, origin, project, check }) => {
  const atoms = JSON.parse(readFileSync(join(project, "atoms.json"), "utf8"));
  await page.goto(link);
  await page.locator("[data-row]").first().waitFor();

  /** A key opens a dialog, and Enter on its last button sends it. */
  async function act(key, title, typed) {
    await page.keyboard.press(key);
    await page.getByRole("heading", { name: title, exact: true }).waitFor();
    await check(`the dialog: ${title}`);
    if (typed) await page.keyboard.type(typed);
    const isOnButton = () => page.evaluate(() => document.activeElement?.matches("button.main"));
    for (let steps = 0; steps < 8 && !(await isOnButton()); steps++) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  async function open(id, word) {
    await page.goto(`${origin}/a/${id}`);
    await page.locator(".facts .word", { hasText: word }).waitFor();
  }
  const focused = () =>
    page.evaluate(() => document.activeElement?.closest("[data-atom]")?.dataset.atom);
  const becomes = (word) => page.locator("main > .facts .word", { hasText: word }).waitFor();

  await open(atoms.open, "open");
  await act("c", "Comment", "By key");
  await page.getByRole("heading", { name: "Comments" }).waitFor();
  await act("p", "Priority", "1");
  await page.getByText("high", { exact: true }).waitFor();
  await act("z", "Put off", "3d");
  await becomes("deferred");
  await act("A", "Answer", "Port 80");
  await becomes("open");
  await open(atoms.reject, "review");
  await act("r", "Reject", "Not yet");
  await becomes("open");
  await open(atoms.approve, "review");
  await act("a", "Approve");
  await becomes("closed");
  await act("R", "Reopen");
  await becomes("open");
  await open(atoms.retry, "blocked");
  await act("R", "Retry");
  await becomes("open");
  await open(atoms.drop, "blocked");
  await act("x", "Won't do", "Not needed");
  await becomes("won't do");
  await open(atoms.running, "running");
  await act("x", "Cancel the run", "Enough");
  await becomes("deferred");

  // From the rows of the queue, and of the board, as well.
  await page.keyboard.press("1");
  await page.getByRole("heading", { name: "Needs you" }).waitFor();
  await page.locator(`.needs [data-atom="${atoms.question}"]`).waitFor();
  await page.keyboard.press("j");
  seen.first = await focused();
  await act("c", "Answer", "Both");
  await page.keyboard.press("2");
  await page.locator(".card").first().waitFor();
  for (let steps = 0; steps < 9 && (await focused()) !== atoms.reject; steps++) {
    await page.keyboard.press("j");
  }
  seen.card = await focused();
  await act("c", "Comment", "From the board");
  seen.done = true;
});
