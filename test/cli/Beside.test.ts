import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { WebSocket } from "ws"
import { cli } from "../support/Program.ts"
import { TestServer } from "../support/Server.ts"

/** A streaming socket with the token; `closed` answers the seconds from `now` until the server closed it. */
const stream = Effect.fnUntraced(function*(baseUrl: string, token: string) {
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() =>
      new WebSocket(`${baseUrl.replace("http", "ws")}/api/v1/streaming?stream=user&access_token=${token}`)
    ),
    (socket) => Effect.sync(() => socket.terminate())
  )
  yield* Effect.callback<void, Error>((resume) => {
    socket.once("open", () => resume(Effect.void))
    socket.once("error", (error) => resume(Effect.fail(error)))
  })
  const closedAt = Effect.callback<number>((resume) => {
    socket.once("close", () => resume(Effect.succeed(performance.now())))
  })
  return { socket, closedAt }
})

layer(TestServer.layer(), { excludeTestServices: true })("npm run cli beside a running server", (it) => {
  it.effect("row 70: a token that the command line revokes is refused, and its socket closes within a second", () =>
    Effect.scoped(Effect.gen(function*() {
      const server = yield* TestServer
      const ada = yield* server.createPerson("ada")
      assert.strictEqual((yield* server.fetch("/api/v1/accounts/verify_credentials", { token: ada.token })).status, 200)
      const { closedAt } = yield* stream(server.baseUrl, ada.token)
      const closing = yield* Effect.forkChild(closedAt, { startImmediately: true })
      const { code } = yield* cli(["token", "revoke", "ada"], server.variables)
      const revokedAt = performance.now()
      assert.strictEqual(code, 0)
      assert.isAtMost((yield* Fiber.join(closing)) - revokedAt, 1000)
      assert.strictEqual((yield* server.fetch("/api/v1/accounts/verify_credentials", { token: ada.token })).status, 401)
    })))

  it.effect("an account that the command line makes signs in at once, and what it changes of a profile goes through the actor", () =>
    Effect.gen(function*() {
      const server = yield* TestServer
      yield* cli(["account", "create", "grace", "--email", "grace@example.org", "--confirmed"], server.variables)
      const { out } = yield* cli(["token", "create", "grace", "--scopes", "read write"], server.variables)
      const name = Effect.gen(function*() {
        const response = yield* server.fetch("/api/v1/accounts/verify_credentials", { token: out.trim() })
        const body = yield* Effect.promise(() => response.text())
        return /"display_name":"([^"]*)"/.exec(body)?.[1]
      })
      assert.strictEqual(yield* name, "")
      yield* cli(["account", "modify", "grace", "--display-name", "Grace H."], server.variables)
      yield* Effect.repeat(name, { until: (shown) => shown === "Grace H.", schedule: Schedule.spaced("10 millis") })
    }))
})
