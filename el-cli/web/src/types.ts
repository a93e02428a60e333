// The messages of the server: the types of el-core, as far as the pages use them.

export interface AtomRow {
  id: string;
  title: string;
  status: string;
  issue_type: string;
  priority: number;
  labels: string[];
  assignee: string | null;
  parent_id: string | null;
  created_at: string;
  updated_at: string;
  closed_at: string | null;
  run_id: string | null;
}

export interface Way {
  key: string;
  label: string;
  command: string;
}

export interface Need {
  key: string;
  kind: string;
  class: number;
  atom_id: string | null;
  title: string;
  priority: number | null;
  run_id: string | null;
  agent: string | null;
  why: string;
  frees: number;
  since: string;
  cost_micros: number;
  estimated_micros: number;
  attempts: number;
  ways: Way[];
}

export interface RunRow {
  id: string;
  atom_id: string;
  title: string;
  agent: string;
  /** Its machine, in a project that several machines share. */
  host: string | null;
  attempt: number;
  started_at: string;
  action: string | null;
  percent: number | null;
  turns: number;
  cost_micros: number;
  estimated_micros: number;
  active_at: string | null;
  heartbeat_at: string;
  is_ending: boolean;
}

export interface Hold {
  hold: string;
  by?: string;
  of?: string;
  until?: string | null;
  status?: string;
  parent?: string;
  epic?: string;
  run?: string;
  needs?: string[];
}

export interface Part<T> {
  total: number;
  capped: boolean;
  truncated: boolean;
  items: T[];
}

export type WaitRow = AtomRow & { holds: Hold[] };
export type DoneRow = AtomRow & {
  close_reason: string | null;
  last_run: { agent: string; attempt: number; cost_micros: number } | null;
};

export type PullRow = AtomRow & {
  pull_request: {
    number: number | null;
    url: string | null;
    state: string;
    detail: string | null;
    base_ref: string;
    failures: number;
    held: { why: string } | null;
  };
};

export interface Board {
  seq: number;
  now: string;
  needs: Part<Need>;
  running: Part<RunRow>;
  ready: Part<AtomRow>;
  waiting: Part<WaitRow>;
  /** The atoms that people have begun or put off. */
  held: Part<AtomRow>;
  pull_requests: Part<PullRow>;
  done: Part<DoneRow>;
  workers: number;
  held_back: string | null;
  spent_today_micros: number;
  estimated_today_micros: number;
  budget_today_micros: number | null;
  forecast: Forecast;
  /** The last event when this person looked. */
  looked: number | null;
  /** The atoms that others changed since then. */
  fresh: string[];
}

export interface Forecast {
  is_needed: boolean;
  needed_at: string | null;
  needed_for: string;
  runs_out: { what: string; at: string; says: string } | null;
}

export interface Change {
  seq: number;
  since: number;
  atoms: AtomRow[];
  gone: string[];
  board: Board;
}

export interface Run {
  id: string;
  atom_id: string;
  attempt: number;
  agent: string;
  /** The boot of a machine that shares the project begins with its name. */
  supervisor: { boot: string } | null;
  executor: string;
  workdir: string;
  started_at: string;
  heartbeat_at: string;
  ended_at: string | null;
  outcome: string | null;
  detail: string | null;
  action: string | null;
  turns: number;
  cost_micros: number;
  estimated_micros: number;
  active_at: string | null;
  verify: { status: string } | null;
  artifacts: number;
}

export interface Comment {
  id: number;
  author: string;
  content: string;
  created_at: string;
}

export interface Review {
  author: string;
  report: { summary?: string } | null;
  verdict: string | null;
  reason: string | null;
  created_at: string;
}

export interface Bond {
  source_id: string;
  target_id: string;
  dependency_type: string;
}

export interface AtomView extends AtomRow {
  description: string;
  acceptance: string | null;
  close_reason: string | null;
  created_by: string;
  dependencies: { outgoing: Bond[]; incoming: Bond[] };
  comments: Comment[];
  runs: Run[];
  reviews: Review[];
  neighbours: { id: string; title: string; status: string }[];
  why: string;
  landed: { onto: string; at: string } | null;
}

export interface Hello {
  signed_in: boolean;
  project?: string;
  actor?: string;
  read_only?: boolean;
  build?: string;
}
