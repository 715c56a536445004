import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { missingKey } from "../../../src/http/render/StatusBodies.ts"
import { columnsOf } from "../../../src/services/database/Columns.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import * as RecipientQuery from "../../../src/services/statuses/RecipientQuery.ts"
import { Revised, StoredStatus } from "../../../src/services/statuses/StoredStatus.ts"
import * as ViewerStateQuery from "../../../src/services/statuses/ViewerStateQuery.ts"
import {
  broadcastTo,
  canSee,
  type RelationFacts,
  type StatusFacts,
  visibleTo
} from "../../../src/services/statuses/Visibility.ts"
import { columns, Written } from "../../../src/services/statuses/Written.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import * as Worlds from "../../support/World.ts"

const factsOf = (world: Worlds.World, status: Worlds.Settled): StatusFacts => ({
  id: status.id,
  accountId: status.author,
  visibility: status.visibility,
  localOnly: status.localOnly,
  deleted: status.deleted,
  authorSuspended: status.author === BigInt(world.suspended),
  reblogOf: status.reblogOf === undefined ? undefined : factsOf(world, status.reblogOf)
})

const viewers = [undefined, ...Array.from({ length: Worlds.accounts }, (_, index) => AccountId.make(BigInt(index + 1)))]

layer(TestDatabase.layer, { excludeTestServices: true })("Visibility", (it) => {
  it.effect.prop(
    "row 55, S-068: the SQL predicate shows exactly the posts that the pure one shows, to every viewer",
    { world: Worlds.World },
    ({ world }) =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const statuses = yield* Worlds.settle(world)
        const { blocks, follows } = Worlds.relationsOf(world)
        for (const viewer of viewers) {
          const relations: RelationFacts = {
            member: viewer !== undefined && !Worlds.isRemote(viewer),
            follows: (author) => follows.has(`${viewer}>${author}`),
            blockedBy: (author) => blocks.has(`${author}>${viewer}`),
            mentionedIn: (id) =>
              statuses.find((status) => status.id === id)?.mentions.get(viewer ?? 0n)?.silent === false
          }
          const expected = statuses.filter((status) => canSee(viewer, factsOf(world, status), relations))
          const found = yield* sql<
            { id: bigint; author: bigint; broadcast: boolean; known: boolean; visible: boolean }
          >`
            SELECT id, account_id AS author, ${visibleTo(sql, viewer, "s")} AS visible, ${
            broadcastTo(sql, viewer, "s")
          } AS broadcast, ${visibleTo(sql, viewer, "s", { author: 1n, member: true })} AS known
            FROM statuses s ORDER BY id`
          const ids = (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id)
          assert.deepStrictEqual(ids(found.filter(({ visible }) => visible)), ids(expected), `viewer ${viewer}`)
          // The rest is only known for local users.
          if (viewer !== undefined && Worlds.isRemote(viewer)) continue
          const broadcast = expected.filter(({ author, reblogOf, visibility }) =>
            visibility === "public" && reblogOf === undefined && author !== BigInt(world.silenced)
          )
          assert.deepStrictEqual(ids(found.filter((row) => row.broadcast)), ids(broadcast), `viewer ${viewer}`)
          const one = found.filter(({ author }) => author === 1n)
          assert.deepStrictEqual(one.map(({ known }) => known), one.map(({ visible }) => visible), `viewer ${viewer}`)
        }
        const all = yield* sql<{ viewer: bigint; id: bigint }>`
          SELECT a.id AS viewer, s.id FROM accounts a CROSS JOIN statuses s
          WHERE ${visibleTo(sql, sql`a.id`, "s")} AND a.id = 1 ORDER BY s.id`
        const one = yield* sql<{ id: bigint }>`SELECT id FROM statuses s WHERE ${visibleTo(sql, 1n, "s")} ORDER BY id`
        assert.deepStrictEqual(all.map(({ id }) => id), one.map(({ id }) => id))
      }),
    { arbitrary: { runs: 300 } }
  )

  it.effect("returns viewers' states in rows of the declared shape", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const strict = { onExcessProperty: "error" } as const
      const now = new Date(0)
      for (let variant = 0; variant < 512; variant++) {
        const [signedIn, polls] = [(variant & 1) > 0, (variant & 64) > 0]
        // Viewer-specific rules need a viewer.
        if (!signedIn && (variant & ~32) !== 0) continue
        const rows = yield* sql.unsafe(
          ViewerStateQuery.textOf(variant),
          signedIn ? [[1n], [1n], 1n, [1n], now] : [[1n], [1n]]
        ).withoutTransform
        const [row] = yield* Schema.decodeUnknownEffect(Schema.Array(ViewerStateQuery.Row), strict)(rows)
        assert.strictEqual(row?.votes !== undefined, polls, `variant ${variant}`)
      }
      for (const automatic of [[], ["following" as const]]) {
        const key = { ...missingKey(1n), original: { ...missingKey(2n), quoting: { automatic, manual: [] } } }
        const rows = yield* sql.unsafe(RecipientQuery.textOf(key), RecipientQuery.parameters([1n, 2n], key, now))
          .withoutTransform
        const [row] = yield* Schema.decodeUnknownEffect(Schema.Array(RecipientQuery.Row), strict)(rows)
        assert.strictEqual(row?.followers !== undefined, automatic.length > 0)
      }
    }))

  it.effect("statuses and their revisions have the declared columns, with the declared types", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const columnsIn = (table: string) =>
        Effect.map(
          sql<{ name: string; type: string; nullable: boolean }>`SELECT attname AS name, NOT attnotnull AS nullable,
            replace(format_type(atttypid, NULL), 'timestamp with time zone', 'timestamptz') AS type
            FROM pg_attribute WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped`,
          (rows) => new Map(rows.map(({ name, ...column }) => [name, column]))
        )
      const found = yield* columnsIn("statuses")
      const fields: Readonly<Record<string, Schema.ConstraintDecoder<unknown>>> = StoredStatus.fields
      assert.deepStrictEqual(
        new Map(
          columnsOf(StoredStatus).columns.map(({ field, name, type }) => [name, {
            nullable: Schema.is(fields[field]!)(null),
            type
          }])
        ),
        found
      )
      const declared = yield* sql<{ column: string }>`SELECT concat_ws(' ', attname, format_type(atttypid, NULL),
          CASE WHEN attnotnull THEN 'NOT NULL' END, 'DEFAULT ' || replace(pg_get_expr(adbin, adrelid), '::text', '')) AS column
        FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE attrelid = 'statuses'::regclass AND attname = ANY (${
        columnsOf(Written).columns.map(({ name }) => name)
      }::text[])`
      assert.sameMembers(declared.map(({ column }) => column), Object.values(columns))
      const revisions = yield* columnsIn("status_edits")
      for (const { name, type } of columnsOf(Revised).columns) {
        assert.deepInclude(revisions.get(name), { type }, name)
      }
    }))

  it.effect("row 55: sees a status by role", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [author, follower, mentioned, silent, stranger] = [1, 2, 3, 4, 5]
      const ownStatus = (visibility: "public" | "unlisted" | "private" | "direct") => ({
        author,
        visibility,
        local: 7,
        deleted: 1,
        reblogOf: null,
        replyTo: null,
        mentions: [{ account: mentioned, silent: false }, { account: silent, silent: true }],
        language: "en" as const,
        tags: []
      })
      const follow = (from: number, to: number) => ({ pair: [from, to] as const, showReblogs: true, languages: null })
      const world = {
        ...Worlds.nothing,
        statuses: [ownStatus("public"), ownStatus("unlisted"), ownStatus("private"), ownStatus("direct")],
        follows: [follow(follower, author)]
      }
      const seen = (viewer: bigint | undefined) =>
        Effect.map(
          sql<{ visibility: string }>`SELECT visibility FROM statuses s WHERE ${
            visibleTo(sql, viewer, "s")
          } ORDER BY id`,
          (rows) => rows.map(({ visibility }) => visibility)
        )
      yield* Worlds.settle(world)
      const open = ["public", "unlisted"]
      assert.deepStrictEqual(yield* seen(undefined), open)
      assert.deepStrictEqual(yield* seen(BigInt(stranger)), open)
      assert.deepStrictEqual(yield* seen(BigInt(silent)), open)
      assert.deepStrictEqual(yield* seen(BigInt(follower)), [...open, "private"])
      assert.deepStrictEqual(yield* seen(BigInt(mentioned)), [...open, "private", "direct"])
      assert.deepStrictEqual(yield* seen(BigInt(author)), [...open, "private", "direct"])

      yield* Worlds.settle({ ...world, blocks: [[author, mentioned], [stranger, author]] })
      assert.deepStrictEqual(yield* seen(BigInt(mentioned)), [])
      assert.deepStrictEqual(yield* seen(BigInt(stranger)), open)

      yield* Worlds.settle({ ...world, suspended: author })
      assert.deepStrictEqual(yield* seen(BigInt(author)), [])
      assert.deepStrictEqual(yield* seen(BigInt(follower)), [])
    }))
})
