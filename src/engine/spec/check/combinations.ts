/** Checks fields of a container that exclude each other or need each other. */

import { CAPABILITIES, signalNumber } from "../../../shared/linux/index.ts";
import type { Problem } from "../finding.ts";
import { hasOwnNetwork } from "../namespaces.ts";
import type { ContainerSpec } from "../schema/container.ts";
import type { TaskSpec, VolumeSpec } from "../schema/task.ts";

/** Fields that the config.json of a bundle already sets, with the value that means "not given". */
const SET_BY_BUNDLE = {
  command: undefined,
  args: [],
  env: {},
  envFiles: undefined,
  cwd: "/",
  user: "0",
  hostname: undefined,
  readonlyRootfs: false,
  capabilities: undefined,
  privileged: undefined,
  unmasked: undefined,
  sharedMemory: undefined,
  runAsNonRoot: undefined,
  hostCgroups: undefined,
  noNewPrivileges: true,
  seccomp: undefined,
  groups: undefined,
  strictGroups: undefined,
  devices: undefined,
  deviceRules: undefined,
  blockIo: undefined,
  cdi: undefined,
  apparmor: undefined,
  domainname: undefined,
  addressEnv: undefined,
} as const satisfies Partial<Record<keyof ContainerSpec, unknown>>;

/** In bytes: the file system itself needs some of the space. */
const LEAST_IMAGE = 1 << 20;

export function checkCombinations(spec: TaskSpec): Problem[] {
  const { containers, namespaces, volumes, secrets = [] } = spec;
  const combined: Problem[] = containers.flatMap((container, index) =>
    [
      ...source(container),
      ...ofImage(container),
      ...mounts(container, volumes),
      ...secretsOf(container, secrets),
      ...metadata(container),
      ...endMessage(container),
      ...logOf(container),
      ...signal(container),
      ...health(container),
      ...capabilities(container),
      ...privileged(container),
      ...hostname(container, namespaces.uts),
      ...swap(container, spec),
      ...addresses(container, spec),
    ].map((problem) => ({
      ...problem,
      path: ["containers", index, ...problem.path],
    })),
  );
  for (const [index, { file, exec }] of secrets.entries()) {
    if ((file === undefined) === (exec === undefined))
      combined.push({ code: "combination", message: "needs either a file or a program (exec)", path: ["secrets", index] });
  }
  for (const [index, volume] of volumes.entries()) {
    for (const { message, path } of sources(volume)) combined.push({ code: "combination", message, path: ["volumes", index, ...path] });
  }
  combined.push(...parameters(spec), ...confined(spec));
  if (!containers.some(({ essential }) => essential)) {
    combined.push({ code: "combination", message: "no container is essential: nothing would end the task", path: ["containers"] });
  }
  return combined;
}

function source(container: ContainerSpec): Problem[] {
  const { bundle, rootfs, image, command } = container;
  const wrong = (message: string, ...path: string[]): Problem => ({ code: "combination", message, path });
  const given = Object.entries({ bundle, rootfs, image }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length === 0) return [wrong("needs an image, a bundle or a rootfs")];
  if (given.length > 1) return [wrong(`has ${given.join(" and ")}: give one`, given.at(-1)!)];
  if (image === undefined && container.storage !== undefined)
    return [wrong("needs an image: what is written to a directory of the host is not told from what was there", "storage")];
  if (image === undefined && container.rootSize !== undefined)
    return [wrong("needs an image: a directory of the host has the size of its file system", "rootSize")];
  if (container.rootSize !== undefined && container.rootSize < LEAST_IMAGE) return [wrong("is at least 1Mi", "rootSize")];
  if (container.rootSize !== undefined && container.storage !== undefined)
    return [wrong("what it writes has a fixed size already: give one of both", "storage")];
  const ofPull = (["pullPolicy", "pullCredentials"] as const).find((field) => container[field] !== undefined);
  if (image === undefined && ofPull !== undefined) return [wrong("without an image there is nothing to pull", ofPull)];
  if (bundle === undefined) return rootfs !== undefined && command === undefined ? [wrong("with a rootfs it needs a command")] : [];
  return Object.entries(SET_BY_BUNDLE)
    .filter(([field, absent]) => JSON.stringify(container[field as keyof ContainerSpec]) !== JSON.stringify(absent))
    .map(([field]) => wrong(`the bundle's config.json says ${field}: it cannot be given here`, field));
}

