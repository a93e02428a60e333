// The changes of an atom's branch, to be read, remarked on, and approved or rejected.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask } from "../actions";
import { CallError, get } from "../api";
import { parsePatch, type FileDiff, type Line } from "../diff";
import { count, visible } from "../format";
import { useKeys } from "../keys";
import { keepViewed, notes, openNotes, setNotes, viewedFiles, type Note } from "../notes";
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

/** A row of the page, with its height: the list is long, and drawn in part. */
type Row =
  | { is: "file"; file: FileDiff; height: number }
  | { is: "line"; file: FileDiff; line: Line; at: number; height: number }
  | { is: "note"; note: Note; at: number; height: number }
  | { is: "editor"; place: Place; height: number };

/** The lines that are being remarked on, by their places in the file's list. */
interface Place {
  file: string;
  from: number;
  to: number;
}

const HEIGHTS = { file: 48, line: 22, note: 120, editor: 196 };

export function ReviewPage({ id }: { id: string }) {
  const { atom, error } = useAtom(id);
  const [changes, setChanges] = useState<Changes | null>(null);
  const [failure, setFailure] = useState<CallError | null>(null);
  useEffect(() => openNotes(id), [id]);
  // A new attempt has another diff.
  const attempt = atom?.runs.at(-1)?.outcome ?? "";
  useEffect(() => {
    get<Changes>(`/api/atoms/${id}/diff`).then(setChanges, setFailure);
  }, [id, attempt, atom?.runs.length]);
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
    () => files.flatMap((file) => rowsOf(file, isViewed(file), notes.value, place)),
    [files, viewed, notes.value, place],
  );
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
    const lines = rows.flatMap((row) => (row.is === "line" && isPlain(row.line) ? [row] : []));
    const now = lines.findIndex((row) => row.file.name === cursor?.file && row.at === cursor.at);
    const next = lines[Math.max(0, Math.min(lines.length - 1, now < 0 ? 0 : now + by))];
    if (!next) return;
    setCursor({ file: next.file.name, at: next.at });
    const top = (tops[rows.indexOf(next)] ?? 0) + (box.current?.offsetTop ?? 0);
    if (top < scrollY + 80 || top > scrollY + innerHeight - 80) {
      scrollTo(0, top - innerHeight / 2);
    }
  };
  const current = files.find((file) => file.name === cursor?.file) ?? files[0];
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
    ...ways,
  ], [rows, cursor, place, viewed, mayApprove, notes.value]);

  return (
    <>
      {mayApprove && !isReadOnly.value && (
        <p class="ways sticky">
          <button type="button" onClick={decide("approve")}>approve <kbd>a</kbd></button>
          <button type="button" onClick={decide("reject")}>reject <kbd>r</kbd></button>
          <span class="quiet" role="status">
            {notes.value.length > 0 && `${count(notes.value.length, "remark")} held`}
          </span>
        </p>
      )}
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
          const isChosen = cursor?.file === row.file.name && cursor.at === row.at;
          return (
            <DiffLine key={`${row.file.name} ${row.at}`} line={row.line} isChosen={isChosen}
              choose={(isRange) => remark(row.file.name, row.at, isRange)} />
          );
        })}
        <div style={{ height: `${span.below}px` }} />
      </div>
    </>
  );
}

const isPlain = (line: Line) => line.kind !== "hunk" && line.kind !== "note";

function rowsOf(file: FileDiff, isViewed: boolean, held: Note[], place: Place | null): Row[] {
  const rows: Row[] = [{ is: "file", file, height: HEIGHTS.file }];
  if (isViewed) return rows;
  file.lines.forEach((line, at) => {
    rows.push({ is: "line", file, line, at, height: HEIGHTS.line });
    held.forEach((note, index) => {
      const number = note.is_old ? line.old : line.new;
      const isThere = note.file === file.name && number === note.to && isPlain(line);
      if (isThere && note.is_old === (line.kind === "removed")) {
        rows.push({ is: "note", note, at: index, height: HEIGHTS.note });
      }
    });
    if (place?.file === file.name && place.to === at) {
      rows.push({ is: "editor", place, height: HEIGHTS.editor });
    }
  });
  return rows;
}

function noteOf(file: FileDiff, place: Place, text: string): Note {
  const lines = file.lines.slice(place.from, place.to + 1).filter(isPlain);
  const isOld = lines.every((line) => line.kind === "removed");
  const kept = isOld ? lines : lines.filter((line) => line.kind !== "removed");
  const numbers = kept.map((line) => (isOld ? line.old : line.new) ?? 0);
  return {
    file: file.name,
    from: Math.min(...numbers),
    to: Math.max(...numbers),
    is_old: isOld,
    lines: kept.map((line) => line.text),
    text,
  };
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
  isChosen: boolean;
  choose: (isRange: boolean) => void;
}

function DiffLine({ line, isChosen, choose }: LineOf) {
  const number = line.new ?? line.old;
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (isChosen) button.current?.focus({ preventScroll: true });
  }, [isChosen]);
  return (
    <div class={`line ${line.kind}${isChosen ? " chosen" : ""}`}
      style={{ height: `${HEIGHTS.line}px` }}>
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
