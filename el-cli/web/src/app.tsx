// The frame of all pages.

import { useState } from "preact/hooks";
import { Dialog, askForNew, refused } from "./actions";
import { age, dollars, localTime, total } from "./format";
import { bindings, moveFocus, useKeys, type Key } from "./keys";
import { Modal } from "./modal";
import { NoticeChoice } from "./notify";
import { Palette, openPalette } from "./palette";
import { address, go } from "./router";
import { board, hello, isReadOnly, link, trouble } from "./state";
import { AtomPage } from "./views/atom";
import { BoardPage } from "./views/board";
import { GraphPage } from "./views/graph";
import { MoneyPage } from "./views/money";
import { PlansPage } from "./views/plans";
import { Queue } from "./views/queue";
import { ReviewPage } from "./views/review";
import { RunsPage } from "./views/runs";

const PAGES = [
  { path: "/", name: "Queue", page: Queue },
  { path: "/board", name: "Board", page: BoardPage },
  { path: "/runs", name: "Runs", page: RunsPage },
  { path: "/graph", name: "Graph", page: GraphPage },
  { path: "/plans", name: "Plans", page: PlansPage },
  { path: "/money", name: "Time and money", page: MoneyPage },
];

export function App() {
  const [isHelp, setHelp] = useState(false);
  const path = address.value.path;
  const pages: Key[] = PAGES.map((page, at) => ({
    keys: [String(at + 1)],
    label: page.name,
    run: () => go(page.path),
  }));
  useKeys([
    ...pages,
    { keys: ["j", "ArrowDown"], label: "down", run: () => moveFocus(1) },
    { keys: ["k", "ArrowUp"], label: "up", run: () => moveFocus(-1) },
    { keys: [":"], label: "go to, or do (Ctrl+K)", run: openPalette },
    { keys: ["?"], label: "keys", run: () => setHelp(true) },
    ...(isReadOnly.value ? [] : [{ keys: ["+"], label: "new atom", run: askForNew }]),
  ], [isReadOnly.value]);
  return (
    <>
      <a class="skip" href="#main" target="_self">To the content</a>
      <Head path={path} />
      <Notices />
      <Page path={path} />
      <footer>
        <button type="button" class="plain" onClick={() => setHelp(true)}>? keys</button>
        <button type="button" class="plain" onClick={openPalette}>: go to, or do</button>
        <NoticeChoice />
        <span class="quiet">You act as {hello.value?.actor}</span>
        {isReadOnly.value && <span class="quiet">only to look at</span>}
      </footer>
      <Dialog />
      <Palette pages={PAGES} />
      {isHelp && <Help close={() => setHelp(false)} />}
    </>
  );
}

function Page({ path }: { path: string }) {
  const atom = /^\/a\/([^/]+)$/.exec(path);
  if (atom) return <AtomPage id={atom[1] ?? ""} key={atom[1]} />;
  const review = /^\/a\/([^/]+)\/review$/.exec(path);
  if (review) return <ReviewPage id={review[1] ?? ""} key={review[1]} />;
  const found = PAGES.find((page) => page.path === path);
  if (found) return <found.page />;
  return (
    <main id="main">
      <h1>There is nothing at this address</h1>
      <p><a href="/">The queue</a></p>
    </main>
  );
}

function Head({ path }: { path: string }) {
  const now = board.value;
  if (!now) return null;
  const cap = now.budget_today_micros;
  return (
    <header>
      <strong class="project">{hello.value?.project}</strong>
      <nav aria-label="Pages">
        {PAGES.map((page) => (
          <a href={page.path} key={page.path}
            aria-current={page.path === path ? "page" : undefined}>
            {page.name}
          </a>
        ))}
      </nav>
      <p class="counts">
        <span class="needs">{total(now.needs)} need you</span>
        <span class="runs">{total(now.running)} run</span>
        <span>{total(now.ready)} ready</span>
        <span>{total(now.waiting)} wait</span>
        {now.held.total > 0 && <span>{total(now.held)} held</span>}
        {now.spent_today_micros > 0 && (
          <span>
            {dollars(now.spent_today_micros, now.estimated_today_micros)}
            {cap ? ` of ${dollars(cap)}` : ""} today
          </span>
        )}
      </p>
      {!isReadOnly.value && <button type="button" onClick={askForNew}>New atom</button>}
    </header>
  );
}

/** The notices about the page as a whole. */
function Notices() {
  const state = link.value;
  return (
    <div class="notices" role="status">
      {state.state === "lost" && (
        <p class="notice" title={localTime(new Date(state.since).toISOString())}>
          The connection to el serve is lost; this is the state of{" "}
          {age(new Date(state.since).toISOString(), Date.now())} ago. It is tried again.
        </p>
      )}
      {state.state === "out" && (
        <p class="notice">
          This browser is signed out. Press Enter where el serve runs, and open the new link.
        </p>
      )}
      {state.state === "old" && (
        <p class="notice">
          el was changed. <button type="button" onClick={() => location.reload()}>Load anew</button>
        </p>
      )}
      {trouble.value && <p class="notice">The tracker cannot be read: {trouble.value}</p>}
      {refused.value && (
        <p class="notice">
          {refused.value}{" "}
          <button type="button" onClick={() => (refused.value = null)}>Dismiss</button>
        </p>
      )}
    </div>
  );
}

const NAMES: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc" };

function Help({ close }: { close: () => void }) {
  return (
    <Modal close={close} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {bindings.value.map((key) => (
          <div key={key.keys.join()}>
            <dt>{key.keys.map((name) => <kbd key={name}>{NAMES[name] ?? name}</kbd>)}</dt>
            <dd>{key.label}</dd>
          </div>
        ))}
      </dl>
      <p class="buttons"><button type="button" onClick={close} autoFocus>Back</button></p>
    </Modal>
  );
}

export function SignedOut({ why }: { why: string | null }) {
  return (
    <main id="main" class="signed-out">
      <h1>The board of el</h1>
      {why && <p role="alert">{why}</p>}
      <p>
        This browser is not signed in. Open the link that <code>el serve</code> prints; Enter there
        prints a new one.
      </p>
    </main>
  );
}
