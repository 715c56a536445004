import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { FileImports } from "../../../src/services/transfers/FileImports.ts"
import type { ListKind } from "../../../src/services/transfers/Transfer.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { json } from "../../support/Api.ts"
import { configurationOf } from "../../support/Configuration.ts"
import { eventually } from "../../support/Eventually.ts"
import { type Person, TestServer } from "../../support/Server.ts"

/** Imports at the address of the server under test. */
const services = Layer.unwrap(Effect.map(TestServer, ({ baseUrl }) => {
  const host = new URL(baseUrl).host
  return FileImports.layer.pipe(
    Layer.provide(Layer.succeed(ServerConfig, configurationOf(host, { publicUrl: baseUrl })))
  )
}))

/** Imports a text and returns the transfer when it has ended. */
const imported = Effect.fnUntraced(function*(
  { accountId }: Person,
  kind: ListKind,
  text: string,
  options: { readonly overwrite?: boolean; readonly follow?: boolean } = {}
) {
  const imports = yield* FileImports
  const transfers = yield* Transfers
  const transfer = yield* imports.begin(accountId, {
    bytes: new TextEncoder().encode(text),
    fileName: `${kind}.csv`,
    kind,
    overwrite: false,
    follow: false,
    ...options
  }, true)
  return yield* eventually(
    transfers.find(accountId, transfer.id),
    ({ state }) => state !== "scheduled" && state !== "in_progress"
  )
})

const countsOf = (
  { added, failed, processed, removed, state, total }: Effect.Success<ReturnType<typeof imported>>
) => ({
  state,
  total,
  processed,
  added,
  removed,
  failed
})

const following = ({ accountId, token }: Person) =>
  Effect.map(
    json({ token }, `/api/v1/accounts/${accountId}/following`),
    (people: ReadonlyArray<{ readonly username: string }>) => people.map(({ username }) => username).toSorted()
  )

layer(services.pipe(Layer.provideMerge(TestServer.layer())), { timeout: "60 seconds", excludeTestServices: true })(
  "imports of files",
  (it) => {
    it.effect("a merge adds what is missing and keeps the rest", () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const ida = yield* createPerson("ida")
        for (const name of ["bea", "carl", "dora"]) yield* createPerson(name)
        const first = yield* imported(ida, "follows", "Account address,Show boosts\nbea,true\ncarl,false\n")
        assert.deepStrictEqual(countsOf(first), {
          state: "finished",
          total: 2,
          processed: 2,
          added: 2,
          removed: 0,
          failed: 0
        })
        const second = yield* imported(ida, "follows", "bea\ndora\nnobody\nida\nno address at all\n")
        assert.deepStrictEqual(countsOf(second), {
          state: "finished",
          total: 5,
          processed: 5,
          added: 1,
          removed: 0,
          failed: 3
        })
        assert.deepStrictEqual(yield* following(ida), ["bea", "carl", "dora"])
        const sql = yield* SqlClient.SqlClient
        const left = yield* sql`SELECT name, reason FROM transfer_lines WHERE transfer_id = ${second.id} ORDER BY place`
        assert.deepStrictEqual(left.map((row) => row["reason"]), ["not_found", "not_allowed", "invalid"])
      }))
  }
)
