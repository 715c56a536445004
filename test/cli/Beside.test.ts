import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { WebSocket } from "ws"
import { cli } from "../support/CommandLine.ts"
import { eventually } from "../support/Eventually.ts"
import { allowedMillis } from "../support/MachineSpeed.ts"
import { TestServer } from "../support/Server.ts"

/** Opens a streaming socket with the token; `closed` returns the seconds from `now` until the server closed it. */
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

const Posted = Schema.Struct({ id: Schema.String })

layer(TestServer.layer(), { excludeTestServices: true })("npm run cli with a running server", (it) => {
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

  it.effect("S-022, S-045: suspending an account while the server runs closes its socket and hides it; unsuspending restores it", () =>
    Effect.scoped(Effect.gen(function*() {
      const server = yield* TestServer
      const [eve, ada] = [yield* server.createPerson("eve"), yield* server.createPerson("watcher")]
      const post = { method: "POST", token: eve.token, json: { status: "Here" } }
      const posted = yield* server.fetch("/api/v1/statuses", post)
      const { id } = yield* Schema.decodeUnknownEffect(Posted)(yield* Effect.promise(() => posted.json()))
      const { closedAt } = yield* stream(server.baseUrl, eve.token)
      const closing = yield* Effect.forkChild(closedAt, { startImmediately: true })
      const seen = Effect.gen(function*() {
        const paths = [`/api/v1/accounts/${eve.accountId}`, `/api/v1/statuses/${id}`]
        const shown = yield* Effect.forEach(paths, (path) => server.fetch(path, { token: ada.token }))
        const own = yield* server.fetch("/api/v1/accounts/verify_credentials", { token: eve.token })
        return [...shown, own].map(({ status }) => status)
      })
      const becomes = (statuses: ReadonlyArray<number>) =>
        eventually(seen, (found) => String(found) === String(statuses))
      assert.deepStrictEqual(yield* seen, [200, 200, 200])
      yield* cli(["account", "suspend", "eve"], server.variables)
      const suspendedAt = performance.now()
      assert.deepStrictEqual(yield* becomes([410, 404, 403]), [410, 404, 403])
      assert.isAtMost((yield* Fiber.join(closing)) - suspendedAt, allowedMillis(1_000))
      yield* cli(["account", "unsuspend", "eve"], server.variables)
      assert.deepStrictEqual(yield* becomes([200, 200, 200]), [200, 200, 200])
    })))

  it.effect("S-022: posts of a sensitized account are sensitive, and public posts of a silenced one unlisted", () =>
    Effect.gen(function*() {
      const server = yield* TestServer
      const mallory = yield* server.createPerson("mallory")
      const posted = Effect.gen(function*() {
        const response = yield* server.fetch("/api/v1/statuses", {
          method: "POST",
          token: mallory.token,
          json: { status: "Look", visibility: "public" }
        })
        const body = yield* Effect.promise(() => response.text())
        return [/"sensitive":(\w+)/.exec(body)?.[1], /"visibility":"(\w+)"/.exec(body)?.[1]]
      })
      assert.deepStrictEqual(yield* posted, ["false", "public"])
      const becomes = (wanted: ReadonlyArray<string>) => eventually(posted, (found) => String(found) === String(wanted))
      for (const word of ["sensitize", "silence"]) yield* cli(["account", word, "mallory"], server.variables)
      assert.deepStrictEqual(yield* becomes(["true", "unlisted"]), ["true", "unlisted"])
      for (const word of ["unsensitize", "unsilence"]) yield* cli(["account", word, "mallory"], server.variables)
      assert.deepStrictEqual(yield* becomes(["false", "public"]), ["false", "public"])
    }))

  it.effect("an account created by the command line signs in at once, and profile changes go through the actor", () =>
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
      yield* eventually(name, (shown) => shown === "Grace H.")
    }))
})
