// The actions on an atom. Each opens one dialog, or is done at once.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { CallError, get, post } from "./api";
import { PRIORITIES, visible } from "./format";
import { Modal } from "./modal";
import { go } from "./router";
import { atoms, board, markSent, titleOf } from "./state";
import type { AtomView } from "./types";

export type Verb =
  | "approve" | "reject" | "comment" | "answer" | "reopen" | "retry" | "cancel" | "priority"
  | "defer" | "wont_do" | "land" | "create" | "start_worker" | "stop_workers";

export interface Asked {
  verb: Verb;
  /** The atom; none for a new one. */
  id: string | null;
  title: string;
  /** `updated_at` of what the person saw, once that is known. */
  seen: Promise<string> | null;
  /** Further keys of the call. */
  more?: Record<string, unknown>;
  done?: () => void;
}

/** The dialog that is open. */
export const asked = signal<Asked | null>(null);
/** The error of a verb that opens no dialog. */
export const refused = signal<string | null>(null);

interface Form {
  title: string;
  button: string;
  field: string | null;
  isNeeded: boolean;
  explains?: string;
}

const FORMS: Record<Verb, Form> = {
  approve: { title: "Approve", button: "Approve", field: "Comment", isNeeded: false },
  reject: {
    title: "Reject", button: "Reject", field: "Reason", isNeeded: true,
    explains: "The next attempt is told what you write.",
  },
  comment: { title: "Comment", button: "Comment", field: "Comment", isNeeded: true },
  answer: {
    title: "Answer", button: "Answer and reopen", field: "Answer", isNeeded: true,
    explains: "The atom is open again, and the next attempt is told your answer.",
  },
  reopen: { title: "Reopen", button: "Reopen", field: null, isNeeded: false },
  retry: {
    title: "Retry", button: "Retry", field: null, isNeeded: false,
    explains: "The atom gets fresh attempts.",
  },
  cancel: {
    title: "Cancel the run", button: "Cancel the run", field: "Reason", isNeeded: false,
    explains: "The agent is ended. The atom is held until you reopen it.",
  },
  priority: { title: "Priority", button: "Set", field: null, isNeeded: false },
  defer: {
    title: "Put off", button: "Put off", field: "Until (tomorrow, 3h, 2026-12-01)",
    isNeeded: false, explains: "Without a time, until you reopen it.",
  },
  wont_do: {
    title: "Won't do", button: "Decide against it", field: "Reason", isNeeded: false,
    explains: "The atom is over; el reopen, or R here, opens it again.",
  },
  land: {
    title: "Land", button: "Land", field: null, isNeeded: false,
    explains: "The branch is merged and checked, and its target moves if the check passes.",
  },
  start_worker: {
    title: "Start a worker", button: "Start it", field: null, isNeeded: false,
    explains: "el work --background: it runs an agent on each ready atom, until you stop it.",
  },
  stop_workers: {
    title: "Stop every worker", button: "Stop them", field: null, isNeeded: false,
    explains: "el work --stop: the sessions of their agents are ended.",
  },
  create: { title: "New atom", button: "File it", field: "Description", isNeeded: false },
};

/** Begins a verb for an atom. The dialog is there at once: the next key is typed into it. */
export async function ask(
  verb: Verb, id: string, more?: Record<string, unknown>, done?: () => void,
): Promise<void> {
  refused.value = null;
  const atom = get<AtomView>(`/api/atoms/${id}`);
  const begun = {
    verb, id, title: titleOf(id) ?? "", seen: atom.then((known) => known.updated_at), more, done,
  };
  asked.value = begun;
  try {
    const { title } = await atom;
    if (asked.value === begun) asked.value = { ...begun, title };
  } catch (error) {
    refused.value = error instanceof Error ? error.message : String(error);
    if (asked.value === begun) asked.value = null;
  }
}

export function askForNew(): void {
  asked.value = { verb: "create", id: null, title: "", seen: null };
}

export function askForWorkers(verb: "start_worker" | "stop_workers"): void {
  asked.value = { verb, id: null, title: "", seen: null };
}

const draftKey = (what: Asked) => `draft:${what.verb}:${what.id ?? ""}`;

export function Dialog() {
  const what = asked.value;
  return what && <Form key={draftKey(what)} what={what} />;
}

