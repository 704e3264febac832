import { RuntError } from "../../errors/index.ts";
import type { CgroupHierarchies } from "../model.ts";
import type { CgroupWrite } from "./steps.ts";

const RESOURCES = "/linux/resources";
/** Files that every cgroup has, whatever its controllers (cgroup.max.depth): of v2, for `unified`. */
const CORE = "cgroup";

/** Collects the writes of one container. Pointers are given relative to /linux/resources. */
export interface Sink {
  /** @throws RuntError cgroup when no hierarchy offers the controller. */
  write(controller: string, file: string, value: bigint | number | string, pointer: string): void;
  /** The same with one value after the other. */
  writeEach(controller: string, file: string, values: readonly string[], pointer: string): void;
  /** The message is put behind the name of the field. */
  warn(pointer: string, message: string): void;
  /** @throws RuntError cgroup: this version of cgroups cannot say what the field asks for. */
  refuse(pointer: string, message: string): never;
  readonly writes: readonly CgroupWrite[];
  readonly warnings: readonly string[];
}

export function createSink(facts: CgroupHierarchies, path: string): Sink {
  const writes: CgroupWrite[] = [];
  const warnings: string[] = [];
  // The writes to one controller come one after the other.
  let last: { readonly controller: string; readonly directory: string } | undefined;
  const writeEach: Sink["writeEach"] = (controller, file, values, pointer) => {
    const from = `${RESOURCES}/${pointer}`;
    if (last?.controller !== controller) {
      const hierarchy = facts.hierarchies.find(({ controllers }) => controller === CORE || controllers.includes(controller));
      if (hierarchy === undefined) throw unavailable(facts, controller, from);
      last = { controller, directory: hierarchy.mountpoint + path };
    }
    const target = `${last.directory}/${file}`;
    for (let index = 0; index < values.length; index++) writes.push({ path: target, value: values[index]!, from });
  };
  return {
    writes,
    warnings,
    write: (controller, file, value, pointer) => writeEach(controller, file, [String(value)], pointer),
    writeEach,
    warn(pointer, message) {
      warnings.push(`${fieldName(`${RESOURCES}/${pointer}`)}: ${message}`);
    },
    refuse(pointer, message) {
      const from = `${RESOURCES}/${pointer}`;
      throw new RuntError("cgroup", `cannot apply ${fieldName(from)}: ${message}`, { pointer: from });
    },
  };
}

function unavailable(facts: CgroupHierarchies, controller: string, pointer: string): RuntError {
  const reason = facts.version === 1 ? "is not mounted" : "is not enabled in the cgroup tree";
  return new RuntError("cgroup", `cannot apply ${fieldName(pointer)}: the ${controller} controller ${reason}`, { pointer });
}

function fieldName(pointer: string): string {
  return pointer.slice(1).replaceAll("/", ".");
}
