/**
 * runt in a PID namespace of its own, on v2, and a process from outside in the container's cgroup: cgroup.procs lists it as 0, which kill(2) takes for
 * the caller's own process group.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isUnified } from "../support/cgroups.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";

const UNIFIED = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].find((path) => existsSync(`${path}/cgroup.subtree_control`));

describe.skipIf(!isRoot || !isRunt || UNIFIED === undefined)("a process without a number (needs root and a cgroup2 mount)", () => {
  const { bundle, directory, id, root } = useHarness();

  /** `inside`: lines of a shell in the nested PID namespace, when the container runs and the stranger is in its cgroup, which is $CGROUP. */
  async function nested(inside: string, place: string, before = "") {
    const name = id();
    const path = bundle((config) => {
      shell(config, "sleep 1000");
      config.linux.cgroupsPath = place;
    });
    const [ready, entered] = [join(directory, `ready-${name}`), join(directory, `entered-${name}`)];
    const script = join(directory, `${name}.sh`);
    writeFileSync(
      script,
      `RUNT='${RUNTIME} --root ${root}'; NAME=${name}; CGROUP=/sys/fs/cgroup${place}
$RUNT run -d -b ${path} ${name} </dev/null >/dev/null 2>&1
touch ${ready}; while [ ! -e ${entered} ]; do sleep 0.02; done
grep -c '^0$' $CGROUP/cgroup.procs
${inside}
$RUNT delete --force ${name}; echo deleted $?
`,
    );
    const lines = `${isUnified ? "" : "mount -t cgroup2 none /sys/fs/cgroup"}
${before}
sleep 1000 & stranger=$!
unshare --pid --fork --mount-proc sh ${script} & shell=$!
while [ ! -e ${ready} ]; do sleep 0.02; done
echo $stranger >/sys/fs/cgroup${place}/cgroup.procs; touch ${entered}
wait $shell
kill -0 $stranger 2>/dev/null && echo stranger lives
kill $stranger 2>/dev/null; wait $stranger 2>/dev/null
${RUNTIME} --root ${root} gc --yes >/dev/null
`;
    // A process group of its own: what is asked is whether it survives.
    const { stdout, stderr } = await call(directory, ["setsid", "--wait", "unshare", "-m", "sh", "-c", lines]);
    return { stdout: stdout.replaceAll(name, "ID"), stderr: stderr.replaceAll(name, "ID") };
  }

  test("kill --all and ps leave it out and say so, and the caller's process group survives", async () => {
    const place = `${CGROUP_PARENT}/nested`;
    expect(await nested("$RUNT kill --all $NAME USR1; echo survived $?; $RUNT ps -f json $NAME | grep -cw 0", place)).toEqual({
      stdout: "1\nsurvived 0\n0\ndeleted 0\nstranger lives\n",
      stderr:
        "runt: warning: container ID: in its cgroup, and left alone: 1 that cannot be seen from this PID namespace\n" +
        "runt: warning: container ID: processes that cannot be seen from this PID namespace: 1\n" +
        "runt: warning: container ID: in its cgroup, and left alone: 1 that cannot be seen from this PID namespace\n",
    });
  });

  test("in a cgroup that was there before it lives on, and delete --force says so", async () => {
    const place = `${CGROUP_PARENT}/nested-kept`;
    const said = "runt: warning: container ID: in its cgroup, and left alone: 1 that cannot be seen from this PID namespace\n";
    expect(await nested("", place, `mkdir -p /sys/fs/cgroup${place}`)).toEqual({ stdout: "1\ndeleted 0\nstranger lives\n", stderr: said });
    const { status } = await call(directory, ["rmdir", `${UNIFIED}${place}`, `${UNIFIED}${CGROUP_PARENT}`]);
    expect(status).toBe(0);
  });
});
