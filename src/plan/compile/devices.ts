import type { DeviceNode } from "../../config/types.ts";
import { S_IF } from "../linux.ts";
import { CREATE, NO_SLOT, SLOT } from "../ops.ts";
import { NO_ATTRIBUTES } from "./attributes.ts";
import { addSeals } from "./mounts.ts";
import type { Scope } from "./scope.ts";

/** The links of the OCI specification (config-linux.md, runtime-linux.md: /dev symbolic links). */
const LINKS: readonly (readonly [path: string, text: string])[] = [
  ["/dev/fd", "/proc/self/fd"],
  ["/dev/stdin", "/proc/self/fd/0"],
  ["/dev/stdout", "/proc/self/fd/1"],
  ["/dev/stderr", "/proc/self/fd/2"],
  ["/dev/core", "/proc/kcore"],
];

const DEVICE_TYPE = { c: S_IF.character, b: S_IF.block, p: S_IF.fifo } as const;

/** Nodes and links below /dev, unless the whole /dev comes from the host. */
export function addDevices(scope: Scope): void {
  const { builder, config } = scope;
  const hostDev = config.mounts.some((mount) => mount.kind === "bind" && isDev(mount.target));
  if (!hostDev) {
    for (const device of config.devices) addDevice(scope, device);
    builder.add("init", "devices", "symlink.create", { path: "/dev/ptmx", text: "pts/ptmx", replace: true });
    for (const [path, text] of LINKS) builder.add("init", "devices", "symlink.create", { path, text, replace: false });
  }
  addConsole(scope);
  addSeals(scope);
}

function isDev(target: string): boolean {
  return target.replace(/\/+$/, "") === "/dev";
}

function addDevice({ builder, openedDevices, inUserNamespace, host }: Scope, device: DeviceNode): void {
  // mknod(2) of device nodes is refused in a user namespace, so the host's node is bound there.
  if (inUserNamespace || host.rootless || host.bindDevices) {
    let slot = openedDevices.get(device.path);
    if (slot === undefined) {
      slot = builder.slot();
      builder.add("init", "devices", "mount.open", { source: device.path, recursive: false, slot }, device.from);
    }
    builder.add("init", "devices", "mount.bind", { slot, target: device.path, create: CREATE.file, ...NO_ATTRIBUTES }, device.from);
    return;
  }
  const { path, major, minor, mode, uid, gid } = device;
  builder.add("init", "devices", "device.create", { path, type: DEVICE_TYPE[device.type], major, minor, mode, uid, gid }, device.from);
}

function addConsole({ builder, config, host, invocation }: Scope): void {
  const { process } = config;
  if (!process?.terminal) return;
  builder.add(
    "init",
    "devices",
    "console.open",
    {
      slot: invocation.consoleSocket === undefined ? NO_SLOT : SLOT.CONSOLE,
      rows: host.terminalSize?.rows ?? process.consoleRows,
      columns: host.terminalSize?.columns ?? process.consoleColumns,
      uid: process.uid,
      bindConsole: true,
    },
    "/process/terminal",
  );
}
