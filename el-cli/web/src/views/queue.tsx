// The home page: what needs a person, then what runs, and what is next.

import { Fragment } from "preact";
import { useRef, useState } from "preact/hooks";
import { ask, askForWorkers, type Verb } from "../actions";
import { Command } from "../command";
import {
  HELD, PULL, WAITS, age, count, dollars, localTime, onHost, statusSign, total, visible,
} from "../format";
import { chosenAtom, moveFocus, useKeys } from "../keys";
import { New, Outlook } from "../looked";
import { go } from "../router";
import { board, clock, isReadOnly, sent, titleOf } from "../state";
import type { AtomRow, DoneRow, Need, Part, PullRow, RunRow, WaitRow, Way } from "../types";

/** The keys of an entry that the page can do by itself; the rest are commands to copy. */
const VERBS: Record<string, Verb> = {
  a: "approve", r: "reject", R: "retry", c: "answer", x: "cancel", p: "priority", z: "defer",
  L: "land",
};

/** The atoms shown as done lately; the page of the runs has the rest. */
const DONE = 5;

/** The pages that show what a command would. */
const SHOWN: Record<string, string> = { d: "/review", l: "", w: "" };

export function Queue() {
  const now = board.value;
  // The key of a way does what the row says; elsewhere it does what it usually does.
  const chosen = (verb: Verb, key = "") => () => {
    const id = chosenAtom();
    const need = now?.needs.items.find((one) => one.atom_id === id);
    const way = need?.ways.find((one) => one.key === key);
    if (id) void ask((way && verbOf(way)) ?? verb, id);
  };
  const open = (tail: string) => () => {
    const id = chosenAtom();
    if (id) go(`/a/${id}${tail}`);
  };
  const changes = isReadOnly.value ? [] : [
    { keys: ["a"], label: "approve", run: chosen("approve", "a") },
    { keys: ["r"], label: "reject", run: chosen("reject") },
    { keys: ["c"], label: "comment, or answer a question", run: chosen("comment", "c") },
    { keys: ["A"], label: "answer and reopen", run: chosen("answer") },
    { keys: ["R"], label: "retry", run: chosen("retry", "R") },
    { keys: ["x"], label: "cancel the run, or decide against it", run: chosen("cancel", "x") },
    { keys: ["p"], label: "priority", run: chosen("priority") },
    { keys: ["z"], label: "put off", run: chosen("defer") },
    { keys: ["L"], label: "land", run: chosen("land") },
    { keys: ["s"], label: "start a worker", run: () => askForWorkers("start_worker") },
    { keys: ["S"], label: "stop every worker", run: () => askForWorkers("stop_workers") },
  ];
  useKeys([
    { keys: ["n"], label: "next entry", run: () => moveFocus(1) },
    { keys: ["N"], label: "entry before", run: () => moveFocus(-1) },
    { keys: ["Enter", "w", "l"], label: "open", run: open("") },
    { keys: ["d"], label: "changes", run: open("/review") },
    ...changes,
  ], [isReadOnly.value]);
  if (!now) return null;
  return (
    <main id="main">
      <h1 class="unseen">Queue</h1>
      <Outlook />
      <Needs part={now.needs} />
      <section aria-labelledby="running">
        <h2 id="running">Running <span class="quiet">{total(now.running)}</span></h2>
        {now.running.items.length === 0 && <NothingRuns />}
        <ul class="rows">{now.running.items.map((run) => <RunLine run={run} key={run.id} />)}</ul>
      </section>
      <Ready part={now.ready} />
      <Waiting part={now.waiting} />
      <Held part={now.held} />
      <Pulls part={now.pull_requests} />
      <Done part={now.done} />
    </main>
  );
}

function NothingRuns() {
  const now = board.value;
  if (!now) return null;
  const ready = now.ready.total;
  return (
    <p class="quiet">
      Nothing runs. {now.workers === 0 && ready > 0
        ? <>No worker is there, and {ready} are ready: <code>el work</code>{" "}</>
        : null}
      {now.workers === 0 && ready > 0 && !isReadOnly.value && <StartWorker />}
    </p>
  );
}

