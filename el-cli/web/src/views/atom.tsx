// All about one atom: its texts, what holds it, its attempts, and the talk about it.

import { useEffect, useState } from "preact/hooks";
import { ask, type Verb } from "../actions";
import { CallError, get } from "../api";
import { age, dollars, localTime, onHost, PRIORITIES, span, statusSign, visible } from "../format";
import { useKeys } from "../keys";
import { Markdown } from "../markdown";
import { go } from "../router";
import { board, clock, isOver, isReadOnly, sent, touched } from "../state";
import type { AtomView, Bond, Run } from "../types";
import { Transcript } from "./transcript";

export function useAtom(id: string): { atom: AtomView | null; error: string | null } {
  const [atom, setAtom] = useState<AtomView | null>(null);
  const [error, setError] = useState<string | null>(null);
  const isLive = board.value?.running.items.some((run) => run.atom_id === id);
  const { ids, all } = touched.value;
  const isTouched = all || ids.has(id);
  useEffect(() => {
    if (atom && !isTouched) return;
    const stop = new AbortController();
    get<AtomView>(`/api/atoms/${id}`, stop.signal).then(
      (found) => {
        setAtom(found);
        setError(null);
      },
      (failure: unknown) => {
        if (stop.signal.aborted) return;
        // The page keeps its contents; the notice above tells of a lost connection.
        if (!(failure instanceof CallError) || failure.status !== 0) setError(String(failure));
      },
    );
    return () => stop.abort();
  }, [id, touched.value, isLive]);
  return { atom, error };
}

export function AtomPage({ id }: { id: string }) {
  const { atom, error } = useAtom(id);
  useKeys(keysOf(id, atom), [id, atom, isReadOnly.value]);
  if (!atom) {
    return (
      <main id="main">
        <h1>{visible(id)}</h1>
        {error && <p role="alert">{visible(error)}</p>}
      </main>
    );
  }
  const [sign, word] = statusSign(atom.status);
  const waits = sent.value.get(atom.id);
  return (
    <main id="main" data-atom={atom.id}>
      <p class="crumbs">
        <a href="/">Queue</a>
        {atom.parent_id && <> · <a href={`/a/${atom.parent_id}`}>{atom.parent_id}</a></>}
        {" "}· <code>{atom.id}</code>
      </p>
      <h1>{visible(atom.title)}</h1>
      <p class="facts left">
        <span class={`word ${atom.status}`}>{sign} {word}</span>
        <span>{atom.issue_type}</span>
        <span>{PRIORITIES[atom.priority]}</span>
        {atom.labels.map((label) => <span class="label" key={label}>{visible(label)}</span>)}
        {atom.assignee && <span>{visible(atom.assignee)}</span>}
        <time dateTime={atom.created_at} title={localTime(atom.created_at)}>
          filed {age(atom.created_at)} ago by {visible(atom.created_by)}
        </time>
      </p>
      <Actions atom={atom} />
      {waits && <p class="quiet">{waits}: sent…</p>}
      {atom.landed && (
        <p>
          ✓ Its branch was landed on {visible(atom.landed.onto)}{" "}
          <time dateTime={atom.landed.at} title={localTime(atom.landed.at)}>
            {age(atom.landed.at)} ago
          </time>
        </p>
      )}
      {atom.why.trim() !== "" && <p class="reason">{visible(atom.why.trim())}</p>}
      <Text title="Description" text={atom.description} />
      <Text title="Acceptance" text={atom.acceptance} />
      <Bonds atom={atom} />
      <Attempts atom={atom} />
      <Talk atom={atom} />
    </main>
  );
}

function waysOf(atom: AtomView): [string, string, Verb][] {
  const ways: [string, string, Verb][] = [];
  if (atom.status === "review") ways.push(["a", "approve", "approve"], ["r", "reject", "reject"]);
  if (atom.run_id) ways.push(["x", "cancel the run", "cancel"]);
  if (["deferred", "blocked"].includes(atom.status)) {
    ways.push(["A", "answer and reopen", "answer"], ["R", "retry", "retry"]);
    ways.push(["x", "won't do", "wont_do"]);
  }
  if (isOver(atom.status)) ways.push(["R", "reopen", "reopen"]);
  const canLand = atom.status === "closed" && atom.runs.length > 0 && !atom.landed;
  if (canLand) ways.push(["L", "land", "land"]);
  ways.push(["c", "comment", "comment"], ["p", "priority", "priority"]);
  if (!isOver(atom.status) && !atom.run_id) ways.push(["z", "put off", "defer"]);
  return ways;
}

function keysOf(id: string, atom: AtomView | null) {
  const back = [
    { keys: ["Escape"], label: "back to the queue", run: () => go("/") },
    { keys: ["d"], label: "changes", run: () => go(`/a/${id}/review`) },
  ];
  if (!atom || isReadOnly.value) return back;
  const ways = waysOf(atom).map(([key, label, verb]) => ({
    keys: [key],
    label,
    run: () => void ask(verb, id),
  }));
  return [...back, ...ways];
}

function Actions({ atom }: { atom: AtomView }) {
  const ways = isReadOnly.value ? [] : waysOf(atom);
  return (
    <p class="ways">
      {atom.runs.length > 0 && (
        <a class="way" href={`/a/${atom.id}/review`}>changes <kbd>d</kbd></a>
      )}
      {ways.map(([key, label, verb]) => (
        <button type="button" key={verb} onClick={() => void ask(verb, atom.id)}>
          {label} <kbd>{key}</kbd>
        </button>
      ))}
    </p>
  );
}

