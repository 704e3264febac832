/** One container of a task. */
import { z } from "zod";
import { parseReference } from "../image/reference.ts";
import { PULL_POLICIES } from "../pull-policy.ts";
import { healthCheck, imageHealthCheck, killingCheck, postStart, preStop } from "./check.ts";
import { log } from "./log.ts";
import { absolutePath, blockIo, containerName, duration, name, pages, relativePath, size, text } from "./quantities.ts";

export const CONDITIONS = ["CREATE", "START", "SUCCESS", "COMPLETE", "HEALTHY"] as const;

export const dependency = z.strictObject({
  container: z.string().min(1).describe("Name of a container of the task, or TASK/CONTAINER for a container of another task of the group."),
  condition: z
    .enum(CONDITIONS)
    .default("START")
    .describe(
      "The condition to wait for. CREATE: it was created. START: it was started. SUCCESS: it has exited with 0. COMPLETE: it has ended. HEALTHY: its health check succeeds.",
    ),
  restart: z
    .boolean()
    .optional()
    .describe(
      "For a container of another task: whether this task is also replaced when that task is, and restarted when a user restarts that task.",
    ),
  timeout: duration.optional().describe("Maximum time to wait. The container is stopped after it. Absent: no maximum."),
});

const backoff = z.strictObject({
  initial: duration.default(1000),
  maximum: duration.default(300_000),
  resetAfter: duration.default(600_000).describe("After a run of at least this time the delay is the initial one again."),
});

export const restartPolicy = z.strictObject({
  enabled: z.boolean().default(true),
  ignoredExitCodes: z
    .array(z.int().min(0).max(255))
    .max(256)
    .default([])
    .describe("Exit codes after which the container is not restarted."),
  minimumRunTime: duration.default(0).describe("The container is not restarted after a shorter run."),
  maximumCount: z.int().min(1).optional().describe("Maximum number of restarts."),
  unhealthy: z.boolean().default(false).describe("Whether the container is restarted when it is unhealthy."),
  backoff: backoff.prefault({}).describe("Delay before a restart, which doubles with each restart."),
});

export const mount = z.strictObject({
  volume: z.string().optional().describe("Name of a volume of the task."),
  source: absolutePath.optional().describe("A file or directory of the host, instead of a volume."),
  subPath: relativePath.optional().describe("Path within the volume to mount. In a scratch or kept volume missing directories are made."),
  target: absolutePath,
  readOnly: z.boolean().default(false),
  propagation: z
    .enum(["rprivate", "private", "rslave", "slave", "rshared", "shared"])
    .optional()
    .describe(
      "For a file or directory of the host: slave: later mounts below it appear in the container. shared: mounts in the container also appear on the host. With the prefix r, this also holds below its mounts. Absent: rprivate.",
    ),
  noExec: z.literal(true).optional().describe("Whether no program may be executed from it."),
  noCopy: z
    .boolean()
    .optional()
    .describe(
      "true: a new kept volume stays empty. Absent: it gets the files of the image at the target, with owner and mode. false: a new scratch directory on disk gets them too.",
    ),
});

const variableName = z.string().regex(/^[^=\0]+$/, "is no name of a variable");
const variables = z.record(variableName, text);

export const agent = z.strictObject({
  name,
  command: z.array(text).min(1).describe("Program and arguments to run in the container beside its main program."),
  env: variables.default({}).describe("Variables in addition to those of the container."),
  cwd: absolutePath.optional().describe("Absent: that of the container."),
  user: text.min(1).optional().describe("Absent: that of the container."),
  backoff: backoff.prefault({}).describe("Delay before a restart, which doubles with each restart."),
});

const secretFile = z.strictObject({
  secret: z.string().describe("Name of a secret of the task."),
  target: absolutePath.optional().describe("Path of the file in the container."),
  env: variableName.optional().describe("Instead of a file: name of the environment variable with the secret, which must be text."),
  mode: z.int().min(0).max(0o777).default(0o400),
  uid: z
    .int()
    .min(0)
    .max(2 ** 32 - 2)
    .default(0)
    .describe("Owner of the file: user id in the container."),
});

