// The rows of a review: the lines of a diff in one column or side by side, with what was remarked.

import type { FileDiff, Line } from "./diff";
import type { Note } from "./notes";

/** A line, and its place in the file's list. */
export interface Placed {
  line: Line;
  at: number;
}

/** A row of the page, with its height: the list is long, and drawn in part. */
export type Row =
  | { is: "file"; file: FileDiff; height: number }
  | { is: "line"; file: FileDiff; line: Line; at: number; height: number }
  | { is: "pair"; file: FileDiff; left: Placed | null; right: Placed | null; height: number }
  | { is: "note"; note: Note; at: number; height: number }
  | { is: "editor"; place: Place; height: number };

/** The lines that are being remarked on, by their places in the file's list. */
export interface Place {
  file: string;
  from: number;
  to: number;
}

export const HEIGHTS = { file: 48, line: 22, note: 120, editor: 196 };

export const isPlain = (line: Line) => line.kind !== "hunk" && line.kind !== "note";

interface Shown {
  isViewed: boolean;
  isSplit: boolean;
  held: Note[];
  place: Place | null;
}

export function rowsOf(file: FileDiff, { isViewed, isSplit, held, place }: Shown): Row[] {
  const rows: Row[] = [{ is: "file", file, height: HEIGHTS.file }];
  if (isViewed) return rows;
  const addBelow = (line: Line, at: number) => {
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
  };
  if (!isSplit) {
    file.lines.forEach((line, at) => {
      rows.push({ is: "line", file, line, at, height: HEIGHTS.line });
      addBelow(line, at);
    });
    return rows;
  }
  for (const [left, right] of pairsOf(file.lines)) {
    const one = left ?? right;
    if (!one) continue;
    if (isPlain(one.line)) rows.push({ is: "pair", file, left, right, height: HEIGHTS.line });
    else rows.push({ is: "line", file, line: one.line, at: one.at, height: HEIGHTS.line });
    if (left) addBelow(left.line, left.at);
    if (right && right.at !== left?.at) addBelow(right.line, right.at);
  }
  return rows;
}

/** Pairs each removed line with the line that was added in its place. */
export function pairsOf(lines: Line[]): [Placed | null, Placed | null][] {
  const pairs: [Placed | null, Placed | null][] = [];
  let removed: Placed[] = [];
  let added: Placed[] = [];
  const pair = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      pairs.push([removed[at] ?? null, added[at] ?? null]);
    }
    [removed, added] = [[], []];
  };
  lines.forEach((line, at) => {
    if (line.kind === "removed") {
      // A removal after an addition begins another change.
      if (added.length > 0) pair();
      removed.push({ line, at });
    } else if (line.kind === "added") {
      added.push({ line, at });
    } else {
      pair();
      pairs.push([{ line, at }, { line, at }]);
    }
  });
  pair();
  return pairs;
}

/** The columns of a half, in characters: the longest line has room, within reason. */
export function widthOf(files: FileDiff[]): number {
  let longest = 0;
  for (const file of files) {
    for (const line of file.lines) longest = Math.max(longest, line.text.length);
  }
  return Math.min(longest, 300) + 12;
}

/** The lines that can be remarked on, in their order on the page. */
export function linesOf(rows: Row[]): { row: Row; file: FileDiff; at: number }[] {
  return rows.flatMap((row): { row: Row; file: FileDiff; at: number }[] => {
    if (row.is === "line" && isPlain(row.line)) return [{ row, file: row.file, at: row.at }];
    if (row.is !== "pair") return [];
    const places = new Set([row.left?.at, row.right?.at]);
    return [...places].flatMap((at) => (at === undefined ? [] : [{ row, file: row.file, at }]));
  });
}

export function noteOf(file: FileDiff, place: Place, text: string): Note {
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
