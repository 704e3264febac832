/** What a container gets beside what Compose knows: restarts, checks at the start, own users. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { testIn } from "./service.ts";
import { spanMs } from "./span.ts";
import type { Unit } from "./unit.ts";

type Container = TaskInput["containers"][number];

/** As Compose services have it, so that a container that ends at once is not started all the time. */
const GROWING = { initial: "100ms", maximum: "1m", resetAfter: "10s" };
const MOST_RETRIES = 100_000;

/** undefined: it is not restarted. */
export function restartIn(unit: Unit): Container["restart"] {
  const policy = unit.text("Service", "Restart");
  const delay = unit.text("Service", "RestartSec");
  const ms = delay === undefined ? undefined : spanMs(delay.text);
  if (delay !== undefined && ms === undefined) unit.refuse("is a time such as 5s or 1min", delay.entry);
  if (policy === undefined || policy.text === "no") return undefined;
  if (policy.text !== "always" && policy.text !== "on-failure") {
    unit.refuse(`${policy.text} is not supported: only no, always and on-failure are`, policy.entry);
    return undefined;
  }
  const constant = `${Math.max(1, ms ?? 0)}ms`;
  const backoff = ms === undefined ? GROWING : { ...GROWING, initial: constant, maximum: constant };
  return { backoff, ...(policy.text === "on-failure" ? { ignoredExitCodes: [0] } : {}) };
}

/** Whether the task is started again after a reboot. */
export function isInstalled(unit: Unit): boolean {
  return (["WantedBy", "RequiredBy", "UpheldBy"] as const).some((key) => unit.words("Install", key).length > 0);
}

const TYPES = ["notify", "exec", "simple", "forking", "idle", "oneshot"];

export function isOneShot(unit: Unit): boolean {
  const type = unit.text("Service", "Type");
  if (type !== undefined && !TYPES.includes(type.text))
    unit.refuse(`${type.text} is not supported: only ${TYPES.join(", ")} are`, type.entry);
  return type?.text === "oneshot";
}

export function privateUsersIn(unit: Unit, section: "Container" | "Pod"): boolean {
  const value = unit.text(section, "UserNS");
  if (value !== undefined && value.text !== "host" && value.text !== "auto")
    unit.refuse(`${value.text} is not supported: only host and auto are`, value.entry);
  return value?.text === "auto";
}

/** Checks of a container that Compose has no fields for. @param check the one of HealthCmd */
export function checksIn(unit: Unit, check: Container["healthCheck"]): Pick<Container, "startupCheck" | "livenessCheck"> {
  const action = unit.text("Container", "HealthOnFailure");
  if (action !== undefined && action.text !== "none" && action.text !== "kill")
    unit.refuse(`${action.text} is not supported: only none and kill are`, action.entry);
  if (action !== undefined && check === undefined) unit.refuse("needs HealthCmd", action.entry);
  const kills = action?.text === "kill" && check !== undefined;
  const startup = startupIn(unit, check);
  return { ...(kills ? { livenessCheck: check } : {}), ...(startup === undefined ? {} : { startupCheck: startup }) };
}

function startupIn(unit: Unit, check: Container["healthCheck"]): Container["startupCheck"] {
  const test = testIn(unit, "HealthStartupCmd");
  const value = (key: "HealthStartupInterval" | "HealthStartupTimeout" | "HealthStartupRetries" | "HealthStartupSuccess") =>
    unit.text("Container", key);
  const time = (key: "HealthStartupInterval" | "HealthStartupTimeout"): string => {
    const given = value(key);
    const ms = given === undefined ? undefined : spanMs(given.text);
    if (given !== undefined && (ms === undefined || ms === 0)) unit.refuse("is a time such as 30s", given.entry);
    return ms === undefined ? "30s" : `${ms}ms`;
  };
  const count = (key: "HealthStartupRetries" | "HealthStartupSuccess", most: number): number => {
    const given = value(key);
    if (given === undefined) return 0;
    const number = /^\d{1,9}$/.test(given.text) ? Number(given.text) : most + 1;
    if (number > most) unit.refuse(`is a number up to ${most}`, given.entry);
    return number;
  };
  const [interval, timeout] = [time("HealthStartupInterval"), time("HealthStartupTimeout")];
  const [retries, successes] = [count("HealthStartupRetries", MOST_RETRIES), count("HealthStartupSuccess", 100)];
  if (test === undefined || test.words[0] === "NONE") return undefined;
  if (check === undefined) unit.refuse("needs HealthCmd", test.value.entry);
  const command = test.words[0] === "CMD-SHELL" ? ["/bin/sh", "-c", test.words.slice(1).join(" ")] : test.words.slice(1);
  return { command, interval, timeout, retries: retries || MOST_RETRIES, successes: successes || 1 };
}
