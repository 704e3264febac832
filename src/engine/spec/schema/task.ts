/** A task: containers that share limits, volumes and a lifetime. */
import { z } from "zod";
import { container } from "./container.ts";
import { network } from "./network.ts";
import { absolutePath, duration, name, relativePath, size, text } from "./quantities.ts";

export const NAMESPACES = ["pid", "ipc", "network", "uts"] as const;

/** private: each container has its own namespace. shared: the containers of the task share one. host: they use that of the host. */
const namespaceMode = z.enum(["private", "shared", "host"]).default("private");

export const volumeFile = z.strictObject({
  content: z.string(),
  encoding: z.enum(["utf8", "base64"]).default("utf8"),
  mode: z.int().min(0).max(0o777).default(0o644),
});

export const volume = z.strictObject({
  name,
  host: absolutePath.optional().describe("A directory of the host. Absent: a scratch directory, removed with the task."),
  hostType: z.enum(["Directory", "File", "Socket"]).optional().describe("What has to be at `host`. Absent: anything."),
  files: z
    .record(relativePath, volumeFile)
    .optional()
    .describe("Files by their paths in it, written before a container is made. Such a volume is mounted for reading only."),
  kept: name
    .optional()
    .describe(
      "A directory of the engine with this name in the group. It stays when the task is removed, and other tasks of the group may have it, too.",
    ),
  medium: z
    .enum(["memory", "image"])
    .optional()
    .describe(
      "memory: a scratch directory in memory. image: on the disk, in a file system of its own, which has the size. Absent: on the disk.",
    ),
  size: size
    .optional()
    .describe(
      "Of a scratch directory: in memory and in an image it cannot be larger; else it is measured, and a task that has more in it is stopped.",
    ),
  group: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .optional()
    .describe("Group of a scratch directory and of what is made in it, or that may read the files. Absent: root's."),
});

export const secret = z.strictObject({
  name,
  file: absolutePath.optional().describe("A file of the host, read when a container is made."),
  exec: z
    .tuple([absolutePath], text)
    .optional()
    .describe("A program of the host and its arguments: what it prints is the secret, each time that a container is made."),
});

export const task = z.strictObject({
  name,
  containers: z.array(container).min(1, "a task has at least one container").max(1000),
  cpus: z.number().positive().optional().describe("CPUs worth of time for all containers together."),
  memory: size.optional().describe("Memory for all containers together."),
  pids: z.int().min(1).optional().describe("Processes of all containers together."),
  namespaces: z
    .strictObject({ pid: namespaceMode, ipc: namespaceMode, network: namespaceMode, uts: namespaceMode })
    .prefault({})
    .describe("private: each container has its own. shared: one for the task. host: that of the host."),
  network: network.optional().describe("One network for all containers, which the engine makes; instead of namespaces.network."),
  volumes: z.array(volume).default([]),
  hostPaths: z
    .array(absolutePath)
    .max(1000)
    .optional()
    .describe(
      "Its volumes of the host have to be below one of these directories, wherever their paths lead when they are mounted, and are nothing of the engine itself. Absent: any.",
    ),
  sysctls: z
    .record(
      z
        .string()
        .regex(/^(?:kernel\.(?:shm\w+|msg\w+|sem)|fs\.mqueue\.\w+|net\.[\w./-]+)$/, "is no parameter of the ipc or network namespace"),
      text,
    )
    .optional()
    .describe("Kernel parameters of the namespaces that its containers share."),
  secrets: z.array(secret).max(100).optional().describe("What containers get as files in memory. The engine stores none."),
  ports: z
    .array(z.strictObject({ port: z.int().min(1).max(65_535), protocol: z.enum(["tcp", "udp"]).default("tcp") }))
    .default([])
    .describe("Ports of the host that it listens on. Two tasks with the same one do not run at the same time."),
  retention: duration.optional().describe("How long a stopped task can be looked at. Absent: what the host says."),
  replace: z
    .enum(["stopFirst", "startFirst"])
    .optional()
    .describe(
      "How another spec takes its place. stopFirst (default): when this task has ended. startFirst: this task ends when the new one works.",
    ),
  ends: z
    .enum(["first", "all"])
    .optional()
    .describe("first (default): the task ends with the first essential container that ends. all: when the last of them has ended."),
  annotations: z
    .record(z.string().min(1), text)
    .optional()
    .describe("For programs that look at the task. A change of them changes nothing that runs."),
  start: z.enum(["once", "always"]).default("once").describe("always: it is started again after a reboot of the host."),
});

export type Namespace = (typeof NAMESPACES)[number];
export type VolumeSpec = z.output<typeof volume>;
export type TaskSpec = z.output<typeof task>;
/** A task as written in a task file, without defaults. */
export type TaskInput = z.input<typeof task>;
