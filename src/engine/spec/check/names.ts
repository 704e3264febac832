/** Checks names: duplicates, references to missing things, and names that are reserved. */
import type { Problem } from "../finding.ts";
import type { TaskSpec } from "../schema/task.ts";

/** Prefix of the engine's own annotations, by which it recognises containers that it adopts. */
export const RESERVED_ANNOTATIONS = "org.runt.";

export function checkNames({ containers, volumes, ports }: TaskSpec): Problem[] {
  const known = new Set(volumes.map(({ name }) => name));
  return [
    ...duplicates(containers.map(({ name }) => name)).map((index) => duplicate(["containers", index, "name"], containers[index]!.name)),
    ...duplicates(volumes.map(({ name }) => name)).map((index) => duplicate(["volumes", index, "name"], volumes[index]!.name)),
    ...duplicates(ports.map(({ port, protocol }) => `${port}/${protocol}`)).map((index) =>
      duplicate(["ports", index], `${ports[index]!.port}`),
    ),
    ...containers.flatMap(({ mounts, annotations, agents = [] }, index) => [
      ...duplicates(agents.map(({ name }) => name)).map((at) => duplicate(["containers", index, "agents", at, "name"], agents[at]!.name)),
      ...mounts.flatMap(({ volume }, at): Problem[] =>
        volume === undefined || known.has(volume)
          ? []
          : [
              {
                code: "unknown-reference",
                message: `the task has no volume ${volume}`,
                path: ["containers", index, "mounts", at, "volume"],
              },
            ],
      ),
      ...Object.keys(annotations).flatMap((key): Problem[] =>
        key.startsWith(RESERVED_ANNOTATIONS)
          ? [
              {
                code: "reserved-annotation",
                message: `annotations that begin with ${RESERVED_ANNOTATIONS} are set by the engine`,
                path: ["containers", index, "annotations", key],
              },
            ]
          : [],
      ),
    ]),
  ];
}

function duplicate(path: Problem["path"], name: string): Problem {
  return { code: "duplicate-name", message: `${name} is there twice`, path };
}

/** Indices of values that occurred before. */
export function duplicates(names: readonly string[]): number[] {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    const isSecond = seen.has(name);
    seen.add(name);
    return isSecond ? [index] : [];
  });
}
