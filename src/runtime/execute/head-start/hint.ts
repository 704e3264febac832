import { CLONE_NEW } from "../../../shared/linux/index.ts";
import { MESSAGES, PREPARED } from "../../../shared/protocol/index.ts";
import { type CgroupHierarchies, isUnified, readHierarchies } from "../../cgroup/index.ts";
import { deriveNamespaces, type NamespaceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import * as host from "../../host/index.ts";
import { observe } from "../../host/index.ts";
import { cloneFlags, needsIntermediate } from "../../plan/index.ts";
import { member, NAMESPACE_TYPES, type SpecNamespace } from "../../spec/index.ts";
import type { HeadStart } from "../execution.ts";

/** The global options that decide what may be made before there is a plan. */
export interface HintOptions {
  readonly rootless: boolean;
  readonly systemd?: boolean;
}

/** The options of create and run that decide it. */
export interface HintRequest {
  readonly mode: "create" | "run";
  readonly consoleSocket?: string;
}

/**
 * As soon as the configuration is parsed, tell the helper what to make while it is checked. If it has errors, the helper is ended, and what it has
 * made goes with it.
 */
export function hint(headStart: HeadStart, options: HintOptions, request: HintRequest): void {
  if (headStart.helper === undefined) return;
  observe({
    reached(stage, value) {
      if (stage === "parsed") tellHelper(headStart, options, request, value);
    },
  });
}

/** `value`: config.json as JSON, not checked in any way. */
function tellHelper({ helper, progress }: HeadStart, options: HintOptions, request: HintRequest, value: unknown): void {
  if (helper === undefined || progress === undefined) return;
  const listed = listedNamespaces(value);
  let fileSystems = 0;
  if (listed) {
    const namespaces = deriveNamespaces(listed);
    const flags = cloneFlags(namespaces);
    const isAlone = onlyClones(options, request, value, namespaces);
    // On cgroup v2 init is born in its cgroup, unless systemd moves it there: the helper goes into init's namespaces before, and clones without new ones.
    const isBorn = isAlone && options.systemd !== true && (isUnified() || isHybrid());
    helper.namespaces = isBorn ? flags : flags & CLONE_NEW.network;
    if (isAlone && !isBorn) helper.clone = flags;
    if (isAlone) fileSystems = usualFileSystems(member(value, "mounts"));
  }
  progress.hint(helper.namespaces, helper.clone, fileSystems);
  try {
    host.sendMessage(helper.socket, MESSAGES.namespaces, undefined, helper.page);
  } catch (error) {
    // The helper could not be executed, which `adopt` finds.
    if (!host.isErrno(error, "EPIPE", "ECONNRESET")) throw error;
  }
  // The helper makes namespaces now. Later, while its clone copies the mounts, the kernel blocks readers of mountinfo.
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

/** Whether init is born in the v2 hierarchy of a hybrid host. */
function isHybrid(): boolean {
  return readMounts()?.unified !== undefined;
}

function readMounts(): CgroupHierarchies | undefined {
  try {
    return readHierarchies();
  } catch (error) {
    // It is read again when it is needed, and the error is reported then.
    if (!(error instanceof RuntError) && !(error instanceof Error && "errno" in error)) throw error;
    return undefined;
  }
}

/** Whether the helper has nothing to do before the clone, as far as the parsed configuration tells: `adopt` compares it with the plan. */
function onlyClones({ rootless }: HintOptions, request: HintRequest, value: unknown, namespaces: readonly NamespaceConfig[]): boolean {
  if (rootless || host.geteuid() !== 0) return false;
  const hasNetDevices = Boolean(member(member(value, "linux"), "netDevices"));
  const hasStartContainer = Boolean(member(member(value, "hooks"), "startContainer"));
  return !needsIntermediate(request, { namespaces, hasNetDevices, hasStartContainer, hasIdMaps: false });
}

/** By type and destination. */
const BITS: Readonly<Record<string, number>> = {
  "proc /proc": 1 << PREPARED.proc,
  "tmpfs /dev": 1 << PREPARED.dev,
  "devpts /dev/pts": 1 << PREPARED.devpts,
  "tmpfs /dev/shm": 1 << PREPARED.shm,
  "mqueue /dev/mqueue": 1 << PREPARED.mqueue,
  "sysfs /sys": 1 << PREPARED.sysfs,
};

/**
 * The file systems that nearly every configuration mounts. An init that waits for its plan makes them
 * in the meantime, with their usual options (src/shared/protocol/prepared.ts), and the plan takes
 * those that are as it wants them. A hint. `mounts`: of the configuration, not checked in any way.
 */
function usualFileSystems(mounts: unknown): number {
  let bits = 0;
  if (!Array.isArray(mounts)) return bits;
  for (const mount of mounts) {
    const bit = BITS[`${member(mount, "type")} ${member(mount, "destination")}`] ?? 0;
    bits |= bit === 1 << PREPARED.proc && member(member(mount, "options"), "length") ? 1 << PREPARED.safeProc : bit;
  }
  return bits;
}
