import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { makeAccounts } from "../cluster/Nodes.ts"
import { freePort } from "../support/ports.ts"
import * as Program from "../support/Program.ts"
import { formsOf } from "../support/TestBrowser.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { startCollector } from "./Collector.ts"

const password = "correct horse battery staple"
const signUpPassword = "another-horse-battery"
const guessed = "guessed-wrongly-once"
const signingKey = "k3y-of-the-server-k3y-of-the-server-0815"
const oob = "urn:ietf:wg:oauth:2.0:oob"
const verifier = "verifier-verifier-verifier-verifier-verifier-4711"

interface Sent extends Omit<RequestInit, "body" | "headers"> {
  readonly headers?: Record<string, string>
  readonly form?: Record<string, string>
  readonly json?: unknown
}

/** A client of the server that keeps cookies. */
const clientOf = (baseUrl: string) => {
  const cookies = new Map<string, string>()
  const request = (path: string, { form, json, ...init }: Sent = {}) =>
    Effect.promise(async () => {
      const body = form === undefined
        ? json === undefined ? undefined : JSON.stringify(json)
        : new URLSearchParams(form)
      const response = await fetch(baseUrl + path, {
        redirect: "manual",
        ...init,
        headers: {
          origin: baseUrl,
          cookie: [...cookies].map((pair) => pair.join("=")).join("; "),
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...init.headers
        },
        ...(body === undefined ? {} : { body, method: init.method ?? "POST" })
      })
      for (const set of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? []
        cookies.set(name, value)
      }
      const type = response.headers.get("content-type") ?? ""
      const isStream = type.includes("event-stream")
      const text = isStream ? "" : await response.text()
      if (isStream) await response.body?.cancel()
      const isJson = type.includes("json")
      // oxlint-disable-next-line typescript/no-explicit-any
      const found: any = isJson ? JSON.parse(text) : {}
      return { body: found, headers: response.headers, status: response.status, text }
    })
  const submit = Effect.fnUntraced(function*(path: string, written: Record<string, string>) {
    const page = yield* request(path)
    const form = formsOf(page)[0]
    return form === undefined ? page : yield* request(form.action, { form: { ...form.fields, ...written } })
  })
  return { cookies, request, submit }
}

