import { RuntError } from "../errors/index.ts";

/** More than any kernel is built for (CONFIG_NR_CPUS). */
const CPU_LIMIT = 8192;
/** More than any kernel is built for (CONFIG_NODES_SHIFT). */
const NODE_LIMIT = 1024;

/** The CPUs of a list like "0-3,7" (cpuset(7), list format), ascending; none for "". @throws RuntError "config-invalid" */
export function cpuList(text: string, pointer: string): readonly number[] {
  return numberList(text, CPU_LIMIT, "CPUs", pointer);
}

/** The same with memory nodes. */
export function nodeList(text: string, pointer: string): readonly number[] {
  return numberList(text, NODE_LIMIT, "memory nodes", pointer);
}

/** Those of linux.memoryPolicy: the error begins as runc's. */
export function policyNodeList(text: string): readonly number[] {
  return numberList(text, NODE_LIMIT, "memory nodes", "/linux/memoryPolicy/nodes", "invalid memory policy nodes: ");
}

function numberList(text: string, limit: number, what: string, pointer: string, begin = ""): readonly number[] {
  const refuse = () => new RuntError("config-invalid", `${begin}"${text}" is not a list of ${what}`, { pointer, finding: "list-syntax" });
  const numbers = new Set<number>();
  for (const part of text.split(",").map((entry) => entry.trim())) {
    // runc allows commas too many.
    if (part === "") continue;
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part);
    const [first, last] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])];
    if (!(first <= last && last < limit)) throw refuse();
    for (let number = first; number <= last; number++) numbers.add(number);
  }
  if (numbers.size === 0 && text !== "") throw refuse();
  return [...numbers].sort((one, other) => one - other);
}
