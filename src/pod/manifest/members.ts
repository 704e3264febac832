/** Lists the containers of a pod in the order in which they start. */
import type { ContainerInput } from "../schema/container.ts";
import type { Path, Translation } from "./translation.ts";

/** The role of a container in its pod. */
export type Role = "main" | "init" | "sidecar";

export interface Member {
  readonly container: ContainerInput;
  readonly role: Role;
  readonly path: Path;
}

export function membersOf({ spec }: Translation["pod"]): Member[] {
  return [
    ...spec.initContainers.map((container, index): Member => {
      const role = container.restartPolicy === "Always" ? "sidecar" : "init";
      return { container, role, path: ["spec", "initContainers", index] };
    }),
    ...spec.containers.map((container, index): Member => ({ container, role: "main", path: ["spec", "containers", index] })),
  ];
}
