import * as assert from "../assert.ts";
import type { Change, Context } from "../context.ts";
import { group, type Levels } from "../group.ts";
import { memoryPolicyItems } from "./memory-policy.ts";
import { resctrlItems } from "./resctrl.ts";

const personality =
  (fields: object | undefined): Change =>
  (config) =>
    void Object.assign(config.linux, { personality: fields });

/** The program's personality when the runtime's caller has the other domain itself. */
async function machine(c: Context, fields: object | undefined, caller: "linux32" | "linux64"): Promise<string> {
  const bundle = c.bundle((config) => {
    personality(fields)(config);
    config.process.args = ["/bin/sh", "-c", "cat /proc/self/personality; uname -m"];
  });
  const { status, stdout, stderr } = await c.shell(`exec setarch ${caller} "$@"`, ["run", "--bundle", bundle, c.container(bundle).id]);
  assert.equal(status, 0, stderr);
  return stdout;
}

const personalityItems = ({ must }: Levels): void => {
  must(1, "the domain is LINUX or LINUX32, and LINUX32 shows a 32-bit machine; others are refused", async (c) => {
    const [wide, narrow] = [await machine(c, undefined, "linux64"), await machine(c, undefined, "linux32")];
    assert.match(wide, /^00000000\n/);
    assert.match(narrow, /^00000008\n/);
    assert.equal(await machine(c, { domain: "LINUX32" }, "linux64"), narrow);
    assert.equal(await machine(c, { domain: "LINUX" }, "linux32"), wide);
    for (const domain of ["LINUX64", "PER_LINUX", "linux", ""]) await c.refused(personality({ domain }), "/linux/personality/domain");
    await c.refused(personality({}), "/linux/personality/domain");
  });
  must(2, "no flag is supported, and a requested flag is an error", async (c) => {
    for (const flag of ["ADDR_NO_RANDOMIZE", "SHORT_INODE", ""])
      await c.refused(personality({ domain: "LINUX", flags: [flag] }), "/linux/personality/flags/0");
    const container = await c.create(personality({ domain: "LINUX32", flags: [] }));
    assert.equal((await container.proc("personality")).trim(), "00000008");
  });
};

export const execution = group("PER", "personality, intelRdt, memoryPolicy", (levels) => {
  personalityItems(levels);
  resctrlItems(levels);
  memoryPolicyItems(levels);
});
