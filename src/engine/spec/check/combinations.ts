/** Fields of a container that exclude or need each other. */

import { CAPABILITIES, signalNumber } from "../../../shared/linux/index.ts";
import type { Problem } from "../finding.ts";
import type { ContainerSpec } from "../schema/container.ts";
import type { TaskSpec, VolumeSpec } from "../schema/task.ts";

/** What the config.json of a bundle says already: each with the value that means "not given". */
const SAID_BY_BUNDLE = {
  command: undefined,
  args: [],
  env: {},
  cwd: "/",
  user: "0",
  hostname: undefined,
  readonlyRootfs: false,
  capabilities: undefined,
  noNewPrivileges: true,
  seccomp: undefined,
} as const satisfies Partial<Record<keyof ContainerSpec, unknown>>;

export function checkCombinations({ containers, namespaces, volumes }: TaskSpec): Problem[] {
  const combined: Problem[] = containers.flatMap((container, index) =>
    [
      ...source(container),
      ...mounts(container, volumes),
      ...metadata(container),
      ...signal(container),
      ...health(container),
      ...capabilities(container),
      ...hostname(container, namespaces.uts),
    ].map((problem) => ({
      ...problem,
      path: ["containers", index, ...problem.path],
    })),
  );
  for (const [index, volume] of volumes.entries()) {
    for (const { message, path } of sources(volume)) combined.push({ code: "combination", message, path: ["volumes", index, ...path] });
  }
  if (!containers.some(({ essential }) => essential)) {
    combined.push({ code: "combination", message: "no container is essential: nothing would end the task", path: ["containers"] });
  }
  return combined;
}

function source(container: ContainerSpec): Problem[] {
  const { bundle, rootfs, image, command, pullPolicy } = container;
  const wrong = (message: string, ...path: string[]): Problem => ({ code: "combination", message, path });
  const given = Object.entries({ bundle, rootfs, image }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length === 0) return [wrong("needs an image, a bundle or a rootfs")];
  if (given.length > 1) return [wrong(`has ${given.join(" and ")}: give one`, given.at(-1)!)];
  if (image === undefined && pullPolicy !== undefined) return [wrong("without an image there is nothing to pull", "pullPolicy")];
  if (bundle === undefined) return rootfs !== undefined && command === undefined ? [wrong("with a rootfs it needs a command")] : [];
  return Object.entries(SAID_BY_BUNDLE)
    .filter(([field, absent]) => JSON.stringify(container[field as keyof ContainerSpec]) !== JSON.stringify(absent))
    .map(([field]) => wrong(`the bundle's config.json says ${field}: it cannot be given here`, field));
}

function mounts(container: ContainerSpec, volumes: readonly VolumeSpec[]): Problem[] {
  return container.mounts.flatMap(({ volume: name, source: host, subPath, readOnly }, at): Problem[] => {
    const wrong = (message: string, ...path: string[]): Problem => ({ code: "combination", message, path: ["mounts", at, ...path] });
    if ((name === undefined) === (host === undefined)) return [wrong("needs either a volume or a source")];
    const volume = volumes.find((one) => one.name === name);
    if (volume?.files !== undefined && !readOnly)
      return [wrong("files of a volume are for reading only: readOnly has to be true", "readOnly")];
    // Whoever writes to a scratch volume could put a link in the place of a part of it.
    const isScratch = volume !== undefined && volume.files === undefined && volume.host === undefined;
    return isScratch && subPath !== undefined ? [wrong("a part of a scratch volume cannot be mounted", "subPath")] : [];
  });
}

function sources({ host, hostType, files }: VolumeSpec): readonly Pick<Problem, "message" | "path">[] {
  if (host !== undefined && files !== undefined)
    return [{ message: "has files, and is a directory of the host: give one", path: ["files"] }];
  return hostType !== undefined && host === undefined ? [{ message: "needs host", path: ["hostType"] }] : [];
}

function metadata({ metadata: directory, mounts: others }: ContainerSpec): Problem[] {
  if (directory === undefined || !others.some(({ target }) => target === directory)) return [];
  return [{ code: "combination", message: `a mount has the target ${directory}, too`, path: ["metadata"] }];
}

function signal({ stopSignal }: ContainerSpec): Problem[] {
  if (stopSignal === undefined || typeof stopSignal === "number" || signalNumber(stopSignal.replace(/^SIG/, "")) !== undefined) return [];
  return [{ code: "unknown-signal", message: `there is no signal ${stopSignal}`, path: ["stopSignal"] }];
}

function health({ healthCheck, restart }: ContainerSpec): Problem[] {
  const wrong = (message: string, ...path: string[]): Problem => ({ code: "combination", message, path });
  if (healthCheck === undefined) {
    return restart?.unhealthy ? [wrong("without a health check it is never unhealthy", "restart", "unhealthy")] : [];
  }
  const given = (["command", "http", "tcp"] as const).filter((way) => healthCheck[way] !== undefined);
  return given.length === 1 ? [] : [wrong("needs one of command, http and tcp", "healthCheck")];
}

/** The kernel knows capabilities by number: an unknown name would be dropped silently. */
function capabilities({ capabilities: given }: ContainerSpec): Problem[] {
  return (["add", "drop"] as const).flatMap((list) =>
    (given?.[list] ?? []).flatMap((name, at): Problem[] =>
      name === "ALL" || (CAPABILITIES as readonly string[]).includes(name)
        ? []
        : [{ code: "unknown-capability", message: `there is no capability ${name}`, path: ["capabilities", list, at] }],
    ),
  );
}

function hostname({ hostname: given }: ContainerSpec, uts: TaskSpec["namespaces"]["uts"]): Problem[] {
  if (given === undefined || uts === "private") return [];
  return [{ code: "combination", message: `a hostname needs a private uts namespace, and the task's is ${uts}`, path: ["hostname"] }];
}
