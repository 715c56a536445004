import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ask } from "../../../support/Api.ts"
import { nameServer } from "../../../support/NameServer.ts"
import { TestServer } from "../../../support/Server.ts"
import { staffMember } from "../../../support/Staff.ts"

const root = "/api/v1/admin"
const signUpError = "Validation failed: "

class Names extends Context.Service<Names, { readonly asked: ReadonlyArray<string> }>()("test/Names") {}

const server = Layer.unwrap(Effect.gen(function*() {
  const { address, asked } = yield* nameServer({
    "MX alias.example": "mx.bad.example",
    "A mx.bad.example": "192.0.2.25",
    "MX cousin.example": "mx.cousin.example",
    "A mx.cousin.example": "192.0.2.25"
  })
  return Layer.merge(
    TestServer.layer({ REGISTRATIONS: "open", NAME_SERVERS: address }),
    Layer.succeed(Names, { asked })
  )
}))

const appToken = Effect.gen(function*() {
  const { body: app } = yield* ask(undefined, "POST", "/api/v1/apps", {
    client_name: "App",
    redirect_uris: "app://back",
    scopes: "read write"
  })
  const { body } = yield* ask(undefined, "POST", "/oauth/token", {
    grant_type: "client_credentials",
    client_id: app.client_id,
    client_secret: app.client_secret,
    redirect_uri: "app://back",
    scope: "read write"
  })
  return String(body.access_token)
})

