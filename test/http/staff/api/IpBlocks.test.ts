import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { WebSocket } from "ws"
import { AdminIpBlock } from "../../../../src/http/staff/wire/AdminBlocks.ts"
import { ask } from "../../../support/Api.ts"
import { type Person, TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"

const path = "/api/v1/admin/ip_blocks"
const told = ({ body, status }: { readonly status: number; readonly body: unknown }) => [status, body]
const failed = (text: string) => [422, { error: `Validation failed: ${text}` }]
const forbidden: readonly [number, string] = [403, `{"error":"Forbidden"}`]

const forbiddenAt = (where: string): readonly [number, string] =>
  where.startsWith("/api/") ? forbidden : [403, "Forbidden"]

/** Sends a request that a trusted proxy reports from this address; returns status and text. */
const from = Effect.fnUntraced(function*(address: string, where: string, init: RequestInit & { token?: string } = {}) {
  const { fetch } = yield* TestServer
  const response = yield* fetch(where, { ...init, headers: { ...init.headers, "x-forwarded-for": address } })
  return [response.status, yield* Effect.promise(() => response.text())] as const
})
const block = (by: Person, ip: string, more: Record<string, unknown> = {}) =>
  Effect.map(ask(by, "POST", path, { ip, severity: "no_access", ...more }), ({ body }) => body)

layer(TestServer.layer({ REGISTRATIONS: "open" }), { excludeTestServices: true })(
  "IP blocks",
  (it) => {
    it.effect("S-174 S-277: are created, shown, changed and removed, and one network has one block", () =>
      Effect.gen(function*() {
        const staff = yield* staffMember("keeper", ["manageBlocks"])
        const { body: created } = yield* ask(staff, "POST", path, {
          ip: "198.51.100.77/24",
          severity: "sign_up_block",
          comment: "spam",
          expires_in: "86400"
        })
        yield* Schema.decodeUnknownEffect(AdminIpBlock)(created, { onExcessProperty: "error" })
        assert.deepInclude(created, { ip: "198.51.100.0/24", severity: "sign_up_block", comment: "spam" })
        assert.closeTo(Date.parse(created.expires_at) - Date.parse(created.created_at), 86_400_000, 1_000)
        for (const ip of ["198.51.100.0/24", "198.51.100.9/24", "::ffff:198.51.100.0/120"]) {
          assert.deepStrictEqual(
            told(yield* ask(staff, "POST", path, { ip, severity: "no_access" })),
            failed("Ip has already been taken"),
            ip
          )
        }
        for (
          const [wish, text] of [
            [{ severity: "no_access" }, "Ip can't be blank"],
            [{ ip: "300.1.1.1", severity: "no_access" }, "Ip is invalid"],
            [{ ip: "10.0.0.0/33", severity: "no_access" }, "Ip is invalid"],
            [{ ip: "10.0.0.0" }, "Severity can't be blank"],
            [{ ip: "10.0.0.0", severity: "kill" }, "Severity is not included in the list"],
            [{ ip: "127.0.0.0/8", severity: "no_access" }, "Ip includes an address that you are using"]
          ] as const
        ) assert.deepStrictEqual(told(yield* ask(staff, "POST", path, wish)), failed(text))
        const { body: changed } = yield* ask(staff, "PUT", `${path}/${created.id}`, {
          severity: "no_access",
          expires_in: ""
        })
        assert.deepStrictEqual(changed, { ...created, severity: "no_access", expires_at: null })
        assert.deepStrictEqual((yield* ask(staff, "GET", `${path}/${created.id}`)).body, changed)
        assert.strictEqual((yield* block(staff, "2001:DB8::7")).ip, "2001:db8::7/128")
        assert.strictEqual((yield* ask(staff, "GET", `${path}?limit=1`)).body[0].ip, "2001:db8::7/128")
        assert.deepStrictEqual(told(yield* ask(staff, "DELETE", `${path}/${created.id}`)), [200, {}])
        assert.strictEqual((yield* ask(staff, "GET", `${path}/${created.id}`)).status, 404)
        assert.deepStrictEqual((yield* auditEntries(staff.accountId)).map(({ act }) => act), [
          "ip_block destroy",
          "ip_block create",
          "ip_block update",
          "ip_block create"
        ])
      }))

    it.effect("S-174: no_access blocks the API, pages, sign-in, documents, inboxes and files, at once and until it is lifted", () =>
      Effect.gen(function*() {
        const staff = yield* staffMember("gate", ["manageBlocks"])
        const everywhere = [
          "/api/v1/instance",
          "/api/v1/timelines/home",
          "/auth/sign_in",
          "/oauth/authorize",
          "/",
          "/@gate",
          "/users/gate",
          "/.well-known/webfinger?resource=acct:gate@localhost",
          "/assets/none.css",
          "/system/none.png",
          "/api/v1/streaming/user",
          "/nowhere"
        ]
        const created = yield* block(staff, "203.0.113.0/24")
        for (const where of everywhere) {
          assert.deepStrictEqual(yield* from("203.0.113.9", where, { token: staff.token }), forbiddenAt(where), where)
          assert.notDeepEqual(yield* from("203.0.114.9", where), forbiddenAt(where), where)
        }
        for (const where of ["/inbox", "/api/v1/statuses", "/oauth/token", "/api/v1/accounts", "/auth/sign_in"]) {
          assert.deepStrictEqual(
            yield* from("203.0.113.9", where, { method: "POST", body: "{}" }),
            forbiddenAt(where),
            where
          )
        }
        yield* ask(staff, "DELETE", `${path}/${created.id}`)
        assert.strictEqual((yield* from("203.0.113.9", "/api/v1/instance"))[0], 200)
      }))

    it.effect("TRUSTED_PROXIES: a client's own claim neither hides its address nor blocks others", () =>
      Effect.gen(function*() {
        const staff = yield* staffMember("proxied", ["manageBlocks"])
        yield* block(staff, "203.0.113.50")
        yield* block(staff, "2001:db8:bad::/48")
        for (
          const claimed of [
            "198.51.100.1, 203.0.113.50",
            "127.0.0.1, 203.0.113.50",
            " 203.0.113.50 ",
            "::ffff:203.0.113.50",
            // F75: IPv4 behind a translator.
            "64:ff9b::203.0.113.50",
            "2001:db8:bad:1::1",
            "2001:0db8:0bad::0:5"
          ]
        ) {
          assert.deepStrictEqual(yield* from(claimed, "/api/v1/instance"), forbidden, claimed)
        }
        for (const claimed of ["203.0.113.50, 198.51.100.1", "198.51.100.1", "2001:db8:bae::1"]) {
          assert.strictEqual((yield* from(claimed, "/api/v1/instance"))[0], 200, claimed)
        }
        for (const claimed of ["nonsense", "203.0.113.50,,", "203.0.113.50, nonsense"]) {
          assert.strictEqual((yield* from(claimed, "/api/v1/instance"))[0], 400, `F75: ${claimed}`)
        }
        const headers = { "x-real-ip": "198.51.100.1", forwarded: "for=198.51.100.1", "true-client-ip": "198.51.100.1" }
        assert.deepStrictEqual(yield* from("203.0.113.50", "/api/v1/instance", { headers }), forbidden)
      }))

    it.effect("S-174: open streams of a network end when it is blocked", () =>
      Effect.gen(function*() {
        const staff = yield* staffMember("streams", ["manageBlocks"])
        const { baseUrl } = yield* TestServer
        const open = (address: string) =>
          Effect.callback<WebSocket>((resume) => {
            const socket = new WebSocket(
              `${baseUrl.replace("http", "ws")}/api/v1/streaming?stream=user`,
              [staff.token],
              {
                headers: { "x-forwarded-for": address }
              }
            )
            socket.on("open", () => resume(Effect.succeed(socket)))
          })
        const [inside, outside] = [yield* open("2001:db8:1::1"), yield* open("2001:db8:1::2")]
        const ended = Effect.callback<number>((resume) => {
          inside.on("close", (code) => resume(Effect.succeed(code)))
        })
        yield* block(staff, "2001:db8:1::1")
        assert.strictEqual(yield* ended, 1008)
        assert.strictEqual(outside.readyState, WebSocket.OPEN)
        outside.terminate()
      }))

    it.effect("S-174: sign_up_block refuses sign-ups, sign_up_requires_approval makes them wait, and both end with the block", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const staff = yield* staffMember("signer", ["manageBlocks"])
        const { fetch } = yield* TestServer
        const posted = Effect.fnUntraced(function*(where: string, json: unknown) {
          const response = yield* fetch(where, { method: "POST", json })
          return JSON.parse(yield* Effect.promise(() => response.text()))
        })
        const app = yield* posted("/api/v1/apps", {
          client_name: "App",
          redirect_uris: "app://back",
          scopes: "read write"
        })
        const { access_token: token } = yield* posted("/oauth/token", {
          grant_type: "client_credentials",
          client_id: app.client_id,
          client_secret: app.client_secret,
          redirect_uri: "app://back",
          scope: "read write"
        })
        const registerFrom = (username: string, address: string) =>
          from(address, "/api/v1/accounts", {
            method: "POST",
            token,
            headers: { "content-type": "application/json" },
            body: JSON.stringify({
              username,
              email: `${username}@mail.example`,
              password: "correct horse battery staple",
              agreement: true,
              locale: "en"
            })
          })
        const approved = Effect.fnUntraced(function*(username: string) {
          const [row] = yield* sql<
            { approved: boolean }
          >`SELECT approved FROM users u JOIN accounts a ON a.id = u.account_id
          WHERE a.username = ${username}`
          return row?.approved
        })
        const stopped = yield* block(staff, "192.0.2.0/25", { severity: "sign_up_block" })
        yield* block(staff, "192.0.2.128/25", { severity: "sign_up_requires_approval" })
        assert.deepStrictEqual(yield* registerFrom("nina", "192.0.2.5"), forbidden)
        assert.strictEqual((yield* from("192.0.2.5", "/api/v1/instance"))[0], 200)
        assert.strictEqual((yield* registerFrom("olga", "192.0.2.200"))[0], 200)
        assert.strictEqual(yield* approved("olga"), false)
        assert.strictEqual((yield* registerFrom("pia", "192.0.3.1"))[0], 200)
        assert.strictEqual(yield* approved("pia"), true)
        // An expired block has no effect, and its network may be blocked again.
        yield* ask(staff, "PUT", `${path}/${stopped.id}`, { expires_in: 0 })
        assert.strictEqual((yield* registerFrom("nina", "192.0.2.5"))[0], 200)
        assert.strictEqual((yield* block(staff, "192.0.2.0/25", { severity: "sign_up_block" })).ip, "192.0.2.0/25")
      }))
  }
)
