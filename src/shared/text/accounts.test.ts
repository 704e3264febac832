import { expect, test } from "vitest";
import { parseAccounts } from "./accounts.ts";

test.each([
  ["a user", "root:x:0:0:root:/root:/bin/sh\n", [["root", "x", "0", "0", "root", "/root", "/bin/sh"]]],
  ["a group without members", "tty:x:5:\n", [["tty", "x", "5", ""]]],
  ["a range, without a line feed", "user:100000:65536", [["user", "100000", "65536"]]],
  [
    "empty lines and NIS",
    "\n+\n+::\nroot:x:0\n",
    [
      ["+", "", ""],
      ["root", "x", "0"],
    ],
  ],
  ["nothing", "", []],
])("%s", (_, text, fields) => {
  expect(parseAccounts(text)).toEqual(fields);
});
