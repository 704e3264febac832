/** What Buildah is asked to do: commands in a working container, and builds. */
import { IMAGE } from "../engine.ts";
import { type Expectation, engine, host, type Scenario, type Step } from "../scenario.ts";

const from = (...flags: string[]): Step => engine(["from", "--name", "{id}", ...flags, IMAGE]);
const run = (flags: readonly string[], command: readonly string[], expect: Expectation = {}, options: Partial<Step> = {}): Step =>
  engine(["run", ...flags, "{id}", "--", ...command], expect, options);
const shell = (flags: readonly string[], script: string, expect: Expectation = {}): Step => run(flags, ["sh", "-c", script], expect);
const build = (directory: string, flags: readonly string[], expect: Expectation = {}): Step =>
  engine(["build", "-q", ...flags, "-t", `localhost/{id}-${directory}`, `{dir}/${directory}`], expect);
const containerfile = (directory: string, text: string): Step =>
  host(`mkdir -p {dir}/${directory} && cat > {dir}/${directory}/Containerfile <<'END'\nFROM ${IMAGE}\n${text}\nEND`);

const everywhere: readonly Scenario[] = [
  { name: "run", steps: [from(), run([], ["echo", "hello"], { stdout: /^hello$/m })] },
  {
    name: "run: exit statuses",
    steps: [
      from(),
      run([], ["sh", "-c", "exit 7"], { status: 7 }),
      run([], ["no-such-program"], { status: "not-zero", output: /executable file .*not found in \$PATH/ }),
      run([], ["/etc"], { status: "not-zero", output: /permission denied|is a directory/ }),
      run([], ["true"]),
    ],
  },
  { name: "run: stdin", steps: [from(), run([], ["tr", "a-z", "A-Z"], { stdout: /^HELLO$/m }, { input: "hello\n" })] },
  { name: "run -t", steps: [from(), run(["-t"], ["tty"], { stdout: /\/dev\/pts\/0\r?$/m }, { tty: true })] },
  {
    name: "run: user, workdir, env, hostname",
    steps: [
      from(),
      shell(["--user", "user", "--workingdir", "/tmp", "--env", "A=b", "--hostname", "box"], "id -u; pwd; echo $A; hostname", {
        stdout: /^1000\n\/tmp\nb\nbox$/m,
      }),
    ],
  },
  {
    name: "run: what it writes stays",
    steps: [from(), shell([], "echo kept > /file"), run([], ["cat", "/file"], { stdout: /^kept$/m })],
  },
  {
    name: "run: capabilities, seccomp",
    steps: [
      from(),
      run(["--cap-drop", "CAP_CHOWN"], ["grep", "CapEff", "/proc/self/status"], { stdout: /CapEff:\s+[0-9a-f]{15}[02468ace]$/m }),
      run([], ["grep", "Seccomp:", "/proc/self/status"], { stdout: /Seccomp:\s+2/ }),
    ],
  },
  {
    name: "run: volumes",
    steps: [
      from(),
      host("mkdir -m 777 {dir}/volume && echo text > {dir}/volume/file"),
      run(["-v", "{dir}/volume:/data"], ["cat", "/data/file"], { stdout: /^text$/m }),
      shell(["-v", "{dir}/volume:/data:ro"], "touch /data/x", { status: 1, output: /Read-only file system/ }),
    ],
  },
  {
    name: "run: without a network",
    steps: [from(), run(["--network", "none"], ["ip", "link"], { stdout: /: lo: /, not: /eth0/ })],
  },
  {
    name: "run: ended by a signal",
    steps: [
      from(),
      host("echo 'echo started; exec sleep 61.{id}' > {dir}/script; chmod 755 {dir}/script"),
      // Its client says TERM to Buildah, which has to end the container.
      engine(["run", "-v", "{dir}/script:/script", "{id}", "--", "sh", "/script"], { stdout: /started/ }, { background: true }),
      host("sleep 1"),
    ],
  },
  {
    name: "build",
    steps: [
      containerfile(
        "all",
        `ENV A=b
RUN mkdir /made && echo $A > /made/a
WORKDIR /work
RUN pwd > here
USER user
RUN id -u > /tmp/uid
RUN ["sh", "-c", "cat /made/a /work/here /tmp/uid > /tmp/all"]`,
      ),
      build("all", []),
      engine(["from", "--name", "{id}", "localhost/{id}-all"]),
      run([], ["cat", "/tmp/all"], { stdout: /^b\n\/work\n1000$/m }),
    ],
  },
  {
    name: "build: layers, mounts of RUN",
    steps: [
      containerfile(
        "mounts",
        `RUN --mount=type=tmpfs,target=/scratch grep ' /scratch tmpfs' /proc/self/mounts && touch /scratch/x
RUN --mount=type=cache,target=/cache echo kept > /cache/file
RUN --mount=type=cache,target=/cache cat /cache/file > /result
RUN --mount=type=secret,id=secret cat /run/secrets/secret >> /result`,
      ),
      host("echo hidden > {dir}/secret"),
      build("mounts", ["--layers", "--secret", "id=secret,src={dir}/secret"]),
      engine(["from", "--name", "{id}", "localhost/{id}-mounts"]),
      run([], ["cat", "/result"], { stdout: /^kept\nhidden$/m }),
    ],
  },
  {
    name: "build: failures",
    steps: [
      containerfile("failing", "RUN exit 9"),
      build("failing", [], { status: 9, output: /exit status 9/ }),
      containerfile("unknown", 'RUN ["no-such-program"]'),
      build("unknown", [], { status: "not-zero", output: /executable file .*not found in \$PATH/ }),
    ],
  },
];

