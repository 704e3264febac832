import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { SECCOMP_ARCHITECTURES } from "../spec/index.ts";
import { cachedPath, type Filter, lookup, store } from "./cache.ts";
import { compactFilter } from "./compact.ts";
import { enosysStub } from "./stub.ts";

/** Changes when the same profile gives another program for reasons that are not in the key. */
const FORMAT = 2;

export interface FilterRequest {
  /** Canonical text (src/runtime/plan/compile/seccomp-profile.ts). */
  readonly profile: string;
  readonly enosysForNewer: boolean;
  /** Where the BPF program goes. */
  readonly path: string;
}

/**
 * Compile a profile, or take it from the cache below the state root. Returns the system calls that libseccomp does not know.
 * @throws RuntError "config-invalid" for what libseccomp refuses, HostError of the file
 */
export function prepareFilter(root: string, request: FilterRequest): readonly string[] {
  const key = cacheKey(request);
  const cached = lookup(root, key);
  const filter = cached ?? compile(request);
  const linkable = cached !== undefined || store(root, key, filter);
  if (!linkable || !link(cachedPath(root, key), request.path)) writeProgram(request.path, filter.program);
  return filter.unknown;
}

/** One line each for everything that influences the program, and the profile, which is unambiguous itself, at the end. */
export function cacheKey({ profile, enosysForNewer }: FilterRequest): string {
  const { version, commit } = host.build;
  const parts = [FORMAT, version, commit, host.seccompVersion, host.architecture, enosysForNewer];
  return host.sha256(`${parts.join("\n")}\n${profile}`);
}

function compile({ profile, enosysForNewer }: FilterRequest): Filter {
  const { program, unknown, highest } = callLibrary(profile);
  return { program: compactFilter(enosysForNewer ? join(enosysStub(highest), program) : program), unknown };
}

function callLibrary(profile: string): host.SeccompProgram {
  try {
    return host.seccompCompile(profile);
  } catch (error) {
    if (!(error instanceof Error) || !("errno" in error)) throw error;
    const { syscall, path = "" } = error as host.HostError;
    const what =
      syscall === "seccomp_arch_add"
        ? `architectures: ${architectureName(Number(path))} cannot share a filter with the machine's own`
        : `syscalls: ${path} cannot be added`;
    throw new RuntError("config-invalid", `linux.seccomp.${what}: ${host.reason(error)}`, { pointer: "/linux/seccomp", cause: error });
  }
}

function architectureName(token: number): string {
  return Object.entries(SECCOMP_ARCHITECTURES).find(([, value]) => value === token)?.[0] ?? String(token);
}

function join(first: ArrayBuffer, second: ArrayBuffer): ArrayBuffer {
  const joined = new Uint8Array(first.byteLength + second.byteLength);
  joined.set(new Uint8Array(first));
  joined.set(new Uint8Array(second), first.byteLength);
  return joined.buffer;
}

/** Other file system, too many links, refused inside a sandbox, evicted a moment ago: the caller has the program. */
function link(from: string, to: string): boolean {
  try {
    host.link(from, to);
    return true;
  } catch {
    return false;
  }
}

function writeProgram(path: string, program: ArrayBuffer): void {
  const fd = host.open(path, host.O.WRONLY | host.O.CREAT | host.O.EXCL | host.O.NOFOLLOW, 0o600);
  try {
    host.write(fd, program);
  } finally {
    host.close(fd);
  }
}
