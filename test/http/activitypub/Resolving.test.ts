import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../support/Server.ts"
import { deliverFrom, note, OtherServer, servers } from "./Sending.ts"

interface Found {
  readonly accounts: ReadonlyArray<{ readonly uri: string; readonly acct: string }>
  readonly statuses: ReadonlyArray<{ readonly uri: string }>
}

const search = (token: string | undefined, q: string, more = "") =>
  TestServer.use(({ fetch }) =>
    Effect.flatMap(
      fetch(`/api/v2/search?resolve=true&q=${encodeURIComponent(q)}${more}`, token === undefined ? {} : { token }),
      (response) =>
        Effect.promise(async () => {
          const body: Found = JSON.parse(await response.text())
          return { status: response.status, body }
        })
    )
  )

layer(servers, { excludeTestServices: true })("search with resolve", (it) => {
  it.effect("S-150: finds accounts of other servers by handle and by address, and known posts by theirs", () =>
    Effect.gen(function*() {
      const [server, there] = [yield* TestServer, yield* OtherServer]
      const anna = yield* server.createPerson("anna")
      const [zoe, yan] = [yield* there.actor("zoe"), yield* there.actor("yan")]
      const byHandle = yield* search(anna.token, `@zoe@${there.domain}`)
      assert.deepStrictEqual(byHandle.body.accounts.map(({ uri }) => uri), [zoe.id])
      assert.strictEqual(byHandle.body.accounts[0]?.acct, `zoe@${there.domain}`)
      const byAddress = yield* search(anna.token, yan.id)
      assert.deepStrictEqual(byAddress.body.accounts.map(({ uri }) => uri), [yan.id])
      const me = `${server.baseUrl}/users/anna`
      const [open, secret] = [
        note(yan, "open", { cc: [me], tag: [{ type: "Mention", href: me }] }),
        note(yan, "secret", { to: [me], cc: [], tag: [{ type: "Mention", href: me }] })
      ]
      yield* deliverFrom(yan, { type: "Create", object: open })
      yield* deliverFrom(yan, { type: "Create", object: secret })
      const ben = yield* server.createPerson("ben")
      const found = (token: string, id: unknown) =>
        Effect.map(search(token, String(id)), ({ body }) => body.statuses.map(({ uri }) => uri))
      assert.deepStrictEqual<unknown>(yield* found(ben.token, open["id"]), [open["id"]])
      assert.deepStrictEqual<unknown>(yield* found(anna.token, secret["id"]), [secret["id"]])
      // Row 56: an unreadable post is not found by its address.
      assert.isEmpty(yield* found(ben.token, secret["id"]))
      assert.isEmpty((yield* search(anna.token, yan.id, "&type=statuses")).body.accounts)
    }))

  it.effect("row 25: fetches no internal address, and nothing for visitors", () =>
    Effect.gen(function*() {
      const [server, there] = [yield* TestServer, yield* OtherServer]
      const cleo = yield* server.createPerson("cleo")
      const before = there.requests.length
      assert.strictEqual((yield* search(undefined, `zed@${there.domain}`)).status, 401)
      assert.strictEqual(there.requests.length, before)
      const inside = ["10.0.0.1", "169.254.169.254", "192.168.0.1", "[::1]", "0.0.0.0", "[fd00::1]"]
      for (const host of inside) {
        for (const q of [`https://${host}/x`, `http://${host}/x`, `x@${host}`]) {
          const { body, status } = yield* search(cleo.token, q)
          assert.strictEqual(status, 200, q)
          assert.isEmpty([...body.accounts, ...body.statuses], q)
        }
      }
    }))
})