function StartWorker() {
  return (
    <button type="button" onClick={() => askForWorkers("start_worker")}>
      start a worker <kbd>s</kbd>
    </button>
  );
}

/**
 * Nothing moves under the hand: while a row has the focus or the pointer, new entries wait behind a
 * button, and those that are settled stay where they are.
 */
function Needs({ part }: { part: Part<Need> }) {
  const list = useRef<HTMLUListElement>(null);
  const kept = useRef<Need[]>([]);
  const [isHovered, setHovered] = useState(false);
  const [, redraw] = useState(0);
  const isHeld = isHovered || list.current?.contains(document.activeElement) === true;
  const byKey = new Map(part.items.map((need) => [need.key, need]));
  if (!isHeld || kept.current.length === 0) kept.current = part.items;
  const shown = kept.current.map((need) => byKey.get(need.key) ?? need);
  kept.current = shown;
  const shownKeys = new Set(shown.map((need) => need.key));
  const fresh = part.items.filter((need) => !shownKeys.has(need.key)).length;
  const show = () => {
    kept.current = part.items;
    redraw((times) => times + 1);
  };
  return (
    <section aria-labelledby="needs">
      <h2 id="needs">
        Needs you <span class="quiet">{total(part)}</span>
        {fresh > 0 && <button type="button" onClick={show}>{fresh} new</button>}
      </h2>
      {shown.length === 0 && <NothingNeeded />}
      <ul class="rows needs" ref={list} onPointerEnter={() => setHovered(true)}
        onPointerLeave={() => setHovered(false)} onFocusOut={() => redraw((times) => times + 1)}>
        {shown.map((need) => (
          <NeedLine need={need} isSettled={!byKey.has(need.key)} key={need.key} />
        ))}
      </ul>
    </section>
  );
}

function NothingNeeded() {
  const now = board.value;
  if (!now) return null;
  const isEmpty = now.ready.total + now.running.total + now.waiting.total + now.held.total +
    now.done.total === 0;
  if (isEmpty) {
    return (
      <p class="quiet">
        There are no atoms yet. File the first one here, or with{" "}
        <code>el create --title "Fix the parser"</code>
      </p>
    );
  }
  return <p class="quiet">Nothing needs you.</p>;
}

function NeedLine({ need, isSettled }: { need: Need; isSettled: boolean }) {
  const waits = need.atom_id ? sent.value.get(need.atom_id) : undefined;
  return (
    <li class={isSettled ? "row settled" : "row"} data-row data-atom={need.atom_id ?? undefined}>
      <span class="sign needs" aria-hidden="true">!</span>
      <div class="told">
        <p class="title">
          <span class="word needs">{need.kind.replaceAll("_", " ")}</span>
          {need.atom_id
            ? <a href={`/a/${need.atom_id}`}>{visible(need.title)}</a>
            : <span>{visible(need.title)}</span>}
          <New id={need.atom_id} />
          {need.atom_id && <code class="quiet">{need.atom_id}</code>}
        </p>
        <p class="why">
          {need.kind === "to_land" && !need.atom_id ? branches(need.why) : visible(need.why)}
        </p>
        {isSettled && <p class="quiet">settled</p>}
        {!isSettled && waits && <p class="quiet">{waits}: sent…</p>}
        {!isSettled && !waits && <Ways need={need} />}
      </div>
      <p class="facts">
        {need.frees > 0 && <span>frees {need.frees}</span>}
        {need.attempts > 1 && <span>{count(need.attempts, "attempt")}</span>}
        <span>{dollars(need.cost_micros, need.estimated_micros)}</span>
        <time dateTime={need.since} title={localTime(need.since)}>{age(need.since)}</time>
      </p>
    </li>
  );
}

