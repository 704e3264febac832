/** Checks what a task with users of its own cannot have. */
import type { Problem } from "../finding.ts";
import type { ContainerSpec } from "../schema/container.ts";
import type { TaskSpec } from "../schema/task.ts";

/** The first id that such a task does not have. */
const MOST = 65_536;
const TOO_HIGH = `with privateUsers ids are below ${MOST}`;

export function checkUsers({ privateUsers, containers, namespaces, network, volumes }: TaskSpec): Problem[] {
  const wrong = (message: string, ...path: (string | number)[]): Problem => ({ code: "combination", message, path });
  if (!privateUsers) {
    return containers.flatMap(({ unmasked }, at) =>
      unmasked ? [wrong("needs privateUsers of the task", "containers", at, "unmasked")] : [],
    );
  }
  const ofHost = Object.entries({ ...namespaces, network: network?.mode ?? namespaces.network }).filter(([, mode]) => mode === "host");
  return [
    ...ofHost.map(([name]) => wrong("with privateUsers a task has no namespace of the host", "namespaces", name)),
    ...volumes.flatMap(({ group = 0 }, at) => (group < MOST ? [] : [wrong(TOO_HIGH, "volumes", at, "group")])),
    ...containers.flatMap((container, at) =>
      containerProblems(container).map(({ message, path }) => wrong(message, "containers", at, ...path)),
    ),
  ];
}

function containerProblems({
  bundle,
  rootfs,
  privileged,
  user,
  groups = [],
  secrets = [],
}: ContainerSpec): Pick<Problem, "message" | "path">[] {
  const ids = (user ?? "").split(":").map(Number);
  return [
    ...(bundle === undefined ? [] : [{ message: "with privateUsers it needs an image", path: ["bundle"] }]),
    ...(rootfs === undefined
      ? []
      : [{ message: "with privateUsers it needs an image: the files of a directory belong to users of the host", path: ["rootfs"] }]),
    ...(privileged
      ? [{ message: "with privateUsers it cannot be privileged: it would have no rights over the host's devices", path: ["privileged"] }]
      : []),
    ...(ids.some((id) => id >= MOST) ? [{ message: TOO_HIGH, path: ["user"] }] : []),
    ...groups.flatMap((id, at) => (id < MOST ? [] : [{ message: TOO_HIGH, path: ["groups", at] }])),
    ...secrets.flatMap(({ uid }, at) => (uid < MOST ? [] : [{ message: TOO_HIGH, path: ["secrets", at, "uid"] }])),
  ];
}
