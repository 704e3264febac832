/** Builds a task with one container from a command line like that of `docker run`. Pure. */
import { UsageError } from "../errors.ts";
import { variable } from "../platform/index.ts";
import { isAddress } from "./address.ts";

export interface RunOptions {
  readonly image: string;
  readonly name?: string;
  readonly publish?: readonly string[];
  readonly env?: readonly string[];
  readonly volume?: readonly string[];
  readonly network?: string;
  readonly user?: string;
  readonly workdir?: string;
  readonly hostname?: string;
  readonly entrypoint?: string;
  readonly memory?: string;
  readonly cpus?: string;
  readonly readOnly?: true;
  readonly restart?: true;
  readonly interactive?: true;
  readonly tty?: true;
  readonly detach?: true;
  readonly rm?: true;
}

export const CONTAINER = "main";

/** Returns the text of a task file. @throws UsageError */
export function taskText(options: RunOptions, name: string, command: readonly string[]): string {
  const { image, entrypoint, tty, interactive, readOnly, restart, publish = [], env = [], volume = [], network } = options;
  const mounts = volume.map(mountOf);
  const container = {
    ...{ name: CONTAINER, image },
    // The image was just pulled with the policy of the command line.
    pullPolicy: "prefer-cached",
    ...(entrypoint === undefined ? {} : { command: entrypoint }),
    ...(command.length === 0 ? {} : { args: command }),
    ...(env.length === 0 ? {} : { env: Object.fromEntries(env.map(variableOf)) }),
    ...(mounts.length === 0 ? {} : { mounts: mounts.map(({ mount }) => mount) }),
    ...(tty ? { tty: true } : interactive ? { stdin: "once" } : {}),
    ...(readOnly ? { readonlyRootfs: true } : {}),
    ...(restart ? { restart: {} } : {}),
    ...withoutUndefined({ user: options.user, cwd: options.workdir, hostname: options.hostname, memory: options.memory }),
    ...(options.cpus === undefined ? {} : { cpus: Number(options.cpus) }),
  };
  const volumes = [...new Set(mounts.flatMap(({ named }) => named ?? []))].map((one) => ({ name: one, kept: one }));
  const ports = publish.map(portOf);
  return JSON.stringify({
    name,
    // Each run is a task of its own, which is not compared with an earlier one.
    remember: false,
    // If no client waits for its end, the daemon removes the task.
    ...(options.detach && options.rm ? { retention: "0s" } : {}),
    ...(volumes.length === 0 ? {} : { volumes }),
    network: { ...(network === undefined ? {} : { mode: network }), ...(ports.length === 0 ? {} : { ports }) },
    containers: [container],
  });
}

function withoutUndefined(fields: Readonly<Record<string, string | undefined>>) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Parses "NAME=VALUE"; for "NAME" the value is taken from the environment of this process. */
function variableOf(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  const value = at < 0 ? variable(text) : undefined;
  if (value === undefined) throw new UsageError(`-e ${text}: use NAME=VALUE, or the name of a variable that is set here`);
  return [text, value];
}

/** Parses "[ADDRESS:]HOST:CONTAINER[/udp]", or a single port for both. */
function portOf(text: string) {
  const [, address, host, container, protocol] = /^(?:(\[[^\]]+\]|[^:[\]]+):(?=.*:))?(?:(\d+):)?(\d+)(?:\/(tcp|udp))?$/.exec(text) ?? [];
  const bare = address?.replace(/^\[(.*)\]$/, "$1");
  if (container === undefined || (bare !== undefined && !isAddress(bare)))
    throw new UsageError(`-p ${text}: use [ADDRESS:]HOST:CONTAINER[/udp], like 8080:80`);
  return {
    container: Number(container),
    ...(host === undefined ? {} : { host: Number(host) }),
    ...(protocol === undefined ? {} : { protocol }),
    ...(bare === undefined ? {} : { address: bare }),
  };
}

/** Parses "/HOST/DIR:/DIR[:ro]" or "VOLUME:/DIR[:ro]". */
function mountOf(text: string): { readonly mount: object; readonly named?: string } {
  const [source = "", target = "", mode, ...more] = text.split(":");
  if (!target.startsWith("/") || more.length > 0 || (mode !== undefined && mode !== "ro" && mode !== "rw"))
    throw new UsageError(`-v ${text}: use SOURCE:TARGET[:ro], where SOURCE is an absolute path of the host or the name of a volume`);
  const readOnly = mode === "ro" ? { readOnly: true } : {};
  if (source.startsWith("/")) return { mount: { source, target, ...readOnly } };
  return { mount: { volume: source, target, ...readOnly }, named: source };
}
