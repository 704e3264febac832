import { expect, test } from "vitest";
import { type ServerEvent, serverEvents } from "./server-events.ts";

async function read(pieces: readonly (string | Uint8Array)[]): Promise<ServerEvent[]> {
  const body = (async function* () {
    for (const piece of pieces) yield Buffer.from(piece);
  })();
  const found: ServerEvent[] = [];
  for await (const one of serverEvents(body)) found.push(one);
  return found;
}

test("events that are whole, however they are cut; comments and fields without data are none", async () => {
  const text = 'id: 7\nevent: gap\ndata: {"a":"\u00e4"}\n\n: still here\n\nid:8\ndata:one\ndata: two\n\nevent: alone\n\ndata: not whole\n';
  const bytes = Buffer.from(text);
  const expected = [
    { event: "gap", id: "7", data: '{"a":"\u00e4"}' },
    { event: "", id: "8", data: "one\ntwo" },
  ];
  for (const length of [1, 2, 7, bytes.length]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
      bytes.subarray(index * length, (index + 1) * length),
    );
    expect(await read(pieces)).toEqual(expected);
  }
});

test("an event has an end", async () => {
  const piece = Buffer.alloc(1 << 20, "x");
  await expect(read(["data: ", ...Array.from({ length: 17 }, () => piece)])).rejects.toThrow("sends an event without an end");
});
