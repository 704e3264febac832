/** How long what dies may take to be gone. */
const SETTLE_MS = 30_000;
const STEP_MS = 10;

/** Whether it threw nothing. */
export function attempt(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

/** False: not in time. Without giving way to other work of this process: there is none. */
export function until(isDone: () => boolean): boolean {
  const deadline = Date.now() + SETTLE_MS;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  while (!isDone()) {
    if (Date.now() > deadline) return false;
    Atomics.wait(cell, 0, 0, STEP_MS);
  }
  return true;
}
