import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { OtherServer, servers } from "../activitypub/Sending.ts"

const follow = (token: string, uri: unknown) =>
  TestServer.use(({ fetch }) =>
    Effect.flatMap(
      fetch("/api/v1/follows", { token, method: "POST", json: { uri } }),
      (response) => Effect.promise(async () => ({ status: response.status, body: JSON.parse(await response.text()) }))
    )
  )

layer(servers, { excludeTestServices: true })("POST /api/v1/follows", (it) => {
  it.effect("S-140, S-281: follows a local or remote account by name, and again without an error", () =>
    Effect.gen(function*() {
      const [server, there] = [yield* TestServer, yield* OtherServer]
      const [anna, ben] = [yield* server.createPerson("anna"), yield* server.createPerson("ben")]
      const zoe = yield* there.actor("zoe")
      for (const time of ["first", "again"]) {
        const { body, status } = yield* follow(anna.token, `zoe@${there.domain}`)
        assert.strictEqual(status, 200, time)
        assert.strictEqual(body.uri, zoe.id)
        const [{ following, requested }] = yield* json(anna, `/api/v1/accounts/relationships?id=${body.id}`)
        assert.isTrue(following || requested, time)
      }
      assert.strictEqual((yield* follow(anna.token, "@ben")).body.id, String(ben.accountId))
    }))

  it.effect("S-016: accounts of other protocols cannot be followed, and unknown ones are not found", () =>
    Effect.gen(function*() {
      const [server, there] = [yield* TestServer, yield* OtherServer]
      const cleo = yield* server.createPerson("cleo")
      there.fingers.set(`acct:old@${there.domain}`, {
        subject: `acct:old@${there.domain}`,
        links: [{
          rel: "http://schemas.google.com/g/2010#updates-from",
          type: "application/atom+xml",
          href: `${there.url}/old.atom`
        }]
      })
      assert.deepInclude(yield* follow(cleo.token, `old@${there.domain}`), {
        status: 403,
        body: { error: "This action is not allowed" }
      })
      assert.strictEqual((yield* follow(cleo.token, `nobody@${there.domain}`)).status, 404)
      assert.notStrictEqual((yield* follow(cleo.token, "")).status, 200)
      assert.notStrictEqual((yield* follow(cleo.token, undefined)).status, 200)
    }))
})
