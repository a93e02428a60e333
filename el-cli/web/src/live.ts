// The stream of events: one for all tabs of this browser, since a browser opens no more than six
// connections to a server. A lock picks the tab that listens; it tells the others.

import { get } from "./api";
import { applyChange, board, hello, link, loadBoard, trouble } from "./state";
import type { Change, Hello } from "./types";

type Message = { kind: string; data: any };

const channel = new BroadcastChannel("el");
/** After so much silence the page says that it may be old. */
const SILENCE = 20_000;
let heard = Date.now();
let isLoading = false;

export function startStream(): void {
  channel.onmessage = (event: MessageEvent<Message>) => take(event.data);
  void navigator.locks.request("el-stream", () => new Promise<never>(() => listen(1)));
  setInterval(() => {
    if (Date.now() - heard > SILENCE) setLost();
  }, 1_000);
}

function setLost(): void {
  if (link.value.state === "live") link.value = { state: "lost", since: heard };
}

function listen(failures: number): void {
  const source = new EventSource(`/api/events?since=${board.value?.seq ?? 0}`);
  const pass = (kind: string) => (event: MessageEvent<string>) => {
    failures = 0;
    const message = { kind, data: JSON.parse(event.data) };
    channel.postMessage(message);
    take(message);
  };
  for (const kind of ["change", "reset", "trouble", "alive"]) {
    source.addEventListener(kind, pass(kind));
  }
  source.onerror = () => {
    const lost = { kind: "lost", data: {} };
    channel.postMessage(lost);
    take(lost);
    // A browser tries again by itself, unless the server answered with an error.
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => void resume(failures + 1), Math.min(1_000 * failures, 10_000) + 500);
  };
}

/** Asks what is wrong, and listens again when that is over. */
async function resume(failures: number): Promise<void> {
  try {
    const said = await get<Hello>("/api/hello");
    if (!said.signed_in) {
      link.value = { state: "out", since: Date.now() };
      return;
    }
    listen(failures);
  } catch {
    setTimeout(() => void resume(failures + 1), Math.min(1_000 * failures, 10_000));
  }
}

function take(message: Message): void {
  if (message.kind === "lost") return setLost();
  heard = Date.now();
  if (link.value.state === "lost") {
    link.value = { state: "live", since: 0 };
    void checkBuild();
  }
  if (message.kind === "trouble") trouble.value = message.data.message;
  if (message.kind === "reset") void reload();
  if (message.kind === "change" && !applyChange(message.data as Change)) void reload();
}

async function reload(): Promise<void> {
  if (isLoading) return;
  isLoading = true;
  try {
    await loadBoard();
  } catch {
    setLost();
  } finally {
    isLoading = false;
  }
}

/** A page of an older el says so. */
async function checkBuild(): Promise<void> {
  try {
    const said = await get<Hello>("/api/hello");
    if (said.build !== hello.value?.build) link.value = { state: "old", since: Date.now() };
  } catch {
    setLost();
  }
}