/** What is said of an image needs one, and has no meaning beside what takes its place. */
function ofImage(container: ContainerSpec): Problem[] {
  return Object.entries({ imageEntrypoint: "command", imageHealthCheck: "healthCheck" } as const).flatMap(([field, other]): Problem[] => {
    if (container[field as "imageEntrypoint" | "imageHealthCheck"] === undefined) return [];
    if (container.image !== undefined && container[other] === undefined) return [];
    const why = container.image === undefined ? "there is none" : `${other} takes its place`;
    return [{ code: "combination", message: `is of an image: ${why}`, path: [field] }];
  });
}

function addresses({ addressEnv = [], env }: ContainerSpec, spec: TaskSpec): Problem[] {
  const wrong = (message: string, ...path: (string | number)[]): Problem => ({
    code: "combination",
    message,
    path: ["addressEnv", ...path],
  });
  if (addressEnv.length > 0 && !hasOwnNetwork(spec)) return [wrong("the engine makes no network for the task: it has no address")];
  if (addressEnv.length > 0 && spec.network?.fallback !== undefined)
    return [wrong("needs the network, which the task does not have everywhere: leave out network.fallback")];
  return addressEnv.flatMap((name, at) => (Object.hasOwn(env, name) ? [wrong(`something else is the variable ${name}, too`, at)] : []));
}

function mounts(container: ContainerSpec, volumes: readonly VolumeSpec[]): Problem[] {
  return container.mounts.flatMap(({ volume: name, source: host, subPath, readOnly, propagation }, at): Problem[] => {
    const wrong = (message: string, ...path: string[]): Problem => ({ code: "combination", message, path: ["mounts", at, ...path] });
    if ((name === undefined) === (host === undefined)) return [wrong("needs either a volume or a source")];
    const volume = volumes.find((one) => one.name === name);
    if (volume?.filesystem !== undefined && subPath !== undefined)
      return [wrong("a part of a file system is named in its device, and not here", "subPath")];
    if (volume?.image !== undefined && !readOnly) return [wrong("an image is for reading only: readOnly has to be true", "readOnly")];
    if (volume?.files !== undefined && !readOnly)
      return [wrong("files of a volume are for reading only: readOnly has to be true", "readOnly")];
    if (propagation !== undefined && host === undefined && volume?.host === undefined)
      return [wrong("is of files and directories of the host", "propagation")];
    return [];
  });
}

function secretsOf(
  { secrets = [], mounts: others, env: given, bundle }: ContainerSpec,
  known: NonNullable<TaskSpec["secrets"]>,
): Problem[] {
  const targets = others.map(({ target }) => target);
  const variables = Object.keys(given);
  return secrets.flatMap(({ secret, target, env }, at): Problem[] => {
    const wrong = (message: string, ...field: string[]): Problem => ({ code: "combination", message, path: ["secrets", at, ...field] });
    if ((target === undefined) === (env === undefined)) return [wrong("needs either a target or a variable (env)")];
    const isTaken = target !== undefined && targets.includes(target);
    const isSaid = env !== undefined && variables.includes(env);
    if (target !== undefined) targets.push(target);
    if (env !== undefined) variables.push(env);
    if (isSaid) return [wrong(`something else is the variable ${env}, too`, "env")];
    if (env !== undefined && bundle !== undefined) return [wrong("config.json of a bundle has all variables", "env")];
    if (!known.some(({ name }) => name === secret)) return [wrong(`the task has no secret ${secret}`, "secret")];
    return isTaken ? [wrong(`something else has the target ${target}, too`, "target")] : [];
  });
}

