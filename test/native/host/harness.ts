/** The smallest test harness: names, assertions, counts. */
import * as host from "../../../src/runtime/host/index.ts";

export type Test = readonly [name: string, test: () => void];

let passed = 0;
let failed = 0;

export function run(name: string, test: () => void): void {
  try {
    test();
    passed++;
  } catch (error) {
    failed++;
    host.write(2, `FAILED host: ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

/** The last line of the output: counts for the lane. Returns the exit status. */
export function summary(): number {
  host.write(1, `host ${passed} ${failed} 0\n`);
  return failed === 0 ? 0 : 1;
}

export function equal(actual: unknown, expected: unknown, what = "value"): void {
  const [a, b] = [show(actual), show(expected)];
  if (a !== b) throw new Error(`${what}: ${a} instead of ${b}`);
}

export function ok(condition: boolean, what: string): void {
  if (!condition) throw new Error(what);
}

/** The action throws a host error of this code. */
export function throws(code: string, action: () => unknown): void {
  try {
    action();
  } catch (error) {
    const found = (error as { code?: string }).code ?? (error as Error).name;
    equal(found, code, (error as Error).message);
    return;
  }
  throw new Error(`nothing thrown instead of ${code}`);
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? `${inner}n` : inner)) ?? "undefined";
}
