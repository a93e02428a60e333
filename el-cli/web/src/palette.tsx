// The palette (Ctrl+K, or :): every page, every key of this page, and every atom that is not over,
// by a few of its letters.

import { signal } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import { statusSign, visible } from "./format";
import { bindings } from "./keys";
import { Modal } from "./modal";
import { go } from "./router";
import { atoms, loadAtoms } from "./state";

interface Choice {
  /** The text that is shown and searched. */
  text: string;
  hint: string;
  run: () => void;
}

const isOpen = signal(false);
/** The choices that are shown. */
const SHOWN = 12;

export function openPalette(): void {
  if (document.querySelector("dialog[open]")) return;
  isOpen.value = true;
  if (!atoms.value) void loadAtoms().catch(() => undefined);
}

export function startPalette(): void {
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
    if (event.shiftKey || event.altKey || event.isComposing) return;
    event.preventDefault();
    openPalette();
  });
}

export function Palette({ pages }: { pages: { path: string; name: string }[] }) {
  return isOpen.value ? <Open pages={pages} /> : null;
}

/** Moves that need the rows of the page, and what only types. */
const NO_CHOICE = new Set(["j", "k", "n", "N", "h", "l", "Enter", "Escape", ":", "?"]);

function Open({ pages }: { pages: { path: string; name: string }[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const known = bindings.value;
  const rows = atoms.value;
  const all = useMemo<Choice[]>(() => {
    const names = new Set(pages.map((page) => page.name));
    const keys = known.filter((key) =>
      !NO_CHOICE.has(key.keys[0] ?? "") && !names.has(key.label));
    return [
      ...pages.map((page) => ({
        text: page.name, hint: "page", run: () => go(page.path),
      })),
      ...keys.map((key) => ({ text: key.label, hint: key.keys[0] ?? "", run: key.run })),
      ...[...(rows?.values() ?? [])].map((row) => ({
        text: `${row.id} ${row.title}`,
        hint: statusSign(row.status)[1],
        run: () => go(`/a/${row.id}`),
      })),
    ];
  }, [known, rows]);
  const found = useMemo(() => filtered(all, text), [all, text]);
  const chosen = Math.min(at, Math.max(0, found.length - 1));
  const close = () => (isOpen.value = false);
  const take = (choice: Choice | undefined) => {
    if (!choice) return;
    // Now: a key acts on the row that has the focus again.
    dialog.current?.close();
    close();
    choice.run();
  };
  const press = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) {
      event.preventDefault();
      setAt((chosen + by + found.length) % Math.max(1, found.length));
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      take(found[chosen]);
    }
  };
  return (
    <Modal self={dialog} class="palette" close={close} aria-label="Go to, or do">
      <input type="text" role="combobox" aria-label="Go to, or do" aria-expanded="true"
        aria-controls="choices" aria-autocomplete="list" autoFocus
        aria-activedescendant={found.length > 0 ? `choice-${chosen}` : undefined}
        placeholder="A page, an action, an atom" value={text} onKeyDown={press}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }} />
      <ul id="choices" role="listbox" aria-label="Choices">
        {found.map((choice, index) => (
          <li id={`choice-${index}`} role="option" key={`${choice.hint} ${choice.text}`}
            aria-selected={index === chosen} onClick={() => take(choice)}>
            <span>{visible(choice.text)}</span>
            <span class="quiet">{choice.hint}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="quiet" role="status">Nothing has these letters.</p>}
    </Modal>
  );
}

/** Those that have all words; earlier and whole beginnings first. */
function filtered(all: Choice[], text: string): Choice[] {
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const ranked: [number, Choice][] = [];
  for (const choice of all) {
    const within = choice.text.toLowerCase();
    const places = words.map((word) => within.indexOf(word));
    if (places.some((place) => place < 0)) continue;
    ranked.push([places.reduce((sum, place) => sum + place, 0), choice]);
  }
  // The sort is stable: pages come before keys, and keys before atoms.
  return ranked.sort(([one], [other]) => one - other).slice(0, SHOWN).map(([, choice]) => choice);
}