function Form({ what }: { what: Asked }) {
  const form = FORMS[what.verb];
  const [text, setText] = useState(localStorage.getItem(draftKey(what)) ?? "");
  const [title, setTitle] = useState(what.title);
  const [priority, setPriority] = useState(knownPriority(what.id));
  const [labels, setLabels] = useState("");
  const [commits, setCommits] = useState(false);
  const [error, setError] = useState<CallError | null>(null);
  const [isSending, setSending] = useState(false);

  const close = () => (asked.value = null);
  const type = (next: string) => {
    setText(next);
    localStorage.setItem(draftKey(what), next);
  };

  const send = async (event: Event) => {
    event.preventDefault();
    setSending(true);
    setError(null);
    try {
      if (what.id) markSent(what.id, form.title.toLowerCase());
      await call(what, { text, title, priority, labels, commits });
      localStorage.removeItem(draftKey(what));
      close();
      what.done?.();
    } catch (failure) {
      if (what.id) markSent(what.id, null);
      setError(failure as CallError);
      setSending(false);
    }
  };

  const isNew = what.verb === "create";
  const isDefer = what.verb === "defer";
  return (
    <Modal close={close} aria-labelledby="dialog-title">
      <form onSubmit={send}>
        <h2 id="dialog-title">{form.title}</h2>
        {what.id && <p class="about">{visible(what.title)} <code>{what.id}</code></p>}
        {what.id && what.verb === "answer" && <Asks id={what.id} />}
        {isNew && (
          <label>
            Title
            <input value={title} required maxLength={500} autoFocus
              onInput={(event) => setTitle(event.currentTarget.value)} />
          </label>
        )}
        {form.field && !isDefer && (
          <label>
            {form.field}
            <textarea value={text} rows={5} autoFocus={!isNew}
              required={form.isNeeded && !what.more?.notes}
              onInput={(event) => type(event.currentTarget.value)} />
          </label>
        )}
        {isDefer && (
          <label>
            {form.field}
            <input value={text} autoFocus onInput={(event) => type(event.currentTarget.value)} />
          </label>
        )}
        {(isNew || what.verb === "priority") && (
          <label>
            Priority
            <select value={priority} autoFocus={!isNew}
              onChange={(event) => setPriority(Number(event.currentTarget.value))}>
              {PRIORITIES.map((word, at) => <option value={at} key={at}>{at} {word}</option>)}
            </select>
          </label>
        )}
        {isNew && (
          <label>
            Labels
            <input value={labels} onInput={(event) => setLabels(event.currentTarget.value)} />
          </label>
        )}
        {what.verb === "land" && (
          <label class="check">
            <input type="checkbox" checked={commits}
              onChange={(event) => setCommits(event.currentTarget.checked)} />{" "}
            First commit what the agent left uncommitted
          </label>
        )}
        {Array.isArray(what.more?.notes) && <p>With {what.more.notes.length} of your remarks.</p>}
        {form.explains && <p class="quiet">{form.explains}</p>}
        {error && <Refusal error={error} what={what} />}
        <p class="buttons">
          <button type="button" onClick={close}>Back</button>
          <button type="submit" class="main" disabled={isSending}
            autoFocus={!form.field && what.verb !== "priority"}>
            {form.button}
          </button>
        </p>
      </form>
    </Modal>
  );
}

/** The question of the agent. */
function Asks({ id }: { id: string }) {
  const need = board.value?.needs.items.find((one) => one.atom_id === id);
  return need?.kind === "question" ? <p class="reason">{visible(need.why)}</p> : null;
}

/** A refusal; of an atom that changed meanwhile, with the way to see what it is now. */
function Refusal({ error, what }: { error: CallError; what: Asked }) {
  const [now, setNow] = useState<AtomView | null>(null);
  const look = async () => {
    const atom = await get<AtomView>(`/api/atoms/${what.id}`);
    setNow(atom);
    asked.value = { ...what, seen: Promise.resolve(atom.updated_at) };
  };
  return (
    <div class="refusal" role="alert">
      <p>{visible(error.message)}</p>
      {error.hint && <p class="quiet">{visible(error.hint)}</p>}
      {error.code === "changed" && !now && (
        <button type="button" onClick={() => void look()}>Show what it is now</button>
      )}
      {now && (
        <p>
          Now: {now.status}, “{visible(now.title)}”, {now.comments.length} comments. Your text
          is kept; send it if it still holds.
        </p>
      )}
    </div>
  );
}

function knownPriority(id: string | null): number {
  if (!id) return 2;
  const rows = [...(board.value?.ready.items ?? []), ...(atoms.value?.values() ?? [])];
  return rows.find((row) => row.id === id)?.priority ?? 2;
}

interface Filled {
  text: string;
  title: string;
  priority: number;
  labels: string;
  commits: boolean;
}

async function call(what: Asked, filled: Filled): Promise<void> {
  const { text, title, priority, labels } = filled;
  if (what.verb === "create") {
    const words = labels.split(/[\s,]+/).filter((word) => word !== "");
    const body = { title, description: text, priority, labels: words };
    const made = await post<{ id: string }>("/api/atoms", body);
    go(`/a/${made.id}`);
    return;
  }
  if (what.verb === "start_worker" || what.verb === "stop_workers") {
    await post(`/api/workers/${what.verb === "start_worker" ? "start" : "stop"}`, {});
    return;
  }
  const body: Record<string, unknown> = { seen: await what.seen, ...what.more };
  if (what.verb === "priority") body.priority = priority;
  else if (what.verb === "defer") body.until = text;
  else if (what.verb === "land") body.commit = filled.commits;
  else if (text.trim() !== "") body.text = text;
  await post(`/api/atoms/${what.id}/${what.verb}`, body);
}
