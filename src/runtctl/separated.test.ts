import { expect, test } from "vitest";
import { programOf } from "./program.ts";
import { separated } from "./separated.ts";
import { exec } from "./verbs/exec.ts";
import { get } from "./verbs/get.ts";
import { run } from "./verbs/run.ts";

const words = (line: string, verb = exec) =>
  separated(
    line.split(" "),
    programOf([verb], "1", () => {}),
    verb,
  ).join(" ");

test.each([
  ["exec web ls -l", "exec web -- ls -l"],
  ["exec -it web -c app sh -c id", "exec -it web -c app -- sh -c id"],
  ["exec -itu root web sh", "exec -itu root web -- sh"],
  ["exec -uroot web sh -u x", "exec -uroot web -- sh -u x"],
  ["-g shop exec --user=a --env A=b web env -i", "-g shop exec --user=a --env A=b web -- env -i"],
  ["exec web -- sh -c id", "exec web -- sh -c id"],
  ["exec web sh -- x", "exec web -- sh -- x"],
  ["exec web", "exec web"],
  ["exec --nonsense web ls", "exec --nonsense web -- ls"],
  ["exec web -", "exec web -- -"],
])("%s", (line, expected) => {
  expect(words(line)).toBe(expected);
});

test.each([
  ["run --rm -p 80:80 nginx nginx -g x", "run --rm -p 80:80 nginx -- nginx -g x"],
  ["run -it --image oci:/x ls -l", "run -it --image oci:/x -- ls -l"],
  ["run nginx", "run nginx"],
])("%s", (line, expected) => {
  expect(words(line, run)).toBe(expected);
});

test("a verb without a program keeps its words", () => {
  expect(words("get web -o json", get)).toBe("get web -o json");
});
