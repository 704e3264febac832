import { expect, test } from "vitest";
import { runtimesOf, userIdsOf } from "./config.ts";

test("names are those of Kubernetes' runtime classes, and programs are absolute paths", () => {
  expect(runtimesOf(["vm=/usr/sbin/runt-vm", "kata.v2=/opt/a=b"])).toEqual({ vm: "/usr/sbin/runt-vm", "kata.v2": "/opt/a=b" });
  expect(runtimesOf()).toEqual({});
  for (const value of ["vm", "=/x", "VM=/x", "a b=/x", "vm=", "vm=x", "../a=/x"])
    expect(() => runtimesOf([value]), value).toThrow("runtime-class");
  expect(() => runtimesOf(["vm=/a", "vm=/b"])).toThrow("vm is there twice");
});

test("ids for pods are a range of at least one pod, and never those of the host's own users", () => {
  expect(userIdsOf("100000:131072")).toEqual({ first: 100_000, count: 131_072 });
  expect(userIdsOf(undefined)).toBeUndefined();
  for (const value of ["", "1", "a:b", "-1:65536", "0:65536", "65535:65536", "65536:65535", "4294901760:65536", "1e5:65536"])
    expect(() => userIdsOf(value), value).toThrow("user-ids");
});
