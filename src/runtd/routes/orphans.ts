import { z } from "zod";
import { jsonRoute } from "../http/route.ts";
import { orphanView } from "../schemas/orphan.ts";

export const listOrphans = jsonRoute({
  method: "get",
  path: "/v1/orphans",
  operation: "listOrphans",
  access: "read",
  summary: "Containers that the store does not know",
  answer: { status: 200, description: "By id", schema: z.strictObject({ orphans: z.array(orphanView) }) },
  handle: async ({ engine }) => ({ orphans: [...(await engine.orphans())] }),
});
