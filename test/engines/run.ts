/** Execute one scenario. */
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Engine, IMAGE } from "./engine.ts";
import { call, type Output, type Running, start } from "./process.ts";
import { mismatch, type Scenario, type Step } from "./scenario.ts";

export interface Outcome {
  readonly passed: boolean;
  /** Description of the failure: step, expectation, output. */
  readonly detail: string;
  readonly milliseconds: number;
}

const POLL_MS = 100;
/** Until a background step listens. */
const SETTLE_MS = 300;

let count = 0;

export async function runScenario(engine: Engine, scenario: Scenario, directory: string): Promise<Outcome> {
  const id = `t${process.pid}-${++count}`;
  const own = join(directory, id);
  // Rootless users look into it.
  mkdirSync(own);
  chmodSync(own, 0o777);
  const background: { readonly step: Step; readonly running: Running }[] = [];
  const began = Date.now();
  let detail = "";
  try {
    for (const [index, step] of scenario.steps.entries()) {
      const substitute = substitution(engine, id, own);
      if (step.background) {
        background.push({ step, running: start(commandOf(engine, step, substitute), { env: engine.env, cwd: own }) });
        await sleep(SETTLE_MS);
        continue;
      }
      detail = await attempt(engine, step, substitute, id, own);
      if (detail !== "") {
        detail = `step ${index + 1} (${step.args.join(" ")}): ${detail}`;
        break;
      }
    }
    if (detail === "") await scenario.act?.({ engine, id, directory: own });
    for (const { step, running } of background) {
      running.child.kill("SIGTERM");
      const output = await running.ended;
      const wrong = mismatch({ status: "any", ...step.expect }, output.status, output.stdout, output.stderr);
      if (detail === "" && wrong !== undefined) detail = `background ${step.args.join(" ")}: ${wrong}\n${tell(output)}`;
    }
  } catch (error) {
    detail = String(error);
  } finally {
    await engine.clean(id);
  }
  return { passed: detail === "", detail, milliseconds: Date.now() - began };
}

type Substitute = (text: string) => string;

function substitution(engine: Engine, id: string, directory: string): Substitute {
  return (text) =>
    text
      .replaceAll("{id}", id)
      .replaceAll("{image}", IMAGE)
      .replaceAll("{dir}", directory)
      .replaceAll("{engine}", engine.command([]).map(quote).join(" "))
      .replaceAll("{cgroup-parent}", engine.cgroupPath("").replaceAll(/^\/|\/[^/]*$/g, ""))
      .replace(/\{cgroup:(\w+)\}/g, (_, hierarchy: string) => `/sys/fs/cgroup/${hierarchy}${engine.cgroupPath(id)}`);
}

function commandOf(engine: Engine, step: Step, substitute: Substitute, copy = 0): readonly string[] {
  if (step.kind === "host") return ["/bin/sh", "-c", substitute(step.args[0] ?? "")];
  const command = engine.command(engine.expand(step).map((word) => substitute(word).replaceAll("{n}", String(copy))));
  return step.tty ? ["script", "-qec", command.map(quote).join(" "), "/dev/null"] : command;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** "" when the step did what is expected. */
async function attempt(engine: Engine, step: Step, substitute: Substitute, id: string, cwd: string): Promise<string> {
  if (step.kind === "update") {
    await engine.update?.(id, step.args[0] ?? "");
    return "";
  }
  if (step.kind === "restart") {
    if (!engine.restart) return "this engine has no daemon";
    await engine.restart(step.args[0] as NodeJS.Signals);
    return "";
  }
  const deadline = Date.now() + (step.within ?? 0);
  for (;;) {
    const copies = Array.from({ length: step.copies ?? 1 }, (_, copy) => commandOf(engine, step, substitute, copy));
    const options = { env: engine.env, cwd, openInput: step.tty === true, ...(step.input === undefined ? {} : { input: step.input }) };
    const outputs = await Promise.all(copies.map((command) => call(command, options)));
    const wrong = outputs.flatMap((output) => {
      const text = mismatch(step.expect, output.status, output.stdout, output.stderr);
      return text === undefined ? [] : [`${text}\n${tell(output)}`];
    });
    if (wrong.length === 0) return "";
    if (Date.now() >= deadline) return wrong[0]!;
    await sleep(POLL_MS);
  }
}

function tell({ status, stdout, stderr }: Output): string {
  return `status ${status}\nstdout: ${stdout.slice(-1500)}\nstderr: ${stderr.slice(-1500)}`;
}
