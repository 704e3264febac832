import { Argument, Option } from "commander";
import type { ImageInfo } from "../../engine/index.ts";
import { parseDuration } from "../../engine/index.ts";
import { EXIT, UsageError } from "../errors.ts";
import { bytes } from "../output/bar.ts";
import { printable } from "../output/style.ts";
import { table } from "../output/table.ts";
import { print } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { verb } from "../verb.ts";

interface Options {
  readonly output?: "json";
  readonly unused?: string;
  readonly most?: string;
}

export const images = verb<Options>({
  name: "images",
  summary: "list images of the host, or remove images that no task uses (prune)",
  description: [
    "A stopped task uses its image until its retention ends. The daemon also removes unused images itself, as set by runtd --image-gc-every.",
  ],
  examples: [
    ["images", "list the images and the tasks that use them"],
    ["images prune --unused 24h", "remove images that no container has used for a day"],
  ],
  define: (command) =>
    command
      .addArgument(new Argument("[action]", "what to do").choices(["list", "prune"]).default("list"))
      .option("--unused <duration>", "prune: only images unused for at least this long; default: all")
      .option("--most <n>", "prune: remove at most this many, least recently used first")
      .addOption(new Option("-o, --output <format>", "output format").choices(["json"])),
  run: (session, [action], options) => (action === "prune" ? prune(session, options) : list(session, options)),
});

async function list({ client }: Session, { output, unused, most }: Options): Promise<number> {
  if (unused !== undefined || most !== undefined) throw new UsageError("--unused and --most are for prune");
  const found = await client.call<{ images: readonly ImageInfo[] }>("GET", "/v1/images");
  if (output === "json") print(JSON.stringify(found.images, null, 2));
  else print(table(["IMAGE", "DIGEST", "SIZE", "PULLED", "USED BY"], found.images.map(rowOf)));
  return EXIT.done;
}

async function prune({ client }: Session, { output, unused = "0s", most }: Options): Promise<number> {
  const unusedMs = parseDuration(unused);
  if (unusedMs === undefined) throw new UsageError(`--unused: ${unused} is no duration like 10s or 24h`);
  if (most !== undefined && !/^[1-9]\d{0,8}$/.test(most)) throw new UsageError(`--most: ${most} is no count`);
  const body = { unusedMs, ...(most === undefined ? {} : { most: Number(most) }) };
  const { removed, freedBytes } = await client.call<{ removed: string[]; freedBytes: number }>("POST", "/v1/images/prune", body, true);
  if (output === "json") print(JSON.stringify({ removed, freedBytes }, null, 2));
  else for (const line of [...removed.map((reference) => `${printable(reference)} removed`), `${bytes(freedBytes)} freed`]) print(line);
  return EXIT.done;
}

function rowOf({ reference, digest, sizeBytes, pulledMs, tasks, isUsed, isKept }: ImageInfo): string[] {
  const users = [...tasks, ...(isUsed && tasks.length === 0 ? ["a container"] : []), ...(isKept ? ["(kept)"] : [])];
  return [
    printable(reference),
    digest.slice(0, 19),
    sizeBytes === null ? "damaged" : bytes(sizeBytes),
    new Date(pulledMs).toISOString().slice(0, 16).replace("T", " "),
    users.join(", "),
  ];
}
