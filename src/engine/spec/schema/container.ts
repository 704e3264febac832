/** One container of a task. */
import { z } from "zod";
import { parseReference } from "../image/reference.ts";
import { PULL_POLICIES } from "../pull-policy.ts";
import { absolutePath, containerName, duration, name, relativePath, size, text } from "./quantities.ts";

export const CONDITIONS = ["CREATE", "START", "SUCCESS", "COMPLETE", "HEALTHY"] as const;

export const dependency = z.strictObject({
  container: z.string().min(1).describe("A container of this task, or TASK/CONTAINER for one of another task of the group."),
  condition: z
    .enum(CONDITIONS)
    .default("START")
    .describe(
      "What must have happened to it: CREATE: it was created. START: it was started. SUCCESS: it has ended with 0. COMPLETE: it has ended. HEALTHY: its health check succeeds.",
    ),
  restart: z
    .boolean()
    .optional()
    .describe(
      "Of a container of another task: whether this task is replaced with that one, and restarted when somebody restarts that one.",
    ),
  timeout: duration.optional().describe("How long this container waits for it at most. Then it is stopped. Absent: without an end."),
});

const backoff = z.strictObject({
  initial: duration.default(1000),
  maximum: duration.default(300_000),
  resetAfter: duration.default(600_000).describe("A run that lasts this long makes the next wait short again."),
});

export const restartPolicy = z.strictObject({
  enabled: z.boolean().default(true),
  ignoredExitCodes: z.array(z.int().min(0).max(255)).max(50).default([]).describe("Exit codes after which it is not started again."),
  minimumRunTime: duration.default(0).describe("It is not started again when it has run for a shorter time."),
  maximumCount: z.int().min(1).optional().describe("How many times it is started again at most."),
  unhealthy: z.boolean().default(false).describe("It is stopped and started again when its health checks have failed."),
  backoff: backoff.prefault({}).describe("How long it waits before it is started again: the time doubles with each run."),
});

const checkPort = z.int().min(1).max(65_535);
const checkAddress = z
  .union([z.ipv4("is no IP address"), z.ipv6("is no IP address")])
  .default("127.0.0.1")
  .describe("In the container's network.");
const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "is no name of a header");
const headerValue = z.string().regex(/^[\t\x20-\x7e]*$/, "is no value of a header");

export const httpCheck = z.strictObject({
  port: checkPort,
  path: z
    .string()
    .regex(/^\/[\x21-\x7e]*$/, "is no path of a URL like /healthy")
    .default("/"),
  address: checkAddress,
  headers: z.record(headerName, headerValue).default({}),
  tls: z.boolean().optional().describe("Over TLS; the certificate is not looked at."),
});

export const tcpCheck = z.strictObject({ port: checkPort, address: checkAddress });

export const grpcCheck = z.strictObject({
  port: checkPort,
  address: checkAddress,
  service: z
    .string()
    .regex(/^[\x20-\x7e]*$/, "is no name of a service")
    .default("")
    .describe("That is asked about; empty: the whole server."),
});

export const healthCheck = z.strictObject({
  command: z
    .array(text)
    .min(1)
    .optional()
    .describe("Program and arguments, run inside the container. It is healthy when this exits with 0."),
  http: httpCheck.optional().describe("Instead of a command: it is healthy when a GET is answered with a status from 200 to 399."),
  tcp: tcpCheck.optional().describe("Instead of a command: it is healthy when a connection comes about."),
  grpc: grpcCheck.optional().describe("Instead of a command: it is healthy when grpc.health.v1.Health/Check answers SERVING, without TLS."),
  initialDelay: duration.optional().describe("How long after the start the first check is made. Absent: at once."),
  interval: duration.default(30_000),
  timeout: duration.default(5000),
  retries: z.int().min(1).max(100_000).default(3).describe("How many failures in a row make it unhealthy."),
  successes: z.int().min(1).max(100).optional().describe("How many successes in a row make it healthy. Absent: 1."),
  startPeriod: duration.default(0).describe("Failures in this time after the start do not count."),
});

export const postStart = z.strictObject({
  command: z
    .array(text)
    .min(1)
    .describe("Program and arguments, run inside it right after its start; again, when the daemon was killed meanwhile."),
  timeout: duration.default(600_000),
});

export const preStop = z.strictObject({
  command: z.array(text).min(1).describe("Program and arguments. That it fails stops nothing."),
  timeout: duration.default(10_000),
});

