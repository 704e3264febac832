/** Merges the process configuration of the image with that of the task, with the same precedence as Docker. Pure. */
import type { ContainerSpec, ImageConfig } from "../spec/index.ts";

export interface ImageProcess {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly user: string;
}

/**
 * The task's `command` replaces entrypoint and arguments of the image; its `args` replace only the arguments. With `imageEntrypoint: false` the
 * arguments of either are all. undefined: neither of them names a program.
 */
export function imageProcess(
  { command, args, env, cwd, user, imageEntrypoint }: Pick<ContainerSpec, "command" | "args" | "env" | "cwd" | "user" | "imageEntrypoint">,
  image: ImageConfig,
): ImageProcess | undefined {
  const own = args.length > 0 ? args : image.cmd;
  const entrypoint = imageEntrypoint === false ? [] : image.entrypoint;
  const [cmd, ...rest] = command === undefined ? [...entrypoint, ...own] : [command, ...args];
  if (cmd === undefined || cmd === "") return undefined;
  return { cmd, args: rest, env: { ...environmentOf(image), ...env }, cwd: cwd ?? image.cwd ?? "/", user: userOf(user, image.user) };
}

/** @param user of the task. ":group" has the user that there is without it. */
export function userOf(user: string | undefined, ofImage: string | null = null): string {
  return user?.startsWith(":") ? `${ofImage?.split(":")[0] || "0"}${user}` : (user ?? ofImage ?? "0");
}

/** @param user of the process, by the task or the image. @throws Error in the words of the kubelet. Source: kubelet, kuberuntime, verifyRunAsNonRoot */
export function checkUser({ runAsNonRoot }: ContainerSpec, user: string): void {
  const [name = ""] = user.split(":");
  if (!runAsNonRoot) return;
  if (name === "" || /^0+$/.test(name)) throw new Error("container has runAsNonRoot and image will run as root");
  if (!/^\d+$/.test(name))
    throw new Error(`container has runAsNonRoot and image has non-numeric user (${name}), cannot verify user is non-root`);
}

/** If a variable occurs twice, the last one wins. */
function environmentOf({ env }: ImageConfig): Record<string, string> {
  return Object.fromEntries(
    env.flatMap((line) => {
      const equals = line.indexOf("=");
      return equals < 1 ? [] : [[line.slice(0, equals), line.slice(equals + 1)]];
    }),
  );
}

const MOST_VOLUMES = 100;

/** Paths that the image declares as volumes and on which the task mounts nothing. */
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
