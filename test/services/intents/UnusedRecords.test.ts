import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Retention } from "../../../src/services/intents/Retention.ts"
import { keepingColumns, ownColumns, tagColumns } from "../../../src/services/intents/UnusedRecords.ts"
import { unusedRows } from "../../../src/services/intents/UnusedRows.ts"
import { person } from "../../support/People.ts"
import { retention } from "../../support/Retention.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const Live = retention.pipe(Layer.provideMerge(TestDatabase.layer))
const day = 86_400_000

layer(Live, { excludeTestServices: true })("unused rows", (it) => {
  const ago = (days: number) => Effect.map(Clock.currentTimeMillis, (now) => new Date(now - days * day))
  const stranger = Effect.fnUntraced(function*(username: string, days = 91) {
    const sql = yield* SqlClient.SqlClient
    const at = yield* ago(days)
    const host = `${username}.example`
    const [row] = yield* sql<{ id: bigint }>`
      INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
      VALUES (next_id(${at.getTime()}), ${username}, ${host}, ${`https://${host}/me`}, ${at}, ${at}) RETURNING id`
    const { id } = row!
    yield* sql`INSERT INTO actors (account_id) VALUES (${id})`
    yield* sql`INSERT INTO account_stats (account_id) VALUES (${id})`
    yield* sql`INSERT INTO remote_actors (account_id, type, inbox_url, shared_inbox_url, fetched_at)
      VALUES (${id}, 'Person', ${`https://${host}/me/inbox`}, ${`https://${host}/inbox`}, ${at})`
    yield* sql`INSERT INTO remote_keys (key_id, account_id, public_pem) VALUES (${`https://${host}/key`}, ${id}, 'pem')`
    return id
  })
  const names = (statement: Effect.Effect<ReadonlyArray<{ readonly name: string }>, unknown>) =>
    Effect.map(statement, (rows) => rows.map(({ name }) => name))

  it.effect("F76: every column that refers to an account or a hashtag is known to keep it or to be deleted with it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const columns = (table: string) =>
        names(sql<{ name: string }>`SELECT r.conrelid::regclass || '.' || c.attname AS name FROM pg_constraint r
          JOIN pg_attribute c ON c.attrelid = r.conrelid AND c.attnum = r.conkey[1]
          WHERE r.contype = 'f' AND r.confrelid = ${table}::regclass`)
      assert.sameMembers(yield* columns("accounts"), [...ownColumns, ...keepingColumns])
      assert.sameMembers(yield* columns("tags"), [...tagColumns])
      assert.sameMembers(yield* columns("inboxes"), ["remote_actors.inbox_id", "relays.inbox_id"])
      assert.sameMembers(yield* columns("hosts"), ["inboxes.host_id"])
    }))

  it.effect("F76: remote accounts that nothing refers to are removed with their inboxes and hosts", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const at = yield* ago(91)
      const local = yield* person("local")
      yield* stranger("unused")
      yield* stranger("fresh", 89)
      const ids = yield* Effect.forEach(
        ["followed", "follower", "blocked", "muted", "noted", "reported", "mentioned", "listed"],
        (name) => stranger(name)
      )
      const [followed, follower, blocked, muted, noted, reported, mentioned, listed] = ids
      yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
        VALUES (1, ${local}, ${followed!}, ${at}), (2, ${follower!}, ${local}, ${at})`
      yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (1, ${local}, ${blocked!})`
      yield* sql`INSERT INTO mutes (id, account_id, target_account_id) VALUES (1, ${local}, ${muted!})`
      yield* sql`INSERT INTO account_notes (account_id, target_account_id, comment) VALUES (${local}, ${noted!}, 'x')`
      yield* sql`INSERT INTO reports (id, account_id, target_account_id, category, comment, status_ids, rule_ids,
          forward_domains, created_at, action_taken_at)
        VALUES (1, ${local}, ${reported!}, 'spam', '', '{}', '{}', '{}', ${at}, ${at})`
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        VALUES (1, ${local}, 'public', 1, ${at})`
      yield* sql`INSERT INTO mentions (status_id, account_id) VALUES (1, ${mentioned!})`
      yield* sql`INSERT INTO lists (id, account_id, title, replies_policy, exclusive)
        VALUES (1, ${local}, 'L', 'list', false)`
      yield* sql`INSERT INTO list_accounts (id, list_id, account_id) VALUES (1, 1, ${listed!})`
      for (const decision of ["suspended", "silenced", "sensitized"]) {
        const id = yield* stranger(decision)
        yield* sql`UPDATE accounts SET ${sql(`${decision}_at`)} = ${at} WHERE id = ${id}`
      }
      yield* stranger("paused")
      yield* sql`UPDATE hosts SET paused_by = 'operator' WHERE host = 'paused.example'`
      yield* stranger("awaited")
      yield* sql`INSERT INTO deliveries (inbox_id, about, activity_id, host_id, due_at)
        SELECT i.id, 1, 1, i.host_id, ${at} FROM inboxes i WHERE i.url = 'https://awaited.example/inbox'`
      // A personal inbox, which is only referred to by its URL.
      yield* sql`SELECT inbox_number('https://followed.example/me/inbox')`
      yield* (yield* Retention).sweep

      const retained = [
        "fresh",
        "followed",
        "follower",
        "blocked",
        "muted",
        "noted",
        "reported",
        "mentioned",
        "listed",
        "suspended",
        "silenced",
        "sensitized"
      ]
      assert.sameMembers(
        yield* names(sql<{ name: string }>`SELECT username AS name FROM accounts WHERE domain IS NOT NULL`),
        retained
      )
      assert.sameMembers(
        yield* names(sql<{ name: string }>`SELECT host AS name FROM hosts`),
        [...retained, "paused", "awaited"].map((name) => `${name}.example`)
      )
      assert.sameMembers(
        yield* names(sql<{ name: string }>`SELECT url AS name FROM inboxes`),
        [
          ...[...retained, "awaited"].map((name) => `https://${name}.example/inbox`),
          "https://followed.example/me/inbox"
        ]
      )
    }))

  it.effect("F76: an account that an uncommitted transaction refers to is kept", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const local = yield* person("racing")
      const id = yield* stranger("raced")
      const referred = yield* Deferred.make<void>()
      const swept = yield* Deferred.make<void>()
      const following = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
          VALUES (100, ${local}, ${id}, ${yield* ago(0)})`
        yield* Deferred.succeed(referred, undefined)
        yield* Deferred.await(swept)
      })))
      yield* Deferred.await(referred)
      yield* (yield* Retention).sweep
      yield* Deferred.succeed(swept, undefined)
      yield* Fiber.join(following)
      assert.lengthOf(yield* sql`SELECT FROM follows WHERE id = 100`, 1)
    }))

  it.effect("F76: hashtags are removed unless a post, a person or staff decided about them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const local = yield* person("tagger")
      const tag = (id: bigint, name: string, days: number, also = "listable = true") =>
        Effect.flatMap(
          ago(days),
          (at) =>
            sql`INSERT INTO tags (id, name, display_name, created_at) VALUES (${id}, ${name}, ${name}, ${at})`.pipe(
              Effect.andThen(sql`UPDATE tags SET ${sql.literal(also)} WHERE id = ${id}`)
            )
        )
      yield* tag(1n, "unused", 91)
      yield* tag(2n, "fresh", 89)
      yield* tag(3n, "followed", 91)
      yield* tag(4n, "posted", 91)
      yield* tag(5n, "hidden", 91, "listable = false")
      yield* tag(6n, "unusable", 91, "usable = false")
      yield* tag(7n, "refused", 91, "trendable = false")
      yield* tag(8n, "seen", 91, "reviewed_at = now()")
      yield* sql`INSERT INTO tag_follows (id, account_id, tag_id) VALUES (1, ${local}, 3)`
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        VALUES (20, ${local}, 'public', 20, ${yield* ago(91)})`
      yield* sql`INSERT INTO statuses_tags (tag_id, status_id) VALUES (4, 20)`
      yield* (yield* Retention).sweep
      assert.deepStrictEqual(yield* names(sql<{ name: string }>`SELECT name FROM tags ORDER BY id`), [
        "fresh",
        "followed",
        "posted",
        "hidden",
        "unusable",
        "refused",
        "seen"
      ])
    }))

  it.effect("F76: emoji of a server without a known account are removed, those of others stay", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const at = yield* ago(91)
      yield* stranger("emoting", 1)
      yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, created_at, refreshed_at)
        VALUES (1, 'mine', NULL, '', '', ${at}, ${at}), (2, 'theirs', 'emoting.example', '', '', ${at}, ${at}),
          (3, 'left', 'left.example', '', '', ${at}, ${at}), (4, 'late', 'late.example', '', '', ${at}, now())`
      yield* (yield* Retention).sweep
      assert.deepStrictEqual(
        yield* names(sql<{ name: string }>`SELECT shortcode AS name FROM custom_emojis ORDER BY id`),
        ["mine", "theirs", "late"]
      )
    }))

  it.effect("F142: the sweep after a failed one continues after the row that could not be removed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE keeping_tags (tag_id bigint REFERENCES tags (id) ON DELETE RESTRICT)`
      yield* sql`INSERT INTO tags (id, name, display_name, created_at)
        SELECT n, 'stuck' || n, '', now() FROM generate_series(900, 903) n`
      yield* sql`INSERT INTO keeping_tags VALUES (901)`
      const { remove } = unusedRows(sql, { table: "tags", condition: () => sql`t.name LIKE 'stuck%'` })
      const slice = remove(() => new Date(0), 1)
      const left = names(sql<{ name: string }>`SELECT name FROM tags WHERE name LIKE 'stuck%' ORDER BY id`)
      yield* Effect.repeat(slice, { until: () => Effect.map(left, ({ length }) => length < 4) })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(slice)))
      yield* Effect.repeat(slice, { until: ({ more }) => !more })
      assert.deepStrictEqual(yield* left, ["stuck901"])
      yield* sql`DROP TABLE keeping_tags`
    }))
})
