import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Markers } from "../../../src/http/wire/Marker.ts"
import { Preferences } from "../../../src/http/wire/Preferences.ts"
import { ScheduledStatus } from "../../../src/http/wire/ScheduledStatus.ts"
import { Tag } from "../../../src/http/wire/Tag.ts"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { get, links, post as postForm, postJson } from "../../support/Requests.ts"
import { issueToken } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const strict = { onExcessProperty: "error" } as const

/** Inserts a scheduled post like the account's actor. */
const schedule = Effect.fnUntraced(function*(account: AccountId, text: string) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const params = JSON.stringify({
    text,
    spoilerText: "cw",
    sensitive: true,
    visibility: "private",
    language: "de",
    inReplyToId: "7",
    applicationId: null,
    allowedMentions: ["9"]
  })
  const [row] = yield* sql<
    { id: bigint }
  >`INSERT INTO scheduled_statuses (id, account_id, scheduled_at, params, created_at)
    VALUES (next_id(${now}), ${account}, ${new Date(now + 3_600_000)}, ${params}::jsonb, ${new Date(now)}) RETURNING id`
  return String(row!.id)
})

layer(server(), { excludeTestServices: true })("personal lists", (it) => {
  it.effect("S-098 S-164 S-224: markers are saved by timeline and count their versions", () =>
    Effect.gen(function*() {
      const bearer = yield* issueToken(yield* person("anna"))
      assert.deepStrictEqual((yield* get("/api/v1/markers?timeline[]=home", bearer)).body, {})
      const first = yield* postJson("/api/v1/markers", bearer, { home: { last_read_id: "109" } })
      assert.strictEqual(first.status, 200)
      yield* Schema.decodeUnknownEffect(Markers, strict)(first.body)
      assert.deepInclude(first.body.home, { last_read_id: "109", version: 1 })
      assert.notProperty(first.body, "notifications")
      const form = yield* postForm(
        "/api/v1/markers",
        { "home[last_read_id]": "110", "notifications[last_read_id]": "5" },
        { authorization: `Bearer ${bearer}` }
      )
      assert.deepInclude(form.body.home, { last_read_id: "110", version: 2 })
      const both = yield* get("/api/v1/markers?timeline[]=home&timeline[]=notifications", bearer)
      assert.deepStrictEqual(both.body, form.body)
      assert.deepStrictEqual(Object.keys((yield* get("/api/v1/markers?timeline=notifications", bearer)).body), [
        "notifications"
      ])
      assert.deepStrictEqual((yield* get("/api/v1/markers", bearer)).body, {})
      assert.deepStrictEqual((yield* postJson("/api/v1/markers", bearer, {})).body, {})
    }))

  it.effect("409: of two devices that save a marker concurrently, one gets a conflict", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const bearer = yield* issueToken(yield* person("ben"))
      const save = (id: number) => postJson("/api/v1/markers", bearer, { home: { last_read_id: String(id) } })
      yield* save(1)
      // The row's lock lets both read the marker before either writes it.
      const saving = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`SELECT FROM markers FOR UPDATE`
        const saving = yield* Effect.forkChild(Effect.all([save(2), save(3)], { concurrency: 2 }))
        let waiting = 0
        while (waiting < 2) {
          yield* sql`SELECT pg_stat_clear_snapshot()`
          const [row] = yield* sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`
          waiting = row!.n
        }
        return saving
      }))
      const both = yield* Fiber.join(saving)
      assert.sameMembers(both.map(({ status }) => status), [200, 409])
      const late = both.find(({ status }) => status === 409)
      assert.deepStrictEqual(late?.body, { error: "Conflict during update, please try again" })
      assert.strictEqual((yield* get("/api/v1/markers?timeline[]=home", bearer)).body.home.version, 2)
    }))

  it.effect("S-098 S-225: preferences", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const anna = yield* person("carla", { locked: true })
      const bearer = yield* issueToken(anna)
      const { body } = yield* get("/api/v1/preferences", bearer)
      yield* Schema.decodeUnknownEffect(Preferences, strict)(body)
      assert.strictEqual(body["posting:default:visibility"], "private")
      yield* sql`UPDATE users SET default_visibility = 'unlisted', default_language = 'de', expand_media = 'show_all'
        WHERE account_id = ${anna}`
      assert.deepStrictEqual((yield* get("/api/v1/preferences", bearer)).body, {
        "posting:default:visibility": "unlisted",
        "posting:default:sensitive": false,
        "posting:default:language": "de",
        "posting:default:quote_policy": "public",
        "reading:expand:media": "show_all",
        "reading:expand:spoilers": false,
        "reading:autoplay:gifs": false
      })
    }))

  it.effect("hashtags, used or not", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const now = new Date(yield* Clock.currentTimeMillis)
      const anna = yield* person("dana")
      yield* status(anna, "x", { tag: "starlings" })
      yield* sql`INSERT INTO tag_days (tag_id, day, account_id, uses) SELECT id, ${
        now.toISOString().slice(0, 10)
      }::date, ${anna}, 3 FROM tags`
      const { body } = yield* get("/api/v1/tags/Starlings")
      yield* Schema.decodeUnknownEffect(Tag, strict)(body)
      assert.strictEqual(body.url, "https://local.example/tags/starlings")
      assert.deepInclude(body.history[0], { uses: "3", accounts: "1" })
      assert.strictEqual(body.history.length, 7)
      assert.notProperty(body, "following")
      assert.strictEqual((yield* get("/api/v1/tags/starlings", yield* issueToken(anna))).body.following, false)
      const unused = yield* get("/api/v1/tags/Unused")
      assert.deepStrictEqual([unused.status, unused.body.id, unused.body.name], [200, "", "Unused"])
      for (const name of ["a%20b", "12345", "%23x", "a-b"]) {
        assert.deepStrictEqual((yield* get(`/api/v1/tags/${name}`)).body, { error: "Record not found" }, name)
      }
    }))

  it.effect("S-223: scheduled posts are listed and shown with their parameters", () =>
    Effect.gen(function*() {
      const anna = yield* person("erna")
      const bearer = yield* issueToken(anna)
      const ids = [yield* schedule(anna, "one"), yield* schedule(anna, "two"), yield* schedule(anna, "three")]
      const page = yield* get("/api/v1/scheduled_statuses?limit=2", bearer)
      yield* Schema.decodeUnknownEffect(Schema.Array(ScheduledStatus), strict)(page.body)
      assert.deepStrictEqual(page.body.map(({ id }: { readonly id: string }) => id), [ids[2], ids[1]])
      const { next } = links(page.headers)
      const rest = yield* get(next ?? "", bearer)
      assert.deepStrictEqual(rest.body.map(({ id }: { readonly id: string }) => id), [ids[0]])
      assert.notProperty(links(rest.headers), "next")
      const one = (yield* get(`/api/v1/scheduled_statuses/${ids[0]}`, bearer)).body
      assert.deepInclude(one.params, {
        text: "one",
        spoiler_text: "cw",
        sensitive: true,
        visibility: "private",
        language: "de",
        in_reply_to_id: 7,
        allowed_mentions: ["9"],
        scheduled_at: null
      })
      assert.strictEqual((yield* get(`/api/v1/scheduled_statuses/abc`, bearer)).status, 404)
    }))

  it.effect("row 63: scheduled posts and markers are visible only to their owner", () =>
    Effect.gen(function*() {
      const anna = yield* person("frida")
      const stranger = yield* issueToken(yield* person("gerd"))
      const id = yield* schedule(anna, "secret")
      yield* postJson("/api/v1/markers", yield* issueToken(anna), { home: { last_read_id: "1" } })
      const other = yield* get(`/api/v1/scheduled_statuses/${id}`, stranger)
      assert.deepStrictEqual([other.status, other.body], [404, { error: "Record not found" }])
      assert.deepStrictEqual((yield* get("/api/v1/scheduled_statuses", stranger)).body, [])
      assert.deepStrictEqual((yield* get("/api/v1/markers?timeline[]=home", stranger)).body, {})
    }))

  it.effect("row 65 row 69: each requires a user and its scope", () =>
    Effect.gen(function*() {
      const anna = yield* person("hanna")
      const bearer = yield* issueToken(anna, ["profile"])
      for (const path of ["/api/v1/markers", "/api/v1/preferences", "/api/v1/scheduled_statuses"]) {
        assert.strictEqual((yield* get(path)).status, 401, path)
        assert.strictEqual((yield* get(path, bearer)).status, 403, path)
      }
      assert.strictEqual((yield* postJson("/api/v1/markers", yield* issueToken(anna, ["read"]), {})).status, 403)
    }))
})
