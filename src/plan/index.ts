export type { CgroupMountSource, CgroupSteps, CompileInput, HostFacts, Invocation } from "./compile/context.ts";
export { fifoPath } from "./compile/host.ts";
export { compile } from "./compile/index.ts";
export { encodePlan, type Packed } from "./encode.ts";
export { RLIMIT } from "./linux.ts";
export { MESSAGES, NO_SLOT, OPS, type Op, type OpArgs, type OpName, type Phase, PLAN_VERSION, type Plan, SLOT } from "./ops.ts";
export { printPlan } from "./print.ts";
