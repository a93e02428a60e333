// The orchestrations: where each stands, its phases, its tasks in layers, and what it asks of a
// person.

import { useEffect, useState } from "preact/hooks";
import { get } from "../api";
import { Command } from "../command";
import { HELD, WAITS, age, count, dollars, localTime, span, statusSign, visible } from "../format";
import { useKeys } from "../keys";
import { address, setQuery } from "../router";
import { board, touched } from "../state";

interface Standing {
  state: string;
  says: string;
  commands: string[];
  driven: boolean;
  started_at: string;
  ended_at: string | null;
  spent_micros: number;
  budget_micros: number | null;
}

interface Item extends Standing {
  epic_id: string;
  title: string;
  tasks: number;
  done: number;
  running: number;
}

interface Phase {
  name: string;
  state: string;
  atom_id: string | null;
  answered_by: string | null;
  answered_at: string | null;
  fault: string | null;
  attempts: number;
}

interface Task {
  atom_id: string;
  title: string;
  standing: string;
  layer: number;
  waits_for: string[];
  why: string | null;
  running_since: string | null;
  percent: number | null;
  action: string | null;
  attempts: number;
  detail: string | null;
  cost_micros: number;
  estimated_micros: number;
}

interface Plan extends Standing {
  epic: { id: string; title: string };
  worked_s: number;
  phases: Phase[];
  tasks: Task[];
  dropped: { atom_id: string; title: string | null; reason: string | null }[];
  checks: { round: number; passed: boolean; at: string; output: string }[];
}

/** Loads a path again after each change of the tracker. The old data stays meanwhile. */
function useFresh<T>(path: string | null): { found: T | null; error: string | null } {
  const [found, setFound] = useState<{ path: string; data: T } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const live = board.value?.running.items.map((run) => run.id).join();
  useEffect(() => {
    if (!path) return;
    const stop = new AbortController();
    get<T>(path, stop.signal).then(
      (data) => {
        setFound({ path, data });
        setError(null);
      },
      (failure: unknown) => stop.signal.aborted || setError(String(failure)),
    );
    return () => stop.abort();
  }, [path, touched.value, live]);
  return { found: found?.path === path ? found.data : null, error };
}

export function PlansPage() {
  const id = address.value.query.get("plan");
  return id ? <PlanView id={id} key={id} /> : <List />;
}

function List() {
  const { found, error } = useFresh<Item[]>("/api/plans");
  return (
    <main id="main">
      <h1 class="unseen">Plans</h1>
      {error && <p role="alert">{visible(error)}</p>}
      {found?.length === 0 && (
        <p class="quiet">
          Nothing is orchestrated. <code>el orchestrate "GOAL"</code> has a goal cut into tasks.
        </p>
      )}
      <ul class="rows">
        {found?.map((item) => (
          <li class="row" data-row key={item.epic_id}>
            <span class={`sign ${kindOf(item)}`} aria-hidden="true">{signOf(item)}</span>
            <div class="told">
              <p class="title">
                <span class={`word ${kindOf(item)}`}>{wordOf(item)}</span>
                <a href={`/plans?plan=${item.epic_id}`}>{visible(item.title)}</a>
                <code class="quiet">{item.epic_id}</code>
              </p>
              <p class="why">{visible(item.says)}</p>
            </div>
            <p class="facts">
              <span>{item.done} of {count(item.tasks, "task")}</span>
              {item.running > 0 && <span class="runs">{item.running} run</span>}
              <span>{spent(item)}</span>
              <time dateTime={item.started_at} title={localTime(item.started_at)}>
                {age(item.started_at)}
              </time>
            </p>
          </li>
        ))}
      </ul>
    </main>
  );
}

const ASKS = new Set([
  "incomplete", "planned", "waits_for_person", "stopped", "time_over", "budget_used_up",
]);

/** Returns true if the plan waits for a person. */
function asks(plan: Standing): boolean {
  return !plan.driven && plan.ended_at === null &&
    (ASKS.has(plan.state) || plan.commands.length > 0);
}

function kindOf(plan: Standing): string {
  if (asks(plan)) return "needs";
  return plan.driven ? "runs" : "quiet";
}

function signOf(plan: Standing): string {
  return { needs: "!", runs: "◐", quiet: "✓" }[kindOf(plan)] ?? "";
}

function wordOf(plan: Standing): string {
  return plan.driven ? "runs" : plan.state.replaceAll("_", " ");
}

function spent(plan: Standing): string {
  const amount = dollars(plan.spent_micros);
  return plan.budget_micros ? `${amount || "$0"} of ${dollars(plan.budget_micros)}` : amount;
}

function PlanView({ id }: { id: string }) {
  const { found, error } = useFresh<Plan>(`/api/plans/${encodeURIComponent(id)}`);
  useKeys([
    { keys: ["Escape"], label: "all plans", run: () => setQuery(new URLSearchParams()) },
  ], []);
  if (!found) {
    return (
      <main id="main">
        <h1>{visible(id)}</h1>
        {error && <p role="alert">{visible(error)}</p>}
      </main>
    );
  }
  const done = found.tasks.filter((task) => task.standing === "done").length;
  return (
    <main id="main">
      <p class="crumbs"><a href="/plans">Plans</a> · <code>{found.epic.id}</code></p>
      <h1>{visible(found.epic.title)}</h1>
      <p class="facts left">
        <span class={`word ${kindOf(found)}`}>{signOf(found)} {wordOf(found)}</span>
        <span>{done} of {count(found.tasks.length, "task")}</span>
        <span>{spent(found)}</span>
        <span>{span(found.worked_s * 1000)} driven</span>
        <a href={`/a/${found.epic.id}`}>the epic</a>
        <a href={`/graph?epic=${found.epic.id}`}>its graph</a>
      </p>
      <section aria-labelledby="asked">
        <h2 id="asked">{asks(found) ? "Asked of you" : "Where it stands"}</h2>
        <p>{visible(found.says)}</p>
        <p class="ways">
          {found.commands.map((command) => <Command command={command} key={command} />)}
        </p>
      </section>
      <Phases phases={found.phases} />
      <Layers tasks={found.tasks} />
      <Checks checks={found.checks} />
      {found.dropped.length > 0 && (
        <section aria-labelledby="dropped">
          <h2 id="dropped">Discarded</h2>
          <ul>
            {found.dropped.map((one) => (
              <li key={one.atom_id}>
                {visible(one.title ?? one.atom_id)}
                {one.reason && <span class="quiet"> {visible(one.reason)}</span>}
              </li>
            ))}
          </ul>
        </section>
      )}
    </main>
  );
}

