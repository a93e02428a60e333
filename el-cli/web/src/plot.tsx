// Plots of a series: bars, with the same figures in a table.

import { count, dollars, localDay, span, visible } from "./format";

export interface Measure {
  name: string;
  title: string;
  unit: "count" | "seconds" | "micros" | "percent";
  estimated: string | null;
}

export interface Point {
  key: string | null;
  label: string | null;
  values: Record<string, number | null>;
}

export interface Series {
  series: string;
  title: string;
  by: string;
  measures: Measure[];
  truncated: boolean;
  items: Point[];
}

/** A figure in words; nothing where there is nothing to tell. */
export function figure(measure: Measure, point: Point): string {
  const value = point.values[measure.name] ?? null;
  if (value === null) return "";
  switch (measure.unit) {
    case "seconds": return span(value * 1000);
    case "percent": return `${value} %`;
    case "micros":
      return dollars(value, measure.estimated ? (point.values[measure.estimated] ?? 0) : 0) || "$0";
    default: return `${value}`;
  }
}

export function nameOf(series: Series, point: Point): string {
  if (series.by === "day" && point.key) return localDay(point.key);
  const name = point.label ?? point.key?.replaceAll("_", " ");
  return name ?? (series.by === "epic" ? "no epic" : "not known");
}

export function Plot({ series }: { series: Series }) {
  const told = series.items.filter((point) =>
    series.measures.some((one) => (point.values[one.name] ?? 0) !== 0));
  const id = `series-${series.series}`;
  return (
    <section class="plot" aria-labelledby={id}>
      <h2 id={id}>{series.title}</h2>
      {told.length === 0 && <p class="quiet">Nothing to tell of this time.</p>}
      {told.length > 0 && series.by === "day" && <Days series={series} />}
      {told.length > 0 && (
        series.by === "day"
          ? (
            <details>
              <summary>{count(told.length, "day")} as a table</summary>
              <Table series={series} points={told} />
            </details>
          )
          : <Table series={series} points={told} hasBars />
      )}
      {series.truncated && <p class="quiet">There was more; what is oldest was left out.</p>}
    </section>
  );
}

const HEIGHT = 100;

/** The first figure of each day as a bar, and before it what was lost, if the series tells. */
function Days({ series }: { series: Series }) {
  const first = series.measures[0];
  if (!first) return null;
  const lost = series.measures.find((one) => one.name.startsWith("lost"));
  const drawn = lost ? [first, lost] : [first];
  const value = (point: Point, one: Measure) => point.values[one.name] ?? 0;
  const values = series.items.flatMap((point) => drawn.map((one) => value(point, one)));
  const most = Math.max(1, ...values);
  const rank = (point: Point) => point.values[first.name] ?? -1;
  const highest = series.items.reduce((best, point) => (rank(point) > rank(best) ? point : best));
  const top = figure(first, highest);
  const days = series.items.length;
  const step = 100 / days;
  const wide = (step * 0.76) / drawn.length;
  const [from, to] = [series.items[0], series.items[days - 1]];
  return (
    <>
      <p class="quiet">
        {first.title}{top && <>: at most {top}, on {nameOf(series, highest)}</>}
        {lost && <>; <span class="word failed">✗</span> {lost.title}</>}
      </p>
      <svg class="bars" viewBox={`0 0 100 ${HEIGHT}`} preserveAspectRatio="none" role="img"
        aria-label={`${series.title}, a bar for each of ${days} days; the figures are below`}>
        <rect class="ground" x="0" y={HEIGHT - 0.6} width="100" height="0.6" />
        {series.items.flatMap((point, at) => drawn.map((one, which) => {
          const high = (value(point, one) / most) * (HEIGHT - 4);
          return (
            <rect key={`${at} ${one.name}`} class={which === 0 ? "bar" : "bar lost"}
              x={at * step + step * 0.12 + which * wide} y={HEIGHT - high} width={wide}
              height={high}>
              <title>{`${nameOf(series, point)}: ${one.title} ${figure(one, point)}`}</title>
            </rect>
          );
        }))}
      </svg>
      <p class="ends quiet">
        <span>{from && nameOf(series, from)}</span><span>{to && nameOf(series, to)}</span>
      </p>
    </>
  );
}

function Table({ series, points, hasBars }: {
  series: Series; points: Point[]; hasBars?: boolean;
}) {
  const first = series.measures[0];
  const value = (point: Point) => (first ? (point.values[first.name] ?? 0) : 0);
  const most = Math.max(1, ...points.map(value));
  return (
    <div class="scrolled" role="region" aria-label={`${series.title}, a table`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{series.by}</th>
            {series.measures.map((one) => <th scope="col" key={one.name}>{one.title}</th>)}
            {hasBars && <td class="of-bar" />}
          </tr>
        </thead>
        <tbody>
          {points.map((point) => (
            <tr key={point.key}>
              <th scope="row">
                {series.by === "epic" && point.key
                  ? <a href={`/a/${point.key}`}>{visible(nameOf(series, point))}</a>
                  : visible(nameOf(series, point))}
              </th>
              {series.measures.map((one) => <td key={one.name}>{figure(one, point)}</td>)}
              {hasBars && (
                <td class="of-bar">
                  <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                    <rect class="bar" x="0" y="1" height="8" width={(100 * value(point)) / most} />
                  </svg>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
