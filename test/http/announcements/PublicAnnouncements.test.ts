import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Announcement, ReactionEvent } from "../../../src/http/wire/Announcement.ts"
import { AnnouncementWriter } from "../../../src/services/announcements/AnnouncementWriter.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { call, newPerson } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { eventually } from "../../support/Eventually.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { watching } from "../../support/WatchedStream.ts"

const path = "/api/v1/announcements"
const day = 86_400_000

/** Runs a command that must succeed; returns its output. */
const staff = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const { code, err, out } = yield* cli(["announcement", ...args], (yield* TestServer).variables)
  assert.strictEqual(code, 0, out + err)
  return out
})
const announce = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  return /Announcement (\d+) was added/.exec(yield* staff("add", ...args))![1]!
})
const listed = (by: Person, query = "") =>
  Effect.flatMap(
    call("GET", path + query, by.token),
    ({ body }) => Schema.decodeUnknownEffect(Schema.Array(Announcement))(body, { onExcessProperty: "error" })
  )
const find = (by: Person, id: string) =>
  Effect.map(listed(by, "?with_dismissed=true"), (all) => all.find((one) => one.id === id))
const react = (by: Person, id: string, name: string, method = "PUT") =>
  call(method, `${path}/${id}/reactions/${encodeURIComponent(name)}`, by.token)

/** Runs the agenda's sweep on demand, without notifications. */
const sweeping = Layer.provideMerge(
  AnnouncementWriter.layer.pipe(Layer.provide(Broadcast.layerMemory)),
  TestServer.layer()
)