/** Each atom by its page, where it can be landed by itself; some with what is in the way. */
function branches(why: string) {
  return why.split(/[,;] /).map((named, at) => {
    const [id = "", obstacle] = named.split(": ");
    return (
      <Fragment key={id}>
        {at > 0 && ", "}
        <a href={`/a/${encodeURIComponent(id)}`}>{visible(id)}</a>
        {obstacle && ` (${visible(obstacle)})`}
      </Fragment>
    );
  });
}

function Ways({ need }: { need: Need }) {
  const { atom_id: id } = need;
  return (
    <p class="ways">
      {need.ways.map((way) => {
        const verb = verbOf(way);
        if (id && verb && !isReadOnly.value) {
          return (
            <button type="button" key={way.key} onClick={() => void ask(verb, id)}>
              {way.label} <kbd>{way.key}</kbd>
            </button>
          );
        }
        if (way.command === "el work --background" && !isReadOnly.value) {
          return <StartWorker key={way.key} />;
        }
        const page = id ? SHOWN[way.key] : undefined;
        if (page !== undefined) {
          return (
            <a class="way" href={`/a/${id}${page}`} key={way.key}>
              {way.label} <kbd>{way.key}</kbd>
            </a>
          );
        }
        return <Command command={way.command} label={way.label} key={way.key} />;
      })}
    </p>
  );
}

/** The verb of a way; `null` if only the command line has it. */
function verbOf(way: Way): Verb | null {
  if (way.key === "c" && way.label === "reopen") return "reopen";
  if (way.key === "x" && way.label !== "cancel") return "wont_do";
  return VERBS[way.key] ?? null;
}

/** An agent that has said nothing for so long looks stuck. */
const SILENT = 600_000;

export function RunLine({ run }: { run: RunRow }) {
  const silence = clock.value - Date.parse(run.active_at ?? run.started_at);
  return (
    <li class="row" data-row data-atom={run.atom_id}>
      <span class="sign runs" aria-hidden="true">◐</span>
      <div class="told">
        <p class="title">
          <span class="word runs">{run.is_ending ? "ending" : "running"}</span>
          <a href={`/a/${run.atom_id}`}>{visible(run.title)}</a>
          <New id={run.atom_id} />
          <code class="quiet">{run.atom_id}</code>
        </p>
        <p class="why">
          {visible(run.agent)}{onHost(run.host)}: {visible(run.action ?? "starting")}
          {run.percent !== null && ` · ${run.percent} %`}
        </p>
      </div>
      <p class="facts">
        {run.attempt > 1 && <span>attempt {run.attempt}</span>}
        <span>{count(run.turns, "turn")}</span>
        <span>{dollars(run.cost_micros, run.estimated_micros)}</span>
        <time dateTime={run.started_at} title={localTime(run.started_at)}>
          {age(run.started_at)}
        </time>
        <span class={silence > SILENT ? "needs" : "quiet"}>
          heard {age(run.active_at ?? run.started_at)} ago
        </span>
      </p>
    </li>
  );
}

export function AtomLine({ row, more, sign }: { row: AtomRow; more?: string; sign?: string }) {
  const isHeld = row.status === "in_progress" && !row.run_id;
  const [own, word] = isHeld ? [HELD, "begun"] : statusSign(row.status);
  const waits = sent.value.get(row.id);
  return (
    <li class="row" data-row data-atom={row.id}>
      <span class={isHeld ? "sign" : `sign ${row.status}`} aria-hidden="true">{sign ?? own}</span>
      <div class="told">
        <p class="title">
          <span class={isHeld ? "word" : `word ${row.status}`}>{word}</span>
          <a href={`/a/${row.id}`}>{visible(row.title)}</a>
          <New id={row.id} />
          <code class="quiet">{row.id}</code>
        </p>
        {more && <p class="why">{visible(more)}</p>}
        {waits && <p class="quiet">{waits}: sent…</p>}
      </div>
      <p class="facts">
        <span>p{row.priority}</span>
        {row.labels.map((label) => <span class="label" key={label}>{visible(label)}</span>)}
        {row.assignee && <span>{visible(row.assignee)}</span>}
        <time dateTime={row.updated_at} title={localTime(row.updated_at)}>
          {age(row.updated_at)}
        </time>
      </p>
    </li>
  );
}

