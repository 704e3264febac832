import { expect, test } from "vitest";
import { tasksIn } from "./codec.ts";

test("a record of a newer program is refused by name", () => {
  const content = JSON.stringify({ version: 99, id: "default.web.1" });
  expect(() => tasksIn([{ kind: "task", key: "default.web.1", content }], "/state/engine.db")).toThrow(
    expect.objectContaining({ code: "newer-schema", message: expect.stringContaining("the record of task default.web.1 is version 99") }),
  );
});
