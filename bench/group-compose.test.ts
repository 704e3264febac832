import { expect, test } from "vitest";
import { read } from "../test/support/engine/compose-file.ts";
import { groupCompose, IMAGE_VARIABLE } from "./group-compose.ts";
import { MARKS } from "./group-pod.ts";

test("the file of Compose's side is one that runtctl takes, with each side's name of the image and an unchanged script", () => {
  const { tasks } = read(groupCompose("/shared"), { environment: { [IMAGE_VARIABLE]: "docker-archive:/image.tar" } });
  expect(tasks.map(({ name }) => name)).toEqual(MARKS);
  expect(new Set(tasks.map(({ containers: [only] }) => only!.image))).toEqual(new Set(["docker-archive:/image.tar"]));
  const [init0, init1, main0] = tasks.map(({ containers: [only] }) => ({ words: [only!.command, ...only!.args], after: only!.dependsOn }));
  expect(main0!.words.at(-1)).toBe("touch /shared/main0; trap 'exit 0' TERM; sleep 100000 & wait $!");
  const succeeded = (name: string) => [{ container: `${name}/${name}`, condition: "SUCCESS" }];
  expect([init0, init1, main0].map((one) => one!.after)).toEqual([[], succeeded("init0"), succeeded("init1")]);
});
