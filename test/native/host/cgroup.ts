import { CONTROLLER_NAMES, parseMountinfo } from "../../../src/runtime/cgroup/mountinfo.ts";
import * as host from "../../../src/runtime/host/index.ts";
import { equal, ok, type Test, throws } from "./harness.ts";
import { below } from "./members.ts";

const { O } = host;
const ATTRIBUTE = "trusted.runt";
const directory = `/tmp/runt-host-cgroup-${host.getpid()}`;
const ROUNDS = 3000;

const SYSTEMD = "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd";
const UNIFIED = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate";
const ROOT = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard";
const HIERARCHIES = ["cpu,cpuacct", "cpuset", "memory", "devices", "freezer", "net_cls,net_prio", "blkio", "pids", "rdma"];

function mount(options: string, index: number): string {
  return `${50 + index} 31 0:${50 + index} / /sys/fs/cgroup/${options} rw,nosuid shared:${index} - cgroup cgroup rw,${options}`;
}
const USUAL = [ROOT, ...HIERARCHIES.map(mount), SYSTEMD];

const one = (...texts: readonly string[]) => texts[below(texts.length)] as string;
/** Nearly always the ordinary one. */
const mostly = (usual: string, ...others: readonly string[]) => (below(40) === 0 ? one(...others) : usual);

/** A line with a few fields that are odd, absent, or there twice. */
function line(index: number): string {
  const options = one(...HIERARCHIES);
  return [
    mostly(`${index} 31`, "31", "", " "),
    mostly(`0:${index}`, `0:${below(40)}`, "", "é:1"),
    mostly("/", "/docker/x", "", "/a\\040b"),
    mostly(`/sys/fs/cgroup/${index}`, "/srv/c\\040d", "/ä漢😀", "", "/a - cgroup", "/x\n"),
    mostly("rw,nosuid shared:7 master:8", "", "rw", "rw propagate_from:2"),
    mostly("-", "", "- -", "-\n"),
    mostly("cgroup", "cgroup2", "cgroups", "cgroup2x", "cgroup\n", "ext4", ""),
    mostly("cgroup", "", "none", "- cgroup", "a\\040b"),
    mostly(
      `rw,${options}`,
      "",
      "rw",
      ",",
      "rw,cpu,",
      "name=",
      "rw,name=ü",
      "rw,cpux,pid",
      "rw,cpu cpuacct",
      "rw,pids - cgroup",
      "rw,pids ",
    ),
  ].join(" ");
}

function reference(text: string): unknown {
  const { version, hierarchies } = parseMountinfo(text);
  return version === 1 ? hierarchies : "version 2";
}

/** An empty directory that is gone afterwards, with what is in it. */
function inDirectory(test: () => void): () => void {
  return () => {
    host.mkdir(directory, 0o700);
    try {
      test();
    } finally {
      remove(directory);
    }
  };
}

function remove(path: string): void {
  for (const name of host.readdir(path)) {
    const inner = `${path}/${name}`;
    if (((host.lstat(inner)?.mode ?? 0) & host.S.IFMT) === host.S.IFDIR) remove(inner);
    else host.unlink(inner);
  }
  host.rmdir(path);
}

function put(name: string, text: string): string {
  host.writeFile(`${directory}/${name}`, text, O.WRONLY | O.CREAT | O.TRUNC, 0o600);
  return `${directory}/${name}`;
}

const hierarchiesOf = (text: string) => host.v1Hierarchies(put("mountinfo", text), CONTROLLER_NAMES);
const hierarchies = (lines: readonly string[]) => hierarchiesOf(lines.join("\n"));

