// Times, money and foreign texts in words.

import { clock } from "./state";

const CONTROL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const ESCAPES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)/g;

/** A text of others as it may be shown: what would reorder or hide it is made visible. */
export function visible(text: string): string {
  const plain = text.replace(ESCAPES, "").replace(/\r\n?/g, "\n");
  return plain.replace(CONTROL, (char) => {
    const code = char.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** Where a run is, behind its agent; empty in a project of one machine. */
export function onHost(host: string | null): string {
  return host ? ` on ${visible(host)}` : "";
}

/** How long ago, in one unit. */
export function age(time: string | null, now = clock.value): string {
  if (!time) return "";
  return span(now - Date.parse(time));
}

export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h`;
  return `${Math.floor(hours / 24)}d`;
}

const exact = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "long",
});

/** The exact time in the viewer's zone. */
export function localTime(time: string): string {
  return exact.format(new Date(time));
}

const day = new Intl.DateTimeFormat(undefined, {
  day: "numeric", month: "short", timeZone: "UTC",
});

/** A day such as `2026-11-29` in the viewer's words. */
export function localDay(date: string): string {
  return day.format(new Date(`${date}T00:00:00Z`));
}

/** An amount; `~` if a part of it is estimated. */
export function dollars(micros: number, estimated = 0): string {
  if (micros <= 0) return "";
  const amount = micros / 1e6;
  if (amount < 0.01) return "<$0.01";
  return `${estimated > 0 ? "~" : ""}$${amount.toFixed(2)}`;
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

export const total = (part: { total: number; capped: boolean }) =>
  part.capped ? `${part.total}+` : `${part.total}`;

// As the terminal has them (`status_mark`).
const SIGNS: Record<string, [string, string]> = {
  open: ["○", "open"],
  in_progress: ["◐", "running"],
  blocked: ["⊘", "blocked"],
  review: ["◑", "review"],
  testing: ["◑", "testing"],
  deferred: ["◌", "deferred"],
  closed: ["●", "closed"],
  wont_do: ["·", "won't do"],
  discard: ["·", "discarded"],
};

/** The sign of an atom that is held: by a person, or by other tasks of its plan. */
export const HELD = "◇";

/** The sign of an atom that waits for others. */
export const WAITS = "‖";

/** The sign of an atom whose branch has a pull request. */
export const PULL = "↗";

/** The sign and the word of a status. A hue never stands alone. */
export function statusSign(status: string): [string, string] {
  return SIGNS[status] ?? ["?", status];
}

export const PRIORITIES = ["critical", "high", "medium", "low", "backlog", "someday"];
