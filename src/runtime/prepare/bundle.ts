/** From a bundle directory to a ContainerConfig: load, check, derive. Nothing is changed on the host. */
import { type CheckFacts, checkSpec } from "../check/index.ts";
import { type ContainerConfig, deriveConfig, destinationsInRoot, type InRoot } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { phase, reached } from "../host/index.ts";
import { deriveWhereAsked } from "../isolation/index.ts";
import { absolutePath, parseConfig, type Spec, validateSpec } from "../spec/index.ts";
import { defenceDisabled } from "../testing/index.ts";
import { type HostProbe, LIVE } from "./host-probe.ts";
import type { CreateOptions } from "./options.ts";

export interface LoadedBundle {
  readonly config: ContainerConfig;
  /** config.json as it was read. */
  readonly text: string;
}

/** `file`: another configuration than the bundle's config.json. `create`: of a container that is made, which may be in a machine. */
export function loadBundle(bundle: string, probe: HostProbe, file?: string, create?: CreateOptions): LoadedBundle {
  phase?.("config", "prepare");
  const text = file === undefined ? readConfig(`${bundle}/config.json`) : readConfig(file, true);
  phase?.("spec", "spec");
  const json = parseConfig(text, host.needsExactParser(text));
  reached?.("parsed", json);
  const written = validateSpec(text, json);
  const moved = withHostPaths(written, bundle);
  const spec = moved?.spec ?? written;
  phase?.("check", "check");
  const findings = defenceDisabled("config-checks") ? [] : checkSpec(spec, checkFacts(probe, !text.includes(ESCAPED_NUL)));
  phase?.("derive", "config");
  const config = create ? deriveWhereAsked(spec, create) : deriveConfig(spec, { bundle });
  phase?.("facts", "prepare");
  probe.refuse(config);
  if (findings.length === 0 && !moved) return { text, config };
  return { text, config: { ...config, warnings: [...(moved?.warnings ?? []), ...findings, ...config.warnings] } };
}

/** undefined: no destination begins like the root's own path, as nearly always. */
function withHostPaths(spec: Spec, bundle: string): InRoot | undefined {
  const rootfs = absolutePath(bundle, spec.root?.path ?? "");
  if (!spec.mounts?.some(({ destination }) => destination.startsWith(rootfs))) return undefined;
  return destinationsInRoot(spec, bundle);
}

/** The only way for a NUL byte into a string: JSON takes no control character as it is. */
const ESCAPED_NUL = "\\u0000";

/** Looked up when a check asks. */
export function checkFacts(probe: HostProbe = LIVE, withoutNul = false): CheckFacts {
  return {
    rootless: probe.caller().uid !== 0,
    withoutNul,
    get apparmor() {
      return probe.apparmor();
    },
    get selinux() {
      return probe.selinux();
    },
  };
}

/** @param anyType shells hand over a pipe (/dev/fd/N) @throws RuntError config-read */
export function readConfig(path: string, anyType = false): string {
  try {
    return host.readFile(path, undefined, anyType);
  } catch (error) {
    throw unreadableConfig(path, error);
  }
}

/** S_IFMT >> 12 of what cannot be a configuration (inode(7)). */
const KINDS: Readonly<Record<number, string>> = {
  1: "a FIFO",
  2: "a character device",
  4: "a directory",
  6: "a block device",
  12: "a socket",
};
const MARK_BYTES = 2;

/**
 * Why a configuration could not be read, in words that say what the file is. Loaded only then.
 * @returns RuntError config-read
 */
export function unreadableConfig(path: string, cause: unknown): RuntError {
  const kind = KINDS[(host.stat(path)?.mode ?? 0) >> 12];
  if (kind !== undefined) return new RuntError("config-read", `open ${path}: it is ${kind}, not a file`, { cause });
  if (!host.isErrno(cause, "EILSEQ")) return new RuntError("config-read", `open ${path}: ${host.reason(cause)}`, { cause });
  return new RuntError("config-read", `open ${path}: ${encodingText(path)}`, { hint: "save the file as UTF-8", cause });
}

/** By its byte order mark, which editors write. */
export function encodingText(path: string): string {
  const fd = host.open(path, host.O.RDONLY | host.O.NONBLOCK);
  try {
    const mark = new Uint8Array(host.pread(fd, 0, MARK_BYTES));
    const isUtf16 = (mark[0] === 0xff && mark[1] === 0xfe) || (mark[0] === 0xfe && mark[1] === 0xff);
    return isUtf16 ? "it is UTF-16, not UTF-8" : "it has bytes that are not UTF-8";
  } finally {
    host.close(fd);
  }
}
