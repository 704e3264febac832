import { execFileSync } from "node:child_process";
import { join } from "node:path";
import * as assert from "../assert.ts";
import { isUnified } from "../cgroups.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";
import { startUnified } from "../unified.ts";
import { limits, update } from "./resources.ts";

const DENY_ALL = { allow: false, access: "rwm" };

/** Nodes of numbers that no driver has: opening one ends with ENXIO where the rules let it through, with EPERM where they do not. */
const FREE = [
  ["first", 240, 1],
  ["second", 241, 1],
] as const;
const FIRST = { type: "c", major: 240, minor: 1 };

function withNodes(c: Context): string {
  const tree = c.scratch("nodes");
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", tree]);
  c.cleanup(() => void execFileSync("umount", ["-l", tree]));
  for (const [name, major, minor] of FREE) execFileSync("mknod", ["-m", "666", join(tree, name), "c", String(major), String(minor)]);
  return tree;
}

const ASK = (mode: string) =>
  `for n in first second; do case "$( (exec 3${mode}/mnt/$n) 2>&1)" in *"not permitted"*) echo no ;; *"No such device"*) echo yes ;; *) echo odd ;; esac; done`;

/** Ends when one of its loops could not open the device. One alone may not run in the moment that matters. */
const OPENING_ALWAYS = `trap 'exit 1' TERM
for i in 1 2 3 4; do (while echo >/dev/null </dev/null; do :; done; kill $$) & done; wait`;

/** How opening each node for reading (or writing) ends under these rules: "yes" or "no". */
async function opens(c: Context, rules: readonly object[], mode = "<"): Promise<string> {
  const source = withNodes(c);
  return c.output(ASK(mode), (config) => {
    config.mounts.push({ destination: "/mnt", type: "none", source, options: ["bind", "dev"] });
    limits({ devices: rules })(config);
  });
}

export const devicesAllowed = group("RES", "resources: devices", ({ must, should, may }) => {
  must(1, "rules apply in their order", async (c) => {
    assert.equal(await opens(c, [DENY_ALL, { allow: true, ...FIRST, access: "r" }]), "yes\nno\n");
    assert.equal(await opens(c, [DENY_ALL, { allow: true, ...FIRST, access: "r" }, { allow: false, ...FIRST, access: "r" }]), "no\nno\n");
  });
  must(2, "allow is required; the type is a by default, and a, b and c are known", async (c) => {
    await c.refused(limits({ devices: [{ access: "rwm" }] }), /^\/linux\/resources\/devices\/0/);
    await c.refused(limits({ devices: [{ allow: true, type: "x", access: "rwm" }] }), /^\/linux\/resources\/devices\/0/);
    assert.equal(
      await opens(c, [
        { allow: false, access: "rwm" },
        { allow: true, type: "a", access: "rwm" },
      ]),
      "yes\nyes\n",
    );
    await c.refused(limits({ devices: [DENY_ALL, { allow: true, type: "u", access: "r" }] }), /^\/linux\/resources\/devices\/1/);
    const container = await c.create(limits({ devices: [DENY_ALL, { allow: true, type: "b", major: 7, minor: 0, access: "r" }] }));
    if (!isUnified()) assert.match(await container.limit("devices", "devices.list"), /^b 7:0 r$/m);
  });
  must(3, "missing numbers, or -1, mean all", async (c) => {
    assert.equal(await opens(c, [DENY_ALL, { allow: true, type: "c", major: 240, access: "r" }]), "yes\nno\n");
    assert.equal(await opens(c, [DENY_ALL, { allow: true, type: "c", major: -1, minor: -1, access: "r" }]), "yes\nyes\n");
    if (isUnified()) return;
    const container = await c.create(limits({ devices: [DENY_ALL, { allow: true, type: "c", major: 10, access: "rw" }] }));
    assert.match(await container.limit("devices", "devices.list"), /^c 10:\* rw$/m);
  });
  must(4, "access consists of r, w and m", async (c) => {
    assert.equal(await opens(c, [DENY_ALL, { allow: true, ...FIRST, access: "w" }]), "no\nno\n");
    assert.equal(await opens(c, [DENY_ALL, { allow: true, ...FIRST, access: "w" }], ">"), "yes\nno\n");
    await c.refused(limits({ devices: [{ allow: true, type: "c", access: "x" }] }), /^\/linux\/resources\/devices\/0/);
  });
  may(5, "access may be absent: a rule without it has no effect or means all access", async (c) => {
    assert.match(await opens(c, [DENY_ALL, { allow: true, ...FIRST }]), /^(yes|no)\nno\n$/);
  });
  must(6, "cgroup v2: the rules hold, and an update of other limits leaves them in force", async (c) => {
    const source = withNodes(c);
    const container = await startUnified(c, (config) => {
      config.mounts.push({ destination: "/mnt", type: "none", source, options: ["bind", "dev"] });
      limits({ devices: [DENY_ALL, { allow: true, ...FIRST, access: "r" }] })(config);
    });
    const seen = () => container.exec(ASK("<"));
    assert.equal(await seen(), "yes\nno\n");
    await update(container, isUnified() ? { pids: { limit: 50 } } : { unified: { "cgroup.max.depth": "5" } });
    assert.equal(await seen(), "yes\nno\n");
    await container.delete("--force");
  });
  should(7, "during an update of other limits, an allowed device can always be opened", async (c) => {
    const container = await c.start((config) => {
      config.process.args = ["/bin/sh", "-c", OPENING_ALWAYS];
      limits({ devices: [DENY_ALL, { allow: true, type: "c", major: 1, minor: 3, access: "rw" }] })(config);
    });
    for (let limit = 50; limit < 70; limit++) await update(container, { pids: { limit } });
    assert.equal((await container.state()).status, "running");
    await container.delete("--force");
  });
});
