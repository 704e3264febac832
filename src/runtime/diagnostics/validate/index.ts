/** Everything that can be said about a configuration before anything is done with it: the findings of `runt validate`. */
import { cgroupProblems, resolveCgroup } from "../../cgroup/index.ts";
import { annotationProperties, parseUnit } from "../../cgroup/systemd/index.ts";
import { examineHost } from "../../check/host/index.ts";
import {
  type BundleView,
  type CheckFacts,
  examine,
  examineDerivation,
  type Finding,
  type Located,
  locate,
  refusal,
  runChecks,
  type Severity,
} from "../../check/index.ts";
import type { ResourceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import type { Spec } from "../../spec/index.ts";

export interface ValidateOptions {
  /** undefined: of the text alone, whatever the host. */
  readonly view: BundleView | undefined;
  readonly rootless: boolean;
  /** The cgroups would be made by systemd. */
  readonly systemd: boolean;
  /** So many findings of one code get their places in the text; default: all. */
  readonly most?: number;
}

/** In the order of the file. Never throws, whatever the text is. */
export function validate(text: string, { view, rootless, systemd: bySystemd, most }: ValidateOptions): Located {
  const { findings, places, value, spec, broken } = examine(text, callerFacts(text, view, rootless), view?.bundle);
  if (spec === undefined) return locate(text, places, value, [findings], most);
  const derived = examineDerivation(spec, view?.bundle ?? "/", broken);
  const stages = [
    findings,
    broken ? [] : [...placementFindings(spec, bySystemd), ...(rootless ? rootlessFindings(spec) : [])],
    derived.findings,
    view ? [...examineHost(spec, view, broken), ...resctrlFindings(spec, view, broken)] : [],
    view && derived.resources ? cgroupFindings(view, derived.resources, rootless, broken) : [],
  ];
  return locate(text, places, value, stages, most);
}

/** Looked up when a check asks. */
function callerFacts(text: string, view: BundleView | undefined, rootless: boolean): CheckFacts {
  return {
    rootless,
    // JSON can write it in this way alone.
    withoutNul: !text.includes("u0000"),
    get apparmor() {
      return view?.facts.security?.apparmor;
    },
    get selinux() {
      return view?.facts.security?.selinux;
    },
  };
}

/** How many of each level. */
export function countFindings(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const counts = { error: 0, warning: 0, advice: 0 };
  for (const { severity } of findings) counts[severity] += 1;
  return counts;
}

/** linux.cgroupsPath as the driver reads it, and what systemd is given beside. */
function placementFindings({ linux, annotations }: Spec, bySystemd: boolean): readonly Finding[] {
  const findings: Finding[] = [];
  const attempt = (code: string, action: () => void) => {
    try {
      action();
    } catch (error) {
      if (!(error instanceof RuntError)) throw error;
      findings.push({ ...refusal(error), code });
    }
  };
  const path = linux?.cgroupsPath ?? "";
  if (!bySystemd) {
    attempt("cgroups-path", () => resolveCgroup(path, "id"));
    return findings;
  }
  attempt("cgroups-path", () => parseUnit(path, "id", "system.slice"));
  for (const [key, text] of Object.entries(annotations ?? {}))
    attempt("annotation-systemd-property", () => annotationProperties({ [key]: text }));
  return findings;
}

const KINDS = { value: "cgroup-value", field: "cgroup-field", controller: "cgroup-controller" } as const;

function cgroupFindings(
  { facts: { cgroup } }: BundleView,
  resources: ResourceConfig,
  rootless: boolean,
  broken: boolean,
): readonly Finding[] {
  if (cgroup === undefined || cgroup.hierarchies.length === 0) return [];
  const facts = { version: cgroup.version === 1 ? 1 : 2, hierarchies: cgroup.hierarchies } as const;
  const findings: Finding[] = [];
  const check = () => {
    for (const { severity, kind, ...rest } of cgroupProblems(facts, resources, rootless))
      findings.push({ code: severity === "warning" ? "cgroup-adjusted" : KINDS[kind], severity, ...rest });
  };
  runChecks([check], (run) => run(), findings, broken);
  return findings;
}

/** config-linux, IntelRdt: needs the resctrl filesystem, and without schemata a group that is there. */
function resctrlFindings(spec: Spec, { facts }: BundleView, broken: boolean): readonly Finding[] {
  if (broken || !spec.linux?.intelRdt) return [];
  const { resctrl } = facts;
  if (resctrl === undefined) return [];
  const { closID, l3CacheSchema, memBwSchema, schemata } = spec.linux.intelRdt;
  const at = (code: string, pointer: string, message: string): readonly Finding[] => [{ code, severity: "error", pointer, message }];
  if (resctrl.mount === undefined) return at("intel-rdt-missing", "/linux/intelRdt", "linux.intelRdt: no resctrl filesystem is mounted");
  const hasSchema = !!l3CacheSchema || !!memBwSchema || (schemata ?? []).length > 0;
  if (!closID || closID === "/" || hasSchema || resctrl.groups.includes(closID)) return [];
  return at(
    "intel-rdt-group-missing",
    "/linux/intelRdt/closID",
    `linux.intelRdt: there is no group "${closID}", and no schema to make one`,
  );
}

/** user_namespaces(7): what needs rights on the host. */
function rootlessFindings({ mounts }: Spec): readonly Finding[] {
  return (mounts ?? []).flatMap(({ destination, uidMappings, options }, index) => {
    const mapped = (uidMappings ?? []).length > 0 || options?.some((word) => /^r?idmap(?:=|$)/.test(word)) === true;
    if (!mapped) return [];
    const message = `mount of "${destination}": ids of a mount cannot be mapped without rights on the host`;
    return [{ code: "mount-idmap-rootless", severity: "error" as const, pointer: `/mounts/${index}`, message }];
  });
}

export { liveView, ordinaryView, recordedView } from "./live-view.ts";
