/** Compiling a profile takes pages out of the process that nothing was written to, and gives back all that libseccomp had (native-bindings/host/seccomp.c). */
import * as host from "../../../src/runtime/host/index.ts";
import { SECCOMP_ACTIONS, SECCOMP_ARCHITECTURES } from "../../../src/runtime/spec/seccomp.ts";
import { systemCalls } from "../../../src/runtime/spec/syscalls.ts";
import { equal, ok, type Test, throws } from "./harness.ts";

const { SCMP_ACT_ALLOW: ALLOW, SCMP_ACT_ERRNO: ERRNO } = SECCOMP_ACTIONS;
const PROFILE = [
  `default ${ERRNO + 1}`,
  `arch ${SECCOMP_ARCHITECTURES.SCMP_ARCH_X86_64}`,
  `rule ${ALLOW} - ${[...systemCalls()].join(" ")} nosuchcall`,
].join("\n");

interface Mapping {
  readonly permissions: string;
  readonly size: number;
  /** Copied in order to be written to. */
  readonly copied: number;
}

/** Of the program's file, in KiB. */
function mappings(): readonly Mapping[] {
  const own = host.readlink("/proc/self/exe");
  const parts = host.readFile("/proc/self/smaps", 1 << 20).split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  const field = (part: string, name: string) => Number(new RegExp(`^${name}: +(\\d+) kB$`, "m").exec(part)?.[1]);
  return parts
    .filter((part) => part.split("\n")[0]?.endsWith(` ${own}`))
    .map((part) => ({ permissions: part.split(" ")[1]!, size: field(part, "Size"), copied: field(part, "Anonymous") }));
}

const memory = () => Number(/^VmSize:\s+(\d+) kB$/m.exec(host.readFile("/proc/self/status", 1 << 16))?.[1]);

export const seccompTests: readonly Test[] = [
  [
    "text and constants of the program are never written to",
    () => {
      const constant = mappings().filter(({ permissions }) => !permissions.includes("w"));
      ok(
        constant.some(({ permissions }) => permissions === "r-xp") && constant.some(({ permissions }) => permissions === "r--p"),
        "no segments",
      );
      for (const { size, copied } of constant) ok(size > 0 && copied === 0, `${copied} of ${size} KiB are written to`);
    },
  ],
  [
    "a process compiles as often as it likes: the same programs, and no memory is left",
    () => {
      const kept = Array.from({ length: 1000 }, (_, index) => ({ index, text: `kept ${index}` }));
      const compile = () => {
        const { program, unknown, highest } = host.seccompCompile(PROFILE);
        return { program: host.sha256(program), length: program.byteLength, unknown, highest };
      };
      const first = compile();
      ok(first.length > 300 * 8 && first.length % 8 === 0, `${first.length} bytes`);
      equal(first.unknown.includes("nosuchcall"), true);
      const before = memory();
      for (let round = 0; round < 20; round++) equal(compile(), first);
      // The engine's heap grows by an arena of a MiB now and then; 20 filters would be 10 MiB and more.
      ok(memory() - before <= 2048, `${memory() - before} KiB more`);
      for (const [index, value] of kept.entries()) equal(value, { index, text: `kept ${index}` });
    },
  ],
  [
    "a profile that is refused leaves nothing for the next one",
    () => {
      const { program } = host.seccompCompile(PROFILE);
      throws("EACCES", () => host.seccompCompile(`default ${ERRNO + 1}\nrule ${ERRNO + 1} - read`));
      throws("TypeError", () => host.seccompCompile("rule"));
      equal(host.sha256(host.seccompCompile(PROFILE).program), host.sha256(program));
    },
  ],
];
