import { Argument, Option } from "commander";
import type { ImageInfo } from "../../engine/index.ts";
import { parseDuration } from "../../engine/index.ts";
import { ClientError } from "../client.ts";
import { EXIT, UsageError } from "../errors.ts";
import { bytes } from "../output/bar.ts";
import { printable } from "../output/style.ts";
import { shortDigest, table } from "../output/table.ts";
import { print, printError, sleep, stderr } from "../platform/index.ts";
import { LiveLine } from "../pulling.ts";
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
    "prune waits for up to ten minutes until no image is being pulled or unpacked, and tells how far it is.",
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
  const before = await namesOf(client);
  const pruned = untilFree(() =>
    client.call<{ removed: string[]; freedBytes: number }>("POST", "/v1/images/prune", body, { isLong: true }),
  );
  const { removed, freedBytes } = await whileShown(client, before, pruned);
  if (output === "json") print(JSON.stringify({ removed, freedBytes }, null, 2));
  else for (const line of [...removed.map((reference) => `${printable(reference)} removed`), `${bytes(freedBytes)} freed`]) print(line);
  return EXIT.done;
}

/** Requests, of half a minute each. */
const MOST_ASKED = 20;

/** The daemon waits for half a minute, and then says that its images are in use. @throws ClientError images-busy: all these times */
export async function untilFree<T>(ask: () => Promise<T>): Promise<T> {
  for (let asked = 1; ; asked++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== "images-busy") throw error;
      if (asked === MOST_ASKED) throw new ClientError(error.code, `asked ${MOST_ASKED} times; ${error.message}`, error);
    }
  }
}

/** First look, and pause between the others. */
const [SOON_MS, LOOK_MS] = [1000, 500];

async function namesOf(client: Session["client"]): Promise<ReadonlySet<string>> {
  return new Set((await client.call<{ images: readonly ImageInfo[] }>("GET", "/v1/images")).images.map(({ reference }) => reference));
}

/** Tells on the standard error how far a prune is until it is done, however long that takes: on a terminal in one line that changes, otherwise once. */
async function whileShown<T>(client: Session["client"], before: ReadonlySet<string>, work: Promise<T>): Promise<T> {
  let isOver = false;
  const live = stderr.isTTY ? new LiveLine() : undefined;
  const look = async () => {
    for (await sleep(SOON_MS); !isOver; await sleep(LOOK_MS)) {
      const now = await namesOf(client);
      if (isOver) return;
      const gone = [...before].filter((one) => !now.has(one)).length;
      const line = gone === 0 ? "waiting until no image is being pulled or unpacked" : `${countOf(gone)} removed so far`;
      if (live === undefined) return printError(line);
      live.show(line);
    }
  };
  // A daemon that no longer answers is told of by the work itself.
  look().catch(() => {});
  try {
    return await work;
  } finally {
    isOver = true;
    live?.clear();
  }
}

function countOf(images: number): string {
  return `${images} ${images === 1 ? "image" : "images"}`;
}

function rowOf({ reference, digest, sizeBytes, pulledMs, tasks, isUsed, isKept }: ImageInfo): string[] {
  const users = [...tasks, ...(isUsed && tasks.length === 0 ? ["a container or a revision"] : []), ...(isKept ? ["(kept)"] : [])];
  return [
    printable(reference),
    shortDigest(digest),
    sizeBytes === null ? "damaged" : bytes(sizeBytes),
    new Date(pulledMs).toISOString().slice(0, 16).replace("T", " "),
    users.join(", "),
  ];
}
