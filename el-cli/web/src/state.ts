// The state of the pages: one copy of the server's state, changed by its messages alone.

import { computed, signal } from "@preact/signals";
import { get } from "./api";
import type { AtomRow, Board, Change, Hello } from "./types";

export const hello = signal<Hello | null>(null);
export const board = signal<Board | null>(null);
/** All atoms that are not over; loaded when a page needs them. */
export const atoms = signal<Map<string, AtomRow> | null>(null);
/** The atoms of the last message: a page that shows one of them loads it again. */
export const touched = signal<{ ids: Set<string>; all: boolean }>({ ids: new Set(), all: false });
/** The verb that was sent for an atom, until the server tells of the change. */
export const sent = signal<Map<string, string>>(new Map());
/** `lost`: since when the server has not been heard. */
export const link = signal<{ state: "live" | "lost" | "out" | "old"; since: number }>({
  state: "live",
  since: 0,
});
/** The trouble that the server has with its database. */
export const trouble = signal<string | null>(null);
/** The server's clock, less this browser's, in milliseconds. */
export const skew = signal(0);
/** The time that ages are reckoned from; moved on each second by `tick`. */
export const clock = signal(Date.now());

const titles = computed(() => {
  const now = board.value;
  const known = new Map<string, string>();
  if (!now) return known;
  for (const need of now.needs.items) if (need.atom_id) known.set(need.atom_id, need.title);
  for (const run of now.running.items) known.set(run.atom_id, run.title);
  for (const part of [now.ready, now.waiting, now.held]) {
    for (const row of part.items) known.set(row.id, row.title);
  }
  return known;
});

/** The title of an atom, if the page knows it. */
export function titleOf(id: string): string | undefined {
  return atoms.value?.get(id)?.title ?? titles.value.get(id);
}

/** The atoms that are new to this person. */
export const fresh = computed(() => new Set(board.value?.fresh ?? []));

export const isReadOnly = computed(() => hello.value?.read_only === true);

const OVER = new Set(["closed", "wont_do", "discard"]);
export const isOver = (status: string) => OVER.has(status);

export function tick(): void {
  clock.value = Date.now() + skew.value;
}

export async function loadBoard(): Promise<void> {
  setBoard(await get<Board>("/api/snapshot"));
  if (atoms.value) await loadAtoms();
  touched.value = { ids: new Set(), all: true };
  sent.value = new Map();
}

export async function loadAtoms(): Promise<void> {
  const { items } = await get<{ items: AtomRow[] }>("/api/atoms");
  atoms.value = new Map(items.map((row) => [row.id, row]));
}

/** The last look on this page. A board that was read before does not know of it. */
let seen: { seq: number; ids: Set<string> } | null = null;

/** Marks all atoms on this board as seen. */
export function markSeen(shown: Board): void {
  seen = { seq: shown.seq, ids: new Set(shown.fresh) };
  if (board.value) board.value = withLook(board.value);
}

function withLook(next: Board): Board {
  if (!seen || (next.looked ?? -1) >= seen.seq) return next;
  const { seq, ids } = seen;
  return { ...next, looked: seq, fresh: next.fresh.filter((id) => !ids.has(id)) };
}

function setBoard(next: Board): void {
  skew.value = Date.parse(next.now) - Date.now();
  board.value = withLook(next);
  trouble.value = null;
  tick();
}

/** Applies a message. Returns false if messages before it are missing. */
export function applyChange(change: Change): boolean {
  const known = board.value?.seq ?? 0;
  if (change.since > known) return false;
  // This page has loaded what is newer. A tracker that was restored is told by another message.
  if (change.seq < known) return true;
  setBoard(change.board);
  const ids = new Set([...change.atoms.map((row) => row.id), ...change.gone]);
  if (atoms.value && ids.size > 0) {
    const rows = new Map(atoms.value);
    for (const id of change.gone) rows.delete(id);
    for (const row of change.atoms) {
      if (isOver(row.status)) rows.delete(row.id);
      else rows.set(row.id, row);
    }
    atoms.value = rows;
  }
  if (ids.size > 0) {
    touched.value = { ids, all: false };
    forgetSent(ids);
  }
  return true;
}

function forgetSent(ids: Set<string>): void {
  if (![...sent.value.keys()].some((id) => ids.has(id))) return;
  sent.value = new Map([...sent.value].filter(([id]) => !ids.has(id)));
}

export function markSent(id: string, what: string | null): void {
  const next = new Map(sent.value);
  if (what === null) next.delete(id);
  else next.set(id, what);
  sent.value = next;
}
