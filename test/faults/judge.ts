/** Judges the outcome of a verb in which a fault was made. */
import type { Fault } from "./point.ts";
import type { Scenario } from "./scenario.ts";
import { type Answer, logLines } from "./world.ts";

/** Points whose failure the verb may survive, and why. Everything else that fails must be told. */
const HARMLESS: readonly (readonly [RegExp, why: string, action?: string])[] = [
  [/\bwarning\b/, "a warning that is lost"],
  [/\/@cache/, "the cache of filters: what cannot be read is compiled, what cannot be linked is written"],
  [/^runtime before (socketpair|spawnHelperEarly)/, "the helper that is started early: without it another is started with the plan"],
  [
    /^runtime before (statfsType|readFile \/proc\/self\/mountinfo)/,
    "the look at the hierarchies before the helper is told: what fails is asked again",
  ],
  [
    /^runtime before (l?stat|getxattr|readFile|open) \/sys\/fs\/cgroup\/\w+\/\S*\/container(\/cgroup\.procs)?$/,
    "one hierarchy of several: who is in the container's cgroup is listed by the others, too, and one that cannot be read keeps nobody from being seen",
  ],
  [
    /^runtime before (writeFile|readdir) \/proc\/self\/fd\/\d+\/\.(\/freezer\.state|\/cgroup\.freeze)?$/,
    "freezing for a kill, level by level: without it there is another round",
  ],
  [/^runtime before pidfdOpen$/, "a process that was listed for a signal is listed once more, and signalled by its number", "EMFILE"],
  [/^intermediate after sending pid/, "its last act: init is on its own, and intermediate is only waited for"],
];

/** Behind `ready` the runtime hears no more of init: `start` does. */
function isLate({ point }: Fault, passed: readonly string[]): boolean {
  if (point.process === "monitor") return true;
  const ready = passed.findIndex((line) => /^init \d+ after sending ready/.test(line));
  const own = passed.findIndex((line) => line.startsWith(`init ${point.number} `));
  return point.process === "init" && ready !== -1 && own >= ready;
}

/** The helper of the head start failed, or was not what the plan wants, and another was started: what became of the first and its init does not matter. */
function isOfDropped({ point }: Fault, passed: readonly string[]): boolean {
  return ["intermediate", "init"].includes(point.process) && passed.filter((line) => line.startsWith("intermediate 1 ")).length > 1;
}

/** A write knows only its descriptor: with what was passed before it. */
function placeOf(point: Fault["point"], passed: readonly string[]): string {
  const at = passed.findIndex((line) => line.startsWith(`${point.process} ${point.number} `));
  const before = passed.slice(0, Math.max(at, 0)).findLast((line) => line.startsWith(`${point.process} `));
  return point.name === "before write" ? `${point.name} ${before}` : point.name;
}

function isHarmless({ point, action }: Fault, passed: readonly string[]): boolean {
  const text = `${point.process} ${placeOf(point, passed)}`;
  return HARMLESS.some(([pattern, , only = action]) => only === action && pattern.test(text));
}

/** Whoever is killed is frozen first where that is possible; the signal takes effect without it. For pause the same write is the whole work. */
function isFreezeForKill({ verb: [verb = ""] }: Scenario, { point }: Fault): boolean {
  return ["kill", "delete"].includes(verb) && /^before writeFile \S+\/freezer\.state$/.test(point.name);
}

/** `passed`: the lines of the points' log. */
export function judgeAnswer(scenario: Scenario, fault: Fault, answer: Answer, passed: readonly string[]): string[] {
  const { point, action } = fault;
  if (answer.hangs) return ["hangs"];
  // A verb that fails by itself may take another way, on which it comes to its own end first.
  const isReached = passed.some((line) => line.startsWith(`${point.process} ${point.number} `));
  if (point.process === "runtime" && action === "kill" && (isReached || !scenario.fails)) {
    return answer.status === 137 ? [] : [`status ${answer.status} after the kill`];
  }
  const late = isLate(fault, passed);
  if (answer.status === 0) {
    // A poststop hook that fails is a warning (config, POSIX-platform Hooks).
    if (["delete", "gc"].includes(scenario.verb[0] ?? "") && answer.stderr.includes("warning")) return [];
    // The warning of who is left alone.
    if (scenario.needs === "visitor" && point.name === "before write") return [];
    const harmless = late || isOfDropped(fault, passed) || isHarmless(fault, passed) || isFreezeForKill(scenario, fault);
    return harmless ? [] : ["status 0, as if nothing had failed"];
  }
  if (late && scenario.foreground) return [];
  if (LOG_ITSELF.test(point.name)) return answer.stderr === "" ? ["says nothing"] : [];
  return judgeWords(answer, /^before write runtime \d+ after writeFile \S*\/log\.json/.test(placeOf(point, passed)));
}

/** Nothing can be written into it. */
const LOG_ITSELF = /^before (open|writeFile) \S*\/log\.json/;

/** One line of JSON in the log, the same words on stderr (which may be what has failed), and they are no defect's. */
function judgeWords({ status, stderr }: Answer, mute: boolean): string[] {
  const lines = logLines();
  if (lines.length !== 1) return [`status ${status} with ${lines.length} lines in the log: ${lines.join(" | ")}; stderr: ${stderr.trim()}`];
  const { level, msg, code } = JSON.parse(lines[0]!) as { level?: string; msg?: string; code?: string };
  if (level !== "error" || !msg) return [`an odd line in the log: ${lines[0]}`];
  const problems: string[] = [];
  if (!mute && !stderr.includes(msg.split("\n")[0]!)) problems.push(`other words on stderr: ${stderr.trim()}`);
  if (code === "internal") problems.push(`an internal error: ${msg}`);
  return problems;
}
