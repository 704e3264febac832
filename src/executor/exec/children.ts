/** Each `runt exec` ends with this process, when that ends in an orderly way: it hands the signal on to what it runs. */
import type { ChildProcess } from "node:child_process";

const alive = new Set<ChildProcess>();

function endAll(): void {
  for (const child of alive) child.kill("SIGTERM");
}

export function endWithThis(child: ChildProcess): void {
  if (alive.size === 0) process.on("exit", endAll);
  alive.add(child);
  const forget = () => {
    alive.delete(child);
    if (alive.size === 0) process.off("exit", endAll);
  };
  child.once("exit", forget).once("error", forget);
}