layer(TestDatabase.layer.pipe(Layer.provideMerge(NodeServices.layer)), { excludeTestServices: true })(
  "row 82",
  (it) => {
    it.effect(
      "secrets never appear in the log, in spans or in telemetry, wherever a client puts them and whatever fails",
      () =>
        Effect.scoped(Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const fs = yield* FileSystem.FileSystem
          const { url } = yield* TestDatabase
          const collector = yield* startCollector
          const port = String(yield* freePort)
          const baseUrl = `http://localhost:${port}`
          const dataDir = yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-logs-" })
          const variables = {
            HOST: "127.0.0.1",
            PORT: port,
            PUBLIC_URL: baseUrl,
            DATABASE_URL: url,
            DATA_DIR: dataDir,
            REGISTRATIONS: "open",
            RATE_LIMITS: "off",
            LOG_LEVEL: "debug",
            SECRET_KEY: signingKey,
            OTLP_URL: collector.url
          }
          const program = yield* Program.start("main", [], variables)
          yield* Program.printed(program, "Murmuration is at")
          const [ada] = yield* makeAccounts(variables, ["ada"])
          const { cookies, request, submit } = clientOf(baseUrl)

          const { body: app } = yield* request("/api/v1/apps", {
            json: { client_name: "App", redirect_uris: oob, scopes: "read write" }
          })
          const { client_id, client_secret } = app
          const grant = { client_id, client_secret, redirect_uri: oob }
          const { body: appToken } = yield* request("/oauth/token", {
            form: { ...grant, grant_type: "client_credentials", scope: "read write" }
          })
          const wish = { username: "bob", email: "bob@example.org", agreement: true, locale: "en" }
          const { body: signedUp } = yield* request("/api/v1/accounts", {
            json: { ...wish, password: signUpPassword },
            headers: { authorization: `Bearer ${appToken.access_token}` }
          })
          yield* submit("/auth/sign_in", { email: "ada@example.org", password: guessed })
          yield* submit("/auth/sign_in", { email: "ada@example.org", password })
          const challenge = Buffer.from(
            yield* Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier)))
          ).toString("base64url")
          const asked = new URLSearchParams({
            response_type: "code",
            client_id,
            redirect_uri: oob,
            scope: "read",
            code_challenge: challenge,
            code_challenge_method: "S256"
          })
          const allowed = yield* submit(`/oauth/authorize?${asked}`, {})
          const shown = allowed.headers.get("location") ?? ""
          const code = new URL(shown, baseUrl).searchParams.get("code") ?? ""
          yield* request(shown.replace(baseUrl, ""))
          const exchange = { ...grant, grant_type: "authorization_code", code, code_verifier: verifier }
          const { body: userToken } = yield* request("/oauth/token", { form: exchange })
          yield* request("/oauth/token", { form: exchange })
          yield* request(`/oauth/token?${new URLSearchParams(exchange)}`, { method: "POST" })
          yield* submit("/auth/password/new", { email: "ada@example.org" })

          // E-mails are written after the response, so that its timing discloses nothing.
          const written = Effect.gen(function*() {
            const names = yield* fs.readDirectory(`${dataDir}/mail`)
            const letters = yield* Effect.forEach(names, (name) => fs.readFileString(`${dataDir}/mail/${name}`))
            const text = letters.join("\n").replaceAll("=\r\n", "").replaceAll("=3D", "=")
            return ["reset_password_token", "confirmation_token"].map((name) =>
              new RegExp(`${name}=([\\w-]{20,})`).exec(text)?.[1] ?? ""
            )
          })
          const [reset = "", confirmation = ""] = yield* Effect.repeat(written, {
            until: (found) => !found.includes(""),
            schedule: Schedule.spaced("20 millis")
          })
          const secrets: Record<string, string> = {
            password,
            signUpPassword,
            guessed,
            signingKey,
            verifier,
            client_secret,
            code,
            reset,
            confirmation,
            appToken: appToken.access_token,
            signedUp: signedUp.access_token,
            userToken: userToken.access_token,
            adaToken: ada!.token,
            session: cookies.get("session") ?? "",
            form: cookies.get("form") ?? "",
            database: new URL(url).password
          }
          // All places of a token in a request, on routes that succeed, fail and do not exist.
          const paths = [
            "/api/v1/streaming",
            "/api/v1/bookmarks",
            "/api/v1/statuses/x",
            "/api/v1/nowhere",
            "/oauth/token"
          ]
          const anywhere = Effect.gen(function*() {
            for (const path of paths) {
              for (const token of [ada!.token, userToken.access_token]) {
                yield* request(`${path}?stream=user&access_token=${token}`)
                yield* request(`${path}?access%5Ftoken=${token}&stream=user`)
                yield* request(path, { headers: { authorization: `Bearer ${token}` } })
                yield* request(path, { form: { access_token: token } })
              }
              yield* request(path, { json: { password, client_secret, code }, headers: { cookie: "session=x" } })
            }
            yield* request("/oauth/revoke", { form: { ...grant, token: userToken.access_token } })
            yield* request(`/oauth/introspect?token=${ada!.token}`, { form: { ...grant, token: ada!.token } })
            yield* request(`/auth/password/edit?reset_password_token=${reset}`)
            yield* request(`/auth/confirmation?confirmation_token=${confirmation}`)
            yield* submit("/auth/sign_in?force_login=true", { email: "ada@example.org", password })
            yield* submit("/auth/password/new", { email: "ada@example.org" })
          })
          yield* anywhere
          // Repeats everything while all queries for secrets fail.
          for (const table of ["bookmarks", "mail_tokens", "oauth_grants", "oauth_tokens", "sessions", "users"]) {
            yield* sql.unsafe(`ALTER TABLE ${table} RENAME TO ${table}_gone`)
          }
          yield* anywhere

          program.child.kill("SIGTERM")
          const { err, out } = yield* program.ended
          const told = { log: out + err, collector: collector.received.join("\n") }
          assert.include(told.log, "does not exist", "failures are logged")
          const others = out.trimEnd().split("\n").filter((line) => !line.startsWith("timestamp="))
          assert.isBelow(
            others.length,
            8,
            `F282: only the start message is not a line of the log: ${others.join("\n")}`
          )
          assert.match(
            told.log,
            /level=(?:WARN|ERROR) .* route="GET \/api\/v1\/bookmarks"/,
            "with the route of the request"
          )
          for (const body of collector.received) JSON.parse(body.slice(body.indexOf(" ")))
          for (const what of ["/v1/logs", "/v1/traces", "/api/v1/streaming", "/oauth/token", "does not exist"]) {
            assert.include(told.collector, what)
          }
          for (const [name, secret] of Object.entries(secrets)) {
            assert.isAtLeast(secret.length, 8, name)
            for (const [where, text] of Object.entries(told)) {
              for (const form of [secret, encodeURIComponent(secret), secret.replaceAll(" ", "+")]) {
                const at = text.indexOf(form)
                assert.strictEqual(at, -1, `${name} in the ${where}: ${text.slice(Math.max(0, at - 120), at + 60)}`)
              }
            }
          }
        }))
    )
  }
)
