import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { AdminAnnouncement } from "../../../src/http/announcements/wire/AdminAnnouncement.ts"
import { ask } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { auditEntries, staffMember } from "../../support/Staff.ts"
import { watching } from "../../support/WatchedStream.ts"

const path = "/api/v1/admin/announcements"

layer(TestServer.layer(), { excludeTestServices: true })("announcements in the API", (it) => {
  it.effect("S-087 S-110 S-235: are created, shown, published, unpublished and deleted, with events on the streams", () =>
    Effect.gen(function*() {
      const by = yield* staffMember("herald", ["manageAnnouncements"])
      const { body: stored } = yield* ask(by, "POST", path, { text: "Soon #cake", unpublished: true, all_day: true })
      yield* Schema.decodeUnknownEffect(AdminAnnouncement)(stored, { onExcessProperty: "error" })
      assert.deepInclude(stored, { published: false, published_at: null, all_day: false, text: "Soon #cake" })
      const people = Effect.map(ask(by, "GET", "/api/v1/announcements"), ({ body }) => body.length)
      assert.strictEqual(yield* people, 0)
      const stream = yield* watching(by)
      const { body: shown } = yield* ask(by, "POST", `${path}/${stored.id}/publish`)
      assert.strictEqual(shown.published, true)
      assert.strictEqual(yield* people, 1)
      const { body: changed } = yield* ask(by, "PUT", `${path}/${stored.id}`, {
        starts_at: "2030-01-02T10:00:00Z",
        ends_at: "2030-01-03T10:00:00Z",
        all_day: "1"
      })
      assert.deepInclude(changed, { text: "Soon #cake", all_day: true, starts_at: "2030-01-02T10:00:00.000Z" })
      yield* ask(by, "POST", `${path}/${stored.id}/unpublish`)
      assert.strictEqual(yield* people, 0)
      const heard = yield* Effect.replicateEffect(stream.next("announcement"), 3)
      assert.deepStrictEqual(heard.map(([name]) => name), ["announcement", "announcement", "announcement.delete"])
      assert.strictEqual(heard[2]?.[1], stored.id)
      const { body: later } = yield* ask(by, "POST", path, { text: "Later", scheduled_at: "2031-01-01T00:00:00Z" })
      assert.deepInclude(later, { published: false, scheduled_at: "2031-01-01T00:00:00.000Z" })
      const ids = Effect.map(ask(by, "GET", path), ({ body }) => body.map(({ id }: { readonly id: string }) => id))
      assert.deepStrictEqual(yield* ids, [later.id, stored.id])
      const paged = yield* ask(by, "GET", `${path}?limit=1`)
      assert.deepStrictEqual(paged.body.length, 1)
      assert.include(paged.headers.get("link") ?? "", `max_id=${later.id}`)
      assert.deepStrictEqual((yield* ask(by, "DELETE", `${path}/${later.id}`)).body, {})
      assert.strictEqual((yield* ask(by, "GET", `${path}/${later.id}`)).status, 404)
      for (const wrong of [{}, { text: " " }, { text: "x", ends_at: "2030-01-01" }, { text: "x", starts_at: "soon" }]) {
        assert.strictEqual((yield* ask(by, "POST", path, wrong)).status, 422, JSON.stringify(wrong))
      }
      assert.deepStrictEqual(
        (yield* auditEntries(by.accountId)).map(({ act, targetLabel }) => `${act} ${targetLabel}`),
        [
          "announcement destroy Later",
          "announcement create Later",
          "announcement unpublish Soon #cake",
          "announcement update Soon #cake",
          "announcement publish Soon #cake",
          "announcement create Soon #cake"
        ]
      )
    }))
})
