/**
 * Colours, for people only: on a terminal, unless NO_COLOR is set to anything (https://no-color.org) or the terminal is "dumb" or unknown.
 * What programs read has none.
 */
import * as host from "../host/index.ts";

export interface Style {
  readonly error: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly advice: (text: string) => string;
}

/** The style for what goes to this descriptor. Asks the terminal and the environment: not to be called when a module is loaded. */
export function styleOf(fd: number): Style {
  return isColoured(fd) ? COLOURED : PLAIN;
}

function isColoured(fd: number): boolean {
  const terminal = host.getenv("TERM") ?? "";
  return !host.getenv("NO_COLOR") && terminal !== "" && terminal !== "dumb" && host.isatty(fd);
}

/** SGR sequences of ECMA-48 (console_codes(4)): bold with a colour of the terminal's own palette. */
const sgr = (code: string) => (text: string) => `\u001b[${code}m${text}\u001b[0m`;
const COLOURED: Style = { error: sgr("1;31"), warning: sgr("1;33"), advice: sgr("1;36") };

const plain = (text: string) => text;
const PLAIN: Style = { error: plain, warning: plain, advice: plain };
