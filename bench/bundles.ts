/** The bundles of the benchmarks: that of `runc spec` without a terminal and with busybox, changed in one way each. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./namespace.ts";

/** The fields that benchmarks change. */
export interface Spec {
  hostname?: string;
  process: { args: readonly string[]; terminal: boolean };
  root: { path: string };
  mounts: { destination: string; type: string; source: string; options: string[] }[];
  linux: {
    cgroupsPath: string;
    resources?: Record<string, unknown>;
    seccomp?: object;
    namespaces: { type: string }[];
    uidMappings?: object[];
    gidMappings?: object[];
    maskedPaths?: string[];
    readonlyPaths?: string[];
  };
}

export const EXTRA_MOUNTS = 50;
/** Of a user namespace. */
const FIRST_ID = 100_000;
const IDS = 65_536;

/** Make the directories that variants want. */
export function prepareRootfs(work: string): void {
  for (let number = 0; number < EXTRA_MOUNTS; number++) {
    mkdirSync(join(work, "rootfs/mnt", String(number)), { recursive: true });
    mkdirSync(join(work, "sources", String(number)), { recursive: true });
  }
}

export type Variant = "plain" | "seccomp" | "containerd" | "userns" | "mounts" | "light";

const CHANGES: Readonly<Record<Variant, (spec: Spec, work: string) => void>> = {
  plain: () => {},
  containerd: () => {},
  seccomp: (spec) => {
    spec.linux.seccomp = JSON.parse(readFileSync(join(REPOSITORY, "test/fixtures/seccomp-default.json"), "utf8"));
  },
  userns: (spec) => {
    spec.linux.namespaces.push({ type: "user" });
    spec.linux.uidMappings = [{ containerID: 0, hostID: FIRST_ID, size: IDS }];
    spec.linux.gidMappings = [{ containerID: 0, hostID: FIRST_ID, size: IDS }];
  },
  mounts: (spec, work) => {
    for (let number = 0; number < EXTRA_MOUNTS; number++) {
      const options = ["rbind", "rprivate", ...(number % 2 === 0 ? ["ro", "nosuid"] : ["rw", "nodev"])];
      spec.mounts.push({ destination: `/mnt/${number}`, type: "bind", source: join(work, "sources", String(number)), options });
    }
  },
  // What many containers can be made of without filling the machine: they are there to be listed.
  light: (spec) => {
    delete spec.hostname;
    spec.linux.namespaces = [{ type: "pid" }, { type: "mount" }];
    spec.mounts = spec.mounts.filter(({ destination }) => destination === "/proc" || destination === "/dev");
    spec.linux.maskedPaths = [];
    spec.linux.readonlyPaths = [];
  },
};

/** Make a bundle below work/NAME, with this cgroup. */
export function makeBundle(
  work: string,
  name: string,
  variant: Variant,
  args: readonly string[],
  cgroupsPath: string,
  change: (spec: Spec) => void = () => {},
): string {
  const bundle = join(work, name);
  if (existsSync(bundle)) return bundle;
  mkdirSync(bundle);
  const file = join(bundle, "config.json");
  if (variant === "containerd") writeFileSync(file, readFileSync(join(REPOSITORY, "bundles/containerd/config.json")));
  else execFileSync("runc", ["spec"], { cwd: bundle });
  const spec: Spec = JSON.parse(readFileSync(file, "utf8"));
  spec.process.args = args;
  spec.process.terminal = false;
  spec.root.path = join(work, "rootfs");
  spec.linux.cgroupsPath = cgroupsPath;
  CHANGES[variant](spec, work);
  change(spec);
  writeFileSync(file, JSON.stringify(spec));
  return bundle;
}
