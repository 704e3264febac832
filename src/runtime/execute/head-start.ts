/**
 * The helper is started before config.json is read, and as soon as that is parsed makes a new network namespace, and init where nothing has to
 * be done before it, while the configuration is checked and compiled: all of it takes as long as that. It holds nothing but itself and ends with
 * this process, so nothing has been done to the host yet. Where it cannot be started ahead, or the plan wants another, `helper.spawn` starts one.
 */
import { CLONE_NEW } from "../../shared/linux/index.ts";
import { MESSAGES, type OpArgs } from "../../shared/protocol/index.ts";
import { isUnified, readHierarchies } from "../cgroup/index.ts";
import { deriveNamespaces } from "../config/namespaces.ts";
import type { NamespaceConfig } from "../config/types.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { cloneFlags, type Plan } from "../plan/index.ts";
import { member, type SpecNamespace } from "../spec/index.ts";
import { NAMESPACE_TYPES } from "../spec/names.ts";
import type { HelperAhead } from "./execution.ts";
import { usualFileSystems } from "./file-systems.ts";
import { onFailure } from "./on-failure.ts";
import type { Progress } from "./progress.ts";

/** The global options that decide whether init may be cloned before there is a plan. */
export interface HeadStartOptions {
  readonly rootless: boolean;
  readonly systemd?: boolean;
}

/** The options of create and run that decide it. */
export interface HeadStartRequest {
  readonly mode: "create" | "run";
  readonly consoleSocket?: string;
}

/** Needs to know nothing of the container. undefined: there is no second processor for it, or it cannot be started so. */
export function startAhead({ fd, page }: Progress): HelperAhead | undefined {
  const pair: number[] = [];
  try {
    pair.push(...host.socketpair());
    const [socket = -1, theirs = -1] = pair;
    const pid = host.spawnHelperAhead(["plan", String(theirs), "ahead", String(fd)], [theirs, fd], page);
    host.close(theirs);
    if (pid !== undefined) return { pid, socket, page, namespaces: 0, clone: 0 };
    host.close(socket);
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
    for (const fd of pair) host.close(fd);
  }
  return undefined;
}

/** What is made for a configuration with errors goes with the helper. `value`: config.json, not checked in any way. */
export function tellParsed(
  helper: HelperAhead,
  progress: Progress,
  options: HeadStartOptions,
  request: HeadStartRequest,
  value: unknown,
): void {
  const listed = listedNamespaces(value);
  if (listed) {
    const namespaces = deriveNamespaces(listed);
    const flags = cloneFlags(namespaces);
    helper.namespaces = flags & CLONE_NEW.network;
    if (mayClone(options, request, value, namespaces)) helper.clone = flags;
  }
  progress.ahead(helper.namespaces, helper.clone, helper.clone === 0 ? 0 : usualFileSystems(member(value, "mounts")));
  try {
    host.sendMessage(helper.socket, MESSAGES.namespaces, undefined, helper.page);
  } catch (error) {
    // It could not be executed, which handOver finds.
    if (!host.isErrno(error, "EPIPE", "ECONNRESET")) throw error;
  }
  // Who reads mountinfo waits while a clone copies the mounts: before it, if the helper has not read it before its exec.
  if (helper.clone !== 0) readMounts();
}

/** undefined: made before a user namespace is entered, they would not be owned by it; or the configuration will be refused. */
function listedNamespaces(value: unknown): readonly SpecNamespace[] | undefined {
  const listed = member(member(value, "linux"), "namespaces") ?? [];
  const isPlain = (namespace: unknown): namespace is SpecNamespace => {
    const type = member(namespace, "type");
    return type !== "user" && (NAMESPACE_TYPES as readonly unknown[]).includes(type);
  };
  return Array.isArray(listed) && listed.every(isPlain) ? listed : undefined;
}

function readMounts(): void {
  try {
    readHierarchies();
  } catch (error) {
    // Asked again when it is needed, and reported then.
    if (!(error instanceof RuntError) && !(error instanceof Error && "errno" in error)) throw error;
  }
}

/** A guess at what the plan will say (`onlyClones`), from what is known so early: `handOver` looks. */
function mayClone(
  { rootless, systemd }: HeadStartOptions,
  { consoleSocket, mode }: HeadStartRequest,
  value: unknown,
  namespaces: readonly NamespaceConfig[],
): boolean {
  if (rootless || host.geteuid() !== 0 || consoleSocket !== undefined || member(member(value, "linux"), "netDevices")) return false;
  if (mode === "create" && member(member(value, "hooks"), "startContainer")) return false;
  if (namespaces.some(({ path, type }) => path !== undefined || type === "time")) return false;
  // In a cgroup of v2 init is born, unless systemd moves it there.
  return namespaces.some(({ type }) => type === "mount") && (systemd === true || !isUnified());
}

/** Hand the plan over. False: it needs another helper, and this one is gone. */
export function handOver(
  helper: HelperAhead,
  { ops }: Plan,
  plan: number,
  { cgroup }: OpArgs<"helper.spawn">,
  environment: boolean,
): boolean {
  const clone = ops[host.findNext(ops, "op", "process.clone", 0)];
  const flags = clone ? (clone.args as OpArgs<"process.clone">).flags : 0;
  const fits = helper.clone === 0 ? (helper.namespaces & ~flags) === 0 : helper.clone === flags && onlyClones(ops);
  if (host.helperAheadRuns(helper.page) && cgroup === "" && !environment && fits) {
    try {
      host.sendMessage(helper.socket, MESSAGES.plan, plan, helper.page);
      return true;
    } catch (error) {
      if (!host.isErrno(error, "EPIPE", "ECONNRESET")) throw error;
    }
  }
  onFailure().endAhead(helper);
  return false;
}

function onlyClones(ops: Plan["ops"]): boolean {
  const first = host.findNext(ops, "actor", "outer", 0);
  return ops[first]?.op === "process.clone" && host.findNext(ops, "actor", "outer", first + 1) < 0;
}
