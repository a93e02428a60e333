// The attempts of all atoms on one axis of time, by agent: what overlapped, and what failed why.

import { useEffect, useState } from "preact/hooks";
import { get } from "../api";
import { age, count, dollars, localTime, onHost, span, visible } from "../format";
import { address, setQuery } from "../router";
import { board, clock, touched } from "../state";
import { runKind } from "./atom";

interface Attempt {
  id: string;
  atom_id: string;
  title: string;
  attempt: number;
  agent: string;
  host: string | null;
  started_at: string;
  ended_at: string | null;
  /** Since when the attempt could have begun. */
  queued_at: string;
  outcome: string | null;
  detail: string | null;
  turns: number;
  cost_micros: number;
  estimated_micros: number;
}

const HOURS: Record<string, number> = { "1 hour": 1, "6 hours": 6, "a day": 24, "a week": 168 };

export function RunsPage() {
  const [runs, setRuns] = useState<Attempt[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    get<Attempt[]>("/api/runs", stop.signal).then(setRuns, (failure: unknown) => {
      if (!stop.signal.aborted) setError(String(failure));
    });
    return () => stop.abort();
  }, [touched.value, board.value?.running.items.length]);
  const query = address.value.query;
  const change = (key: string, value: string) => {
    const next = new URLSearchParams(query);
    if (value === "") next.delete(key);
    else next.set(key, value);
    setQuery(next);
  };
  const time = query.get("time") ?? fittingTime(runs ?? []);
  const hours = HOURS[time] ?? 24;
  const from = clock.value - hours * 3_600_000;
  const outcome = query.get("outcome") ?? "";
  const cause = (query.get("cause") ?? "").toLowerCase();
  const cost = Number(query.get("cost") ?? 0) * 1e6;
  const shown = (runs ?? []).filter((run) =>
    (run.ended_at === null || Date.parse(run.ended_at) >= from) &&
    (outcome === "" || (run.outcome ?? "running") === outcome) &&
    (cause === "" || (run.detail ?? "").toLowerCase().includes(cause)) &&
    run.cost_micros >= cost);
  const agents = [...new Set(shown.map((run) => run.agent))].sort();
  const outcomes = [...new Set((runs ?? []).map((run) => run.outcome ?? "running"))].sort();
  const spent = shown.reduce((sum, run) => sum + run.cost_micros, 0);
  const estimated = shown.reduce((sum, run) => sum + run.estimated_micros, 0);
  return (
    <main id="main" class="wide">
      <h1 class="unseen">Runs</h1>
      {error && <p role="alert">{visible(error)}</p>}
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          time
          <select value={time}
            onChange={(event) => change("time", event.currentTarget.value)}>
            {Object.keys(HOURS).map((name) => <option key={name}>{name}</option>)}
          </select>
        </label>
        <label>
          outcome
          <select value={outcome}
            onChange={(event) => change("outcome", event.currentTarget.value)}>
            <option value="">all</option>
            {outcomes.map((name) => <option key={name}>{name}</option>)}
          </select>
        </label>
        <label>
          cause
          <input type="search" value={query.get("cause") ?? ""}
            onInput={(event) => change("cause", event.currentTarget.value)} />
        </label>
        <label>
          at least $
          <input type="number" min="0" step="0.1" value={query.get("cost") ?? ""}
            onInput={(event) => change("cost", event.currentTarget.value)} />
        </label>
      </form>
      {runs?.length === 0 && <p class="quiet">No attempt yet: <code>el work</code></p>}
      {runs && runs.length > 0 && (
        <p class="quiet" role="status">
          {count(shown.length, "attempt")}{spent > 0 && `, ${dollars(spent, estimated)}`}. The thin
          line before a bar is the time in the queue.
        </p>
      )}
      {runs && runs.length > 0 && shown.length === 0 && (
        <p>
          0 of {count(runs.length, "attempt")} shown: none lies within the time and the
          filters.{" "}
          <button type="button" onClick={() => setQuery(new URLSearchParams({ time: "a week" }))}>
            Show the week
          </button>
        </p>
      )}
      {agents.map((agent) => (
        <section key={agent} aria-label={agent}>
          <h2>{visible(agent)}</h2>
          <ul class="rows">
            {shown.filter((run) => run.agent === agent).map((run) => (
              <Bar run={run} from={from} key={run.id} />
            ))}
          </ul>
        </section>
      ))}
    </main>
  );
}

/** The shortest time that shows all attempts of a day. */
function fittingTime(runs: Attempt[]): string {
  const ages = runs.map((run) => (clock.value - Date.parse(run.queued_at)) / 3_600_000);
  const oldest = Math.max(0, ...ages.filter((hours) => hours <= 24));
  const fitting = Object.entries(HOURS).find(([, hours]) => oldest <= hours);
  return ages.some((hours) => hours <= 24) && fitting ? fitting[0] : "a day";
}

function Bar({ run, from }: { run: Attempt; from: number }) {
  const whole = Math.max(1, clock.value - from);
  const at = (time: number) => Math.max(0, Math.min(100, (100 * (time - from)) / whole));
  const began = Date.parse(run.started_at);
  const end = run.ended_at ? Date.parse(run.ended_at) : clock.value;
  const kind = runKind(run);
  const sign = { runs: "◐", failed: "✗", quiet: "✓" }[kind];
  const queued = at(Date.parse(run.queued_at));
  return (
    <li class="row attempt" data-row data-atom={run.atom_id}>
      <div class="told">
        <p class="title">
          <span class={`word ${kind}`}>
            {sign} {run.outcome?.replaceAll("_", " ") ?? "running"}
          </span>
          <a href={`/a/${run.atom_id}`}>{visible(run.title || run.atom_id)}</a>
          <code class="quiet">{run.atom_id}</code>
          <span>attempt {run.attempt}{onHost(run.host)}</span>
          <time dateTime={run.started_at} title={localTime(run.started_at)}>
            {age(run.started_at)} ago, {span(end - began)}
          </time>
          <span class="quiet">queued {span(began - Date.parse(run.queued_at))}</span>
          <span>{dollars(run.cost_micros, run.estimated_micros)}</span>
        </p>
        {run.detail && <p class="why">{visible(run.detail)}</p>}
        <svg class="axis" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
          <rect class="whole" x={queued} y="1.5" height="1"
            width={Math.max(0, at(began) - queued)} />
          <rect class={kind} x={at(began)} y="0" height="4"
            width={Math.max(0.4, at(end) - at(began))} />
        </svg>
      </div>
    </li>
  );
}
