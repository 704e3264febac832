import fc from "fast-check";
import { expect, it } from "vitest";
import { runsOf } from "../../../../test/support/runs.ts";
import { cleanTarget } from "../../spec/index.ts";
import { reportInto } from "../finding.ts";
import { mountOrder } from "./advice.ts";

function hidden(destinations: readonly string[]): string[] {
  const findings: Parameters<typeof reportInto>[0] = [];
  mountOrder({ ociVersion: "1.3.0", mounts: destinations.map((destination) => ({ destination })) }, reportInto(findings), {});
  return findings.map(({ pointer, message }) => `${pointer}: ${message}`);
}

/** Each mount beside each later one: what the first of them at its path or above it says. */
function byPairs(destinations: readonly string[]): string[] {
  const paths = destinations.map(cleanTarget);
  return paths.flatMap((later, index) =>
    paths.slice(0, index).flatMap((path, earlier) => {
      const covers = (cover: string) => cover !== "/" && path !== "/" && (path === cover || path.startsWith(`${cover}/`));
      if (!covers(later) || paths.slice(earlier + 1, index).some(covers)) return [];
      const what =
        path === later
          ? `"${path}" is mounted again by entry ${index}, which hides this one`
          : `"${path}" is hidden by the later mount of "${later}" (entry ${index})`;
      return [`/mounts/${earlier}/destination: ${what}`];
    }),
  );
}

it("names each mount that a later one hides, once", () => {
  const name = fc.constantFrom("a", "b", "c", "..", "");
  const destinations = fc.array(
    fc.array(name, { maxLength: 4 }).map((parts) => `/${parts.join("/")}`),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(destinations, (list) => {
      expect(hidden(list)).toEqual(byPairs(list));
    }),
    { numRuns: runsOf(3000) },
  );
});

it("takes many mounts at one place, or below one directory that is then hidden", () => {
  const many = Array.from({ length: 100_000 }, (_, index) => `/d/${index}`);
  expect(hidden([...many, "/d"])).toHaveLength(many.length);
  expect(hidden(many.map(() => "/d"))).toHaveLength(many.length - 1);
});