function Ready({ part }: { part: Part<AtomRow> }) {
  return (
    <section aria-labelledby="ready">
      <h2 id="ready">Ready <span class="quiet">{total(part)}</span></h2>
      <ul class="rows">{part.items.map((row) => <AtomLine row={row} key={row.id} />)}</ul>
      {part.truncated && <p class="quiet">The first {part.items.length} are shown.</p>}
    </section>
  );
}

function Waiting({ part }: { part: Part<WaitRow> }) {
  if (part.items.length === 0) return null;
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">Waiting <span class="quiet">{total(part)}</span></h2>
      <ul class="rows">
        {part.items.map((row) => (
          <AtomLine row={row} more={holdWords(row)} sign={WAITS} key={row.id} />
        ))}
      </ul>
      {part.truncated && <p class="quiet">The first {part.items.length} are shown.</p>}
    </section>
  );
}

/** The atoms that people have begun or put off. No agent takes them. */
function Held({ part }: { part: Part<AtomRow> }) {
  if (part.items.length === 0) return null;
  return (
    <section aria-labelledby="held">
      <h2 id="held">Held by people <span class="quiet">{total(part)}</span></h2>
      <ul class="rows">{part.items.map((row) => <AtomLine row={row} key={row.id} />)}</ul>
    </section>
  );
}

function Pulls({ part }: { part: Part<PullRow> }) {
  if (part.items.length === 0) return null;
  return (
    <section aria-labelledby="pulls">
      <h2 id="pulls">Pull requests <span class="quiet">{total(part)}</span></h2>
      <ul class="rows">
        {part.items.map((row) => (
          <AtomLine row={row} more={pullWords(row)} sign={PULL} key={row.id} />
        ))}
      </ul>
    </section>
  );
}

/** The results of the work, newest first. */
function Done({ part }: { part: Part<DoneRow> }) {
  if (part.items.length === 0) return null;
  return (
    <section aria-labelledby="done">
      <h2 id="done">Done lately</h2>
      <ul class="rows">
        {part.items.slice(0, DONE).map((row) => (
          <AtomLine row={row} more={row.close_reason ?? undefined} key={row.id} />
        ))}
      </ul>
    </section>
  );
}

/** Names for states of a pull request whose own word says too little. */
const PULL_STATES: Record<string, string> = {
  pushing: "its push was begun",
  opening: "is being opened",
  queued: "in the merge queue",
  unqueued: "thrown out of the merge queue",
};

function pullWords({ pull_request: one }: PullRow): string {
  const number = one.number === null ? "" : `#${one.number} `;
  const word = one.state === "open" ? one.detail ?? "open" : one.state;
  const state = PULL_STATES[word] ?? word.replace("draft_", "draft, ").replaceAll("_", " ");
  const lost = one.failures > 0 ? ", not found there" : "";
  const held = one.held ? `, not pushed: ${one.held.why}` : "";
  return `${number}${state}${lost}${held}${one.url ? ` · ${one.url}` : ""}`;
}

function holdWords(row: WaitRow): string {
  const words = row.holds.map((hold) =>
    hold.by ?? hold.of ?? hold.parent ?? hold.epic ??
      (hold.needs ? `a worker that offers ${hold.needs.join(",")}` : null) ??
      (hold.until ? `until ${localTime(hold.until)}` : ""));
  const inWords = (id: string) => {
    const title = titleOf(id);
    return title ? `“${title}”` : id;
  };
  const named = [...new Set(words)].filter((word) => word !== "").map(inWords);
  if (named.length === 0) return "";
  const more = named.length - 2;
  return `waits for ${named.slice(0, 2).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
