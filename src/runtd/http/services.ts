/** The dependencies of the routes of one socket. */
import type { Engine } from "../../engine/index.ts";
import type { EventLoop } from "../event-loop.ts";
import type { Files } from "../parsing/files.ts";
import type { Peers } from "../peers.ts";
import type { Logins } from "../registries/logins.ts";
import type { Watch } from "../watch/watch.ts";
import type { Slots } from "./slots.ts";
import type { Timings } from "./timings.ts";

export interface Services {
  readonly engine: Engine;
  /** State directory of the daemon, on the file system whose space is measured. */
  readonly stateDir: string;
  readonly peers: Peers;
  readonly timings: Timings;
  readonly files: Files;
  readonly eventLoop: EventLoop;
  readonly watch: Watch;
  readonly logins: Logins;
  /** Slots of event, log and pull streams. */
  readonly subscribers: Slots;
  /** Slots of upgraded connections. */
  readonly streams: Slots;
  /** Whether requests on this socket may change something. */
  readonly isAdmin: boolean;
}
