/** PER, what is about linux.memoryPolicy. */
import { program } from "../../support/programs.ts";
import * as assert from "../assert.ts";
import type { Change, Context } from "../context.ts";
import type { Levels } from "../group.ts";

const BASE = "/linux/memoryPolicy";

const memoryPolicy =
  (fields: object | undefined): Change =>
  (config) =>
    void Object.assign(config.linux, { memoryPolicy: fields });

/** As numa_maps tells it (proc_pid_numa_maps(5)): "bind=static:0". The caller of the runtime prefers node 0. */
async function seen(c: Context, fields: object | undefined): Promise<string> {
  const bundle = c.bundle((config) => {
    memoryPolicy(fields)(config);
    config.process.args = ["/bin/cat", "/proc/self/numa_maps"];
  });
  const script = `exec ${program("with-policy")} "$@"`;
  const { status, stdout, stderr } = await c.shell(script, ["run", "--bundle", bundle, c.container(bundle).id]);
  assert.equal(status, 0, stderr);
  return /^[0-9a-f]+ (.*?) (file|heap|stack|anon)/m.exec(stdout)?.[1] ?? "";
}

export const memoryPolicyItems = ({ must }: Levels): void => {
  must(
    12,
    "the mode is one of seven, and holds for the program; another or a missing mode is refused",
    async (c) => {
      assert.equal(await seen(c, undefined), "prefer:0");
      const rows: readonly (readonly [mode: string, nodes: string | undefined, text: string])[] = [
        ["DEFAULT", undefined, "default"],
        ["BIND", "0", "bind:0"],
        ["INTERLEAVE", "0", "interleave:0"],
        ["WEIGHTED_INTERLEAVE", "0", "weighted interleave:0"],
        ["PREFERRED", "0", "prefer:0"],
        ["PREFERRED", undefined, "local"],
        ["PREFERRED_MANY", "0", "prefer (many):0"],
        ["LOCAL", undefined, "local"],
      ];
      for (const [mode, nodes, text] of rows) assert.equal(await seen(c, { mode: `MPOL_${mode}`, nodes }), text, mode);
      for (const mode of ["MPOL_MAX", "BIND", "mpol_bind", ""]) await c.refused(memoryPolicy({ mode, nodes: "0" }), `${BASE}/mode`);
      await c.refused(memoryPolicy({ nodes: "0" }), `${BASE}/mode`);
    },
    { needs: ["numa"] },
  );
  must(
    13,
    "nodes are a list; MPOL_DEFAULT and MPOL_LOCAL do not have it, and the other modes need it",
    async (c) => {
      for (const nodes of ["0", "0-0", "0,0"]) assert.equal(await seen(c, { mode: "MPOL_BIND", nodes }), "bind:0", nodes);
      for (const nodes of ["a", "1-0", "0-", "-1", "0 1"]) await c.refused(memoryPolicy({ mode: "MPOL_BIND", nodes }), `${BASE}/nodes`);
      for (const mode of ["MPOL_BIND", "MPOL_INTERLEAVE"])
        for (const nodes of [undefined, ""]) await c.refused(memoryPolicy({ mode, nodes }), `${BASE}/nodes`);
      for (const mode of ["MPOL_DEFAULT", "MPOL_LOCAL"]) {
        await c.refused(memoryPolicy({ mode, nodes: "0" }), `${BASE}/nodes`);
        assert.equal(await seen(c, { mode, nodes: "" }), mode === "MPOL_LOCAL" ? "local" : "default");
      }
      // The kernel has no such node.
      await c.refused(memoryPolicy({ mode: "MPOL_BIND", nodes: "1000" }), /^\/linux\/memoryPolicy/);
    },
    { needs: ["numa"] },
  );
  must(
    14,
    "three flags change the meaning of nodes; other flags, and flags that exclude each other, are refused",
    async (c) => {
      const bound = (...flags: readonly string[]) => ({ mode: "MPOL_BIND", nodes: "0", flags: flags.map((flag) => `MPOL_F_${flag}`) });
      assert.equal(await seen(c, bound("STATIC_NODES")), "bind=static:0");
      assert.equal(await seen(c, bound("RELATIVE_NODES")), "bind=relative:0");
      // Before Linux 6.9 numa_maps did not tell.
      assert.match(await seen(c, bound("NUMA_BALANCING")), /^bind=(balancing)?:0$/);
      assert.match(await seen(c, bound("STATIC_NODES", "NUMA_BALANCING")), /^bind=static(\|balancing)?:0$/);
      const refused = (fields: object, index: number) => c.refused(memoryPolicy(fields), `${BASE}/flags/${index}`);
      for (const pair of [
        ["STATIC_NODES", "RELATIVE_NODES"],
        ["RELATIVE_NODES", "STATIC_NODES"],
      ])
        await refused(bound(...pair), 1);
      for (const flag of ["ZEROED", ""]) await refused(bound(flag), 0);
      await refused({ ...bound("NUMA_BALANCING"), mode: "MPOL_INTERLEAVE" }, 0);
    },
    { needs: ["numa"] },
  );
};
