import { NodeCrypto, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Draft } from "../../../src/http/wire/Draft.ts"
import * as LocalStorage from "../../../src/layers/storage/LocalStorage.ts"
import { draftsMax } from "../../../src/services/instance/ContentLimits.ts"
import { MediaAttachments } from "../../../src/services/media/MediaAttachments.ts"
import { call, newPerson } from "../../support/Api.ts"
import { picture, uploaded } from "../../support/MediaFiles.ts"
import { environment } from "../../support/MediaJobs.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const path = "/api/v1/drafts"
const upload = (by: Person) =>
  Effect.flatMap(Effect.promise(() => picture().png().toBuffer()), (bytes) => uploaded(by, bytes))
const draft = (by: Person, body: Record<string, unknown>) =>
  Effect.flatMap(call("POST", path, by.token, body), (response) => {
    assert.strictEqual(response.status, 200, JSON.stringify(response.body))
    return Schema.decodeUnknownEffect(Draft)(response.body, { onExcessProperty: "error" })
  })
const show = (by: Person, id: string) => call("GET", `${path}/${id}`, by.token)
const listed = (by: Person, query = "") =>
  Effect.map(call("GET", path + query, by.token), ({ body }) => body.map(({ id }: { id: string }) => id))

/** Runs the sweep of unattached files on demand. */
const sweeping = Layer.provideMerge(
  MediaAttachments.layer.pipe(
    Layer.provide(LocalStorage.layer),
    Layer.provide([environment, NodeCrypto.layer]),
    Layer.provide(NodeServices.layer)
  ),
  TestServer.layer()
)

