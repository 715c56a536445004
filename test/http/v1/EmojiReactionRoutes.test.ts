import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Status, StatusReactionAccounts } from "../../../src/http/wire/Status.ts"
import { accountReactionsMax, reactionsMax } from "../../../src/services/statuses/ReactionEmoji.ts"
import { call, newPerson, publish } from "../../support/Api.ts"
import { cli } from "../../support/CommandLine.ts"
import { eventually } from "../../support/Eventually.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const strict = { onExcessProperty: "error" } as const
const read = (by: Person | undefined, id: string) =>
  Effect.flatMap(
    call("GET", `/api/v1/statuses/${id}`, by?.token),
    ({ body }) => Schema.decodeUnknownEffect(Status)(body, strict)
  )
const pathOf = (id: string, name: string) => `/api/v1/pleroma/statuses/${id}/reactions/${encodeURIComponent(name)}`
const react = (by: Person, id: string, name: string, method = "PUT") => call(method, pathOf(id, name), by.token)
const people = (by: Person | undefined, id: string, name?: string) =>
  Effect.flatMap(
    call("GET", name === undefined ? `/api/v1/pleroma/statuses/${id}/reactions` : pathOf(id, name), by?.token),
    ({ body }) => Schema.decodeUnknownEffect(Schema.Array(StatusReactionAccounts))(body, strict)
  )
const named = (all: ReadonlyArray<StatusReactionAccounts>) =>
  all.map(({ accounts, count, me, name }) => [name, count, me, accounts.map(({ acct }) => acct)])
const short = ({ emoji_reactions: reactions = [] }: Status) =>
  reactions.map(({ count, me, name }) => `${name} ${count}${me ? " me" : ""}`)
