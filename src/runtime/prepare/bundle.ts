/** From a bundle directory to a ContainerConfig: load, check, derive. Nothing is changed on the host. */
import { type CheckFacts, checkSpec } from "../check/index.ts";
import { type ContainerConfig, deriveConfig, destinationsInRoot, type InRoot } from "../config/index.ts";
import * as host from "../host/index.ts";
import { phase, reached } from "../host/index.ts";
import { deriveWhereAsked } from "../isolation/index.ts";
import { absolutePath, parseConfig, type Spec, validateSpec } from "../spec/index.ts";
import { defenceDisabled } from "../testing/index.ts";
import { type HostProbe, LIVE } from "./host-probe.ts";
import type { CreateOptions } from "./options.ts";
import { unreadableConfig } from "./unreadable-config.ts";

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
