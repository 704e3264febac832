import { expect, test } from "vitest";
import { ImageError } from "./errors.ts";
import { runTool, withProgress } from "./tool.ts";
import { Lock } from "./waiting.ts";

const never = new Promise<void>(() => {});

test("who needs the store alone delays no reader, and is refused by name when it stays in use", async () => {
  const lock = new Lock();
  void lock.read(() => never);
  const order: string[] = [];
  const removal = lock.write(async () => {}, 200).catch(({ code, message }) => order.push(code, message));
  await lock.read(async () => order.push("read"));
  await removal;
  expect(order).toEqual([
    "read",
    "store-busy",
    "busy: for 0.2 s images were being pulled, unpacked or removed without a break; nothing was removed, try again later",
  ]);
});

test("a writer is alone, and readers that wait for it come before the next one", async () => {
  const lock = new Lock();
  const order: string[] = [];
  let end = () => {};
  const first = new Promise<void>((begun) => {
    void lock.write(async () => {
      begun();
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      order.push("first");
    });
  });
  await first;
  const others = [lock.write(async () => order.push("second")), lock.read(async () => order.push("read"))];
  await new Promise(setImmediate);
  end();
  await Promise.all(others);
  expect(order).toEqual(["first", "read", "second"]);
});

test("on a store that is always in use new pulls wait for a writer, and containers do not", async () => {
  const lock = new Lock({ openMs: 50, closedMs: 600_000 });
  const order: string[] = [];
  let isOver = false;
  // Each pull begins before the one before it has ended.
  const pull = async (): Promise<void> => {
    if (isOver) return;
    let next: Promise<void> | undefined;
    await lock.read(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 10));
        next = pull();
      },
      { kind: "pull" },
    );
    await next;
  };
  const pulls = pull();
  let end = () => {};
  const using = new Promise<void>((resolve) => {
    end = resolve;
  });
  const used = lock.read(() => using);
  const removal = lock.write(async () => order.push("removed"));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await lock.read(async () => order.push("started"));
  end();
  await removal;
  isOver = true;
  await Promise.all([pulls, used]);
  expect(order).toEqual(["started", "removed"]);
});

test("new pulls wait for a while only: a registry that does not answer keeps nobody from the others", async () => {
  const lock = new Lock({ openMs: 50, closedMs: 50 });
  let end = () => {};
  const stalled = lock.read(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
    { kind: "pull" },
  );
  const removal = lock.write(async () => {});
  for (let count = 0; count < 3; count++) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    await lock.read(async () => {}, { kind: "pull" });
  }
  end();
  await Promise.all([stalled, removal]);
});

test("of sweeps that wait one is made for all", async () => {
  const lock = new Lock();
  let [end, count] = [() => {}, 0];
  const reader = lock.read(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  const sweep = () => lock.sweep(async () => count++);
  const sweeps = [sweep(), sweep(), sweep()];
  end();
  await Promise.all([reader, ...sweeps]);
  await sweep();
  expect(count).toBe(2);
});

test("a program that neither reads nor writes is ended, and one that does is not", async () => {
  const { signal } = new AbortController();
  const late = () => new ImageError("push-failed", "nothing was taken");
  const run = (script: string) => withProgress((options) => runTool("sh", ["-c", script], options), { signal, stalledMs: 1_500, late });
  await expect(run("sleep 1000")).rejects.toMatchObject({ code: "push-failed" });
  const busy = "n=0; while [ $n -lt 30 ]; do sleep 0.1; n=$((n + 1)); read -r _ </proc/self/stat; done; echo done";
  expect((await run(busy)).toString()).toBe("done\n");
});

test("a program with progress is ended with its caller's signal", async () => {
  const stop = new AbortController();
  const late = () => new ImageError("push-failed", "nothing was taken");
  const run = withProgress((options) => runTool("sleep", ["1000"], options), { signal: stop.signal, stalledMs: 60_000, late });
  stop.abort(new Error("not wanted"));
  await expect(run).rejects.toThrow("not wanted");
});

test("a start that is cancelled does not wait until the store is not locked any more", async () => {
  const lock = new Lock();
  let end = () => {};
  const removal = lock.write(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  const stop = new AbortController();
  const start = lock.read(async () => "started", { signal: stop.signal });
  const other = lock.read(async () => "started", { signal: new AbortController().signal });
  stop.abort(new ImageError("cancelled", "the request was cancelled"));
  await expect(start).rejects.toMatchObject({ code: "cancelled" });
  await expect(lock.read(async () => "started", { signal: stop.signal })).rejects.toMatchObject({ code: "cancelled" });
  end();
  await removal;
  expect(await other).toBe("started");
});
