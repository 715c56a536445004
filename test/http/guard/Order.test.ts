import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { connect } from "node:net"
import { Limits, limits } from "../../../src/http/guard/Limits.ts"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { send } from "../../support/Requests.ts"
import { user } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

/** Returns the status of a request whose body never arrives; a megabyte is announced. */
const headOnly = Effect.fnUntraced(function*(path: string, headers: Record<string, string> = {}) {
  const { address } = yield* HttpServer.HttpServer
  const port = address._tag === "UnixPathAddress" ? 0 : address.port
  const head = { host: "local.example", "content-type": "application/json", "content-length": "1000000", ...headers }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`).join("")
  return yield* Effect.callback<number>((resume) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("data", (data) => resume(Effect.succeed(Number(String(data).split(" ")[1]))))
    socket.once("error", (error) => resume(Effect.die(error)))
    socket.write(`POST ${path} HTTP/1.1\r\n${lines}\r\n`)
    return Effect.sync(() => socket.destroy())
  })
})

const bearer = (secret: Redacted.Redacted) => ({ authorization: `Bearer ${Redacted.value(secret)}` })

layer(server({}, { limits: Limits.layerMemory }), { excludeTestServices: true })("before the body", (it) => {
  it.effect("F14: the route, the guard and the limit are checked", () =>
    Effect.gen(function*() {
      const tokens = yield* Tokens
      const accountId = AccountId.make(yield* user("ada"))
      const reading = bearer((yield* tokens.issue({ appId: undefined, accountId }, ["read"])).secret)
      const statuses = yield* Effect.all({
        unknown: headOnly("/api/v1/nothing"),
        unknownOfOthers: headOnly("/auth/nothing"),
        withoutToken: headOnly("/api/v1/emails/confirmations"),
        wrongToken: headOnly("/api/v1/emails/confirmations", { authorization: "Bearer x" }),
        wrongScope: headOnly("/api/v1/emails/confirmations", reading),
        noFormOfOurs: headOnly("/auth/sign_in"),
        tooLargeForm: headOnly("/auth/sign_in", { cookie: "__Host-form=x; form=x" }),
        tooLarge: headOnly("/api/v1/apps", { "content-length": "2000000" })
      })
      assert.deepStrictEqual(statuses, {
        unknown: 404,
        unknownOfOthers: 404,
        withoutToken: 401,
        wrongToken: 401,
        wrongScope: 403,
        noFormOfOurs: 403,
        tooLargeForm: 413,
        tooLarge: 413
      })
      // The oversized body counted as a use.
      for (let use = 1; use < limits.apps.uses; use++) yield* send("/api/v1/apps", { method: "POST", body: "{" })
      assert.strictEqual(yield* headOnly("/api/v1/apps"), 429)
    }))
})

layer(server(), { excludeTestServices: true })("other forms of a path", (it) => {
  it.effect("F106: have the limits of the path that they lead to", () =>
    Effect.gen(function*() {
      const megabytes = { "content-length": "2000000" }
      const cookies = { cookie: "__Host-form=x; form=x" }
      const statuses = yield* Effect.all({
        encoded: headOnly("/%61pi/v1/%61pps", megabytes),
        encodedToken: headOnly("/o%61uth/token", megabytes),
        encodedForm: headOnly("/%61uth/sign_in", cookies),
        absolute: headOnly("http://local.example/api/v1/apps", megabytes),
        absoluteForm: headOnly("HTTP://local.example:1/auth/sign_in", cookies),
        doubled: headOnly("//auth//sign_in", cookies),
        parameters: headOnly("/auth/sign_in;x", cookies),
        fragment: headOnly("/auth/sign_in#x", cookies),
        twice: headOnly("/%2561pi/v1/apps", megabytes),
        nested: headOnly("/%%361pi/v1/apps", megabytes)
      })
      assert.deepStrictEqual(statuses, {
        encoded: 413,
        encodedToken: 413,
        encodedForm: 413,
        absolute: 413,
        absoluteForm: 413,
        doubled: 413,
        parameters: 404,
        fragment: 404,
        twice: 404,
        nested: 404
      })
    }))
})

layer(server(), { excludeTestServices: true })("a token", (it) => {
  it.effect("F14: may be in a small body, and one in the header takes precedence", () =>
    Effect.gen(function*() {
      const tokens = yield* Tokens
      const accountId = AccountId.make(yield* user("bert"))
      const { secret } = yield* tokens.issue({ appId: undefined, accountId }, ["read", "write"])
      const confirm = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
        send("/api/v1/emails/confirmations", { method: "POST", body: new URLSearchParams(parameters), headers })
      const inBody = { access_token: Redacted.value(secret) }
      // Signed-in users get a reason rather than 401.
      assert.strictEqual((yield* confirm(inBody)).status, 403)
      assert.strictEqual((yield* confirm({ bearer_token: Redacted.value(secret) })).status, 403)
      assert.strictEqual((yield* confirm({ access_token: "wrong" })).status, 401)
      assert.strictEqual((yield* confirm(inBody, { authorization: "Bearer wrong" })).status, 401)
      assert.strictEqual((yield* confirm({ ...inBody, filler: "x".repeat(100_000) })).status, 401)
    }))
})
