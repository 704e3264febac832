/**
 * A directory that behaves like a mounted resctrl filesystem (Documentation/filesystems/resctrl.rst), for a `runt:host` on Node: groups
 * come with their files, schemata are judged, tasks move, and a group can be removed with everything in it.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type * as nodeHost from "./node-host.ts";

const GRANULARITY = 10;
const CLASSES = 4;

export interface FakeResctrl {
  readonly mount: string;
  /** The line of mountinfo. */
  isMounted: boolean;
  /** Contents that another writer has put there. */
  put(file: string, text: string): void;
  read(file: string): string;
  /** Groups and monitoring groups, by path. */
  groups(): string[];
  remove(): void;
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code} ${path}`), { code, path });
}

export function makeResctrl(): FakeResctrl {
  const mount = mkdtempSync(join(tmpdir(), "runt-resctrl-"));
  mkdirSync(join(mount, "info/MB"), { recursive: true });
  writeFileSync(join(mount, "info/last_cmd_status"), "ok\n");
  writeFileSync(join(mount, "info/MB/bandwidth_gran"), `${GRANULARITY}\n`);
  fill(mount, true);
  return {
    mount,
    isMounted: true,
    put: (file, text) => writeFileSync(join(mount, file), text),
    read: (file) => readFileSync(join(mount, file), "utf8"),
    groups: () => controlGroups(mount).flatMap((group) => [...(group === "" ? [] : [group]), ...monitors(mount, group)]),
    remove: () => rmSync(mount, { recursive: true, force: true }),
  };
}

function fill(group: string, control: boolean): void {
  writeFileSync(join(group, "tasks"), "");
  if (!control) return;
  writeFileSync(join(group, "schemata"), "    MB:0=100;1=100\n    L3:0=fff;1=fff\n");
  mkdirSync(join(group, "mon_groups"));
}

function controlGroups(mount: string): string[] {
  return ["", ...readdirSync(mount).filter((name) => existsSync(join(mount, name, "schemata")))];
}

function monitors(mount: string, group: string): string[] {
  return readdirSync(join(mount, group, "mon_groups")).map((name) => join(group, "mon_groups", name));
}

/** The functions of the host that behave otherwise below the mount point. */
export function withResctrl(host: typeof nodeHost, fake: () => FakeResctrl): typeof nodeHost {
  const mount = () => fake().mount;
  const inside = (path: string) => path === mount() || path.startsWith(`${mount()}/`);
  return {
    ...host,
    readFile(path) {
      if (path !== "/proc/self/mountinfo") return host.readFile(path);
      return fake().isMounted ? `36 25 0:31 / ${mount()} rw - resctrl resctrl rw\n` : "";
    },
    mkdir(path, mode) {
      if (!inside(path)) return host.mkdir(path, mode);
      if (existsSync(path)) throw failure("EEXIST", path);
      const control = dirname(path) === mount();
      if (!control && basename(dirname(path)) !== "mon_groups") throw failure("EPERM", path);
      if (control && controlGroups(mount()).length >= CLASSES) throw say("ENOSPC", path, "Out of CLOSIDs");
      mkdirSync(path, mode);
      fill(path, control);
    },
    rmdir(path) {
      if (!inside(path)) return host.rmdir(path);
      if (!existsSync(path)) throw failure("ENOENT", path);
      rmSync(path, { recursive: true });
    },
    writeFile(path, text, flags, mode) {
      if (!inside(path)) return host.writeFile(path, text, flags, mode);
      if (!existsSync(path)) throw failure("ENOENT", path);
      if (basename(path) === "schemata") writeSchemata(path, text);
      else writeTask(path, text);
    },
  };

  function say(code: string, path: string, status: string): Error {
    writeFileSync(join(mount(), "info/last_cmd_status"), `${status}\n`);
    return failure(code, path);
  }

  /** One write names a resource once. */
  function writeSchemata(path: string, text: string): void {
    if (!text.endsWith("\n")) throw failure("EINVAL", path);
    let content = readFileSync(path, "utf8");
    for (const line of text.trimEnd().split("\n")) {
      const [resource = "", domains = ""] = line.split(":");
      const known = new RegExp(`^ *${resource}:(.*)$`, "m").exec(content)?.[1];
      if (known === undefined) throw say("EINVAL", path, `Unknown or unsupported resource name '${resource}'`);
      const values = new Map(known.split(";").map((entry) => entry.split("=") as [string, string]));
      for (const [domain, value] of domains.split(";").map((entry) => entry.split("=") as [string, string])) {
        if (!values.has(domain)) throw say("EINVAL", path, "Unknown domain");
        values.set(domain, resource === "MB" ? String(Math.ceil(Number(value) / GRANULARITY) * GRANULARITY) : value);
      }
      const rest = [...values].map((entry) => entry.join("=")).join(";");
      content = content.replace(new RegExp(`^( *)${resource}:.*$`, "m"), `$1${resource}:${rest}`);
    }
    writeFileSync(path, content);
  }

  function writeTask(path: string, pid: string): void {
    const control = dirname(path).replace(/\/mon_groups\/[^/]+$/, "");
    const isIn = (file: string) => readFileSync(file, "utf8").split("\n").includes(pid);
    if (control !== dirname(path) && !isIn(join(control, "tasks"))) throw say("EINVAL", path, "Can't move task to different control group");
    writeFileSync(path, `${readFileSync(path, "utf8")}${pid}\n`);
  }
}