layer(sweeping, { excludeTestServices: true })("drafts", (it) => {
  it.effect("D-007: are stored as sent, however unfinished, and are not scheduled posts", () =>
    Effect.gen(function*() {
      const anna = yield* newPerson("anna")
      const { body: instance } = yield* call("GET", "/api/v2/instance", undefined)
      assert.deepStrictEqual(instance.configuration.drafts, { max_drafts: draftsMax })
      const media = yield* upload(anna)
      const first = yield* draft(anna, {
        status: "*half* a",
        content_type: "text/markdown",
        spoiler_text: "cw",
        visibility: "private",
        language: "de",
        media_ids: [media.id],
        poll: { options: ["only one"], expires_in: 3_600, multiple: true }
      })
      assert.deepInclude(first.params, {
        text: "*half* a",
        content_type: "text/markdown",
        spoiler_text: "cw",
        visibility: "private",
        language: "de",
        media_ids: [media.id]
      })
      assert.deepStrictEqual(first.params.poll?.options, ["only one"])
      assert.deepStrictEqual(first.media_attachments.map(({ id }) => id), [media.id])
      const empty = yield* draft(anna, {})
      const long = yield* draft(anna, { status: "x".repeat(5_000) })
      assert.deepStrictEqual(yield* listed(anna), [long.id, empty.id, first.id])
      assert.deepStrictEqual(yield* listed(anna, "?limit=1"), [long.id])
      assert.deepStrictEqual(yield* listed(anna, `?max_id=${empty.id}`), [first.id])
      assert.deepStrictEqual((yield* show(anna, first.id)).body, first)
      assert.deepStrictEqual((yield* call("GET", "/api/v1/scheduled_statuses", anna.token)).body, [])
      for (const method of ["GET", "DELETE"]) {
        assert.strictEqual((yield* call(method, `/api/v1/scheduled_statuses/${first.id}`, anna.token)).status, 404)
      }
      const rescheduled = yield* call("PUT", `/api/v1/scheduled_statuses/${first.id}`, anna.token, {
        scheduled_at: "2035-01-01T00:00:00Z"
      })
      assert.strictEqual(rescheduled.status, 404)
      assert.strictEqual((yield* call("POST", path, anna.token, { status: "x".repeat(70_000) })).status, 422)
    }))

  it.effect("a draft is replaced as a whole; its attachments belong to it and are not swept", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ben = yield* newPerson("ben")
      const [retained, dropped] = [yield* upload(ben), yield* upload(ben)]
      const { created_at: createdAt, id } = yield* draft(ben, { status: "a", media_ids: [retained.id, dropped.id] })
      const taken = yield* call("POST", "/api/v1/statuses", ben.token, { media_ids: [retained.id] })
      assert.strictEqual(taken.status, 422)
      yield* sql`UPDATE media_attachments SET touched_at = ${new Date(
        (yield* Clock.currentTimeMillis) - 30 * 86_400_000
      )}`
      yield* (yield* MediaAttachments).sweep
      const { body } = yield* call("PUT", `${path}/${id}`, ben.token, { status: "b", media_ids: [retained.id] })
      assert.strictEqual(body.params.text, "b")
      assert.deepStrictEqual(body.media_attachments.map((file: { id: string }) => file.id), [retained.id])
      assert.strictEqual(body.created_at, createdAt)
      assert.isTrue(body.updated_at >= createdAt)
      // The dropped attachment is free for a post, like a new upload.
      yield* (yield* MediaAttachments).sweep
      const { status } = yield* call("POST", "/api/v1/statuses", ben.token, { media_ids: [dropped.id] })
      assert.strictEqual(status, 200)
      const wrong = yield* call("PUT", `${path}/${id}`, ben.token, { status: "c", media_ids: [dropped.id] })
      assert.strictEqual(wrong.status, 422)
      assert.strictEqual((yield* show(ben, id)).body.params.text, "b", "what is refused changes nothing")
      assert.strictEqual((yield* call("DELETE", `${path}/${id}`, ben.token)).status, 200)
      assert.strictEqual((yield* call("DELETE", `${path}/${id}`, ben.token)).status, 404)
      const freed = yield* call("POST", "/api/v1/statuses", ben.token, { media_ids: [retained.id] })
      assert.strictEqual(freed.status, 200)
    }))

  it.effect("a draft is published once, by the rules of every post; a refused one stays a draft", () =>
    Effect.gen(function*() {
      const [cora, dan] = [yield* newPerson("cora"), yield* newPerson("dan")]
      const media = yield* upload(cora)
      const { id } = yield* draft(cora, {
        status: "**done** @dan",
        content_type: "text/markdown",
        media_ids: [media.id]
      })
      const published = yield* call("POST", `${path}/${id}/publish`, cora.token)
      assert.strictEqual(published.status, 200)
      assert.match(published.body.content, /<strong>done<\/strong>/)
      assert.strictEqual(published.body.media_attachments[0].id, media.id)
      assert.strictEqual(published.body.mentions[0].acct, "dan")
      assert.deepStrictEqual(yield* listed(cora), [])
      assert.strictEqual((yield* call("POST", `${path}/${id}/publish`, cora.token)).status, 404)
      assert.isDefined(dan)

      const blank = yield* draft(cora, { status: " " })
      assert.strictEqual((yield* call("POST", `${path}/${blank.id}/publish`, cora.token)).status, 422)
      const lonely = yield* draft(cora, { status: "to nobody", in_reply_to_id: "1" })
      assert.strictEqual((yield* call("POST", `${path}/${lonely.id}/publish`, cora.token)).status, 404)
      assert.deepStrictEqual(yield* listed(cora), [lonely.id, blank.id])

      const later = yield* draft(cora, { status: "later" })
      const scheduled = yield* call("POST", `${path}/${later.id}/publish`, cora.token, {
        scheduled_at: "2035-01-01T00:00:00Z"
      })
      assert.deepStrictEqual([scheduled.status, scheduled.body.params.text], [200, "later"])
      assert.strictEqual((yield* show(cora, later.id)).status, 404)
      const nonsense = yield* call("POST", `${path}/${blank.id}/publish`, cora.token, { scheduled_at: "nonsense" })
      assert.strictEqual(nonsense.status, 422)
    }))

  it.effect("row 57: others' drafts are not found; their number is bounded", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [emil, fay] = [yield* newPerson("emil"), yield* newPerson("fay")]
      const media = yield* upload(emil)
      const { id } = yield* draft(emil, { status: "mine", media_ids: [media.id] })
      const missing = yield* show(fay, "1")
      for (const [method, more] of [["GET", ""], ["PUT", ""], ["POST", "/publish"], ["DELETE", ""]] as const) {
        const { body, status } = yield* call(
          method,
          `${path}/${id}${more}`,
          fay.token,
          method === "GET" ? undefined : {}
        )
        assert.deepStrictEqual([status, body], [missing.status, missing.body], method)
      }
      assert.strictEqual((yield* call("POST", path, fay.token, { media_ids: [media.id] })).status, 422)
      assert.strictEqual((yield* show(emil, id)).body.params.text, "mine")
      const at = new Date(yield* Clock.currentTimeMillis)
      yield* sql`INSERT INTO scheduled_statuses (id, account_id, params, created_at)
        SELECT n, ${BigInt(fay.accountId)}, '{"text":"","version":1}', ${at} FROM generate_series(1, ${draftsMax}) n`
      const { body, status } = yield* call("POST", path, fay.token, { status: "one more" })
      assert.deepStrictEqual(
        [status, body.error],
        [422, `Validation failed: You have exceeded the limit of ${draftsMax} drafts`]
      )
      const over = yield* call("PUT", `${path}/7`, fay.token, { status: "changed" })
      assert.strictEqual(over.status, 200)
      // Drafts do not count as scheduled posts.
      const scheduled = yield* call("POST", "/api/v1/statuses", fay.token, {
        status: "x",
        scheduled_at: "2035-01-01T00:00:00Z"
      })
      assert.strictEqual(scheduled.status, 200)
    }))
})
