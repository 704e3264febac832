/**
 * Records of older builds, brought up to this one's minor version, one step a version. Loaded when there is such a record only. Nothing is
 * written: the record changes on disk when a verb writes it anyway.
 */
import type { AnyRecord, MachineRecord, StateRecord } from "./record.ts";

/** STEPS[n] makes 1.(n+1) of 1.n. */
const STEPS: readonly ((record: AnyRecord) => AnyRecord)[] = [keepExec, unchanged, unchanged, keepMachine];

/** `record`: of this schema, with a minor version smaller than this one or, as before there were any, none. */
export function migrate(record: AnyRecord, minor: number): AnyRecord {
  const { minor: from = 0 } = record;
  const migrated = STEPS.slice(from as number, minor).reduce((older, step) => step(older), record);
  return { ...migrated, minor };
}

/**
 * The first builds of 1.0 had no exec. What they left out cannot be guessed: config.json may have changed, and a process without the
 * container's limits of rights would be a way out of it.
 */
function keepExec(record: AnyRecord): AnyRecord {
  return record["exec"] === undefined ? { ...record, exec: { unknown: true, namespaces: [], chroot: false, keyring: false } } : record;
}

/** What 1.2 and 1.3 have beside the version before an older container does not have. */
function unchanged(record: AnyRecord): AnyRecord {
  return record;
}

/** Where a container is said an annotation that create had written, and the rest stood in the environment of its process and of its last hook. */
function keepMachine(record: AnyRecord): AnyRecord {
  const { annotations, exec, hooks } = record as Partial<StateRecord>;
  const isolation = annotations?.["io.runt.isolation"];
  // There was one other word for it.
  if (record["machine"] !== undefined || isolation === undefined || isolation === "host") return record;
  const environment = variablesIn((exec?.process?.["env"] as readonly string[] | undefined) ?? []);
  const { memoryMiB } = told<{ memoryMiB?: number }>(environment);
  const leaving = (hooks?.poststop ?? []).find(({ args }) => args[1] === "machine-leave");
  const { joined } = told<{ joined?: NonNullable<MachineRecord["joined"]> }>(variablesIn(leaving?.env ?? []));
  const machine: MachineRecord = {
    socket: environment.get("RUNT_MACHINE_SOCKET") ?? "/run/monitor.sock",
    ...(memoryMiB !== undefined && { memoryMiB }),
    ...(joined && { joined: { pid: joined.pid, startTime: joined.startTime } }),
  };
  return { ...record, machine };
}

function variablesIn(entries: readonly string[]): ReadonlyMap<string, string> {
  return new Map(entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]));
}

/** What a process of a machine was told, as JSON in pieces. */
function told<T extends object>(environment: ReadonlyMap<string, string>): Partial<T> {
  let text = "";
  for (let piece = 0; environment.has(`RUNT_MACHINE_${piece}`); piece++) text += environment.get(`RUNT_MACHINE_${piece}`);
  try {
    return text === "" ? {} : (JSON.parse(text) as T);
  } catch (error) {
    // Whoever edits the record must not keep it from being removed.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