const PHASES: Record<string, string> = {
  waiting: "○", asked: "○", running: "◐", answered: "✓", in_words: "✓", stopped: "!",
  not_needed: "✓",
};

function nameOf(phase: string): string {
  if (phase === "task_list") return "list of tasks";
  if (phase.startsWith("failures-")) return `tasks of check ${Number(phase.slice(9)) + 1}`;
  return phase;
}

function Phases({ phases }: { phases: Phase[] }) {
  return (
    <section aria-labelledby="phases">
      <h2 id="phases">Phases</h2>
      <ol class="rows">
        {phases.map((phase) => {
          const kind = { running: "runs", stopped: "needs" }[phase.state] ?? "quiet";
          return (
            <li class="row" key={phase.name} data-row data-atom={phase.atom_id ?? undefined}>
              <span class={`sign ${kind}`} aria-hidden="true">{PHASES[phase.state] ?? "?"}</span>
              <div class="told">
                <p class="title">
                  {phase.atom_id
                    ? <a href={`/a/${phase.atom_id}`}>{nameOf(phase.name)}</a>
                    : <span>{nameOf(phase.name)}</span>}
                  <span class={`word ${kind}`}>{phase.state.replaceAll("_", " ")}</span>
                </p>
                {phase.fault && <p class="why">{visible(phase.fault)}</p>}
              </div>
              <p class="facts">
                {phase.attempts > 1 && <span>{count(phase.attempts, "attempt")}</span>}
                {phase.answered_at && (
                  <time dateTime={phase.answered_at} title={localTime(phase.answered_at)}>
                    {visible(phase.answered_by ?? "")} {age(phase.answered_at)} ago
                  </time>
                )}
              </p>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

const STANDINGS: Record<string, [string, string]> = {
  done: [statusSign("closed")[0], "quiet"], failed: ["✗", "failed"],
  running: [statusSign("in_progress")[0], "runs"], ready: [statusSign("open")[0], "quiet"],
  waiting: [WAITS, "quiet"], review: [statusSign("review")[0], "needs"], stuck: ["!", "needs"],
  held: [HELD, "quiet"],
};

/** The tasks of a layer wait for tasks of the layers above alone. */
function Layers({ tasks }: { tasks: Task[] }) {
  const layers = [...new Set(tasks.map((task) => task.layer))].sort((a, b) => a - b);
  return (
    <>
      {layers.map((layer, at) => {
        const own = tasks.filter((task) => task.layer === layer);
        const done = own.filter((task) => task.standing === "done").length;
        return (
          <section aria-labelledby={`layer-${layer}`} key={layer}>
            <h2 id={`layer-${layer}`}>
              Layer {at + 1} <span class="quiet">{done} of {own.length} done</span>
            </h2>
            <ul class="rows">{own.map((task) => <TaskLine task={task} key={task.atom_id} />)}</ul>
          </section>
        );
      })}
    </>
  );
}

function TaskLine({ task }: { task: Task }) {
  const [sign, kind] = STANDINGS[task.standing] ?? ["?", "quiet"];
  const reason = task.why ?? (["failed", "stuck"].includes(task.standing) ? task.detail : null);
  return (
    <li class="row" data-row data-atom={task.atom_id}>
      <span class={`sign ${kind}`} aria-hidden="true">{sign}</span>
      <div class="told">
        <p class="title">
          <span class={`word ${kind}`}>{task.standing}</span>
          <a href={`/a/${task.atom_id}`}>{visible(task.title)}</a>
          <code class="quiet">{task.atom_id}</code>
        </p>
        {task.action && (
          <p class="why">
            {visible(task.action)}{task.percent !== null && ` · ${task.percent} %`}
          </p>
        )}
        {reason && <p class="why">{visible(reason)}</p>}
        {task.waits_for.length > 0 && <p class="why">waits for {task.waits_for.join(", ")}</p>}
      </div>
      <p class="facts">
        {task.attempts > 1 && <span>{count(task.attempts, "attempt")}</span>}
        <span>{dollars(task.cost_micros, task.estimated_micros)}</span>
        {task.running_since && <span>{age(task.running_since)}</span>}
      </p>
    </li>
  );
}

function Checks({ checks }: { checks: Plan["checks"] }) {
  if (checks.length === 0) return null;
  return (
    <section aria-labelledby="checks">
      <h2 id="checks">Checks of the whole</h2>
      {checks.map((check) => (
        <details key={check.round}>
          <summary>
            <span class={check.passed ? "sign" : "sign failed"}>
              {check.passed ? "✓" : "✗"}
            </span>{" "}
            {check.passed ? "passed" : "failed"} {age(check.at)} ago
          </summary>
          <pre class="reason">{visible(check.output)}</pre>
        </details>
      ))}
    </section>
  );
}