function Text({ title, text }: { title: string; text: string | null }) {
  if (!text || text.trim() === "") return null;
  return (
    <section>
      <h2>{title}</h2>
      <Markdown text={text} />
    </section>
  );
}

function Bonds({ atom }: { atom: AtomView }) {
  const { incoming, outgoing } = atom.dependencies;
  if (incoming.length + outgoing.length === 0) return null;
  const line = (bond: Bond, other: string, isIncoming: boolean) => {
    const found = atom.neighbours.find((one) => one.id === other);
    const [sign, word] = statusSign(found?.status ?? "");
    const kind = bond.dependency_type.replaceAll("_", " ");
    return (
      <li class="row" key={`${bond.dependency_type} ${other}`} data-row data-atom={other}>
        <span class={`sign ${found?.status}`} aria-hidden="true">{sign}</span>
        <p class="title">
          <span class="quiet">{isIncoming ? `${kind} this` : `this ${kind}`}</span>
          <a href={`/a/${other}`}>{visible(found?.title ?? other)}</a>
          <span class="quiet">{word}</span>
        </p>
      </li>
    );
  };
  return (
    <section>
      <h2>Linked to</h2>
      <ul class="rows">
        {incoming.map((bond) => line(bond, bond.source_id, true))}
        {outgoing.map((bond) => line(bond, bond.target_id, false))}
      </ul>
    </section>
  );
}

/** The attempts beside each other, on one axis of time. */
function Attempts({ atom }: { atom: AtomView }) {
  if (atom.runs.length === 0) return null;
  const ends = atom.runs.map((run) => (run.ended_at ? Date.parse(run.ended_at) : clock.value));
  const first = Math.min(...atom.runs.map((run) => Date.parse(run.started_at)));
  const whole = Math.max(1, Math.max(...ends) - first);
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      <ul class="rows">
        {atom.runs.map((run, at) => {
          const began = Date.parse(run.started_at);
          const took = (ends[at] ?? began) - began;
          const left = (100 * (began - first)) / whole;
          return (
            <li class="row attempt" key={run.id} data-row>
              <div class="told">
                <Attempt run={run} took={took} />
                <Log run={run} isLast={at === atom.runs.length - 1} />
                {atom.runs.length > 1 && (
                  <svg class="axis" viewBox="0 0 100 4" preserveAspectRatio="none"
                    aria-hidden="true">
                    <rect class="whole" x="0" y="1.5" width="100" height="1" />
                    <rect class={runKind(run)} x={left} y="0" height="4"
                      width={Math.max(0.6, (100 * took) / whole)} />
                  </svg>
                )}
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The transcript of an attempt: of the last one at once, while it lives. */
function Log({ run, isLast }: { run: Run; isLast: boolean }) {
  const [isOpen, setOpen] = useState(isLast && !run.outcome);
  const toggle = () => setOpen(!isOpen);
  useKeys(isLast ? [{ keys: ["l"], label: "transcript", run: toggle }] : [], [isOpen, isLast]);
  return (
    <>
      <button type="button" class="plain" aria-expanded={isOpen} onClick={toggle}>
        {isOpen ? "▾" : "▸"} Transcript
      </button>
      {isOpen && <Transcript run={run.id} isLive={!run.outcome} />}
    </>
  );
}

const FAILED = new Set([
  "failed", "violation", "timed_out", "stalled", "lost", "launch_failed", "blocked",
]);

/** How an attempt went: one of the three hues. */
export function runKind(run: { outcome: string | null }): "runs" | "failed" | "quiet" {
  if (!run.outcome) return "runs";
  return FAILED.has(run.outcome) ? "failed" : "quiet";
}

function hostOf({ supervisor }: Run): string | null {
  const [host, boot] = supervisor?.boot.split("|") ?? [];
  return boot && host ? host : null;
}

function Attempt({ run, took }: { run: Run; took: number }) {
  const sign = { runs: "◐", failed: "✗", quiet: "✓" }[runKind(run)];
  const word = run.outcome?.replaceAll("_", " ") ?? "running";
  return (
    <>
      <p class="title">
        <span class={`word ${runKind(run)}`}>{sign} {word}</span>
        <span>attempt {run.attempt}</span>
        <span>{visible(run.agent)}{onHost(hostOf(run))}</span>
        <code class="quiet">{run.id}</code>
        <time dateTime={run.started_at} title={localTime(run.started_at)}>
          {age(run.started_at)} ago, {span(took)}
        </time>
        <span>{dollars(run.cost_micros, run.estimated_micros)}</span>
        {run.verify && <span>check {run.verify.status}</span>}
      </p>
      {run.action && !run.outcome && <p class="why">{visible(run.action)}</p>}
      {run.detail && <p class="why">{visible(run.detail)}</p>}
    </>
  );
}

function Talk({ atom }: { atom: AtomView }) {
  if (atom.comments.length === 0) return null;
  return (
    <section aria-labelledby="talk">
      <h2 id="talk">Comments</h2>
      {atom.comments.map((comment) => (
        <article class="comment" key={comment.id}>
          <p class="quiet">
            <strong>{visible(comment.author)}</strong>{" "}
            <time dateTime={comment.created_at} title={localTime(comment.created_at)}>
              {age(comment.created_at)} ago
            </time>
          </p>
          <Markdown text={comment.content} />
        </article>
      ))}
    </section>
  );
}
