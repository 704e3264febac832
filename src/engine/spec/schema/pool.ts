/** A pool: prepared containers that wait for a program. Each runs one, and is then removed. */
import { z } from "zod";
import type { Problem } from "../finding.ts";
import { PULL_POLICIES } from "../pull-policy.ts";
import { imageReference } from "./container.ts";
import { absolutePath, duration, name, size, text } from "./quantities.ts";

const MIB = 2 ** 20;
/** setTimeout(3) of Node takes no more. */
const LONGEST_MS = 2 ** 31 - 1;
const LARGEST_OUTPUT = 2 ** 30;

export const pool = z.strictObject({
  kind: z.literal("Pool"),
  name,
  image: imageReference.optional(),
  rootfs: absolutePath
    .optional()
    .describe("A directory of the host as root file system, instead of an image. The users of the pool must be able to enter it."),
  pullPolicy: z.enum(PULL_POLICIES).optional().describe("When to ask the source of the image, as for a container."),
  pullCredentials: name.optional().describe("Name of the host's credentials for the registry of the image, as for a container."),
  size: z.int().min(1).max(10_000).describe("Number of containers that wait for a program."),
  maxTaken: z.int().min(1).max(10_000).default(100).describe("Number of programs that run at the same time. Further requests wait."),
  maxWaiting: z.int().min(0).max(100_000).default(1000).describe("Number of requests that wait. Further ones are refused."),
  refillsPerSecond: z.int().min(1).max(10_000).default(200).describe("Number of containers that are made in a second at most."),
  refillsAtOnce: z.int().min(1).max(64).default(2).describe("Number of containers that are made at the same time."),
  command: text.min(1).optional().describe("The program of a request that names none. Absent: that of the image."),
  args: z.array(text).default([]),
  env: z.record(z.string().regex(/^[^=\0]+$/, "is no name of a variable"), text).default({}),
  cwd: absolutePath.optional().describe("Working directory. Absent: that of the image, or /tmp."),
  memory: size.default(128 * MIB).describe("Memory limit of each container, with its /tmp."),
  cpus: z.number().min(0.01).default(1).describe("CPU limit of each container."),
  pids: z.int().min(1).max(4_194_304).default(64).describe("Maximum number of processes and threads of each container."),
  disk: size.default(64 * MIB).describe("Size of /tmp of each container, the only place where its program can write. It is in memory."),
  deadline: duration
    .refine((ms) => ms >= 1 && ms <= LONGEST_MS, "use 1ms to 24 days")
    .default(10_000)
    .describe("Time after which everything in the container is killed. A request can only ask for less."),
  outputSize: size
    .refine((bytes) => bytes <= LARGEST_OUTPUT, "use at most 1Gi")
    .default(MIB)
    .describe("Maximum size of stdout, and of stderr. A program that prints more is killed."),
  network: z.literal("none").default("none").describe("none: a loopback interface of its own. There is no other value yet."),
});

export type PoolSpec = z.output<typeof pool>;
export type PoolInput = z.input<typeof pool>;

/** What the shape does not say. */
export function checkPoolSpec({ image, rootfs, pullPolicy, pullCredentials, command, args }: PoolSpec): Problem[] {
  const wrong = (path: string, message: string): Problem => ({ code: "combination", message, path: [path] });
  const problems: Problem[] = [];
  if ((image === undefined) === (rootfs === undefined))
    problems.push(wrong(image === undefined ? "name" : "rootfs", "a pool has either an image or a rootfs"));
  if (image === undefined)
    for (const [field, value] of Object.entries({ pullPolicy, pullCredentials }))
      if (value !== undefined) problems.push(wrong(field, "needs an image"));
  if (image === undefined && command === undefined && args.length > 0) problems.push(wrong("args", "needs a command"));
  return problems;
}