const customEmoji = Effect.fnUntraced(function*(shortcode: string, domain: string | null = null) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const url = `https://${domain ?? "local"}.example/${shortcode}.png`
  yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, created_at)
    VALUES (next_id(${now}), ${shortcode}, ${domain}, ${url}, ${url}, ${new Date(now)})`
})

layer(TestServer.layer(), { excludeTestServices: true })("emoji reactions", (it) => {
  it.effect("D-005: are listed on a status with their accounts, in order of arrival; a status without any has no field", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo] = [yield* newPerson("anna"), yield* newPerson("ben"), yield* newPerson("cleo")]
      const { id } = yield* publish(anna, "hello")
      assert.notProperty(yield* read(ben, id), "emoji_reactions")
      assert.notProperty(yield* read(ben, id), "pleroma")
      const first = yield* react(ben, id, "🔥")
      assert.strictEqual(first.status, 200)
      const shown = yield* Schema.decodeUnknownEffect(Status)(first.body, strict)
      assert.deepStrictEqual(shown.emoji_reactions, [{ name: "🔥", count: 1, me: true, url: null, static_url: null }])
      assert.deepStrictEqual(shown.pleroma, { emoji_reactions: shown.emoji_reactions! })
      assert.strictEqual(shown.favourites_count, 0)
      // Repeated with and without the emoji variation selector.
      for (const name of ["❤️", "❤", "❤️"]) assert.strictEqual((yield* react(cleo, id, name)).status, 200)
      yield* react(cleo, id, "🔥")
      assert.deepStrictEqual(short(yield* read(cleo, id)), ["🔥 2 me", "❤️ 1 me"])
      assert.deepStrictEqual(short(yield* read(anna, id)), ["🔥 2", "❤️ 1"])
      assert.deepStrictEqual(short(yield* read(undefined, id)), ["🔥 2", "❤️ 1"])
      assert.deepStrictEqual(named(yield* people(ben, id)), [
        ["🔥", 2, true, ["ben", "cleo"]],
        ["❤️", 1, false, ["cleo"]]
      ])
      assert.deepStrictEqual(named(yield* people(undefined, id, "❤")), [["❤️", 1, false, ["cleo"]]])
      assert.deepStrictEqual(yield* people(ben, id, "🦆"), [])
      // A reblog shows its original's reactions.
      const { body: reblog } = yield* call("POST", `/api/v1/statuses/${id}/reblog`, cleo.token)
      assert.deepStrictEqual(short(reblog.reblog), ["🔥 2 me", "❤️ 1 me"])
      assert.notProperty(reblog, "emoji_reactions")
      yield* react(ben, reblog.id, "🦆")
      assert.deepStrictEqual(named(yield* people(ben, reblog.id, "🦆")), [["🦆", 1, true, ["ben"]]])
      for (const name of ["🔥", "🦆", "🦆"]) assert.strictEqual((yield* react(ben, id, name, "DELETE")).status, 200)
      assert.deepStrictEqual(short(yield* read(ben, id)), ["🔥 1", "❤️ 1"])
      yield* react(cleo, id, "🔥", "DELETE")
      yield* react(cleo, id, "❤", "DELETE")
      assert.notProperty(yield* read(cleo, id), "pleroma")
      const [figures] =
        yield* (yield* SqlClient.SqlClient)`SELECT reactions_count, (SELECT count(*)::int FROM emoji_reaction_counts
        WHERE status_id = ${BigInt(id)}) AS rows FROM status_stats WHERE status_id = ${BigInt(id)}`
      assert.deepStrictEqual(figures, { reactionsCount: 0, rows: 0 })
    }))

  it.effect("custom emoji: local ones, and remote ones that are already on the post; deleted or disabled ones are hidden", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [dora, emil] = [yield* newPerson("dora"), yield* newPerson("emil")]
      yield* customEmoji("cat")
      yield* customEmoji("fox", "far.example")
      const { id } = yield* publish(dora, "hello")
      const { variables } = yield* TestServer
      const emoji = (...args: ReadonlyArray<string>) => cli(["emoji", ...args], variables)
      // The server learns that the emoji is enabled.
      assert.strictEqual((yield* emoji("enable", "cat")).code, 0)
      const own = yield* eventually(react(emil, id, ":cat:"), ({ status }) => status === 200)
      assert.deepStrictEqual(own.body.emoji_reactions, [{
        name: "cat",
        count: 1,
        me: true,
        url: "https://local.example/cat.png",
        static_url: "https://local.example/cat.png"
      }])
      assert.strictEqual((yield* react(dora, id, "cat")).body.emoji_reactions[0].count, 2)
      for (
        const name of ["fox@far.example", "fox", "nothing", "x", "", "🔥🔥", ":cat", "a".repeat(5_000), "🔥\u0000"]
      ) {
        const refused = yield* react(emil, id, name)
        assert.include([404, 422], refused.status, name)
      }
      // A remote account reacts first.
      yield* sql`INSERT INTO emoji_reactions (id, account_id, status_id, name, custom_emoji_id)
        SELECT 1, ${dora.accountId}, ${BigInt(id)}, 'fox', id FROM custom_emojis WHERE shortcode = 'fox'`
      yield* sql`INSERT INTO emoji_reaction_counts (id, status_id, name, custom_emoji_id, count)
        SELECT 1, ${BigInt(id)}, 'fox', id, 1 FROM custom_emojis WHERE shortcode = 'fox'`
      assert.strictEqual((yield* react(emil, id, "fox@far.example")).status, 200)
      assert.deepStrictEqual(named(yield* people(emil, id, ":fox@FAR.example:")), [
        ["fox@far.example", 2, true, ["dora", "emil"]]
      ])
      const shows = (names: ReadonlyArray<string>) =>
        eventually(
          Effect.map(read(emil, id), (status) => (status.emoji_reactions ?? []).map(({ name }) => name)),
          (found) => found.join() === names.join()
        )
      yield* shows(["fox@far.example", "cat"])
      assert.strictEqual((yield* emoji("disable", "cat")).code, 0)
      yield* shows(["fox@far.example"])
      assert.strictEqual((yield* emoji("enable", "cat")).code, 0)
      yield* shows(["fox@far.example", "cat"])
      assert.strictEqual((yield* emoji("remove", "cat")).code, 0)
      yield* shows(["fox@far.example"])
      const [left] = yield* sql`SELECT reactions_count FROM status_stats WHERE status_id = ${BigInt(id)}`
      // The first of the two was inserted without its counter.
      assert.deepStrictEqual(left, { reactionsCount: 1 })
    }))

  it.effect("row 56: viewers without access to a status learn nothing about it by reacting, and blocked accounts can remove their reactions", () =>
    Effect.gen(function*() {
      const [fred, gina, hugo] = [yield* newPerson("fred"), yield* newPerson("gina"), yield* newPerson("hugo")]
      const { id: secret } = yield* publish(fred, "hello", { visibility: "private" })
      const asked = (method: string, id: string, by: Person | undefined = gina, path = pathOf(id, "🔥")) =>
        Effect.map(call(method, path, by?.token), ({ body, status }) => [status, body])
      for (const method of ["PUT", "DELETE", "GET"]) {
        assert.deepStrictEqual(yield* asked(method, secret), yield* asked(method, "4711"), method)
      }
      const all = (id: string) => `/api/v1/pleroma/statuses/${id}/reactions`
      assert.deepStrictEqual(
        yield* asked("GET", secret, undefined, all(secret)),
        yield* asked("GET", "4711", undefined, all("4711"))
      )
      assert.strictEqual((yield* call("PUT", pathOf(secret, "🔥"), undefined)).status, 401)

      const { id } = yield* publish(fred, "hello")
      yield* react(gina, id, "🔥")
      yield* react(hugo, id, "🔥")
      // Hidden accounts are counted but not named.
      yield* call("POST", `/api/v1/accounts/${gina.accountId}/block`, hugo.token)
      assert.deepStrictEqual(named(yield* people(hugo, id)), [["🔥", 2, true, ["hugo"]]])
      yield* call("POST", `/api/v1/accounts/${gina.accountId}/block`, fred.token)
      assert.strictEqual((yield* react(gina, id, "🦆")).status, 404)
      assert.strictEqual((yield* react(gina, id, "🔥", "DELETE")).status, 200)
      assert.deepStrictEqual(short(yield* read(fred, id)), ["🔥 1"])
      // A deleted status shows none.
      yield* call("DELETE", `/api/v1/statuses/${id}`, fred.token)
      assert.deepStrictEqual(yield* asked("PUT", id, hugo), yield* asked("PUT", "4711", hugo))
    }))

  it.effect("are bounded under concurrent reactions with different emoji", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const author = yield* newPerson("bounded")
      const all = yield* Effect.forEach(["bounded1", "bounded2", "bounded3"], newPerson)
      const { id } = yield* publish(author, "hello")
      const emojis = Array.from({ length: reactionsMax + 2 }, (_, at) => String.fromCodePoint(0x1f400 + at))
      yield* Effect.forEach(
        emojis.slice(0, reactionsMax - 1),
        (name, at) =>
          sql`INSERT INTO emoji_reaction_counts (id, status_id, name, count) VALUES (${at}, ${BigInt(id)}, ${name}, 1)`
      )
      // All transactions have read and wait to update the counters, unless one waits for another.
      const responses = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`SELECT FROM status_stats WHERE status_id = ${BigInt(id)} FOR UPDATE`
        const running = yield* Effect.forEach(
          all,
          (by, at) => Effect.forkDetach(react(by, id, emojis[reactionsMax - 1 + at]!))
        )
        yield* Effect.repeat(
          // Within a transaction, Postgres shows activity as of the first read, but current locks.
          sql<{ count: number }>`SELECT count(DISTINCT pid)::int AS count FROM pg_locks
            WHERE NOT granted AND (transactionid = pg_current_xact_id()::xid
              OR database = (SELECT oid FROM pg_database WHERE datname = current_database()))`,
          { until: ([row]) => row?.count === all.length }
        )
        return running
      })).pipe(Effect.flatMap((running) => Effect.forEach(running, (one) => Fiber.join(one))))
      assert.deepStrictEqual(responses.map(({ status }) => status).toSorted(), [200, 422, 422])
      assert.strictEqual(
        (yield* sql`SELECT FROM emoji_reaction_counts WHERE status_id = ${BigInt(id)}`).length,
        reactionsMax
      )
    }))

  it.effect("are bounded: different emoji of one account, and on one status", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [ida, jens] = [yield* newPerson("ida"), yield* newPerson("jens")]
      const { id } = yield* publish(ida, "hello")
      const emojis = Array.from({ length: reactionsMax + 1 }, (_, at) => String.fromCodePoint(0x1f400 + at))
      for (const name of emojis.slice(0, accountReactionsMax)) {
        assert.strictEqual((yield* react(jens, id, name)).status, 200)
      }
      const refused = yield* react(jens, id, emojis[accountReactionsMax]!)
      assert.strictEqual(refused.status, 422)
      assert.strictEqual(refused.body.error, "Validation failed: Limit of different reactions reached")
      assert.strictEqual((yield* react(jens, id, emojis[0]!)).status, 200)
      const { id: full } = yield* publish(ida, "hello")
      yield* sql`INSERT INTO emoji_reaction_counts (id, status_id, name, count)
        SELECT row_number() OVER (), ${BigInt(full)}, name, 1 FROM unnest(${
        emojis.slice(0, reactionsMax)
      }::text[]) name`
      yield* sql`UPDATE status_stats SET reactions_count = ${reactionsMax} WHERE status_id = ${BigInt(full)}`
      assert.strictEqual((yield* react(jens, full, emojis[reactionsMax]!)).status, 422)
      assert.strictEqual((yield* react(jens, full, emojis[0]!)).status, 200)
      const { body } = yield* call("GET", "/api/v2/instance", undefined)
      assert.include(body.pleroma.metadata.features, "pleroma_emoji_reactions")
      assert.deepStrictEqual(body.pleroma.metadata.emoji_reactions, {
        max_reactions: reactionsMax,
        max_reactions_per_account: accountReactionsMax
      })
    }))

  it.effect("are deleted with the account that reacted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [mona, nils, olga] = [yield* newPerson("mona"), yield* newPerson("nils"), yield* newPerson("olga")]
      const { id } = yield* publish(mona, "hello")
      for (const by of [nils, olga]) yield* react(by, id, "🔥")
      yield* react(nils, id, "🦆")
      const { variables } = yield* TestServer
      assert.strictEqual((yield* cli(["account", "suspend", "nils"], variables)).code, 0)
      yield* eventually(people(mona, id), (all) =>
        named(all).flatMap(([, , , who]) => who).every((who) => who !== "nils"))
      assert.strictEqual((yield* cli(["account", "delete", "nils", "--yes"], variables)).code, 0)
      yield* eventually(
        sql`SELECT FROM emoji_reactions WHERE account_id = ${nils.accountId}`,
        ({ length }) =>
          length === 0
      )
      yield* eventually(read(mona, id), (status) => short(status).join() === "🔥 1")
    }))
})