export const mount = z.strictObject({
  volume: z.string().optional().describe("A volume of the task."),
  source: absolutePath.optional().describe("A file or directory of the host, instead of a volume."),
  subPath: relativePath.optional().describe("What is mounted: this part of a volume with files or of the host."),
  target: absolutePath,
  readOnly: z.boolean().default(false),
});

/** In bytes. A smaller log could not hold two records of maximum length. */
const LEAST_LOG = 65_536;

export const LOG_DRIVERS = ["file", "journald", "none"] as const;

export const log = z.strictObject({
  driver: z
    .enum(LOG_DRIVERS)
    .optional()
    .describe(
      "file (default): what it prints is kept. journald: it is sent to systemd's journal, too. none: it is dropped, and nobody can read it.",
    ),
  maxSize: size
    .refine((bytes) => bytes >= LEAST_LOG, "is less than 64Ki")
    .optional()
    .describe("Of one file. Before it would be larger a new one is begun."),
  maxFiles: z.int().min(1).max(100).optional().describe("Files that are kept, with the one that is written."),
  forward: z
    .strictObject({
      socket: absolutePath.describe("A unix stream socket of the host."),
      tag: text.min(1).max(255).optional().describe("Absent: CONTAINER-firelens-TASK."),
    })
    .optional()
    .describe("What it prints is sent there, too. While nobody listens it waits in the files."),
});

const variableName = z.string().regex(/^[^=\0]+$/, "is no name of a variable");
const variables = z.record(variableName, text);

export const agent = z.strictObject({
  name,
  command: z.array(text).min(1).describe("Program and arguments, run inside the container beside its own program."),
  env: variables.default({}).describe("Added to the variables of the container."),
  cwd: absolutePath.optional().describe("Absent: that of the container."),
  user: text.min(1).optional().describe("Absent: that of the container."),
  backoff: backoff.prefault({}).describe("How long it waits before it is started again after its end: the time doubles with each run."),
});

const secretFile = z.strictObject({
  secret: z.string().describe("A secret of the task."),
  target: absolutePath.optional().describe("Path of the file in the container."),
  env: variableName.optional().describe("Instead of a file: the variable that has it. It is a text."),
  mode: z.int().min(0).max(0o777).default(0o400),
  uid: z
    .int()
    .min(0)
    .max(2 ** 32 - 2)
    .default(0)
    .describe("Whose it is, as the container counts."),
});

const imageReference = z
  .string()
  .refine(
    (value) => parseReference(value) !== undefined,
    "write oci:DIR[:tag], oci-archive:FILE[:tag], docker-archive:FILE[:name:tag] with an absolute path, or docker://HOST/NAME[:tag|@sha256:...]",
  )
  .describe("oci:DIR[:tag], oci-archive:FILE, docker-archive:FILE or docker://HOST/NAME[:tag|@digest]. It says what is not said here.");

const capabilityName = z.string().regex(/^CAP_[A-Z0-9_]+$/, "write a capability like CAP_NET_BIND_SERVICE");

export const endMessage = z.strictObject({
  path: absolutePath.describe("Path in the container at which the engine mounts an empty file. Each start gets a new one."),
  orLog: z
    .boolean()
    .default(false)
    .describe("If the container fails and the file is empty, the end of its log is the message: at most 80 lines and 2048 bytes."),
});

