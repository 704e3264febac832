/** Attacks by words of the configuration that stand for more than they seem to: annotations, profile names, paths on the host. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Attack, escaped, held, heldIf, type Outcome } from "../attack.ts";
import { eventually, type Subject, textOf } from "../subject.ts";
import { defaultBundle } from "./capabilities.ts";

async function writingAnnotations(subject: Subject): Promise<Outcome> {
  const victim = join(subject.scratch("host"), "precious");
  writeFileSync(victim, "of the host\n");
  const bundle = subject.bundle((config) => {
    Object.assign(config, {
      annotations: {
        "run.oci.hooks.stdout": victim,
        "run.oci.hooks.stderr": victim,
        "run.oci.delegate-cgroup": "../../../../victim",
        "run.oci.systemd.subgroup": "../../../../victim",
        "run.oci.mount_context_type": "rootcontext,suid",
        "run.oci.systemd.force_cgroup_v1": "/sys/fs/cgroup",
        "run.oci.pidfd_receiver": victim,
        "org.systemd.property.ExecStartPre": "['/bin/false']",
      },
      hooks: { createRuntime: [{ path: "/bin/sh", args: ["sh", "-c", "echo from a hook; echo from a hook >&2"] }] },
    });
  });
  const { status, stderr } = await subject.call(["run", "-b", bundle, subject.id()]);
  const text = textOf(victim);
  return heldIf(
    text === "of the host\n",
    text === "of the host\n" ? stderr.trim() || `status ${status}, the file is unchanged` : `the file has got ${JSON.stringify(text)}`,
  );
}

/** A supplementary group of the caller's that the configuration does not name. "0" is the one value that asks for nothing. */
async function callersGroups(subject: Subject): Promise<Outcome> {
  const bundle = subject.bundle((config) => {
    Object.assign(config, { annotations: { "run.oci.keep_original_groups": "0" } });
    config.process.args = ["grep", "^Groups", "/proc/self/status"];
  });
  const through = ["setpriv", "--groups", "4242,0", "--"];
  const { stdout, stderr } = await subject.call(["run", "-b", bundle, subject.id()], { through });
  return heldIf(!stdout.includes("4242"), stdout.trim() || stderr.trim());
}

/** "unconfined" is the one word that means no profile: not the beginning of one. */
async function profilePrefix(subject: Subject): Promise<Outcome> {
  const run = async (apparmorProfile: string) => {
    const bundle = subject.bundle((config) => {
      config.process["apparmorProfile"] = apparmorProfile;
      config.process.args = ["true"];
    });
    return await subject.call(["run", "-b", bundle, subject.id()]);
  };
  const { status, stderr } = await run("unconfined-not");
  return status !== 0 ? held(stderr.trim()) : escaped("the program runs without the profile");
}

/** What the container's program is given must not become the environment of a hook on the host. */
async function hookEnvironment(subject: Subject): Promise<Outcome> {
  const out = subject.scratch("hooks");
  const hook = (name: string, env?: string[]) => [{ path: "/bin/sh", args: ["sh", "-c", `env > ${out}/${name}`], ...(env ? { env } : {}) }];
  const bundle = subject.bundle((config) => {
    config.process.env.push("LD_PRELOAD=/from-the-container.so", "BASH_ENV=/from-the-container");
    config.process.args = ["true"];
    Object.assign(config, {
      hooks: {
        prestart: hook("prestart"),
        createRuntime: hook("createRuntime", ["ONLY=this"]),
        createContainer: hook("createContainer", ["ONLY=this"]),
        poststart: hook("poststart"),
        poststop: hook("poststop", []),
      },
    });
  });
  const id = subject.id();
  await subject.call(["run", "-b", bundle, id]);
  await subject.call(["delete", "--force", id]);
  const names = readdirSync(out);
  if (names.length === 0) throw new Error("no hook has run");
  const wrong = names.filter((name) => textOf(join(out, name)).includes("from-the-container"));
  return wrong.length > 0 ? escaped(`seen by ${wrong.join(" ")}`) : held(`${names.sort().join(" ")} have nothing of it`);
}

