/** The engine's end of --console-socket. */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { program } from "../support/programs.ts";
import { waitFor } from "./container.ts";
import type { Context } from "./context.ts";

export interface Console {
  readonly socket: string;
  /** One line about the message that has come ("fds=1 payload=... terminal=yes more=no"), then what the terminal has shown. */
  text(): string;
}

/** A socket that takes one terminal; gone after the test. */
export async function listenForConsole(c: Context): Promise<Console> {
  const directory = c.scratch("console");
  const [socket, output] = [join(directory, "socket"), join(directory, "output")];
  const out = openSync(output, "w");
  const receiver = spawn(program("receive-console"), [socket], { stdio: ["ignore", out, "inherit"] });
  closeSync(out);
  c.cleanup(() => void receiver.kill("SIGKILL"));
  await waitFor(() => readFileSync(output, "utf8").startsWith("listening\n"), "the console's receiver");
  return { socket, text: () => readFileSync(output, "utf8").slice("listening\n".length) };
}
