import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "../assert.ts";
import type { Change, Context } from "../context.ts";
import { features } from "../features.ts";
import { group } from "../group.ts";
import { HookLog, script } from "../hook-log.ts";
import { seenInside } from "../inside.ts";

const annotated =
  (annotations: Record<string, unknown>): Change =>
  (config) => {
    config["annotations"] = annotations;
  };

/** What `state` tells of a container made with these annotations. */
async function toldOf(c: Context, annotations: Record<string, string>): Promise<unknown> {
  const container = await c.create(annotated(annotations));
  const { annotations: told = {} } = await container.state();
  await container.delete("--force");
  return told;
}

type Senseless = readonly (readonly [pointer: string | RegExp, change: Change])[];
const seccomp =
  (profile: object): Change =>
  (config) =>
    Object.assign(config.linux, { seccomp: { defaultAction: "SCMP_ACT_ALLOW", ...profile } });

/** Values that no runtime can give a meaning to, and the field each one is in. */
const SENSELESS: Senseless = [
  ["/ociVersion", (config) => Object.assign(config, { ociVersion: "1.0" })],
  ["/linux/namespaces/0/type", (config) => Object.assign(config.linux.namespaces[0] ?? {}, { type: "disk" })],
  ["/linux/rootfsPropagation", (config) => Object.assign(config.linux, { rootfsPropagation: "sideways" })],
  ["/process/rlimits/0/type", (config) => config.process.rlimits.unshift({ type: "RLIMIT_FUN", soft: 1, hard: 1 })],
  ["/linux/devices/0/type", (config) => Object.assign(config.linux, { devices: [{ path: "/dev/x", type: "z", major: 1, minor: 3 }] })],
  [
    /^\/linux\/resources\/devices\/0/,
    (config) => Object.assign(config.linux.resources, { devices: [{ allow: true, type: "c", access: "x" }] }),
  ],
  ["/linux/seccomp/defaultAction", seccomp({ defaultAction: "SCMP_ACT_NONE" })],
  ["/linux/seccomp/architectures/0", seccomp({ architectures: ["SCMP_ARCH_VAX"] })],
  [/^\/mounts\/\d+/, (config) => config.mounts.push({ destination: "/mnt", type: "nosuchfs", source: "x" })],
];

/** Of properties that came after the version which the peers implement, so that they may be unknown to them. */
const LATER_SENSELESS: Senseless = [
  ["/linux/seccomp/flags/0", seccomp({ flags: ["SECCOMP_FILTER_FLAG_X"] })],
  [/^\/process\/scheduler/, (config) => Object.assign(config.process, { scheduler: { policy: "SCHED_LAZY" } })],
  [/^\/process\/ioPriority/, (config) => Object.assign(config.process, { ioPriority: { class: "IOPRIO_CLASS_X", priority: 1 } })],
  [/^\/linux\/personality/, (config) => Object.assign(config.linux, { personality: { domain: "LINUX64" } })],
  [/^\/linux\/memoryPolicy/, (config) => Object.assign(config.linux, { memoryPolicy: { mode: "MPOL_X", nodes: "0" } })],
];

