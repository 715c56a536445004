import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createReadStream } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { cli } from "../support/CommandLine.ts"
import { picture } from "../support/MediaFiles.ts"
import { acceptPrivateMentions } from "../support/People.ts"
import { TestServer } from "../support/Server.ts"
import { client, eventually, mismatches, newcomer } from "./Megalodon.ts"
import { createdName, type MegalodonCall, megalodonCalls, type Stage } from "./megalodonCalls.ts"
import { megalodonMethods } from "./Methods.ts"
import { copyCode } from "./Visitor.ts"

/** Types that are not entities, or without a declaration. */
const unchecked = /^(?:|\{\}|Record<never, never>|string|WebSocketInterface)$/
/** Calls that Mastodon also refuses. */
const withoutResult = new Set(["deleteFilter"])
const refused: Readonly<Record<string, number>> = { refreshToken: 400 }

const statusOf = (error: unknown): unknown => Reflect.get(Object(Reflect.get(Object(error), "response")), "status")

layer(TestServer.layer({ REGISTRATIONS: "open" }), { excludeTestServices: true })("megalodon", (it) => {
  it.effect("every operation runs, and its result matches megalodon's type", () =>
    Effect.gen(function*() {
      const { baseUrl, variables } = yield* TestServer
      const [anna, ben, cora] = [yield* newcomer("anna"), yield* newcomer("ben"), yield* newcomer("cora")]
      const anybody = yield* client()
      assert.strictEqual((yield* cli(["announcement", "add", "Hello"], variables)).code, 0)
      yield* acceptPrivateMentions(anna, ben)
      const known = new Map([["anna", anna.id], ["ben", ben.id], ["cora", cora.id]])
      const keep = (name: string, value: unknown) => {
        if (typeof value === "string") known.set(name, value)
      }
      // Values that no operation creates under a name.
      const app = yield* Effect.promise(async () => {
        const registered = await anybody.registerApp("App", { scopes: ["read", "write"] })
        const body = new URLSearchParams({
          grant_type: "client_credentials",
          client_id: registered.client_id,
          client_secret: registered.client_secret,
          scope: "read write"
        })
        const token: unknown = await (await fetch(`${baseUrl}/oauth/token`, { method: "POST", body })).json()
        keep("app", Reflect.get(Object(token), "access_token"))
        keep(
          "poll",
          Reflect.get(
            Object(
              Reflect.get(
                (await ben.api.postStatus("which?", { poll: { options: ["a", "b"], expires_in: 3_600 } })).data,
                "poll"
              )
            ),
            "id"
          )
        )
        keep("scheduled", (await anna.api.postStatus("later", { scheduled_at: "2035-01-01T00:00:00Z" })).data.id)
        await cora.api.updateCredentials({ locked: true })
        await anna.api.followAccount(cora.id)
        await ben.api.followAccount(cora.id)
        await ben.api.postStatus("@anna in private", { visibility: "direct" })
        await anna.api.postStatus("@ben hello")
        return registered
      })
      const code = yield* Effect.promise(() => {
        const authorize = new URL(app.url ?? "")
        return copyCode(baseUrl, authorize.pathname + authorize.search, ben)
      })
      yield* eventually(() => ben.api.getNotifications(), ({ data }) => data.length > 0)
      yield* eventually(() => anna.api.getConversationTimeline(), ({ data }) => data.length > 0)
      const bytes = yield* Effect.promise(() => picture().png().toBuffer())
      const path = join(variables["DATA_DIR"] ?? "", "upload.png")
      yield* Effect.promise(() => writeFile(path, bytes))
      const stage: Stage = {
        anna: anna.api,
        ben: ben.api,
        cora: cora.api,
        anybody,
        app: yield* client(known.get("app") ?? ""),
        file: createReadStream(path),
        credentials: { id: app.client_id, secret: app.client_secret },
        code,
        id: (name) => known.get(name) ?? name
      }
      const problems: Array<string> = []
      const run = async (name: string, call: MegalodonCall) => {
        if (typeof call !== "function") {
          const operation: unknown = Reflect.get(anna.api, name)
          const outcome: unknown = await Promise.resolve(
            typeof operation === "function" ? operation.call(anna.api, "1", "1") : ""
          )
            .catch((error: unknown) => error)
          if (!/does not support/.test(String(outcome))) problems.push(`${name}: Mastodon has it`)
          return
        }
        try {
          const result: unknown = await call(stage)
          const type = megalodonMethods.get(name) ?? ""
          const value: unknown = Reflect.get(Object(result), "data") ?? result
          if (!unchecked.test(type) && !withoutResult.has(name)) {
            problems.push(...mismatches(value, type).map((line) => `${name}: ${line}`))
          }
          keep(createdName[name] ?? "", Reflect.get(Object(Array.isArray(value) ? value[0] : value), "id"))
          if (name === "fetchAccessToken") keep("token", Reflect.get(Object(value), "accessToken"))
        } catch (error) {
          const status = statusOf(error)
          if (status === undefined || status !== refused[name]) problems.push(`${name}: ${String(error)}`)
        }
      }
      for (const [name, call] of Object.entries(megalodonCalls)) yield* Effect.promise(() => run(name, call))
      // oxlint-disable-next-line no-console
      console.log(
        `${Object.keys(megalodonCalls).length} of ${megalodonMethods.size} operations of megalodon were called`
      )
      assert.sameMembers(Object.keys(megalodonCalls), [...megalodonMethods.keys()])
      // Entries of a list share the same problem, so it is reported once.
      assert.deepStrictEqual([...new Set(problems.map((line) => line.replaceAll(/\.\d+\b/g, ".*").slice(0, 160)))], [])
    }))
})
