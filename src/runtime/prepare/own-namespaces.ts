/** A path may lead to the runtime's own namespace: what only a container's own may have done to it is refused then. */
import { NAMESPACE_FILES } from "../../shared/linux/index.ts";
import type { ContainerConfig, NamespaceType } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { pointerToken } from "../spec/index.ts";

interface Request {
  readonly type: NamespaceType;
  readonly pointer: string;
  readonly words: string;
}

/** @throws RuntError "config-invalid" for the first request */
export function refuseHostNamespaces(config: ContainerConfig): void {
  // Nearly always: without a path there is nothing to look at.
  if (!config.namespaces.some(({ path }) => path !== undefined)) return;
  const seen = new Map<NamespaceType, boolean>();
  for (const { type, pointer, words } of requests(config)) {
    const path = config.namespaces.find((namespace) => namespace.type === type)?.path;
    if (path === undefined) continue;
    const own = seen.get(type) ?? isOwn(type, path);
    seen.set(type, own);
    if (own) throw new RuntError("config-invalid", `${words}: ${path} is the ${type} namespace of the runtime itself`, { pointer });
  }
}

function* requests({ hostname, domainname, sysctl, netDevices }: ContainerConfig): Generator<Request> {
  if (hostname !== undefined) yield { type: "uts", pointer: "/hostname", words: "unable to set hostname" };
  if (domainname !== undefined) yield { type: "uts", pointer: "/domainname", words: "unable to set domainname" };
  for (const { key, namespace } of sysctl) {
    const words = `sysctl "${key}" is not in a separate kernel namespace`;
    yield { type: namespace, pointer: `/linux/sysctl/${pointerToken(key)}`, words };
  }
  if (netDevices.length > 0)
    yield { type: "network", pointer: "/linux/netDevices", words: "linux.netDevices: unable to move network devices" };
}

function isOwn(type: NamespaceType, path: string): boolean {
  const [there, here] = [look(path), look(`/proc/self/ns/${NAMESPACE_FILES[type]}`)];
  return there !== undefined && here !== undefined && there.dev === here.dev && there.ino === here.ino;
}

/** A namespace that cannot be read is reported by the operation that joins it. */
function look(path: string): host.Stat | undefined {
  try {
    return host.stat(path);
  } catch (error) {
    if (host.isErrno(error, "EACCES", "EPERM", "ELOOP")) return undefined;
    throw error;
  }
}
