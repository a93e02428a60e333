// Long lists: only what can be seen is in the page.

import { useEffect, useState } from "preact/hooks";

/** Beyond the screen, in pixels. */
const SPARE = 600;

export interface Span {
  first: number;
  last: number;
  above: number;
  below: number;
}

/** The rows to draw of those with these heights, in the page's own scroll. */
export function useWindow(tops: number[], box: { current: HTMLElement | null }): Span {
  const [view, setView] = useState({ top: 0, bottom: 2_000 });
  useEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      const at = box.current?.getBoundingClientRect().top ?? 0;
      setView({ top: -at - SPARE, bottom: -at + innerHeight + SPARE });
    };
    const later = () => {
      frame ||= requestAnimationFrame(look);
    };
    look();
    addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", later);
      removeEventListener("resize", later);
    };
  }, [tops]);
  const whole = tops.at(-1) ?? 0;
  const first = Math.max(0, indexAt(tops, view.top) - 1);
  const last = Math.min(tops.length - 1, indexAt(tops, view.bottom) + 1);
  return {
    first,
    last: Math.max(first, last),
    above: tops[first] ?? 0,
    below: Math.max(0, whole - (tops[Math.max(first, last)] ?? whole)),
  };
}

/** The first row that begins at or below the place. */
function indexAt(tops: number[], place: number): number {
  let [low, high] = [0, tops.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tops[middle] ?? 0) < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where each row begins, and at last where all end. */
export function topsOf(heights: number[]): number[] {
  const tops = [0];
  for (const height of heights) tops.push((tops.at(-1) ?? 0) + height);
  return tops;
}
