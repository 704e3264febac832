/** Devices, hooks, id mappings and network devices. */
import { broken, type Case } from "../case.ts";

const NODE = { path: "/dev/runt0", type: "c", major: 1, minor: 5 };
const DEVICES = "/linux/devices";
const RULES = "/linux/resources/devices";
/** One wrong member of a node that is right otherwise. */
const node = (code: string, at: string, wrong: object) =>
  broken(code, { [DEVICES]: [{ ...NODE, ...wrong }] }, { fixed: { [DEVICES]: [NODE] }, at: `${DEVICES}/0/${at}` });
const rule = (code: string, at: string, entry: object) => broken(code, { [RULES]: [entry] }, { at: `${RULES}/0${at}` });

const HOOK = { path: "/usr/bin/hook", timeout: 5 };
const hook = (code: string, kind: string, at: string, wrong: object) =>
  broken(
    code,
    { [`/hooks/${kind}`]: [{ ...HOOK, ...wrong }] },
    { fixed: { [`/hooks/${kind}`]: [HOOK] }, at: `/hooks/${kind}/0/${at}`, files: PROGRAM },
  );
const PROGRAM = { "/usr/bin/hook": { kind: "file", mode: 0o755, text: "elf:62" } } as const;

const ids = (...entries: readonly (readonly [containerID: number, hostID: number, size: number])[]) =>
  entries.map(([containerID, hostID, size]) => ({ containerID, hostID, size }));
const WHOLE = ids([0, 0, 65536]);
/** A user namespace with these mappings of user ids; the clean twin has whole ones. */
const mapped = (code: string, at: string, uidMappings: object, gidMappings: object = WHOLE) =>
  broken(
    code,
    { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": uidMappings, "/linux/gidMappings": gidMappings },
    { fixed: { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": WHOLE, "/linux/gidMappings": WHOLE }, at },
  );

export const DEVICES_AND_IDS: readonly Case[] = [
  node("device-path", "path", { path: "dev/runt0" }),
  node("device-path", "path", { path: "./runt0" }),
  node("device-type", "type", { type: "char" }),
  node("device-type", "type", { type: "C" }),
  node("device-type", "type", { type: "d" }),
  node("device-number-range", "major", { major: 4096 }),
  node("device-number-range", "major", { major: -1 }),
  node("device-number-range", "minor", { minor: 1048576 }),
  node("device-number-range", "minor", { minor: -3 }),
  node("device-place", "path", { path: "/dev/pts/runt0" }),
  node("device-place", "path", { path: "/proc/runt0" }),
  node("device-place", "path", { path: "/sys/runt0" }),
  broken(
    "device-number-missing",
    { [DEVICES]: [{ path: "/dev/runt0", type: "c", minor: 5 }] },
    { fixed: { [DEVICES]: [NODE] }, at: `${DEVICES}/0/major` },
  ),
  broken(
    "device-number-missing",
    { [DEVICES]: [{ path: "/dev/runt0", type: "b", major: 1 }] },
    { fixed: { [DEVICES]: [NODE] }, at: `${DEVICES}/0/minor` },
  ),
  rule("device-rule-type", "/type", { allow: true, type: "p", access: "r" }),
  rule("device-rule-type", "/type", { allow: true, type: "all", access: "r" }),
  rule("device-rule-access", "/access", { allow: true, type: "c", access: "xyz" }),
  rule("device-rule-access", "/access", { allow: true, type: "c", access: "R" }),
  rule("device-rule-letters", "/access", { allow: true, type: "c", access: "rwa" }),
  rule("device-rule-letters", "/access", { allow: true, type: "c", access: "Rw" }),
  rule("device-rule-number", "", { allow: true, type: "c", major: -2, access: "r" }),
  rule("device-rule-number", "", { allow: true, type: "c", major: 1, minor: -9, access: "r" }),

  hook("hook-path-relative", "createRuntime", "path", { path: "usr/bin/hook" }),
  hook("hook-path-relative", "poststop", "path", { path: "hook" }),
  hook("hook-timeout", "prestart", "timeout", { timeout: 0 }),
  hook("hook-timeout", "createContainer", "timeout", { timeout: -5 }),
  hook("hook-missing", "createRuntime", "path", { path: "/usr/bin/hoook" }),
  hook("hook-timeout", "poststop", "timeout", { timeout: -1 }),

  mapped("mapping-empty", "/linux/uidMappings/1/size", ids([0, 0, 65536], [65536, 70000, 0])),
  mapped("mapping-range", "/linux/uidMappings/1", ids([0, 0, 65536], [65536, 4294967295, 2])),
  mapped("mapping-range", "/linux/uidMappings/1", ids([0, 0, 65536], [4294967294, 70000, 9])),
  mapped("mapping-overlap", "/linux/uidMappings/1", ids([0, 0, 65536], [65535, 70000, 10])),
  mapped("mapping-overlap", "/linux/uidMappings/1", ids([0, 0, 65536], [70000, 65535, 10])),
];
