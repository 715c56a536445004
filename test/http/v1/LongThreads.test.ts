import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json, newPerson } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { actorOf } from "../activitypub/InboxCalls.ts"
import { deliverFrom, note, OtherServer, servers } from "../activitypub/Sending.ts"

/** Maximum size of a response, in characters; many posts of maximum size would exceed it many times over. */
const responseCharactersMax = 20_000_000

/** Returns the columns of a table, except some, as an SQL list. */
const columnsOf = Effect.fnUntraced(function*(table: string, without: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ names: string }>`SELECT string_agg(column_name, ', ') AS names
    FROM information_schema.columns WHERE table_name = ${table} AND column_name <> ALL (${without}::text[])
      AND is_generated = 'NEVER'`
  return row?.names ?? ""
})

/** Attempts per path; on a busy machine the first ones may exceed the server's deadline. */
const triesMax = 5

/** Returns the text of a response. Retries after 503 (deadline exceeded), like clients. */
const textOf = (path: string, token?: string) =>
  TestServer.use(({ fetch }) =>
    fetch(path, token === undefined ? {} : { token }).pipe(
      Effect.repeat({ while: ({ status }) => status === 503, times: triesMax - 1 }),
      Effect.flatMap((response) => Effect.promise(() => response.text()))
    )
  )

layer(servers, { excludeTestServices: true })("threads and histories of large posts", (it) => {
  it.effect("F14: the size of a response is bounded, for any replies and edits by strangers", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ada = yield* newPerson("ada")
      const eve = yield* (yield* OtherServer).actor("eve")
      const post = yield* json(ada, "/api/v1/statuses", { status: "hello" })
      const content = `<p>${"abcdefghij ".repeat(5_500)}</p>`
      yield* deliverFrom(eve, { type: "Create", object: note(eve, "one", { inReplyTo: post.uri, content }) })
      const columns = yield* columnsOf("statuses", ["id", "uri"])
      yield* sql.unsafe(`INSERT INTO statuses (id, uri, ${columns}) SELECT next_id(1), uri || n, ${columns}
        FROM statuses, generate_series(1, 600) n WHERE NOT local`)
      yield* sql`INSERT INTO status_stats (status_id) SELECT id FROM statuses ON CONFLICT DO NOTHING`
      yield* sql`ANALYZE statuses`
      for (const token of [undefined, ada.token]) {
        const text = yield* textOf(`/api/v1/statuses/${post.id}/context`, token)
        assert.isBelow(text.length, responseCharactersMax)
        assert.isAbove(JSON.parse(text).descendants.length, 100)
      }
      // The nearest ancestors are included, and a large descendant does not cut off the thread.
      const [chain] = yield* sql<{ id: bigint }>`WITH RECURSIVE given AS (
          SELECT id, row_number() OVER (ORDER BY id) AS n FROM statuses WHERE NOT local),
        linked AS (UPDATE statuses s SET in_reply_to_id = p.id FROM given g JOIN given p ON p.n = g.n - 1
          WHERE s.id = g.id RETURNING s.id)
        SELECT max(id) AS id FROM linked`
      const [parent] = yield* sql<{ id: bigint }>`SELECT in_reply_to_id AS id FROM statuses WHERE id = ${
        chain?.id ?? 0n
      }`
      const text = yield* textOf(`/api/v1/statuses/${chain?.id}/context`)
      assert.isBelow(text.length, responseCharactersMax)
      const { ancestors } = JSON.parse(text)
      assert.isAbove(ancestors.length, 100)
      assert.strictEqual(ancestors.at(-1).id, String(parent?.id))

      const versions = yield* columnsOf("status_edits", ["id", "status_id", "poll_options", "media_descriptions"])
      yield* sql`UPDATE statuses SET edited_at = created_at WHERE id = ${chain?.id ?? 0n}`
      yield* sql.unsafe(`INSERT INTO status_edits (id, status_id, ${versions}) SELECT next_id(1), id, ${versions}
        FROM statuses, generate_series(1, 500) WHERE id = ${chain?.id}`)
      const history = yield* textOf(`/api/v1/statuses/${chain?.id}/history`)
      assert.isBelow(history.length, 3_000_000)
      assert.isAbove(JSON.parse(history).length, 10)
    }))

  it.effect("row 37: versions beyond the shown ones are not stored, however often another server edits", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const me = yield* actorOf(yield* newPerson("ben"))
      const fay = yield* (yield* OtherServer).actor("fay")
      const version = (n: number) =>
        note(fay, "one", {
          cc: [me],
          content: `version ${n}`,
          updated: new Date(1_700_000_000_000 + n).toISOString(),
          published: new Date(1_600_000_000_000).toISOString(),
          attachment: [{ type: "Image", url: `${fay.id}/${n}.png` }]
        })
      yield* deliverFrom(fay, { type: "Create", object: version(0) })
      yield* deliverFrom(fay, { type: "Update", object: version(1) })
      const [post] = yield* sql<{ id: bigint }>`SELECT id FROM statuses WHERE uri = ${`${fay.id}/notes/one`}`
      const columns = yield* columnsOf("status_edits", ["id"])
      yield* sql.unsafe(`INSERT INTO status_edits (id, ${columns}) SELECT next_id(1), ${columns}
        FROM status_edits, generate_series(1, 600) n WHERE status_id = ${post?.id} ORDER BY n, status_edits.id`)
      for (const n of [2, 3]) {
        assert.strictEqual(yield* deliverFrom(fay, { type: "Update", object: version(n) }), "done")
      }
      const [stored] = yield* sql<{ count: number; html: string }>`SELECT count(*)::int AS count, s.html
        FROM status_edits e JOIN statuses s ON s.id = e.status_id WHERE s.id = ${post?.id ?? 0n} GROUP BY s.html`
      assert.deepStrictEqual(stored, { count: 500, html: "version 3" })
      // The post's files are those of stored versions.
      const files = sql`SELECT split_part(remote_url, '/users/fay/', 2) AS name FROM media_attachments
        WHERE status_id = ${post?.id ?? 0n} ORDER BY 1`
      assert.deepStrictEqual(yield* files, ["0.png", "1.png", "3.png"].map((name) => ({ name })))
    }))
})
