import { existsSync } from "node:fs";

/** Where Debian has the CNI plugins. */
export const TEST_PLUGINS = "/usr/lib/cni";

/** Why tests of networks cannot run here; undefined: they can. */
export const noNetworks = ["/usr/lib/cni/bridge", "/usr/sbin/iptables", "/usr/sbin/nft", "/usr/sbin/ip"].find((path) => !existsSync(path));

/** The same of names that a resolver answers. */
export const noResolver =
  noNetworks ??
  (["/usr/lib/podman/aardvark-dns", "/usr/libexec/podman/aardvark-dns"].some((path) => existsSync(path)) ? undefined : "aardvark-dns");
