import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AdminReport } from "../../../src/http/staff/wire/AdminReport.ts"
import { ask, newPerson } from "../../support/Api.ts"
import { staffMember } from "../../support/Staff.ts"
import { path, rule, unruled } from "../spam/SpamCalls.ts"
import { actorOf, found, mentioning, there, told } from "./InboxCalls.ts"
import { deliverFrom, note, servers, settled } from "./Sending.ts"

const stored = (uri: string) =>
  SqlClient.SqlClient.use((sql) => sql<{ visibility: string }>`SELECT visibility FROM statuses WHERE uri = ${uri}`)

layer(servers, { excludeTestServices: true })("spam rules for remote posts", (it) => {
  it.effect("posts of other servers are dropped, held and reported; an edit cannot evade the rules", () =>
    Effect.gen(function*() {
      const by = yield* staffMember("guard", ["manageRules", "manageReports"])
      const [anna, yan] = [yield* newPerson("anna"), yield* there("yan")]
      const to = mentioning(yield* actorOf(anna))
      const published = new Date(Date.now() - 60_000).toISOString()
      yield* found(anna, "yan")
      yield* rule(by, "drop", { text_words: ["casino"], origin: "remote" })
      yield* rule(by, "hold", { text_words: ["lottery"], strangers_min: 1 })
      yield* rule(by, "report", { text_words: ["odd"] })
      const create = (name: string, content: string) =>
        deliverFrom(yan, {
          type: "Create",
          object: note(yan, name, { ...to, published, content: `<p>@anna ${content}</p>` })
        })
      assert.strictEqual(yield* create("1", "casino"), "ignored: refused by a spam rule")
      assert.isEmpty(yield* stored(`${yan.id}/notes/1`))
      assert.strictEqual(yield* create("2", "fine"), "done")
      const edited = note(yan, "2", {
        ...to,
        content: "<p>@anna casino</p>",
        updated: new Date(Date.now() - 1_000).toISOString()
      })
      assert.strictEqual(yield* deliverFrom(yan, { type: "Update", object: edited }), "ignored: refused by a spam rule")
      assert.strictEqual(yield* create("3", "lottery"), "done")
      assert.deepStrictEqual(yield* stored(`${yan.id}/notes/3`), [{ visibility: "direct" }])
      assert.deepStrictEqual(yield* told(anna), ["mention yan"])
      const changed = note(yan, "3", {
        ...to,
        published,
        content: "<p>@anna lovely</p>",
        updated: new Date(Date.now() - 1_000).toISOString()
      })
      yield* deliverFrom(yan, { type: "Update", object: changed })
      assert.deepStrictEqual(yield* told(anna), ["mention yan"])
      const { body: [waiting] } = yield* ask(by, "GET", "/api/v1/admin/held_posts")
      assert.strictEqual(waiting.account.username, "yan")
      assert.strictEqual((yield* ask(by, "POST", `/api/v1/admin/held_posts/${waiting.id}/approve`)).status, 200)
      yield* settled
      assert.deepStrictEqual(yield* told(anna), ["mention yan", "mention yan"])
      assert.deepStrictEqual(yield* stored(`${yan.id}/notes/3`), [{ visibility: "public" }])
      assert.strictEqual(yield* create("4", "odd"), "done")
      const { body: reports } = yield* ask(by, "GET", "/api/v1/admin/reports")
      assert.deepStrictEqual(
        reports.map(({ category, target_account: { username } }: AdminReport) => [category, username]),
        [["spam", "yan"]]
      )
      assert.strictEqual((yield* ask(by, "GET", path)).body.length, 3)
      yield* unruled(by)
      assert.strictEqual(yield* create("5", "casino"), "done")
    }))
})
