import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const host = fileURLToPath(new URL("test/support/node-host.ts", import.meta.url));

/** The lanes: `vitest run --project NAME`. All but `unit` need root and make real containers, one file at a time. */
const lane = (name: string, testTimeout: number) => ({
  resolve: { alias: { "runt:host": host } },
  test: { name, include: [`test/${name}/**/*.test.ts`], fileParallelism: false, testTimeout, hookTimeout: 60_000 },
});

export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias: { "runt:host": host } },
        test: { name: "unit", include: ["src/**/*.test.ts", "test/unit/**/*.test.ts", "tools/**/*.test.ts"] },
      },
      lane("native", 20_000),
      lane("e2e", 30_000),
      lane("differential", 60_000),
    ],
  },
});
