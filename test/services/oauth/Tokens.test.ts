import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Option, PubSub, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { Users } from "../../../src/services/identity/Users.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import * as Urls from "../../../src/services/instance/Urls.ts"
import {
  cachedTokenMillisMax,
  Tokens,
  tokensOfAppMax,
  tokensOfUserAndAppMax,
  tokensOfUserMax
} from "../../../src/services/oauth/Tokens.ts"
import { visitMillis } from "../../../src/services/oauth/Visits.ts"
import { Moves } from "../../../src/services/social/Moves.ts"
import { counted } from "../../support/Reads.ts"
import { client, user } from "../../support/SignedIn.ts"
import { services } from "../../support/WebServer.ts"

const find = (secret: Redacted.Redacted) =>
  Effect.flatMap(Tokens, (tokens) => Effect.map(tokens.find(secret), Option.getOrThrow))

layer(services)("Tokens", (it) => {
  it.effect("S-240 a token is found by one query, and by none while it is cached", () =>
    Effect.gen(function*() {
      const tokens = yield* Tokens
      const accountId = yield* user("anna")
      const app = yield* client("read write")
      const { secret, tokenId } = yield* tokens.issue({ appId: app.id, accountId }, ["read", "push"])
      yield* find(secret)
      yield* TestClock.adjust(cachedTokenMillisMax)
      const first = yield* counted(find(secret))
      assert.strictEqual(first.queries, 1)
      assert.deepInclude(first.value, { tokenId, appId: app.id, accountId, revoked: false, state: "active" })
      assert.deepStrictEqual([...first.value.scopes], ["read", "push"])
      assert.strictEqual((yield* counted(find(secret))).queries, 0)
      assert.isTrue(Option.isNone(yield* tokens.find(Redacted.make("nonsense"))))
    }))

  it.effect("S-247 reports the state of the user, and follows it at once", () =>
    Effect.gen(function*() {
      const [tokens, users, sql] = [yield* Tokens, yield* Users, yield* SqlClient.SqlClient]
      const accountId = yield* user("bea")
      const { secret } = yield* tokens.issue({ appId: undefined, accountId }, ["read"])
      const state = Effect.map(find(secret), (token) => token.state)
      assert.strictEqual(yield* state, "active")
      yield* users.change(accountId, { disabled: true })
      assert.strictEqual(yield* state, "disabled")
      yield* sql`UPDATE users SET approved = false WHERE account_id = ${accountId}`
      yield* users.change(accountId, { disabled: false })
      assert.strictEqual(yield* state, "pending")
      yield* sql`UPDATE users SET confirmed_at = NULL WHERE account_id = ${accountId}`
      assert.strictEqual(yield* state, "pending", "what changes without a message is believed for a while")
      yield* TestClock.adjust(cachedTokenMillisMax)
      assert.strictEqual(yield* state, "unconfirmed")
      yield* users.change(accountId, { confirmed: true, approved: true })
      assert.strictEqual(yield* state, "active")
      yield* sql`UPDATE accounts SET suspended_at = created_at WHERE id = ${accountId}`
      yield* TestClock.adjust(cachedTokenMillisMax)
      assert.strictEqual(yield* state, "disabled")
      yield* sql`UPDATE accounts SET suspended_at = NULL, moved_to_id = ${yield* user("cora")} WHERE id = ${accountId}`
      yield* TestClock.adjust(cachedTokenMillisMax)
      assert.strictEqual(yield* state, "moved")
    }))

  it.effect("F210 a user who moves is refused at once", () =>
    Effect.gen(function*() {
      const [tokens, sql, moves] = [yield* Tokens, yield* SqlClient.SqlClient, yield* Moves]
      const [dora, ella] = [AccountId.make(yield* user("dora")), AccountId.make(yield* user("ella"))]
      const { secret } = yield* tokens.issue({ appId: undefined, accountId: dora }, ["read"])
      assert.strictEqual((yield* find(secret)).state, "active")
      const uri = Urls.actor(yield* ServerConfig, Urls.ActorPath.make("/users/dora"))
      yield* sql`UPDATE accounts SET also_known_as = ${[uri]} WHERE id = ${ella}`
      yield* sql.withTransaction(moves.perform(dora, ella))
      assert.strictEqual((yield* find(secret)).state, "moved")
    }).pipe(Effect.provide(Moves.layer)))

  it.effect("row 70: every revocation takes effect at once and is published to all nodes after the commit", () =>
    Effect.gen(function*() {
      const [tokens, broadcast, sql] = [yield* Tokens, yield* Broadcast, yield* SqlClient.SqlClient]
      const messages = yield* broadcast.subscribe
      const accountId = yield* user("dina")
      const app = yield* client("read")
      const issue = tokens.issue({ appId: app.id, accountId }, ["read"])
      for (
        const which of [
          (id: typeof one.tokenId) => ({ tokenIds: [id] }),
          () => ({ accountId }),
          () => ({ accountId, appId: app.id }),
          () => ({ appId: app.id })
        ]
      ) {
        const token = yield* issue
        yield* find(token.secret)
        yield* sql.withTransaction(Effect.gen(function*() {
          yield* tokens.revoke(which(token.tokenId))
          assert.strictEqual((yield* PubSub.takeUpTo(messages, 10)).length, 0, "nothing is told before the commit")
        }))
        assert.isTrue((yield* find(token.secret)).revoked)
        assert.deepStrictEqual(yield* PubSub.takeUpTo(messages, 10), [
          { _tag: "Revoked", tokenIds: [token.tokenId], accountIds: [] }
        ])
      }
      const one = yield* issue
      yield* Effect.exit(sql.withTransaction(Effect.andThen(tokens.revoke({ accountId }), Effect.fail("rolled back"))))
      assert.isFalse((yield* find(one.secret)).revoked)
      assert.strictEqual((yield* PubSub.takeUpTo(messages, 10)).length, 0)
    }))

  it.effect("a message from another node is trusted, too", () =>
    Effect.gen(function*() {
      const [tokens, broadcast, sql] = [yield* Tokens, yield* Broadcast, yield* SqlClient.SqlClient]
      const { secret, tokenId } = yield* tokens.issue({ appId: undefined, accountId: yield* user("edda") }, ["read"])
      assert.isFalse((yield* find(secret)).revoked)
      yield* sql`UPDATE oauth_tokens SET revoked_at = created_at WHERE id = ${tokenId}`
      assert.isFalse((yield* find(secret)).revoked)
      yield* broadcast.publish({ _tag: "Revoked", tokenIds: [tokenId], accountIds: [] })
      yield* Effect.yieldNow
      assert.isTrue((yield* find(secret)).revoked)
    }))

  it.effect("records a visit once a day, and none of a disabled user", () =>
    Effect.gen(function*() {
      const [tokens, users, sql] = [yield* Tokens, yield* Users, yield* SqlClient.SqlClient]
      const accountId = yield* user("frida")
      const { secret, tokenId } = yield* tokens.issue({ appId: undefined, accountId }, ["read"])
      const visits = Effect.gen(function*() {
        const [row] = yield* sql<{ used: Date | null; seen: Date | null; weeks: number }>`
          SELECT t.last_used_at AS used, u.last_seen_at AS seen,
            (SELECT count(*)::int FROM weekly_logins w WHERE w.account_id = u.account_id) AS weeks
          FROM users u JOIN oauth_tokens t ON t.id = ${tokenId} WHERE u.account_id = ${accountId}`
        return [row?.used?.getTime(), row?.seen?.getTime(), row?.weeks]
      })
      const now = yield* Clock.currentTimeMillis
      yield* find(secret)
      assert.deepStrictEqual(yield* visits, [now, now, 1])
      yield* TestClock.adjust(visitMillis - 1)
      yield* find(secret)
      assert.deepStrictEqual(yield* visits, [now, now, 1])
      yield* TestClock.adjust("8 days")
      yield* find(secret)
      assert.strictEqual((yield* visits)[2], 2)
      yield* users.change(accountId, { disabled: true })
      yield* TestClock.adjust("8 days")
      yield* find(secret)
      assert.strictEqual((yield* visits)[2], 2)
    }))

  it.effect("D-003: keeps the newest tokens of a user and app", () =>
    Effect.gen(function*() {
      const tokens = yield* Tokens
      const accountId = yield* user("greta")
      const app = yield* client("read")
      const issue = tokens.issue({ appId: app.id, accountId }, ["read"])
      const first = yield* issue
      yield* Effect.repeat(issue, { times: tokensOfUserAndAppMax - 2 })
      assert.isFalse((yield* find(first.secret)).revoked)
      const last = yield* issue
      assert.isTrue((yield* find(first.secret)).revoked)
      assert.isFalse((yield* find(last.secret)).revoked)
    }))

  it.effect("F76: a user's tokens of all apps are bounded, and an app's own tokens; those in use are kept", () =>
    Effect.gen(function*() {
      const tokens = yield* Tokens
      const sql = yield* SqlClient.SqlClient
      const accountId = yield* user("many")
      const used = yield* tokens.issue({ appId: (yield* client("read")).id, accountId }, ["read"])
      const live = (which: string) =>
        Effect.map(
          sql<{ count: number }>`SELECT count(*)::int AS count FROM oauth_tokens
            WHERE revoked_at IS NULL AND ${sql.literal(which)}`,
          ([row]) => row!.count
        )
      const ofUser = `account_id = ${accountId}`
      const issued = yield* Effect.forEach(
        Array.from({ length: 5 }),
        () => Effect.flatMap(client("read"), ({ id }) => tokens.issue({ appId: id, accountId }, ["read"]))
      )
      yield* sql`INSERT INTO oauth_tokens (id, token_hash, app_id, account_id, scopes, created_at)
        SELECT 1000 + n, sha256(n::text::bytea), (SELECT min(id) FROM oauth_apps), NULL, 'read', now()
        FROM generate_series(1, ${sql.literal(String(tokensOfUserMax - 5))}) n`
      yield* sql`UPDATE oauth_tokens SET account_id = ${accountId}, app_id = NULL WHERE id > 1000 AND id < 2000`
      yield* sql`UPDATE oauth_tokens SET last_used_at = now() + interval '1 day' WHERE id = ${used.tokenId}`
      yield* tokens.issue({ appId: (yield* client("read")).id, accountId }, ["read"])
      assert.strictEqual(yield* live(ofUser), tokensOfUserMax)
      assert.isFalse((yield* find(used.secret)).revoked)
      assert.isTrue((yield* find(issued[0]!.secret)).revoked)

      const app = yield* client("read")
      const first = yield* tokens.issue({ appId: app.id }, ["read"])
      yield* Effect.repeat(tokens.issue({ appId: app.id }, ["read"]), { times: tokensOfAppMax - 1 })
      assert.strictEqual(yield* live(`account_id IS NULL AND app_id = ${app.id}`), tokensOfAppMax)
      assert.isTrue((yield* find(first.secret)).revoked)
    }))
})
