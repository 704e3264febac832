/** inspect: a container as it was asked for, and as the kernel has it. Changes nothing, and waits for nobody. */
import { cgroupProcesses } from "../../cgroup/index.ts";
import { type ContainerConfig, deriveConfig, destinationsInRoot } from "../../config/index.ts";
import * as host from "../../host/index.ts";
import type { RuntimeOptions } from "../../prepare/index.ts";
import { parseSpec } from "../../spec/index.ts";
import { type ContainerState, configPath, containerDirectory, describe, readRecord, type StateRecord } from "../../state/index.ts";
import { kernelSettings } from "./kernel.ts";
import { type CurrentOperation, currentOperations } from "./operations.ts";
import type { Setting } from "./settings.ts";

export interface Inspection {
  readonly state: ContainerState;
  readonly planDigest?: string;
  readonly warnings: readonly string[];
  /** Where each actor is, while the container is being created. */
  readonly operations: readonly CurrentOperation[];
  readonly cgroup?: { readonly version: number; readonly paths: readonly string[]; readonly unit?: string };
  readonly processes?: readonly number[];
  readonly settings: readonly Setting[];
  /** How many of them differ. */
  readonly drift: number;
}

export function inspect(options: RuntimeOptions, id: string): Inspection {
  const record = readRecord(options.root, id);
  const state = describe(options.root, id);
  const settings = settingsOf(options, record, state);
  return {
    state,
    ...(record.planDigest !== undefined && { planDigest: record.planDigest }),
    warnings: record.warnings,
    operations: state.status === "creating" ? currentOperations(containerDirectory(options.root, id)) : [],
    ...cgroupOf(record),
    settings,
    drift: settings.filter(({ drift }) => drift).length,
  };
}

/** Only what exists can differ. */
function settingsOf({ root, rootless }: RuntimeOptions, record: StateRecord, { status }: ContainerState): readonly Setting[] {
  if (status === "creating" || status === "stopped") return [];
  const config = keptConfig(root, record);
  return config ? kernelSettings(config, record, rootless, status !== "created") : [];
}

function cgroupOf({ cgroup }: StateRecord): Pick<Inspection, "cgroup" | "processes"> {
  if (!cgroup) return {};
  const { version, paths, systemd } = cgroup;
  return { cgroup: { version, paths, ...(systemd && { unit: systemd.unit }) }, ...processesOf(cgroup) };
}

/** A cgroup that has gone has none. */
function processesOf(cgroup: NonNullable<StateRecord["cgroup"]>): Pick<Inspection, "processes"> {
  try {
    return { processes: cgroupProcesses(cgroup) };
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENODEV")) return {};
    throw error;
  }
}

/**
 * What a container was asked to be: from the config.json that create has kept. undefined: nothing was
 * kept, by an older version or because create has not come that far.
 */
export function keptConfig(root: string, { id, bundle }: Pick<StateRecord, "id" | "bundle">): ContainerConfig | undefined {
  let text: string;
  try {
    text = host.readOwn(configPath(root, id));
  } catch (error) {
    if (host.isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
  return configOf(text, bundle);
}

/** As create derives it, without its checks. */
export function configOf(text: string, bundle: string): ContainerConfig {
  const spec = parseSpec(text, host.needsExactParser(text));
  return deriveConfig(destinationsInRoot(spec, bundle)?.spec ?? spec, { bundle });
}
