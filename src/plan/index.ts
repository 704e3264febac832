export { compile } from "./compile/index.ts";
export type { CgroupMountSource, CgroupSteps, CompileInput, HostFacts, Invocation } from "./compile/context.ts";
export { fifoPath } from "./compile/host.ts";
export { encodePlan, type Packed } from "./encode.ts";
export { MESSAGES, NO_SLOT, type Op, type OpArgs, type OpName, OPS, type Phase, type Plan, PLAN_VERSION, SLOT } from "./ops.ts";
export { printPlan } from "./print.ts";
