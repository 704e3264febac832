/**
 * The packages of `make release` on a bare Debian 12 and 13: installed, used, upgraded and removed, and what is left then. The trees are made once, below
 * build/hosts; each test has a copy of its own, of which nothing stays.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRoot } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

const HOSTS = join(REPOSITORY, "build/hosts");
const RELEASE = join(REPOSITORY, "build/release");
const ARCHITECTURE = process.arch === "x64" ? "amd64" : process.arch;
const DEBS = existsSync(RELEASE) ? readdirSync(RELEASE).filter((name) => name.endsWith(`_${ARCHITECTURE}.deb`)) : [];
const SUITES = ["bookworm", "trixie"] as const;
/** Packages come from an archive, on a machine that has other things to do. */
const LONGEST_MS = 1_800_000;
const OLDER = "0.0.1";

/** Every file of the host, but for what apt and dpkg keep for themselves, and what is not on its disk. */
const SNAPSHOT = `snapshot() {
  find / -xdev \\( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt \\
    -o -path /var/cache -o -path /var/log -o -path /root \\) -prune -o -print | sort
}`;
const CONTAINER = `container() {
  rm -rf /tmp/bundle && mkdir -p /tmp/bundle/rootfs/bin && cp /root/busybox /tmp/bundle/rootfs/bin/sh
  cd /tmp/bundle && runt spec && sed -i 's/"terminal": true/"terminal": false/; s/"sh"/"sh","-c","echo inside as $$"/' config.json
  runt run "hosts-$1" && cd / && rm -rf /tmp/bundle
}`;

describe.skipIf(!isRoot || DEBS.length === 0)("the packages on a bare Debian (needs root and make release)", () => {
  const tree = join(HOSTS, `packages-${process.pid}`);
  const older = join(HOSTS, `older-${process.pid}`);

  beforeAll(() => {
    mkdirSync(HOSTS, { recursive: true });
    for (const suite of SUITES)
      execFileSync(join(REPOSITORY, "tools/debian-host.sh"), [suite, join(HOSTS, `bare-${suite}`)], { stdio: "inherit" });
    mkdirSync(older);
    for (const name of DEBS) makeOlder(name);
  }, LONGEST_MS);
  afterAll(() => {
    for (const made of [tree, older]) rmSync(made, { recursive: true, force: true });
  });

  /** The same package with a lower version: what an upgrade starts from. */
  function makeOlder(name: string): void {
    const place = mkdtempSync(join(older, "tree-"));
    execFileSync("dpkg-deb", ["--raw-extract", join(RELEASE, name), place]);
    const control = join(place, "DEBIAN/control");
    const text = readFileSync(control, "utf8");
    writeFileSync(control, text.replaceAll(/^Version: (.*)$/m.exec(text)![1]!, OLDER));
    execFileSync("dpkg-deb", ["--root-owner-group", "-Znone", "--build", place, join(older, name.replace(/_.*/, ".deb"))], {
      stdio: "ignore",
    });
    rmSync(place, { recursive: true });
  }

  function fresh(suite: string): void {
    rmSync(tree, { recursive: true, force: true });
    execFileSync("cp", ["-a", "--reflink=auto", join(HOSTS, `bare-${suite}`), tree]);
    cpSync("/bin/busybox", join(tree, "root/busybox"), { dereference: true });
    cpSync(older, join(tree, "root/older"), { recursive: true });
    mkdirSync(join(tree, "root/newer"));
    for (const name of DEBS) cpSync(join(RELEASE, name), join(tree, "root/newer", name.replace(/_.*/, ".deb")));
  }

  /** What the script prints as a user of that host, who sees the first command that fails. */
  function type(script: string): Readonly<{ status: number; output: string }> {
    const text = `set -eu\nexec 2>&1\nexport DEBIAN_FRONTEND=noninteractive\n${SNAPSHOT}\n${CONTAINER}\n${script}`;
    try {
      return {
        status: 0,
        output: execFileSync(join(REPOSITORY, "tools/in-debian-host.sh"), [tree, "sh", "-c", text], { encoding: "utf8" }),
      };
    } catch (error) {
      const { status, stdout } = error as { status: number; stdout: string };
      return { status, output: stdout };
    }
  }

  test.each(SUITES)(
    "on %s they are installed, run a container, are upgraded, and leave nothing when they are purged",
    (suite) => {
      fresh(suite);
      const { status, output } = type(`
        snapshot >/root/before
        dpkg --install /root/older/runt.deb /root/older/runtd.deb
        runt --version
        container first
        runt check >/root/check || test $? -eq 1
        grep -q . /root/check
        apt-get install -y -q --no-install-recommends /root/newer/runt.deb /root/newer/runtd.deb
        dpkg-query -W -f 'now \${Package} \${Version}\\n' runt runtd
        container second
        runtctl --version
        runtd --help || echo "runtd ended with $?"
        test -f /usr/lib/systemd/system/runtd.service
        apt-get install -s -q /root/newer/runtd.deb >/dev/null
        runt list
        apt-get purge -y -q runtd runt
        snapshot >/root/after
        diff /root/before /root/after && echo nothing is left`);
      expect(output).toMatch(/nothing is left\n$/);
      expect(status).toBe(0);
      expect(output.match(/^inside as 1$/gm)).toHaveLength(2);
      const version = /_(.+)_/.exec(DEBS[0]!)![1]!;
      expect(output).toContain(`now runt ${version}\nnow runtd ${version}\n`);
      // There is no Node.js on a bare Debian.
      expect(output).toContain("runtd: Node.js 20 or newer is needed, and there is no node in PATH\nruntd ended with 69\n");
    },
    LONGEST_MS,
  );

  test.each(SUITES)(
    "Podman of %s runs containers with it",
    (suite) => {
      fresh(suite);
      const { status, output } = type(`
        apt-get update -q
        apt-get install -y -q --no-install-recommends podman crun /root/newer/runt.deb
        mkdir -p /srv/rootfs/bin && cp /root/busybox /srv/rootfs/bin/sh
        podman --runtime /usr/bin/runt --cgroup-manager cgroupfs run --rm --network none --rootfs /srv/rootfs /bin/sh -c 'echo inside as $$'
        podman --runtime /usr/bin/runt info --format 'with {{.Host.OCIRuntime.Path}}'
        test -z "$(podman ps --all --quiet)"`);
      expect(output).toMatch(/^inside as 1$/m);
      expect(output).toContain("with /usr/bin/runt\n");
      expect(status).toBe(0);
    },
    LONGEST_MS,
  );
});
