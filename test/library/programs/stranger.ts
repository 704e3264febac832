/** A program of somebody who has installed the package: ROOTFS STATEDIR. Compiled by `tsc --strict` in a project of its own (package.test.ts). */
import {
  type Adoption,
  type ExecEnd,
  type ExecHandle,
  Executor,
  type ExecutorEntry,
  ExecutorError,
  ProgramError,
  type Stats,
  type TerminalSize,
} from "@runt-project/runt";

const [rootfs = "", stateDir = ""] = process.argv.slice(2);
const said: string[] = [];

async function work(): Promise<void> {
  await using executor = new Executor({ stateDir, id: "stranger", atScopeEnd: { graceMs: 0 } });
  await executor.launch({ rootfs, cmd: "sleep", args: ["1000"] });

  await using cat: ExecHandle = await executor.spawn({ cmd: "cat", stdio: { stdin: "pipe" } });
  cat.stdin?.end("through cat");
  for await (const chunk of cat.stdout ?? []) said.push(String(chunk));
  const end: ExecEnd = await cat.wait();
  said.push(`cat ${end.exitCode}`);

  const size: TerminalSize = { rows: 12, columns: 34 };
  await using terminal = await executor.spawn({ cmd: "stty", args: ["size"], pty: size, stdio: { stdin: "pipe" } });
  let shown = "";
  terminal.stdout?.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  await terminal.wait();
  if (terminal.stdout?.readableEnded === false) await new Promise((resolve) => terminal.stdout?.once("end", resolve));
  said.push(shown.trim());

  const error: unknown = await executor
    .exec({ cmd: "sleep", args: ["1000"], signal: AbortSignal.timeout(100) })
    .catch((thrown: unknown) => thrown);
  if (error instanceof ExecutorError) said.push(error.code);
  const missing: unknown = await executor.exec({ cmd: "nowhere" }).catch((thrown: unknown) => thrown);
  if (missing instanceof ProgramError) said.push(missing.reason, String(missing.shellStatus));

  for await (const stats of executor.statsStream({ intervalMs: 50 })) {
    const { processes }: Stats = stats;
    said.push(`processes ${processes.length}`);
    break;
  }
  await executor.pause();
  const entries: ExecutorEntry[] = await Executor.list(stateDir);
  said.push(...entries.map(({ id, state }) => `${id} ${state}`), executor.state);
  await executor.resume();
  const adoptions: Adoption<Executor>[] = await Executor.adoptAll({ stateDir });
  for (const { id, executor: adopted } of adoptions) said.push(`${id} ${adopted?.state}`);
  // @ts-expect-error an exec has a program
  await executor.exec({}).catch(() => said.push("refused"));
}

await work();
console.log(JSON.stringify([...said, ...(await Executor.list(stateDir))]));
