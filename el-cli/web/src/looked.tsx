// "Since you looked": what others changed is marked until this person leaves the page, or says so.
// The mark is the person's own, and the terminal has the same.

import { CallError, post } from "./api";
import { count, span } from "./format";
import { useKeys } from "./keys";
import { board, clock, fresh, markSeen } from "./state";

/** Who looks for less has not seen the page. */
const LOOK = 3_000;
let shownAt = Date.now();

export function startLooking(): void {
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") shownAt = Date.now();
    else if (Date.now() - shownAt > LOOK) void noteLook();
  });
}

/** All that is on the board now is seen. */
export async function noteLook(): Promise<void> {
  const now = board.value;
  if (!now || (now.looked === now.seq && fresh.value.size === 0)) return;
  try {
    await post("/api/looked", { seq: now.seq }, true);
    markSeen(now);
  } catch (error) {
    // Then it stays new.
    if (!(error instanceof CallError)) throw error;
  }
}

export function New({ id }: { id: string | null }) {
  return id && fresh.value.has(id) ? <strong class="new">new</strong> : null;
}

/** How long a person may go, and what is new. */
export function Outlook() {
  const now = board.value;
  useKeys([{ keys: ["m"], label: "all is seen", run: () => void noteLook() }], []);
  if (!now) return null;
  const { needed_at: at, needed_for: why, runs_out: out } = now.forecast;
  const news = fresh.value.size;
  if (!at && !out && news === 0) return null;
  return (
    <p class="outlook">
      {at && <span>You may go for about {until(at)}: {why}.</span>}
      {out && <span>In {until(out.at)}: {out.says}.</span>}
      {news > 0 && (
        <span>
          {count(news, "atom")} new since you looked{" "}
          <button type="button" onClick={() => void noteLook()}>Seen <kbd>m</kbd></button>
        </span>
      )}
    </p>
  );
}

/** The time until a moment, in one unit; it moves on with the page's clock. */
function until(time: string): string {
  return span(Date.parse(time) - clock.value);
}
