/** Findings about devices and the rules for their use. */
import { type Entries, entry } from "../catalogue/entry.ts";

const NODE = { path: "/dev/fuse", type: "c", major: 10, minor: 229 };
const MAP = [{ containerID: 0, hostID: 100000, size: 65536 }];
const USER = { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": MAP, "/linux/gidMappings": MAP };
const DEVICES = "config-linux.md#devices";
const RULES = "config-linux.md#allowed-device-list";

export const DEVICES_AND_RULES: Entries = {
  "device-path": entry("error", "A device whose path is not absolute", DEVICES, "It is a path in the container.", "begin it with /", {
    broken: { "/linux/devices": [{ ...NODE, path: "dev/fuse" }] },
    fixed: { "/linux/devices": [NODE] },
    at: "/linux/devices/0/path",
  }),
  "device-type": entry(
    "error",
    "An unknown type of device",
    DEVICES,
    "c and u are character devices, b is a block device, and p is a fifo.",
    "use c, b, u or p",
    {
      broken: { "/linux/devices": [{ ...NODE, type: "char" }] },
      fixed: { "/linux/devices": [NODE] },
      at: "/linux/devices/0/type",
    },
  ),
  "device-number-missing": entry(
    "error",
    "A device without its number",
    DEVICES,
    "major and minor are required for all devices except fifos.",
    "add it; ls -l shows it",
    {
      broken: { "/linux/devices": [{ path: "/dev/fuse", type: "c", major: 10 }] },
      fixed: { "/linux/devices": [NODE] },
      at: "/linux/devices/0/minor",
    },
  ),
  "device-number-range": entry(
    "error",
    "A device number that Linux does not have",
    "makedev(3)",
    "major is 0 to 4095, minor 0 to 1048575.",
    "correct it",
    {
      broken: { "/linux/devices": [{ ...NODE, major: 4096 }] },
      fixed: { "/linux/devices": [NODE] },
      at: "/linux/devices/0/major",
    },
  ),
  "device-place": entry(
    "error",
    "A device in a filesystem without device nodes",
    "mknod(2)",
    "In devpts, proc, sysfs, mqueue and the cgroup filesystems, only the kernel makes files.",
    "give it another path",
    {
      broken: { "/linux/devices": [{ ...NODE, path: "/dev/pts/fuse" }] },
      fixed: { "/linux/devices": [NODE] },
      at: "/linux/devices/0/path",
    },
  ),
  "device-duplicate": entry(
    "warning",
    "The same device under two names",
    DEVICES,
    "It works, but is often a copied number.",
    "correct the number, or leave one out",
    {
      broken: { "/linux/devices": [NODE, { ...NODE, path: "/dev/fuse2" }] },
      at: "/linux/devices/1",
    },
  ),
  "machine-device": entry(
    "error",
    "A device that the guest of a virtual machine does not have",
    DEVICES,
    "With --isolation vm a character device is that of the guest's kernel, which has only some. create refuses the others.",
    "leave the device out, or make the container on the host",
    {
      broken: { "/annotations/io.runt.isolation": "vm", "/linux/devices": [{ path: "/dev/kvm", type: "c", major: 10, minor: 232 }] },
      fixed: { "/annotations/io.runt.isolation": "vm", "/linux/devices": [NODE] },
      at: "/linux/devices/0",
    },
  ),
  "device-path-duplicate": entry("warning", "Two devices with one path", DEVICES, "The last one wins.", "leave one of them out", {
    broken: {
      "/linux/devices": [
        { ...NODE, path: "/dev/net" },
        { ...NODE, path: "/dev/net", minor: 200 },
      ],
    },
    at: "/linux/devices/1/path",
  }),
  "devices-skipped": entry(
    "warning",
    "Devices with a bind mount on /dev",
    DEVICES,
    "Nodes would be made in the host's directory, so runt makes none.",
    "leave them out, or mount a tmpfs on /dev",
    {
      broken: { "/linux/devices": [NODE], "/mounts/1": { destination: "/dev", type: "bind", source: "/dev", options: ["rbind"] } },
      at: "/linux/devices",
    },
  ),
  "device-owner-ignored": entry(
    "warning",
    "Owner or mode of a device of the host",
    DEVICES,
    "Without the right to make device nodes, runt binds those of the host, with their owner and mode.",
    "leave owner and mode out",
    {
      broken: { "/linux/devices": [{ ...NODE, fileMode: 384 }] },
      fixed: { "/linux/devices": [NODE] },
      at: "/linux/devices/0",
      rootless: true,
    },
  ),
  "device-owner-not-mapped": entry(
    "error",
    "An owner of a device that is not mapped",
    "user_namespaces(7)",
    "It does not exist in the container's user namespace.",
    "map the id, or use another one",
    {
      broken: { ...USER, "/linux/devices": [{ ...NODE, uid: 70000 }] },
      fixed: { ...USER, "/linux/devices": [{ ...NODE, uid: 1000 }] },
      at: "/linux/devices/0/uid",
    },
  ),
  "device-denied": entry(
    "warning",
    "A device that is made but may not be used",
    RULES,
    "linux.devices makes the node, and linux.resources.devices decides whether it may be opened; the last matching rule counts.",
    "allow it in linux.resources.devices",
    {
      broken: { "/linux/devices": [NODE], "/linux/resources/devices": [{ allow: false, access: "rwm" }] },
      fixed: {
        "/linux/devices": [NODE],
        "/linux/resources/devices": [
          { allow: false, access: "rwm" },
          { allow: true, type: "c", major: 10, minor: 229, access: "rwm" },
        ],
      },
      at: "/linux/devices/0",
    },
  ),
  "device-differs": entry(
    "warning",
    "A device with another number than the host's",
    DEVICES,
    "The same path is another device on the host.",
    "correct the number",
    {
      broken: { "/linux/devices": [{ ...NODE, minor: 230 }] },
      fixed: { "/linux/devices": [NODE] },
      at: "/linux/devices/0",
    },
  ),
  "device-driver": entry(
    "warning",
    "A device number that no driver has",
    "proc(5)",
    "Opening the device fails with ENXIO.",
    "load the driver, or correct the number",
    {
      broken: { "/linux/devices": [{ ...NODE, path: "/dev/x", major: 300 }] },
      fixed: { "/linux/devices": [NODE] },
      at: "/linux/devices/0",
    },
  ),
  "device-in-the-way": entry(
    "error",
    "Another file is in the place of a device",
    DEVICES,
    "runt does not replace an existing file by a device node.",
    "mount it somewhere else, remove it from the image, or mount a tmpfs on /dev",
    {
      broken: { "/linux/devices": [{ ...NODE, path: "/etc/passwd" }] },
      fixed: { "/linux/devices": [NODE] },
      at: "/linux/devices/0/path",
    },
  ),
  "device-rule-type": entry("error", "A device rule of an unknown type", RULES, "c, b, or a for both.", "use a, b or c", {
    broken: { "/linux/resources/devices": [{ allow: false, type: "u" }] },
    at: "/linux/resources/devices/0/type",
  }),
  "device-rule-access": entry(
    "error",
    "A device rule with an unknown access",
    RULES,
    "r is read, w is write, m is mknod.",
    "use letters of rwm",
    {
      broken: { "/linux/resources/devices": [{ allow: false, access: "x" }] },
      at: "/linux/resources/devices/0/access",
    },
  ),
  "device-rule-letters": entry(
    "warning",
    "A device rule with an invalid access letter",
    RULES,
    "r is read, w is write, m is mknod. Other letters have no effect, as in runc.",
    "use letters of rwm",
    {
      broken: { "/linux/resources/devices": [{ allow: false, access: "rwma" }] },
      fixed: { "/linux/resources/devices": [{ allow: false, access: "rwm" }] },
      at: "/linux/resources/devices/0/access",
    },
  ),
  "device-rule-number": entry(
    "error",
    "A device rule with a negative number",
    RULES,
    "-1, or a missing number, means every number.",
    "leave it out for all numbers",
    {
      broken: { "/linux/resources/devices": [{ allow: false, major: -2 }] },
      at: "/linux/resources/devices/0",
    },
  ),
};
