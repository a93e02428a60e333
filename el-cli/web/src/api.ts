// Calls of the server. Each answer is the document that `el --robot` would print.

export class CallError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null,
  ) {
    super(message);
  }
}

async function call<T>(path: string, options: RequestInit): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    throw new CallError(0, "offline", "el serve does not answer", null);
  }
  let document: any;
  try {
    document = await answer.json();
  } catch {
    throw new CallError(answer.status, "no_answer", "the answer broke off", null);
  }
  if (document.status === "ok") return document.data as T;
  const error = document.error ?? {};
  throw new CallError(answer.status, error.code ?? "", error.message ?? "", error.hint ?? null);
}

export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return call<T>(path, { signal });
}

/** `outlives`: the call goes on when the page is left. */
export function post<T>(path: string, body: unknown, outlives = false): Promise<T> {
  return call<T>(path, {
    method: "POST",
    keepalive: outlives,
    headers: { "Content-Type": "application/json", "X-El": "1" },
    body: JSON.stringify(body),
  });
}
