import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createOAuthAPIClient } from "masto"
import { cli } from "../support/CommandLine.ts"
import { picture } from "../support/MediaFiles.ts"
import { TestServer } from "../support/Server.ts"
import { client, mismatches, newcomer } from "./Masto.ts"
import { type MastoCall, mastoCalls } from "./mastoCalls.ts"
import { callMasto, mastoMethods } from "./Methods.ts"

/** Names for the id of a list's first entry in later calls. */
const firstOf: Readonly<Record<string, readonly [name: string, key: string]>> = {
  "v1.notifications.list": ["notification", "id"],
  "v1.notifications.requests.list": ["request", "id"],
  "v1.conversations.list": ["conversation", "id"],
  "v1.announcements.list": ["announcement", "id"]
}
/** Calls that return less than masto declares, as in Mastodon: an empty object, or a post without HTML. */
const withoutResult = new Set(["v2.filters.statuses.$select.remove", "v1.statuses.$select.remove"])
const typeOf = (declared: string) => /^Paginator<([\s\S]*?)(?:, [\w]+)?>$/.exec(declared)?.[1] ?? declared

layer(TestServer.layer({ REGISTRATIONS: "open" }), { excludeTestServices: true })("masto", (it) => {
  it.effect(
    "every user operation runs, and its result matches masto's type",
    () =>
      Effect.gen(function*() {
        const { baseUrl, variables } = yield* TestServer
        const [anna, ben, cora, dan] = [
          yield* newcomer("anna"),
          yield* newcomer("ben"),
          yield* newcomer("cora"),
          yield* newcomer("dan")
        ]
        assert.strictEqual((yield* cli(["announcement", "add", "Hello"], variables)).code, 0)
        const anybody = yield* client()
        const app = yield* Effect.promise(async () => {
          const redirectUri = "urn:ietf:wg:oauth:2.0:oob"
          const app = await anybody.v1.apps.create({
            clientName: "App",
            redirectUris: redirectUri,
            scopes: "read write"
          })
          return createOAuthAPIClient({ url: baseUrl }).token.create({
            grantType: "client_credentials",
            clientId: app.clientId ?? "",
            clientSecret: app.clientSecret ?? "",
            redirectUri,
            scope: "read write"
          })
        })
        const clients = {
          anna: anna.api,
          ben: ben.api,
          cora: cora.api,
          dan: dan.api,
          anybody,
          app: yield* client(app.accessToken)
        }
        const bytes = yield* Effect.promise(() => picture().png().toBuffer())
        const known = new Map([["anna", anna.id], ["ben", ben.id], ["cora", cora.id]])
        const idOf = (name: string) => known.get(name) ?? name

        const problems: Array<string> = []
        const learn = (path: string, value: unknown, keep: string | undefined) => {
          const inside = Array.isArray(value) ? value[0] : value
          const [name, key] = firstOf[path] ?? [keep ?? "", "id"]
          const wrapped: unknown = Reflect.get(Object(inside), "collection") ??
            Reflect.get(Object(inside), "collectionItem")
          const id: unknown = Reflect.get(Object(wrapped ?? inside), key)
          if (name !== "" && typeof id === "string") known.set(name, id)
          const poll: unknown = Reflect.get(Object(Reflect.get(Object(inside), "poll")), "id")
          if (typeof poll === "string") known.set("poll", poll)
          const [group] = Object(Reflect.get(Object(inside), "notificationGroups") ?? [])
          if (group !== undefined) known.set("group", group.groupKey)
        }
        const run = async ([operation, given, more = {}]: MastoCall) => {
          const [path = "", ...names] = operation.split(" ")
          const selected = names.map(idOf)
          const params = typeof given === "function"
            ? given(idOf)
            : Reflect.get(Object(given), "file") === "picture"
            ? { ...Object(given), file: new Blob([new Uint8Array(bytes)]) }
            : given
          const callMethod = () => callMasto(clients[more.by ?? "anna"], path, selected, params)
          let value: unknown
          try {
            value = await callMethod()
            for (
              let looks = 0;
              more.waits === true && Array.isArray(value) && value.length === 0 && looks < 200;
              looks++
            ) {
              await new Promise((resolve) => setTimeout(resolve, 50))
              value = await callMethod()
            }
          } catch (error) {
            const status: unknown = Reflect.get(Object(error), "statusCode")
            if (status !== more.refused || status === undefined) problems.push(`${operation}: ${String(error)}`)
            return
          }
          if (more.refused !== undefined) problems.push(`${operation}: it responds`)
          const declared = typeOf(mastoMethods.get(path) ?? "")
          const type = Reflect.has(Object(value), "scheduledAt") ? "ScheduledStatus" : declared
          if (type !== "void" && !withoutResult.has(path)) {
            problems.push(
              ...mismatches(value, type, path.startsWith("v2") ? "v2" : "v1").map((line) => `${operation}: ${line}`)
            )
          }
          learn(path, value, more.keep)
        }
        for (const call of mastoCalls) yield* Effect.promise(() => run(call))
        const called = new Set(mastoCalls.map(([operation]) => operation.split(" ")[0] ?? ""))
        const missing = [...mastoMethods.keys()].filter((path) => !called.has(path))
        // oxlint-disable-next-line no-console
        console.log(`${called.size} of ${mastoMethods.size} operations of masto were called`)
        assert.deepStrictEqual(missing, [])
        assert.deepStrictEqual([...called].filter((path) => !mastoMethods.has(path)), [])
        // Entries of a list share the same problem, so it is reported once.
        assert.deepStrictEqual(
          [...new Set(problems.map((line) => line.replaceAll(/\.\d+\b/g, ".*").slice(0, 160)))],
          []
        )
      })
  )
})
