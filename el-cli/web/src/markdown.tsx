// A subset of Markdown as elements: no HTML, no images, links to http alone. Whatever is not
// understood stays as it was written.

import type { ComponentChildren, VNode } from "preact";
import { visible } from "./format";

// An image is found, and stays as it was written.
const INLINE = new RegExp([
  /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/,
  /\*\*([^*\n]+)\*\*/,
  /\*([^*\s][^*\n]*)\*/,
  /!\[[^\]\n]*\]\([^)\n]*\)/,
  /\[([^\]\n]+)\]\(([^)\s]+)\)/,
  /(https?:\/\/[^\s<>"')\]]+)/,
].map((part) => part.source).join("|"), "g");

export function Markdown({ text }: { text: string }) {
  return <div class="markdown">{blocks(visible(text).split("\n"))}</div>;
}

function blocks(lines: string[]): VNode[] {
  const found: VNode[] = [];
  let at = 0;
  const takeWhile = (is: (line: string) => boolean): string[] => {
    const start = at;
    while (at < lines.length && is(lines[at] ?? "")) at++;
    return lines.slice(start, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const fence = /^\s*(```+|~~~+)/.exec(line)?.[1];
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const key = found.length;
    if (line.trim() === "") {
      at++;
    } else if (fence) {
      at++;
      const code = takeWhile((next) => !next.trim().startsWith(fence));
      at++;
      found.push(<pre key={key}><code>{code.join("\n")}</code></pre>);
    } else if (heading) {
      at++;
      found.push(<p key={key} class="heading">{inline(heading[2] ?? "")}</p>);
    } else if (isItem(line)) {
      found.push(list(key, takeWhile((next) => isItem(next) || /^\s+\S/.test(next))));
    } else if (/^>/.test(line)) {
      const quoted = takeWhile((next) => /^>/.test(next)).map((next) => next.replace(/^> ?/, ""));
      found.push(<blockquote key={key}>{blocks(quoted)}</blockquote>);
    } else if (/^(-{3,}|\*{3,}|_{3,})\s*$/.test(line)) {
      at++;
      found.push(<hr key={key} />);
    } else {
      const start = at++;
      const isBlock = (next: string) => isItem(next) || /^(#|>|\s*```|\s*~~~)/.test(next);
      takeWhile((next) => next.trim() !== "" && !isBlock(next));
      found.push(<p key={key}>{inline(lines.slice(start, at).join("\n"))}</p>);
    }
  }
  return found;
}

const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+/;
const isItem = (line: string) => ITEM.test(line);

function list(key: number, lines: string[]): VNode {
  const items: string[] = [];
  for (const line of lines) {
    if (isItem(line)) items.push(line.replace(ITEM, ""));
    else items[items.length - 1] += `\n${line.trim()}`;
  }
  const rows = items.map((item, at) => <li key={at}>{inline(item)}</li>);
  return /^\s*\d/.test(lines[0] ?? "") ? <ol key={key}>{rows}</ol> : <ul key={key}>{rows}</ul>;
}

function inline(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    const [whole, , code, bold, italic, label, target, bare] = match;
    if (code !== undefined) parts.push(<code>{code}</code>);
    else if (bold !== undefined) parts.push(<strong>{bold}</strong>);
    else if (italic !== undefined) parts.push(<em>{italic}</em>);
    else if (bare !== undefined) parts.push(<Outside to={bare}>{bare}</Outside>);
    else if (target && label) parts.push(<Outside to={target}>{label}</Outside>);
    else parts.push(whole);
    from = match.index + whole.length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** A link to elsewhere, with its host: only http, and only if a person follows it. */
function Outside({ to, children }: { to: string; children: string }) {
  let url: URL | null = null;
  try {
    url = new URL(to);
  } catch {
    // A path or a fragment leads nowhere from here.
  }
  if (!url || !["http:", "https:"].includes(url.protocol)) return <>{`${children} (${to})`}</>;
  const host = children.includes(url.host) ? "" : ` (${url.host})`;
  return (
    <>
      <a href={url.href} target="_blank" rel="noopener noreferrer">{children}</a>
      {host}
    </>
  );
}
