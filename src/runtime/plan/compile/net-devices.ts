import type { Scope } from "./scope.ts";

/** As soon as init is in its network namespace: hooks and sysctls find the devices there. */
export function addNetDevices({ builder, config, namespace }: Scope): void {
  const joined = namespace("network")?.path ?? "";
  for (const { device, name, from } of config.netDevices) {
    builder.add("runtime", "namespaces", "netdevice.move", { device, name, namespace: joined }, from);
  }
}
