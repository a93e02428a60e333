// All atoms that are not over, in columns by state, with filters that live in the address.

import { useEffect, useMemo, useState } from "preact/hooks";
import { ask, askForNew, type Verb } from "../actions";
import { age, count, localTime, PRIORITIES, statusSign, visible } from "../format";
import { chosenAtom, moveFocus, useKeys } from "../keys";
import { address, setQuery } from "../router";
import { atoms, isReadOnly, loadAtoms, sent } from "../state";
import type { AtomRow } from "../types";

const COLUMNS = ["review", "blocked", "in_progress", "testing", "open", "deferred"];
/** The cards of a column that are drawn at first, and then each time that more are asked for. */
const SHOWN = 60;
const GROUPS: Record<string, (row: AtomRow) => string> = {
  epic: (row) => row.parent_id ?? "no epic",
  label: (row) => row.labels[0] ?? "no label",
  agent: (row) => row.assignee ?? "nobody",
};

export function BoardPage() {
  const [error, setError] = useState<string | null>(null);
  const query = address.value.query;
  const rows = atoms.value;
  useEffect(() => {
    if (!rows) loadAtoms().catch((failure: unknown) => setError(String(failure)));
  }, [rows === null]);
  const chosen = (verb: Verb) => () => {
    const id = chosenAtom();
    if (id) void ask(verb, id);
  };
  const change = (key: string, value: string) => {
    const next = new URLSearchParams(query);
    if (value === "") next.delete(key);
    else next.set(key, value);
    setQuery(next);
  };
  const column = (by: number) => () => focusColumn(by);
  const changes = isReadOnly.value ? [] : [
    { keys: ["a"], label: "approve", run: chosen("approve") },
    { keys: ["r"], label: "reject", run: chosen("reject") },
    { keys: ["c"], label: "comment", run: chosen("comment") },
    { keys: ["R"], label: "retry", run: chosen("retry") },
    { keys: ["x"], label: "cancel the run", run: chosen("cancel") },
    { keys: ["p"], label: "priority", run: chosen("priority") },
    { keys: ["z"], label: "put off", run: chosen("defer") },
  ];
  useKeys([
    { keys: ["h", "ArrowLeft"], label: "column to the left", run: column(-1) },
    { keys: ["l", "ArrowRight"], label: "column to the right", run: column(1) },
    { keys: ["/"], label: "filter", run: () => document.getElementById("filter")?.focus() },
    ...changes,
  ], [isReadOnly.value]);

  const found = useMemo(() => filtered(rows, query), [rows, query]);
  if (!rows) return <main id="main"><h1>Board</h1>{error && <p role="alert">{error}</p>}</main>;
  const hidden = rows.size - found.length;
  return (
    <main id="main" class="wide">
      <h1 class="unseen">Board</h1>
      <Filters query={query} rows={rows} change={change} />
      {found.length === 0 && rows.size > 0 && (
        <p>
          0 of {rows.size} shown: the filter hides all.{" "}
          <button type="button" onClick={() => setQuery(new URLSearchParams())}>Clear it</button>
        </p>
      )}
      {hidden > 0 && found.length > 0 && (
        <p class="quiet" role="status">{found.length} of {count(rows.size, "atom")} shown</p>
      )}
      <div class="columns" role="region" aria-label="Columns" tabIndex={0}>
        {COLUMNS.map((status) => (
          <Column status={status} key={status} group={query.get("group") ?? ""}
            rows={found.filter((row) => row.status === status)} />
        ))}
      </div>
    </main>
  );
}

function filtered(rows: Map<string, AtomRow> | null, query: URLSearchParams): AtomRow[] {
  const text = (query.get("q") ?? "").toLowerCase();
  const [label, type, epic] = [query.get("label"), query.get("type"), query.get("epic")];
  const agent = query.get("agent");
  const isWanted = (row: AtomRow) =>
    (text === "" || `${row.id} ${row.title}`.toLowerCase().includes(text)) &&
    (!label || row.labels.includes(label)) &&
    (!type || row.issue_type === type) &&
    (!epic || row.parent_id === epic) &&
    (!agent || row.assignee === agent);
  const order = (one: AtomRow, other: AtomRow) =>
    one.priority - other.priority || one.created_at.localeCompare(other.created_at);
  return [...(rows?.values() ?? [])].filter(isWanted).sort(order);
}

interface FiltersOf {
  query: URLSearchParams;
  rows: Map<string, AtomRow>;
  change: (key: string, value: string) => void;
}

