// Time and money: how much was done, how long it took, and what it cost.

import { useEffect, useState } from "preact/hooks";
import { get } from "../api";
import { visible } from "../format";
import { Plot, type Series } from "../plot";
import { address, setQuery } from "../router";
import { touched } from "../state";

const DAYS: Record<string, number> = { "7 days": 7, "30 days": 30, "90 days": 90, "a year": 365 };
const USUAL = "30 days";
/** Many changes in a row are looked at once. */
const CALM = 1_000;

/** How many minutes the viewer's clock is ahead of UTC. */
const ahead = () => -new Date().getTimezoneOffset();

export function MoneyPage() {
  const [all, setAll] = useState<Series[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const query = address.value.query;
  const time = query.get("time") ?? USUAL;
  const days = DAYS[time] ?? 30;
  useEffect(() => {
    const stop = new AbortController();
    const load = () => get<Series[]>(`/api/series?days=${days}&ahead=${ahead()}`, stop.signal).then(
      (found) => {
        setAll(found);
        setError(null);
      },
      (failure: unknown) => stop.signal.aborted || setError(String(failure)),
    );
    const timer = setTimeout(() => void load(), all ? CALM : 0);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [days, touched.value]);
  const choose = (name: string) => {
    const next = new URLSearchParams(query);
    if (name === USUAL) next.delete("time");
    else next.set("time", name);
    setAll(null);
    setQuery(next);
  };
  return (
    <main id="main" class="wide">
      <h1 class="unseen">Time and money</h1>
      {error && <p role="alert">{visible(error)}</p>}
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          time
          <select value={time} onChange={(event) => choose(event.currentTarget.value)}>
            {Object.keys(DAYS).map((name) => <option key={name}>{name}</option>)}
          </select>
        </label>
        <p class="quiet">
          A cost counts on the day on which its attempt began; ~ is an estimate.
        </p>
      </form>
      <div class="plots">{all?.map((series) => <Plot series={series} key={series.series} />)}</div>
    </main>
  );
}
