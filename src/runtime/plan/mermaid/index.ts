/** A plan as a picture: loaded for `plan -f mermaid` only. */
export { printMermaid } from "./mermaid.ts";
