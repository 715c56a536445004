import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { postsMax } from "../../src/services/federation/purge/PurgedPosts.ts"
import { eventually } from "../support/Eventually.ts"
import { fediverse, settled, type TestInstance, type TestUser } from "../support/Fediverse.ts"

/** Inserts the intent that the operator's command leaves for the account's actor. */
const deleteAccount = ({ sql }: TestInstance, { accountId }: TestUser, id: bigint) =>
  Effect.orDie(sql`INSERT INTO account_intents (id, account_id, kind, details, created_at)
    VALUES (${id}, ${accountId}, 'DeleteAccount', '{"_tag": "DeleteAccount"}', ${new Date()})`)

const activity = { headers: { accept: "application/activity+json" } }

/** Waits until all work for deleted accounts is done. */
const purged = ({ sql }: TestInstance) =>
  eventually(
    Effect.orDie(sql`SELECT 1 FROM account_intents UNION ALL SELECT 1 FROM agenda WHERE kind = 'purge'`),
    (rows) => rows.length === 0
  )

it.live(
  "row 11, S-009: a deleted account is gone here and wherever it was seen, and its name stays reserved",
  () =>
    Effect.gen(function*() {
      const instances = yield* fediverse(4)
      const [here, there, third, stranger] = [instances[0]!, instances[1]!, instances[2]!, instances[3]!]
      const { sql } = here
      const [anna, ben] = [yield* here.person("anna"), yield* here.person("ben")]
      const [zoe, yan] = [yield* there.person("zoe"), yield* third.person("yan")]
      const [carl, xia] = [yield* here.person("carl"), yield* stranger.person("xia")]
      const done = settled(instances)
      yield* zoe.follow(anna)
      yield* ben.follow(anna)
      yield* anna.follow(ben)
      // The third server knows anna only from a boost; the fourth knows this server, but not anna.
      yield* yan.follow(ben)
      yield* xia.follow(carl)
      yield* done
      const pinned = yield* anna.post("pinned")
      yield* anna.ask("POST", `/api/v1/statuses/${pinned.id}/pin`)
      const secret = yield* anna.post("for @ben", { visibility: "direct" })
      const mine = yield* ben.post("hello")
      for (const verb of ["favourite", "reblog"]) yield* anna.ask("POST", `/api/v1/statuses/${mine.id}/${verb}`)
      yield* ben.ask("POST", `/api/v1/statuses/${pinned.id}/reblog`)
      yield* ben.ask("POST", `/api/v1/statuses/${pinned.id}/bookmark`)
      yield* done
      // The post, and the boost, whose object is fetched.
      yield* eventually(zoe.home, (home) => home.length === 2)
      yield* eventually(yan.home, (home) => home.length === 2)
      assert.isNotEmpty(yield* ben.ask("GET", "/api/v1/conversations"))
      yield* sql`INSERT INTO statuses (id, account_id, html, visibility, conversation_id, created_at)
        SELECT n, ${anna.accountId}, 'old', 'public', n, ${new Date()} FROM generate_series(1, ${2 * postsMax + 50}) n`

      yield* deleteAccount(here, anna, 1n)
      yield* purged(here)
      yield* done
      for (const instance of [there, third]) yield* purged(instance)
      const gone = [
        yield* here.fetch("/users/anna", activity),
        yield* here.fetch("/users/anna/outbox", activity),
        yield* here.fetch(`/users/anna/statuses/${pinned.id}`, activity),
        yield* here.fetch(`/.well-known/webfinger?resource=acct:${anna.handle}`),
        yield* here.fetch(`/api/v1/accounts/${anna.accountId}`),
        yield* here.fetch("/api/v1/accounts/verify_credentials", { token: anna.token })
      ]
      assert.deepStrictEqual(gone.map(({ status }) => status), [410, 410, 410, 410, 404, 401])
      assert.deepInclude(yield* ben.ask("GET", "/api/v1/accounts/verify_credentials"), {
        following_count: 0,
        followers_count: 1,
        statuses_count: 1
      })
      const left = yield* ben.ask("GET", `/api/v1/statuses/${mine.id}`)
      assert.deepInclude(left, { favourites_count: 0, reblogs_count: 0 })
      assert.deepStrictEqual(yield* ben.notifications, ["follow yan"])
      for (const path of ["conversations", "bookmarks"]) {
        assert.isEmpty(yield* ben.ask("GET", `/api/v1/${path}`), path)
      }
      assert.strictEqual((yield* here.fetch(`/api/v1/statuses/${secret.id}`, { token: ben.token })).status, 404)
      const own = yield* sql<{ tableName: string; columnName: string }>`SELECT table_name, column_name
        FROM information_schema.columns WHERE table_schema = 'public' AND column_name IN ('account_id', 'target_account_id')`
      for (const { columnName, tableName } of own) {
        if (tableName === "actors" || tableName === "account_stats" || tableName === "commands") continue
        assert.isEmpty(
          yield* sql`SELECT 1 FROM ${sql(tableName)} WHERE ${sql(columnName)} = ${anna.accountId}`,
          tableName
        )
      }

      for (const instance of [there, third]) {
        assert.isEmpty(
          yield* instance
            .sql`SELECT FROM statuses WHERE account_id IN (SELECT id FROM accounts WHERE uri = ${anna.uri})`
        )
      }
      assert.strictEqual((yield* zoe.ask("GET", "/api/v1/accounts/verify_credentials")).following_count, 0)
      assert.isEmpty(
        (yield* zoe.home).filter(({ account }: { account: { username: string } }) => account.username === "anna")
      )
      assert.isEmpty(
        yield* stranger.sql`SELECT FROM inbound_activities WHERE document LIKE '%"Delete"%' OR uri LIKE '%anna%'`
      )

      assert.strictEqual((yield* Effect.exit(here.person("ANNA")))._tag, "Failure")
      // A second deletion has no effect, nor does a follow of the deleted account.
      yield* deleteAccount(here, anna, 2n)
      yield* purged(here)
      yield* done
      assert.strictEqual((yield* here.fetch("/users/anna", activity)).status, 410)
    }).pipe(Effect.scoped)
)
