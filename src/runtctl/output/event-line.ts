/** Formats one event as one line. */
import type { ContainerExit, EngineEvent, Reason } from "../../engine/index.ts";
import { sizeText } from "./bar.ts";
import { printable, type Style, stateStyle } from "./style.ts";

/** Local time, sequence number, task and description. */
export function eventLine(sequence: number, event: EngineEvent, style: Style): string {
  const time = new Date(event.wallMs).toTimeString().slice(0, 8);
  return [style("dim", `${String(sequence).padStart(6)}  ${time}`), style("bold", nameOf(event)), textOf(event, style)].join("  ");
}

/** Name of the task or of the service, or what of the host it is about. */
function nameOf(event: EngineEvent): string {
  if (event.type === "interface") return printable(event.interface);
  if (event.type === "packetFilter") return "packet filter";
  return event.type === "watch" ? printable(event.path) : event.name;
}

const SCHEDULE_TEXT = {
  started: "started",
  missed: "missed: it could not start in time",
  held: "waits for the end of the run before",
  taken: "left out: another task has its name",
  reset: "counts from now on: the clock of the host was set back",
} as const;

/** Describes an event, without the name of the task. */
export function textOf(event: EngineEvent, style: Style): string {
  switch (event.type) {
    case "added":
      return `added, ${event.digest.slice(0, 19)}`;
    case "removed":
      return "removed";
    case "schedule":
      return `run of ${new Date(event.atMs).toISOString()} ${SCHEDULE_TEXT[event.state]}`;
    case "admitted":
      return "has room on the host";
    case "request":
      return `${event.request} asked by ${callerText(event.by)}`;
    case "task":
      return `task ${stateText(event.known, style)}${event.desired === event.known ? "" : `, wanted ${event.desired}`}${reasonText(event.reason)}`;
    case "waiting":
      return `waits: ${event.missing.map(printable).join("; ")}`;
    case "container":
      return `container ${printable(event.container)} ${stateText(event.known, style)}${exitText(event.exit)}${reasonText(event.reason)}${adjustedText(event)}`;
    case "image":
      return imageText(event, style);
    case "pull":
      return `container ${printable(event.container)} ${event.phase} ${printable(event.reference)}${sizeText(event.size)}`;
    case "health":
      return `container ${printable(event.container)} ${event.status}`;
    case "check":
      return `${event.check} of container ${printable(event.container)} ${event.status}`;
    case "agent":
      return `agent ${event.agent} of container ${printable(event.container)} ${stateText(event.known, style)}${agentText(event)}`;
    case "resource":
      return `resource ${printable(event.resource)} ${event.known}`;
    case "interface":
      return `interface ${printable(event.interface)} ${event.state}${event.task === null ? "" : ` by ${event.task}`}${event.by === undefined ? "" : `, asked by ${callerText(event.by)}`}`;
    case "watch":
      return watchText(event, style);
    case "packetFilter":
      return style("yellow", `${printable(event.message)}; it is written again`);
    case "rollout":
      return rolloutText(event, style);
    case "pool":
      return poolText(event, style);
    case "lost":
      return style(
        "red",
        `the records of container ${printable(event.container)} are lost, and it is stopped: ${printable(event.message)}`,
      );
    case "left":
      return style("yellow", `${printable(event.of)} is left, which is tried again: ${printable(event.message)}`);
    case "alarm":
      return style("red", `container ${printable(event.container)} could not be stopped ${event.failures} times`);
  }
}

/** Such as "uid 0, pid 312". */
function callerText({ uid, pid, via }: { readonly uid: number; readonly pid: number; readonly via?: string | undefined }): string {
  return via === undefined ? `uid ${uid}, pid ${pid}` : printable(via);
}

function watchText({ state, message, commit }: Extract<EngineEvent, { type: "watch" }>, style: Style): string {
  const colour = state === "refused" ? "red" : state === "drifted" ? "yellow" : "green";
  return `${style(colour, state)}${commit === undefined ? "" : ` at ${commit.slice(0, 12)}`}: ${printable(message)}`;
}

const ROLLOUT_TEXT: Readonly<Record<Extract<EngineEvent, { type: "rollout" }>["state"], string>> = {
  started: "has begun",
  replacing: "is replaced",
  ready: "works",
  good: "is good",
  failed: "has failed",
  left: "is left as it is",
  paused: "is paused",
  resumed: "goes on",
  "rolling-back": "goes back",
  complete: "is complete",
  incomplete: "has ended, and is not complete",
};

/** Describes what has become of a rollout, without the name of the service. */
export function rolloutText(
  { revision, state: what, replica, reason, by }: Extract<EngineEvent, { type: "rollout" }>,
  style: Style,
): string {
  const of = replica === undefined ? "" : `: replica ${replica}`;
  const asked = by === undefined ? "" : `, asked by ${callerText(by)}`;
  const text = `rollout to revision ${revision}${of} ${ROLLOUT_TEXT[what]}${asked}${reasonText(reason ?? null)}`;
  return what === "failed" || what === "incomplete" ? style("red", text) : text;
}

const POOL_TEXT: Readonly<Record<Extract<EngineEvent, { type: "pool" }>["state"], string>> = {
  added: "pool added",
  failing: "no container of the pool can be made",
  recovered: "containers of the pool can be made again",
  ending: "pool is being removed",
  removed: "pool removed",
};

function poolText({ state, message, by }: Extract<EngineEvent, { type: "pool" }>, style: Style): string {
  const asked = by === undefined ? "" : `, asked by uid ${by.uid}, pid ${by.pid}`;
  const text = `${POOL_TEXT[state]}${message === undefined ? "" : `: ${printable(message)}`}${asked}`;
  return state === "failing" ? style("red", text) : text;
}

function imageText({ container, reference, digest, via, error }: Extract<EngineEvent, { type: "image" }>, style: Style): string {
  const what = `container ${printable(container)} is of ${printable(reference)}, ${digest.slice(0, 19)}`;
  if (via !== "usingCachedDigest") return what;
  return style("yellow", `${what}, from before: the source has failed: ${printable(error ?? "")}`);
}

/** For an agent: how often it was restarted, and its pid or the reason why it does not run. */
export function agentText({ pid, restarts, reason }: Pick<Extract<EngineEvent, { type: "agent" }>, "pid" | "restarts" | "reason">): string {
  const why = reason === null ? `, pid ${pid}` : `: ${printable(reason)}`;
  return `${restarts === 0 ? "" : `, started again ${restarts} times`}${why}`;
}

function adjustedText({ adjusted }: Extract<EngineEvent, { type: "container" }>): string {
  return adjusted === undefined ? "" : `, cpuShares ${adjusted.cpuShares.applied} instead of ${adjusted.cpuShares.asked}`;
}

function stateText(known: string, style: Style): string {
  return style(stateStyle(known), known);
}

function exitText(exit: ContainerExit | null): string {
  if (exit === null) return "";
  if (exit.unknown) return ", exit unknown";
  return exit.code === null ? "" : `, exit ${exit.code}${exit.oomKilled ? " (out of memory)" : ""}`;
}

function reasonText(reason: Reason | null): string {
  return reason === null ? "" : `: ${chainOf(reason).join(" <- ")}`;
}

/** The texts of a reason and its causes, the outermost first. */
export function chainOf({ text, cause }: Reason): string[] {
  return [printable(text), ...(cause === undefined ? [] : chainOf(cause))];
}
