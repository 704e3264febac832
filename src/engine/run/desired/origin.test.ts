import { expect, test } from "vitest";
import { checkOrigin, projectsIn } from "./origin.ts";

const task = (name: string, from?: string, group = "g") => ({ name, group, isDeleteAsked: false, ...(from === undefined ? {} : { from }) });
const TASKS = [task("web", "/a/web.yaml"), task("old"), task("db", "/b/db.yaml"), task("web", "/c/web.yaml", "other")];
const owned = { group: "g", tasks: TASKS, project: undefined };
const isNamed =
  (...names: string[]) =>
  (name: string) =>
    names.includes(name);

test("what a project has made is refused to a file, by name; what another file has made is not", () => {
  const ofProject = { ...owned, project: "/srv/shop", tasks: [...TASKS, task("cart", "/srv/shop")] };
  expect(() => checkOrigin({ from: "/x.yaml" }, ofProject, isNamed("web", "cart"))).toThrow(
    "task cart of group g was made from /srv/shop, and not from /x.yaml: use another group (-g NAME; -p NAME for a Compose file), or say that they are meant (--take-over)",
  );
  checkOrigin({ from: "/x.yaml", takeOver: true }, ofProject, isNamed("cart"));
  checkOrigin({}, ofProject, isNamed("cart"));
  checkOrigin({ from: "/x.yaml" }, ofProject, isNamed("web", "old", "new"));
  checkOrigin({ from: "/x.yaml" }, owned, isNamed("web", "old", "db"));
});

test("a project has its group to itself, also when only volumes are left of it", () => {
  const project = { from: "/srv/shop", isProject: true };
  expect(() => checkOrigin(project, owned, isNamed("new"))).toThrow("tasks web, db of group g were made from /a/web.yaml");
  const empty = { group: "g", tasks: [], project: "/srv/blog" };
  expect(() => checkOrigin(project, empty, isNamed())).toThrow("the project g was made from /srv/blog, and not from /srv/shop");
  checkOrigin({ ...project, from: "/srv/blog" }, empty, isNamed());
  const of = (tasks: typeof TASKS, hasVolumes: boolean) => projectsIn({ g: "/srv/blog" }, tasks, () => hasVolumes)("g");
  expect([of(TASKS, false), of([], true), of([], false)]).toEqual(["/srv/blog", "/srv/blog", undefined]);
});
