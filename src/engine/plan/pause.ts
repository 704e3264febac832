/** Builds the launch command of the pause container, which holds the shared namespaces of a task. Pure. */
import type { ConfigLaunch } from "../../executor/index.ts";
import { NAMESPACES, namespacesOf, type TaskSpec } from "../spec/index.ts";
import { sandboxAnnotations } from "./machine.ts";

export interface PausePlacement {
  /** Absolute path of a directory that contains only the program. */
  readonly rootfs: string;
  /** Path of the program inside the root file system. */
  readonly program: string;
  readonly cgroupParent: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Whether the host has IPv6. Some hosts disable it in new network namespaces, which would remove ::1 from the loopback interface. */
  readonly hasIpv6: boolean;
  /** Path of the network namespace that the engine has made for the task. */
  readonly network?: string;
  /** File of the user namespace of the task, if it has one of its own. The root file system then has a directory /dev. */
  readonly userNamespace?: string;
  /** Runtime id of the container, if it boots the virtual machine of the task. */
  readonly machine?: string;
}

/** The overflow user id, user_namespaces(7). The pause program needs no privileges, because its namespaces are made for it. */
const NOBODY = 65_534;

/**
 * A tmpfs for /dev. Root of a user namespace cannot make devices, and neither it nor a virtual machine can make anything in a root file system of
 * the host.
 */
const OWN_DEV = { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "noexec", "mode=755", "size=64k"] };

export function pauseLaunch(task: TaskSpec, placement: PausePlacement): ConfigLaunch {
  const { rootfs, program, cgroupParent, annotations, hasIpv6, network, userNamespace, machine } = placement;
  const namespaces = namespacesOf(task);
  const own = NAMESPACES.filter((type) => namespaces[type] !== "host");
  return {
    bundle: rootfs,
    config: {
      ociVersion: "1.2.0",
      process: {
        args: [program],
        cwd: "/",
        user: { uid: NOBODY, gid: NOBODY },
        noNewPrivileges: true,
        oomScoreAdj: 0,
      },
      root: { path: rootfs, readonly: true },
      ...(userNamespace === undefined && machine === undefined ? {} : { mounts: [OWN_DEV] }),
      ...(namespaces.uts === "shared" ? { hostname: task.name } : {}),
      linux: {
        namespaces: ["mount", "cgroup", ...own].map((type) =>
          type === "network" && network !== undefined ? { type, path: network } : { type },
        ),
        ...sysctlsOf(task, namespaces.network === "shared" && hasIpv6),
        resources: { devices: [{ allow: false, access: "rwm" }] },
      },
    },
    ...(userNamespace === undefined ? {} : { userNamespace }),
    annotations: machine === undefined ? annotations : { ...annotations, ...sandboxAnnotations(task, machine) },
    cgroupParent,
  };
}

function sysctlsOf({ sysctls = {} }: TaskSpec, asksForIpv6: boolean): { readonly sysctl?: Readonly<Record<string, string>> } {
  const sysctl = { ...(asksForIpv6 ? { "net.ipv6.conf.all.disable_ipv6": "0" } : {}), ...sysctls };
  return Object.keys(sysctl).length === 0 ? {} : { sysctl };
}
