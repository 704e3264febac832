/** Colours, only on a terminal and without NO_COLOR (no-color.org). */
import { variable } from "../platform/index.ts";

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const;

export type StyleName = keyof typeof CODES;
export type Style = (name: StyleName, text: string) => string;

export const plain: Style = (_, text) => text;

const coloured: Style = (name, text) => `\u001b[${CODES[name][0]}m${text}\u001b[${CODES[name][1]}m`;

export function styleFor({ isTTY }: { readonly isTTY: boolean }, variableOf: (name: string) => string | undefined = variable): Style {
  const isWanted = isTTY && !variableOf("NO_COLOR") && variableOf("TERM") !== "dumb";
  return isWanted ? coloured : plain;
}

/** The colour for a state of a container or a task. */
export function stateStyle(state: string): StyleName {
  if (state === "RUNNING" || state === "RESOURCES_PROVISIONED") return "green";
  return state === "STOPPED" ? "dim" : "yellow";
}

/** Escapes control characters, so that text from a container cannot control the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (one) => `\\x${one.codePointAt(0)!.toString(16).padStart(2, "0")}`);
}
