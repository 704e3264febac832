import { spawn } from "node:child_process";

/** Milliseconds from the start of a program to its end. @throws Error: it did not end with 0; with what it has said */
export function timed(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<number> {
  const begun = performance.now();
  return new Promise((done, failed) => {
    const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], ...(env === undefined ? {} : { env }) });
    let said = "";
    child.stderr.on("data", (chunk) => {
      said += chunk;
    });
    let ended = 0;
    child.once("exit", () => {
      ended = performance.now();
    });
    child.once("error", failed);
    child.once("close", (status) => (status === 0 ? done(ended - begun) : failed(new Error(`${program} ${args.join(" ")}: ${said}`))));
  });
}