function Filters({ query, rows, change }: FiltersOf) {
  const known = useMemo(() => {
    const all = [...rows.values()];
    const sorted = (values: (string | null)[]) =>
      [...new Set(values.filter((value): value is string => value !== null))].sort();
    return {
      label: sorted(all.flatMap((row) => row.labels)),
      type: sorted(all.map((row) => row.issue_type)),
      epic: sorted(all.map((row) => row.parent_id)),
      agent: sorted(all.map((row) => row.assignee)),
    };
  }, [rows]);
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label>
        Filter <kbd>/</kbd>
        <input id="filter" type="search" value={query.get("q") ?? ""}
          onInput={(event) => change("q", event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()} />
      </label>
      {Object.entries(known).map(([key, values]) => (
        <Choice key={key} name={key} values={values} value={query.get(key) ?? ""}
          choose={(value) => change(key, value)} />
      ))}
      <Choice name="group" values={Object.keys(GROUPS)} value={query.get("group") ?? ""}
        choose={(value) => change("group", value)} />
    </form>
  );
}

interface ChoiceOf {
  name: string;
  values: string[];
  value: string;
  choose: (value: string) => void;
}

function Choice({ name, values, value, choose }: ChoiceOf) {
  const all = value !== "" && !values.includes(value) ? [value, ...values] : values;
  if (all.length === 0) return null;
  return (
    <label>
      {name}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{name === "group" ? "none" : "all"}</option>
        {all.map((one) => <option value={one} key={one}>{visible(one)}</option>)}
      </select>
    </label>
  );
}

function Column({ status, rows, group }: { status: string; rows: AtomRow[]; group: string }) {
  const [shown, setShown] = useState(SHOWN);
  const [sign, of] = statusSign(status);
  // People have atoms in progress, too.
  const word = status === "in_progress" ? "in progress" : of;
  const groupOf = GROUPS[group];
  const visibleRows = rows.slice(0, shown);
  const groups = new Map<string, AtomRow[]>();
  for (const row of visibleRows) {
    const name = groupOf?.(row) ?? "";
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return (
    <section class="column" aria-labelledby={`column-${status}`}>
      <h2 id={`column-${status}`}>
        <span class={`word ${status}`}>{sign} {word}</span>{" "}
        <span class="quiet">{rows.length}</span>
        {status === "open" && !isReadOnly.value && (
          <button type="button" class="plain" onClick={askForNew} aria-label="New atom">+</button>
        )}
      </h2>
      {[...groups].map(([name, some]) => (
        <div key={name}>
          {name !== "" && <h3>{visible(name)}</h3>}
          <ul class="rows">{some.map((row) => <Card row={row} key={row.id} />)}</ul>
        </div>
      ))}
      {rows.length > shown && (
        <button type="button" onClick={() => setShown(shown + 5 * SHOWN)}>
          {rows.length - shown} more
        </button>
      )}
    </section>
  );
}

function Card({ row }: { row: AtomRow }) {
  const waits = sent.value.get(row.id);
  return (
    <li class="card" data-row data-atom={row.id}>
      <p class="title"><a href={`/a/${row.id}`}>{visible(row.title)}</a></p>
      <p class="facts left">
        <code>{row.id}</code>
        <span title={PRIORITIES[row.priority]}>p{row.priority}</span>
        {row.issue_type !== "task" && <span>{row.issue_type}</span>}
        {row.labels.map((label) => <span class="label" key={label}>{visible(label)}</span>)}
        {row.assignee && <span>{visible(row.assignee)}</span>}
        <time dateTime={row.updated_at} title={localTime(row.updated_at)}>
          {age(row.updated_at)}
        </time>
      </p>
      {waits && <p class="quiet">{waits}: sent…</p>}
    </li>
  );
}

/** Moves the focus to the first card of the next column that has one. */
function focusColumn(by: number): void {
  const columns = [...document.querySelectorAll<HTMLElement>(".column")];
  const filled = columns.filter((column) => column.querySelector("[data-row]"));
  const at = filled.findIndex((column) => column.contains(document.activeElement));
  const next = filled[at < 0 ? 0 : Math.max(0, Math.min(filled.length - 1, at + by))];
  if (!next) return moveFocus(by);
  next.querySelector<HTMLElement>("[data-row] a")?.focus();
  next.scrollIntoView({ block: "nearest", inline: "nearest" });
}
