export { measureCgroupMoves } from "./cgroup-moves.ts";
export { compare, type Difference } from "./diff.ts";
