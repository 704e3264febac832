/** The process that `start` gives to a container that was created as a template: a document, or the template's own process. */
import { RLIMIT } from "../../shared/linux/index.ts";
import { type Changeable, type Claim, changeableOf, TEMPLATE } from "../../shared/protocol/index.ts";
import { checkPart } from "../check/index.ts";
import { deriveProcess, type ProcessConfig, restoreProcess, type Warning } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import type { SpecProcess } from "../spec/index.ts";
import type { StateRecord } from "../state/index.ts";
import { checkFacts } from "./bundle.ts";
import { readPart } from "./exec-request.ts";

/** undefined: the container is no template. Adds to `warnings`. @throws RuntError, as exec --process; not-supported for what the template keeps */
export function requestedClaim({ annotations, exec }: StateRecord, file: string | undefined, warnings: Warning[]): Claim | undefined {
  const value = annotations[TEMPLATE];
  if (value === undefined) {
    if (file === undefined) return undefined;
    throw new RuntError(
      "usage",
      `--process: the container was created without the annotation ${TEMPLATE}, so its process is that of config.json`,
    );
  }
  const template = restoreProcess(exec.process!);
  if (file === undefined) return claimOf(template, []);
  const { process } = readPart(file, "process");
  warnings.push(...checkPart({ ociVersion: "", process: process! }, "process", checkFacts()));
  const given = deriveProcess(process!, "", (code, pointer, message) => void warnings.push({ code, pointer, message }));
  refuseChanges(file, process!, { given, template, allowed: changeableOf(value) ?? [] });
  const isSized = process!.consoleSize !== undefined && process!.consoleSize !== null;
  return claimOf({ ...template, ...given, env: process!.env ? given.env : template.env }, given.rlimits, isSized ? given : undefined);
}

function claimOf({ args, env, cwd }: ProcessConfig, rlimits: ProcessConfig["rlimits"], size?: ProcessConfig): Claim {
  return {
    args,
    env,
    cwd,
    ...(size && { consoleSize: { rows: size.consoleRows, columns: size.consoleColumns } }),
    ...(rlimits.length > 0 && { rlimits: rlimits.map(({ type, soft, hard }) => ({ resource: RLIMIT[type]!, soft, hard })) }),
  };
}

/** Fields of a process document, and what of a ProcessConfig each of them decides. */
const DECIDES: Readonly<Record<Exclude<keyof SpecProcess, "rlimits" | "consoleSize" | "commandLine">, readonly (keyof ProcessConfig)[]>> = {
  args: ["args"],
  env: ["env"],
  cwd: ["cwd"],
  terminal: ["terminal"],
  user: ["uid", "gid", "additionalGids", "umask"],
  capabilities: ["capabilities"],
  noNewPrivileges: ["noNewPrivileges"],
  apparmorProfile: ["apparmorProfile"],
  selinuxLabel: ["selinuxLabel"],
  scheduler: ["scheduler"],
  ioPriority: ["ioPriority"],
  execCPUAffinity: ["execAffinity"],
  oomScoreAdj: ["oomScoreAdj"],
};

interface Change {
  readonly given: ProcessConfig;
  readonly template: ProcessConfig;
  readonly allowed: readonly Changeable[];
}

/** What the document names must be the template's, or something that the template lets be changed. */
function refuseChanges(file: string, document: SpecProcess, { given, template, allowed }: Change): void {
  for (const field of Object.keys(document) as (keyof SpecProcess)[]) {
    if (document[field] === undefined || document[field] === null || (allowed as readonly string[]).includes(field)) continue;
    const isSame =
      Object.hasOwn(DECIDES, field) && DECIDES[field as keyof typeof DECIDES].every((name) => text(given[name]) === text(template[name]));
    if (!isSame) throw kept(file, field, "the template does not let start change it");
  }
  if (document.consoleSize && !template.terminal) throw kept(file, "consoleSize", "the template has no terminal");
  for (const { type, soft, hard } of given.rlimits) {
    const own = template.rlimits.find((limit) => limit.type === type);
    if (own && (hard > own.hard || soft > own.soft))
      throw kept(file, "rlimits", `${type} can only be tightened, below ${own.soft}:${own.hard}`);
  }
}

const text = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, part: unknown) => (typeof part === "bigint" ? String(part) : part));

function kept(file: string, field: string, reason: string): RuntError {
  return new RuntError("not-supported", `${file}: process.${field}: ${reason}`, { pointer: `/${field}` });
}
