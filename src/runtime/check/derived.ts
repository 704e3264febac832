/**
 * What create finds out while it derives the container from its configuration, piece by piece, so that one error does not hide the
 * next. The pieces are the very functions of src/runtime/config that create runs.
 */
import {
  cpuList,
  deriveCapabilities,
  deriveEnv,
  deriveIdMappings,
  deriveIntelRdt,
  deriveMount,
  deriveNamespaces,
  deriveResources,
  deriveSeccomp,
  deriveSysctl,
  deriveTemplate,
  deviceRuleMode,
  envName,
  keptGroups,
  nodeList,
  policyNodeList,
  propagationFlags,
  type ResourceConfig,
  type Warn,
} from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import type { Spec, SpecMount } from "../spec/index.ts";
import type { Finding } from "./finding.ts";
import { meantOfBind } from "./mounts/words.ts";
import { BrokenPart } from "./sound.ts";

export interface Derived {
  readonly findings: readonly Finding[];
  /** undefined: they could not be looked at. */
  readonly resources: ResourceConfig | undefined;
}

/** @param bundle where relative sources start; any directory if there is none */
export function examineDerivation(spec: Spec, bundle: string, broken: boolean): Derived {
  const findings: Finding[] = [];
  const warn: Warn = (code, pointer, message) => void findings.push({ code, severity: "warning", pointer, message });

  /** undefined: refused, or broken. */
  function attempt<T>(derive: () => T): T | undefined {
    try {
      return derive();
    } catch (error) {
      if (error instanceof RuntError) findings.push(refusal(error));
      else if (!(broken && (error instanceof BrokenPart || error instanceof TypeError))) throw error;
      return undefined;
    }
  }

  attempt(() => propagationFlags(spec.linux?.rootfsPropagation ?? ""));
  attempt(() => deviceRuleMode(spec.annotations));
  attempt(() => deriveTemplate(spec));
  attempt(() => keptGroups(spec, warn));
  attempt(() => examineProcess(spec, warn, attempt));
  attempt(() => examineMounts(spec, bundle, warn, attempt));
  attempt(() => {
    for (const [key, value] of Object.entries(spec.linux?.sysctl ?? {}))
      attempt(() => deriveSysctl({ [key]: value }, deriveNamespaces(spec.linux?.namespaces ?? []), spec.domainname));
  });
  attempt(() => deriveSeccomp(spec.linux?.seccomp, warn));
  attempt(() => policyNodeList(spec.linux?.memoryPolicy?.nodes ?? ""));
  attempt(() => spec.linux?.intelRdt && deriveIntelRdt(spec.linux.intelRdt, warn));
  for (const [field, parse] of [
    ["cpus", cpuList],
    ["mems", nodeList],
  ] as const)
    attempt(() => checkKernelList(spec.linux?.resources?.cpu?.[field] ?? "", `/linux/resources/cpu/${field}`, parse));
  const resources = attempt(() => deriveResources(spec.linux?.resources, warn));
  return { findings, resources };
}

type Attempt = <T>(derive: () => T) => T | undefined;

function examineProcess({ process }: Spec, warn: Warn, attempt: Attempt): void {
  if (!process) return;
  attempt(() => {
    const pointer = "/process/env";
    // First each one alone, to report all that are refused. Then all together, to report duplicates; a refused one gets a unique name for that.
    const sound = (process.env ?? []).map((entry, index) =>
      attempt(() => envName(entry, `${pointer}/${index}`)) === undefined ? `?${index}=` : entry,
    );
    deriveEnv(sound, pointer, warn);
  });
  attempt(() => deriveCapabilities(process.capabilities, "/process/capabilities", warn));
  for (const field of ["initial", "final"] as const)
    attempt(() => cpuList(process.execCPUAffinity?.[field] ?? "", `/process/execCPUAffinity/${field}`));
}

function examineMounts(spec: Spec, bundle: string, warn: Warn, attempt: Attempt): void {
  const namespaces = attempt(() => (spec.linux?.namespaces ?? []).find(({ type }) => type === "user"));
  const ids = {
    uidMappings: deriveIdMappings(spec.linux?.uidMappings ?? []),
    gidMappings: deriveIdMappings(spec.linux?.gidMappings ?? []),
    userNamespace: namespaces && deriveNamespaces([namespaces])[0],
  };
  /** About mounts of these kinds there is nothing to say: of many mounts most are of a few. */
  const sound = new Set<string>();
  spec.mounts?.forEach((mount, index) => {
    const kind = attempt(() => kindOf(mount));
    if (kind !== undefined && sound.has(kind)) return;
    let warned = false;
    const derived = attempt(() =>
      deriveMount(mount, index, { bundle, ids }, (code, pointer, message) => {
        warned = true;
        warn(code, pointer, code === "mount-bind-data" ? message + meantOfBind(mount) : message);
      }),
    );
    if (derived !== undefined && !warned && kind !== undefined) sound.add(kind);
  });
}

/** Two mounts of one kind are derived in the same way, but for the paths themselves; undefined: it is looked at for itself. */
function kindOf({ destination, source, type, options, uidMappings, gidMappings }: SpecMount): string | undefined {
  if (!destination.startsWith("/") || !source || !type || !options || uidMappings || gidMappings) return undefined;
  return `${type} ${options.length} ${options.join("\0")}`;
}

/** An error of create as a finding: same words, same place. */
export function refusal({ code, message, details: { pointer = "", finding, hint } }: RuntError): Finding {
  return { code: finding ?? code, severity: "error", pointer, message, ...(hint !== undefined && { remedy: hint }) };
}

/** "N" is the last one that the kernel knows; every `group` of them the first `used`. */
const PART = /^(?:(?:\d{1,5}|N)(?:-(?:\d{1,5}|N))?|all)(?::\d{1,5}\/[1-9]\d{0,4})?$/;

/**
 * The list format of the kernel's bitmaps (Documentation/admin-guide/kernel-parameters.rst), which cpuset files take as it is. `parse` is for
 * what has numbers only. @throws RuntError config-invalid
 */
export function checkKernelList(text: string, pointer: string, parse: (text: string, pointer: string) => unknown): void {
  const parts = text.split(/[,\s]+/).filter((part) => part !== "");
  const plain = parts.filter((part) => !/[Na:]/.test(part));
  const odd = parts.find((part) => !PART.test(part));
  if (odd !== undefined) throw new RuntError("config-invalid", `"${text}" is not a list: "${odd}"`, { pointer, finding: "list-syntax" });
  if (plain.length > 0 || (parts.length === 0 && text !== "")) parse(plain.join(",") || text, pointer);
}