export const cgroupTests: readonly Test[] = [
  [
    "v1Hierarchies of usual hosts",
    inDirectory(() => {
      const others = Array.from({ length: 600 }, (_, index) => `${900 + index} 27 0:9 / /var/lib/x/${index} rw - overlay overlay rw,a=b`);
      const hosts = [USUAL, [...USUAL, ""], [...USUAL, UNIFIED], [...others, ...USUAL, ...others], [mount("pids", 1)]];
      for (const lines of hosts) equal(hierarchies(lines), reference(lines.join("\n")));
      equal(hierarchies(USUAL)?.length, HIERARCHIES.length + 1);
      equal(hierarchies([mount("cpu,cpuacct", 0), SYSTEMD]), [
        { mountpoint: "/sys/fs/cgroup/cpu,cpuacct", controllers: ["cpu", "cpuacct"] },
        { mountpoint: "/sys/fs/cgroup/systemd", controllers: ["name=systemd"] },
      ]);
    }),
  ],
  [
    "v1Hierarchies leaves the unusual",
    inDirectory(() => {
      const twice = mount("pids", 1).replace("/sys/", "/srv/");
      const many = Array.from({ length: 33 }, (_, index) => mount("pids", index));
      for (const lines of [[], [ROOT], [UNIFIED], [SYSTEMD], [SYSTEMD, UNIFIED], [twice, mount("pids", 1)], many])
        equal(hierarchies(lines), undefined, lines.join("\n"));
      equal(hierarchies(["1 2 0:3 / /a\\040b rw - cgroup cgroup rw,pids"]), undefined);
      equal(hierarchies([`1 2 ${"0".repeat(30)}:3 / /a rw - cgroup cgroup rw,pids`]), undefined);
      equal(hierarchies([`1 2 0:3 / /${"a".repeat(33_000)} rw - overlay overlay rw`, ...USUAL]), undefined);
      throws("ENOENT", () => host.v1Hierarchies(`${directory}/absent`, CONTROLLER_NAMES));
      throws("EISDIR", () => host.v1Hierarchies(directory, CONTROLLER_NAMES));
    }),
  ],
  [
    "v1Hierarchies says what parseMountinfo says, or nothing",
    inDirectory(() => {
      let said = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const text = Array.from({ length: below(6) }, (_, index) => line(index)).join("\n");
        const found = hierarchiesOf(text);
        if (found === undefined) continue;
        said++;
        equal(found, reference(text), JSON.stringify(text));
      }
      ok(said > ROUNDS / 4, `${said} of ${ROUNDS} were understood`);
    }),
  ],
  [
    "v1Hierarchies of this host",
    () => {
      const text = host.readFile("/proc/self/mountinfo", undefined, true);
      const found = host.v1Hierarchies("/proc/self/mountinfo", CONTROLLER_NAMES);
      if (found) equal(found, reference(text));
    },
  ],
  [
    "findLevels",
    inDirectory(() => {
      for (const name of ["marked", "marked/inner", "other", "other/there"]) host.mkdir(`${directory}/${name}`, 0o700);
      host.symlink("other/there", `${directory}/link`);
      host.symlink("absent", `${directory}/dangling`);
      for (const name of ["marked", "marked/inner"]) host.setxattr(`${directory}/${name}`, ATTRIBUTE, "1");
      const at = (...names: string[]) => names.map((name) => `${directory}/${name}`);
      const find = (...names: string[]) => host.findLevels(at(...names), ATTRIBUTE);
      equal(find(), { kept: [], missing: [] });
      equal(find("a", "other/a"), { kept: [], missing: [] });
      equal(find("a/b/c", "other/d/e"), { kept: [], missing: at("a/b", "a", "other/d") });
      equal(find("marked/inner/a"), { kept: [], missing: at("marked/inner", "marked") });
      equal(find("marked/a/b", "a"), { kept: [], missing: at("marked/a", "marked") });
      equal(find("marked/inner", "a/b", "other/there", "link"), { kept: at("marked/inner", "other/there", "link"), missing: at("a") });
      equal(find("dangling"), { kept: [], missing: [] });
      equal(host.findLevels(["/", "/no-such"], ATTRIBUTE), { kept: ["/"], missing: [] });
    }),
  ],
  [
    "findLevels tells what it cannot know",
    inDirectory(() => {
      put("file", "");
      throws("ENOTDIR", () => host.findLevels([`${directory}/file/a/b`], ATTRIBUTE));
      equal(host.findLevels([`${directory}/file/a`], ATTRIBUTE), { kept: [], missing: [] });
      throws("ENAMETOOLONG", () => host.findLevels([`${directory}/${"n".repeat(300)}/a`], ATTRIBUTE));
      throws("EINVAL", () => host.findLevels(["/a\0b"], ATTRIBUTE));
    }),
  ],
  [
    "copyControl",
    inDirectory(() => {
      const to = put("to", "abcdef");
      ok(!host.copyControl(put("from", "\n"), to), "a line feed is something");
      ok(!host.copyControl(put("from", ""), to), "nothing is something");
      equal(host.readFile(to), "abcdef");
      ok(host.copyControl(put("from", "0-3\n"), to), "0-3 is nothing");
      equal(host.readFile(to), "0-3def");
      throws("ENOENT", () => host.copyControl(`${directory}/absent`, to));
      throws("ENOENT", () => host.copyControl(put("from", "1\n"), `${directory}/absent`));
      put("from", "1".repeat(65_535));
      ok(host.copyControl(`${directory}/from`, to) && host.readFile(to).length === 65_535, "the largest is not written");
      throws("EFBIG", () => host.copyControl(put("from", "1".repeat(65_536)), to));
    }),
  ],
];
