import { RuntError } from "../../errors/index.ts";

/** "N" is the last one that the kernel knows; every `group` of them the first `used`. */
const PART = /^(?:(?:\d{1,5}|N)(?:-(?:\d{1,5}|N))?|all)(?::\d{1,5}\/[1-9]\d{0,4})?$/;

/**
 * The list format of the kernel's bitmaps (Documentation/admin-guide/kernel-parameters.rst), which cpuset files take as it is. `parse` is for
 * what has numbers only. @throws RuntError config-invalid
 */
export function checkKernelList(text: string, pointer: string, parse: (text: string, pointer: string) => unknown): void {
  const parts = text.split(/[,\s]+/).filter((part) => part !== "");
  const plain = parts.filter((part) => !/[Na:]/.test(part));
  const odd = parts.find((part) => !PART.test(part));
  if (odd !== undefined) throw new RuntError("config-invalid", `"${text}" is not a list: "${odd}"`, { pointer, finding: "list-syntax" });
  if (plain.length > 0 || (parts.length === 0 && text !== "")) parse(plain.join(",") || text, pointer);
}
