import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { StatusViews } from "../../../src/http/render/StatusViews.ts"
import { DeletedStatus, Status } from "../../../src/http/wire/Status.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { visibleTo } from "../../../src/services/statuses/Visibility.ts"
import { isHidden } from "../../../src/services/visibility/HiddenAccounts.ts"
import { counted, Reads } from "../../support/Reads.ts"
import * as Worlds from "../../support/World.ts"
import * as Slow from "./Slow.ts"

const viewers = [undefined, ...Array.from({ length: Worlds.accounts }, (_, index) => AccountId.make(BigInt(index + 1)))]
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Status), { onExcessProperty: "error" })
const accountIds = viewers.flatMap((viewer) => viewer ?? [])

/**
 * Adds interactions of every kind to a world in the database, by the parity of ids, and an application, tags and
 * counters.
 */
const mark = Effect.fnUntraced(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO oauth_apps (id, client_id, client_secret_hash, name, website, redirect_uris, scopes, created_at)
    VALUES (1, 'app', '', 'An app', NULL, '{}', 'read', ${Worlds.now})
    ON CONFLICT DO NOTHING`
  yield* sql`INSERT INTO favourites (id, account_id, status_id)
    SELECT row_number() OVER (), a.id, s.id FROM accounts a, statuses s WHERE (a.id + s.id) % 3 = 0`
  yield* sql`INSERT INTO bookmarks (id, account_id, status_id)
    SELECT row_number() OVER (), a.id, s.id FROM accounts a, statuses s WHERE (a.id + s.id) % 4 = 0`
  yield* sql`INSERT INTO status_pins (id, account_id, status_id)
    SELECT row_number() OVER (), account_id, id FROM statuses WHERE id % 2 = 0`
  yield* sql`INSERT INTO conversation_mutes (account_id, conversation_id)
    SELECT DISTINCT a.id, s.conversation_id FROM accounts a, statuses s WHERE (a.id + s.conversation_id) % 5 = 0`
  yield* sql`UPDATE status_stats SET favourites_count = status_id % 3, replies_count = status_id % 4, reblogs_count = status_id % 2`
  yield* sql`INSERT INTO tags (id, name, display_name, created_at) VALUES (11, 'blau', 'Blau', ${Worlds.now}), (12, 'rot', 'rot', ${Worlds.now})`
  yield* sql`INSERT INTO statuses_tags (tag_id, status_id) SELECT t.id, s.id FROM tags t, statuses s WHERE t.id > 10 AND (s.id + t.id) % 3 = 0`
  yield* sql`UPDATE statuses SET application_id = 1, edited_at = ${Worlds.now}, spoiler_text = 'a "spoiler"', sensitive = true
    WHERE id % 3 = 1`
  yield* sql`UPDATE users SET show_application = account_id <> 2`
  yield* sql`UPDATE accounts SET display_name = 'Name ' || id, fields = '[{"name":"n","value":"v","html":"<b>v</b>","verifiedAt":null}]'`
})

const changed = (kind: "status" | "account" | "moderation", ids: ReadonlyArray<bigint>) =>
  Broadcast.use(({ publish }) => publish({ _tag: "Changed", kind, ids }))

/** Invalidates everything that is cached, like messages from another node. */
const forgetAll = Effect.andThen(
  changed("status", Array.from({ length: Worlds.statusesMax }, (_, index) => Worlds.firstStatus + BigInt(index))),
  changed("account", accountIds)
)

/** Counts of compared statuses and of interactions among them: a property that compares nothing would also hold. */
const compared = { statuses: 0, marks: 0 }

layer(Reads, { excludeTestServices: true })("StatusViews", (it) => {
  it.effect.prop(
    "S-046, S-060 to S-064, row 61: cached JSON equals a slow render, for each viewer, with cold and warm caches",
    { world: Worlds.World },
    ({ world }) =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const views = yield* StatusViews
        const statuses = yield* Worlds.settle(world)
        // Only local users read renderings.
        yield* sql`INSERT INTO users (account_id, email, password_hash, created_at)
          SELECT id, id || '@local.example', '', ${Worlds.now} FROM accounts WHERE domain IS NOT NULL`
        yield* mark()
        yield* forgetAll
        const ids = statuses.map(({ id }) => id)
        for (const viewer of viewers) {
          const visible = yield* sql<{ id: bigint; hidden: boolean }>`
            SELECT s.id, ${isHidden(sql, sql`${viewer ?? 0n}::bigint`, sql`s.account_id`, Worlds.now)}
              OR (o.id IS NOT NULL AND ${
            isHidden(sql, sql`${viewer ?? 0n}::bigint`, sql`o.account_id`, Worlds.now)
          }) AS hidden
            FROM statuses s LEFT JOIN statuses o ON o.id = s.reblog_of_id
            WHERE ${visibleTo(sql, viewer, "s")} ORDER BY s.id`
          const expected = yield* Effect.forEach(visible, ({ id }) => Slow.status(id, viewer))
          const texts = yield* views.render(viewer, ids)
          assert.deepStrictEqual(texts.map((text) => JSON.parse(text)), expected)
          yield* Effect.forEach(texts, (text) => decode(text))
          compared.statuses += texts.length
          compared.marks += texts.join().match(/"(favourited|reblogged|muted|bookmarked|pinned)":true/g)?.length ?? 0

          const permitted = visible.map(({ id }) => id)
          assert.deepStrictEqual(yield* views.render(viewer, permitted, "permitted"), texts)
          const shown = yield* views.byId(viewer, ids, "authors")
          assert.deepStrictEqual([...shown.keys()], visible.filter(({ hidden }) => !hidden).map(({ id }) => id))
        }
        for (const { id } of statuses) {
          const each = yield* views.renderFor(id, accountIds)
          for (const viewer of accountIds) {
            const alone = yield* views.byId(viewer, [id], "authors")
            assert.strictEqual(each.get(viewer)?.text, alone.get(id), `status ${id} for ${viewer}`)
          }
        }
      }),
    { arbitrary: { runs: 60 } }
  )

  it("compared many statuses and marks", () => {
    assert.isAbove(compared.statuses, 600)
    assert.isAbove(compared.marks, 600)
  })

  it.effect("a page takes no query when its parts are cached and at most four or five when not, at any length", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const views = yield* StatusViews
      const reader = AccountId.make(1n)
      yield* Worlds.settle(Worlds.nothing)
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        SELECT i, 1 + i % 5, 'public', i, ${Worlds.now} FROM generate_series(2000::bigint, 2039) i`
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at, reblog_of_id)
        SELECT i + 1000, 1 + (i + 1) % 5, 'public', i, ${Worlds.now}, i FROM generate_series(2000::bigint, 2039) i`
      const page = (rows: number) => Array.from({ length: rows }, (_, index) => 3000n + BigInt(index))
      const query = (rows: number) => counted(views.render(reader, page(rows)))
      const cold = yield* query(2)
      const half = yield* query(20)
      yield* forgetAll
      const whole = yield* query(40)
      const warm = yield* query(40)
      // The first one may also query the reader's filters.
      assert.isAtMost(cold.queries, 5)
      for (const { queries } of [half, whole, warm]) assert.isAtMost(queries, 4)
      assert.strictEqual(warm.queries, 0)
      assert.strictEqual(warm.value.length, 40)
      yield* changed("status", page(40).map((id) => id - 1000n))
      assert.isAtMost((yield* query(40)).queries, 5)
      // Their filters are queried once.
      yield* views.renderFor(3000n, accountIds)
      assert.strictEqual((yield* counted(views.renderFor(3000n, accountIds))).queries, 1)
    }))

  it.effect("row 57: a status that must not be seen takes the queries of a missing one, cached or not", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const views = yield* StatusViews
      yield* Worlds.settle(Worlds.nothing)
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        VALUES (5020, 1, 'direct', 5020, ${Worlds.now}), (5021, 1, 'public', 5021, ${Worlds.now})`
      const stranger = AccountId.make(2n)
      for (const viewer of [stranger, undefined]) {
        const one = (id: bigint) => Effect.map(counted(Effect.flip(views.renderOne(viewer, id))), (it) => it.queries)
        const page = (id: bigint) =>
          Effect.map(counted(views.renderNamed(viewer, [5021n, id], "authors")), (it) => it.queries)
        for (const attempt of [one, page]) {
          // All other cached data is shared.
          yield* attempt(4711n)
          const missing = yield* attempt(4711n)
          yield* changed("status", [5020n])
          assert.deepStrictEqual([yield* attempt(5020n), yield* attempt(5020n), yield* attempt(5020n)], [
            missing,
            missing,
            missing
          ])
          assert.strictEqual(missing, 2)
        }
      }
    }))

  it.effect("shows an edit at once on its node, and on other nodes as soon as they are notified", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const views = yield* StatusViews
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, html, created_at)
        VALUES (5000, 1, 'public', 5000, 'before', ${Worlds.now})`
      const content = Effect.map(views.renderOne(undefined, 5000n), (text) => JSON.parse(text).content)
      assert.strictEqual(yield* content, "before")
      yield* sql`UPDATE statuses SET html = 'after' WHERE id = 5000`
      assert.strictEqual(yield* content, "before")
      yield* changed("status", [5000n])
      assert.strictEqual(yield* content, "after")

      const sensitive = Effect.map(views.renderOne(undefined, 5000n), (text) => JSON.parse(text).sensitive)
      yield* sql`UPDATE accounts SET sensitized_at = ${Worlds.now} WHERE id = 1`
      assert.isFalse(yield* sensitive)
      yield* changed("moderation", [1n])
      assert.isTrue(yield* sensitive, "S-022: what staff does to an account shows on its posts at once")
    }))

  it.effect("evicts data that another node reports as changed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast
      const views = yield* StatusViews
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, html, created_at)
        VALUES (5010, 1, 'public', 5010, 'before', ${Worlds.now})`
      const shown = Effect.map(views.renderOne(undefined, 5010n), (text) => JSON.parse(text))
      yield* sql`UPDATE accounts SET display_name = 'Before' WHERE id = 1`
      yield* broadcast.publish({ _tag: "Changed", kind: "account", ids: [1n] })
      yield* Effect.yieldNow
      assert.deepStrictEqual([(yield* shown).content, (yield* shown).account.display_name], ["before", "Before"])
      yield* sql`UPDATE statuses SET html = 'after' WHERE id = 5010`
      yield* sql`UPDATE accounts SET display_name = 'After' WHERE id = 1`
      yield* broadcast.publish({ _tag: "Changed", kind: "status", ids: [5010n] })
      yield* broadcast.publish({ _tag: "Changed", kind: "account", ids: [1n] })
      // The next round trip to the database takes long enough for a message within the process.
      yield* sql`SELECT 1`
      assert.deepStrictEqual([(yield* shown).content, (yield* shown).account.display_name], ["after", "After"])
    }))

  it.effect("S-060: the response to a deletion has the text and no content", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const views = yield* StatusViews
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, html, text, created_at)
        VALUES (5001, 1, 'direct', 5001, '<p>hi</p>', 'hi', ${Worlds.now})`
      const given = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(DeletedStatus), {
        onExcessProperty: "error"
      })(yield* views.renderForRedraft(AccountId.make(1n), 5001n))
      assert.strictEqual(given.text, "hi")
      assert.notProperty(given, "content")
      assert.notInclude(yield* views.renderOne(AccountId.make(1n), 5001n), `"text":`)
      const refused = yield* Effect.flip(views.renderForRedraft(AccountId.make(2n), 5001n))
      assert.strictEqual(refused._tag, "RecordNotFound")
    }))

  it.effect("S-127: an undone post is shown although the author now blocks the viewer, without private text", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const views = yield* StatusViews
      const reader = AccountId.make(2n)
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, html, spoiler_text, created_at)
        VALUES (5002, 1, 'public', 5002, 'open', '', ${Worlds.now}), (5003, 1, 'private', 5003, 'secret', 'secret', ${Worlds.now})`
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (90, 1, 2)`
      const undone = (id: bigint) => Effect.map(views.renderUndone(reader, id), (text) => JSON.parse(text))
      assert.strictEqual((yield* undone(5002n)).content, "open")
      const blank = yield* undone(5003n)
      assert.notInclude(JSON.stringify(blank), "secret")
      assert.strictEqual(blank.favourited, false)
      yield* decode(JSON.stringify(blank))
      assert.strictEqual((yield* Effect.flip(views.renderOne(reader, 5002n)))._tag, "RecordNotFound")
    }))
})
