import { z } from "zod";
import type { Engine, UsageView } from "../../engine/index.ts";
import { exposition, guestSamples, type Sample } from "../../shared/metrics/index.ts";
import type { EventLoop } from "../event-loop.ts";
import { jsonRoute, textRoute } from "../http/route.ts";
import type { Timings } from "../http/timings.ts";
import { unexpectedErrors } from "../last-handlers.ts";
import { groupName } from "../schemas/names.ts";
import type { Watch } from "../watch/watch.ts";

const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export const getMetrics = textRoute({
  method: "get",
  path: "/v1/metrics",
  operation: "getMetrics",
  access: "read",
  summary: "Metrics in the format of Prometheus",
  answer: { status: 200, description: "Metrics in the text format", type: METRICS_TYPE },
  respond: async ({ engine, timings, eventLoop, watch, context }) => {
    const guests = guestSamples(await engine.guestReports());
    const samples = [...samplesOf(engine, timings, eventLoop), ...watchSamples(watch), ...guests];
    return context.body(exposition(samples), 200, { "content-type": METRICS_TYPE });
  },
});

/** The metrics of the daemon. */
function samplesOf(engine: Engine, { all }: Timings, { holdUps }: EventLoop): Sample[] {
  const { epoch, lastSequence, conditions } = engine.node;
  const tasks = engine.list();
  return [
    { name: "runtd_tasks", type: "gauge", help: "Tasks by what is known of them.", values: counted(tasks.map(({ known }) => known)) },
    {
      name: "runtd_containers",
      type: "gauge",
      help: "Containers by what is known of them.",
      values: counted(tasks.flatMap(({ containers }) => containers.map(({ known }) => known))),
    },
    {
      name: "runtd_events_total",
      type: "counter",
      help: "Events of the journal, over all starts of the daemon.",
      values: [{ value: lastSequence }],
    },
    {
      name: "runtd_request_seconds",
      type: "summary",
      help: "Requests by operation (openapi.json), and how long their answers took.",
      values: all.flatMap(({ operation, count, seconds }) => [
        { suffix: "_sum", labels: { operation }, value: seconds } as const,
        { suffix: "_count", labels: { operation }, value: count } as const,
      ]),
    },
    { name: "runtd_epoch", type: "counter", help: "Starts of the daemon in this state directory.", values: [{ value: epoch }] },
    {
      name: "runtd_condition",
      type: "gauge",
      help: "1 for each condition of the host that holds.",
      values: conditions.map(({ type }) => ({ labels: { type }, value: 1 })),
    },
    ...poolSamples(engine),
    ...rolloutSamples(engine),
    ...logSamples(engine),
    {
      name: "runtd_event_loop_held_seconds",
      type: "gauge",
      help: "How long the daemon could answer nobody, of the last one to two minutes: the longest time (1), and quantiles.",
      values: holdUps.map(({ quantile, seconds }) => ({ labels: { quantile }, value: seconds })),
    },
    {
      name: "runtd_unexpected_errors_total",
      type: "counter",
      help: "Errors that only the last handler of the daemon has got. Each is a defect; the log has it.",
      values: [{ value: unexpectedErrors() }],
    },
    { name: "runtd_resident_bytes", type: "gauge", help: "Memory of the daemon.", values: [{ value: process.memoryUsage.rss() }] },
  ];
}

function watchSamples({ counts: { applied, refused, drifted } }: Pick<Watch, "counts">): Sample[] {
  const values = Object.entries({ applied, refused }).map(([state, value]) => ({ labels: { state }, value }));
  return [
    { name: "runtd_watched_files", type: "gauge", help: "Files of watched directories, and directories that cannot be watched.", values },
    { name: "runtd_watch_drifted", type: "gauge", help: "Watched files whose tasks were changed by others.", values: [{ value: drifted }] },
  ];
}

function counted(states: readonly string[]) {
  return [...new Set(states)].sort().map((state) => ({ labels: { state }, value: states.filter((one) => one === state).length }));
}

