import { expect, test } from "vitest";
import type { ExampleFile } from "../../src/runtime/check/catalogue/index.ts";
import { examineHost } from "../../src/runtime/check/host/index.ts";
import type { Spec } from "../../src/runtime/spec/index.ts";
import { exampleConfig, exampleView } from "../support/example-host.ts";

const MAP = [{ containerID: 0, hostID: 100000, size: 65536 }];
const USER = { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": MAP, "/linux/gidMappings": MAP };

/** ID PARENT POINT OPTIONS TYPE, of a whole filesystem. */
const mountinfo = (...lines: string[]): string =>
  ["20 1 / rw,relatime ext4", "21 20 /proc rw,relatime proc", "22 20 /sys rw,relatime sysfs", ...lines]
    .map((line) => line.split(" "))
    .map(
      ([id, parent, point, options, type, own = "rw"]) => `${id} ${parent} 0:${id} / ${point} ${options} shared:1 - ${type} none ${own}\n`,
    )
    .join("");

function errorsOf(edits: Readonly<Record<string, unknown>>, ...lines: string[]): readonly string[] {
  const directory: ExampleFile = { kind: "directory", mode: 0o755 };
  const link: ExampleFile = { kind: "symlink", text: "data/below" };
  const files = {
    "/srv/data/below": directory,
    "/srv/link": link,
    "/proc/self/mountinfo": { kind: "file" as const, text: mountinfo(...lines) },
  };
  const findings = examineHost(exampleConfig({}, edits) as Spec, exampleView({ files }), false);
  return findings.filter(({ code }) => /^mount-(?:flags|too)/.test(code)).map(({ code, message }) => `${code}: ${message}`);
}

const bind = (source: string, ...options: string[]) => ({ "/mounts/-": { destination: "/data", type: "bind", source, options } });
const SAFE = "30 20 /srv/data ro,nosuid,noatime tmpfs";
const INNER = "31 30 /srv/data/below rw,noexec,relatime tmpfs";

test.each([
  ["a flag that is named", bind("/srv/data", "rbind", "suid"), [SAFE], "/srv/data has nosuid"],
  ["flags that are not named stay", bind("/srv/data", "rbind", "nodev"), [SAFE], undefined],
  ["other access times", bind("/srv/data", "rbind", "relatime"), [SAFE], "/srv/data has noatime for access times"],
  ["the access times that are there", bind("/srv/data", "rbind", "noatime"), [SAFE], undefined],
  ["no option for the mount at all", bind("/srv/data", "rbind"), [SAFE], undefined],
  ["a whole tree", bind("/srv/data", "rbind", "rexec"), [SAFE, INNER], "/srv/data/below has noexec"],
  ["a tree of other access times", bind("/srv/data", "rbind", "rnoatime"), [SAFE, INNER], "/srv/data/below has relatime for access times"],
  ["a source over a link", bind("/srv/link", "rbind", "exec"), [SAFE, INNER], "/srv/data/below has noexec"],
  ["a mount that a later one covers", bind("/srv/data", "rbind", "suid"), [SAFE, "32 20 /srv rw,relatime tmpfs"], undefined],
  ["without what is mounted below, which the helper takes from the host", bind("/srv/data", "bind", "relatime"), [SAFE, INNER], undefined],
])("a bind mount in a user namespace: %s", (_, edits, lines, problem) => {
  const wanted = problem
    ? [`mount-flags-locked: mount of "/data": the host's mount of ${problem}, which a user namespace cannot change`]
    : [];
  expect(errorsOf({ ...USER, ...edits }, ...lines)).toEqual(wanted);
  expect(errorsOf(edits, ...lines), "without a user namespace").toEqual([]);
});

test.each([
  ["covered", ["30 21 /proc/kcore rw,relatime tmpfs"], "is covered at /proc/kcore"],
  ["with others where the kernel has a place for them", ["30 21 /proc/sys/fs/binfmt_misc rw,relatime binfmt_misc"], undefined],
  ["twice, one of them whole", ["30 21 /proc/kcore rw,relatime tmpfs", "31 20 /other rw,relatime proc"], undefined],
])("a procfs in a user namespace, where the host's is %s", (_, lines, problem) => {
  const wanted = problem
    ? [`mount-too-revealing: mount of "/proc": a user namespace may not mount proc so: the host's mount of /proc ${problem}`]
    : [];
  expect(errorsOf(USER, ...lines)).toEqual(wanted);
});

test("a sysfs that is writable, where the host's is not", () => {
  const text = (words: string[]) =>
    errorsOf({ ...USER, "/mounts/3/options": words }, "30 22 /sys ro,relatime sysfs", "31 20 /x ro,relatime sysfs");
  // The first is covered by the second.
  expect(text(["nosuid"])).toHaveLength(1);
  expect(text(["ro"])).toEqual([]);
});
