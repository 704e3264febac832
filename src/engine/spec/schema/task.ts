/** A task: containers that share limits, volumes and a lifetime. */
import { z } from "zod";
import { PULL_POLICIES } from "../pull-policy.ts";
import { RUNTIME_NAME } from "../runtimes.ts";
import { container, imageReference } from "./container.ts";
import { dns, network } from "./network.ts";
import { absolutePath, duration, name, pages, relativePath, size, text } from "./quantities.ts";
import { replica, rollback, update } from "./update.ts";

export const NAMESPACES = ["pid", "ipc", "network", "uts"] as const;

/** private: each container has its own namespace. shared: the containers of the task share one. host: they use that of the host. */
const namespaceMode = z.enum(["private", "shared", "host"]).default("private");

const owner = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);

export const volumeFile = z.strictObject({
  content: z.string(),
  encoding: z.enum(["utf8", "base64"]).default("utf8"),
  mode: z.int().min(0).max(0o777).default(0o644),
  uid: owner.optional().describe("Owner. Absent: root."),
  gid: owner.optional().describe("Owner group. Absent: root's, or that of the volume."),
});

export const volume = z.strictObject({
  name,
  host: absolutePath.optional().describe("Path on the host. Absent: a scratch directory, which is removed with the task."),
  hostType: z
    .enum(["Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket", "CharDevice", "BlockDevice"])
    .optional()
    .describe(
      "Type that `host` must have. Absent: any. DirectoryOrCreate and FileOrCreate make a missing directory or file when a container of the task is created; it stays when the task is removed.",
    ),
  files: z
    .record(relativePath, volumeFile)
    .optional()
    .describe("Files by their paths in the volume, written before a container is created. Such a volume can only be mounted read-only."),
  image: imageReference
    .optional()
    .describe("Image whose files are the volume. It can only be mounted read-only. It is pulled before a container of the task is made."),
  pullPolicy: z.enum(PULL_POLICIES).optional().describe("When to ask the source of `image`, as for a container."),
  pullCredentials: name.optional().describe("Name of the host's credentials for the registry of `image`, as for a container."),
  kept: name
    .optional()
    .describe("Name of a directory of the group, which is kept when the task is removed, and which other tasks of the group can use."),
  existing: z.literal(true).optional().describe("For a kept directory: it must exist, and is not made. Absent: it is made."),
  medium: z
    .enum(["memory", "image"])
    .optional()
    .describe(
      "memory: a scratch directory in memory. image: a file system of its own on disk, with a fixed size. Absent: a directory on disk.",
    ),
  filesystem: z
    .strictObject({
      type: z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/, "is no type of a file system"),
      device: text.min(1).max(4096).describe("Such as a block device, the path of an export (:/srv) or a share (//server/share)."),
      options: text.max(4096).optional().describe("Options as in fstab(5), separated by commas. Absent: the defaults."),
    })
    .optional()
    .describe(
      "A file system that the engine mounts while the task exists, without the helpers of mount(8). A server that is named, for NFS as addr=NAME in the options, is replaced by its address.",
    ),
  size: size
    .optional()
    .describe(
      "Size limit of a scratch directory. In memory and in an image it cannot be exceeded. Otherwise the size is measured, and a task that exceeds it is stopped.",
    ),
  group: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .optional()
    .describe(
      "Owner group of a scratch directory and of new files in it, or the group that may read the files of the volume. Absent: root's group.",
    ),
  user: owner.optional().describe("Owner of a scratch directory. Absent: root."),
  mode: z
    .int()
    .min(0)
    .max(0o7777)
    .optional()
    .describe("Mode of a scratch directory. Absent: everybody may write to it, and with a group new files in it get that group."),
});

export const secret = z.strictObject({
  name,
  file: absolutePath.optional().describe("Path of a file on the host, which is read whenever a container is created."),
  exec: z
    .tuple([absolutePath], text)
    .optional()
    .describe("A program of the host and its arguments, which run whenever a container is created. Their output is the secret."),
});

export const schedule = z
  .strictObject({
    cron: z
      .string()
      .min(1)
      .max(500)
      .describe('Five fields (minute, hour, day of the month, month, day of the week), "@hourly", "@daily" and the like, or "@every 90m".'),
    timeZone: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/, "is no name of a time zone")
      .refine((zone) => zone.toLowerCase() !== "local", 'name the time zone: "Local" is another one on each host')
      .optional()
      .describe("Such as Europe/Berlin. Absent: that of the daemon."),
    overlap: z
      .enum(["allow", "forbid", "replace"])
      .default("allow")
      .describe(
        "What happens if a run is due while the previous one is active. allow: both run. forbid: it waits for the end of the previous run. replace: the previous run is removed.",
      ),
    startWithin: duration
      .optional()
      .describe("How late a run may start. A run that cannot start in this time is skipped. Absent: the last missed run starts late."),
    suspended: z.boolean().default(false).describe("true: no run starts."),
    keepSucceeded: z.int().min(0).max(1000).default(3).describe("Number of successful runs to keep."),
    keepFailed: z.int().min(0).max(1000).default(1).describe("Number of failed runs to keep."),
    copies: z.int().min(1).max(100).default(1).describe("Number of tasks of a run. The run succeeds if all of them succeed."),
    atOnce: z.int().min(1).max(100).optional().describe("Number of tasks that run at the same time. Absent: all."),
    placeholders: z
      .strictObject({ minutes: z.string().min(8), index: z.string().min(8) })
      .optional()
      .describe("Placeholders in the task. Each run replaces them by its time, as its name has it, and by the index of the copy."),
    document: z.string().optional().describe("The source of the task, for programs that inspect it."),
  })
  .describe(
    "Times of the runs. Each run is a separate task, NAME-MINUTES-INDEX, or NAME-SECONDS-INDEX if runs are less than a minute apart. The task itself has no containers.",
  );

