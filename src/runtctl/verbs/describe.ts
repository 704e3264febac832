import type { ContainerView, ScheduleView, ServiceView, TaskDetail, TaskView } from "../../engine/index.ts";
import type { PodStatus } from "../../pod/index.ts";
import { EXIT } from "../errors.ts";
import { bytes, progressText } from "../output/bar.ts";
import { agentText, chainOf, textOf } from "../output/event-line.ts";
import { stateOf } from "../output/rows.ts";
import { printable, type Style, stateStyle, styleFor } from "../output/style.ts";
import { age, field } from "../output/table.ts";
import { print, stdout } from "../platform/index.ts";
import { serviceIfThere } from "../rollouts.ts";
import type { Session } from "../session.ts";
import { inTask, podShown, taskIfThere, taskOf, tasksOf } from "../tasks.ts";
import { verb } from "../verb.ts";
import { historyOf } from "./events.ts";
import { revisionsOf, statusOf } from "./rollout.ts";

export const describe = verb({
  name: "describe",
  summary: "show the details of a task: its containers, reasons and events",
  description: [
    "For a replica, describe also tells of the rollout of its service. If there is no task of that name, but a service, it shows the rollout, and the replicas whose connections are awaited before they are stopped.",
    "describe prints a reason with its cause below it. It shows the values of environment variables only to users who may connect to admin.sock.",
  ],
  define: (command) => command.argument("<name>", "of a task, or its id; or of a service"),
  async run(session, [name = ""]) {
    const task = await taskIfThere(session, name);
    if (task === undefined) {
      // If there is no service either, the task is what was meant.
      const service = (await serviceIfThere(session, name)) ?? (await taskOf(session, name).then(() => undefined));
      if (service !== undefined) print(await serviceText(session, service));
      return EXIT.done;
    }
    const detail = await session.client.call<TaskDetail>("GET", inTask(session, task.id, "detail"));
    const { lastSequence } = await session.client.call<{ lastSequence: number }>("GET", "/v1/node");
    const style = styleFor(stdout);
    const lines = [
      ...head(task, detail, style),
      ...(await replicaLines(session, task, detail)),
      ...podLines((await podShown(session, task, detail))?.status),
      ...task.containers.flatMap((one) => containerLines(task, one, detail, style)),
    ];
    lines.push("", style("bold", "Events"));
    for (const { sequence, event } of await historyOf(session, task.id, lastSequence)) {
      lines.push(`  ${style("dim", `${sequence}  ${new Date(event.wallMs).toISOString()}`)}  ${textOf(event, style)}`);
    }
    print(lines.join("\n"));
    return EXIT.done;
  },
});

/** Of the rollout of its service. */
async function replicaLines(session: Session, task: TaskView, { spec }: TaskDetail): Promise<string[]> {
  if (spec["update"] === undefined) return [];
  const of = (spec["replica"] as { readonly of?: string } | undefined)?.of ?? task.name;
  const service = await serviceIfThere(session, of);
  if (service === undefined) return [];
  const { revision, kind, state, reason, replicas } = service;
  const own = replicas.find((one) => one.name === task.name);
  const place = own === undefined ? "" : `, replica ${own.index} of ${replicas.length} is ${own.state}`;
  const lines = [`${of}${place}`, `${kind} to revision ${revision} is ${state}${reason === null ? "" : `: ${reason}`}`];
  return lines.map((line, at) => field(at === 0 ? "Service" : "Rollout", printable(line)));
}

async function serviceText(session: Session, service: ServiceView): Promise<string> {
  const names = new Set(service.replicas.map((one) => one.name));
  const drained = (await tasksOf(session)).flatMap(({ id, name, drain }) =>
    drain !== undefined && names.has(name) ? [field("Drain", `${id} ${drainText(drain)}`)] : [],
  );
  return [statusOf(service), ...drained, "", revisionsOf(service)].join("\n");
}

