import { cleanPath, cleanTarget } from "../../spec/index.ts";
import type { HostCheck } from "../host/host-check.ts";

/** Filesystems in which mknod(2) makes nothing. */
const WITHOUT_NODES = ["devpts", "proc", "sysfs", "cgroup", "cgroup2", "mqueue"];

/** config-linux, devices: numbers that the host has another device for, files that are in the way, places where there can be no node. */
export const deviceFiles: HostCheck = ({ linux, mounts }, report, { view, files }) => {
  const drivers = view.live ? view.text("/proc/devices") : undefined;
  linux?.devices?.forEach((device, index) => {
    const pointer = `/linux/devices/${index}`;
    const path = cleanPath(device.path);
    const [major, minor] = [Number(device.major ?? 0), Number(device.minor ?? 0)];
    const kind = device.type === "b" ? "block" : device.type === "p" ? "fifo" : "char";
    if (view.live && kind !== "fifo") {
      const own = view.stat(path);
      if (own !== undefined && own !== "unknown" && own.kind === kind && (own.major !== major || own.minor !== minor))
        report.warning("device-differs", pointer, `"${path}" is ${own.major}:${own.minor} on this host, here ${major}:${minor}`);
      else if (drivers !== undefined && !hasDriver(drivers, kind, major))
        report.warning("device-driver", pointer, `"${path}": no driver of this host has the ${kind} number ${major}`);
    }
    if (files === undefined) return;
    const place = files.find(path);
    const around = mounts?.[place.layer.index];
    if (place.status === "opaque" && around !== undefined && WITHOUT_NODES.includes(around.type ?? "")) {
      report.error(
        "device-place",
        `${pointer}/path`,
        `no node can be made at "${path}": ${around.destination} is a filesystem of type ${around.type}`,
      );
      return;
    }
    if ((mounts ?? []).some(({ destination }) => isAbove(cleanTarget(destination), path))) return;
    if (place.status !== "found" || place.facts.kind === kind) return;
    report.error(
      "device-in-the-way",
      `${pointer}/path`,
      `the root filesystem has a ${place.facts.kind} at "${path}"`,
      "remove it from the image, or mount a tmpfs on /dev",
    );
  });
};

function isAbove(directory: string, path: string): boolean {
  return directory === "/" || path === directory || path.startsWith(`${directory}/`);
}

/** proc(5), /proc/devices: two lists, of which the second is that of block devices. */
function hasDriver(text: string, kind: "block" | "char", major: number): boolean {
  const [chars = "", blocks = ""] = text.split("Block devices:");
  return new RegExp(`^\\s*${major}\\s`, "m").test(kind === "block" ? blocks : chars);
}
