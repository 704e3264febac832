// 3 MB through cat in a container: much more than its FIFOs hold. Usage, as root: node transfer.mjs ROOTFS
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Executor } from "@runt-project/runt";

const [rootfs] = process.argv.slice(2);
const stateDir = mkdtempSync(join(tmpdir(), "transfer-"));
const executor = new Executor({ stateDir, id: "cat" });
await executor.launch({ rootfs, cmd: "cat", stdio: { stdin: "pipe", stdout: "pipe" } });
const content = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => index % 251));
executor.stdin.end(content);
const chunks = [];
for await (const chunk of executor.stdout) chunks.push(chunk);
const copied = Buffer.concat(chunks);
console.log(`${copied.length} bytes, ${copied.equals(content) ? "the same" : "and not the same"}`);
await executor.wait();
executor.remove();
rmSync(stateDir, { recursive: true });