export const annotations = group("ANN", "annotations and extensibility", ({ must, should }) => {
  must(1, "annotation names and values are strings; a value may be empty", async (c) => {
    assert.deepEqual(await toldOf(c, { "org.example.empty": "", "org.example.full": 'ü \n "' }), {
      "org.example.empty": "",
      "org.example.full": 'ü \n "',
    });
    for (const value of [1, true, ["x"], {}]) await c.refused(annotated({ "org.example.bad": value }), "/annotations/org.example.bad");
    await c.refused((config) => Object.assign(config, { annotations: ["x"] }), "/annotations");
  });
  must(2, "an empty annotation name is refused", async (c) => {
    await c.refused(annotated({ "": "x" }), "/annotations/");
  });
  should(3, "names in reverse domain notation are a recommendation: other names are also kept", async (c) => {
    const plain = { plain: "1", "Org Example": "2", "with/slash": "3" };
    assert.deepEqual(await toldOf(c, plain), plain);
  });
  must(4, "unknown annotations change nothing", async (c) => {
    const plain = await seenInside(c);
    assert.match(plain, /^env PATH=/m);
    assert.equal(await seenInside(c, annotated({ "com.example.unknown": "privileged", "cgroup.limit": "0", args: "false" })), plain);
  });
  must(5, "state shows the annotations of the configuration", async (c) => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`org.example.key-${index}`, `value ${index}`]));
    // "bundle" is the name of a label that runc keeps beside them.
    const all = { ...many, "org.example.unicode": "日本", bundle: "mine", "a=b": "c=d" };
    assert.deepEqual(await toldOf(c, all), all);
  });
  must(6, "unknown properties are not errors, in any place", async (c) => {
    const text = await c.output("echo fine", (config) => {
      for (const object of [
        config,
        config.process,
        config.process.user,
        config.process.capabilities,
        config.process.rlimits[0],
        config.root,
        config.mounts[0],
        config.linux,
        config.linux.resources,
        config.linux.namespaces[0],
      ])
        Object.assign(object ?? {}, { futureText: "x", futureObject: { deep: [1, null, {}] }, futureNumber: 1.5e300 });
      config["hooks"] = { futureHook: [{ path: "relative" }], prestart: [{ path: "/bin/true", future: true }] };
    });
    assert.equal(text, "fine\n");
  });
  must(7, "invalid values are refused, and the error names the field", async (c) => {
    for (const [pointer, change] of [...SENSELESS, ...(c.isRunt ? LATER_SENSELESS : [])]) await c.refused(change, pointer);
  });
  should(8, "features lists the annotations that change the properties of a container", async (c) => {
    const listed = ((await features(c))?.potentiallyUnsafeConfigAnnotations as string[] | undefined) ?? [];
    for (const [name, hasEffect] of EFFECTS) {
      const isListed = listed.some((entry) => entry === name || (entry.endsWith(".") && name.startsWith(entry)));
      assert.ok(isListed || !(await hasEffect(c, name)), `${name} has an effect and is not listed`);
    }
  });
});

/** Annotations that a runtime in use gives a meaning to, each with a look at whether it has it here. */
const EFFECTS: readonly (readonly [name: string, hasEffect: (c: Context, name: string) => Promise<boolean>])[] = [
  [
    "run.oci.keep_original_groups",
    async (c, name) => {
      const bundle = c.bundle((config) => {
        annotated({ [name]: "1" })(config);
        config.process.args = ["/bin/grep", "Groups:", "/proc/self/status"];
      });
      const result = await c.shell('exec setpriv --groups 54321 "$@"', ["run", "--bundle", bundle, c.container(bundle).id]);
      assert.equal(result.status, 0, result.stderr);
      return result.stdout.includes("54321");
    },
  ],
  [
    "run.oci.hooks.stdout",
    async (c, name) => {
      const log = new HookLog(c);
      const file = join(log.directory, "captured");
      await log.create({ createRuntime: [script("echo from the hook")] }, annotated({ [name]: file }));
      return existsSync(file) && readFileSync(file, "utf8") !== "";
    },
  ],
  [
    "run.oci.seccomp_fail_unknown_syscall",
    async (c, name) => {
      const change: Change = (config) => {
        annotated({ [name]: "1" })(config);
        const syscalls = [{ names: ["no_such_call"], action: "SCMP_ACT_ERRNO" }];
        Object.assign(config.linux, { seccomp: { defaultAction: "SCMP_ACT_ALLOW", syscalls } });
      };
      return (await c.run("true", change)).status !== 0;
    },
  ],
  ["run.oci.handler", async (c, name) => (await c.run("true", annotated({ [name]: "no-such-handler" }))).status !== 0],
];