function head(task: TaskView, { reason, readiness, resources, users, spec }: TaskDetail, style: Style): string[] {
  return [
    field("Task", style("bold", task.name)),
    field("Group", task.group),
    field("Id", task.id),
    field("Digest", task.digest),
    field("State", `${style(stateStyle(task.known), task.known)}, wanted ${task.desired}`),
    field("Readiness", `${readiness.state}${readiness.why === "" ? "" : `: ${printable(readiness.why)}`}`),
    ...(task.waiting === null ? [] : [field("Waits for", task.waiting.map(printable).join("; "))]),
    ...networksOf(spec).map((name) => field("Network", name)),
    ...(task.networkLacks === undefined ? [] : [field("Network", `only loopback: ${printable(task.networkLacks)}`)]),
    ...(task.ports ?? []).map((port) => field("Port", port)),
    ...(task.drain === undefined ? [] : [field("Drain", drainText(task.drain))]),
    ...(task.schedule === undefined ? [] : scheduleLines(task.schedule)),
    ...(task.run === undefined ? [] : [field("Run", `of ${task.run.of}, ${new Date(task.run.atMs).toISOString()}`)]),
    ...(task.addresses.length === 0 ? [] : [field("Address", task.addresses.join(", "))]),
    field("Created", `${new Date(task.createdMs).toISOString()} (${age(Date.now() - task.createdMs)} ago)`),
    ...resources.map(({ name, known }) => field("Resource", `${printable(name)} ${known}`)),
    ...(users === undefined
      ? []
      : [field("Users", `0 to ${users.count - 1} are ${users.first} to ${users.first + users.count - 1} of the host`)]),
    ...reasonLines(reason && chainOf(reason)),
  ];
}

function drainText({ connections, untilMs }: NonNullable<TaskView["drain"]>): string {
  const what = connections === null ? "connections" : `${connections} ${connections === 1 ? "connection" : "connections"}`;
  return `waits for the end of ${what}, until ${new Date(untilMs).toISOString()} at most`;
}

function scheduleLines({ cron, timeZone, overlap, suspended, nextMs, lastMs, heldMs, runs }: ScheduleView): string[] {
  const time = (ms: number) => new Date(ms).toISOString();
  return [
    field("Schedule", printable(`${cron}, ${timeZone ?? "time zone of the daemon"}, overlap: ${overlap}${suspended ? ", suspended" : ""}`)),
    field("Next run", nextMs === null ? "none" : `${time(nextMs)} (in ${age(Math.max(0, nextMs - Date.now()))})`),
    field("Last run", lastMs === null ? "none" : time(lastMs)),
    ...(heldMs === null ? [] : [field("Held", `the run of ${time(heldMs)} waits for the end of the one before`)]),
    ...runs.map(({ atMs, state, tasks, endedMs }) => {
      const end = endedMs === null ? "" : `, ended ${time(endedMs)}`;
      return field("Run", `${time(atMs)} ${state}${end}: ${tasks.map(printable).join(", ")}`);
    }),
  ];
}

function podLines(status: PodStatus | undefined): string[] {
  if (status === undefined) return [];
  const conditions = (status.conditions ?? []).map(
    ({ type, status: holds, reason }) => `${type}=${holds}${reason === undefined ? "" : ` (${reason})`}`,
  );
  return [field("Pod", `${status.phase}, ${status.qosClass}`), field("Conditions", conditions.join(", "))];
}

const CHECKS = [
  ["postStart", "After start"],
  ["startup", "Startup"],
  ["liveness", "Liveness"],
  ["health", "Health"],
] as const;

function checkLines(title: string, state: TaskDetail["containers"][number]["health"] | undefined): string[] {
  if (!state) return [];
  return [
    field(title, `${state.status}, ${state.failures} failures in a row`),
    ...(state.output ? [field("Last check", printable(state.output.trimEnd()))] : []),
  ];
}

