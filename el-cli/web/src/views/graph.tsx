// The live graph of dependencies in layers, and the longest chain.

import { Fragment } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "../api";
import { count, statusSign, visible } from "../format";
import { useKeys } from "../keys";
import { layOut, type Layout } from "../layers";
import { address, setQuery } from "../router";
import { atoms, board, loadAtoms, titleOf, touched } from "../state";
import type { AtomRow, Bond } from "../types";

/** More atoms than these are folded: one node for each epic. */
const DETAILED = 300;
const NODE = { width: 200, height: 58, across: 260, down: 72 };

export function GraphPage() {
  const [bonds, setBonds] = useState<Bond[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const failed = (failure: unknown) => stop.signal.aborted || setError(String(failure));
    get<Bond[]>("/api/bonds", stop.signal).then(setBonds, failed);
    if (!atoms.value) loadAtoms().catch(failed);
    return () => stop.abort();
  }, [touched.value]);
  const focus = address.value.query.get("focus");
  const epic = address.value.query.get("epic");
  const rows = atoms.value;
  const shown = useMemo(
    () => (bonds && rows ? chosen(bonds, rows, focus, epic) : null),
    [bonds, rows, focus, epic],
  );
  const layout = useMemo(() => layOut(shown?.bonds ?? []), [shown]);
  const clear = () => setQuery(new URLSearchParams());
  useKeys([
    { keys: ["Escape"], label: "the whole graph", run: clear },
    { keys: ["g"], label: "around the chosen atom", run: focusOnChosen },
  ], []);
  return (
    <main id="main" class="wide">
      <h1 class="unseen">Graph</h1>
      {error && <p role="alert">{visible(error)}</p>}
      {(focus || epic) && (
        <p>
          {focus ? <>Around <code>{focus}</code></> : <>Below <code>{epic}</code></>}{" "}
          <button type="button" onClick={clear}>The whole graph <kbd>Esc</kbd></button>
        </p>
      )}
      {shown && layout.nodes.size === 0 && (
        <p class="quiet">No atom waits for another. <code>el dep add A B</code> binds two.</p>
      )}
      {shown?.isFolded && (
        <p class="quiet">
          {count(shown.size, "atom")} are folded by epic; open one for its own graph.
        </p>
      )}
      {rows && layout.nodes.size > 0 && (
        <>
          <Longest layout={layout} rows={rows} />
          <Drawing layout={layout} rows={rows} isFolded={shown?.isFolded ?? false} />
        </>
      )}
    </main>
  );
}

function focusOnChosen(): void {
  const id = document.activeElement?.closest<HTMLElement>("[data-atom]")?.dataset.atom;
  if (id) setQuery(new URLSearchParams({ focus: id }));
}

interface Chosen {
  bonds: Bond[];
  isFolded: boolean;
  size: number;
}

function chosen(
  bonds: Bond[], rows: Map<string, AtomRow>, focus: string | null, epic: string | null,
): Chosen {
  let some = bonds.filter((bond) => rows.has(bond.source_id) && rows.has(bond.target_id));
  if (epic) {
    const isIn = (id: string) => rows.get(id)?.parent_id === epic;
    some = some.filter((bond) => isIn(bond.source_id) || isIn(bond.target_id));
  }
  if (focus) some = around(some, focus);
  const size = new Set(some.flatMap((bond) => [bond.source_id, bond.target_id])).size;
  if (size <= DETAILED) return { bonds: some, isFolded: false, size };
  const fold = (id: string) => rows.get(id)?.parent_id ?? id;
  const folded = new Map<string, Bond>();
  for (const bond of some) {
    const [source, target] = [fold(bond.source_id), fold(bond.target_id)];
    if (source !== target) {
      folded.set(`${source} ${target}`, { ...bond, source_id: source, target_id: target });
    }
  }
  return { bonds: [...folded.values()], isFolded: true, size };
}

/** All that comes before the atom, and all that comes after. */
function around(bonds: Bond[], focus: string): Bond[] {
  const reach = (from: (bond: Bond) => string, to: (bond: Bond) => string) => {
    const next = new Map<string, string[]>();
    for (const bond of bonds) next.set(from(bond), [...(next.get(from(bond)) ?? []), to(bond)]);
    const found = new Set([focus]);
    for (const id of found) for (const other of next.get(id) ?? []) found.add(other);
    return found;
  };
  const after = reach((bond) => bond.source_id, (bond) => bond.target_id);
  const before = reach((bond) => bond.target_id, (bond) => bond.source_id);
  return bonds.filter(({ source_id: source, target_id: target }) =>
    (after.has(source) && after.has(target)) || (before.has(source) && before.has(target)));
}

/** The chain that decides when all is done, and what on it waits for a person. */
function Longest({ layout, rows }: { layout: Layout; rows: Map<string, AtomRow> }) {
  const first = layout.longest[0];
  const row = first ? rows.get(first) : undefined;
  if (!row) return null;
  const needs = new Set(board.value?.needs.items.map((need) => need.atom_id));
  const waits = layout.longest.filter((id) => needs.has(id));
  const [, word] = statusSign(row.status);
  return (
    <p>
      The longest chain has {count(layout.longest.length, "atom")}. It begins with{" "}
      <a href={`/a/${row.id}`}>{visible(row.title)}</a> ({word}).{" "}
      {waits.length > 0 && (
        <span class="needs">
          You are waited for:{" "}
          {waits.map((id, at) => (
            <Fragment key={id}>
              {at > 0 && ", "}
              <a href={`/a/${id}`}>{visible(titleOf(id) ?? id)}</a>
            </Fragment>
          ))}
        </span>
      )}
    </p>
  );
}

interface DrawingOf {
  layout: Layout;
  rows: Map<string, AtomRow>;
  isFolded: boolean;
}

function Drawing({ layout, rows, isFolded }: DrawingOf) {
  const width = layout.layers * NODE.across;
  const height = layout.rows * NODE.down;
  const chain = new Set(layout.longest);
  const place = (id: string) => {
    const node = layout.nodes.get(id);
    return { x: (node?.layer ?? 0) * NODE.across, y: (node?.at ?? 0) * NODE.down };
  };
  return (
    <div class="graph" role="region" aria-label="Graph" tabIndex={0}>
      <div class="sheet" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">
          {layout.edges.map(([source, target]) => {
            const [from, to] = [place(source), place(target)];
            const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2];
            const [x2, y2] = [to.x, to.y + NODE.height / 2];
            const bend = (x1 + x2) / 2;
            return (
              <path key={`${source} ${target}`}
                class={chain.has(source) && chain.has(target) ? "longest" : ""}
                d={`M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`} />
            );
          })}
        </svg>
        {[...layout.nodes.values()].map((node) => {
          const row = rows.get(node.id);
          const [sign, word] = statusSign(row?.status ?? "");
          const { x, y } = place(node.id);
          const to = isFolded && row?.issue_type === "epic"
            ? `/graph?epic=${node.id}` : `/a/${node.id}`;
          const style = { left: `${x}px`, top: `${y}px`, width: `${NODE.width}px`,
            height: `${NODE.height}px` };
          return (
            <a href={to} key={node.id} data-row data-atom={node.id} style={style}
              class={chain.has(node.id) ? "node longest" : "node"}>
              <span class={`word ${row?.status}`}>{sign} {word}</span> <code>{node.id}</code>
              <span class="name">{visible(row?.title ?? node.id)}</span>
            </a>
          );
        })}
      </div>
    </div>
  );
}
