import { expect, test } from "vitest";
import type { ContainerView, Progress } from "../engine/index.ts";
import { progressBar, progressText, sizeText } from "./output/bar.ts";
import { lineOf } from "./pulling.ts";

const MI = 1024 * 1024;
const HALF: Progress = { bytes: 30 * MI, total: 60 * MI, layers: { done: 1, total: 2 } };
const container = (name: string, pull?: ContainerView["pull"], pullProgress?: Progress) =>
  ({ name, ...(pull && { pull }), ...(pullProgress && { pullProgress }) }) as ContainerView;
const task = (name: string, ...containers: ContainerView[]) => ({ name, containers });

test("the progress of an image is said in layers and bytes, as far as its source tells them", () => {
  expect(progressText(HALF)).toBe("1 of 2 layers, 30Mi of 60Mi");
  expect(progressText({ bytes: 5, total: 5, layers: { done: 1, total: 1 } })).toBe("1 of 1 layer, 5 of 5");
  expect(progressText({ bytes: 2048, total: null, layers: null })).toBe("2.0Ki so far");
  expect(progressBar(HALF)).toBe(`${"█".repeat(15).padEnd(30)} 1 of 2 layers, 30Mi of 60Mi`);
  expect(progressBar({ bytes: 0, total: 0, layers: { done: 0, total: 0 } })).toMatch(/^█{30} /);
  expect([sizeText({ layers: 7, bytes: 90 * MI }), sizeText(undefined)]).toEqual([" (7 layers, 90Mi)", ""]);
});

test("one line tells of all pulls of the tasks", () => {
  expect(lineOf([])).toBeUndefined();
  expect(lineOf([task("web", container("app"))])).toBeUndefined();
  expect(lineOf([task("web", container("app", "pulling", HALF), container("db"))])).toMatch(
    /^web\/app: pulling █.* 1 of 2 layers, 30Mi of 60Mi$/,
  );
  expect(lineOf([task("web", container("app", "unpacking", HALF))])).toBe("web/app: unpacking");
  const both = [task("web", container("app", "pulling", HALF)), task("db", container("main", "pulling", HALF))];
  expect(lineOf(both)).toMatch(/^2 containers: pulling .* 2 of 4 layers, 60Mi of 120Mi$/);
  const unknown = task("job", container("main", "pulling", { bytes: MI, total: null, layers: null }));
  expect(lineOf([...both, unknown])).toBe("3 containers: pulling 61Mi so far");
  expect(lineOf([task("web", container("app", "unpacking")), ...both.slice(1)])).toMatch(/^2 containers: pulling .* 1 of 2 layers/);
});