/** There is no agent on the host; one of the image listens at the same path, and would decide over its own system calls. */
async function listenerOfImage(subject: Subject): Promise<Outcome> {
  const name = `/run/runt-attack-${process.pid}.sock`;
  const got = join(subject.scratch("agent"), "got");
  const rootfs = subject.rootfs((path) => mkdirSync(join(path, "run"), { recursive: true }));
  const script =
    "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1])\ns.listen()\nprint('listening',flush=True)\ns.accept()\nprint('connected',flush=True)";
  subject.startProgram(["python3", "-c", script, join(rootfs, name)], got);
  await eventually(() => textOf(got).includes("listening"), "the image's agent listens");
  const bundle = subject.bundle((config) => {
    config.root.path = rootfs;
    config.process.args = ["true"];
    config.linux["seccomp"] = {
      defaultAction: "SCMP_ACT_ALLOW",
      listenerPath: name,
      syscalls: [{ names: ["mkdir"], action: "SCMP_ACT_NOTIFY" }],
    };
  });
  const { status, stderr } = await subject.call(["run", "-b", bundle, subject.id()], { through: ["timeout", "-s", "KILL", "30"] });
  // The agent may say so later.
  for (let rounds = 0; rounds < 50 && !textOf(got).includes("connected"); rounds++) await sleep(20);
  if (textOf(got).includes("connected")) return escaped("the agent of the image has got the listener");
  return heldIf(status !== 0, stderr.trim().split("\n")[0] || "it runs without its agent");
}

/** The document of `spec`, and what of /proc it leaves open. */
async function defaultMasks(subject: Subject): Promise<Outcome> {
  const masked = ["acpi", "asound", "kcore", "keys", "latency_stats", "timer_list", "timer_stats", "sched_debug", "scsi"].map(
    (name) => `/proc/${name}`,
  );
  const readonly = ["bus", "fs", "irq", "sys"].map((name) => `/proc/${name}`);
  const bundle = await defaultBundle(subject, (config) => {
    const named = (field: string) => (config.linux[field] ?? []) as string[];
    const missing = [
      ...masked.filter((path) => !named("maskedPaths").includes(path)),
      ...readonly.filter((path) => !named("readonlyPaths").includes(path)),
    ];
    config.process.args = [
      "/bin/sh",
      "-c",
      `for p in ${masked.join(" ")} /sys/firmware; do { [ -d $p ] && [ -n "$(ls -A $p)" ]; } || { [ -f $p ] && [ -n "$(head -c 1 $p | tr '\\0' x)" ]; } && echo open $p; done; ` +
        `(: >> /proc/sys/kernel/hostname) 2>/dev/null && echo writable /proc/sys; echo missing ${missing.join(" ")}; echo end`,
    ];
  });
  const { stdout } = await subject.call(["run", "-b", bundle, subject.id()]);
  if (!stdout.includes("end")) throw new Error(stdout);
  const found = stdout.split("\n").filter((line) => /^(open|writable) /.test(line));
  const missing = stdout.split("\n").find((line) => /^missing ./.test(line));
  return found.length > 0 || missing !== undefined
    ? escaped([...found, missing ?? ""].join("; "))
    : held("all of the known paths are named, and those of this kernel closed");
}

export const ATTACKS: readonly Attack[] = [
  {
    id: "CVE-2017-16539, CVE-2018-10892",
    title: "the configuration of `spec` leaves /proc/scsi, /proc/acpi or other files of the kernel accessible",
    mechanism: "the default configuration masks them, or makes them read-only",
    defences: "masked-paths,readonly-paths",
    run: defaultMasks,
  },
  {
    id: "annotations that write",
    title: "annotations of other runtimes name a file of the host, a cgroup with .., options of mounts, properties of a unit",
    mechanism: "no annotation of runt names a file to write to; `features` lists the annotations that have an effect",
    why: "there is no code behind these annotations",
    run: writingAnnotations,
  },
  {
    id: "groups of the caller",
    title: "the program keeps supplementary groups of the caller that the configuration does not name",
    mechanism: "the groups are those of process.user, unless run.oci.keep_original_groups says otherwise; `features` lists that annotation",
    defences: "groups",
    run: callersGroups,
  },
  {
    id: "AppArmor unconfined prefix",
    title: 'the runtime treats a profile whose name begins with "unconfined" as no profile',
    mechanism: "runt compares the whole name",
    defences: "apparmor-word",
    run: profilePrefix,
  },
  {
    id: "environment of hooks",
    title: "variables of the container's program (LD_PRELOAD, BASH_ENV) reach hooks that run on the host",
    mechanism: "a hook gets its own list, or the environment of runt, never that of the program",
    why: "the two lists never meet",
    run: hookEnvironment,
  },
  {
    id: "seccomp agent of the image",
    title: "the image has a socket at linux.seccomp.listenerPath, which would decide about the container's system calls",
    mechanism: "the runtime connects in the file system of the host",
    why: "the process that connects has no other root",
    run: listenerOfImage,
  },
];
