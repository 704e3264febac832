/** The checks of a configuration: what create runs (checks.ts), and the closer look of validate. */
export { checkPart, checkSpec, findProblems } from "./checks.ts";
export { examineDerivation, refusal } from "./derived.ts";
export { examine, runChecks } from "./examine.ts";
export type { Check, CheckFacts, Finding, Report, Severity } from "./finding.ts";
export type { BundleView, FileFacts, FileKind, Tree } from "./host/view.ts";
export { HOST_FACTS_VERSION, type HostFacts } from "./host-facts.ts";
export { type Located, type LocatedFinding, locate } from "./located.ts";
export { findLoader, machineName, NATIVE_MACHINES, parseElf } from "./process/elf.ts";
export { describeOther, parseFirstLine } from "./process/script.ts";
