// The keys: each page says which it has, and `?` lists them.

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface Key {
  /** As `KeyboardEvent.key` names it; further names of the same key follow. */
  keys: string[];
  label: string;
  run: () => void;
}

const layers: { current: Key[] }[] = [];
export const bindings = signal<Key[]>([]);

function refresh(): void {
  bindings.value = layers.flatMap((layer) => layer.current);
}

/** The keys of a part of the page, as long as it is there; `deps`: what their names depend on. */
export function useKeys(keys: Key[], deps: unknown[]): void {
  const layer = useRef(keys);
  // Two keys in quick succession: the second one finds what the first one has done.
  layer.current = keys;
  useLayoutEffect(() => {
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
      refresh();
    };
  }, []);
  useLayoutEffect(refresh, deps);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, dialog") !== null;
}

export function startKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    // A later part of the page takes a key before an earlier one.
    const keys = layers.flatMap((layer) => layer.current);
    const found = keys.findLast((key) => key.keys.includes(event.key));
    if (!found) return;
    // Enter on a link or a button is theirs.
    const isPressed = event.key === "Enter" || event.key === " ";
    if (isPressed && (event.target as Element).closest?.("a, button, summary")) return;
    event.preventDefault();
    found.run();
  });
}

/** Moves the focus among the rows of the page. */
export function moveFocus(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  if (rows.length === 0) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by;
  const row = rows[Math.max(0, Math.min(rows.length - 1, next))];
  row?.querySelector<HTMLElement>("a, button")?.focus();
  row?.scrollIntoView({ block: "nearest" });
}

/** The atom of the row that has the focus, or else of the page. */
export function chosenAtom(): string | null {
  const row = document.activeElement?.closest<HTMLElement>("[data-atom]");
  return (row ?? document.querySelector<HTMLElement>("main[data-atom]"))?.dataset.atom ?? null;
}
