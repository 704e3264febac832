/** Builds the images of a Compose file with the daemon's builder. Tasks name the images by their digest. */
import type { ImageInfo, TaskInput } from "../../engine/index.ts";
import type { ServiceBuild } from "../../pod/index.ts";
import { type Client, ClientError } from "../client.ts";
import { EXIT, UsageError } from "../errors.ts";
import { printable } from "../output/style.ts";
import { print, printError } from "../platform/index.ts";
import { buildImage, pullWithBar } from "../pulling.ts";
import type { Session } from "../session.ts";
import { verb } from "../verb.ts";
import { addComposeOptions, fileToApply } from "./compose.ts";
import { andFile, type ComposeFlags, type FileOption, type FileToApply } from "./file.ts";

interface Options extends FileOption, ComposeFlags {
  readonly cache: boolean;
  readonly pull?: true;
  readonly buildArg?: readonly string[];
  readonly quiet?: true;
}

export const build = verb<Options>({
  name: "build",
  summary: "build the images of a Compose file's services, or of some of them",
  description: [
    "The daemon runs buildah, one build after the other, and reuses layers of earlier builds. The output of buildah goes to the standard error, and the digest of each image to the standard output. Running tasks keep their image until apply gives them the new one. ^C ends the build.",
  ],
  examples: [
    ["build", "build all images of compose.yaml in this directory"],
    ["build -f compose.yaml web --build-arg VERSION=2", "build the image of one service"],
  ],
  define(command) {
    command
      .argument("[service...]", "services to build; default: all that have a build")
      .option(
        "-f, --file <file>",
        "Compose file; if repeated, the files are merged; default: COMPOSE_FILE, or compose.yaml here or above",
        andFile,
      )
      .option("--no-cache", "do not reuse layers of earlier builds")
      .option("--pull", "ask the registry for newer base images")
      .option("--build-arg <name=value>", "build argument of the Dockerfile; replaces the one in the file; may be repeated", collect)
      .option("-q, --quiet", "do not show what the builder prints");
    addComposeOptions(command);
  },
  async run(session, services, options) {
    const file = fileToApply(options, session.givenGroup);
    if (file === undefined) return EXIT.failed;
    const args = Object.fromEntries((options.buildArg ?? []).map(pairOf));
    for (const one of wanted(file, services)) {
      const { request } = one;
      const asked = { ...request, args: { ...request.args, ...args }, ...(options.cache ? {} : { noCache: true }) };
      const digest = await built(session, { ...one, request: { ...asked, ...(options.pull ? { pull: true } : {}) } }, options.quiet);
      print(`${one.service} ${digest}`);
    }
    return EXIT.done;
  },
});

function collect(name: string, before: readonly string[] = []): readonly string[] {
  return [...before, name];
}