layer(server, { excludeTestServices: true })("sign-ups that staff block", (it) => {
  it.effect("S-173 S-172: by domain, by mail host, by any spelling of an address, and by name", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const staff = yield* staffMember("keeper", ["manageBlocks"])
      const token = yield* appToken
      const register = Effect.fnUntraced(function*(username: string, email: string) {
        const response = yield* fetch("/api/v1/accounts", {
          method: "POST",
          token,
          json: { username, email, password: "correct horse battery staple", agreement: true, locale: "en" }
        })
        const body = JSON.parse(yield* Effect.promise(() => response.text()))
        return response.status === 200 ? "in" : `${response.status} ${String(body.error).replace(signUpError, "")}`
      })
      const { asked } = yield* Names
      assert.strictEqual(yield* register("early", "early@alias.example"), "in")
      // Without rules, no DNS lookup.
      assert.deepStrictEqual(asked, [])
      const blocked = "422 E-mail address uses a forbidden e-mail provider"
      const { body: block } = yield* ask(staff, "POST", `${root}/email_domain_blocks`, { domain: "bad.example" })
      assert.strictEqual(yield* register("ann", "ann@bad.example"), blocked)
      assert.strictEqual(yield* register("ann", "ann@deep.sub.bad.example"), blocked)
      assert.strictEqual(yield* register("ann", "ann@alias.example"), blocked)
      assert.strictEqual(yield* register("ann", "ann@notbad.example"), "in")
      const { body: counted } = yield* ask(staff, "GET", `${root}/email_domain_blocks/${block.id}`)
      assert.deepInclude(counted.history[0], { uses: "3", accounts: "1" })
      const hosts = yield* ask(staff, "POST", `${root}/email_domain_blocks/resolve`, { domain: "cousin.example" })
      assert.deepStrictEqual(hosts.body, { domain: "cousin.example", hosts: ["mx.cousin.example", "192.0.2.25"] })
      // A mail host by its address; a moderator reviews its users.
      yield* ask(staff, "POST", `${root}/email_domain_blocks`, { domain: "192.0.2.25", allow_with_approval: true })
      assert.strictEqual(yield* register("cousin", "c@cousin.example"), "in")
      const waiting = sql<{ username: string }>`SELECT username FROM users u JOIN accounts a ON a.id = u.account_id
        WHERE NOT approved ORDER BY username`
      assert.deepStrictEqual((yield* waiting).map(({ username }) => username), ["cousin"])
      yield* ask(staff, "POST", `${root}/canonical_email_blocks`, { email: "some.body@mail.example" })
      assert.strictEqual(
        yield* register("bob", "somebody+1@MAIL.example"),
        "422 E-mail address has already been taken"
      )
      yield* ask(staff, "POST", `${root}/username_blocks`, { username: "bank", exact: false })
      yield* ask(staff, "POST", `${root}/username_blocks`, {
        username: "press",
        exact: true,
        allow_with_approval: true
      })
      assert.strictEqual(yield* register("My_B4nk", "m@mail.example"), "422 Username is reserved")
      assert.strictEqual(yield* register("press", "p@mail.example"), "in")
      assert.strictEqual(yield* register("pressed", "pp@mail.example"), "in")
      assert.deepStrictEqual((yield* waiting).map(({ username }) => username), ["cousin", "press"])
    }))

  it.effect("F71: an address is judged in its stored form, at sign-up and at each later change", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const staff = yield* staffMember("warden", ["manageBlocks"])
      const token = yield* appToken
      const submit = Effect.fnUntraced(function*(path: string, by: string, json: object) {
        const response = yield* fetch(path, { method: "POST", token: by, json })
        const body = JSON.parse(yield* Effect.promise(() => response.text()))
        const outcome = response.status === 200
          ? "in"
          : `${response.status} ${String(body.error).replace(signUpError, "")}`
        return { outcome, body }
      })
      let latest = ""
      const register = Effect.fnUntraced(function*(username: string, email: string) {
        const given = { username, email, password: "correct horse battery staple", agreement: true, locale: "en" }
        const { body, outcome } = yield* submit("/api/v1/accounts", token, given)
        if (outcome === "in") latest = body.access_token
        return outcome
      })
      const changeTo = (email: string) =>
        Effect.map(submit("/api/v1/emails/confirmations", latest, { email }), ({ outcome }) => outcome)
      const waiting = sql<{ username: string }>`SELECT username FROM users u JOIN accounts a ON a.id = u.account_id
        WHERE NOT approved AND a.username LIKE 'odd%' ORDER BY username`
      const forbidden = "422 E-mail address uses a forbidden e-mail provider"
      const taken = "422 E-mail address has already been taken"
      yield* ask(staff, "POST", `${root}/email_domain_blocks`, { domain: "locked.example" })
      yield* ask(staff, "POST", `${root}/email_domain_blocks`, { domain: "asks.example", allow_with_approval: true })
      yield* ask(staff, "POST", `${root}/canonical_email_blocks`, { email: "gone@m\uFF41il.example" })

      // Full-width and mathematical letters, and capitals: one domain.
      for (
        const domain of ["\uFF4Cocked.example", "\u{1D4C1}ocked.example", "LOCKED.example", "sub.\uFF4Cocked.example"]
      ) {
        assert.strictEqual(yield* register("odd1", `u@${domain}`), forbidden, domain)
      }
      assert.strictEqual(yield* register("odd1", "g.one+x@ma\uFF49l.example"), taken)
      const found = yield* ask(staff, "POST", `${root}/canonical_email_blocks/test`, {
        email: "gone@\uFF4Dail.example"
      })
      assert.strictEqual(found.body.length, 1)
      assert.strictEqual(
        (yield* ask(staff, "POST", `${root}/canonical_email_blocks`, { email: "no address" })).status,
        422
      )

      assert.strictEqual(yield* register("odd2", "u@\uFF41sks.example"), "in")
      assert.strictEqual(yield* register("odd3", "u@fine.example"), "in")
      assert.deepStrictEqual((yield* waiting).map(({ username }) => username), ["odd2"])
      assert.strictEqual(yield* changeTo("v@lo\uFF43ked.example"), forbidden)
      assert.strictEqual(yield* changeTo("gone@ma\uFF49l.example"), taken)
      // A domain with approval also holds users who change to it for review.
      assert.strictEqual(yield* changeTo("v@as\uFF4Bs.example"), "in")
      assert.deepStrictEqual((yield* waiting).map(({ username }) => username), ["odd2", "odd3"])
    }))
})