function sources({ image, pullPolicy, pullCredentials, ...volume }: VolumeSpec): readonly Pick<Problem, "message" | "path">[] {
  const { host, hostType, files, medium, size, group, kept, existing, filesystem, user, mode } = volume;
  if (
    filesystem !== undefined &&
    [image, ...Object.values({ ...volume, name: undefined, filesystem: undefined })].some((one) => one !== undefined)
  )
    return [{ message: "is what is mounted there: nothing else is said of it", path: ["filesystem"] }];
  if (image !== undefined && Object.entries(volume).some(([field, value]) => field !== "name" && value !== undefined))
    return [{ message: "is what the image has: nothing else is said of it", path: ["image"] }];
  if (image !== undefined) return [];
  if (pullPolicy !== undefined || pullCredentials !== undefined)
    return [{ message: "without an image there is nothing to pull", path: [pullPolicy === undefined ? "pullCredentials" : "pullPolicy"] }];
  if (kept !== undefined && [host, files, medium, size].some((one) => one !== undefined))
    return [{ message: "is a directory that stays: it has no host, files, medium or size", path: ["kept"] }];
  if (existing && kept === undefined) return [{ message: "is of kept directories only", path: ["existing"] }];
  if (host !== undefined && files !== undefined)
    return [{ message: "has files, and is a directory of the host: give one", path: ["files"] }];
  if (host !== undefined && group !== undefined) return [{ message: "what is there on the host keeps its group", path: ["group"] }];
  const isScratch = host === undefined && files === undefined;
  if ((!isScratch || kept !== undefined) && (user !== undefined || mode !== undefined))
    return [{ message: "is of scratch directories only", path: [mode === undefined ? "user" : "mode"] }];
  if (!isScratch && (medium !== undefined || size !== undefined))
    return [{ message: "is of scratch directories only", path: [medium === undefined ? "size" : "medium"] }];
  if (medium === "image" && (size === undefined || size < LEAST_IMAGE))
    return [{ message: "an image has a size of at least 1Mi", path: [size === undefined ? "medium" : "size"] }];
  return hostType !== undefined && host === undefined ? [{ message: "needs host", path: ["hostType"] }] : [];
}

/** With `hostPaths`, the engine opens and binds each path of the host once, so that it must be a whole volume. */
function confined({ hostPaths, containers, volumes, privateUsers }: TaskSpec): Problem[] {
  if (hostPaths === undefined) return [];
  const ofHost = new Set(volumes.flatMap(({ name, host }) => (host === undefined ? [] : [name])));
  const foreign = volumes.flatMap(({ filesystem }, at): Problem[] =>
    filesystem === undefined
      ? []
      : [
          {
            code: "combination",
            message: "with hostPaths nothing is mounted but directories of the host",
            path: ["volumes", at, "filesystem"],
          },
        ],
  );
  const ofContainers = containers.flatMap(
    ({ mounts: all, bundle, rootfs, privileged: isPrivileged, unmasked, devices, deviceRules, cdi, blockIo }, index) => [
      ...(bundle === undefined && rootfs === undefined ? [] : [wrongIn(index, "with hostPaths it needs an image")]),
      ...(isPrivileged
        ? [wrongIn(index, "with hostPaths it cannot be privileged: it could mount any file of the host", "privileged")]
        : []),
      ...(unmasked && !privateUsers ? [wrongIn(index, "with hostPaths it needs privateUsers of the task", "unmasked")] : []),
      ...Object.entries({ devices, deviceRules, cdi, blockIo: blockIo?.devices }).flatMap(([field, given]) =>
        given === undefined ? [] : [wrongIn(index, "with hostPaths it cannot have devices of the host", field)],
      ),
      ...all.flatMap(({ source, volume, subPath, propagation }, at) => {
        if (propagation !== undefined) return [wrongIn(index, "with hostPaths mounts are not passed on", "mounts", at, "propagation")];
        if (source !== undefined) return [wrongIn(index, "with hostPaths a mount names a volume", "mounts", at, "source")];
        const isPart = volume !== undefined && ofHost.has(volume) && subPath !== undefined;
        return isPart ? [wrongIn(index, "with hostPaths a volume of the host is mounted as a whole", "mounts", at, "subPath")] : [];
      }),
    ],
  );
  return [...foreign, ...ofContainers];
}

function wrongIn(container: number, message: string, ...path: (string | number)[]): Problem {
  return { code: "combination", message, path: ["containers", container, ...path] };
}

/** Sysctls are set once for a namespace, so that all containers must share it. */
function parameters({ sysctls = {}, namespaces, network }: TaskSpec): Problem[] {
  return Object.keys(sysctls).flatMap((name): Problem[] => {
    const isNet = name.startsWith("net.");
    const isShared = isNet
      ? namespaces.network === "shared" || (network !== undefined && network.mode !== "host")
      : namespaces.ipc === "shared";
    // A network of the engine needs a shared namespace that holds it.
    const hasHolder = Object.values(namespaces).includes("shared");
    if (isShared && hasHolder) return [];
    const message = `needs a ${isNet ? "network" : "namespaces.ipc: shared"} that the containers share, and a namespace that one process holds for them`;
    return [{ code: "combination", message, path: ["sysctls", name] }];
  });
}

function metadata({ metadata: directory, mounts: others }: ContainerSpec): Problem[] {
  if (directory === undefined || !others.some(({ target }) => target === directory)) return [];
  return [{ code: "combination", message: `a mount has the target ${directory}, too`, path: ["metadata"] }];
}

