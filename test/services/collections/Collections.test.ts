import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ItemState } from "../../../src/services/collections/Collection.ts"
import { Collections } from "../../../src/services/collections/Collections.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { configurationOf } from "../../support/Configuration.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import * as Worlds from "../../support/World.ts"

const layers = Collections.layer.pipe(
  Layer.provide(Layer.succeed(ServerConfig, configurationOf("here.test"))),
  Layer.provideMerge(TestDatabase.layer)
)

const everyone = Array.from({ length: Worlds.accounts }, (_, index) => AccountId.make(BigInt(index + 1)))
/** Only local users read streams. */
const viewers = everyone.filter((id) => !Worlds.isRemote(id))

const Owner = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Worlds.accounts }))
/** An owner, and the state of each account in the collection, in the order of their ids. */
const Given = Schema.Struct({
  owner: Owner,
  states: Schema.Array(Schema.NullOr(ItemState)).check(Schema.isBetweenLength(Worlds.accounts, Worlds.accounts))
})

/** Counts of readings, and of those that differ from a visitor's: a property without differences would also hold. */
const compared = { readings: 0, different: 0 }

layer(layers, { excludeTestServices: true })("Collections", (it) => {
  it.effect.prop(
    "row 62: of many viewers each sees the collections, and their members, that it would see alone",
    { world: Worlds.World, given: Schema.Array(Given).check(Schema.isBetweenLength(1, 4)) },
    ({ given, world }) =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const collections = yield* Collections
        yield* Worlds.settle(world)
        yield* Effect.forEach(given, ({ owner, states }, at) =>
          Effect.gen(function*() {
            yield* sql`INSERT INTO collections (id, account_id, local, name, created_at, updated_at)
              VALUES (${at + 1}, ${owner}, ${!Worlds.isRemote(BigInt(owner))}, 'Birds', ${Worlds.now}, ${Worlds.now})`
            yield* sql`INSERT INTO collection_items (id, collection_id, account_id, state, position, created_at, updated_at)
              SELECT ${10 * at} + n, ${at + 1}, n, state, n, ${Worlds.now}, ${Worlds.now}
              FROM unnest(${
              states.map((state) => state ?? "")
            }::text[]) WITH ORDINALITY AS u (state, n) WHERE state <> ''`
          }))
        const ids = given.map((_, at) => BigInt(at + 1))
        const { everybody, others } = yield* collections.loadFor(viewers, ids)
        assert.deepStrictEqual(everybody, yield* collections.load(undefined, ids))
        for (const viewer of viewers) {
          const alone = yield* collections.load(viewer, ids)
          assert.deepStrictEqual(others.get(viewer) ?? everybody, alone, `viewer ${viewer}`)
          compared.readings += 1
          if (others.has(viewer)) compared.different += 1
        }
      }),
    { arbitrary: { runs: 150 } }
  )

  it("compared readings of many kinds", () => {
    assert.isAbove(compared.readings, 400)
    assert.isAbove(compared.different, 100)
  })
})
