/** A compacted filter answers every call as the one of libseccomp that it was made from. */
import * as host from "../../../src/runtime/host/index.ts";
import { compactFilter } from "../../../src/runtime/seccomp/compact.ts";
import { enosysStub, type Highest } from "../../../src/runtime/seccomp/stub.ts";
import { SECCOMP_ACTIONS, SECCOMP_ARCHITECTURES } from "../../../src/runtime/spec/seccomp.ts";
import { systemCalls } from "../../../src/runtime/spec/syscalls.ts";
import { ARGUMENTS, type Below, compare, numbersOf, one } from "../../support/filters.ts";
import { random } from "../../support/random.ts";
import { equal, ok, type Test } from "./harness.ts";

const { SCMP_ACT_ALLOW: ALLOW, SCMP_ACT_ERRNO: ERRNO, SCMP_ACT_KILL_PROCESS: KILL, SCMP_ACT_LOG: LOG } = SECCOMP_ACTIONS;
const { SCMP_ARCH_X32, SCMP_ARCH_X86 } = SECCOMP_ARCHITECTURES;
const NAMES = [...systemCalls()];

/** Few and many rules, with and without comparisons, of one architecture and of several. */
function profile(below: Below): string {
  const condition = () => `${below(6)}:${1 + below(7)}:${one(ARGUMENTS, below)}:${one(ARGUMENTS, below)}`;
  const lines = [`default ${one([ALLOW, ERRNO + 1, KILL, LOG], below)}`];
  if (below(3) > 0) lines.push(`arch ${SCMP_ARCH_X86}`, `arch ${SCMP_ARCH_X32}`);
  if (below(2) > 0) lines.push("optimize 2");
  for (let rule = below(12); rule > 0; rule--) {
    const names = Array.from({ length: one([1, 2, 10, 60, 300], below) }, () => one(NAMES, below));
    lines.push(`rule ${one([ALLOW, ERRNO + 1, ERRNO + 38, LOG], below)} ${below(3) === 0 ? condition() : "-"} ${names.join(" ")}`);
  }
  return lines.join("\n");
}

/** undefined: libseccomp refuses it. */
function compiled(text: string): { readonly program: ArrayBuffer; readonly highest: readonly Highest[] } | undefined {
  try {
    return host.seccompCompile(text);
  } catch {
    return undefined;
  }
}

function join(first: ArrayBuffer, second: ArrayBuffer): ArrayBuffer {
  const joined = new Uint8Array(first.byteLength + second.byteLength);
  joined.set(new Uint8Array(first));
  joined.set(new Uint8Array(second), first.byteLength);
  return joined.buffer;
}

export const compactTests: readonly Test[] = [
  [
    "an engine's profile takes a third of the instructions, and gives every call the same answer",
    () => {
      const names = NAMES.filter((name) => !/^(mount|umount|ptrace|reboot|kexec|swap|init_module|bpf)/.test(name));
      const { program, highest } = compiled(
        [
          `default ${ERRNO + 1}`,
          `arch ${SCMP_ARCH_X86}`,
          `arch ${SCMP_ARCH_X32}`,
          "optimize 2",
          `rule ${ALLOW} - ${names.join(" ")}`,
          `rule ${ALLOW} 0:4:8:0 personality`,
          `rule ${ALLOW} 0:7:2114060288:0 clone`,
        ].join("\n"),
      )!;
      const whole = join(enosysStub(highest), program);
      const short = compactFilter(whole);
      ok(short.byteLength * 3 < whole.byteLength, `${whole.byteLength} bytes became ${short.byteLength}`);
      const every = Array.from({ length: 1100 }, (_, index) => (index < 550 ? index : 0x4000_0000 + index - 550));
      compare(whole, [...every, ...numbersOf(whole)], random(1));
      equal(host.sha256(compactFilter(short)), host.sha256(short), "compacted again");
    },
  ],
  [
    "random profiles",
    () => {
      const below = random(7);
      let count = 0;
      for (let round = 0; round < 16; round++) {
        const found = compiled(profile(below));
        if (!found) continue;
        count++;
        compare(found.program, numbersOf(found.program), below);
        compare(join(enosysStub(found.highest), found.program), numbersOf(found.program), below);
      }
      ok(count > 5, `${count} profiles`);
    },
  ],
];
