import { expect, test } from "vitest";
import { cpuList } from "../../config/index.ts";
import { checkKernelList } from "./kernel-list.ts";

const check = (text: string) => () => checkKernelList(text, "/x", cpuList);

// Each was written to cpuset.cpus of Linux 6.18.
test.each(["", "0", "0-3,7", "all", "N", "0-N", "0 1", ",0,,1,", "0-1:1/2", "all:1/2", "0,N"])("%j is a list of the kernel's", (text) => {
  expect(check(text)).not.toThrow();
});

test.each([",", "every", "0x1", "-1", "3-1", "1-", "0;1", "0-1:1", "0-1:1/0", "n", "9999"])("%j is none", (text) => {
  expect(check(text)).toThrow(/is not a list/);
});
