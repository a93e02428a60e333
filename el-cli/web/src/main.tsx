// The start of the page: signs in by the link's code, loads the board, and listens.

import { render } from "preact";
import { CallError, get, post } from "./api";
import { App, SignedOut } from "./app";
import { startKeys } from "./keys";
import { startStream } from "./live";
import { startLooking } from "./looked";
import { startNotices } from "./notify";
import { startPalette } from "./palette";
import { startRouter } from "./router";
import { hello, link, loadBoard, tick } from "./state";
import type { Hello } from "./types";

const root = document.getElementById("app") as HTMLElement;

async function signIn(): Promise<string | null> {
  const code = /^#code=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (!code) return null;
  // The code leaves the address before anything else: it is not to be kept or copied.
  history.replaceState(null, "", location.pathname + location.search);
  try {
    await post("/api/sign-in", { code });
    return null;
  } catch (error) {
    return error instanceof CallError ? error.message : String(error);
  }
}

async function start(): Promise<void> {
  const refusal = await signIn();
  const said = await get<Hello>("/api/hello");
  if (!said.signed_in) {
    render(<SignedOut why={refusal} />, root);
    return;
  }
  hello.value = said;
  await loadBoard();
  startRouter();
  startKeys();
  startPalette();
  render(<App />, root);
  startStream();
  startLooking();
  startNotices();
  setInterval(tick, 1_000);
  addEventListener("focus", tick);
}

start().catch((error: unknown) => {
  link.value = { state: "lost", since: Date.now() };
  render(<SignedOut why={error instanceof Error ? error.message : String(error)} />, root);
});