function endMessage({ endMessage: file, metadata: directory, secrets = [], mounts: others }: ContainerSpec): Problem[] {
  const targets = [...others.map(({ target }) => target), ...secrets.map(({ target }) => target), directory];
  if (file === undefined || !targets.includes(file.path)) return [];
  return [{ code: "combination", message: `something else has the target ${file.path}, too`, path: ["endMessage", "path"] }];
}

/** Dropped output cannot be stored, forwarded or shown, and a log can be forwarded to only one receiver. */
function logOf({ log: { driver, ...rest } = {}, tty }: ContainerSpec): Problem[] {
  const wrong = (message: string, field: string): Problem => ({ code: "combination", message, path: ["log", field] });
  if (driver === "journald" && rest.forward !== undefined) return [wrong("goes to the journal already: give one", "forward")];
  if (driver === "journald" && rest.receiver !== undefined) return [wrong("goes to the journal already: give one", "receiver")];
  if (rest.forward !== undefined && rest.receiver !== undefined) return [wrong("is forwarded already: give one", "receiver")];
  if (driver !== "none") return [];
  if (tty) return [wrong("no client could see its terminal", "driver")];
  return Object.entries(rest).flatMap(([field, value]) => (value === undefined ? [] : [wrong("of a log that is not kept", field)]));
}

function signal({ stopSignal }: ContainerSpec): Problem[] {
  if (stopSignal === undefined || typeof stopSignal === "number" || signalNumber(stopSignal.replace(/^SIG/, "")) !== undefined) return [];
  return [{ code: "unknown-signal", message: `there is no signal ${stopSignal}`, path: ["stopSignal"] }];
}

function health(container: ContainerSpec): Problem[] {
  const wrong = (message: string, ...path: string[]): Problem => ({ code: "combination", message, path });
  const isNever = container.restart?.unhealthy === true && container.healthCheck === undefined;
  return [
    ...(isNever ? [wrong("without a health check it is never unhealthy", "restart", "unhealthy")] : []),
    ...(["startupCheck", "livenessCheck", "healthCheck"] as const).flatMap((field) => {
      const check = container[field];
      const given = (["command", "http", "tcp", "grpc"] as const).filter((way) => check?.[way] !== undefined);
      return check === undefined || given.length === 1 ? [] : [wrong("needs one of command, http, tcp and grpc", field)];
    }),
    ...(["postStart", "preStop"] as const).flatMap((field) => {
      const hook = container[field];
      const given = (["command", "commands", "http", "sleep"] as const).filter((way) => hook?.[way] !== undefined);
      return hook === undefined || given.length === 1 ? [] : [wrong("needs one of command, commands, http and sleep", field)];
    }),
  ];
}

/** The kernel knows capabilities by number, so that an unknown name would be dropped silently. */
function capabilities({ capabilities: given }: ContainerSpec): Problem[] {
  return (["add", "drop"] as const).flatMap((list) =>
    (given?.[list] ?? []).flatMap((name, at): Problem[] =>
      name === "ALL" || (CAPABILITIES as readonly string[]).includes(name)
        ? []
        : [{ code: "unknown-capability", message: `there is no capability ${name}`, path: ["capabilities", list, at] }],
    ),
  );
}

/** As with Docker and containerd, a privileged container has all capabilities. */
function privileged({ privileged: isPrivileged, capabilities: { drop } = { add: [], drop: [] } }: ContainerSpec): Problem[] {
  if (!isPrivileged || drop.length === 0) return [];
  return [{ code: "combination", message: "a privileged container has all capabilities", path: ["capabilities", "drop"] }];
}

function hostname(container: ContainerSpec, uts: TaskSpec["namespaces"]["uts"]): Problem[] {
  if (uts === "private") return [];
  return (["hostname", "domainname"] as const).flatMap((field): Problem[] =>
    container[field] === undefined
      ? []
      : [{ code: "combination", message: `a ${field} needs a private uts namespace, and the task's is ${uts}`, path: [field] }],
  );
}

function swap({ memory, memorySwap: given }: ContainerSpec, task: TaskSpec): Problem[] {
  const limit = memory ?? task.memory;
  if (given === undefined || (limit !== undefined && (given === "unlimited" || given >= limit))) return [];
  const message = limit === undefined ? "needs memory, too" : "is that of memory and swap together, and less than memory";
  return [{ code: "combination", message, path: ["memorySwap"] }];
}
