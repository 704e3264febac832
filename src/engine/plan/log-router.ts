/** Configuration and secrets of a log router. Pure. */
import type { ContainerSpec, TaskSpec } from "../spec/index.ts";

/** Where a log router finds its configuration and its secrets. */
export const ROUTER_CONFIG = "/etc/log-router";
/** Where a log router makes its socket. */
export const ROUTER_RUN = "/run/log-router";
export const ROUTER_SOCKET = "router.sock";
export const ROUTER_PORT = 24_224;

type Secret = NonNullable<ContainerSpec["secrets"]>[number];

/** A secret that an option of a sender needs. It becomes a file in the container of the router. */
interface OptionSecret {
  readonly secret: string;
  /** Name of the file below the directory `secrets` of its configuration. */
  readonly file: string;
}

export function tagOf({ name, log }: ContainerSpec, task: string): string {
  return log?.tag ?? `${name}-firelens-${task}`;
}

/** Readable for every user of the router's container. */
const SECRET_MODE = 0o444;

/** The container with the secrets that it gets as a log router. */
export function withRouterSecrets(task: TaskSpec, container: ContainerSpec): ContainerSpec {
  if (!container.logRouter) return container;
  const given = sendersOf(task, container).flatMap((sender) =>
    optionSecrets(task, sender).map(
      ({ secret, file }): Secret => ({ secret, target: `${ROUTER_CONFIG}/secrets/${file}`, mode: SECRET_MODE, uid: 0 }),
    ),
  );
  return given.length === 0 ? container : { ...container, secrets: [...(container.secrets ?? []), ...given] };
}

export interface RouterConfig {
  readonly socket: string;
  readonly port: number;
  readonly containers: readonly {
    readonly name: string;
    readonly tag: string;
    readonly options: Readonly<Record<string, string>>;
    /** Paths of files with the values. */
    readonly secretOptions: Readonly<Record<string, string>>;
  }[];
}

/** The content of the router's config.json: where it listens, and which containers of its task send to it. */
export function routerConfig(task: TaskSpec, router: ContainerSpec): RouterConfig {
  return {
    socket: `${ROUTER_RUN}/${ROUTER_SOCKET}`,
    port: ROUTER_PORT,
    containers: sendersOf(task, router).map((sender) => ({
      name: sender.name,
      tag: tagOf(sender, task.name),
      options: sender.log?.options ?? {},
      secretOptions: Object.fromEntries(
        optionSecrets(task, sender).map(({ option, file }) => [option, `${ROUTER_CONFIG}/secrets/${file}`]),
      ),
    })),
  };
}

function sendersOf({ containers }: TaskSpec, { name }: ContainerSpec): ContainerSpec[] {
  return containers.filter(({ log }) => log?.router === name);
}

/** The name of the file has the index of the container instead of its name, which may have any characters. */
function optionSecrets({ containers }: TaskSpec, sender: ContainerSpec): (OptionSecret & { readonly option: string })[] {
  const at = containers.indexOf(sender);
  return Object.entries(sender.log?.secretOptions ?? {}).map(([option, secret]) => ({ option, secret, file: `${at}.${option}` }));
}
