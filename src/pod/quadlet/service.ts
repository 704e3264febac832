/** Translates a file ".container" to a service of a Compose file. Source: podman-systemd.unit(5), "Container units"; podman-run(1). */
import { AUTO_UPDATE, updatePolicy } from "../../engine/spec/index.ts";
import type { Draft } from "./draft.ts";
import type { Others } from "./mounts.ts";
import type { Unit, Value } from "./unit.ts";

const SECTION = "Container";

/** Keys whose value is that of one field. */
const TEXTS: Readonly<Record<string, string>> = {
  ShmSize: "shm_size",
  StopSignal: "stop_signal",
  WorkingDir: "working_dir",
  HostName: "hostname",
  PidsLimit: "pids_limit",
  Memory: "mem_limit",
};

export function addContainer(draft: Draft, others: Others): void {
  const { unit } = draft;
  addSource(draft, others);
  addProgram(draft);
  for (const [key, field] of Object.entries(TEXTS)) draft.take(field, unit.text(SECTION, key));
  addVariables(draft);
  addRights(draft);
  addLimits(draft);
  addHealth(draft);
  addLog(draft);
  const grace = unit.text(SECTION, "StopTimeout");
  if (grace !== undefined) draft.set("stop_grace_period", /^\d+$/.test(grace.text) ? `${grace.text}s` : grace.text, grace.entry);
  const init = unit.flag(SECTION, "RunInit");
  if (init?.is) draft.set("init", true, init.entry);
  const together = unit.flag(SECTION, "StartWithPod");
  if (together?.is === false) unit.refuse("only true is supported: the containers of a task start together", together.entry);
  const notify = unit.text(SECTION, "Notify");
  if (notify !== undefined && !/^(?:healthy|false|no|0|off)$/i.test(notify.text))
    unit.refuse("only healthy is supported: there is no socket of notifications", notify.entry);
  if (notify?.text === "healthy" && [undefined, "NONE"].includes(testIn(unit, "HealthCmd")?.words[0]))
    unit.refuse("needs HealthCmd", notify.entry);
}

function addSource(draft: Draft, others: Others): void {
  const { unit } = draft;
  const image = unit.text(SECTION, "Image");
  const rootfs = unit.text(SECTION, "Rootfs");
  if (image !== undefined && rootfs !== undefined) unit.refuse("excludes Image", rootfs.entry);
  else if (image === undefined && rootfs === undefined) unit.refuse("needs Image or Rootfs");
  else if (rootfs !== undefined) draft.take("x-runt-rootfs", rootfs);
  else {
    const reference = others.imageOf(image!, unit);
    if (reference !== undefined) draft.set("image", reference, image!.entry);
  }
  const pull = unit.text(SECTION, "Pull") ?? policyOf(image, others);
  if (pull !== undefined) addPull(draft, pull);
}

/** What a file ".image" says of it. */
function policyOf(image: Value | undefined, { units }: Others): Value | undefined {
  return units.get(image?.text ?? "")?.text("Image", "Policy");
}

function addPull(draft: Draft, { text, entry }: Value): void {
  if (!["always", "missing", "never", "newer"].includes(text)) draft.unit.refuse("is always, missing, never or newer", entry);
  else draft.set("pull_policy", text === "newer" ? "always" : text, entry);
}

function addProgram(draft: Draft): void {
  const { unit } = draft;
  const entrypoint = unit.text(SECTION, "Entrypoint");
  if (entrypoint !== undefined) draft.set("entrypoint", listOr(entrypoint, unit) ?? [entrypoint.text], entrypoint.entry);
  const words = unit.command(SECTION, "Exec");
  const [first] = words ?? [];
  if (first !== undefined)
    draft.set(
      "command",
      words!.map(({ text }) => text),
      first.entry,
    );
}

/** A list of words in JSON. undefined: it is none. */
function listOr({ text, entry }: Value, unit: Unit): string[] | undefined {
  if (!text.startsWith("[")) return undefined;
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list) && list.every((one) => typeof one === "string")) return list;
  } catch {
    // It is told of below.
  }
  unit.refuse("is no list of words in JSON", entry);
  return [];
}

function addVariables(draft: Draft): void {
  const { unit } = draft;
  for (const [name, { text, entry }] of unit.pairs(SECTION, "Environment")) draft.put("environment", name, text, entry);
  for (const { text, entry } of unit.texts(SECTION, "EnvironmentFile")) draft.add("env_file", { path: text, format: "raw" }, entry);
  for (const key of ["Label", "Annotation"] as const)
    for (const [name, { text, entry }] of unit.pairs(SECTION, key)) draft.put("labels", name, text, entry);
  const update = unit.text(SECTION, "AutoUpdate");
  if (update !== undefined) draft.put("labels", AUTO_UPDATE, update.text, update.entry);
  if (update !== undefined && typeof updatePolicy({ annotations: { [AUTO_UPDATE]: update.text } }) === "object")
    unit.refuse(`${update.text} is not supported: only registry and local are`, update.entry);
}

