/** The checks of a configuration: what create runs (checks.ts), and the closer look of validate. */
export { checkPart, checkSpec, findProblems } from "./checks.ts";
export { examineDerivation, refusal } from "./derived.ts";
export { examine, runChecks } from "./examine.ts";
export { type Check, type CheckFacts, type Finding, HOST_FACTS_VERSION, type HostFacts, type Report, type Severity } from "./finding.ts";
export type { BundleView, FileFacts, FileKind, Tree } from "./host/view.ts";
export { type Located, type LocatedFinding, locate } from "./located.ts";
export { describeOther, findLoader, machineName, NATIVE_MACHINES, parseElf, parseFirstLine } from "./process/executable.ts";
