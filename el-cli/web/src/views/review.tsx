// The changes of an atom's branch, to be read, remarked on, and approved or rejected.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask } from "../actions";
import { CallError, get } from "../api";
import { parsePatch, type FileDiff, type Line } from "../diff";
import {
  HEIGHTS, linesOf, noteOf, rowsOf, widthOf, type Place, type Placed,
} from "../diff_rows";
import { count, visible } from "../format";
import { useKeys } from "../keys";
import {
  isSplit, keepViewed, notes, openNotes, setNotes, setSplit, viewedFiles, type Note,
} from "../notes";
import { go } from "../router";
import { isReadOnly } from "../state";
import { topsOf, useWindow } from "../windowed";
import { useAtom } from "./atom";

interface Changes {
  branch: string;
  base: string;
  tip: string;
  patch: string;
  untracked: string[];
  uncommitted: string[];
  is_cut: boolean;
}

export function ReviewPage({ id }: { id: string }) {
  const { atom, error } = useAtom(id);
  const [changes, setChanges] = useState<Changes | null>(null);
  const [failure, setFailure] = useState<CallError | null>(null);
  useEffect(() => openNotes(id), [id]);
  // A new attempt has another diff.
  const attempt = atom && `${atom.runs.length} ${atom.runs.at(-1)?.outcome ?? ""}`;
  useEffect(() => {
    if (attempt === null) return;
    get<Changes>(`/api/atoms/${id}/diff`).then(setChanges, setFailure);
  }, [id, attempt]);
  const files = useMemo(() => parsePatch(changes?.patch ?? ""), [changes]);
  const report = atom?.reviews.at(-1)?.report?.summary;
  return (
    <main id="main" class="wide" data-atom={id}>
      <p class="crumbs">
        <a href="/">Queue</a> · <a href={`/a/${id}`}><code>{id}</code></a>
      </p>
      <h1>Review: {visible(atom?.title ?? id)}</h1>
      {error && <p role="alert">{visible(error)}</p>}
      {report && <p>{visible(report)}</p>}
      {failure && <p role="alert">{visible(failure.message)}</p>}
      {changes && <Summary changes={changes} files={files} />}
      {changes && <Diff id={id} files={files} mayApprove={atom?.status === "review"} />}
    </main>
  );
}

function Summary({ changes, files }: { changes: Changes; files: FileDiff[] }) {
  const sum = (of: (file: FileDiff) => number) => files.reduce((all, file) => all + of(file), 0);
  return (
    <>
      <p class="quiet">
        <code>{changes.branch}</code> against <code>{changes.base.slice(0, 12)}</code>:{" "}
        {count(files.length, "file")}, +{sum((file) => file.added)} −
        {sum((file) => file.removed)}
        {changes.uncommitted.length > 0 && `, ${changes.uncommitted.length} not committed`}
      </p>
      {changes.untracked.length > 0 && (
        <p>New, and not added to git: {changes.untracked.map(visible).join(", ")}</p>
      )}
      {changes.is_cut && <p role="alert">The diff is longer than this page shows.</p>}
    </>
  );
}

