/** What the plan's bundle is to an engine, as a person reads it: behind the operations, because nothing of it is done. */
import { OWN, type Sandbox, type Size } from "../config/index.ts";
import { layOut } from "./print.ts";

const LABEL = " SANDBOX ";

export function printSandbox(sandbox: Sandbox): string {
  const { type, manager, id, size, shm, from } = sandbox;
  const named = id === undefined ? "without an id" : type === "container" ? `of sandbox ${id}` : id;
  const rows: (readonly [text: string, pointer: string])[] = [
    type === "single" ? ["single container", ""] : [`${type} ${named} (${manager})`, from[0] ?? ""],
  ];
  if (size) {
    rows.push([`may use ${cpuText(size)}, ${memoryText(size)}`, size.from[0] ?? ""]);
    const { vcpus, memoryMiB } = size.machine;
    rows.push([`as a machine: ${vcpus} vCPUs, ${memoryMiB} MiB (${OWN.vcpus} vCPU and ${OWN.memoryMiB} MiB of its own)`, ""]);
  }
  if (shm) rows.push(["bytes" in shm ? `/dev/shm of ${shm.bytes} bytes` : `/dev/shm is ${shm.source}`, ""]);
  return rows
    .flatMap(([text, pointer], index) => layOut(index === 0 ? LABEL : " ".repeat(LABEL.length), text, pointer))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

function cpuText({ cpus }: Size): string {
  return cpus === 0 ? "any CPU time" : `${Number(cpus.toFixed(3))} ${cpus === 1 ? "CPU" : "CPUs"}`;
}

function memoryText({ memoryMiB }: Size): string {
  return memoryMiB === 0 ? "any memory" : `${memoryMiB} MiB`;
}
