import { describe, expect, it } from "vitest";
import { foreignHierarchies, parseMemberships, restoreRoots } from "./cgroups.ts";

const DIRECTORIES = ["/sys/fs/cgroup/memory/pod/web", "/sys/fs/cgroup/cpu,cpuacct/pod/web"];
const of = (hugetlb: string, memory = "/pod/web", unified = "/") =>
  parseMemberships(`4:hugetlb:${hugetlb}\n3:cpu,cpuacct:/pod/web\n2:memory:${memory}\n1:name=systemd:/odd:path\n0::${unified}\n`);

describe("hierarchies", () => {
  it("are read with colons in their paths", () => {
    expect(of("/").slice(3)).toEqual([
      { controllers: "name=systemd", path: "/odd:path" },
      { controllers: "", path: "/" },
    ]);
  });

  it("without a cgroup of the container's are left out of a dump", () => {
    expect(foreignHierarchies(of("/", "/pod/web/init.scope", "/user.slice/shell"), DIRECTORIES)).toEqual([
      { controller: "hugetlb", path: "/cgroup.procs" },
      { controller: "name=systemd", path: "/cgroup.procs" },
      { controller: "", path: "/cgroup.procs" },
    ]);
    expect(foreignHierarchies(of("/pod/web"), DIRECTORIES).map(({ controller }) => controller)).toEqual(["name=systemd", ""]);
    expect(foreignHierarchies(of("/pod"), []).length).toBe(5);
  });

  it("of several controllers are one root for each at a restore", () => {
    expect(restoreRoots(of("/")).slice(1, 3)).toEqual([
      { controller: "cpu", path: "/pod/web" },
      { controller: "cpuacct", path: "/pod/web" },
    ]);
  });
});
