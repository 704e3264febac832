import type { Scope } from "./scope.ts";

/** The mode of exec.fifo: root writes, everybody may open it for writing only (runc uses the same). */
const FIFO_MODE = 0o622;

/** The runtime's work before the helper starts: intent record, fifo, cgroup with its limits. */
export function addHostPreparation({ builder, config, host, invocation }: Scope): void {
  builder.add("runtime", "host", "state.intent", { directory: host.stateDirectory });
  if (invocation.mode === "create") {
    builder.add("runtime", "host", "fifo.create", { path: fifoPath(host.stateDirectory), mode: FIFO_MODE, uid: 0, gid: 0 });
  }
  for (const { path } of host.cgroup?.create ?? [])
    builder.add("runtime", "host", "cgroup.create", { path }, cgroupOrigin(config.cgroupsPath));
  for (const { path, value, from } of host.cgroup?.writes ?? []) builder.add("runtime", "host", "cgroup.write", { path, value }, from);
  if (host.cgroup?.devices) {
    builder.add("runtime", "host", "cgroup.devices", host.cgroup.devices, "/linux/resources/devices");
  }
  builder.add("runtime", "spawn", "helper.spawn", {});
}

export function fifoPath(stateDirectory: string): string {
  return `${stateDirectory}/exec.fifo`;
}

function cgroupOrigin(cgroupsPath: string): string {
  return cgroupsPath === "" ? "" : "/linux/cgroupsPath";
}
