import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { documentAt } from "../../support/Requests.ts"
import { server } from "../../support/WebServer.ts"

const here = "https://local.example"

layer(server(), { excludeTestServices: true })("contents of notes and actors", (it) => {
  it.effect("S-009, S-012: files come along, with their words, sizes, focus and previews; emoji as well", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      const mia = yield* person("mia")
      const id = yield* status(mia, "look :wave: :nothing:")
      yield* sql`INSERT INTO custom_emojis (id, shortcode, file_name, static_name, created_at)
        VALUES (77, 'wave', 'wave.gif', 'wave.png', ${now})`
      yield* (yield* Broadcast).publish({ _tag: "Changed", kind: "emojis", ids: [77n] })
      const original = { width: 640, height: 480, size: "640x480", aspect: 4 / 3 }
      yield* sql`INSERT INTO media_attachments (id, account_id, status_id, type, state, description, focus_x, focus_y, meta,
          blurhash, file_name, preview_name, created_at, touched_at) VALUES
        (71, ${mia}, ${id}, 'image', 'ready', 'A cat', 0.5, -0.25, ${
        JSON.stringify({ original })
      }::jsonb, 'LEHV6n', 'cat.jpg',
          'small.jpg', ${now}, ${now}),
        (72, ${mia}, ${id}, 'video', 'ready', NULL, NULL, NULL,
          ${
        JSON.stringify({ original: { width: 64, height: 48, duration: 2.5, bitrate: 1000, frameRate: "30/1" } })
      }::jsonb,
          NULL, 'film.mp4', 'still.png', ${now}, ${now}),
        (73, ${mia}, ${id}, 'image', 'failed', NULL, NULL, NULL, '{}', NULL, NULL, NULL, ${now}, ${now})`
      yield* sql`UPDATE statuses SET media_ids = '{71,72,73}' WHERE id = ${id}`
      const { json } = yield* documentAt(`/users/mia/statuses/${id}`)
      const file = (name: string) => `${here}/system/${name}`
      assert.deepStrictEqual(json.attachment, [
        {
          type: "Document",
          mediaType: "image/jpeg",
          url: file("cat.jpg"),
          name: "A cat",
          blurhash: "LEHV6n",
          focalPoint: [0.5, -0.25],
          width: 640,
          height: 480
        },
        {
          type: "Document",
          mediaType: "video/mp4",
          url: file("film.mp4"),
          name: null,
          width: 64,
          height: 48,
          duration: "PT2.500S",
          icon: { type: "Image", mediaType: "image/png", url: file("still.png") }
        }
      ])
      const emoji = {
        id: `${here}/emojis/77`,
        type: "Emoji",
        name: ":wave:",
        updated: json.tag[0].updated,
        icon: { type: "Image", mediaType: "image/gif", url: file("wave.gif") }
      }
      assert.deepStrictEqual(json.tag, [emoji])
      assert.deepInclude((yield* documentAt("/emojis/77")).json, emoji)
      assert.strictEqual((yield* documentAt("/emojis/78")).status, 404)
      yield* sql`UPDATE accounts SET avatar_name = 'me.png', avatar_description = 'Me', header_name = 'sea.jpg',
        display_name = 'Mia :wave:' WHERE id = ${mia}`
      const actor = (yield* documentAt("/users/mia")).json
      assert.deepStrictEqual(actor.icon, { type: "Image", mediaType: "image/png", url: file("me.png"), summary: "Me" })
      assert.deepStrictEqual(actor.image, { type: "Image", mediaType: "image/jpeg", url: file("sea.jpg") })
      assert.deepStrictEqual(actor.tag, [emoji])
    }))

  it.effect("S-009, S-076: a poll is a Question; hidden totals are not told before the end", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ends = new Date((yield* Clock.currentTimeMillis) + 60_000)
      const noa = yield* person("noa")
      const id = yield* status(noa, "which?")
      yield* sql`INSERT INTO polls (status_id, options, counts, voters_count, multiple, hide_totals, expires_at)
        VALUES (${id}, '{Tea,Coffee}', '{3,4}', 5, true, true, ${ends})`
      const option = (name: string, totals: object) => ({
        type: "Note",
        name,
        replies: { type: "Collection", ...totals }
      })
      const open = (yield* documentAt(`/users/noa/statuses/${id}`)).json
      assert.deepInclude(open, { type: "Question", votersCount: 5, endTime: ends.toISOString() })
      assert.deepStrictEqual(open.anyOf, [option("Tea", {}), option("Coffee", {})])
      assert.notProperty(open, "closed")
      yield* sql`UPDATE polls SET expires_at = '2026-01-02T03:04:05Z', multiple = false WHERE status_id = ${id}`
      yield* Broadcast.use(({ publish }) => publish({ _tag: "Changed", kind: "status", ids: [id] }))
      const closed = (yield* documentAt(`/users/noa/statuses/${id}`)).json
      assert.deepStrictEqual(closed.oneOf, [option("Tea", { totalItems: 3 }), option("Coffee", { totalItems: 4 })])
      assert.deepInclude(closed, { endTime: "2026-01-02T03:04:05.000Z", closed: "2026-01-02T03:04:05.000Z" })
      assert.strictEqual((yield* documentAt(`/users/noa/statuses/${id}/activity`)).json.object.type, "Question")
    }))
})
