/** linux.rootfsPropagation, read-only and masked paths. RPP-01 to RPP-12. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot || !isRunt)("propagation and paths (needs root)", () => {
  const { bundle, directory, id, ok, root, rootfs, runtime } = useHarness();
  const host = join(directory, "host");

  beforeAll(() => {
    execFileSync("cp", ["-ax", rootfs(), host]);
    execFileSync("mkdir", ["-p", join(host, "from-host"), join(host, "from-container")]);
  });

  /** On a host whose root file system is a shared mount of its own: events in both directions, and the tags of /. */
  async function observe(propagation: string | undefined) {
    const path = bundle((config) => {
      config.root = { path: host };
      if (propagation !== undefined) config.linux.rootfsPropagation = propagation;
      config.process.capabilities = { bounding: ["CAP_SYS_ADMIN"], effective: ["CAP_SYS_ADMIN"], permitted: ["CAP_SYS_ADMIN"] };
      shell(config, "mount -t tmpfs inside /from-container && exec sleep 60");
    });
    const name = id();
    const runt = `${RUNTIME} --root ${root}`;
    const script = `mount --make-rprivate / && mount --bind ${host} ${host} && mount --make-shared ${host} &&
      ${runt} run -d -b ${path} ${name} </dev/null >/dev/null && mount -t tmpfs outside ${host}/from-host &&
      until ${runt} exec ${name} grep -q " inside " /proc/self/mountinfo; do sleep 0.1; done; echo "$(grep -c ' inside ' /proc/self/mountinfo || true)";
      ${runt} exec ${name} /bin/sh -c 'grep -c " outside " /proc/self/mountinfo; grep -c " inside " /proc/self/mountinfo; grep " / / " /proc/self/mountinfo || grep "/host / " /proc/self/mountinfo; mkdir -p /tmp/b; mount --bind / /tmp/b 2>&1 && echo bound';
      sed -n "s|.* ${host} .* shared:\\([0-9]*\\) .*|peer \\1|p" /proc/self/mountinfo; ${runt} delete -f ${name}`;
    const { stdout, stderr } = await call(directory, ["unshare", "-m", "sh", "-c", script]);
    expect(stderr).toBe("");
    const [leaked, arrived, inside, tags = "", bind = "", peer = ""] = stdout.trim().split("\n");
    expect(inside).toBe("1");
    expect(peer).toMatch(/^peer \d+$/);
    return { leaked, arrived, bound: bind === "bound", tags: tags.replace(/ - .*/, "").split(" ").slice(6), peer: peer.slice(5) };
  }

  test.each([undefined, "slave", "rslave"])("%s: what the host mounts arrives, nothing leaves", async (word) => {
    expect(await observe(word)).toMatchObject({ leaked: "0", arrived: "1", bound: true, tags: [expect.stringMatching(/^master:/)] });
  });

  test.each(["private", "rprivate"])("%s: nothing in either direction", async (word) => {
    expect(await observe(word)).toMatchObject({ leaked: "0", arrived: "0", bound: true, tags: [] });
  });

  test.each(["shared", "rshared"])("%s: a peer group of the container's own", async (word) => {
    const { leaked, tags, peer } = await observe(word);
    expect(leaked).toBe("0");
    expect(tags).toEqual([expect.stringMatching(/^shared:/)]);
    expect(tags).not.toContain(`shared:${peer}`);
  });

  test.each(["unbindable", "runbindable"])("%s: / cannot be bound", async (word) => {
    expect(await observe(word)).toMatchObject({ leaked: "0", bound: false, tags: ["unbindable"] });
  });

  const changed = (change: (config: Config) => unknown) => ["run", "-b", bundle((config) => void change(config)), id()];

  test("another word is an error", async () => {
    const { stderr } = await runtime(changed((config) => Object.assign(config.linux, { rootfsPropagation: "public" })));
    expect(stderr).toContain('unknown rootfsPropagation "public" (at /linux/rootfsPropagation)');
  });

  test("read-only paths reach the mounts below them; a link leads nowhere outside; what is missing is skipped", async () => {
    const output = await ok(
      changed((config) => {
        config.mounts.push(
          { destination: "/tmp", type: "tmpfs", source: "tmpfs" },
          { destination: "/tmp/sub", type: "tmpfs", source: "tmpfs" },
        );
        config.linux.readonlyPaths = ["/tmp", "/not/there"];
        config.linux.maskedPaths = ["/etc/passwd", "/usr", "/not/there"];
        shell(config, "touch /tmp/x /tmp/sub/x 2>&1; wc -c </etc/passwd; ls -A /usr | wc -l; touch /usr/x 2>&1; true");
      }),
    );
    const readOnly = (path: string) => `touch: ${path}: Read-only file system\n`;
    expect(output).toBe(`${readOnly("/tmp/x")}${readOnly("/tmp/sub/x")}0\n0\n${readOnly("/usr/x")}`);
  });

  test("all masked directories are one file system", async () => {
    const output = await ok(
      changed((config) => {
        config.linux.maskedPaths = ["/usr", "/home", "/proc/tty"];
        shell(config, "stat -c %d /usr /home /proc/tty");
      }),
    );
    expect(new Set(output.trim().split("\n")).size).toBe(1);
  });

  test("a path that is masked twice is so once, in whatever spelling and by a link too", async () => {
    const output = await ok(
      changed((config) => {
        const files = ["/etc/passwd", "/etc/passwd", "//etc/./passwd", "etc/passwd", "/dev/ptmx", "/dev/pts/ptmx"];
        config.linux.maskedPaths = [...files, "/usr", "/usr/", "/home/../usr", "/proc/tty", "/proc/tty", "/dev/null"];
        shell(config, "cut -d' ' -f5 /proc/self/mountinfo | grep -E '^/(etc/passwd|usr|proc/tty|dev/null|dev/pts/ptmx)$' | sort");
      }),
    );
    expect(output).toBe("/dev/null\n/dev/pts/ptmx\n/etc/passwd\n/proc/tty\n/usr\n");
  });

  test("a relative path is taken from the root, with a warning that is kept", async () => {
    const name = id();
    const path = bundle((config) => {
      config.mounts.push({ destination: "/tmp", type: "tmpfs", source: "tmpfs" });
      config.linux.maskedPaths = ["etc/passwd"];
      config.linux.readonlyPaths = ["tmp"];
      shell(config, "exec sleep 60");
    });
    await ok(["run", "-d", "-b", path, name]);
    const { warnings } = JSON.parse(readFileSync(join(root, name, "state.json"), "utf8"));
    const words = "is not an absolute path and is taken from the root";
    expect(warnings).toEqual([`linux.maskedPaths: "etc/passwd" ${words}`, `linux.readonlyPaths: "tmp" ${words}`]);
    expect(await ok(["exec", name, "/bin/sh", "-c", "wc -c </etc/passwd; touch /tmp/x 2>&1; true"])).toBe(
      "0\ntouch: /tmp/x: Read-only file system\n",
    );
  });

  test.each(["maskedPaths", "readonlyPaths"])("%s: empty, or without a mount namespace, is an error", async (field) => {
    const empty = await runtime(changed((config) => Object.assign(config.linux, { [field]: ["/proc/kcore", ""] })));
    expect(empty).toMatchObject({ status: 1, stderr: expect.stringContaining(`must not be empty (at /linux/${field}/1)`) });
    const name = id();
    const path = bundle((config) => {
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "mount");
      Object.assign(config.linux, { maskedPaths: [], readonlyPaths: [], [field]: ["/proc/kcore"] });
    });
    const shared = await runtime(["run", "-b", path, name]);
    expect(shared).toMatchObject({ status: 1, stderr: expect.stringContaining("without a private mount namespace") });
    expect(existsSync(join(root, name))).toBe(false);
  });
});