export const imageReference = z
  .string()
  .refine(
    (value) => parseReference(value) !== undefined,
    "write oci:DIR[:tag], oci-archive:FILE[:tag], docker-archive:FILE[:name:tag] with an absolute path, or docker://HOST/NAME[:tag|@sha256:...]",
  )
  .describe(
    "oci:DIR[:tag], oci-archive:FILE, docker-archive:FILE or docker://HOST/NAME[:tag|@digest]. Its configuration is the default for fields that are not set here.",
  );

/** Without "RLIMIT_", in small letters. */
export const RLIMITS = [
  ...["as", "core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice"],
  ...["nofile", "nproc", "rss", "rtprio", "rttime", "sigpending", "stack"],
] as const;
const rlimitValue = z.union([z.int().min(0), z.literal("unlimited")]);
const rlimit = z.strictObject({ soft: rlimitValue, hard: rlimitValue });

const capabilityName = z.string().regex(/^CAP_[A-Z0-9_]+$/, "write a capability like CAP_NET_BIND_SERVICE");

/** Source: Container Device Interface, "Kind" and "Device". */
export const CDI_NAME = /^[A-Za-z][A-Za-z0-9_.-]*\/[A-Za-z][A-Za-z0-9_-]*=[A-Za-z0-9](?:[A-Za-z0-9_.:-]*[A-Za-z0-9])?$/;

const device = z.strictObject({
  source: absolutePath.describe("A device of the host, or a directory with devices."),
  target: absolutePath.optional().describe("Path in the container. Absent: the same path."),
  access: z
    .string()
    .regex(/^(?!.*(.).*\1)[rwm]{1,3}$/, "is made of r (read), w (write) and m (make the node), each once")
    .optional()
    .describe("Absent: rwm."),
});

export const endMessage = z.strictObject({
  path: absolutePath.describe("Path in the container where the engine mounts an empty file. Each start gets a new file."),
  orLog: z
    .boolean()
    .default(false)
    .describe("If the container fails and the file is empty, the end of its log is the message: at most 80 lines and 2048 bytes."),
});

