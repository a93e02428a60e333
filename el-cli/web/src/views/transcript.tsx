// The live transcript of an agent: the end first, and earlier parts on demand.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { get } from "../api";
import { visible } from "../format";

interface Entry {
  at: number;
  kind: "text" | "tool" | "result" | "error" | "note" | "end" | "line";
  text: string;
  tool: string | null;
  call: string | null;
  is_nested: boolean;
}

interface Page {
  from: number;
  to: number;
  is_live: boolean;
  entries: Entry[];
}

/** Between two looks at a run that lives. */
const LOOK = 700;
/** The entries that are kept; older ones are loaded again on demand. */
const KEPT = 1_500;

interface State {
  from: number;
  to: number;
  isLive: boolean;
  entries: Entry[];
}

export function Transcript({ run, isLive }: { run: string; isLive: boolean }) {
  const [state, setState] = useState<State | null>(null);
  const [error, setError] = useState<string | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const path = `/api/runs/${run}/transcript`;

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    let known: State | null = null;
    const look = async () => {
      let wait = LOOK;
      try {
        const page: Page = await get<Page>(known ? `${path}?from=${known.to}` : path);
        if (isOver) return;
        known = joined(known, page);
        setState(known);
        setError(null);
        const isBehind = page.entries.length > 0 && known.to < page.to;
        if (isBehind) wait = 0;
        // One more look brings the rest of a run that just ended.
        if (!page.is_live && page.to === page.from) return;
      } catch (failure) {
        setError(failure instanceof Error ? failure.message : String(failure));
        wait = 3_000;
      }
      if (!isOver) timer = setTimeout(() => void look(), wait);
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [run, isLive]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element && follows.current) element.scrollTop = element.scrollHeight;
  }, [state]);

  const scrolled = () => {
    const element = box.current;
    if (!element) return;
    follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
  };
  const loadBefore = async () => {
    if (!state) return;
    const page = await get<Page>(`${path}?before=${state.from}`);
    follows.current = false;
    const entries = [...page.entries, ...state.entries];
    setState({ ...state, from: page.from, entries });
  };

  if (error && !state) return <p role="alert">{visible(error)}</p>;
  if (!state) return null;
  return (
    <div class="transcript" ref={box} onScroll={scrolled} tabIndex={0} role="log"
      aria-label="Transcript" aria-live="off">
      {state.from > 0 && (
        <button type="button" onClick={() => void loadBefore()}>What was before</button>
      )}
      {state.entries.length === 0 && <p class="quiet">Nothing yet.</p>}
      {grouped(state.entries).map((group) => <Group group={group} key={group.key} />)}
    </div>
  );
}

function joined(known: State | null, page: Page): State {
  const entries = [...(known?.entries ?? []), ...page.entries];
  const isLong = entries.length > KEPT;
  const kept = isLong ? entries.slice(-KEPT) : entries;
  const from = isLong ? (kept[0]?.at ?? page.from) : (known?.from ?? page.from);
  return { from, to: page.to, isLive: page.is_live, entries: kept };
}

interface Group {
  key: string;
  entry: Entry;
  result: Entry | null;
}

/** Each call of a tool with its result. */
function grouped(entries: Entry[]): Group[] {
  const groups: Group[] = [];
  const calls = new Map<string, Group>();
  entries.forEach((entry, at) => {
    const open = entry.call ? calls.get(entry.call) : undefined;
    if (open && entry.kind !== "tool") {
      open.result = entry;
      return;
    }
    const group = { key: `${entry.at}-${at}`, entry, result: null };
    if (entry.kind === "tool" && entry.call) calls.set(entry.call, group);
    groups.push(group);
  });
  return groups;
}

const SIGNS: Partial<Record<Entry["kind"], string>> = {
  tool: "▶", result: "✓", error: "✗", note: "●", end: "✓",
};

function Group({ group }: { group: Group }) {
  const { entry, result } = group;
  const nested = entry.is_nested ? " nested" : "";
  const text = visible(entry.text);
  if (entry.kind !== "tool") {
    const sign = SIGNS[entry.kind];
    return <p class={`entry ${entry.kind}${nested}`}>{sign && `${sign} `}{text}</p>;
  }
  const failed = result?.kind === "error";
  const sign = result ? (failed ? "✗" : "✓") : "…";
  return (
    <details class={`entry tool${nested}`}>
      <summary>
        <span class={failed ? "sign failed" : "sign"}>{sign}</span>{" "}
        <strong>{visible(entry.tool ?? "")}</strong> {text}
      </summary>
      <pre>{result ? visible(result.text) : "no result yet"}</pre>
    </details>
  );
}
