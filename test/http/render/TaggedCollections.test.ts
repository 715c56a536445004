import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { StatusViews } from "../../../src/http/render/StatusViews.ts"
import { Status } from "../../../src/http/wire/Status.ts"
import { person } from "../../support/People.ts"
import { counted, Reads } from "../../support/Reads.ts"

layer(Reads, { excludeTestServices: true })("collections that posts link to, in lists", (it) => {
  it.effect("a page of one and of forty posts takes the same queries, and each reader gets only visible parts", () =>
    Effect.gen(function*() {
      const [sql, views] = [yield* SqlClient.SqlClient, yield* StatusViews]
      const at = new Date(yield* Clock.currentTimeMillis)
      const [author, owner, member] = [yield* person("author"), yield* person("owner"), yield* person("member")]
      const [reader, banned, picky] = [yield* person("reader"), yield* person("banned"), yield* person("picky")]
      const ids = Array.from({ length: 42 }, (_, place) => BigInt(1_000 + place))
      for (const id of ids) {
        yield* sql`INSERT INTO statuses (id, account_id, visibility, local, text, html, conversation_id, created_at)
          VALUES (${id}, ${author}, 'public', true, '', '', ${id}, ${at})`
        yield* sql`INSERT INTO collections (id, account_id, local, name, created_at, updated_at)
          VALUES (${id}, ${owner}, true, ${`name ${id}`}, ${at}, ${at})`
        yield* sql`INSERT INTO collection_items (id, collection_id, account_id, state, position, created_at, updated_at)
          VALUES (${id}, ${id}, ${member}, 'accepted', 1, ${at}, ${at}), (${
          id + 500n
        }, ${id}, ${picky}, 'pending', 2, ${at}, ${at})`
        yield* sql`INSERT INTO tagged_collections (status_id, place, uri, collection_id) VALUES (${id}, 1, '', ${id})`
      }
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id)
        VALUES (1, ${owner}, ${banned}), (2, ${picky}, ${member})`
      yield* views.render(reader, ids.slice(41))
      const one = yield* counted(views.render(reader, ids.slice(0, 1)))
      const forty = yield* counted(views.render(reader, ids.slice(1, 41)))
      assert.strictEqual(one.queries, forty.queries)
      const read = (text: string) => Schema.decodeUnknownSync(Status)(JSON.parse(text)).tagged_collections
      assert.deepStrictEqual(
        forty.value.map((text) => read(text)[0]?.name),
        ids.slice(1, 41).map((id) => `name ${id}`)
      )
      // A post without links to collections takes no query for them.
      yield* sql`INSERT INTO statuses (id, account_id, visibility, local, text, html, conversation_id, created_at)
        VALUES (2000, ${author}, 'public', true, '', '', 2000, ${at})`
      yield* views.render(reader, [2000n])
      assert.strictEqual((yield* counted(views.render(reader, [2000n]))).queries, 0)

      // Streams send what each viewer would read.
      const everybody = [author, owner, member, reader, banned, picky]
      const sent = yield* views.renderFor(1_000n, everybody)
      const seen = new Map<bigint, ReadonlyArray<number>>()
      for (const viewer of everybody) {
        const [own] = yield* views.render(viewer, [1_000n])
        assert.deepStrictEqual(JSON.parse(sent.get(viewer)?.text ?? "null"), JSON.parse(own ?? ""), String(viewer))
        seen.set(viewer, read(own ?? "").map(({ items }) => items.length))
      }
      assert.deepStrictEqual([reader, owner, picky, banned].map((one) => seen.get(one)), [[1], [2], [0], []])
      const strangers = yield* views.render(undefined, [1_000n])
      assert.deepStrictEqual(read(strangers[0] ?? "").map(({ items }) => items.length), [1])
      const few = yield* counted(views.renderFor(1_001n, [reader, banned]))
      const more = yield* counted(views.renderFor(1_002n, [author, member, reader, banned, picky]))
      assert.strictEqual(few.queries, more.queries)
    }))
})
