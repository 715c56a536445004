import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { cli } from "../support/CommandLine.ts"
import { TestServer } from "../support/Server.ts"
import { signUpWithInvite } from "../support/SignUps.ts"

const Live = Layer.provideMerge(
  TestServer.layer({ REGISTRATIONS: "closed", SIGNUP_CONFIRMATION: "none" }),
  NodeServices.layer
)

const run = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const { variables } = yield* TestServer
  return yield* cli(["invite", ...args], variables)
})
const done = (...args: ReadonlyArray<string>) =>
  Effect.map(run(...args), ({ code, err, out }) => {
    assert.strictEqual(code, 0, out + err)
    return out.trim()
  })

layer(Live, { excludeTestServices: true })("npm run cli -- invite", (it) => {
  it.effect("S-017: its link admits people while sign-ups are closed, until it is used up or revoked", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { createPerson, fetch } = yield* TestServer
      yield* createPerson("ada")
      const link = yield* done("create", "ada", "--uses", "1", "--expires", "7d", "--follow")
      const page = yield* fetch(new URL(link).pathname)
      assert.strictEqual(page.status, 200, link)
      const code = link.slice(link.lastIndexOf("/") + 1)
      assert.strictEqual((yield* signUpWithInvite("bob", code)).status, 200)
      assert.strictEqual((yield* signUpWithInvite("cid", code)).status, 403, "used up")

      const open = JSON.parse(yield* done("create", "ada", "--json"))
      assert.deepInclude(open, { username: "ada", max_uses: null, expires_at: null, autofollow: false, valid: true })
      const [newest, used] = JSON.parse(yield* done("list", "--json"))
      assert.deepInclude(newest, { id: open.id, url: open.url })
      assert.deepInclude(used, { code, uses: 1, max_uses: 1, autofollow: true, valid: false })
      const days = (Date.parse(used.expires_at) - Date.parse(used.created_at)) / 86_400_000
      assert.strictEqual(days, 7)
      const lines = (yield* done("list")).split("\n")
      assert.strictEqual(lines[0], `${open.url}\tada\t0 uses\tdoes not expire\tvalid`)
      assert.include(lines[1], "\t1 of 1 use\tuntil ")

      assert.strictEqual(yield* done("revoke", open.url), "Revoked.")
      assert.strictEqual((yield* signUpWithInvite("dan", open.code)).status, 403, "revoked")
      const log =
        yield* sql`SELECT account_id, target_id FROM audit_log WHERE target_type = 'invite' AND action = 'destroy'`
      assert.deepStrictEqual(log, [{ accountId: null, targetId: BigInt(open.id) }], "by the operator")
    }))

  it.effect("refuses unknown accounts, numbers that the page does not offer, and invites that have ended", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      yield* createPerson("eva")
      const refused = Effect.fnUntraced(function*(status: number, words: string, ...args: ReadonlyArray<string>) {
        const { code, err, out } = yield* run(...args)
        assert.strictEqual(code, status, out + err)
        assert.include(out + err, words)
      })
      yield* refused(1, "There is no account nobody here", "create", "nobody")
      yield* refused(1, "Max uses is not included in the list", "create", "eva", "--uses", "3")
      yield* refused(2, "expires", "create", "eva", "--expires", "2d")
      yield* refused(1, "There is no valid invite NOTACODE", "revoke", "NOTACODE")
      const { code } = JSON.parse(yield* done("create", "eva", "--json"))
      yield* done("revoke", code)
      yield* refused(1, `There is no valid invite ${code}`, "revoke", code)
    }))
})
