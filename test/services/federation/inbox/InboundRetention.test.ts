import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { idAt } from "../../../../src/services/database/Ids.ts"
import { deadMax, InboundRetention } from "../../../../src/services/federation/inbox/InboundRetention.ts"
import { sameMax } from "../../../../src/services/federation/inbox/Undoables.ts"
import { person } from "../../../support/People.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const services = InboundRetention.layer.pipe(Layer.provideMerge(TestDatabase.layer))

layer(services, { excludeTestServices: true })("stored ids of other servers", (it) => {
  it.effect("row 37, I17: deleted or undone ones are removed when no activity under them can arrive any more", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { sweep } = yield* InboundRetention
      const anna = yield* person("anna")
      const ago = (days: number) => new Date(Date.now() - days * 86_400_000)
      yield* sql`INSERT INTO tombstones ${
        sql.insert([
          { uri: "deleted", accountId: anna, deletedAt: ago(91), undoneAt: null },
          { uri: "deleted late", accountId: anna, deletedAt: ago(89), undoneAt: null },
          { uri: "undone", accountId: anna, deletedAt: ago(8), undoneAt: ago(8) },
          { uri: "undone late", accountId: anna, deletedAt: ago(6), undoneAt: ago(6) }
        ])
      }`
      yield* sweep(1_000)
      assert.deepStrictEqual(yield* sql`SELECT uri FROM tombstones ORDER BY uri`, [
        { uri: "deleted late" },
        { uri: "undone late" }
      ])
    }))

  it.effect("row 37, I17: the last activities with the same effect are kept, and none with a missing target", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { sweep } = yield* InboundRetention
      const [ben, cleo] = [yield* person("ben"), yield* person("cleo")]
      const old = idAt(Date.now() - 8 * 86_400_000)
      yield* sql`INSERT INTO undoable_activities (account_id, uri, type, target_id, came_id)
        SELECT ${ben}, 'again/' || n, 'Follow', ${cleo}, ${old}::bigint + n FROM generate_series(1, ${
        sameMax + 60
      }::int) n
        UNION ALL SELECT ${ben}, 'gone/' || type, type, 5, ${old}
          FROM unnest(ARRAY['Announce', 'Block', 'EmojiReact', 'Follow', 'Like']) type
        UNION ALL SELECT ${ben}, 'new/Like', 'Like', 5, ${idAt(Date.now())}`
      // In slices, and again from the start.
      for (let round = 0; round < 8; round++) yield* sweep(50)
      assert.deepStrictEqual(
        yield* sql`SELECT split_part(uri, '/', 1) AS uri, count(*)::int AS count,
          min(came_id) FILTER (WHERE target_id = ${cleo}) - ${old}::bigint AS first
          FROM undoable_activities GROUP BY 1 ORDER BY 1`,
        [{ uri: "again", count: sameMax, first: 61n }, { uri: "new", count: 1, first: null }]
      )
    }))

  it.effect("row 37, I17: failed activities are kept up to a maximum per sender, and all of other senders", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { sweep } = yield* InboundRetention
      const [dora, emil] = [yield* person("dora"), yield* person("emil")]
      const store = (accountId: bigint, outcome: string | null, count: number) =>
        sql`INSERT INTO inbound_activities (id, account_id, uri, document, received_at, due_at, outcome)
          SELECT next_id(1), ${accountId}, ${outcome ?? "waits"} || n, '{}', '2026-01-01', '2026-01-01', ${outcome}
          FROM generate_series(1, ${count}::int) n`
      yield* store(emil, "set aside: why", 2)
      yield* store(dora, "set aside: why", deadMax.ofSender + 30)
      yield* store(dora, null, 3)
      yield* store(dora, "done", 4)
      yield* sweep(1_000)
      assert.deepStrictEqual(
        yield* sql`SELECT account_id, outcome, count(*)::int AS count FROM inbound_activities GROUP BY 1, 2 ORDER BY 3`,
        [
          { accountId: emil, outcome: "set aside: why", count: 2 },
          { accountId: dora, outcome: null, count: 3 },
          { accountId: dora, outcome: "done", count: 4 },
          { accountId: dora, outcome: "set aside: why", count: deadMax.ofSender }
        ]
      )
    }))

  it.effect("F74: failed activities of many accounts of one server leave room for those of others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { sweep } = yield* InboundRetention
      const friend = yield* person("friend")
      yield* sql`UPDATE accounts SET domain = 'friend.example' WHERE id = ${friend}`
      const setAside = (accountId: bigint, count: number) =>
        sql`INSERT INTO inbound_activities (id, account_id, uri, document, received_at, due_at, outcome)
          SELECT next_id(1), ${accountId}, 'aside' || n, '{}', '2026-01-01', '2026-01-01', 'set aside: why'
          FROM generate_series(1, ${count}::int) n`
      yield* setAside(friend, 5)
      yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
        SELECT next_id(2), 'flood' || n, 'flood.example', 'https://flood.example/' || n, now(), now()
        FROM generate_series(1, 110) n`
      yield* sql`INSERT INTO inbound_activities (id, account_id, uri, document, received_at, due_at, outcome)
        SELECT next_id(3), a.id, 'flood' || n, '{}', '2026-01-01', '2026-01-01', 'set aside: why'
        FROM accounts a, generate_series(1, ${deadMax.ofSender}::int) n WHERE a.domain = 'flood.example'`
      yield* sweep(1_000)
      assert.lengthOf(yield* sql`SELECT FROM inbound_activities WHERE account_id = ${friend}`, 5)
      assert.lengthOf(yield* sql`SELECT FROM inbound_activities WHERE outcome LIKE 'set aside:%'`, deadMax.ofAll)
    }))
})
