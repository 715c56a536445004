import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as NewestQuery from "../../../src/services/feeds/NewestQuery.ts"
import * as ReadersQuery from "../../../src/services/feeds/ReadersQuery.ts"
import { AccountId } from "../../../src/services/Ids.ts"
import { rowsOf } from "../../../src/services/Rows.ts"
import { canSee, type StatusFacts } from "../../../src/services/statuses/Visibility.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import * as Worlds from "../../support/World.ts"

const readerRows = rowsOf(Schema.Struct({ reader: Schema.NullOr(Schema.BigInt) }))

const factsOf = (world: Worlds.World, status: Worlds.Settled): StatusFacts => ({
  id: status.id,
  accountId: status.author,
  visibility: status.visibility,
  deleted: status.deleted,
  authorSuspended: status.author === BigInt(world.suspended),
  reblogOf: status.reblogOf === undefined ? undefined : factsOf(world, status.reblogOf)
})

/** The rule once more, in words of its own. */
const belongs = (world: Worlds.World, all: ReadonlyArray<Worlds.Settled>, reader: bigint, status: Worlds.Settled) => {
  const { blocks, domainBlocks, follows, mutes } = Worlds.relationsOf(world)
  const seen = canSee(AccountId.make(reader), factsOf(world, status), {
    follows: (author) => follows.has(`${reader}>${author}`),
    blockedBy: (author) => blocks.has(`${author}>${reader}`),
    mentionedIn: (id) => all.find((other) => other.id === id)?.mentions.get(reader)?.silent === false
  })
  if (!seen) return false
  if (status.author === reader) return true
  const follow = follows.get(`${reader}>${status.author}`)
  if (follow === undefined) return false
  const original = status.reblogOf
  if (original !== undefined && !follow.showReblogs) return false
  if (follow.languages !== null && follow.languages !== (original ?? status).language) return false
  const answered = status.replyTo?.author
  if (
    answered !== undefined && answered !== reader && answered !== status.author && !follows.has(`${reader}>${answered}`)
  ) {
    return false
  }
  const met = [
    status.author,
    ...(original === undefined ? [] : [original.author, ...original.mentions.keys()]),
    ...status.mentions.keys()
  ].filter((account) => account !== reader)
  return !met.some((account) =>
    blocks.has(`${reader}>${account}`) || mutes.get(`${reader}>${account}`)?.ended === false ||
    (domainBlocks.has(reader) && Worlds.isRemote(account))
  )
}

let entries = 0

layer(TestDatabase.layer, { excludeTestServices: true })("queries of feeds", (it) => {
  it.effect.prop(
    "S-204, row 62: the newest of a reader's home and the readers of a status are the same decision, and the one that is written in words",
    { world: Worlds.World },
    ({ world }) =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const statuses = yield* Worlds.settle(world)
        const locals = [1n, 2n, 3n]
        for (const reader of locals) {
          const expected = statuses.filter((status) => belongs(world, statuses, reader, status)).map(({ id }) => id)
          entries += expected.length
          const ids = (range: NewestQuery.Range) =>
            Effect.map(NewestQuery.ofHome(sql, reader, range, Worlds.now), (rows) => rows.map(({ id }) => id))
          const newestFirst = expected.toReversed()
          assert.deepStrictEqual(yield* ids({ limit: 20 }), newestFirst)
          // Pages of two, downwards and upwards, put together are the whole.
          for (const limit of [1, 2]) {
            for (const cursor of [undefined, Worlds.firstStatus + 3n, Worlds.firstStatus + 6n]) {
              const below = newestFirst.filter((id) => cursor === undefined || id < cursor).slice(0, limit)
              assert.deepStrictEqual(yield* ids({ below: cursor, limit }), below)
              const above = expected.filter((id) => id > (cursor ?? 0n)).slice(0, limit)
              assert.deepStrictEqual(yield* ids({ above: cursor, ascending: true, limit }), above)
            }
          }
        }
        for (const status of statuses) {
          const slice = {
            cursor: 0n,
            limit: 100,
            seenSince: new Date(0),
            mentionedOnly: status.visibility === "direct"
          }
          const rows = yield* readerRows(ReadersQuery.readers(sql, status.id, status.author, slice, Worlds.now))
          const found = rows.flatMap(({ reader }) => reader ?? []).toSorted((a, b) => Number(a - b))
          const expected = locals.filter((reader) =>
            reader !== status.author && belongs(world, statuses, reader, status)
          )
          assert.deepStrictEqual(found, expected, `readers of ${status.id}`)
        }
      }),
    { arbitrary: { runs: 120 }, timeout: 180_000 }
  )

  it("compared many entries", () => assert.isAbove(entries, 300))
})
