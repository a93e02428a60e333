// The address of the page, which can be kept and sent on.

import { signal } from "@preact/signals";

export const address = signal(read());

function read(): { path: string; query: URLSearchParams } {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

export function go(to: string): void {
  if (to === location.pathname + location.search) return;
  history.pushState(null, "", to);
  address.value = read();
  scrollTo(0, 0);
}

/** Changes the filters of the page, without a step of the history. */
export function setQuery(query: URLSearchParams): void {
  const text = query.toString();
  history.replaceState(null, "", text ? `${location.pathname}?${text}` : location.pathname);
  address.value = read();
}

export function startRouter(): void {
  addEventListener("popstate", () => (address.value = read()));
  document.addEventListener("click", (event) => {
    const other = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    const link = (event.target as Element).closest?.("a");
    if (!link || other || event.button !== 0 || event.defaultPrevented || link.target) return;
    if (link.origin !== location.origin) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
