import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { post } from "../../../support/Requests.ts"
import { issueToken, user } from "../../../support/SignedIn.ts"
import { Postbox, server } from "../../../support/WebServer.ts"

layer(server(), { excludeTestServices: true })("e-mails about appeals", (it) => {
  it.effect("S-234: are sent to the deciding staff and to the appellant, in their languages", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, judge, mod] = [yield* user("anna"), yield* user("judge"), yield* user("moira")]
      yield* sql`UPDATE users SET role_id = CASE account_id WHEN ${judge} THEN 3 WHEN ${mod} THEN 1 ELSE role_id END,
        locale = CASE account_id WHEN ${anna} THEN 'de' ELSE 'en' END`
      const appeal = Effect.fnUntraced(function*(verb: string) {
        const [strike] = yield* sql<{ id: bigint }>`INSERT INTO account_warnings
            (id, account_id, target_account_id, action, text, created_at)
          VALUES (next_id(${Date.now()}), ${mod}, ${anna}, 'none', 'Mind your words', ${new Date()}) RETURNING id`
        const authorization = `Bearer ${yield* issueToken(anna)}`
        const filed = yield* post(`/api/v1/strikes/${strike?.id}/appeal`, { text: "I did not" }, { authorization })
        assert.strictEqual(filed.status, 200, filed.text)
        const [found] = yield* sql<{ id: bigint }>`SELECT id FROM appeals WHERE account_warning_id = ${strike?.id}`
        const toStaff = yield* Postbox.next
        assert.deepStrictEqual([toStaff.to, toStaff.subject], [
          "judge@mail.example",
          "anna appealed a moderation decision (local.example)"
        ])
        assert.include(toStaff.text, "I did not")
        const by = { authorization: `Bearer ${yield* issueToken(judge, ["admin:write", "admin:read"])}` }
        assert.strictEqual((yield* post(`/api/v1/admin/appeals/${found?.id}/${verb}`, {}, by)).status, 200)
        return yield* Postbox.next
      })
      const granted = yield* appeal("approve")
      assert.deepStrictEqual([granted.to, granted.subject], [
        "anna@mail.example",
        "Deinem Einspruch wurde stattgegeben (local.example)"
      ])
      assert.include((yield* appeal("reject")).text, "bleibt bestehen")
    }))
})
