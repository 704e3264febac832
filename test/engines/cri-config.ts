/** Configuration of containerd for pods, in the form of versions 1.x and in that of 2.x. */
import { basename, join } from "node:path";

export type ConfigVersion = 2 | 3;

const SUBNET = "10.89.0.0/24";
/** The name under which pods may ask for the host's runc. */
export const OTHER_HANDLER = "debian";
export const BRIDGE = "runt-cri0";

/** Settings for what this host cannot do, or what no test needs. */
const DISABLED = [
  ...["aufs", "btrfs", "zfs", "devmapper", "native", "blockfile", "erofs"].map((name) => `io.containerd.snapshotter.v1.${name}`),
  "io.containerd.internal.v1.opt",
  "io.containerd.nri.v1.nri",
];

export interface CriPlace {
  readonly directory: string;
  readonly socket: string;
  readonly state: string;
  readonly sandboxImage: string;
  /** Otherwise pods get neither limits nor a cgroup that this configuration names. */
  readonly hasControllers: boolean;
}

/** A bridge without a way out. */
export function cniNetwork(directory: string): string {
  const ipam = { type: "host-local", dataDir: join(directory, "ipam"), ranges: [[{ subnet: SUBNET }]] };
  return JSON.stringify({ cniVersion: "0.4.0", name: "runt-engines", plugins: [{ type: "bridge", bridge: BRIDGE, ipam }] });
}

/** `config.toml`; `runtime` is the default. */
export function configuration(version: ConfigVersion, runtime: string, cri: CriPlace): string {
  const plugin = version === 2 ? "io.containerd.grpc.v1.cri" : "io.containerd.cri.v1.runtime";
  const image =
    version === 2
      ? `sandbox_image = "${cri.sandboxImage}"`
      : `[plugins."io.containerd.cri.v1.images".pinned_images]\nsandbox = "${cri.sandboxImage}"`;
  const binaries = version === 2 ? `bin_dir = "/usr/lib/cni"` : `bin_dirs = ["/usr/lib/cni"]`;
  const handlers = Object.entries({ [basename(runtime)]: runtime, [OTHER_HANDLER]: "/usr/sbin/runc" }).map(
    ([name, binary]) => `[plugins."${plugin}".containerd.runtimes.${name}]
runtime_type = "io.containerd.runc.v2"
[plugins."${plugin}".containerd.runtimes.${name}.options]
BinaryName = "${binary}"
`,
  );
  return `version = ${version}
root = "${cri.directory}/root"
state = "${cri.state}"
disabled_plugins = ${JSON.stringify(DISABLED)}
[grpc]
address = "${cri.socket}"
[plugins."${plugin}"]
# This host's root has no CAP_SYS_RESOURCE.
restrict_oom_score_adj = true
disable_apparmor = true
disable_cgroup = ${!cri.hasControllers}
${image}
[plugins."${plugin}".cni]
${binaries}
conf_dir = "${cri.directory}/cni"
[plugins."${plugin}".containerd]
default_runtime_name = "${basename(runtime)}"
${handlers.join("")}`;
}
