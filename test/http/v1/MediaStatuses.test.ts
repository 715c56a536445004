import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ScheduledStatus } from "../../../src/http/wire/ScheduledStatus.ts"
import { Status, StatusEdit } from "../../../src/http/wire/Status.ts"
import { call, newPerson, sendPost } from "../../support/Api.ts"
import { picture, uploaded } from "../../support/MediaFiles.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const upload = Effect.fnUntraced(function*(person: Person, fields?: Record<string, string>) {
  return yield* uploaded(person, yield* Effect.promise(() => picture().png().toBuffer()), fields)
})

const idsOf = (media: ReadonlyArray<{ readonly id: string }>) => media.map(({ id }) => id)

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

layer(TestServer.layer(), { excludeTestServices: true })("media of statuses", (it) => {
  it.effect("S-108 S-070: a post shows its files in the given order, also without a text; their descriptions are then fixed", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("ada")
      const [first, second] = [yield* upload(ada, { description: "one" }), yield* upload(ada)]
      const { body, status } = yield* sendPost(ada, { media_ids: [second.id, first.id] })
      assert.strictEqual(status, 200)
      yield* Schema.decodeUnknownEffect(Status)(body)
      assert.deepStrictEqual(body.media_attachments, [second, first])
      assert.strictEqual(body.content, "")
      const path = `/api/v1/media/${first.id}`
      assert.strictEqual((yield* call("PUT", path, ada.token, { description: "late" })).status, 404)
      assert.strictEqual((yield* call("GET", path, ada.token)).status, 404)
      const removed = yield* call("DELETE", path, ada.token)
      assert.deepStrictEqual([removed.status, removed.body.error], [
        422,
        "Media attachment is currently used by a status"
      ])
    }))

  it.effect("row 50: neither others' files nor those of another post, nor more than four; all or none", () =>
    Effect.gen(function*() {
      const [bob, eve] = [yield* newPerson("bob"), yield* newPerson("eve")]
      const [mine, hers] = [yield* upload(bob), yield* upload(eve)]
      const refused = yield* sendPost(bob, { status: "x", media_ids: [mine.id, hers.id, "nonsense"] })
      assert.deepStrictEqual([refused.status, refused.body.error], [
        422,
        `Media ${hers.id}, 0 not found or already attached to another post`
      ])
      assert.strictEqual((yield* call("GET", `/api/v1/media/${mine.id}`, bob.token)).status, 200)
      const many = yield* sendPost(bob, { media_ids: ["1", "2", "3", "4", "5"] })
      assert.deepStrictEqual([many.status, many.body.error], [422, "Cannot attach more than 4 files"])
      assert.strictEqual((yield* sendPost(bob, { media_ids: [mine.id] })).status, 200)
      assert.strictEqual((yield* sendPost(bob, { media_ids: [mine.id] })).status, 422)
      assert.strictEqual((yield* sendPost(bob, { media_ids: [] })).body.error, "Validation failed: Text can't be blank")
    }))

  it.effect("row 50: of concurrent posts with the same file only one gets it", () =>
    Effect.gen(function*() {
      const cleo = yield* newPerson("cleo")
      const { id } = yield* upload(cleo)
      const responses = yield* Effect.all(
        Array.from({ length: 6 }, (_, n) => sendPost(cleo, { status: `${n}`, media_ids: [id] })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(responses.map(({ status }) => status).sort(), [200, 422, 422, 422, 422, 422])
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<
        { n: number }
      >`SELECT count(*)::int AS n FROM statuses WHERE ${id}::bigint = ANY (media_ids)`
      assert.strictEqual(row?.n, 1)
    }))

  it.effect("S-144: an edit changes files and their descriptions; the history keeps earlier ones", () =>
    Effect.gen(function*() {
      const dora = yield* newPerson("dora")
      const [first, second] = [yield* upload(dora, { description: "old" }), yield* upload(dora)]
      const { body: { id } } = yield* sendPost(dora, { status: "pictures", media_ids: [first.id] })
      const path = `/api/v1/statuses/${id}`
      const same = yield* call("PUT", path, dora.token, { status: "pictures" })
      assert.strictEqual(same.body.edited_at, null)
      const words = yield* call("PUT", path, dora.token, {
        status: "pictures",
        media_ids: [first.id],
        media_attributes: [{ id: first.id, description: "new", focus: "0.5,0.5" }]
      })
      assert.deepInclude(words.body.media_attachments[0], { id: first.id, description: "new" })
      assert.deepStrictEqual(words.body.media_attachments[0].meta.focus, { x: 0.5, y: 0.5 })
      const other = yield* call("PUT", path, dora.token, { status: "pictures", media_ids: [second.id] })
      assert.deepStrictEqual(idsOf(other.body.media_attachments), [second.id])
      const history = yield* call("GET", `${path}/history`, dora.token)
      yield* Schema.decodeUnknownEffect(Schema.Array(StatusEdit))(history.body)
      assert.deepStrictEqual(
        history.body.map(({ media_attachments: [media] }: typeof other.body) => [media.id, media.description]),
        [[first.id, "old"], [first.id, "new"], [second.id, null]]
      )
    }))

  it.effect("F33, S-060: deleting a post releases its files for another one, or removes them on request", () =>
    Effect.gen(function*() {
      const eva = yield* newPerson("eva")
      const [retained, dropped] = [yield* upload(eva), yield* upload(eva)]
      const posts = [
        yield* sendPost(eva, { media_ids: [retained.id] }),
        yield* sendPost(eva, { media_ids: [dropped.id] })
      ]
      const deleted = yield* call("DELETE", `/api/v1/statuses/${posts[0]?.body.id}`, eva.token)
      assert.deepStrictEqual(deleted.body.media_attachments, [retained])
      assert.strictEqual((yield* sendPost(eva, { media_ids: [retained.id] })).status, 200)
      yield* call("DELETE", `/api/v1/statuses/${posts[1]?.body.id}?delete_media=true`, eva.token)
      const sql = yield* SqlClient.SqlClient
      assert.isEmpty(yield* sql`SELECT FROM media_attachments WHERE id = ${dropped.id}::bigint`)
      // F33: now no other post can use it, nor can its description be changed.
      const again = yield* sendPost(eva, { media_ids: [dropped.id] })
      assert.deepStrictEqual([again.status, again.body.error], [
        422,
        `Media ${dropped.id} not found or already attached to another post`
      ])
      assert.strictEqual((yield* call("GET", `/api/v1/media/${dropped.id}`, eva.token)).status, 404)
    }))

  it.effect("S-141: a scheduled post reserves its files, and releases them when it is cancelled", () =>
    Effect.gen(function*() {
      const fay = yield* newPerson("fay")
      const media = yield* upload(fay)
      const { body } = yield* sendPost(fay, { status: "later", media_ids: [media.id], scheduled_at: inAnHour() })
      yield* Schema.decodeUnknownEffect(ScheduledStatus)(body)
      assert.deepStrictEqual([body.params.media_ids, body.media_attachments], [[media.id], [media]])
      assert.strictEqual((yield* sendPost(fay, { media_ids: [media.id] })).status, 422)
      assert.strictEqual((yield* call("DELETE", `/api/v1/media/${media.id}`, fay.token)).status, 422)
      yield* call("DELETE", `/api/v1/scheduled_statuses/${body.id}`, fay.token)
      assert.strictEqual((yield* sendPost(fay, { media_ids: [media.id] })).status, 200)
    }))

  it.effect("S-180: only_media finds the posts with files on timelines and profiles", () =>
    Effect.gen(function*() {
      const gil = yield* newPerson("gil")
      yield* sendPost(gil, { status: "words #tag" })
      const shown = yield* sendPost(gil, { status: "picture #tag", media_ids: [(yield* upload(gil)).id] })
      const paths = [
        `/api/v1/accounts/${gil.accountId}/statuses`,
        "/api/v1/timelines/public",
        "/api/v1/timelines/tag/tag"
      ]
      for (const path of paths) {
        const { body } = yield* call("GET", `${path}?only_media=true&limit=1`, gil.token)
        assert.deepStrictEqual(idsOf(body), [shown.body.id], path)
      }
    }))
})
