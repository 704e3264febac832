/** /etc/hosts of services that have the network of the host, or none: the engine makes no file for them. Source: moby, daemon/container_operations_unix.go. */
import { hostNameSchema, shapeProblems, type TaskInput } from "../../engine/spec/index.ts";
import type { Contents } from "./contents.ts";
import { hostsOf } from "./networks.ts";
import type { ServicePlace } from "./place.ts";
import type { ServiceInput } from "./schema.ts";

type Volume = NonNullable<TaskInput["volumes"]>[number];

const HOSTS = "/etc/hosts";
const VOLUME = "etc_hosts";
/** With its network, the host itself is behind this address. */
const HOST = "127.0.0.1";
const LOCAL = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n";

/** The lines of the host and those of `extra_hosts`, as a file for reading only. A mount of the service at its place counts before it, as in Docker. */
export function hostNamesOf(service: ServiceInput, own: Contents, place: ServicePlace): Contents {
  const { network_mode: mode } = service;
  const isMounted = own.mounts.some(({ target }) => target === HOSTS);
  if ((mode !== "host" && mode !== "none") || isMounted) return { volumes: [], mounts: [] };
  const path = ["extra_hosts"];
  const lines = hostsOf(service, place).map(({ name, address }) => {
    const { error } = hostNameSchema.safeParse({ name, address });
    for (const problem of error === undefined ? [] : shapeProblems(error)) {
      const isAddress = problem.path[0] === "address";
      place.refuse(isAddress ? `${address} is no IP address, and not host-gateway` : `${name} ${problem.message}`, path);
    }
    if (address === "host-gateway" && mode === "none") place.refuse("with network_mode none there is no address of the host", path);
    return `${address === "host-gateway" ? HOST : address}\t${name}\n`;
  });
  if (lines.length === 0) return { volumes: [], mounts: [] };
  const before = mode === "host" ? textOfHost(place, path) : LOCAL;
  const name = own.volumes.some((one) => one.name === VOLUME) ? `${VOLUME}-${own.volumes.length}` : VOLUME;
  const volume: Volume = { name, files: { hosts: { content: `${before}${lines.join("")}` } } };
  return { volumes: [volume], mounts: [{ volume: name, subPath: "hosts", target: HOSTS, readOnly: true }] };
}

function textOfHost({ readFile, lacks }: ServicePlace, path: readonly string[]): string {
  try {
    const text = readFile(HOSTS).toString();
    return text === "" || text.endsWith("\n") ? text : `${text}\n`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return LOCAL;
    lacks(`${HOSTS} of the host cannot be read: ${(error as Error).message}`, path);
    return LOCAL;
  }
}
