/** What the routes of one socket work with. */
import type { Engine } from "../../engine/index.ts";
import type { Peers } from "../peers.ts";
import type { Slots } from "./slots.ts";
import type { Timings } from "./timings.ts";

export interface Services {
  readonly engine: Engine;
  readonly peers: Peers;
  readonly timings: Timings;
  /** Readers of the journal and of logs. */
  readonly subscribers: Slots;
  /** Connections that were upgraded. */
  readonly streams: Slots;
  /** May change something. */
  readonly isAdmin: boolean;
}
