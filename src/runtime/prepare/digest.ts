/**
 * The digest of a plan: what `runt plan` prints on its first line and `--expect-plan` compares (docs/decisions/0025-plan-digest.md). It
 * covers the plan, the text of config.json, the facts of the host that the plan depends on, and the identity of every source of a bind mount.
 */
import type { ContainerConfig, MountConfig } from "../config/index.ts";
import * as host from "../host/index.ts";
import { guestPlan } from "../isolation/index.ts";
import { type Plan, planJson } from "../plan/index.ts";
import { type Compiled, compileBundle } from "./compile.ts";
import { type HostProbe, LIVE } from "./host-probe.ts";
import type { CreateOptions, RuntimeOptions } from "./options.ts";

export interface MountSource {
  /** JSON pointer of the mount. */
  readonly from: string;
  readonly path: string;
  /** "DEVICE:INODE", or "absent". */
  readonly identity: string;
}

/** Lower-case hex SHA-256 of each part. */
export interface DigestParts {
  readonly plan: string;
  readonly config: string;
  readonly host: string;
  readonly sources: string;
}

export interface DigestedPlan extends Compiled {
  /** "sha256:..." */
  readonly digest: string;
  readonly parts: DigestParts;
  readonly answers: Readonly<Record<string, unknown>>;
  readonly sources: readonly MountSource[];
  /** Of a container in a machine: what is done there. */
  readonly guest?: Plan;
}

/** Compile, and recordQueries what the result depends on. Sources of mounts can only be looked at on the host itself. */
export function compileDigested(options: RuntimeOptions, request: CreateOptions, probe: HostProbe = LIVE): DigestedPlan {
  const asked = recordQueries(probe);
  const compiled = compileBundle(options, request, asked.probe);
  const answers = { ...asked.answers(), rootless: options.rootless };
  const sources = probe === LIVE ? mountSources(compiled.config) : [];
  const { guest: inside } = compiled.config;
  const guest = inside && guestPlan(inside, request.id);
  const parts = {
    plan: host.sha256(`${planJson(compiled.plan)}${guest ? planJson(guest) : ""}`),
    config: host.sha256(compiled.configText),
    host: host.sha256(canonicalJson(answers)),
    sources: host.sha256(canonicalJson(sources)),
  };
  const digest = `sha256:${host.sha256(`runt-plan 1\n${parts.plan}\n${parts.config}\n${parts.host}\n${parts.sources}\n`)}`;
  return { ...compiled, ...(guest && { guest }), digest, parts, answers, sources };
}

function mountSources({ mounts }: ContainerConfig): MountSource[] {
  return mounts
    .filter(isBind)
    .map(({ from, source, sourceLink }) => ({ from, path: source, identity: identity(source, sourceLink !== undefined) }));
}

function isBind(mount: MountConfig): mount is Extract<MountConfig, { kind: "bind" }> {
  return mount.kind === "bind";
}

/** @param link the link itself is the source */
function identity(path: string, link: boolean): string {
  const found = link ? host.lstat(path) : host.stat(path);
  return found === undefined ? "absent" : `${found.dev}:${found.ino}`;
}

/** Keys in order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** Which facts of the host a plan depends on: whatever was asked while it was compiled, and the answers. */
interface QueryLog {
  /** Answers the same, and remembers. */
  readonly probe: HostProbe;
  /** Question -> answer. */
  answers(): Readonly<Record<string, unknown>>;
}

export function recordQueries(source: HostProbe): QueryLog {
  const known: Record<string, unknown> = {};
  const keep = <T>(question: string, answer: T): T => {
    known[question] = answer;
    return answer;
  };
  return {
    answers: () => known,
    probe: {
      caller: () => keep("caller", source.caller()),
      idPrograms: () => keep("idPrograms", source.idPrograms()),
      cgroups: () => keep("cgroups", source.cgroups()),
      mayMakeCgroups: () => keep("mayMakeCgroups", source.mayMakeCgroups()),
      systemd(rootless) {
        const facts = source.systemd(rootless);
        keep("systemd", { ...facts, version: facts.version() });
        return facts;
      },
      apparmor: () => keep("apparmor", source.apparmor()),
      selinux: () => keep("selinux", source.selinux()),
      resctrl: (...group) => keep("resctrl", source.resctrl(...group)),
      refuse: (config) => source.refuse(config),
    },
  };
}
