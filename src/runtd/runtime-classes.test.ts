import { expect, test } from "vitest";
import { runtimesOf } from "./runtime-classes.ts";

test("names are those of Kubernetes' runtime classes, and programs are absolute paths", () => {
  expect(runtimesOf(["vm=/usr/sbin/runt-vm", "kata.v2=/opt/a=b"])).toEqual({ vm: "/usr/sbin/runt-vm", "kata.v2": "/opt/a=b" });
  expect(runtimesOf()).toEqual({});
  for (const value of ["vm", "=/x", "VM=/x", "a b=/x", "vm=", "vm=x", "../a=/x"])
    expect(() => runtimesOf([value]), value).toThrow("runtime-class");
  expect(() => runtimesOf(["vm=/a", "vm=/b"])).toThrow("vm is there twice");
});