function addRights(draft: Draft): void {
  const { unit } = draft;
  for (const { text, entry } of unit.words(SECTION, "AddCapability")) draft.add("cap_add", text, entry);
  for (const { text, entry } of unit.words(SECTION, "DropCapability")) draft.add("cap_drop", text, entry);
  for (const { text, entry } of unit.texts(SECTION, "AddDevice")) {
    if (text.startsWith("-")) unit.refuse("a device that may be missing is not supported: leave out the -", entry);
    else draft.add("devices", text, entry);
  }
  const user = unit.text(SECTION, "User");
  const group = unit.text(SECTION, "Group");
  if (user !== undefined) draft.set("user", group === undefined ? user.text : `${user.text}:${group.text}`, user.entry);
  else if (group !== undefined) unit.refuse("needs User", group.entry);
  for (const { text, entry } of unit.texts(SECTION, "GroupAdd")) {
    if (text === "keep-groups") unit.refuse("keep-groups is not supported: it is of the user who starts podman", entry);
    else draft.add("group_add", text, entry);
  }
  const options: readonly (readonly [key: "SeccompProfile" | "AppArmor", option: string])[] = [
    ["SeccompProfile", "seccomp"],
    ["AppArmor", "apparmor"],
  ];
  for (const [key, option] of options) {
    const value = unit.text(SECTION, key);
    if (value !== undefined) draft.add("security_opt", `${option}=${value.text}`, value.entry);
  }
  const none = unit.flag(SECTION, "NoNewPrivileges");
  if (none?.is) draft.add("security_opt", "no-new-privileges", none.entry);
  const readOnly = unit.flag(SECTION, "ReadOnly");
  const memory = unit.flag(SECTION, "ReadOnlyTmpfs");
  if (readOnly?.is) draft.set("read_only", true, readOnly.entry);
  if (readOnly?.is && memory?.is !== false)
    for (const directory of ["/run", "/tmp", "/var/tmp"]) draft.add("tmpfs", directory, readOnly.entry);
  for (const { text, entry } of unit.words(SECTION, "Sysctl")) {
    const at = text.indexOf("=");
    if (at < 1) unit.refuse(`${JSON.stringify(text)} is no NAME=VALUE`, entry);
    else draft.put("sysctls", text.slice(0, at), text.slice(at + 1), entry);
  }
}

function addLimits(draft: Draft): void {
  const { unit } = draft;
  for (const { text, entry } of unit.texts(SECTION, "Ulimit")) {
    const [, name, soft, hard = soft] = /^(\w+)=(-?\d+)(?::(-?\d+))?$/.exec(text) ?? [];
    if (name === undefined) unit.refuse("is NAME=SOFT:HARD in numbers", entry);
    else draft.put("ulimits", name, { soft: Number(soft), hard: Number(hard) }, entry);
  }
  const cpus = unit.literal("Service", "CPUQuota");
  const [, percent] = /^(\d{1,6}(?:\.\d+)?)%$/.exec(cpus?.text ?? "") ?? [];
  if (percent !== undefined) draft.set("cpus", Number(percent) / 100, cpus!.entry);
  else if (cpus !== undefined) unit.refuse("is a part of one CPU, such as 50%", cpus.entry);
  const memory = unit.text("Service", "MemoryMax");
  if (memory !== undefined && memory.text !== "infinity" && draft.fields["mem_limit"] === undefined) draft.take("mem_limit", memory);
  const tasks = unit.text("Service", "TasksMax");
  if (tasks !== undefined && tasks.text !== "infinity" && draft.fields["pids_limit"] === undefined) draft.take("pids_limit", tasks);
}

/** As podman reads it: a list in JSON that does not say what it is is a program with its arguments. "none" has no words. */
export function testIn(unit: Unit, key: "HealthCmd" | "HealthStartupCmd"): { readonly words: string[]; readonly value: Value } | undefined {
  const value = unit.text(SECTION, key);
  if (value === undefined) return undefined;
  if (value.text === "none") return { words: ["NONE"], value };
  const list = listOr(value, unit);
  if (list === undefined) return { words: ["CMD-SHELL", value.text], value };
  return { words: ["CMD", "CMD-SHELL", "NONE"].includes(list[0] ?? "NONE") ? list : ["CMD", ...list], value };
}

const HEALTH: Readonly<Record<string, string>> = {
  HealthInterval: "interval",
  HealthTimeout: "timeout",
  HealthRetries: "retries",
  HealthStartPeriod: "start_period",
};

function addHealth(draft: Draft): void {
  const { unit } = draft;
  const test = testIn(unit, "HealthCmd");
  const given = Object.entries(HEALTH).flatMap(([key, field]) => {
    const value = unit.text(SECTION, key);
    return value === undefined ? [] : [{ field, value }];
  });
  const [first] = given;
  if (test === undefined || test.words[0] === "NONE") {
    if (test !== undefined) draft.put("healthcheck", "test", test.words, test.value.entry);
    if (first !== undefined) unit.refuse("needs HealthCmd", first.value.entry);
    return;
  }
  draft.put("healthcheck", "test", test.words, test.value.entry);
  for (const { field, value } of given) draft.put("healthcheck", field, value.text, value.entry);
}

const DRIVERS: Readonly<Record<string, string>> = {
  ...{ "k8s-file": "json-file", "json-file": "json-file", journald: "journald", none: "none" },
  ...{ syslog: "syslog", gelf: "gelf", fluentd: "fluentd" },
};

function addLog(draft: Draft): void {
  const { unit } = draft;
  const driver = unit.text(SECTION, "LogDriver");
  if (driver !== undefined) {
    const known = Object.hasOwn(DRIVERS, driver.text) ? DRIVERS[driver.text] : undefined;
    if (known === undefined) unit.refuse(`${driver.text} is not supported: only ${Object.keys(DRIVERS).join(", ")} are`, driver.entry);
    else draft.put("logging", "driver", known, driver.entry);
  }
  const options = unit.texts(SECTION, "LogOpt");
  const found: Record<string, string> = {};
  for (const { text, entry } of options) {
    const at = text.indexOf("=");
    if (at < 1) unit.refuse("is NAME=VALUE", entry);
    else found[text.slice(0, at)] = text.slice(at + 1);
  }
  if (Object.keys(found).length > 0) draft.put("logging", "options", found, options[0]!.entry);
}
