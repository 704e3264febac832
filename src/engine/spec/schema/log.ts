/** What becomes of the output of a container. */
import { z } from "zod";
import { absolutePath, size, text } from "./quantities.ts";

/** In bytes. A smaller log could not hold two records of maximum length. */
const LEAST_LOG = 65_536;

const LOG_DRIVERS = ["file", "journald", "none"] as const;

/** It becomes part of a file name. */
const optionName = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/, "is no name of an option");

export const log = z.strictObject({
  driver: z
    .enum(LOG_DRIVERS)
    .optional()
    .describe("file (default): output is kept in files. journald: it is also sent to systemd's journal. none: it is dropped."),
  maxSize: size
    .refine((bytes) => bytes >= LEAST_LOG, "is less than 64Ki")
    .optional()
    .describe("Maximum size of one file, after which a new file is started."),
  maxFiles: z.int().min(1).max(100).optional().describe("Maximum number of files, including the current one."),
  forward: z
    .strictObject({
      socket: absolutePath.describe("Path of a unix stream socket on the host."),
      tag: text.min(1).max(255).optional().describe("Tag of the records. Absent: CONTAINER-firelens-TASK."),
    })
    .optional()
    .describe("What it prints is sent there, too. While nobody listens it waits in the files."),
  router: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Name of a container with `logRouter`, or TASK/CONTAINER for one of another task of the group: what it prints is sent to the router's socket. The container starts after the router.",
    ),
  tag: text.min(1).max(255).optional().describe("Tag of the records for `router`. Absent: CONTAINER-firelens-TASK."),
  options: z
    .record(optionName, text)
    .optional()
    .describe("Settings for this container's records, which the router finds in its config.json; for a router of the same task."),
  secretOptions: z
    .record(optionName, z.string())
    .optional()
    .describe("Settings that are secrets of the task, by name. The router gets a file for each, whose path is in its config.json."),
});
