/** What the containers of a shared proxy get, and those of the tasks that use it. Pure. */
import type { Mount } from "../../executor/index.ts";

const TARGET = "/run/shared-proxy";
export const PROXY_SOCKET = "admin.sock";

export interface ProxyPlacement {
  /** Directory of the host for its admin socket. */
  readonly directory: string;
  /** Whether the container is one of the proxy, which makes the socket. */
  readonly isOwn: boolean;
}

export function proxyMounts(place: ProxyPlacement | undefined): Mount[] {
  if (place === undefined) return [];
  const options = ["bind", "rprivate", "nosuid", "nodev", "noexec", "src-nofollow", place.isOwn ? "rw" : "ro"];
  return [{ destination: TARGET, source: place.directory, type: "bind", options }];
}

export function proxyEnv(place: ProxyPlacement | undefined): Readonly<Record<string, string>> {
  return place === undefined ? {} : { SHARED_PROXY_SOCKET: `${TARGET}/${PROXY_SOCKET}` };
}
