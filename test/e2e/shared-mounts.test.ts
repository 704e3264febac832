/** A container without a mount namespace of its own mounts in the caller's: all of it is undone, and nothing that is not its own. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, SLOW, shell, useHarness } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

const REFUSE = join(REPOSITORY, "build/test/refuse");

/** Moments at which a create is killed. */
const ROUNDS = 24;

describe.skipIf(!isRoot || !isRunt)("mounts in the caller's mount namespace (needs root)", () => {
  const { bundle, directory, id, ok, root, rootfs, runtime } = useHarness();

  /** Without a mount namespace; the mounts stay those of the sample, the root is read-only where nothing else is said. */
  const shared = (change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "mount");
      delete config.linux["maskedPaths"];
      delete config.linux["readonlyPaths"];
      shell(config, "exec sleep 60");
      change(config);
    });

  /** Without mounts the device nodes are made in the root file system itself: it is one of its own. */
  const unmounted = (readonly: boolean, command: string) =>
    shared((config) => {
      const own = join(directory, `own-${++count}`);
      execFileSync("cp", ["-ax", rootfs(), own]);
      config.mounts = [];
      config.root = { path: own, readonly };
      shell(config, command);
    });
  let count = 0;

  /**
   * In a mount namespace that is all private or all shared, where $before has mountinfo: what this script prints. `left` prints what is
   * mounted now and was not at first, or the other way round.
   */
  async function inNamespace(script: string, propagation = "private"): Promise<string> {
    const text = `mount --make-r${propagation} / || exit 1
run="${RUNTIME} --root ${root}"
runt() { ${RUNTIME} --root ${root} "$@" </dev/null; }
sort /proc/self/mountinfo >${directory}/before
left() { sort /proc/self/mountinfo | diff ${directory}/before - | grep '^[<>]'; }
${script}`;
    const { stdout, stderr } = await call(directory, ["unshare", "-m", "sh", "-c", text]);
    return stdout + stderr;
  }

  describe.each(["private", "shared"])("in a %s mount namespace", (propagation) => {
    test("run in the foreground leaves nothing", async () => {
      const path = shared((config) => shell(config, "grep -c ' /proc ' /proc/self/mountinfo; cat /proc/self/stat >/dev/null && echo seen"));
      expect(await inNamespace(`runt run -b ${path} ${id()}; left`, propagation)).toMatch(/^\d+\nseen\n$/);
    });

    test("create, start, exec and delete leave nothing, and the record says which mount it is", async () => {
      const name = id();
      const script = `runt create -b ${shared()} ${name} >/dev/null; left | wc -l
sed -n 's|.*"rootMount":{"id":\\([0-9]*\\),.*|\\1|p' ${root}/${name}/state.json; echo
sed -n 's|^\\([0-9]*\\) [0-9]* [0-9:]* [^ ]* ${rootfs()} .*|\\1|p' /proc/self/mountinfo
runt start ${name}; runt exec ${name} /bin/sh -c 'test -e /proc/self/stat && echo inside'; runt delete -f ${name}; left`;
      const [count, recorded, mounted, ...rest] = (await inNamespace(script, propagation)).split("\n");
      expect(Number(count)).toBeGreaterThan(3);
      expect(recorded).toBe(mounted);
      expect(rest).toEqual(["inside", ""]);
    });

    test("a read-only root alone leaves nothing, and the mount below it keeps its peers", async () => {
      const path = unmounted(true, "touch /x 2>&1 | grep -o 'Read-only'");
      expect(await inNamespace(`runt run -b ${path} ${id()}; left`, propagation)).toBe("Read-only\n");
    });

    test("a create that fails leaves nothing", async () => {
      const path = shared((config) => {
        config.process.args = ["/not/there"];
      });
      const output = await inNamespace(`runt create -b ${path} ${id()}; left`, propagation);
      expect(output.trim().split("\n")).toEqual([expect.stringContaining("/not/there")]);
    });

    test("a create that is killed leaves nothing after delete --force", async () => {
      const [name, path] = [id(), shared()];
      const script = `for n in $(seq ${ROUNDS}); do
  $run create -b ${path} ${name} </dev/null >/dev/null & sleep $(awk "BEGIN { print $n * ${0.0007 * SLOW} }"); kill -9 $! 2>/dev/null; { wait $!; } 2>/dev/null
  left >>${directory}/seen; runt delete --force ${name}; left
done; wc -l <${directory}/seen`;
      const lines = (await inNamespace(script, propagation)).trim().split("\n");
      // Some of them were killed when there was something to undo.
      expect(lines).toEqual([expect.stringMatching(/^[1-9]\d*$/)]);
    });
  });

  test("gc undoes what a killed create has mounted", async () => {
    const name = id();
    // Only a create that is killed half-way is for gc: the record of one that had ended names a container.
    const path = shared((config) => {
      config["hooks"] = { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", `echo $PPID $$ >${directory}/runtime; exec sleep 60`] }] };
    });
    // While processes of the create are ending, gc leaves them and what they have.
    const script = `$run create -b ${path} ${name} </dev/null >/dev/null & create=$!; until test -s ${directory}/runtime; do sleep 0.02; done
kill -9 $(cat ${directory}/runtime); { wait $create; } 2>/dev/null; left | wc -l
until runt gc --yes | grep -q 'half-way'; do test $((tries += 1)) -lt 100 || break; sleep 0.1; done; left`;
    const [count, ...rest] = (await inNamespace(script)).split("\n");
    expect(Number(count)).toBeGreaterThan(0);
    expect(rest).toEqual([""]);
  });

  test("without mounts nothing is mounted, and the root is the root file system", async () => {
    const path = unmounted(false, "exec sleep 60");
    const name = id();
    const script = `runt run -d -b ${path} ${name} >/dev/null; left; runt exec ${name} /bin/sh -c 'echo /bin/s[h] /proc/[0-9]*'; runt delete -f ${name}; left`;
    expect(await inNamespace(script)).toBe("/bin/sh /proc/[0-9]*\n");
  });

  test("what others have mounted in the root before stays", async () => {
    const own = join(directory, "own-root");
    const script = `cp -ax ${rootfs()} ${own}; mkdir -p ${own}/data; mount -t tmpfs theirs ${own}/data; echo text >${own}/data/file
sort /proc/self/mountinfo >${directory}/before
runt run -b ${shared((config) => {
      config.root.path = own;
      shell(config, "cat /data/file");
    })} ${id()}; left; cat ${own}/data/file; umount ${own}/data; rm -r ${own}`;
    expect(await inNamespace(script)).toBe("text\ntext\n");
  });

  test("a mount of somebody else's in its place is not touched", async () => {
    const name = id();
    const script = `runt create -b ${shared()} ${name} >/dev/null; umount -l ${rootfs()}; mount --bind ${rootfs()} ${rootfs()}; runt delete -f ${name}; left | wc -l; umount ${rootfs()}; left`;
    expect(await inNamespace(script)).toBe("1\n");
  });

  test("a mount over the root is an error that keeps the record, and delete works when it is gone", async () => {
    const name = id();
    const script = `runt create -b ${shared()} ${name} >/dev/null; mount -t tmpfs over ${rootfs()}; runt delete -f ${name} 2>&1; umount ${rootfs()}; runt delete -f ${name}; left`;
    const place = rootfs();
    expect(await inNamespace(script)).toBe(
      `runt: container ${name}: its mounts in ${place} cannot be unmounted: something else is mounted over them (umount ${place}, then delete again)\n`,
    );
  });

  test("a root that was moved meanwhile is found", async () => {
    const own = join(directory, "moving-root");
    const name = id();
    const path = shared((config) => {
      config.root.path = `${own}/rootfs`;
    });
    const script = `mkdir ${own}; cp -ax ${rootfs()} ${own}/rootfs; runt create -b ${path} ${name} >/dev/null; mv ${own} ${own}-2; runt delete -f ${name}; left; rm -r ${own}-2`;
    expect(await inNamespace(script)).toBe("");
  });

  test("a hostile link in the place of the root leads to no mount of others", async () => {
    const [own, victim] = [join(directory, "linked-root"), join(directory, "victim")];
    const name = id();
    const path = shared((config) => {
      config.root.path = `${own}/rootfs`;
    });
    const script = `mkdir ${own} ${victim}; cp -ax ${rootfs()} ${own}/rootfs; mount -t tmpfs victim ${victim}; sort /proc/self/mountinfo >${directory}/before
runt create -b ${path} ${name} >/dev/null; mv ${own} ${own}-2; mkdir ${own}; ln -s ${victim} ${own}/rootfs; runt delete -f ${name}; left; umount ${victim}; rm -r ${own} ${own}-2 ${victim}`;
    expect(await inNamespace(script)).toBe("");
  });

  test("delete in another mount namespace says what it leaves", async () => {
    const name = id();
    const script = `runt create -b ${shared()} ${name} >/dev/null; unshare -m ${RUNTIME} --root ${root} delete -f ${name} 2>&1; left | wc -l; umount -l ${rootfs()}; left`;
    expect(await inNamespace(script)).toMatch(
      /^runt: warning: container \S+: what was mounted in \S+ is in another mount namespace \(mnt:\[\d+\]\), and was not unmounted\n[1-9]\d*\n$/,
    );
  });

  test.skipIf(!existsSync(REFUSE))("where the calls are refused that it needs, it is refused", async () => {
    const script = `${REFUSE} ENOSYS open_tree ${RUNTIME} --root ${root} run -b ${shared()} ${id()} 2>&1; left`;
    expect(await inNamespace(script)).toMatch(
      /^runt: mounts without a mount namespace of the container's own need open_tree\(2\).*\(add a mount namespace\)\n$/,
    );
  });

  test("plan shows it, and validate finds it", async () => {
    const path = shared();
    expect(await ok(["plan", "-b", path])).toMatch(/root\.bind +\S+\s+in\s+the\s+caller's\s+mount\s+namespace/);
    const { stdout } = await runtime(["validate", path]);
    expect(stdout).toContain("mounts-shared");
  });

  test("a bundle without `linux` is run as one without namespaces", async () => {
    const path = join(directory, "without-linux");
    mkdirSync(path);
    const config = {
      ociVersion: "1.2.0",
      root: { path: rootfs() },
      process: { args: ["/bin/echo", "text"], cwd: "/", user: { uid: 0, gid: 0 } },
      mounts: [
        { destination: "/proc", type: "proc", source: "proc" },
        { destination: "/dev", type: "tmpfs", source: "tmpfs" },
      ],
    };
    writeFileSync(join(path, "config.json"), JSON.stringify(config));
    expect(await inNamespace(`runt run -b ${path} ${id()}; left`)).toBe("text\n");
  });
});
