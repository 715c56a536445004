import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestServer } from "../support/Server.ts"
import { submit } from "./Forms.ts"

/** Forms that take an e-mail address from visitors, with their other fields. */
const forms: Record<string, Record<string, string>> = {
  "/auth/sign_in": { password: "no password of theirs" },
  "/auth/password/new": {},
  "/auth/confirmation/new": {}
}

layer(TestServer.layer(), { excludeTestServices: true })("row 77", (it) => {
  it.effect("no form discloses whether an account exists, in any state", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const change = (set: string) => (id: bigint) => sql.unsafe(`UPDATE users SET ${set} WHERE account_id = ${id}`)
      const states = {
        active: undefined,
        unconfirmed: change("confirmed_at = NULL"),
        pending: change("approved = false"),
        disabled: change("disabled = true"),
        suspended: (id: bigint) => sql`UPDATE accounts SET suspended_at = created_at WHERE id = ${id}`
      }
      const names = Object.keys(states) as ReadonlyArray<keyof typeof states>
      for (const name of names) {
        const { accountId } = yield* createPerson(name)
        yield* states[name]?.(accountId) ?? Effect.void
      }
      for (const [path, fields] of Object.entries(forms)) {
        const responseTo = Effect.fnUntraced(function*(email: string) {
          const { response: { headers, status, text } } = yield* submit(path, "", { ...fields, email })
          const same = text.replaceAll(email, "ADDRESS").replaceAll(
            /name="authenticity_token" value="[^"]*"|data-options="[^"]*"/g,
            ""
          )
          const seen = [...headers].filter(([name]) => !/^(?:date|set-cookie|x-request-id|content-length)$/.test(name))
          return { status, text: same, headers: seen }
        })
        const unknown = yield* responseTo("nobody@example.org")
        assert.notInclude(unknown.text, "undefined")
        for (const name of names) {
          assert.deepStrictEqual(yield* responseTo(`${name}@example.org`), unknown, `${path} ${name}`)
        }
      }
    }))
})