/** Metrics of services with replicas. */
function rolloutSamples(engine: Engine): Sample[] {
  const services = engine.rollouts.list();
  const draining = engine.list().filter(({ drain }) => drain !== undefined).length;
  return [
    {
      name: "runtd_rollouts",
      type: "gauge",
      help: "Services by the state of their last rollout.",
      values: counted(services.map(({ state }) => state)),
    },
    {
      name: "runtd_service_replicas",
      type: "gauge",
      help: "Replicas of a service by their state in the rollout.",
      values: services.flatMap(({ group, name: service, replicas }) =>
        counted(replicas.map(({ state }) => state)).map(({ labels, value }) => ({ labels: { group, service, ...labels }, value })),
      ),
    },
    {
      name: "runtd_service_revision",
      type: "gauge",
      help: "Revision to which the last rollout of a service leads.",
      values: services.map(({ group, name: service, revision }) => ({ labels: { group, service }, value: revision })),
    },
    {
      name: "runtd_service_failed_revisions",
      type: "gauge",
      help: "Revisions that have failed, of the last ten of a service.",
      values: services.map(({ group, name: service, history }) => ({
        labels: { group, service },
        value: history.filter(({ verdict }) => verdict === "failed").length,
      })),
    },
    {
      name: "runtd_draining_tasks",
      type: "gauge",
      help: "Tasks that wait for the end of their connections before they are stopped.",
      values: [{ value: draining }],
    },
  ];
}

/** Metrics of each existing container. A restart resets them. */
function logSamples(engine: Engine): Sample[] {
  const uses = engine.logUses();
  const of = (name: string, help: string, field: "lines" | "bytes" | "droppedLines" | "droppedBytes"): Sample => ({
    name,
    type: "counter",
    help,
    values: uses.map(({ task, container, use }) => ({ labels: { task, container }, value: use[field] })),
  });
  return [
    of("runtd_log_lines_total", "Lines that containers have printed into their logs.", "lines"),
    of("runtd_log_bytes_total", "Bytes that containers have printed into their logs.", "bytes"),
    of("runtd_log_dropped_lines_total", "Lines that got into no log: there was no room.", "droppedLines"),
    of("runtd_log_dropped_bytes_total", "Bytes that got into no log.", "droppedBytes"),
  ];
}

/** A restart of the daemon resets the counters. */
function poolSamples({ pools }: Engine): Sample[] {
  const all = pools.list();
  type Counted = "size" | "parked" | "making" | "taken" | "waiting" | "takes" | "waits" | "refills" | "failures" | "adopted" | "discarded";
  const of = (name: string, type: Sample["type"], help: string, field: Counted): Sample => ({
    ...{ name, type, help },
    values: all.map((one) => ({ labels: { pool: one.id, group: one.group, name: one.name }, value: one[field] })),
  });
  return [
    of("runtd_pool_size", "gauge", "Containers of each pool that are to wait for a program.", "size"),
    of("runtd_pool_parked", "gauge", "Containers of each pool that wait for a program.", "parked"),
    of("runtd_pool_making", "gauge", "Containers of each pool that are being made.", "making"),
    of("runtd_pool_taken", "gauge", "Containers of each pool in which a program runs.", "taken"),
    of("runtd_pool_waiting", "gauge", "Requests that wait for a container of each pool.", "waiting"),
    of("runtd_pool_takes_total", "counter", "Programs that were started in each pool.", "takes"),
    of("runtd_pool_waits_total", "counter", "Requests to each pool that have had to wait for a container.", "waits"),
    of("runtd_pool_refills_total", "counter", "Containers that were made for each pool.", "refills"),
    of("runtd_pool_failures_total", "counter", "Containers that could not be made for each pool.", "failures"),
    of("runtd_pool_adopted_total", "counter", "Waiting containers that were taken over from an earlier daemon.", "adopted"),
    of("runtd_pool_discarded_total", "counter", "Waiting containers of each pool that were removed unused.", "discarded"),
  ];
}

const count = z.number().nullable();

const usage = z
  .strictObject({
    task: z.string().describe("Id of the task."),
    group: z.string(),
    name: z.string().describe("Name of the task."),
    container: z.string(),
    atMs: z.number().describe("Milliseconds since the epoch."),
    clockMs: z
      .number()
      .describe("Milliseconds of a monotonic clock, for the time between two answers. Two daemons in one boot have the same clock."),
    cpuUs: count.describe("Total processor time in microseconds. This and the next fields are null if the host does not count them."),
    memoryBytes: count,
    memoryLimitBytes: count.describe("null if there is no limit."),
    processes: count,
    readBytes: count,
    writtenBytes: count,
    oomKills: count.describe("Number of processes that the kernel has killed for lack of memory."),
  })
  .meta({ id: "Usage" }) satisfies z.ZodType<UsageView>;

export const getUsage = jsonRoute({
  method: "get",
  path: "/v1/usage",
  operation: "getUsage",
  access: "read",
  summary: "Show the resource usage of running containers, as counted by the kernel",
  query: z.object({ group: groupName.optional().describe("Default: every group.") }),
  answer: { status: 200, description: "One entry for each container", schema: z.strictObject({ usage: z.array(usage) }) },
  handle: async ({ engine, query }) => ({ usage: await engine.usage(query.group) }),
});
