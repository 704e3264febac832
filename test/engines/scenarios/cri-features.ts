/** What containerd offers since version 2.0, if the runtime's `features` says that it can. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Scenario } from "../scenario.ts";
import { criScenario, type Node, OF_NODE, OF_POD, SLEEP } from "./cri-pod.ts";

const FIRST_ID = 300_000;
const IDS = 65_536;
const MAPPING = [{ hostId: FIRST_ID, containerId: 0, length: IDS }];
/** The namespace is the pod's own. */
const MAPPED = { namespaces: { network: OF_POD, pid: 1, ipc: OF_POD, users: { mode: OF_POD, uids: MAPPING, gids: MAPPING } } };

/** A directory of the host with a mount below it. */
async function withMountBelow(node: Node, body: (directory: string) => Promise<void>): Promise<void> {
  const directory = join(node.directory, "source");
  const below = join(directory, "below");
  mkdirSync(below, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "below", below]);
  try {
    await body(directory);
  } finally {
    execFileSync("umount", [below]);
  }
}

export const podFeatures: readonly Scenario[] = [
  criScenario("features: recursive read-only mounts and user namespaces are offered", async (node) => {
    const { handlers } = await node.cri.call("Status", {});
    assert.deepEqual(handlers.find(({ name }) => name === "")?.features, { recursiveReadOnlyMounts: true, userNamespaces: true });
  }),
  criScenario("mounts: recursively read-only", async (node) => {
    await withMountBelow(node, async (hostPath) => {
      const mount = { hostPath, readonly: true };
      const container = await (await node.pod()).start(SLEEP, {
        config: {
          mounts: [
            { ...mount, containerPath: "/plain" },
            { ...mount, containerPath: "/deep", recursiveReadOnly: true },
          ],
        },
      });
      await container.shell("touch /plain/below/made");
      assert.match((await container.exec("touch", "/deep/below/x")).stderr, /Read-only file system/);
      await container.shell("test -e /deep/below/made");
    });
  }),
  criScenario("pod with a user namespace", async (node) => {
    const pod = await node.pod({ security: MAPPED });
    const [first, second] = [await pod.start(), await pod.start()];
    assert.match(await first.shell("cat /proc/self/uid_map"), new RegExp(`^\\s*0\\s+${FIRST_ID}\\s+${IDS}$`));
    const script = "readlink /proc/self/ns/user";
    assert.equal(await first.shell(script), await second.shell(script));
    assert.equal(execFileSync("stat", ["-c", "%u", `/proc/${await first.pid()}`], { encoding: "utf8" }), `${FIRST_ID}\n`);
    // The image's files are the mapped root's, by an idmapped mount.
    assert.equal(await first.shell("stat -c %u /bin/busybox; touch /made; stat -c %u /made; hostname"), `0\n0\n${pod.config.hostname}`);
  }),
  criScenario("pod with a user namespace: volumes keep their owners", async (node) => {
    const hostPath = join(node.directory, "volume");
    mkdirSync(hostPath);
    const pod = await node.pod({ security: MAPPED });
    const mount = { hostPath, containerPath: "/volume", uidMappings: MAPPING, gidMappings: MAPPING };
    const container = await pod.start(SLEEP, { config: { mounts: [mount] } });
    await container.shell("touch /volume/made");
    assert.equal(execFileSync("stat", ["-c", "%u", join(hostPath, "made")], { encoding: "utf8" }), "0\n");
  }),
  criScenario("pod with a user namespace: its root has no rights outside", async (node) => {
    const pod = await node.pod({ security: MAPPED });
    const container = await pod.start(SLEEP, { security: { ...MAPPED, capabilities: { add: ["SYS_ADMIN", "SYS_TIME"] } } });
    // busybox goes on with what it could not do.
    assert.match((await container.exec("date", "-s", "2020-01-01")).stderr, /can't set date: Operation not permitted/);
    assert.match((await container.exec("sh", "-c", "echo x > /proc/sys/kernel/core_pattern")).stderr, /can't create/);
    const pid = await container.pid();
    assert.equal(readFileSync(`/proc/${pid}/status`, "utf8").match(/^Uid:\s+(\d+)/m)?.[1], String(FIRST_ID));
  }),
  criScenario("pod with a user namespace beside one of the host's", async (node) => {
    const [mapped, plain] = [await node.pod({ security: MAPPED }), await node.pod()];
    const hosts = { security: { namespaces: { network: OF_NODE, pid: 1, ipc: OF_POD } }, config: { hostname: "" } };
    const third = await node.pod(hosts);
    const links = [];
    for (const pod of [mapped, plain, third]) links.push(await (await pod.start()).shell("readlink /proc/self/ns/user"));
    assert.notEqual(links[0], links[1]);
    assert.equal(links[1], links[2]);
  }),
];
