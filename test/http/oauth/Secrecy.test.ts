import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import * as PasswordHashing from "../../../src/layers/PasswordHashing.ts"
import { post } from "../../support/Requests.ts"
import { client, password, user } from "../../support/SignedIn.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { locationOf } from "../../support/TestBrowser.ts"
import { Postbox, server } from "../../support/WebServer.ts"

const argon2 = PasswordHashing.layer.pipe(Layer.provide(NodeCrypto.layer))

/** All log lines, at every level. */
const lines: Array<string> = []
const Recording = Layer.mergeAll(
  Logger.layer([Logger.formatLogFmt.pipe(Logger.map((line) => void lines.push(line)))]),
  Layer.succeed(References.MinimumLogLevel, "Trace")
)

/** Returns every row of every table as text. */
const dump = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ name: string }>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`
  const rows = yield* Effect.forEach(tables, ({ name }) => sql.unsafe(`SELECT t::text AS row FROM "${name}" t`))
  return JSON.stringify(rows)
})

layer(server({}, { credentials: argon2 }).pipe(Layer.provideMerge(Recording)), { excludeTestServices: true })(
  "rows 73 and 82",
  (it) => {
    it.effect("issued secrets are neither in the database nor in the log", () =>
      Effect.gen(function*() {
        yield* user("mona")
        const app = yield* client("read")
        const browser = TestBrowser.make()
        yield* browser.signIn("mona")
        const query = { response_type: "code", client_id: app.clientId, redirect_uri: app.redirectUri }
        const consent = yield* browser.get(`/oauth/authorize?${new URLSearchParams(query)}`)
        const code = locationOf(yield* browser.submit(consent)).searchParams.get("code") ?? ""
        const exchange = { grant_type: "authorization_code", code, redirect_uri: app.redirectUri, ...app.credentials }
        const token = (yield* post("/oauth/token", exchange)).body.access_token
        yield* post("/oauth/token", exchange)
        yield* browser.submit(yield* browser.get("/auth/password/new"), { email: "mona@mail.example" })
        const link = /reset_password_token=([\w-]+)/.exec((yield* Postbox.next).text)?.[1]
        const secrets = {
          password,
          session: browser.cookies.get("__Host-session"),
          form: browser.cookies.get("__Host-form"),
          code,
          token,
          link,
          clientSecret: app.credentials.client_secret
        }
        const stored = yield* dump
        assert.include(stored, "mona@mail.example", "the dump has what is stored")
        yield* Effect.logTrace("the log is recorded")
        assert.include(lines.join("\n"), "the log is recorded")
        for (const [name, secret] of Object.entries(secrets)) {
          assert.isAtLeast(secret?.length ?? 0, 16, name)
          assert.notInclude(stored, secret, name)
          assert.notInclude(lines.join("\n"), secret, name)
        }
        assert.notInclude(String(Redacted.make(token)), token)
      }))
  }
)