export const task = z.strictObject({
  name,
  containers: z.array(container).min(1, "a task has at least one container").max(1000),
  cpus: z.number().positive().optional().describe("CPU limit for all containers together."),
  memory: size.optional().describe("Memory limit for all containers together."),
  pids: z.int().min(1).optional().describe("Maximum number of processes of all containers together."),
  hugepages: pages.optional().describe("Limit of huge pages for all containers together, by page size, as for a container."),
  namespaces: z
    .strictObject({ pid: namespaceMode, ipc: namespaceMode, network: namespaceMode, uts: namespaceMode })
    .prefault({})
    .describe("private: each container has its own. shared: one for the task. host: that of the host."),
  cgroupParent: z
    .string()
    .max(1000)
    .regex(/^\/?[^/\0]+(?:\/[^/\0]+)*$/, "is no path of a cgroup like /web or web/front")
    .refine((path) => !path.split("/").some((part) => part === "." || part === ".."), "has . or .. in it")
    .optional()
    .describe(
      "Cgroup above that of the task, in every hierarchy, whose limits apply to the task, too. Without a slash at its beginning it is in `parents` below the cgroup of the engine. A missing one is made, and removed when it is empty. Absent: that of the engine.",
    ),
  joins: z
    .strictObject({ pid: name.optional(), ipc: name.optional() })
    .optional()
    .describe(
      "Namespaces of other tasks of the group that its containers use, by the names of these tasks, which have `shared` for them. With ipc they also have /dev/shm of that task. Such a task depends on a container of the other one, with `restart`.",
    ),
  network: network.optional().describe("A network that the engine makes for all containers together; instead of namespaces.network."),
  dns: dns.optional().describe("Content of resolv.conf if the engine makes no network for the task. Absent: that of the image."),
  volumes: z.array(volume).default([]),
  hostPaths: z
    .array(absolutePath)
    .max(1000)
    .optional()
    .describe(
      "Volumes of the host must be below one of these directories when they are mounted, and must not belong to the engine. Absent: any path is allowed.",
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
  secrets: z.array(secret).max(100).optional().describe("Secrets for containers. The engine does not store them."),
  ports: z
    .array(z.strictObject({ port: z.int().min(1).max(65_535), protocol: z.enum(["tcp", "udp"]).default("tcp") }))
    .default([])
    .describe("Host ports on which the task listens. Two tasks with the same port do not run at the same time."),
  storage: size
    .optional()
    .describe(
      "Limit of the data in root file systems, logs and scratch directories on disk. The engine measures the size, and stops a task that exceeds it.",
    ),
  deadline: duration.optional().describe("Maximum time after the task is admitted. Then it is stopped, and has failed."),
  retention: duration.optional().describe("How long a stopped task is kept. Absent: as configured for the host."),
  remember: z
    .literal(false)
    .optional()
    .describe("false: `apply` runs it again even if it has succeeded. Absent: its success is recorded with the digest of its spec."),
  replace: z
    .enum(["stopFirst", "startFirst"])
    .optional()
    .describe(
      "How the task is replaced when its spec changes. stopFirst (default): the new task starts after the old one has ended. startFirst: the old task ends when the new one works.",
    ),
  update: update.optional(),
  rollback: rollback.optional(),
  replica: replica.optional(),
  ends: z
    .enum(["first", "all"])
    .optional()
    .describe("first (default): the task ends with the first essential container that ends. all: when the last of them has ended."),
  annotations: z.record(z.string().min(1), text).optional().describe("Values for other programs. A change does not restart anything."),
  privateUsers: z
    .literal(true)
    .optional()
    .describe(
      "Own users: ids from 0 to 65535 in its containers are a range of host ids that no other task has, and root there has no rights on the host. Files of images and volumes keep their owners in the container. Absent: containers have the users of the host.",
    ),
  runtime: z
    .string()
    .regex(RUNTIME_NAME, "is no name of a runtime")
    .optional()
    .describe("Name of a runtime of the host from `runtd --runtime-class`, for all containers of the task. Absent: the default runtime."),
  start: z
    .enum(["once", "always", "needed"])
    .default("once")
    .describe(
      "always: the task is started again after a reboot of the host. needed: it is a shared proxy, which runs only while tasks of its group name it in `sharedProxy`.",
    ),
  schedule: schedule.optional(),
  sharedProxy: name
    .optional()
    .describe(
      "Name of a task of the group with `start: needed`. It is started before this task, and stopped after its last user. If it fails, this task is stopped. Its admin socket is in /run/shared-proxy.",
    ),
});

export type Namespace = (typeof NAMESPACES)[number];
export type VolumeSpec = z.output<typeof volume>;
export type TaskSpec = z.output<typeof task>;
/** A task as written in a task file, without defaults. */
export type TaskInput = z.input<typeof task>;
