import type { Verb } from "../verb.ts";
import { apply } from "./apply.ts";
import { attach } from "./attach.ts";
import { autoupdate } from "./autoupdate.ts";
import { build } from "./build.ts";
import { completion } from "./completion.ts";
import { remove } from "./delete.ts";
import { describe } from "./describe.ts";
import { events } from "./events.ts";
import { exec } from "./exec.ts";
import { get } from "./get.ts";
import { inspect, load, push, save, tag } from "./image-work.ts";
import { images } from "./images.ts";
import { interfaces } from "./interfaces.ts";
import { restart, rollback, start, stop } from "./life.ts";
import { login, logout } from "./login.ts";
import { logs } from "./logs.ts";
import { node } from "./node.ts";
import { plan } from "./plan.ts";
import { pool } from "./pool.ts";
import { portForward } from "./port-forward.ts";
import { pull } from "./pull.ts";
import { rollout } from "./rollout.ts";
import { run } from "./run.ts";
import { scale } from "./scale.ts";
import { schema } from "./schema.ts";
import { top } from "./top.ts";
import { validate } from "./validate.ts";
import { volumes } from "./volumes.ts";

/** Every verb, in the order of the help. */
export const VERBS: readonly Verb[] = [
  validate,
  plan,
  apply,
  build,
  run,
  get,
  describe,
  events,
  logs,
  exec,
  attach,
  portForward,
  top,
  node,
  stop,
  start,
  restart,
  rollback,
  rollout,
  scale,
  autoupdate,
  remove,
  login,
  logout,
  pull,
  images,
  inspect,
  tag,
  push,
  save,
  load,
  volumes,
  pool,
  interfaces,
  schema,
  completion,
];
