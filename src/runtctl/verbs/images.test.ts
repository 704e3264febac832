import { expect, test } from "vitest";
import { ClientError } from "../client.ts";
import { untilFree } from "./images.ts";

const busy = () => new ClientError("images-busy", "busy: for 30 s", { status: 409 });

test("a prune is asked for again while the images are in use, and not for ever", async () => {
  let asked = 0;
  const free = untilFree(async () => {
    if (++asked < 20) throw busy();
    return "pruned";
  });
  expect(await free).toBe("pruned");
  const never = untilFree(async () => {
    throw busy();
  });
  await expect(never).rejects.toMatchObject({ code: "images-busy", message: "asked 20 times; busy: for 30 s", status: 409 });
});

test("another error ends it", async () => {
  let asked = 0;
  const failing = untilFree(async () => {
    asked++;
    throw new ClientError("unreachable", "no daemon");
  });
  await expect(failing).rejects.toMatchObject({ code: "unreachable" });
  expect(asked).toBe(1);
});
