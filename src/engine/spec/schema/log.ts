/** What becomes of the output of a container. */
import { z } from "zod";
import { absolutePath, size, text } from "./quantities.ts";

/** In bytes. A smaller log could not hold two records of maximum length. */
const LEAST_LOG = 65_536;

const LOG_DRIVERS = ["file", "journald", "none"] as const;

/** Facilities of syslog(3), by their numbers. */
export const FACILITIES: readonly string[] = [
  ...["kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp"],
  ...["", "", "", ""],
  ...Array.from({ length: 8 }, (_, at) => `local${at}`),
];

/** What "{{.WORD}}" in a tag can name. Source: Docker, "Customize log driver output". */
const TAG_WORDS: readonly string[] = ["ID", "FullID", "Name", "ImageName", "ImageFullName", "DaemonName"];
const TAG = new RegExp(`^(?:(?!\\{\\{)[^\\s\\p{Cc}]|\\{\\{\\s*\\.(?:${TAG_WORDS.join("|")})\\s*\\}\\})+$`, "u");
const ADDRESS = /^(?:(?:tcp|udp):\/\/(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9][A-Za-z0-9._-]*):(\d{1,5})|unix:\/\/\/\P{Cc}+)$/u;

export const receiver = z
  .strictObject({
    protocol: z
      .enum(["syslog", "gelf", "fluentd"])
      .describe("syslog: messages of RFC 3164 or 5424. gelf: those of Graylog. fluentd: the forward protocol of Fluentd."),
    address: z
      .string()
      .regex(ADDRESS, "write tcp://HOST:PORT, udp://HOST:PORT or unix:///SOCKET")
      .refine(
        (text) => Number(ADDRESS.exec(text)?.[1] ?? 1) >= 1 && Number(ADDRESS.exec(text)?.[1] ?? 1) <= 65_535,
        "has no port from 1 to 65535",
      )
      .describe("Address of the receiver, as seen from the host: tcp://HOST:PORT, udp://HOST:PORT, or unix:///PATH of a stream socket."),
    tag: z
      .string()
      .max(255)
      .regex(TAG, `has only {{.WORD}} with ${TAG_WORDS.join(", ")}, and no blank`)
      .optional()
      .describe(
        "Tag of the records, in which {{.ID}}, {{.Name}} and {{.ImageName}} are the task's id, its name and the image. Absent: TASK/CONTAINER.",
      ),
    facility: z
      .string()
      .refine((text) => text !== "" && FACILITIES.includes(text), "is no facility of syslog")
      .optional()
      .describe("For syslog. Absent: daemon."),
    format: z
      .enum(["local", "rfc3164", "rfc5424", "rfc5424micro"])
      .optional()
      .describe("For syslog. local (default): as rfc3164, without the name of the host. rfc5424micro: with microseconds."),
    compression: z.enum(["gzip", "zlib", "none"]).optional().describe("For gelf by udp. Absent: gzip."),
    precise: z.literal(true).optional().describe("For fluentd: send times with nanoseconds."),
    ack: z
      .literal(true)
      .optional()
      .describe("For fluentd: send chunks, and each again until the receiver has acknowledged it. Absent: what the kernel takes is sent."),
    sharedKeyFile: absolutePath
      .optional()
      .describe(
        "For fluentd: file of the host with the shared key of the receiver, which is read for each connection. Both sides prove that they have it.",
      ),
    fields: z
      .record(z.string().min(1).max(255), text)
      .refine((all) => Object.keys(all).length <= 100, "has more than 100 fields")
      .optional()
      .describe("For fluentd: further fields of each record."),
  })
  .superRefine((one, { addIssue }) => {
    const refuse = (field: string, message: string) => addIssue({ code: "custom", path: [field], message });
    const isUdp = one.address.startsWith("udp:");
    if (one.protocol === "fluentd" && isUdp) refuse("address", "is by tcp or unix for fluentd");
    if (one.protocol === "gelf" && one.address.startsWith("unix:")) refuse("address", "is by udp or tcp for gelf");
    for (const field of ["facility", "format"] as const)
      if (one[field] !== undefined && one.protocol !== "syslog") refuse(field, "is for syslog");
    if (one.compression !== undefined && (one.protocol !== "gelf" || !isUdp)) refuse("compression", "is for gelf by udp");
    for (const field of ["precise", "ack", "sharedKeyFile", "fields"] as const)
      if (one[field] !== undefined && one.protocol !== "fluentd") refuse(field, "is for fluentd");
  });

export type ReceiverSpec = z.output<typeof receiver>;

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
    .describe("The output is also sent there. While no program listens, it waits in the files."),
  receiver: receiver
    .optional()
    .describe("The output is also sent there, in another protocol. While no program listens, it waits in the files."),
  router: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Name of a container with `logRouter`, or TASK/CONTAINER for a container of another task of the group. The output is sent to the router's socket. The container starts after the router.",
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
