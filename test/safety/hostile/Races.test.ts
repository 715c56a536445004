import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { Approvals } from "../../../src/services/identity/Approvals.ts"
import { publishedId } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { pngOf } from "../../support/HostileFiles.ts"
import { uploaded } from "../../support/MediaFiles.ts"
import { TestServer } from "../../support/Server.ts"
import { staffMember } from "../../support/Staff.ts"
import { call, get, post } from "../Calls.ts"
import { delayWrites, inconsistencies } from "./DelayedWrites.ts"
import { diceOf, runsOr, seed, timeoutMillis } from "./Generate.ts"
import { assertNoServerError, assertServed } from "./Pages.ts"
import { aroundPost, linksTo, type Race, relations, revokedToken, run, sameFile, sameKey, votes } from "./Races.ts"

const Live = Approvals.layer.pipe(
  Layer.provideMerge(TestServer.layer()),
  Layer.provideMerge(Layer.merge(NodeServices.layer, Broadcast.layerMemory))
)

layer(Live, { excludeTestServices: true })("hostile races", (it) => {
  it.effect(
    "F12 F20 F61: concurrent actions between accounts or on one post have the same result as in some order",
    ({ annotate }) =>
      Effect.gen(function*() {
        const { createPerson, createToken } = yield* TestServer
        const people = yield* Effect.forEach(["ann", "ben", "cyd", "dan", "eli", "fay", "gus", "hal"], (name) =>
          createPerson(name))
        const sql = yield* SqlClient.SqlClient
        // Another test file may have caused deadlocks in this database on purpose.
        const deadlocks = sql`SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()`
        const before = yield* deadlocks
        const { body: app } = yield* post("/api/v1/apps", people[0]!, {
          client_name: "Shared",
          redirect_uris: "https://app.example/back"
        })
        yield* delayWrites
        const responsesByStatus: Record<string, number> = {}
        for (let number = 0; number < runsOr(60); number++) {
          const dice = diceOf(number)
          const author = dice.pick(people)
          const others = people.filter((person) =>
            person !== author
          )
          const what = dice.weighted(
            [
              [8, "relations"],
              [5, "aroundPost"],
              [3, "votes"],
              [1, "sameKey"],
              [1, "sameFile"],
              [1, "revokedToken"]
            ] as const
          )
          // Removes earlier blocks, so that everyone can interact.
          if (what === "relations") yield* sql`DELETE FROM blocks`
          const race: Race = yield* Effect.gen(function*() {
            switch (what) {
              case "relations":
                return relations(dice, people)
              case "aroundPost":
                return aroundPost(
                  dice,
                  author,
                  others,
                  yield* publishedId(author, "a contested post", { visibility: "unlisted" })
                )
              case "votes": {
                const poll = { options: ["a", "b"], expires_in: 3600, multiple: dice.chance(0.5) }
                return votes(dice, author, others, yield* publishedId(author, "?", { poll }))
              }
              case "sameKey":
                return sameKey(dice, author, `key ${number}`)
              case "sameFile":
                return sameFile(dice, author, (yield* uploaded(author, pngOf(8, 8))).id)
              case "revokedToken": {
                const token = yield* createToken(author.accountId, ["read", "write"])
                yield* sql`UPDATE oauth_tokens SET app_id = (SELECT id FROM oauth_apps ORDER BY id DESC LIMIT 1)
                  WHERE id = (SELECT max(id) FROM oauth_tokens)`
                return revokedToken(dice, token, app)
              }
            }
          })
          const responses = yield* run(race)
          const about = `HOSTILE_SEED=${seed} run ${number} (${what}): ${
            race.requests.map(({ json, method, path }, at) =>
              `${method} ${path} ${JSON.stringify(json)} ${responses[at]!.status}`
            )
              .join("; ")
          }`
          for (const response of responses) {
            assertNoServerError(response, about)
            responsesByStatus[response.status] = (responsesByStatus[response.status] ?? 0) + 1
          }
          assert.isUndefined(
            race.check?.(responses.map(({ status }) => status), responses.map(({ body }) => body)),
            about
          )
          if (what === "revokedToken") {
            assert.strictEqual(
              (yield* get("/api/v1/accounts/verify_credentials", race.requests[0]!.by)).status,
              401,
              about
            )
          }
          // Effects of commands may still be in flight.
          yield* eventually(inconsistencies, (found) => found.length === 0).pipe(
            Effect.mapError(String),
            Effect.catchDefect((cause) => Effect.die(new Error(`${String(cause)} after ${about}`)))
          )
        }
        yield* assertServed(people[0]!, "all races")
        assert.isAbove(responsesByStatus[200] ?? 0, 100)
        assert.deepStrictEqual(yield* deadlocks, before)
        annotate(`responses by status: ${JSON.stringify(responsesByStatus)}`)
      }),
    timeoutMillis
  )

  it.effect(
    "F17 F52: a link is used once and a sign-up decided once, also by concurrent requests",
    () =>
      Effect.gen(function*() {
        const { baseUrl, createPerson, fetch } = yield* TestServer
        const approvals = yield* Approvals
        const sql = yield* SqlClient.SqlClient
        for (let number = 0; number < 3; number++) {
          const person = yield* createPerson(`late${number}`)
          yield* sql`UPDATE users SET approved = false WHERE account_id = ${person.accountId}`
          const decisions = Array.from({ length: diceOf(number).between(2, 7) }, (_, at) =>
            diceOf(number * 100 + at).chance(0.5)
              ? approvals.approve(person.accountId)
              : approvals.reject(person.accountId))
          const outcomes = yield* Effect.forEach(decisions, Effect.exit, { concurrency: "unbounded" })
          assert.strictEqual(
            outcomes.filter(({ _tag }) =>
              _tag === "Success"
            ).length,
            1,
            `HOSTILE_SEED=${seed} ${number}`
          )
        }
        yield* createPerson("forgetful")
        const email = "forgetful@example.org"
        const page = yield* fetch("/auth/password/new")
        const cookie = page.headers.getSetCookie().map((one) => one.split(";")[0]).join("; ")
        const html = yield* Effect.promise(() => page.text())
        const [, token = ""] = /name="authenticity_token" value="([^"]*)"/.exec(html) ?? []
        const send = (path: string, fields: Record<string, string>) =>
          fetch(path, {
            method: "POST",
            headers: { cookie, origin: baseUrl },
            body: new URLSearchParams({ authenticity_token: token, ...fields })
          })
        yield* send("/auth/password", { email })
        const [link = ""] = yield* eventually(linksTo(email), (links) => links.length > 0)
        const secret = link.slice("reset_password_token=".length)
        const sets = Array.from(
          { length: 4 },
          (_, at) => send("/auth/password/edit", { reset_password_token: secret, password: `another password ${at}` })
        )
        const statuses = yield* Effect.forEach(sets, Effect.map(({ status }) => status), { concurrency: "unbounded" })
        assert.deepStrictEqual(statuses.toSorted(), [200, 404, 404, 404])
      })
  )

  it.effect("F20: concurrently created invites are all created, and none waits for another", () =>
    Effect.gen(function*() {
      const host = yield* staffMember("host", ["manageInvites"])
      const make = post("/api/v1/admin/invites", host, { max_uses: 5 })
      const responses = yield* Effect.all(Array.from({ length: 8 }, () => make), { concurrency: "unbounded" })
      assert.deepStrictEqual(responses.map(({ status }) => status), Array.from(responses, () => 200))
    }))

  it.effect("F62: data removed while it is read or reacted to causes no failure", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const staff = yield* staffMember("crier", ["manageAnnouncements"])
      const reader = yield* createPerson("reader")
      const { body: { id } } = yield* post("/api/v1/admin/announcements", staff, { text: "The server moves" })
      const status = yield* publishedId(staff, "React to this")
      // Remote emoji are read from their row; local ones are cached.
      yield* sql`INSERT INTO custom_emojis (id, shortcode, domain, url, static_url, created_at)
        VALUES (2, 'blob', 'other.example', 'https://other.example/a', 'https://other.example/a', ${new Date(0)})`
      yield* sql`INSERT INTO emoji_reaction_counts (id, status_id, name, custom_emoji_id, count)
        VALUES (2, ${BigInt(status)}, 'blob', 2, 1)`
      const gone = [
        [
          sql`DELETE FROM custom_emojis WHERE id = 2`,
          "PUT",
          `/api/v1/pleroma/statuses/${status}/reactions/blob@other.example`
        ],
        [sql`DELETE FROM announcements WHERE id = ${BigInt(id)}`, "POST", `/api/v1/announcements/${id}/dismiss`]
      ] as const
      for (const [taking, method, path] of gone) {
        // The reaction has found its status, and waits for the other transaction to end.
        const waits = eventually(
          sql`SELECT FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid`,
          (rows) => rows.length > 0
        )
        const fiber = yield* sql.withTransaction(
          Effect.andThen(taking, Effect.tap(Effect.forkChild(call(method, path, reader, {})), () => waits))
        )
        const { status, text } = yield* Fiber.join(fiber)
        assert.oneOf(status, [200, 404, 422], `${path}: ${text}`)
      }
    }))
})