function containerLines(task: TaskView, container: ContainerView, { containers, spec }: TaskDetail, style: Style): string[] {
  const detail = containers.find(({ name }) => name === container.name);
  const asked = (spec["containers"] as readonly Readonly<Record<string, unknown>>[] | undefined)?.find(
    ({ name }) => name === container.name,
  );
  const exit = container.exit;
  const state = stateOf(task, container);
  return [
    "",
    `${style("bold", `Container ${printable(container.name)}`)}  ${style(stateStyle(state), state)}, wanted ${container.desired}`,
    ...[
      field("Id", `${printable(container.id)} (generation ${container.generation}, ${container.restarts} restarts)`),
      ...(container.pullProgress === undefined ? [] : [field("Pull", progressText(container.pullProgress))]),
      ...(container.image === null
        ? []
        : [field("Image", printable(container.image.reference)), field("Image digest", container.image.digest)]),
      ...(typeof asked?.["command"] === "string" ? [field("Command", commandOf(asked))] : []),
      ...environmentOf(asked).map((line) => field("Environment", line)),
      ...limitsOf(asked).map((line) => field("Limits", line)),
      ...mountsOf(asked).map((line) => field("Mount", line)),
      ...(detail?.dependsOn ?? []).map((one) => field("Depends on", printable(one))),
      ...(container.startedMs === null ? [] : [field("Started", new Date(container.startedMs).toISOString())]),
      ...(container.stoppedMs === null ? [] : [field("Stopped", new Date(container.stoppedMs).toISOString())]),
      ...(exit === null ? [] : [field("Exit", exit.unknown ? "unknown" : `${exit.code}${exit.oomKilled ? ", out of memory" : ""}`)]),
      ...(detail?.endMessage ? [field("Message", printable(detail.endMessage.trimEnd()))] : []),
      ...(detail?.failedCheck === undefined
        ? []
        : [
            field("Failed check", detail.failedCheck.check),
            ...(detail.failedCheck.output ? [field("Its output", printable(detail.failedCheck.output.trimEnd()))] : []),
          ]),
      ...CHECKS.flatMap(([kind, title]) => checkLines(title, detail?.[kind])),
      ...container.agents.map((one) => field("Agent", `${one.name} ${style(stateStyle(one.known), one.known)}${agentText(one)}`)),
      ...reasonLines(detail?.reason ? chainOf(detail.reason) : null),
      field("Log", printable(container.log)),
    ].map((line) => `  ${line}`),
  ];
}

function commandOf(asked: Readonly<Record<string, unknown>>): string {
  return [asked["command"], ...((asked["args"] as readonly string[] | undefined) ?? [])].map((word) => printable(String(word))).join(" ");
}

type Fields = Readonly<Record<string, unknown>>;

/** Names of the group's networks of a task. Networks of the task alone have no name. */
function networksOf(spec: Fields): string[] {
  const network = spec["network"] as { mode: string; name?: string; further?: readonly { name: string }[] } | undefined;
  if (network === undefined) return [];
  const names = [network.name, ...(network.further ?? []).map(({ name }) => name)].flatMap((name) => name ?? []);
  return names.length === 0 ? [`mode ${network.mode}`] : names.map(printable);
}

const LIMITS = ["cpus", "cpuset", "memory", "memoryReservation", "pids"] as const;
/** In bytes. */
const SIZES: ReadonlySet<string> = new Set(["memory", "memoryReservation"]);

function limitsOf(asked: Fields | undefined): string[] {
  const textOfLimit = (name: string, value: unknown) => (SIZES.has(name) && typeof value === "number" ? bytes(value) : String(value));
  const given = LIMITS.flatMap((name) => (asked?.[name] === undefined ? [] : [`${name} ${printable(textOfLimit(name, asked[name]))}`]));
  return given.length === 0 ? [] : [given.join(", ")];
}

interface AskedMount {
  readonly volume?: string;
  readonly source?: string;
  readonly subPath?: string;
  readonly target: string;
  readonly readOnly: boolean;
}

function mountsOf(asked: Fields | undefined): string[] {
  return ((asked?.["mounts"] ?? []) as readonly AskedMount[]).map(({ volume, source = `volume ${volume}`, subPath, target, readOnly }) =>
    printable(`${target} from ${source}${subPath === undefined ? "" : `, ${subPath} of it`}${readOnly ? ", read-only" : ""}`),
  );
}

function environmentOf(asked: Readonly<Record<string, unknown>> | undefined): string[] {
  const env = (asked?.["env"] ?? {}) as Readonly<Record<string, string | null>>;
  return Object.entries(env).map(([name, value]) => `${printable(name)}${value === null ? " (value not shown)" : `=${printable(value)}`}`);
}

function reasonLines(chain: readonly string[] | null): string[] {
  return (chain ?? []).map((text, depth) =>
    field(depth === 0 ? "Reason" : "", `${"  ".repeat(depth)}${depth === 0 ? "" : "because "}${text}`),
  );
}
