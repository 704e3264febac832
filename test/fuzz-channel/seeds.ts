/** Cases to begin with, beside the recorded ones: sessions that are made up. Usage: seeds.ts DIRECTORY */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DATA_MOST, encodeFrame } from "../../src/runtime/isolation/channel/index.ts";
import { randomFrom, session } from "../support/channel/sessions.ts";
import { guestItems, hostItem, type Item, parseCase, printCase } from "./case.ts";
import { FILL, mutate } from "./subject.ts";

const COUNT = 64;
const directory = process.argv[2];
if (directory === undefined) throw new Error("seeds.ts DIRECTORY");
mkdirSync(directory, { recursive: true });
const HELLO = encodeFrame("hello", 0, new TextEncoder().encode(JSON.stringify({ version: "1", commit: "c" })));
const put = (name: string, items: readonly Item[]): void => writeFileSync(join(directory, name), printCase(items));
for (let seed = 0; seed < COUNT; seed++) {
  const items = session(randomFrom(seed)).flatMap((step) =>
    "guest" in step ? guestItems(step.guest) : [hostItem(step.host, "stream" in step ? step.stream : 0)],
  );
  put(`session-${seed}`, [...items, hostItem("close", 1)]);
  put(`damaged-${seed}`, parseCase(mutate(printCase(items), seed)));
}
for (const channel of ["stdout", "stderr"] as const) {
  // As much as a stream may bring without credit, and a byte more.
  const flood = [DATA_MOST, DATA_MOST, DATA_MOST, DATA_MOST, 1].flatMap((bytes) =>
    guestItems(encodeFrame(channel, 1, new Uint8Array(bytes))),
  );
  put(`flood-${channel}`, [hostItem("open"), ...guestItems(HELLO), ...flood]);
}
put("wrong", [hostItem("open"), ...[4, 5, 6, 7].map((which) => hostItem("wrong", which))]);
put("fill", [hostItem("wrong", FILL)]);
