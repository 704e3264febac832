/** Points at which tests kill the daemon: each stage of each action. */
import { STAGES } from "../../src/engine/run/probe.ts";

/** How often each point is hit; 0: of each action one point, another one each day. */
export const TIMES = Number(process.env["RUNT_ENGINE_AIMED_KILLS"] ?? 0);
/** All that the engine does without a network or images. */
const ACTIONS = [
  "createResource",
  "pull",
  "create",
  "start",
  "checkHealth",
  "update",
  "preStop",
  "stop",
  "remove",
  "removeResource",
  "forget",
];
export const DAY = Math.floor(Date.now() / 86_400_000);
export const POINTS = ACTIONS.flatMap((action, index) =>
  (TIMES === 0 ? [STAGES[(index + DAY) % STAGES.length]!] : STAGES).map((stage) => [stage, action] as const),
);
