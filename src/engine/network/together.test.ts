import { expect, test } from "vitest";
import { Together } from "./together.ts";

/** Transactions that end when they are told to. */
function scene() {
  const made: { readonly lines: readonly string[]; end: (error?: Error) => void }[] = [];
  const table = new Together(
    (lines) => new Promise<void>((done, failed) => made.push({ lines, end: (error) => (error === undefined ? done() : failed(error)) })),
  );
  return { table, made };
}

const settled = () => new Promise((done) => setImmediate(done));

test("E70: what is asked for at once is made in one transaction, in its order, and so is what is asked for while one is under way", async () => {
  const { table, made } = scene();
  const ended: string[] = [];
  const ask = (line: string) => table.change([line, `${line}'`]).then(() => ended.push(line));
  const all = ["a", "b"].map(ask);
  await settled();
  expect(made.map(({ lines }) => lines)).toEqual([["a", "a'", "b", "b'"]]);
  all.push(...["c", "d"].map(ask));
  await settled();
  expect(made).toHaveLength(1);
  made[0]!.end();
  await settled();
  expect(ended).toEqual(["a", "b"]);
  expect(made[1]?.lines).toEqual(["c", "c'", "d", "d'"]);
  all.push(ask("e"));
  made[1]!.end();
  await settled();
  expect(made[2]?.lines).toEqual(["e", "e'"]);
  made[2]!.end();
  await Promise.all(all);
  expect(made).toHaveLength(3);
});

test("E70: of several that cannot be made together each is made alone, and only its own error is told", async () => {
  const { table, made } = scene();
  const first = table.change(["a"]);
  await settled();
  const others = Promise.allSettled([table.change(["b"]), table.change(["bad"]), table.change(["c"])]);
  const ends = [undefined, new Error("together"), undefined, new Error("bad"), undefined];
  for (const [at, error] of ends.entries()) {
    await settled();
    made[at]!.end(error);
  }
  await first;
  expect(await others).toMatchObject([
    { status: "fulfilled" },
    { status: "rejected", reason: { message: "bad" } },
    { status: "fulfilled" },
  ]);
  expect(made.map(({ lines }) => lines.join())).toEqual(["a", "b,bad,c", "b", "bad", "c"]);
  const again = table.change(["d"]);
  await settled();
  made[5]!.end(new Error("alone"));
  await expect(again).rejects.toThrow("alone");
});
