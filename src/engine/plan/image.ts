/** Merges the image's configuration of the process with the task's, with Docker's precedence. Pure. */
import type { ContainerSpec, ImageConfig } from "../spec/index.ts";

export interface ImageProcess {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly user: string;
}

/** A command of the task takes the place of entrypoint and arguments, arguments that of the image's arguments. undefined: neither names a program. */
export function imageProcess({ command, args, env, cwd, user }: ContainerSpec, image: ImageConfig): ImageProcess | undefined {
  const own = args.length > 0 ? args : image.cmd;
  const [cmd, ...rest] = command === undefined ? [...image.entrypoint, ...own] : [command, ...args];
  if (cmd === undefined || cmd === "") return undefined;
  return { cmd, args: rest, env: { ...environmentOf(image), ...env }, cwd: cwd ?? image.cwd ?? "/", user: user ?? image.user ?? "0" };
}

/** The last variable of a name wins. */
function environmentOf({ env }: ImageConfig): Record<string, string> {
  return Object.fromEntries(
    env.flatMap((line) => {
      const equals = line.indexOf("=");
      return equals < 1 ? [] : [[line.slice(0, equals), line.slice(equals + 1)]];
    }),
  );
}

const MOST_VOLUMES = 100;

/** Paths that the image wants as volumes, and that the task does not mount itself. */
export function imageVolumes({ mounts }: ContainerSpec, { volumes }: ImageConfig): readonly string[] {
  const taken = new Set(["/", ...mounts.map(({ target }) => normal(target))]);
  return [...new Set(volumes.map(normal))].filter((path) => !taken.has(path)).slice(0, MOST_VOLUMES);
}

function normal(path: string): string {
  return `/${path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/")}`;
}
