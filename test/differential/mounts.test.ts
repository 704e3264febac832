/** Mounts with crun's and runc's words: what a program sees must be what it sees under the peers that know the word. */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { peerCommand } from "../support/crun.ts";
import { call, isRoot, RUNTIME, shell, useHarness } from "../support/harness.ts";

const PEERS: Readonly<Record<string, string>> = { runc: "/usr/sbin/runc", crun: "/usr/bin/crun" };
const LOOK =
  "stat -c '%n %u %g' /mnt /mnt/zero /mnt/thousand /mnt/below; grep -o ' /mnt.*' /proc/self/mountinfo | sed 's/ - .*//'; touch /mnt/new 2>&1; true";

describe.skipIf(!isRoot)("mounts beside the peers (needs root)", () => {
  const { bundle, directory, id } = useHarness({ peers: true });
  const source = join(directory, "source");
  const rootfs = join(directory, "own-rootfs");

  beforeAll(() => {
    mkdirSync(join(source, "below"), { recursive: true });
    chmodSync(source, 0o777);
    writeFileSync(join(source, "zero"), "");
    writeFileSync(join(source, "thousand"), "");
    chownSync(join(source, "thousand"), 1000, 1000);
  });

  const userNamespace = (config: Config): void => {
    config.linux.namespaces.push({ type: "user" });
    config.linux.uidMappings = config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
    config.mounts = config.mounts.filter(({ type }) => type !== "cgroup");
  };

  /** What the program prints under one runtime; the host has a tmpfs on the directory below the source. */
  async function observe(runtime: string, options: readonly string[], change: (config: Config) => void) {
    execFileSync("rm", ["-rf", rootfs]);
    const path = bundle((config) => {
      execFileSync("cp", ["-ax", config.root.path, rootfs]);
      execFileSync("chown", ["-hR", "100000:100000", rootfs]);
      config.root = { path: rootfs };
      change(config);
      config.mounts.push({ destination: "/mnt", type: "bind", source, options: [...options] });
      shell(config, LOOK);
    });
    const command = peerCommand(runtime, ["--root", join(directory, "peer"), "run", "-b", path, id()]);
    const script = `mount --make-rprivate / && mount -t tmpfs none ${join(source, "below")} && exec "$@"`;
    const { status, stdout, stderr } = await call(directory, ["unshare", "-m", "sh", "-c", script, "sh", ...command]);
    return { status, stdout, stderr };
  }

  const cases: readonly (readonly [string, readonly string[], readonly string[], (config: Config) => void])[] = [
    ["crun's idmap", ["crun"], ["bind", "idmap"], userNamespace],
    ["idmap with ranges", ["crun"], ["bind", "idmap=uids=0-100005-10#1000-100020-1;gids=0-100006-2000"], userNamespace],
    ["idmap with relative ranges", ["crun"], ["bind", "idmap=uids=@0-5-10#@1000-20-1;gids=@0-6-2000"], userNamespace],
    ["a recursive bind", ["runc", "crun"], ["rbind"], () => {}],
    ["recursive words", ["runc", "crun"], ["rbind", "rro", "rnosuid", "rnodev", "rnoexec"], () => {}],
    ["a recursive access time", ["runc"], ["rbind", "rnoatime"], () => {}],
    ["words of the mount alone", ["runc", "crun"], ["rbind", "ro", "nosuid", "nodev", "noexec", "noatime"], () => {}],
    ["a user namespace", ["runc"], ["rbind", "ro", "nosuid"], userNamespace],
    ["propagation", ["runc", "crun"], ["rbind", "rslave"], () => {}],
  ];
  for (const [name, peers, options, change] of cases)
    for (const peer of peers)
      test.skipIf(!existsSync(PEERS[peer]!))(`${name}: as ${peer}`, async () => {
        const own = await observe(RUNTIME, options, change);
        expect(own.status).toBe(0);
        const { status, stdout } = await observe(PEERS[peer]!, options, change);
        expect({ status: own.status, stdout: own.stdout }).toEqual({ status, stdout });
      });
});
