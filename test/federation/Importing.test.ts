import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Context, Effect, FileSystem } from "effect"
import { cli } from "../support/CommandLine.ts"
import { eventually } from "../support/Eventually.ts"
import { fediverse, settled, type TestInstance } from "../support/Fediverse.ts"
import { freePort } from "../support/ports.ts"
import { TestServer } from "../support/Server.ts"

/** Imports a text with the command line; returns the counts and failures when the import has ended. */
const imported = Effect.fnUntraced(function*(
  instance: TestInstance,
  name: string,
  kind: string,
  text: string,
  overwrite = false
) {
  const { context, sql } = instance
  const fs = yield* FileSystem.FileSystem
  const file = `${yield* fs.makeTempDirectoryScoped()}/file.csv`
  yield* fs.writeFileString(file, text)
  const { variables } = Context.get(context, TestServer)
  const { code, err, out } = yield* cli([
    "account",
    "import",
    name,
    file,
    "--kind",
    kind,
    ...(overwrite ? ["--overwrite"] : [])
  ], variables)
  assert.strictEqual(code, 0, err)
  const [, id = "0"] = /^Import (\d+)/m.exec(out) ?? []
  // Hosts that do not respond are retried at once.
  const waited = sql`WITH lines AS (UPDATE transfer_lines SET due_at = now()
      WHERE transfer_id = ${BigInt(id)} AND due_at > now())
    UPDATE transfers SET due_at = now() WHERE id = ${BigInt(id)} AND due_at > now() + interval '3 minutes'`
  const [done] = yield* eventually(
    Effect.andThen(waited, sql`SELECT state, added, failed FROM transfers WHERE id = ${BigInt(id)}`),
    ([row]) => row?.["state"] === "finished" || row?.["state"] === "failed"
  )
  const failures = yield* sql`SELECT name, reason FROM transfer_lines WHERE transfer_id = ${BigInt(id)} ORDER BY place`
  return { done, failures }
})

it.live(
  "an import looks up accounts and posts on their servers, and reports which could not be found or reached (F339)",
  () =>
    Effect.gen(function*() {
      const [first, second] = yield* fediverse(2)
      const [anna, zoe, ben] = [
        yield* first!.person("anna"),
        yield* first!.person("zoe"),
        yield* second!.person("ben")
      ]
      const missing = `missing@${first!.domain}`
      const silent = `nobody@127.0.0.1:${yield* freePort}`
      const follows = yield* imported(
        second!,
        "ben",
        "follows",
        `Account address,Show boosts\n${anna.handle},false\n${zoe.uri},true\n${missing},true\n${silent},true\n`
      )
      assert.deepStrictEqual(follows.done, { state: "finished", added: 2, failed: 2 })
      assert.deepStrictEqual(follows.failures, [
        { name: missing, reason: "not_found" },
        { name: silent, reason: "unreachable" }
      ])
      const relationship = yield* eventually(ben.relationship(anna), ({ following }) => following === true)
      assert.strictEqual(relationship.showing_reblogs, false)
      yield* eventually(ben.relationship(zoe), ({ following }) => following === true)

      const shown = yield* anna.post("For everybody")
      const hidden = yield* anna.post("For one", { visibility: "direct" })
      const bookmarks = yield* imported(second!, "ben", "bookmarks", `${shown.uri}\n${hidden.uri}\n`)
      assert.deepStrictEqual(bookmarks.done, { state: "finished", added: 1, failed: 1 })
      assert.deepStrictEqual(bookmarks.failures, [{ name: hidden.uri, reason: "not_found" }])
      const [bookmark] = yield* ben.ask("GET", "/api/v1/bookmarks")
      assert.strictEqual(bookmark.uri, shown.uri)

      // Favourites are brought quietly: no Like is sent, and nobody is notified.
      const favourites = yield* imported(second!, "ben", "favourites", `${shown.uri}\n${hidden.uri}\n`)
      assert.deepStrictEqual(favourites.done, { state: "finished", added: 1, failed: 1 })
      const [liked] = yield* ben.ask("GET", "/api/v1/favourites")
      assert.deepStrictEqual([liked.uri, liked.favourited, liked.favourites_count], [shown.uri, true, 1])
      const again = yield* imported(second!, "ben", "favourites", `${shown.uri}\n`)
      assert.deepStrictEqual(again.done, { state: "finished", added: 0, failed: 0 })
      yield* settled([first!, second!])
      assert.deepStrictEqual(yield* anna.notifications, ["follow ben"])
      const own = yield* anna.ask("GET", `/api/v1/statuses/${shown.id}`)
      assert.strictEqual(own.favourites_count, 0)

      // A favourite that an overwriting import removes is undone at the author's server, which received its Like.
      const other = yield* anna.post("For everybody, too")
      const countOfOther = Effect.map(
        anna.ask("GET", `/api/v1/statuses/${other.id}`),
        ({ favourites_count }): unknown => favourites_count
      )
      const { statuses: [here] } = yield* ben.ask(
        "GET",
        `/api/v2/search?${new URLSearchParams({ q: other.uri, resolve: "true" })}`
      )
      yield* ben.ask("POST", `/api/v1/statuses/${here.id}/favourite`)
      yield* eventually(countOfOther, (count) => count === 1)
      const overwriting = yield* imported(second!, "ben", "favourites", `${shown.uri}\n`, true)
      assert.deepStrictEqual(overwriting.done, { state: "finished", added: 0, failed: 0 })
      yield* eventually(countOfOther, (count) => count === 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)