/** A container as written in a task file, before defaults are added. */
const fields = z.strictObject({
  name: containerName,
  bundle: absolutePath.optional().describe("A directory with an OCI config.json. It says everything about the process."),
  rootfs: absolutePath.optional().describe("A directory that becomes the root file system."),
  image: imageReference.optional(),
  pullPolicy: z
    .enum(PULL_POLICIES)
    .optional()
    .describe(
      "Whether the source is asked. always: each time, and a failure stops the task. once: until a pull has succeeded. prefer-cached: when the image is not there. default: each time, and what is there is used when that fails. never: not at all. Absent: what the host says.",
    ),
  pullCredentials: name
    .optional()
    .describe('Name of the credentials that the host has for its registry. Absent: those with the name "default", if there are some.'),
  readonlyRootfs: z.boolean().default(false),
  command: text
    .min(1)
    .optional()
    .describe("The program, looked for in the container's PATH. Of an image it takes the place of its entrypoint and arguments."),
  args: z.array(text).default([]),
  env: variables.default({}),
  envFiles: z
    .array(absolutePath)
    .max(100)
    .optional()
    .describe(
      "Files of the host with lines NAME=VALUE, read when it is started. Later ones come before earlier ones, and env before all of them.",
    ),
  secrets: z.array(secretFile).max(100).optional(),
  cwd: absolutePath.optional().describe("Absent: what the image says, else /."),
  user: text.min(1).optional().describe('"name" or "uid", either with ":group". Absent: what the image says, else 0.'),
  groups: z
    .array(
      z
        .int()
        .min(0)
        .max(2 ** 31 - 1),
    )
    .max(1000)
    .optional()
    .describe("Numbers of further groups of its processes."),
  hostname: z.string().min(1).max(64).optional(),
  essential: z.boolean().default(true).describe("The task stops when it ends."),
  dependsOn: z.array(dependency).default([]),
  restart: restartPolicy.optional(),
  stopSignal: z
    .union([z.string().min(1), z.int().min(1).max(64)])
    .optional()
    .describe("Absent: what the image says, else SIGTERM."),
  stopTimeout: duration.optional().describe("How long it may take to end after the signal. Absent: what the host says."),
  preStop: preStop.optional().describe("What is run inside it before any container of the task gets its stop signal; at most once."),
  postStart: postStart
    .optional()
    .describe(
      "Until it has ended with 0 the container has not started for what waits for it. When it fails, the container is stopped as by livenessCheck.",
    ),
  startupCheck: healthCheck
    .optional()
    .describe(
      "Until it succeeds no other check is made, and the container has not started for what waits for it. When it fails for good, as livenessCheck.",
    ),
  livenessCheck: healthCheck
    .optional()
    .describe("When it fails for good the container is stopped, and started again when its restart policy allows that."),
  healthCheck: healthCheck.optional(),
  agents: z
    .array(agent)
    .min(1)
    .max(16)
    .optional()
    .describe(
      "Programs that run inside it for as long as it runs, and are started again when they end. What becomes of them does not change it.",
    ),
  cpus: z.number().min(0.01).optional().describe("CPUs worth of time: 0.5 is half of one."),
  cpuShares: z.int().min(0).optional().describe("Weight against other containers: 2 to 262144; other values are moved to the nearest."),
  memory: size.optional(),
  memoryReservation: size.optional(),
  pids: z.int().min(1).optional(),
  capabilities: z
    .strictObject({ add: z.array(capabilityName).default([]), drop: z.array(z.union([capabilityName, z.literal("ALL")])).default([]) })
    .optional(),
  noNewPrivileges: z.boolean().default(true),
  seccomp: z
    .union([z.literal("unconfined"), absolutePath])
    .optional()
    .describe("A file with the seccomp object of an OCI config.json."),
  annotations: z.record(z.string().min(1), text).default({}),
  log: log.optional().describe("How much is kept of what it prints. Absent: three files of 10 MiB."),
  mounts: z.array(mount).default([]),
  stdin: z.boolean().optional().describe("Its standard input stays open for whoever attaches. Absent: it is empty."),
  tty: z.boolean().optional().describe("Its standard streams are a terminal, for whoever attaches."),
  metadata: absolutePath
    .optional()
    .describe("A directory in it, with the file metadata.json that tells it about itself: task, container, start, ports. Absent: none."),
  endMessage: endMessage
    .optional()
    .describe("A file whose last 4096 bytes are shown as the message when the container has ended. Absent: no message."),
});

/** Defaults for containers without an image, so that a record contains all defaults. With an image, its configuration provides them. */
const DEFAULTS_WITHOUT_IMAGE = { cwd: "/", user: "0", stopSignal: "SIGTERM" } as const;

export const container = fields.transform(
  (one) => (one.image === undefined ? { ...DEFAULTS_WITHOUT_IMAGE, ...one } : one) as z.output<typeof fields>,
);

export type Condition = (typeof CONDITIONS)[number];
export type Dependency = z.output<typeof dependency>;
export type RestartPolicy = z.output<typeof restartPolicy>;
export type AgentSpec = z.output<typeof agent>;
export type HttpCheck = z.output<typeof httpCheck>;
export type TcpCheck = z.output<typeof tcpCheck>;
export type GrpcCheck = z.output<typeof grpcCheck>;
export type HealthCheck = z.output<typeof healthCheck>;
export type MountSpec = z.output<typeof mount>;
export type ContainerSpec = z.output<typeof container>;
