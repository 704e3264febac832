/** What exec needs of a container's configuration, for the state record. */
import { type ContainerConfig, storeProcess } from "../config/index.ts";
import type { ExecRecord } from "../state/index.ts";

export function execRecord({ process, namespaces, seccomp, memoryPolicy, personality }: ContainerConfig, keyring: boolean): ExecRecord {
  const types: string[] = [];
  const joined: string[] = [];
  let ownMounts = false;
  for (const { type, path } of namespaces) {
    types.push(type);
    if (path !== undefined) joined.push(type);
    else ownMounts ||= type === "mount";
  }
  return {
    ...(process ? { process: storeProcess(process) } : {}),
    namespaces: types,
    ...(joined.length > 0 ? { joined } : {}),
    chroot: !ownMounts,
    keyring,
    ...(seccomp ? { seccomp } : {}),
    ...(memoryPolicy ? { memoryPolicy } : {}),
    ...(personality === undefined ? {} : { personality }),
  };
}