/** A container as written in a task file, before defaults are added. */
const fields = z.strictObject({
  name: containerName,
  bundle: absolutePath.optional().describe("Path of a directory with an OCI config.json, which defines the process completely."),
  rootfs: absolutePath.optional().describe("Path of the directory that becomes the root file system."),
  image: imageReference.optional(),
  pullPolicy: z
    .enum(PULL_POLICIES)
    .optional()
    .describe(
      "When to ask the registry. With always each time; a failure stops the task. With once until a pull has succeeded. With prefer-cached only if the image is not in the store. With default each time; if that fails, the image in the store is used. With never not at all. Absent: as configured for the host.",
    ),
  pullCredentials: name
    .optional()
    .describe('Name of the credentials that the host has for its registry. Absent: those with the name "default", if there are some.'),
  readonlyRootfs: z.boolean().default(false),
  command: text
    .min(1)
    .optional()
    .describe("The program, searched in the container's PATH. It replaces entrypoint and arguments of the image."),
  imageEntrypoint: z.literal(false).optional().describe("false: the arguments alone, or those of the image, name the program."),
  args: z.array(text).default([]),
  env: variables.default({}),
  addressEnv: z
    .array(variableName)
    .max(100)
    .optional()
    .describe(
      "Names of variables that get the address of the task in its network. $(NAME) refers to them in command, arguments and env of the container.",
    ),
  envFiles: z
    .array(absolutePath)
    .max(100)
    .optional()
    .describe(
      "Files of the host with lines NAME=VALUE, read when the container is started. Later files take precedence over earlier ones, and env over all files.",
    ),
  secrets: z.array(secretFile).max(100).optional(),
  cwd: absolutePath.optional().describe("Working directory. Absent: that of the image, or /."),
  user: text.min(1).optional().describe('"name" or "uid", either with ":group", or ":group" alone. Absent: the image\'s, else 0.'),
  runAsNonRoot: z
    .literal(true)
    .optional()
    .describe("It is not created if its user, here or in the image, is root or a name, which may be root. Absent: any user is accepted."),
  groups: z
    .array(
      z.union([
        z
          .int()
          .min(0)
          .max(2 ** 31 - 1),
        z.string().regex(/^[^\0:,\s]+$/, "is no name of a group"),
      ]),
    )
    .max(1000)
    .optional()
    .describe("Additional groups of its processes: numbers, or names in /etc/group of the container."),
  strictGroups: z
    .literal(true)
    .optional()
    .describe(
      "Its processes have only the groups that are named here, and not those of the user in its /etc/group. Absent: they have both.",
    ),
  hostname: z.string().min(1).max(64).optional(),
  domainname: z.string().min(1).max(64).optional().describe("Name of the NIS domain, as domainname(1) prints it. Absent: none."),
  essential: z.boolean().default(true).describe("Whether the task stops when this container ends."),
  dependsOn: z.array(dependency).default([]),
  restart: restartPolicy.optional(),
  stopSignal: z
    .union([z.string().min(1), z.int().min(1).max(64)])
    .optional()
    .describe("Absent: the stop signal of the image, or SIGTERM."),
  stopTimeout: duration.optional().describe("Time to end after the stop signal. Absent: as configured for the host."),
  preStop: preStop
    .optional()
    .describe("Hook that runs before any container of the task gets its stop signal, at most once. A failure does not prevent the stop."),
  postStart: postStart
    .optional()
    .describe(
      "Hook that runs right after the start, again if the daemon was killed in the meantime. Dependents wait until it has succeeded. If it fails, the container is stopped as by livenessCheck.",
    ),
  startupCheck: killingCheck
    .optional()
    .describe("Other checks and dependents wait until it succeeds. If it fails finally, the container is stopped as by livenessCheck."),
  livenessCheck: killingCheck
    .optional()
    .describe("If it fails finally, the container is stopped, and restarted if its restart policy allows that."),
  healthCheck: healthCheck.optional(),
  imageHealthCheck,
  agents: z
    .array(agent)
    .min(1)
    .max(16)
    .optional()
    .describe(
      "Additional programs that run in the container as long as it runs, and are restarted when they end. They do not affect the container.",
    ),
  cpus: z.number().min(0.01).optional().describe("CPU limit: 0.5 is half of one CPU."),
  cpuShares: z
    .int()
    .min(0)
    .optional()
    .describe("CPU weight relative to other containers: 2 to 262144. Other values are replaced by the nearest one."),
  cpuset: z
    .string()
    .regex(/^\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/, 'write CPUs like "0-3,7"')
    .optional()
    .describe("Numbers of the CPUs that it may use."),
  memory: size.optional(),
  memoryReservation: size.optional(),
  memorySwap: z
    .union([size, z.literal("unlimited")])
    .optional()
    .describe("Limit of memory and swap together; not less than memory. Absent: the same as memory, so that it does not swap."),
  storage: size
    .optional()
    .describe(
      "Limit of the data in its root file system and log. The engine measures the size, and stops the task if the container exceeds it. Needs an image.",
    ),
  rootSize: size
    .optional()
    .describe(
      "Size of a file system of its own on disk for what it writes to its root file system, which gets ENOSPC beyond it. The space is allocated at once. Needs an image.",
    ),
  pids: z.int().min(1).optional(),
  hugepages: pages.optional().describe("Limit of huge pages, by page size. The host needs the controller hugetlb and pages of this size."),
  rlimits: z
    .partialRecord(z.enum(RLIMITS), rlimit)
    .optional()
    .describe("Limits of each process as in setrlimit(2), by names such as nofile. Absent: those of the daemon."),
  oomScoreAdj: z.int().min(-1000).max(1000).optional().describe("How likely the kernel kills it when memory runs out. Absent: 0."),
  shmSize: size.optional().describe("Size of /dev/shm. Absent: 64 MiB."),
  sharedMemory: z.literal(false).optional().describe("false: there is no /dev/shm. Absent: there is one."),
  capabilities: z
    .strictObject({ add: z.array(capabilityName).default([]), drop: z.array(z.union([capabilityName, z.literal("ALL")])).default([]) })
    .optional(),
  privileged: z
    .boolean()
    .optional()
    .describe(
      "Whether it has the rights of the host's root user: all capabilities and devices of the host, no seccomp filter unless seccomp names one, and no hidden or read-only paths in /proc and /sys. Absent: false.",
    ),
  devices: z.array(device).max(1000).optional().describe("Devices of the host, in addition to those that each container has."),
  deviceRules: z
    .array(z.string().regex(/^[abc] (?:\d{1,9}|\*):(?:\d{1,9}|\*) [rwm]{1,3}$/, 'write a rule like "c 1:3 rwm"'))
    .max(1000)
    .optional()
    .describe("Devices that it may use if it has or makes a node of them: type, numbers and access."),
  blockIo: blockIo
    .optional()
    .describe(
      "Weights and limits of block devices. The host needs the controller blkio (v1) or io (v2), for weights with the scheduler BFQ.",
    ),
  cdi: z
    .array(z.string().regex(CDI_NAME, "write a name like vendor.com/class=name"))
    .max(1000)
    .optional()
    .describe("Devices by the names that the CDI specifications of the host have for them, in /etc/cdi and /var/run/cdi."),
  unmasked: z
    .literal(true)
    .optional()
    .describe(
      "No path of /proc and /sys is hidden or read-only. Without `privateUsers` of the task its root can change settings of the host there. Absent: some paths are.",
    ),
  hostCgroups: z
    .literal(true)
    .optional()
    .describe("It sees its cgroups as the host names them, and not as the root of a cgroup namespace of its own."),
  noNewPrivileges: z.boolean().optional().describe("Absent: true, or false if it is privileged."),
  seccomp: z
    .union([z.literal("unconfined"), absolutePath])
    .optional()
    .describe("Path of a file with the seccomp object of an OCI config.json, or with a seccomp profile of Docker."),
  apparmor: text.min(1).max(255).optional().describe("Profile of AppArmor, which the host has loaded. Absent: none."),
  annotations: z.record(z.string().min(1), text).default({}),
  log: log.optional().describe("Size and number of the log files. Absent: three files of 10 MiB."),
  logRouter: z
    .union([z.boolean(), z.literal("forward")])
    .optional()
    .describe(
      "Whether it receives the logs of containers that name it in `log.router`. It listens on /run/log-router/router.sock, and /etc/log-router/config.json lists the senders. forward: records come in the forward protocol of Fluentd and Fluent Bit, with acknowledgements. true: as frames of JSON.",
    ),
  mounts: z.array(mount).default([]),
  stdin: z
    .union([z.boolean(), z.literal("once")])
    .optional()
    .describe(
      "Whether standard input stays open, for clients that attach. once: it ends with the input of the first client, or when that client or the daemon ends; a terminal stays open. Absent: it is empty.",
    ),
  tty: z.boolean().optional().describe("Whether the standard streams are a terminal, for clients that attach."),
  metadata: absolutePath
    .optional()
    .describe(
      "Directory in the container for the file metadata.json, which describes the container: task, name, start, ports. Absent: none.",
    ),
  endMessage: endMessage.optional().describe("A file whose last 4096 bytes are the message of the container's end. Absent: no message."),
});

/** Defaults for containers without an image, so that a record contains all defaults. With an image, its configuration provides them. */
const DEFAULTS_WITHOUT_IMAGE = { cwd: "/", user: "0", stopSignal: "SIGTERM" } as const;

/** A field that says what holds without it is left out, so that both ways of writing a task have the same digest. */
export const container = fields.transform(({ privileged, ...one }) => {
  const rights = privileged ? { privileged } : {};
  const noNewPrivileges = one.noNewPrivileges ?? (!privileged || one.bundle !== undefined);
  return { ...(one.image === undefined ? DEFAULTS_WITHOUT_IMAGE : {}), ...one, ...rights, noNewPrivileges } as z.output<typeof fields> & {
    readonly noNewPrivileges: boolean;
  };
});

export type Condition = (typeof CONDITIONS)[number];
export type Dependency = z.output<typeof dependency>;
export type RestartPolicy = z.output<typeof restartPolicy>;
export type AgentSpec = z.output<typeof agent>;
export type MountSpec = z.output<typeof mount>;
export type ContainerSpec = z.output<typeof container>;
