/** Follows the rollouts of services. */
import type { EngineEvent, ServiceView } from "../engine/index.ts";
import { ClientError } from "./client.ts";
import { followEvents } from "./event-stream.ts";
import { type End, sleep } from "./platform/index.ts";
import type { Session } from "./session.ts";

type RolloutEvent = Extract<EngineEvent, { type: "rollout" }>;

export interface Following {
  /** Names of services of the session's group. */
  readonly names: readonly string[];
  /** undefined: without a limit. */
  readonly end?: End | undefined;
  /** Number of the last event that is known. undefined: the last one that there is. */
  readonly after?: number | undefined;
  /** Called with each event of these services. */
  readonly onEvent?: (event: RolloutEvent) => void;
}

const LOOK_MS = 100;

/** @param action the last part of the path */
export function rolloutPath(name: string, group: string, action?: "undo" | "pause" | "resume" | "restart" | "scale"): string {
  const below = action === undefined ? "" : `/${action}`;
  return `/v1/rollouts/${encodeURIComponent(name)}${below}?group=${encodeURIComponent(group)}`;
}

/** undefined: the group has no such service. @throws ClientError */
export async function serviceIfThere({ client, group }: Session, name: string): Promise<ServiceView | undefined> {
  try {
    return await client.call<ServiceView>("GET", rolloutPath(name, group));
  } catch (error) {
    if (error instanceof ClientError && (error.code === "unknown-service" || error.code === "invalid-argument")) return undefined;
    throw error;
  }
}

/** Returns when no rollout of these services goes on, or the time is over: the services as they are then. @throws ClientError */
export async function untilRolledOut(
  { client, sockets, group }: Session,
  { names, end, after, onEvent = () => {} }: Following,
): Promise<readonly ServiceView[]> {
  const look = () => Promise.all(names.map((name) => client.call<ServiceView>("GET", rolloutPath(name, group))));
  const isOver = (services: readonly ServiceView[]) => services.every(({ state }) => state !== "progressing");
  const lastSequence = after ?? (await client.call<{ lastSequence: number }>("GET", "/v1/node")).lastSequence;
  const first = await look();
  try {
    // What has happened between the request and this moment is told, too.
    if (isOver(first) && after === undefined) return first;
    const { lastSequence: newest } = await client.call<{ lastSequence: number }>("GET", "/v1/node");
    if (isOver(first) && newest <= lastSequence) return first;
    for await (const told of followEvents(sockets, lastSequence, { end })) {
      const event = "event" in told && told.event.type === "rollout" ? told.event : undefined;
      const isOwn = event?.group === group && names.includes(event.name);
      if (isOwn) onEvent(event!);
      // Events of others say nothing, except that all events from before are read. A gap may have hidden the end.
      const isRead = !("event" in told) || told.sequence >= newest;
      if (!isRead || ("event" in told && !isOwn && told.sequence > newest)) continue;
      const services = await look();
      if (isOver(services)) return services;
    }
    return await look();
  } catch (error) {
    // There are as many readers of events as the daemon takes.
    if (!(error instanceof ClientError && error.code === "refused")) throw error;
    for (;;) {
      const services = await look();
      if (isOver(services) || end?.aborted === true) return services;
      await sleep(LOOK_MS, end);
    }
  }
}
