// Reads a unified diff, as git prints it.

export interface Line {
  kind: "added" | "removed" | "context" | "hunk" | "note";
  /** Line numbers before and after the change, from 1. */
  old: number | null;
  new: number | null;
  text: string;
}

export interface FileDiff {
  name: string;
  /** The name before, if it differs. */
  before: string | null;
  lines: Line[];
  added: number;
  removed: number;
  /** Names this very change: a mark "viewed" falls off when it differs. */
  hash: string;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function parsePatch(patch: string): FileDiff[] {
  const files: FileDiff[] = [];
  let file: FileDiff | null = null;
  let old = 0;
  let now = 0;
  let isInHunk = false;
  let left = [0, 0];
  for (const line of patch.split("\n")) {
    if (!isInHunk && line.startsWith("diff --git ")) {
      file = { name: nameOf(line), before: null, lines: [], added: 0, removed: 0, hash: "" };
      files.push(file);
      continue;
    }
    if (!file) continue;
    const hunk = isInHunk ? null : HUNK.exec(line);
    if (hunk) {
      [old, now] = [Number(hunk[1]), Number(hunk[2])];
      const counts = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))?/.exec(line);
      left = [Number(counts?.[1] ?? 1), Number(counts?.[2] ?? 1)];
      isInHunk = left[0]! + left[1]! > 0;
      file.lines.push({ kind: "hunk", old: null, new: null, text: line });
      continue;
    }
    if (!isInHunk) {
      takeHead(file, line);
      continue;
    }
    const [sign, text] = [line[0], line.slice(1)];
    if (sign === "+") {
      file.lines.push({ kind: "added", old: null, new: now++, text });
      file.added++;
      left[1]!--;
    } else if (sign === "-") {
      file.lines.push({ kind: "removed", old: old++, new: null, text });
      file.removed++;
      left[0]!--;
    } else if (sign === "\\") {
      file.lines.push({ kind: "note", old: null, new: null, text: line });
    } else {
      file.lines.push({ kind: "context", old: old++, new: now++, text });
      left[0]!--;
      left[1]!--;
    }
    // The counts of its head end a hunk: a line of a file may look like any other.
    isInHunk = left[0]! > 0 || left[1]! > 0;
  }
  for (const found of files) found.hash = hashOf(found);
  return files;
}

/** `diff --git a/x b/x`: both names are the same, or the lines below name them. */
function nameOf(line: string): string {
  const names = line.slice("diff --git ".length);
  return names.slice(2, (names.length - 1) / 2);
}

function takeHead(file: FileDiff, line: string): void {
  const named = /^(?:\+\+\+|rename to|copy to) (?:b\/)?(.*?)\t?$/.exec(line)?.[1];
  const before = /^(?:rename|copy) from (.*)$/.exec(line)?.[1];
  if (before) file.before = before;
  else if (named && named !== "/dev/null") file.name = named;
  else if (/^(new file|deleted file|old mode|new mode|Binary|\\)/.test(line)) {
    file.lines.push({ kind: "note", old: null, new: null, text: line });
  }
}

function hashOf(file: FileDiff): string {
  // FNV-1a over what is shown.
  let hash = 0x811c9dc5;
  for (const line of file.lines) {
    for (const char of `${line.kind[0]}${line.text}\n`) {
      hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
    }
  }
  return `${file.lines.length}-${(hash >>> 0).toString(16)}`;
}
