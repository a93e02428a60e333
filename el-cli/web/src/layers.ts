// Lays a graph of dependencies out in layers: what has to be over first stands to the left.

import type { Bond } from "./types";

export interface Placed {
  id: string;
  layer: number;
  /** The place within the layer, from the top. */
  at: number;
}

export interface Layout {
  nodes: Map<string, Placed>;
  edges: [string, string][];
  layers: number;
  /** The most nodes of a layer. */
  rows: number;
  /** The longest chain, first to last. */
  longest: string[];
}

const SWEEPS = 4;

export function layOut(bonds: Bond[]): Layout {
  const edges: [string, string][] = bonds.map((bond) => [bond.source_id, bond.target_id]);
  const after = groups(edges);
  const before = groups(edges.map(([source, target]) => [target, source]));
  const ids = [...new Set(edges.flat())].sort();
  const layerOf = new Map<string, number>();
  const open = new Set<string>();
  const layer = (id: string): number => {
    const known = layerOf.get(id);
    if (known !== undefined) return known;
    // A cycle cannot be made; if there is one all the same, it is cut.
    if (open.has(id)) return 0;
    open.add(id);
    const found = Math.max(0, ...(before.get(id) ?? []).map((other) => layer(other) + 1));
    open.delete(id);
    layerOf.set(id, found);
    return found;
  };
  ids.forEach(layer);
  const layers: string[][] = [];
  for (const id of ids) (layers[layerOf.get(id) ?? 0] ??= []).push(id);
  sortLayers(layers, before, after);
  const nodes = new Map<string, Placed>();
  layers.forEach((row, at) =>
    row.forEach((id, place) => nodes.set(id, { id, layer: at, at: place })));
  return {
    nodes,
    edges,
    layers: layers.length,
    rows: Math.max(0, ...layers.map((row) => row.length)),
    longest: longestChain(layers, before, layerOf),
  };
}

function groups(edges: [string, string][]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [from, to] of edges) {
    const known = found.get(from);
    if (known) known.push(to);
    else found.set(from, [to]);
  }
  return found;
}

/** Puts each node near the middle of its neighbours, forth and back. */
function sortLayers(
  layers: string[][], before: Map<string, string[]>, after: Map<string, string[]>,
): void {
  const place = new Map<string, number>();
  const note = (row: string[]) => row.forEach((id, at) => place.set(id, at));
  layers.forEach(note);
  const sort = (row: string[], near: Map<string, string[]>) => {
    const middle = (id: string): number => {
      const all = near.get(id) ?? [];
      if (all.length === 0) return place.get(id) ?? 0;
      return all.reduce((sum, other) => sum + (place.get(other) ?? 0), 0) / all.length;
    };
    const middles = new Map(row.map((id) => [id, middle(id)]));
    row.sort((one, other) =>
      (middles.get(one) ?? 0) - (middles.get(other) ?? 0) || one.localeCompare(other));
    note(row);
  };
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    layers.forEach((row) => sort(row, before));
    [...layers].reverse().forEach((row) => sort(row, after));
  }
}

function longestChain(
  layers: string[][], before: Map<string, string[]>, layerOf: Map<string, number>,
): string[] {
  const chain: string[] = [];
  let next = layers.at(-1)?.[0];
  while (next !== undefined) {
    chain.unshift(next);
    const wanted = (layerOf.get(next) ?? 0) - 1;
    next = (before.get(next) ?? []).find((id) => layerOf.get(id) === wanted);
  }
  return chain;
}