function pairOf(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--build-arg ${text}: write NAME=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** The builds of these services, and of services whose images they need. @throws UsageError */
function wanted({ source, builds = [] }: FileToApply, services: readonly string[]): readonly ServiceBuild[] {
  const unknown = services.find((name) => !builds.some(({ service }) => service === name));
  if (unknown !== undefined) throw new UsageError(`${source}: there is no service ${unknown} with a build that is switched on`);
  if (builds.length === 0) throw new UsageError(`${source}: no service has a build`);
  return withSources(
    builds,
    builds.filter(({ service }) => services.length === 0 || services.includes(service)),
  );
}

/**
 * Adds the builds whose images these need. An image in the store may be missing in the builder; layers that the builder still has are not built
 * again.
 */
function withSources(builds: readonly ServiceBuild[], some: readonly ServiceBuild[]): readonly ServiceBuild[] {
  const needed = new Set(some.map(({ service }) => service));
  // Needed builds come before those that need them.
  for (const { service, after } of builds.toReversed()) if (needed.has(service)) for (const other of after) needed.add(other);
  return builds.filter(({ service }) => needed.has(service));
}

/** The name without its transport. */
export function imageName({ reference }: ServiceBuild["request"]): string {
  return reference.slice("docker://".length);
}

/** Builds the image. Returns its digest. @throws ClientError */
async function built({ sockets }: Session, { service, request }: ServiceBuild, isQuiet = false): Promise<string> {
  printError(`${service}: building ${printable(imageName(request))}`);
  const { digest } = await buildImage(sockets, request, (line) => {
    if (!isQuiet) printError(`${service} | ${printable(line.replaceAll("\t", "    "))}`);
  });
  return digest;
}

class Store {
  readonly #images: readonly ImageInfo[];

  constructor(images: readonly ImageInfo[]) {
    this.#images = images;
  }

  /**
   * Name of the image of a service for a task; undefined: it is not in the store. An image that was built also has a name with its digest, which is
   * preferred.
   */
  find({ request: { reference } }: ServiceBuild): string | undefined {
    const found = this.#images.find((one) => one.reference === reference && one.sizeBytes !== null);
    if (found === undefined) return undefined;
    const exact = exactName(reference, found.digest);
    return this.#images.some((one) => one.reference === exact) ? exact : reference;
  }
}

function exactName(reference: string, digest: string): string {
  return `${reference.replace(/:[^:/]*$/, "")}@${digest}`;
}

async function storeOf(client: Client): Promise<Store> {
  return new Store((await client.call<{ images: readonly ImageInfo[] }>("GET", "/v1/images")).images);
}

/** The file with the images that are in the store. Nothing is built. @throws ClientError */
export async function withKnownImages(client: Client, file: FileToApply): Promise<FileToApply> {
  const { builds = [] } = file;
  if (builds.length === 0) return file;
  const store = await storeOf(client);
  const names = new Map<string, string>();
  for (const one of builds) {
    const found = one.policy === "build" ? undefined : store.find(one);
    if (found === undefined) printError(`${file.source}: ${one.service}: its image ${printable(imageName(one.request))} would be built`);
    names.set(one.request.reference, store.find(one) ?? one.request.reference);
  }
  return { ...file, text: renamed(file.text, names) };
}

/** The file with its images, which are built if necessary. @param isAsked whether images that exist are built again @throws ClientError */
export async function withImages(session: Session, file: FileToApply, isAsked: boolean): Promise<FileToApply> {
  const { builds = [] } = file;
  if (builds.length === 0) return file;
  const store = await storeOf(session.client);
  const names = new Map<string, string>();
  const missing: ServiceBuild[] = [];
  for (const one of builds) {
    const known = isAsked ? undefined : await knownImage(session, store, one);
    if (known === undefined) missing.push(one);
    else names.set(one.request.reference, known);
  }
  for (const one of withSources(builds, missing)) {
    const { reference } = one.request;
    names.set(reference, exactName(reference, await built(session, one)));
  }
  return { ...file, text: renamed(file.text, names) };
}

/**
 * An image that need not be built; undefined: it must be built. As in Compose, a registry is asked first for an image that the file names.
 * @throws ClientError
 */
async function knownImage({ sockets }: Session, store: Store, one: ServiceBuild): Promise<string | undefined> {
  const { policy, isNamed, request, service } = one;
  if (policy === "build") return undefined;
  const found = store.find(one);
  const asks = isNamed && (policy === "always" || (policy === "missing" && found === undefined));
  if (!asks) return found;
  try {
    await pullWithBar(sockets, { reference: request.reference, policy: "always" });
    return request.reference;
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== "no-image") throw error;
    printError(`${service}: ${printable(error.message)}`);
    return found;
  }
}

/** @param text tasks as JSON, in the format of compose.ts */
function renamed(text: string, names: ReadonlyMap<string, string>): string {
  const tasks = text.split("\n---\n").map((one) => JSON.parse(one) as TaskInput);
  const changed = tasks.map((task) => ({
    ...task,
    containers: task.containers.map((one) => (one.image === undefined ? one : { ...one, image: names.get(one.image) ?? one.image })),
  }));
  return changed.map((one) => JSON.stringify(one)).join("\n---\n");
}
