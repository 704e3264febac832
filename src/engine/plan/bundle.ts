/** Compares the config.json of a bundle with the task file, and reports contradictions. Pure. */

import type { OciObject } from "../../executor/index.ts";
import { fieldsOf } from "../../shared/text/index.ts";
import { type ContainerSpec, NAMESPACES, type Namespace, namespacesOf, RESERVED_ANNOTATIONS, type TaskSpec } from "../spec/index.ts";

/**
 * Each problem names its place in config.json; empty: there is no contradiction. Fields that neither the task file nor this check knows are left to
 * the runtime.
 */
export function bundleProblems(task: TaskSpec, { mounts, metadata }: ContainerSpec, config: OciObject): string[] {
  const namespaces = namespacesOf(task);
  const linux = fieldsOf(config["linux"]);
  const { args } = fieldsOf(config["process"]);
  return [
    ...(Array.isArray(args) && args.length > 0 ? [] : ["/process/args: there is no program"]),
    ...NAMESPACES.flatMap((name) => namespaceProblem(name, namespaces[name], entriesOf(linux["namespaces"])) ?? []),
    ...(config["hostname"] !== undefined && namespaces.uts === "shared"
      ? ["/hostname: the task's containers share one hostname, which is the name of the task"]
      : []),
    ...Object.keys(fieldsOf(config["annotations"]))
      .filter((name) => name.startsWith(RESERVED_ANNOTATIONS))
      .map((name) => `/annotations/${name}: annotations that begin with ${RESERVED_ANNOTATIONS} are set by the engine`),
    ...entriesOf(config["mounts"]).flatMap(({ destination }, index) =>
      destination === metadata || mounts.some(({ target }) => target === destination)
        ? [`/mounts/${index}: ${String(destination)} is mounted by the task file, too`]
        : [],
    ),
  ];
}

/** Namespaces are decided by the task file, and config.json must agree, because ports and other processes that a program sees depend on them. */
function namespaceProblem(name: Namespace, mode: TaskSpec["namespaces"][Namespace], entries: readonly OciObject[]): string | undefined {
  const entry = entries.find(({ type }) => type === name);
  const says = entry === undefined ? "host" : "path" in entry ? "path" : "private";
  if (says === (mode === "host" ? "host" : "private")) return undefined;
  const words = {
    host: `has none of type ${name}, which is that of the host`,
    path: `joins another one of type ${name}`,
    private: `has one of type ${name}`,
  };
  return `/linux/namespaces: it ${words[says]}, and the task file says ${name}: ${mode}`;
}

function entriesOf(value: unknown): readonly OciObject[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}
