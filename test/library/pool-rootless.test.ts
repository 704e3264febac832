/** Pools of a user without root: with its one id, and with subordinate ids; without a cgroup, and then limits are refused by name. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";
import { isRoot, RUNT, useExecutors } from "./support.ts";

const UID = 54_321;
const GID = 54_322;
const SUBORDINATE = 3_000_000;
/** The user has to be able to read this tree. */
const isReadable =
  isRoot &&
  spawnSync("setpriv", [`--reuid=${UID}`, `--regid=${GID}`, "--clear-groups", "test", "-r", join(REPOSITORY, "package.json")]).status === 0;

describe.skipIf(!isReadable)("a pool of a user without root (needs root, to become one)", () => {
  const { directory, rootfs } = useExecutors();
  let count = 0;

  /** What a script says, as the user. `pool` opens one with these options of the sandbox, and `say` adds to the answer. */
  function asUser(script: string): unknown {
    const own = join(directory, `user-${++count}`);
    mkdirSync(own);
    execFileSync("chown", [`${UID}:${GID}`, own]);
    const file = join(directory, `script-${count}.mts`);
    writeFileSync(
      file,
      `import { Pool, sandbox } from ${JSON.stringify(join(REPOSITORY, "src/executor/index.ts"))};
const said: unknown[] = [];
const say = (value: unknown) => said.push(value);
const why = (error: { code: string; message: string }) => say(error.code + ": " + error.message);
const shell = (text: string) => ({ cmd: "/bin/sh", args: ["-c", text] });
const open = (options: object) => Pool.open({ template: sandbox({ rootfs: ${JSON.stringify(rootfs())}, ...options }), size: 2, stateDir: ${JSON.stringify(join(own, "pool"))}, binary: ${JSON.stringify(RUNT)} });
${script}
console.log(JSON.stringify(said));
`,
    );
    chmodSync(file, 0o644);
    // newuidmap(1) knows users of passwd only.
    const [subordinate, passwd] = [join(directory, "subordinate"), join(directory, "passwd")];
    writeFileSync(subordinate, `${UID}:${SUBORDINATE}:65536\n`);
    writeFileSync(passwd, `${readFileSync("/etc/passwd", "utf8")}runt-test:x:${UID}:${GID}::/:/bin/sh\n`);
    for (const path of [subordinate, passwd]) chmodSync(path, 0o644);
    const binds = `for f in /etc/subuid /etc/subgid; do mount --bind ${subordinate} $f; done; mount --bind ${passwd} /etc/passwd`;
    const become = `${binds}; exec setpriv --reuid=${UID} --regid=${GID} --clear-groups "$@"`;
    const words = ["--mount", "--propagation", "private", "sh", "-c", become, "sh", process.execPath, "--import", "tsx", file];
    const text = execFileSync("unshare", words, { cwd: REPOSITORY, encoding: "utf8", env: { ...process.env, HOME: own, TMPDIR: own } });
    return JSON.parse(text);
  }

  test("without a cgroup: it runs programs as its one id, they end at their deadline, and limits are refused by name", () => {
    const said = asUser(`
try { await open({}); } catch (error) { why(error); }
try { await open({ cgroupParent: null, memory: 1 << 25 }); } catch (error) { why(error); }
const pool = await open({ cgroupParent: null });
say((await pool.run(shell("id -u; cat /proc/self/uid_map /proc/self/gid_map; touch /x || grep -E '^(CapEff|Seccomp|NoNewPrivs)' /proc/self/status"))).stdout.toString());
say((await pool.run({ ...shell("sleep 1000 & sleep 1000"), deadlineMs: 300 })).endedBy);
const box = await pool.take(shell("while [ ! -e /tmp/go ]; do sleep 0.05; done; cat /tmp/go"));
await box.write("/tmp/go", "given");
say((await box.collect(100)).stdout.toString());
try { await pool.take({ ...shell("true"), resources: { pids: 5 } }); } catch (error) { why(error); }
try { await open({ cgroupParent: null, network: "outbound" }); } catch (error) { why(error); }
await pool.close();
`) as string[];
    expect(said[0]).toMatch(
      /^invalid-argument: cgroupParent: limits of memory, cpus and pids need a cgroup that is delegated to this user/,
    );
    expect(said[1]).toBe("invalid-argument: memory: needs a cgroup, and cgroupParent is null");
    expect(said[2]).toMatch(new RegExp(`^0\\n +0 +${UID} +1\\n +0 +${GID} +1\\nNoNewPrivs:\\t1\\nSeccomp:\\t2\\n|CapEff:\\t0{16}`));
    expect(said.slice(3, 5)).toEqual(["deadline", "given"]);
    expect(said[5]).toMatch(/^invalid-argument: resources.pids: /);
    expect(said[6]).toMatch(/^invalid-argument: network: outbound needs root: /);
  });

  test.skipIf(!existsSync("/usr/bin/newuidmap"))(
    "with subordinate ids: its programs are nobody of the host, and not the user itself",
    () => {
      const said = asUser(`
const pool = await open({ cgroupParent: null, firstId: ${SUBORDINATE} });
const { stdout, stderr, exitCode } = await pool.run({ ...shell("id -u; cat /proc/self/uid_map; cat; cat /tmp/given"), stdin: "input ", files: { "/tmp/given": "file" } });
say([stdout.toString(), stderr.toString(), exitCode]);
await pool.close();
`) as [string, string, number][];
      expect(said[0]).toEqual([expect.stringMatching(new RegExp(`^65534\\n +0 +${SUBORDINATE} +65536\\ninput file$`)), "", 0]);
    },
  );
});