function Diff({ id, files, mayApprove }: { id: string; files: FileDiff[]; mayApprove: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const [viewed, setViewed] = useState(() => viewedFiles(id));
  const [place, setPlace] = useState<Place | null>(null);
  const [cursor, setCursor] = useState<{ file: string; at: number } | null>(null);
  const isViewed = (file: FileDiff) => viewed[file.name] === file.hash;
  const rows = useMemo(
    () => files.flatMap((file) => rowsOf(file, {
      isViewed: isViewed(file), isSplit: isSplit.value, held: notes.value, place,
    })),
    [files, viewed, notes.value, place, isSplit.value],
  );
  const width = useMemo(() => `${widthOf(files)}ch`, [files]);
  const tops = useMemo(() => topsOf(rows.map((row) => row.height)), [rows]);
  const span = useWindow(tops, box);

  const toggle = (file: FileDiff) => {
    const next = { ...viewed };
    if (isViewed(file)) delete next[file.name];
    else next[file.name] = file.hash;
    setViewed(next);
    keepViewed(id, next);
  };
  const remark = (file: string, at: number, isRange: boolean) => {
    if (isReadOnly.value) return;
    setCursor({ file, at });
    const from = isRange && place?.file === file ? Math.min(place.from, at) : at;
    const to = isRange && place?.file === file ? Math.max(place.to, at) : at;
    setPlace({ file, from, to });
  };
  const hold = (text: string) => {
    const file = files.find((one) => one.name === place?.file);
    if (place && file) setNotes([...notes.value, noteOf(file, place, text)]);
    setPlace(null);
  };
  const move = (by: number) => {
    const lines = linesOf(rows);
    const now = lines.findIndex((row) => row.file.name === cursor?.file && row.at === cursor.at);
    const next = lines[Math.max(0, Math.min(lines.length - 1, now < 0 ? 0 : now + by))];
    if (!next) return;
    setCursor({ file: next.file.name, at: next.at });
    const top = (tops[rows.indexOf(next.row)] ?? 0) + (box.current?.offsetTop ?? 0);
    if (top < scrollY + 80 || top > scrollY + innerHeight - 80) {
      scrollTo(0, top - innerHeight / 2);
    }
  };
  const current = files.find((file) => file.name === cursor?.file) ?? files[0];
  const flip = () => setSplit(!isSplit.value);
  const decide = (verb: "approve" | "reject") => () => {
    const more = verb === "reject" && notes.value.length > 0 ? { notes: notes.value } : undefined;
    void ask(verb, id, more, () => {
      setNotes([]);
      go(`/a/${id}`);
    });
  };
  const ways = mayApprove && !isReadOnly.value ? [
    { keys: ["a"], label: "approve", run: decide("approve") },
    { keys: ["r"], label: "reject, with what you remarked", run: decide("reject") },
  ] : [];
  useKeys([
    { keys: ["Escape"], label: "back to the atom", run: () => go(`/a/${id}`) },
    { keys: ["j", "ArrowDown"], label: "next line", run: () => move(1) },
    { keys: ["k", "ArrowUp"], label: "line before", run: () => move(-1) },
    { keys: ["c"], label: "remark on the line", run: () =>
      cursor && remark(cursor.file, cursor.at, false) },
    { keys: ["C"], label: "extend the remark to the line", run: () =>
      cursor && remark(cursor.file, cursor.at, true) },
    { keys: ["v"], label: "viewed", run: () => current && toggle(current) },
    { keys: ["s"], label: "side by side, or in one column", run: flip },
    ...ways,
  ], [rows, cursor, place, viewed, mayApprove, notes.value]);

  return (
    <>
      <p class="ways sticky">
        {mayApprove && !isReadOnly.value && (
          <>
            <button type="button" onClick={decide("approve")}>approve <kbd>a</kbd></button>
            <button type="button" onClick={decide("reject")}>reject <kbd>r</kbd></button>
          </>
        )}
        <button type="button" aria-pressed={isSplit.value} onClick={flip}>
          side by side <kbd>s</kbd>
        </button>
        <span class="quiet" role="status">
          {notes.value.length > 0 && `${count(notes.value.length, "remark")} held`}
        </span>
      </p>
      <div class="diff" ref={box} role="region" aria-label="Changes" tabIndex={0}>
        <div style={{ height: `${span.above}px` }} />
        {rows.slice(span.first, span.last).map((row) => {
          if (row.is === "file") {
            return (
              <FileHead key={`f ${row.file.name}`} file={row.file} isViewed={isViewed(row.file)}
                toggle={() => toggle(row.file)} />
            );
          }
          if (row.is === "note") {
            const drop = () => setNotes(notes.value.filter((_, at) => at !== row.at));
            return <HeldNote key={`n ${row.at}`} note={row.note} drop={drop} />;
          }
          if (row.is === "editor") {
            return <Editor key="editor" hold={hold} drop={() => setPlace(null)} />;
          }
          const cell = ({ line, at }: Placed, side: "old" | "new" | null) => (
            <DiffLine line={line} side={side} width={side && width}
              key={`${row.file.name} ${at} ${side}`}
              isChosen={cursor?.file === row.file.name && cursor.at === at}
              choose={(isRange) => remark(row.file.name, at, isRange)} />
          );
          if (row.is === "line") return cell(row, null);
          return (
            <div class="pair" key={`p ${row.file.name} ${row.left?.at} ${row.right?.at}`}>
              {row.left ? cell(row.left, "old") : <div class="line none" style={{ width }} />}
              {row.right ? cell(row.right, "new") : <div class="line none" style={{ width }} />}
            </div>
          );
        })}
        <div style={{ height: `${span.below}px` }} />
      </div>
    </>
  );
}

interface HeadOf {
  file: FileDiff;
  isViewed: boolean;
  toggle: () => void;
}

function FileHead({ file, isViewed, toggle }: HeadOf) {
  return (
    <div class="file" style={{ height: `${HEIGHTS.file}px` }}>
      <h2 title={file.name}>
        {file.before && `${visible(file.before)} → `}{visible(file.name)}
      </h2>
      <span class="quiet">+{file.added} −{file.removed}</span>
      <label><input type="checkbox" checked={isViewed} onChange={toggle} /> viewed</label>
    </div>
  );
}

const SIGNS = { added: "+", removed: "−", context: " ", hunk: "", note: "" };
const WORDS = { added: "added", removed: "removed", context: "", hunk: "", note: "" };

interface LineOf {
  line: Line;
  /** Which half of two columns it stands in. */
  side: "old" | "new" | null;
  /** Of a half, so that all of them line up. */
  width: string | null;
  isChosen: boolean;
  choose: (isRange: boolean) => void;
}

function DiffLine({ line, side, width, isChosen, choose }: LineOf) {
  const number = side === "old" ? line.old : line.new ?? line.old;
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (isChosen && !(side === "old" && line.new !== null)) {
      button.current?.focus({ preventScroll: true });
    }
  }, [isChosen]);
  return (
    <div class={`line ${line.kind}${isChosen ? " chosen" : ""}`}
      style={{ height: `${HEIGHTS.line}px`, ...(width && { width }) }}>
      {number === null ? <span class="number" /> : (
        <button type="button" class="number" ref={button} tabIndex={-1}
          aria-label={`Remark on line ${number} ${WORDS[line.kind]}`}
          onClick={(event) => choose(event.shiftKey)}>
          {number}
        </button>
      )}
      <span class="mark" aria-hidden="true">{SIGNS[line.kind]}</span>
      <code>{visible(line.text)}</code>
    </div>
  );
}

function HeldNote({ note, drop }: { note: Note; drop: () => void }) {
  const lines = note.from === note.to ? `line ${note.from}` : `lines ${note.from}–${note.to}`;
  return (
    <div class="remark" style={{ height: `${HEIGHTS.note}px` }}>
      <p class="quiet">On {lines}, held until you reject</p>
      <p class="text">{visible(note.text)}</p>
      <button type="button" onClick={drop}>Drop it</button>
    </div>
  );
}

function Editor({ hold, drop }: { hold: (text: string) => void; drop: () => void }) {
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  // Before anybody can see it: a key that is pressed at once is text.
  useLayoutEffect(() => field.current?.focus(), []);
  const send = (event: Event) => {
    event.preventDefault();
    if (text.trim() !== "") hold(text);
  };
  const leave = (event: KeyboardEvent) => {
    if (event.key === "Escape") drop();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
  };
  return (
    <form class="remark" style={{ height: `${HEIGHTS.editor}px` }} onSubmit={send}>
      <label>
        Remark
        <textarea ref={field} rows={4} value={text} onKeyDown={leave}
          onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <p class="buttons">
        <button type="button" onClick={drop}>Back</button>
        <button type="submit" class="main">Hold it</button>
      </p>
    </form>
  );
}
