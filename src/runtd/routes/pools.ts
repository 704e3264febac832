/** Pools of prepared containers. */
import { z } from "zod";
import { jsonRoute, streamRoute } from "../http/route.ts";
import { log } from "../log.ts";
import { groupName, inGroup } from "../schemas/names.ts";
import { poolDetail, poolView, redacted } from "../schemas/pool.ts";
import { runOn } from "../streams/pool-run.ts";

const poolParams = z.object({ name: z.string().min(1).max(63).describe("Name of a pool in the group.") });

export const listPools = jsonRoute({
  method: "get",
  path: "/v1/pools",
  operation: "listPools",
  access: "read",
  summary: "List the pools, with the numbers of their containers",
  query: z.object({ group: groupName.optional().describe("Default: every group.") }),
  answer: { status: 200, description: "By group and name", schema: z.strictObject({ pools: z.array(poolView) }) },
  handle: ({ engine, query: { group } }) => ({ pools: engine.pools.list().filter((one) => group === undefined || one.group === group) }),
});

export const getPool = jsonRoute({
  method: "get",
  path: "/v1/pools/{name}",
  operation: "getPool",
  access: "read",
  summary: "Show a pool with its spec",
  params: poolParams,
  query: inGroup,
  answer: { status: 200, description: "The pool", schema: poolDetail },
  errors: ["unknown-pool"],
  handle({ engine, isAdmin, params: { name }, query: { group } }) {
    const found = engine.pools.get(name, group);
    return isAdmin ? { ...found, spec: { ...found.spec } } : redacted(found);
  },
});

export const deletePool = jsonRoute({
  method: "delete",
  path: "/v1/pools/{name}",
  operation: "deletePool",
  access: "admin",
  summary: "Remove a pool",
  description: "The pool gives out no more containers. Programs that run may end, unless `kill` is set; each has its deadline.",
  params: poolParams,
  query: inGroup.extend({ kill: z.enum(["true", "false"]).default("false").describe("true: programs that run are killed.") }),
  answer: { status: 202, description: "The request is recorded, but not carried out yet", schema: z.strictObject({ name: z.string() }) },
  errors: ["unknown-pool", "not-written"],
  async handle({ engine, params: { name }, query: { group, kill }, caller }) {
    const by = await caller();
    await engine.pools.delete(name, group, kill === "true" ? "kill" : "drain", by);
    log("info", "pool-delete-asked", { pool: name, group, by });
    return { name };
  },
});

export const runInPool = streamRoute({
  method: "post",
  path: "/v1/pools/{name}/run",
  operation: "runInPool",
  access: "admin",
  summary: "Run a program in a container of a pool, on this connection",
  description:
    "The request needs `Connection: Upgrade` and `Upgrade: runtd-stream/1`. The frames are those of `execInTask`. The client begins with 0 (JSON: PoolRunStart), and sends the contents of its files in frames of kind 5. " +
    "Then it sends 1 (bytes for stdin) and 2 (end of stdin). The daemon sends 16 when the program runs, 17 stdout and 18 stderr. At the end it sends 19 (JSON: PoolRunEnd), or 20 (JSON: code, message, exitStatus) if the program could not be started. " +
    "If the client disconnects, everything in the container is killed. A client that does not read its output stops the program, which is killed at its deadline; 30 seconds after the end the rest of the output is dropped.",
  params: poolParams,
  query: inGroup,
  answer: { status: 101, description: "The connection now carries frames" },
  errors: ["unknown-pool", "upgrade-required", "too-many"],
  open({ engine, params: { name }, query: { group } }) {
    const { spec } = engine.pools.get(name, group);
    return (stream) => runOn(stream, spec.outputSize, (request) => engine.pools.take(name, group, request));
  },
});