const asRoot: readonly Scenario[] = [
  {
    name: "limits",
    steps: [
      from("--memory", "64m", "--cpu-shares", "512", "--ulimit", "nofile=1000:2000"),
      shell(["--cgroupns", "host"], "cat /proc/self/cgroup; ulimit -Hn", { stdout: [/:memory:\/\S*\/buildah-/, /^2000$/m] }),
      shell([], "cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/cpu/cpu.shares", { stdout: /^67108864\n512$/m }),
    ],
  },
  {
    name: "from nothing",
    steps: [
      engine(["from", "--name", "{id}", "scratch"]),
      engine(["copy", "{id}", "/bin/busybox", "/bin/busybox"]),
      run([], ["/bin/busybox", "echo", "hello"], { stdout: /^hello$/m }),
      // Buildah wants the names of images in lower case, and directories are such names.
      engine(["commit", "-q", "{id}", "localhost/{id}"]),
      engine(["from", "--name", "{id}-again", "localhost/{id}"]),
      engine(["run", "{id}-again", "--", "/bin/busybox", "echo", "again"], { stdout: /^again$/m }),
    ],
  },
  {
    name: "run: namespaces of the host",
    steps: [
      from(),
      host("readlink /proc/self/ns/net /proc/self/ns/ipc > {dir}/host"),
      run(
        ["--network", "host", "--ipc", "host", "--pid", "host", "-v", "{dir}/host:/host"],
        [...["sh", "-c", "(readlink /proc/self/ns/net; readlink /proc/self/ns/ipc) | cmp - /host && echo same"]],
        { stdout: /^same$/m },
      ),
    ],
  },
  {
    name: "10 builds at once",
    steps: [
      containerfile("many", "RUN sleep 0.5; echo hello > /file"),
      engine(["build", "-q", "-t", "localhost/{id}-{n}", "{dir}/many"], {}, { copies: 10 }),
    ],
  },
  {
    name: "nothing is left",
    steps: [
      from(),
      // It is there while it runs: the check below can fail.
      run(["--pid", "host"], ["sh", "-c", "cat /proc/self/cgroup"], { stdout: /:memory:\/\S*\/buildah-/ }),
      run([], ["true"]),
      host("! find /run /sys/fs/cgroup -name 'buildah-{id}*' | grep ."),
      host("! grep -a 'sleep.61[.]t' /proc/[0-9]*/cmdline"),
    ],
  },
];

export const rootful: readonly Scenario[] = [...everywhere, ...asRoot];
export const rootless: readonly Scenario[] = everywhere;
