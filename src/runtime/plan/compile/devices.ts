import { MOUNT_ATTR } from "../../../shared/linux/index.ts";
import { CREATE, NO_SLOT, type OpArgs, SLOT } from "../../../shared/protocol/index.ts";
import type { DeviceNode } from "../../config/index.ts";
import { cleanPath } from "../../spec/index.ts";
import { addSeals, NO_ATTRIBUTES } from "./attributes.ts";
import type { Scope } from "./scope.ts";
import { DEVICE_TYPE, openedDevice } from "./sources.ts";

/** It takes the place of what is there: /dev/ptmx of another devpts would open terminals that the container does not have. */
const PTMX: OpArgs<"symlink.create"> = { path: "/dev/ptmx", text: "pts/ptmx", replace: true };

/** The links of the OCI specification (config-linux.md, runtime-linux.md: /dev symbolic links). */
const LINKS: readonly OpArgs<"symlink.create">[] = [
  { path: "/dev/fd", text: "/proc/self/fd", replace: false },
  { path: "/dev/stdin", text: "/proc/self/fd/0", replace: false },
  { path: "/dev/stdout", text: "/proc/self/fd/1", replace: false },
  { path: "/dev/stderr", text: "/proc/self/fd/2", replace: false },
  { path: "/dev/core", text: "/proc/kcore", replace: false },
];

/** A bound node has the flags of the host's /dev, which often lacks these two. No device needs what they forbid. */
const BOUND = { ...NO_ATTRIBUTES, attrSet: MOUNT_ATTR.NOSUID | MOUNT_ATTR.NOEXEC };

/** Nodes and links below /dev, unless the whole /dev comes from the host. */
export function addDevices(scope: Scope): void {
  const { builder, config } = scope;
  builder.begin("devices");
  const hostDev = config.mounts.some((mount) => mount.kind === "bind" && cleanPath(mount.target) === "/dev");
  if (!hostDev) {
    for (const device of config.devices) addDevice(scope, device);
    builder.add("init", "devices", "symlink.create", PTMX);
    for (const link of LINKS) if (!config.mountedInDev.has(link.path)) builder.add("init", "devices", "symlink.create", link);
  }
  addConsole(scope);
  addSeals(scope);
}

function addDevice(scope: Scope, device: DeviceNode): void {
  const { builder, inUserNamespace, host } = scope;
  const { path, type, major, minor, mode, uid, gid } = device;
  // mknod(2) of device nodes is refused in a user namespace.
  const isBound = type !== "p" && (inUserNamespace || host.rootless || host.bindDevices === true);
  if (isBound) {
    let slot = builder.slotOf(openedDevice(path));
    if (slot === undefined) {
      slot = builder.slot();
      builder.add("init", "devices", "mount.open", { source: path, recursive: false, slot }, device.from);
    }
    builder.add("init", "devices", "mount.bind", { slot, target: path, create: CREATE.file, attrDrop: 0n, ...BOUND }, device.from);
    if (device.from === "") return;
    // Of what is there now, device.create verifies type and numbers.
  }
  builder.add("init", "devices", "device.create", { path, type: DEVICE_TYPE[type], major, minor, mode, uid, gid }, device.from);
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
