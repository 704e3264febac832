/** Requests for pools. */
import type { PoolView } from "../engine/index.ts";
import { type End, sleep } from "./platform/index.ts";
import type { Session } from "./session.ts";

const LOOK_MS = 100;

export function poolPath(name: string, group: string, { action = "", query = "" } = {}): string {
  return `/v1/pools/${encodeURIComponent(name)}${action}?group=${encodeURIComponent(group)}${query}`;
}

/** Of one group, or of all. @throws ClientError */
export async function poolsOf({ client }: Pick<Session, "client">, group: string | undefined): Promise<readonly PoolView[]> {
  const query = group === undefined ? "" : `?group=${encodeURIComponent(group)}`;
  return (await client.call<{ pools: PoolView[] }>("GET", `/v1/pools${query}`)).pools;
}

/**
 * Waits until each of these pools has as many containers as it is to have. Returns the names of the others with the reason, as soon as a container of one cannot be made, or when
 * the time is over. @throws ClientError unknown-pool
 */
export async function untilFilled(
  { client, group }: Session,
  names: readonly string[],
  end: End | undefined,
): Promise<ReadonlyMap<string, string>> {
  for (;;) {
    const pools = await Promise.all(names.map((name) => client.call<PoolView>("GET", poolPath(name, group))));
    const open = pools.filter(({ parked, taken, size }) => parked + taken < size);
    const failing = open.filter((one) => one.failing !== null);
    if (open.length === 0 || failing.length > 0 || end?.aborted)
      return new Map(open.map((one) => [one.name, one.failing?.message ?? `${one.parked} of ${one.size} containers are there`]));
    await sleep(LOOK_MS, end);
  }
}

/** Waits until nothing is left of these pools. Returns the names of those that are left when the time is over. @throws ClientError */
export async function untilRemoved(session: Session, names: readonly string[], end: End | undefined): Promise<readonly string[]> {
  for (;;) {
    const pools = await poolsOf(session, session.group);
    const left = names.filter((name) => pools.some((one) => one.name === name && one.state === "ending"));
    if (left.length === 0 || end?.aborted) return left;
    await sleep(LOOK_MS, end);
  }
}
