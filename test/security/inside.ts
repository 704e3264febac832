/** What attacks put into a container. */
import type { Config } from "../support/config.ts";
import { program } from "../support/programs.ts";

/** A program of test/probe as /dev/NAME: the shared root file system stays as it is. */
export function withProgram(config: Config, name: string): void {
  config.mounts.push({ destination: `/dev/${name}`, type: "bind", source: program(name), options: ["bind", "ro"] });
}

/** A directory of the host that the container may write to. */
export function withVolume(config: Config, source: string, destination: string): void {
  config.mounts.push({ destination, type: "bind", source, options: ["rbind", "rw"] });
}

/** The container's root is a user without rights on the host. */
export function withUserNamespace(config: Config): void {
  config.linux.namespaces.push({ type: "user" });
  config.linux.uidMappings = config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
}

export function addCapabilities(config: Config, ...names: readonly string[]): void {
  for (const set of ["bounding", "effective", "permitted"]) {
    config.process.capabilities[set] = [...new Set([...(config.process.capabilities[set] ?? []), ...names])];
  }
}
