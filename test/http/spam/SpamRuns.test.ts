import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AdminSpamRun } from "../../../src/http/spam/wire/Spam.ts"
import { ask, newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"
import { auditEntries, staffMember } from "../../support/Staff.ts"
import { path, rule, unruled, write } from "./SpamCalls.ts"

const runs = `${path}/dry_runs`

layer(TestServer.layer(), { excludeTestServices: true })("dry runs of spam rules", (it) => {
  it.effect("a switched-off rule shows its would-be matches, with public samples", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* staffMember("runner", ["manageRules"])
      const [anna, ben] = [yield* newPerson("anna"), yield* newPerson("ben")]
      const posts = []
      for (let n = 0; n < 45; n++) posts.push((yield* write(anna, `offer number ${n}`)).body.id)
      yield* write(ben, "an offer for you alone", { visibility: "private" })
      yield* write(ben, "nothing of the kind")
      yield* write(by, "staff has an offer")
      // Older than the period of the run.
      const old = Date.now() - 3 * 86_400_000
      yield* sql`INSERT INTO statuses (id, account_id, text, html, spoiler_text, visibility, conversation_id, created_at)
        VALUES (next_id(${old}), ${anna.accountId}, 'offer', '<p>offer</p>', '', 'public', 1, ${new Date(old)})`
      const offers = yield* rule(by, "drop", { text_words: ["offer"] }, { state: "off" })
      const fresh = yield* rule(by, "hold", { text_contains: ["an offer"], account_hours_max: 1 }, { state: "off" })
      const same = yield* rule(by, "hold", { same_text_accounts_min: 1 }, { state: "off" })
      const started = yield* ask(by, "POST", runs, { days: 2 })
      assert.strictEqual(started.status, 200)
      const run = yield* eventually(
        ask(by, "GET", `${runs}/${started.body.id}`),
        ({ body }) => body.state === "done"
      )
      const { results, statuses_count: count } = yield* Schema.decodeUnknownEffect(AdminSpamRun)(run.body)
      const resultOf = (id: string) => results.find(({ rule_id: rule }) => rule === id)
      assert.strictEqual(count, 48)
      assert.deepInclude(resultOf(offers.id), { statuses_count: 46, accounts_count: 2 })
      assert.strictEqual(resultOf(offers.id)?.samples.length, 40)
      assert.deepStrictEqual(resultOf(offers.id)?.samples, posts.slice(0, 40))
      // A non-public match is counted, but not shown.
      assert.deepInclude(resultOf(fresh.id), { statuses_count: 1, accounts_count: 1, samples: [] })
      assert.deepInclude(resultOf(same.id), { statuses_count: 0, accounts_count: 0 })
      // The run had no effect on anyone.
      assert.strictEqual((yield* write(anna, "offer number 46")).status, 200)
      assert.deepStrictEqual((yield* ask(by, "GET", `${path}/${offers.id}`)).body.hits, { on: 0, dry: 0 })
      assert.strictEqual((yield* ask(by, "GET", runs)).body[0].id, started.body.id)
      for (const days of [0, 15, -1]) {
        assert.strictEqual((yield* ask(by, "POST", runs, { days })).status, 422, `${days}`)
      }
      assert.include((yield* auditEntries(by.accountId)).map(({ act }) => act), "spam_rule dry_run")
      yield* unruled(by)
    }))

  it.effect("followers, posts and scores are those of the time, and boosts are judged if a rule is about them", () =>
    Effect.gen(function*() {
      const by = yield* staffMember("historian", ["manageRules"])
      const [gus, fan] = [yield* newPerson("gus"), yield* newPerson("fan")]
      const first = (yield* write(gus, "@fan a bargain")).body.id
      yield* ask(fan, "POST", `/api/v1/accounts/${gus.accountId}/follow`)
      yield* write(gus, "@fan a bargain again")
      yield* ask(fan, "POST", `/api/v1/statuses/${first}/reblog`)
      const conditions = { text_words: ["bargain"] }
      const off = { state: "off" }
      const alone = yield* rule(by, "report", { ...conditions, followers_max: 0 }, off)
      const newcomers = yield* rule(by, "report", { ...conditions, statuses_max: 0 }, off)
      const strangers = yield* rule(by, "report", { ...conditions, strangers_min: 1 }, off)
      yield* rule(by, "score", conditions, { score: 5 })
      const scored = yield* rule(by, "report", { ...conditions, score_min: 10 }, off)
      const boosted = yield* rule(by, "report", { ...conditions, hourly_boosts_min: 0 }, off)
      const { body: started } = yield* ask(by, "POST", runs, { days: 1 })
      const { body: run } = yield* eventually(
        ask(by, "GET", `${runs}/${started.id}`),
        ({ body }) => body.state === "done"
      )
      const found = (one: { readonly id: string }) =>
        run.results.find((result: { readonly rule_id: string }) => result.rule_id === one.id)?.samples
      for (const one of [alone, newcomers, strangers]) assert.deepStrictEqual(found(one), [first], one.id)
      assert.lengthOf(found(scored), 1)
      assert.notInclude(found(scored), first)
      assert.lengthOf(found(boosted), 1)
      assert.notInclude(found(boosted), first)
      yield* unruled(by)
    }))

  it.effect("a run whose node died is restarted by another one; a run that no node finishes fails", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const by = yield* staffMember("lost", ["manageRules"])
      const lost = (tries: number) =>
        sql<
          { id: bigint }
        >`INSERT INTO spam_runs (id, account_id, days, state, statuses, results, due_at, tries, created_at)
          VALUES (next_id(${Date.now()}), ${by.accountId}, 1, 'waiting', 7, '[]', ${new Date(
          Date.now() - 1_000
        )}, ${tries},
            ${new Date()}) RETURNING id`
      const [[again], [ended]] = [yield* lost(1), yield* lost(3)]
      const state = (id: bigint) => Effect.map(ask(by, "GET", `${runs}/${id}`), ({ body }) => body.state)
      yield* eventually(state(again!.id), (one) => one === "done")
      yield* eventually(state(ended!.id), (one) => one === "failed")
    }))
})
