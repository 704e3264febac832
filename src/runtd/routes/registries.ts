/** Logins to registries, in the file that pulls read. */
import { z } from "zod";
import { jsonRoute } from "../http/route.ts";

const registry = z.string().min(1).max(512).describe("HOST[:PORT], or HOST[:PORT]/NAMESPACE.");
const place = {
  file: z
    .string()
    .regex(/^\/[^\0]*$/)
    .max(4096)
    .optional()
    .describe("Absolute path of a file as in containers-auth.json(5). Default: the file that pulls read."),
  credentials: z.string().optional().describe("Name of the host's credentials, whose file is meant. Default: default."),
};
const file = z.string().describe("The file that has the login.");

export const loginToRegistry = jsonRoute({
  method: "post",
  path: "/v1/registries/login",
  operation: "loginToRegistry",
  access: "admin",
  summary: "Log in to a registry, for pulls and pushes",
  description:
    "The daemon asks the registry whether it accepts the password. Then it writes the login to the file, or gives it to the credential helper that the file names for the registry.",
  body: z.strictObject({
    registry,
    username: z
      .string()
      .regex(/^[^:\p{Cc}]+$/u)
      .max(1024),
    password: z
      .string()
      .regex(/^[^\0\r\n]+$/)
      .max(65_536),
    ...place,
  }),
  answer: {
    status: 200,
    description: "The registry accepts the password, and the login is written",
    schema: z
      .strictObject({
        registry,
        file,
        helper: z.string().nullable().describe("The credential helper that has the password. null: the file has it."),
        readAs: z.string().nullable().describe("Name of the host's credentials whose pulls read the file. null: no pull reads it."),
      })
      .meta({ id: "RegistryLogin" }),
  },
  errors: ["login-failed"],
  handle: ({ logins, body: { registry: name, username, password, ...where }, context }) =>
    logins.login(name, { username, password }, where, context.req.raw.signal),
});

export const logoutFromRegistry = jsonRoute({
  method: "post",
  path: "/v1/registries/logout",
  operation: "logoutFromRegistry",
  access: "admin",
  summary: "Remove the login of a registry, or all logins",
  body: z
    .strictObject({ registry: registry.optional(), all: z.literal(true).optional().describe("All registries of the file."), ...place })
    .refine((body) => (body.registry === undefined) !== (body.all === undefined), "either registry or all is needed"),
  answer: {
    status: 200,
    description: "The registries whose logins are removed",
    schema: z.strictObject({ removed: z.array(z.string()), file }).meta({ id: "RegistryLogout" }),
  },
  errors: ["login-failed", "not-logged-in"],
  handle: ({ logins, body, context }) => logins.logout(body.registry, body, context.req.raw.signal),
});

export const getRegistryUser = jsonRoute({
  method: "get",
  path: "/v1/registries/user",
  operation: "getRegistryUser",
  access: "admin",
  summary: "Get the user that is logged in to a registry",
  query: z.object({ registry, ...place }),
  answer: { status: 200, description: "The user", schema: z.strictObject({ username: z.string(), file }).meta({ id: "RegistryUser" }) },
  errors: ["login-failed", "not-logged-in"],
  handle: ({ logins, query: { registry: name, ...where }, context }) => logins.user(name, where, context.req.raw.signal),
});
