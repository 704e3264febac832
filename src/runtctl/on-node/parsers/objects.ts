/** Tasks and the host as Kubernetes objects. */
export { nodeOf, podOf, unknownObject } from "../../../pod/index.ts";
