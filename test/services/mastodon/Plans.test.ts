import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { placeOf } from "../../../src/services/mastodon/tables/MediaCopy.ts"
import { json } from "../../support/Api.ts"
import { idOf, mediaOf, putFile, rejected, servers, source, transferred } from "../../support/mastodon/Copies.ts"
import { TestServer } from "../../support/Server.ts"

const year = 365 * 86_400_000

layer(servers, { excludeTestServices: true })(
  "custom emoji and scheduled posts of a Mastodon server",
  (it) => {
    it.effect("are copied with their files; a scheduled post that was published or moved since is not published twice", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { baseUrl, fetch } = yield* TestServer
        const from = yield* source("4.5")
        const { insert } = from
        const ada = yield* from.person(idOf(1), "ada")
        yield* from.token(ada, "read")
        yield* insert(
          "statuses",
          { id: idOf(10), accountId: ada.id, local: true, text: "with a file" },
          { id: idOf(14), accountId: ada.id, local: true, text: "deleted", deletedAt: new Date() }
        )
        const uploaded = { accountId: ada.id, type: 0 }
        yield* insert(
          "media_attachments",
          { id: idOf(20), ...uploaded, statusId: idOf(10), fileFileName: "bird.png" },
          { id: idOf(21), ...uploaded, scheduledStatusId: 51n, fileFileName: "plan.png" }
        )
        yield* putFile(from, placeOf("media_attachments/files", String(idOf(20)), "original", "bird.png"), "bird")
        yield* putFile(from, placeOf("media_attachments/files", String(idOf(21)), "original", "plan.png"), "plan")
        yield* insert("custom_emoji_categories", { id: 1n, name: "Animals" })
        yield* insert(
          "custom_emojis",
          { id: 30n, shortcode: "cat", imageFileName: "cat.gif", categoryId: 1n },
          { id: 31n, shortcode: "hidden", imageFileName: "hidden.png", visibleInPicker: false, disabled: true },
          { id: 32n, shortcode: "no file", imageFileName: "x.png" },
          { id: 33n, shortcode: "vector", imageFileName: "vector.svg" },
          { id: 34n, shortcode: "far", domain: "Far.example", imageRemoteUrl: "https://far.example/far.png" },
          { id: 35n, shortcode: "placeless", domain: "far.example", imageRemoteUrl: "file:///etc/passwd" }
        )
        const emoji = (n: string, style: string, file: string) => placeOf("custom_emojis/images", n, style, file)
        yield* putFile(from, emoji("30", "original", "cat.gif"), "moving cat")
        yield* putFile(from, emoji("30", "static", "cat.png"), "still cat")
        yield* putFile(from, emoji("31", "original", "hidden.png"), "hidden")
        yield* putFile(from, emoji("33", "original", "vector.svg"), "<svg/>")
        yield* insert("tags", { id: 40n, name: "birds", displayName: "Birds" })
        yield* insert("featured_tags", { id: 41n, accountId: ada.id, tagId: 40n }, {
          id: 42n,
          accountId: ada.id,
          tagId: 777n
        })
        const soon = new Date(Date.now() + year)
        const planned = (id: bigint, params: object) => ({
          id,
          accountId: ada.id,
          scheduledAt: soon,
          params: JSON.stringify(params)
        })
        yield* insert(
          "scheduled_statuses",
          planned(50n, {
            text: "later",
            ["spoiler_text"]: "cw",
            sensitive: "true",
            visibility: "unlisted",
            ["in_reply_to_id"]: String(idOf(10)),
            ["application_id"]: 777,
            poll: { options: ["A", "B"], ["expires_in"]: "300", multiple: true, ["hide_totals"]: null }
          }),
          planned(51n, { text: "with a file", ["media_ids"]: [String(idOf(21))], ["quote_approval_policy"]: 4 << 16 }),
          planned(52n, { text: "to nobody", ["in_reply_to_id"]: idOf(14).toString() }),
          planned(53n, { text: 7, visibility: "everybody" }),
          planned(54n, { text: "another's file", ["media_ids"]: [String(idOf(20))] })
        )

        const files = ["--media", mediaOf(from)]
        yield* transferred(from, "copy", ...files)
        assert.deepStrictEqual(
          yield* rejected(from),
          [
            "custom emoji 32",
            "custom emoji 33",
            "emoji of other servers 35",
            "featured hashtags 42",
            "scheduled posts 52",
            "scheduled posts 53",
            "scheduled posts 54"
          ]
        )
        const me = { token: "token-of-ada" }
        const [cat, ...more] = yield* json(me, "/api/v1/custom_emojis")
        assert.deepStrictEqual(more, [])
        assert.deepInclude(cat, { shortcode: "cat", category: "Animals" })
        const contentOf = Effect.fnUntraced(function*(url: string) {
          return yield* Effect.flatMap(
            fetch(url.replace(baseUrl, "")),
            (response) => Effect.promise(() => response.text())
          )
        })
        assert.deepStrictEqual([yield* contentOf(cat.url), yield* contentOf(cat.static_url)], [
          "moving cat",
          "still cat"
        ])
        assert.deepStrictEqual(
          yield* sql`SELECT id, shortcode, domain, url, disabled, visible_in_picker FROM custom_emojis WHERE id > 30 ORDER BY id`,
          [
            { id: 31n, shortcode: "hidden", domain: null, url: null, disabled: true, visibleInPicker: false },
            {
              id: 34n,
              shortcode: "far",
              domain: "far.example",
              url: "https://far.example/far.png",
              disabled: false,
              visibleInPicker: true
            }
          ]
        )
        assert.deepStrictEqual(
          (yield* json(me, `/api/v1/accounts/${ada.id}/featured_tags`)).map((
            { id, name }: Record<string, unknown>
          ) => [id, name]),
          [["41", "Birds"]]
        )

        const scheduled = () => json(me, "/api/v1/scheduled_statuses")
        const [file, text, ...rest] = yield* scheduled()
        assert.deepStrictEqual(rest, [])
        assert.deepInclude(text, { id: "50", scheduled_at: soon.toISOString() })
        assert.deepInclude(text.params, {
          text: "later",
          spoiler_text: "cw",
          sensitive: true,
          visibility: "unlisted",
          application_id: null
        })
        assert.deepInclude(text.params.poll, { options: ["A", "B"], expires_in: "300", multiple: true })
        assert.deepStrictEqual(file.media_attachments.map((one: { readonly id: string }) => one.id), [String(idOf(21))])
        assert.deepStrictEqual(
          yield* sql`SELECT subject_id, due_at FROM agenda WHERE kind = 'scheduled_status' ORDER BY subject_id`,
          [{ subjectId: 50n, dueAt: soon }, { subjectId: 51n, dueAt: soon }]
        )

        // A post that was published or rescheduled since the copy must not be published at its earlier time.
        const later = new Date(soon.getTime() + year)
        yield* from.sql`DELETE FROM scheduled_statuses WHERE id = 51`
        yield* from.sql`UPDATE scheduled_statuses SET scheduled_at = ${later} WHERE id = 50`
        yield* from.sql`UPDATE custom_emojis SET disabled = true, updated_at = ${new Date()} WHERE id = 30`
        yield* from.sql`DELETE FROM custom_emojis WHERE id = 31`
        yield* from.sql`DELETE FROM featured_tags`
        yield* transferred(from, "delta", ...files)
        assert.deepStrictEqual(yield* sql`SELECT id, scheduled_at FROM scheduled_statuses`, [{
          id: 50n,
          scheduledAt: later
        }])
        assert.deepStrictEqual(
          yield* sql`SELECT due_at FROM agenda WHERE kind = 'scheduled_status' AND subject_id = 50`,
          [{ dueAt: later }]
        )
        assert.deepStrictEqual(yield* sql`SELECT id FROM custom_emojis WHERE domain IS NULL AND NOT disabled`, [])
        assert.deepStrictEqual(yield* sql`SELECT id FROM custom_emojis WHERE id = 31`, [])
        assert.deepStrictEqual(yield* sql`SELECT FROM featured_tags`, [])
      }))
  }
)
