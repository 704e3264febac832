/** Security contexts: what a container may do is read from the kernel, or tried. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Scenario } from "../scenario.ts";
import { type ContainerOptions, criScenario, type Node } from "./cri-pod.ts";

const DEFAULT = 0;
const UNCONFINED = 1;
const LOCALHOST = 2;
/** Bits of the capability sets: what CRI gives by default, and of it without CHOWN and with SYS_TIME. */
const CAPABILITIES = 0xa80425fbn;
const CHOWN = 1n << 0n;
const SYS_TIME = 1n << 25n;
const NET_BIND_SERVICE = 1n << 10n;

/** The output of a script under this security context. */
async function under(node: Node, security: NonNullable<ContainerOptions["security"]>, script: string): Promise<string> {
  const pod = node.pods[0] ?? (await node.pod());
  const { namespaces } = { namespaces: { pid: 1 } };
  return (await pod.output(script, { security: { namespaces, ...security } })).trimEnd();
}

const hex = (set: bigint): string => set.toString(16).padStart(16, "0");
const SETS = "grep -E 'Cap(Prm|Eff|Bnd)' /proc/self/status | cut -f 2";
const three = (set: bigint): string => [set, set, set].map(hex).join("\n");

export const securityScenarios: readonly Scenario[] = [
  criScenario("security: user and groups", async (node) => {
    assert.equal(await under(node, { user: { value: 1234 } }, "id -u; id -g"), "1234\n0");
    assert.equal(await under(node, { user: { value: 1234 }, group: { value: 567 } }, "id -u; id -g"), "1234\n567");
    assert.equal(await under(node, { username: "user" }, "id -un; id -g; echo $HOME"), "user\n1000\n/home/user");
    assert.match(
      await under(node, { user: { value: 1000 }, supplementalGroups: [3000, 4000] }, "grep Groups /proc/self/status"),
      /3000 4000/,
    );
  }),
  criScenario("security: exec has the container's user and groups", async (node) => {
    const container = await (await node.pod()).start(undefined, {
      security: { namespaces: { pid: 1 }, user: { value: 1234 }, group: { value: 567 }, supplementalGroups: [3000] },
    });
    assert.match(await container.shell("id -u; id -g; id -G"), /^1234\n567\n.*\b3000\b/);
  }),
  criScenario("security: capabilities", async (node) => {
    assert.equal(await under(node, {}, SETS), three(CAPABILITIES));
    assert.equal(
      await under(node, { capabilities: { add: ["SYS_TIME"], drop: ["CHOWN"] } }, SETS),
      three((CAPABILITIES | SYS_TIME) & ~CHOWN),
    );
    assert.equal(await under(node, { capabilities: { drop: ["ALL"] } }, SETS), three(0n));
    assert.equal(await under(node, { capabilities: { add: ["NET_BIND_SERVICE"], drop: ["ALL"] } }, SETS), three(NET_BIND_SERVICE));
    assert.equal(await under(node, { user: { value: 1000 } }, SETS), [0n, 0n, CAPABILITIES].map(hex).join("\n"));
  }),
  criScenario("security: read-only root", async (node) => {
    const text = await under(
      node,
      { readonlyRootfs: true },
      "touch /x 2>&1; touch /dev/shm/x && echo shm; grep ' / ' /proc/self/mountinfo",
    );
    assert.match(text, /Read-only file system\nshm\n.* \/ ro\b/);
  }),
  criScenario("security: no new privileges", async (node) => {
    const script = "grep NoNewPrivs /proc/self/status | cut -f 2";
    assert.equal(await under(node, { noNewPrivileges: true }, script), "1");
    assert.equal(await under(node, {}, script), "0");
  }),
  criScenario("security: seccomp", async (node) => {
    const script = "grep Seccomp: /proc/self/status | cut -f 2; mkdir /tmp/d && echo made; unshare -m true 2>&1";
    assert.match(await under(node, { seccomp: { type: DEFAULT } }, script), /^2\nmade\n.*Operation not permitted/);
    assert.match(await under(node, { seccomp: { type: UNCONFINED } }, script), /^0\nmade\n/);
    const profile = join(node.directory, "profile.json");
    writeFileSync(
      profile,
      JSON.stringify({ defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO" }] }),
    );
    assert.match(
      await under(node, { seccomp: { type: LOCALHOST, localhostRef: profile } }, script),
      /^2\nmkdir: .*Operation not permitted/,
    );
  }),
  criScenario("security: masked and read-only paths", async (node) => {
    const script = "head -c 1 /proc/timer_list | wc -c; ls /proc/fs | wc -l; echo x > /proc/sys/kernel/domainname";
    const text = await under(
      node,
      { maskedPaths: ["/proc/timer_list", "/proc/fs", "/proc/no-such-file"], readonlyPaths: ["/proc/sys", "/proc/no-such-file"] },
      script,
    );
    assert.match(text, /^0\n0\n.*Read-only file system/);
  }),
  criScenario("security: the container sees its own cgroup only to read", async (node) => {
    const text = await under(node, {}, "ls -d /sys/fs/cgroup/memory/tasks; echo 1 > /sys/fs/cgroup/memory/memory.limit_in_bytes");
    assert.match(text, /^\/sys\/fs\/cgroup\/memory\/tasks\n.*Read-only file system/);
  }),
];
