/**
 * The linker script that puts functions together in the order of native-bindings/program/text.order.
 *
 * Usage: tsx tools/text-order/linker-script.ts ORDER > SCRIPT
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Functions written in assembly have no section of their own: `libc.a:memcpy.lo`. */
const pattern = (name: string): string =>
  name.includes(":") ? `*${name}(.text)` : `*(.text.${name} .text.${name}.* .text.startup.${name})`;

/** A name that the compiler's output does not have matches nothing. */
export function linkerScript(order: string): string {
  const names = order.split("\n").flatMap((line) => line.replace(/#.*/, "").split(" ").filter(Boolean));
  return `SECTIONS
{
  .text.often : ALIGN(CONSTANT(MAXPAGESIZE))
  {
${names.map((name) => `    ${pattern(name)}\n`).join("")}  }
}
INSERT BEFORE .text;
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(linkerScript(readFileSync(process.argv[2]!, "utf8")));
