export { checkFacts, encodingText, loadBundle, readConfig, unreadableConfig } from "./bundle.ts";
export { requestedClaim } from "./claim.ts";
export { type Compiled, compileBundle, defined, isDemanded } from "./compile.ts";
export { compileFor } from "./compile-for.ts";
export { compileDigested, type DigestedPlan } from "./digest.ts";
export { defaultProcess, type ExecRequest, namespaceTypes, requestedProcess } from "./exec-request.ts";
export { describeChanges, type RecordedPlan } from "./expect-plan.ts";
export { type FeatureRow, featureRows } from "./host-facts/features.ts";
export { parseFields, parseFilesystems, parseIdMap, parseLimits, parseMask, seccompActions } from "./host-facts/parse.ts";
export {
  names,
  readNumber,
  readText,
  readWords,
  recordCaller,
  recordCgroup,
  recordCpus,
  recordHostFacts,
  recordMemory,
  recordNamespaces,
  recordResctrl,
} from "./host-facts/record.ts";
export { chosenHostFacts, recordedProbe } from "./host-facts/recorded.ts";
export { seccompFlagsOf } from "./host-facts/versions.ts";
export { type HostProbe, LIVE } from "./host-probe.ts";
export { apparmorEnabled } from "./lsm.ts";
export type { CreateOptions, OutputLog, RuntimeOptions } from "./options.ts";
export { checkTerminal, requireOwnTerminal } from "./terminal.ts";
