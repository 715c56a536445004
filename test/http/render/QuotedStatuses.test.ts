import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { StatusViews } from "../../../src/http/render/StatusViews.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { counted, Reads } from "../../support/Reads.ts"
import * as Worlds from "../../support/World.ts"

const accountIds = Array.from({ length: Worlds.accounts }, (_, index) => AccountId.make(BigInt(index + 1)))
const changed = (kind: "status" | "account", ids: ReadonlyArray<bigint>) =>
  Broadcast.use(({ publish }) => publish({ _tag: "Changed", kind, ids }))
const forgetAll = Effect.andThen(
  changed("status", Array.from({ length: 120 }, (_, index) => 6000n + BigInt(index))),
  changed("account", accountIds)
)

layer(Reads, { excludeTestServices: true })("quoted statuses", (it) => {
  it.effect("a page of quotes takes as many queries for 1 as for 40: quote states, and uncached bodies", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const views = yield* StatusViews
      yield* Worlds.settle(Worlds.nothing)
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        SELECT i, 1 + i % 5, 'public', i, ${Worlds.now} FROM generate_series(6000::bigint, 6119) i`
      // Each quotes the status 40 before it, which quotes another one.
      yield* sql`INSERT INTO quotes (status_id, account_id, quoted_status_id, quoted_account_id, state, created_at)
        SELECT i, 1 + i % 5, i - 40, 1 + (i - 40) % 5, 'accepted', ${Worlds.now} FROM generate_series(6040::bigint, 6119) i`
      const page = (rows: number) => Array.from({ length: rows }, (_, index) => 6080n + BigInt(index))
      const query = (rows: number) => Effect.andThen(forgetAll, counted(views.render(AccountId.make(1n), page(rows))))
      yield* query(40)
      const [one, all] = [yield* query(1), yield* query(40)]
      assert.strictEqual(all.queries, one.queries)
      assert.isAtMost(all.queries, 6)
      assert.lengthOf(all.value.filter((text) => JSON.parse(text).quote.quoted_status.quote.state === "accepted"), 40)
      const warm = yield* counted(views.render(AccountId.make(1n), page(40)))
      assert.strictEqual(warm.queries, 1)
      // One query loads the filters of all.
      yield* views.renderFor(6080n, accountIds)
      const many = yield* counted(views.renderFor(6080n, accountIds))
      assert.strictEqual(many.queries, 3)
    }))
})
