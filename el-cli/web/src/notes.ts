// Remarks on lines of a diff. They are held in this browser until they are sent with a rejection.

import { signal } from "@preact/signals";

export interface Note {
  file: string;
  from: number;
  to: number;
  is_old: boolean;
  /** The lines' texts. */
  lines: string[];
  text: string;
}

export const notes = signal<Note[]>([]);
let owner = "";

export function openNotes(atom: string): void {
  owner = `notes:${atom}`;
  notes.value = read(owner);
}

export function setNotes(next: Note[]): void {
  notes.value = next;
  if (next.length > 0) localStorage.setItem(owner, JSON.stringify(next));
  else localStorage.removeItem(owner);
}

function read(key: string): Note[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(found) ? (found as Note[]) : [];
  } catch {
    return [];
  }
}

/** The files that were viewed, with the change that was seen. */
export function viewedFiles(atom: string): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(`viewed:${atom}`) ?? "{}") as Record<string, string>;
  } catch {
    return {};
  }
}

export function keepViewed(atom: string, viewed: Record<string, string>): void {
  localStorage.setItem(`viewed:${atom}`, JSON.stringify(viewed));
}

/** Two columns, or one: as this browser showed it last. */
export const isSplit = signal(localStorage.getItem("diff") === "split");

export function setSplit(next: boolean): void {
  isSplit.value = next;
  localStorage.setItem("diff", next ? "split" : "one");
}