layer(sweeping, { excludeTestServices: true })("announcements", (it) => {
  it.effect("S-087 S-088: have their mentions, their times, and only days for a range", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const [anna, ben] = [yield* newPerson("anna"), yield* newPerson("ben")]
      const { body: open } = yield* call("POST", "/api/v1/statuses", ben.token, { status: "come" })
      yield* call("POST", "/api/v1/statuses", ben.token, { status: "secret", visibility: "private" })
      yield* (yield* SqlClient
        .SqlClient)`UPDATE statuses SET url = 'https://here.example/' || text WHERE text IN ('come', 'secret')`
      const id = yield* announce(
        `Party of @ben and @nobody: https://here.example/come https://here.example/secret #Cats\n\nBring <cake>`,
        "--all-day",
        "--starts-at",
        "2030-01-02T10:00Z",
        "--ends-at",
        "2030-01-03T10:00Z"
      )
      const shown = yield* find(anna, id)
      assert.deepInclude(shown, {
        all_day: true,
        read: false,
        starts_at: "2030-01-02T10:00:00.000Z",
        ends_at: "2030-01-03T10:00:00.000Z",
        emojis: [],
        reactions: [],
        mentions: [{ id: String(ben.accountId), username: "ben", acct: "ben", url: `${baseUrl}/@ben` }],
        tags: [{ name: "cats", url: `${baseUrl}/tags/cats` }]
      })
      assert.deepStrictEqual(shown!.statuses.map((status) => status.id), [open.id])
      assert.include(shown!.content, "&lt;cake&gt;</p>")
      assert.include(shown!.content, "@nobody")
      const always = yield* announce("Hello", "--all-day")
      assert.deepInclude(yield* find(anna, always), { all_day: false, starts_at: null, ends_at: null })
      yield* staff("edit", id, "--always", "--text", "No party")
      assert.deepInclude(yield* find(anna, id), { all_day: false, starts_at: null, content: "<p>No party</p>" })
      const half = yield* cli(["announcement", "add", "x", "--starts-at", "2030-01-01"], (yield* TestServer).variables)
      assert.strictEqual(half.code, 1)
      assert.include(half.out + half.err, "Ends at can't be blank")
      assert.strictEqual((yield* call("GET", path, undefined)).status, 401)
    }))

  it.effect("S-109 S-177 S-221: a dismissed one counts as read, and is listed only on request", () =>
    Effect.gen(function*() {
      const [cleo, dora] = [yield* newPerson("cleo"), yield* newPerson("dora")]
      const [id, hidden] = [yield* announce("Read me"), yield* announce("Not yet", "--unpublished")]
      const dismiss = (one: string) => call("POST", `${path}/${one}/dismiss`, cleo.token)
      for (let times = 0; times < 2; times++) {
        const { body, status } = yield* dismiss(id)
        assert.deepStrictEqual({ status, body }, { status: 200, body: {} })
      }
      for (const one of [hidden, "1", "x", "99999999999999999999"]) {
        assert.strictEqual((yield* dismiss(one)).status, 404)
      }
      assert.notInclude((yield* listed(cleo)).map((one) => one.id), id)
      assert.strictEqual((yield* find(cleo, id))?.read, true)
      assert.strictEqual((yield* listed(dora)).find((one) => one.id === id)?.read, false)
      assert.notInclude((yield* listed(cleo, "?with_dismissed=true")).map((one) => one.id), hidden)
    }))

  it.effect("S-222: reactions are Unicode or this server's own emoji, up to eight different ones, each once per person", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [eve, finn] = [yield* newPerson("eve"), yield* newPerson("finn")]
      const id = yield* announce("What do you think?")
      yield* sql`INSERT INTO custom_emojis (id, shortcode, url, static_url, created_at)
        VALUES (next_id(1), 'blob', 'https://files.example/b.gif', 'https://files.example/b.png', to_timestamp(0))`
      yield* sql`SELECT pg_notify('murmuration', '{"_tag":"Changed","kind":"emojis","ids":[]}')`
      yield* eventually(react(eve, id, "blob"), ({ status }) => status === 200)
      for (const name of ["👍", "👩‍👩‍👧‍👦", "❤", "🇫🇷"]) assert.strictEqual((yield* react(eve, id, name)).status, 200, name)
      assert.deepStrictEqual((yield* react(eve, id, "👍")).body, {})
      assert.strictEqual((yield* react(finn, id, "👍", "PATCH")).status, 200)
      for (const name of ["x", "👍👍", "blobb", "1", " ", "👍".repeat(4)]) {
        const { body, status } = yield* react(finn, id, name)
        assert.deepStrictEqual([status, body.error], [422, "Validation failed: Name is not a recognized emoji"], name)
      }
      const mine = (yield* find(eve, id))!.reactions
      assert.deepStrictEqual(mine.map(({ count, me, name }) => [name, count, me]), [
        ["blob", 1, true],
        ["👍", 2, true],
        ["👩‍👩‍👧‍👦", 1, true],
        ["❤", 1, true],
        ["🇫🇷", 1, true]
      ])
      assert.deepStrictEqual([mine[0]!.url, mine[0]!.static_url], [
        "https://files.example/b.gif",
        "https://files.example/b.png"
      ])
      for (const name of ["🍏", "🍐", "🍊"]) yield* react(finn, id, name)
      const ninth = yield* react(finn, id, "🍋")
      assert.deepStrictEqual([ninth.status, ninth.body], [422, {
        error: "Validation failed: Limit of different reactions reached"
      }])
      assert.strictEqual((yield* react(finn, id, "❤")).status, 200)
      assert.deepStrictEqual((yield* react(finn, id, "👍", "DELETE")).body, {})
      assert.strictEqual((yield* react(finn, id, "👍", "DELETE")).status, 404)
      assert.deepInclude((yield* find(finn, id))!.reactions.find(({ name }) => name === "👍"), { count: 1, me: false })
      yield* staff("unpublish", id)
      assert.strictEqual((yield* react(finn, id, "👍")).status, 404)
    }))

  it.effect("S-265: streams send it, its reactions, and at its end only its deletion", () =>
    Effect.gen(function*() {
      const gina = yield* newPerson("gina")
      const stream = yield* watching(gina)
      const id = yield* announce("Heard")
      const [event, payload] = yield* stream.next("announcement")
      assert.strictEqual(event, "announcement")
      const announced = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(Announcement))(payload)
      assert.deepStrictEqual([announced.id, "read" in announced], [id, false])
      yield* react(gina, id, "👍")
      const [, one] = yield* stream.next("announcement.reaction")
      const reaction = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(ReactionEvent))(one)
      assert.deepStrictEqual(reaction, { name: "👍", count: 1, announcement_id: id })
      yield* staff("edit", id, "--text", "Heard again")
      assert.include((yield* stream.next("announcement"))[1], "Heard again")
      yield* staff("remove", id)
      assert.deepStrictEqual(yield* stream.next("announcement"), ["announcement.delete", id])
      assert.strictEqual(yield* find(gina, id), undefined)
    }).pipe(Effect.scoped))

  it.effect("S-110: is published at its time, and unpublished at its end", () =>
    Effect.gen(function*() {
      const hans = yield* newPerson("hans")
      const sql = yield* SqlClient.SqlClient
      const later = yield* announce("Later", "--publish-at", new Date(Date.now() + day).toISOString())
      const over = yield* announce(
        "Over",
        "--starts-at",
        "2020-01-01",
        "--ends-at",
        new Date(Date.now() + day).toISOString()
      )
      assert.strictEqual(yield* find(hans, later), undefined)
      assert.isDefined(yield* find(hans, over))
      assert.include(yield* staff("list"), `${later}\tfrom `)
      yield* sql`UPDATE announcements SET scheduled_at = to_timestamp(0) WHERE id = ${BigInt(later)}`
      yield* sql`UPDATE announcements SET ends_at = to_timestamp(1600000000) WHERE id = ${BigInt(over)}`
      yield* (yield* AnnouncementWriter).sweep
      assert.isDefined(yield* find(hans, later))
      assert.strictEqual(yield* find(hans, over), undefined)
      assert.include(yield* staff("list"), `${over}\tunpublished`)
    }))
})
