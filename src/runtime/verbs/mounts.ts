/** mounts: bind mounts of a container that runs are added or removed. */
import { checkPart } from "../check/index.ts";
import { type BindMount, deriveMount, type MountConfig } from "../config/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import { type Execution, endChildren, execute, newExecution } from "../execute/index.ts";
import * as host from "../host/index.ts";
import { isolationOf } from "../isolation/index.ts";
import { compileMounts, type MountsInput } from "../plan/index.ts";
import { checkFacts, type RuntimeOptions } from "../prepare/index.ts";
import { parsePart, type Spec } from "../spec/index.ts";
import { containerDirectory, deriveStatus, lockAgain, lockRecord, type StateRecord, writeRecord } from "../state/index.ts";

export type MountsAction = "add" | "remove";

/** `file`: a JSON document with `mounts` as config.json has them, or a bundle directory. What stood before a failure stays done. */
export function changeMounts({ root }: RuntimeOptions, id: string, action: MountsAction, file: string): void {
  const path = (host.stat(file)?.mode ?? 0) >> 12 === DIRECTORY ? `${file}/config.json` : file;
  const spec = readMounts(path);
  const { record, directory, held } = lockRecord(root, id);
  isolationOf(record).requireHost("mounts that come and go");
  checkContainer(root, record, action);
  const warnings: string[] = [];
  const mounts = deriveAll(spec, record, path, warnings);
  const plan = compileMounts(inputOf(root, record, action, mounts));
  // The file systems may be the container's, and never answer.
  const execution = newExecution({ root, plan, patience: { movesOn: true, lock: held } }, record);
  perform(execution, action);
  if (execution.running.released && !lockAgain(held, directory)) throw new RuntError("wrong-status", WORDS.notRunning);
  const fresh = [...warnings, ...execution.made.warnings].filter((warning) => !record.warnings.includes(warning));
  if (fresh.length > 0) writeRecord(root, { ...record, warnings: [...record.warnings, ...fresh] });
}

/** @throws RuntError config-read, config-syntax, config-schema or config-invalid */
function readMounts(path: string): Spec {
  let text: string;
  try {
    text = host.readFile(path, undefined, true);
  } catch (error) {
    throw new RuntError("config-read", `open ${path}: ${host.reason(error)}`, { cause: error });
  }
  const spec = parsePart(text, host.needsExactParser(text), "mounts", path);
  if (spec.mounts === undefined) throw new RuntError("config-schema", `${path}: no field mounts`);
  checkPart(spec, "mounts", checkFacts());
  return spec;
}

/** S_IFDIR >> 12. */
const DIRECTORY = 4;

function checkContainer(root: string, record: StateRecord, action: MountsAction): void {
  const status = deriveStatus(root, record);
  if (status === "stopped" || status === "creating") throw new RuntError("wrong-status", WORDS.notRunning);
  if (record.exec.chroot) throw new RuntError("not-supported", "mounts: the container has no mount namespace of its own");
  if (action === "add" && host.geteuid() !== 0)
    throw new RuntError("not-supported", "mounts add: only root can take mounts of the host into a container that runs");
}

function deriveAll(spec: Spec, record: StateRecord, file: string, warnings: string[]): readonly MountConfig[] {
  // Relative sources start where the document is.
  const bundle = file.slice(0, file.lastIndexOf("/"));
  const userNamespace = hasUserNamespace(record) ? { type: "user" as const, path: `/proc/${record.pid}/ns/user`, from: "" } : undefined;
  const ids = { uidMappings: [], gidMappings: [], userNamespace };
  return (spec.mounts ?? []).map((mount, index) =>
    deriveMount(mount, index, { bundle, ids }, (_code, _pointer, message) => void warnings.push(message)),
  );
}

function inputOf(root: string, record: StateRecord, action: MountsAction, mounts: readonly MountConfig[]): MountsInput {
  return {
    id: record.id,
    add: action === "add" ? mounts.map(asBind) : [],
    // The last one covers those before it.
    remove: action === "remove" ? mounts.map(({ target, from }) => ({ target, from })).reverse() : [],
    target: { pid: record.pid, startTime: BigInt(record.startTime) },
    hasUserNamespace: hasUserNamespace(record),
    host: {
      stateDirectory: containerDirectory(root, record.id),
      rootless: host.geteuid() !== 0,
      cgroupVersion: record.cgroup?.version ?? 2,
    },
  };
}

function hasUserNamespace({ exec }: StateRecord): boolean {
  return exec.namespaces.includes("user");
}

/** A new file system would be made by the host's root, and be the host's. */
function asBind(mount: MountConfig): BindMount {
  if (mount.kind === "bind") return mount;
  throw new RuntError("not-supported", `mounts add: mount of "${mount.target}": only bind mounts can be added to a running container`, {
    pointer: mount.from,
  });
}

/** Errors of a container's start have other words, which do not fit here. */
const START_PREFIX = "unable to start container process: error during container init: ";

function perform(execution: Execution, action: MountsAction): void {
  try {
    execute(execution);
  } catch (error) {
    endChildren(execution.running);
    if (!(error instanceof RuntError)) throw error;
    throw new RuntError(error.code, `mounts ${action}: ${error.message.replace(START_PREFIX, "")}`, error.details);
  }
  host.waitpid(execution.running.pid, 0);
}
