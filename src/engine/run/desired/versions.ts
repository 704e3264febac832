/** Versions of services in files and requests. Pure. */
import { movedImages, type RevisionImages, type RevisionNote } from "../../model/index.ts";
import { replicaOf, type TaskSpec } from "../../spec/index.ts";
import { fieldDifferences } from "./differences.ts";

/** A version that a request asks for. */
export interface Version {
  readonly group: string;
  readonly name: string;
  readonly specs: readonly TaskSpec[];
  readonly cause: RevisionNote["cause"];
  readonly of?: number;
  /** The images that it has. Absent: each new replica pulls its own. */
  readonly images?: RevisionImages | undefined;
  /** A replica runs with another spec. */
  readonly isStale?: boolean;
  /** Every replica is replaced, also those that run with the wanted spec. */
  readonly isForced?: boolean;
}

/** The services of a file, with their replicas by index. */
export function servicesOf(specs: readonly TaskSpec[]): ReadonlyMap<string, readonly TaskSpec[]> {
  const all = new Map<string, TaskSpec[]>();
  for (const spec of specs) {
    const place = replicaOf(spec);
    const others = place && all.get(place.service);
    if (others !== undefined) others.push(spec);
    else if (place !== undefined) all.set(place.service, [spec]);
  }
  for (const list of all.values()) list.sort((a, b) => (replicaOf(a)?.index ?? 0) - (replicaOf(b)?.index ?? 0));
  return all;
}

const MOST_POINTERS = 20;

/** Fields of the first replica, as pointers without values, because values may be secrets. */
export function changesBetween(
  before: readonly TaskSpec[] | undefined,
  now: readonly TaskSpec[],
  imagesBefore: RevisionImages | undefined,
  images: RevisionImages | undefined,
): string[] {
  if (before?.[0] === undefined || now[0] === undefined) return [];
  const pointers = fieldDifferences(before[0], now[0], "").map(({ pointer }) => pointer);
  const fields = [...new Set([...pointers, ...movedImages(now[0], imagesBefore, images)])];
  return [...fields.slice(0, MOST_POINTERS), ...(before.length === now.length ? [] : ["replicas"])];
}
