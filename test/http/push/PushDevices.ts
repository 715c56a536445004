import { Context, Effect, Layer } from "effect"
import { eventually } from "../../support/Eventually.ts"
import { startInstance, type TestInstance, type TestUser } from "../../support/Fediverse.ts"
import { pushService } from "../../support/PushService.ts"
import { TestServer } from "../../support/Server.ts"

// Tests read bodies of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

export class World extends Context.Service<World, {
  readonly here: TestInstance
  readonly service: Effect.Success<ReturnType<typeof pushService>>
  readonly serverKey: string
}>()("murmuration/test/http/push/PushDevices/World") {}

export const world = Layer.effect(
  World,
  Effect.gen(function*() {
    const here = yield* startInstance()
    const instance: Json = yield* Effect.promise(async () => (await fetch(`${here.origin}/api/v2/instance`)).json())
    return World.of({ here, service: yield* pushService(), serverKey: instance.configuration.vapid.public_key })
  })
)

let named = 0
export const name = (what: string) => `${what}${++named}`

export const everything = Object.fromEntries(
  ["mention", "status", "reblog", "follow", "follow_request", "favourite", "poll", "update"].map((type) => [type, true])
)
export const path = "/api/v1/push/subscription"

/** Creates a user's device that subscribes to all types. */
export const subscribed = Effect.fnUntraced(
  function*(person: TestUser, more: Json = {}, data: Json = { alerts: everything }) {
    const { serverKey, service } = yield* World
    const device = service.device(name("device"), serverKey)
    const { endpoint, keys, told } = device
    const subscription: Json = yield* person.ask("POST", path, { subscription: { endpoint, keys, ...more }, data })
    return { endpoint, keys, told, subscription }
  }
)
export const toldOf = (device: { readonly told: ReadonlyArray<Json> }, count: number) =>
  eventually(Effect.sync(() => device.told), (told) => told.length >= count)
const postJson = (url: string, json: unknown): Effect.Effect<Json> =>
  Effect.promise(async () => {
    const headers = { "content-type": "application/json" }
    return (await fetch(url, { method: "POST", headers, body: JSON.stringify(json) })).json()
  })

/** Registers a user's second app, which may revoke its token. */
export const secondApp = Effect.fnUntraced(function*({ context, fetch, origin, sql }: TestInstance, person: TestUser) {
  const issue = TestServer.use(({ createToken }) => createToken(person.accountId, ["read", "write", "push"]))
  const token = yield* Effect.provide(issue, context)
  const app = yield* postJson(`${origin}/api/v1/apps`, { client_name: "x", redirect_uris: "urn:ietf:wg:oauth:2.0:oob" })
  yield* sql`UPDATE oauth_tokens SET app_id = ${BigInt(app.id)} WHERE id = (SELECT max(id) FROM oauth_tokens)`
  const ask: TestUser["ask"] = (method, path, json) =>
    Effect.flatMap(
      fetch(path, { method, token, ...(json === undefined ? {} : { json }) }),
      (response) => Effect.promise(() => response.json())
    )
  const { client_id, client_secret } = app
  return { ...person, token, ask, revoke: postJson(`${origin}/oauth/revoke`, { client_id, client_secret, token }) }
})

/** Waits until no push is left to send. */
export const idle = ({ sql }: TestInstance) =>
  eventually(
    Effect.orDie(sql<{ n: number }>`SELECT ((SELECT count(*) FROM pushes) + (SELECT count(*) FROM fanouts))::int AS n`),
    ([row]) => row?.n === 0
  )
export const follow = (person: TestUser, other: TestUser) =>
  person.ask("POST", `/api/v1/accounts/${other.accountId}/follow`)
export const responseOf = (startInstance: TestInstance, person: TestUser, method: string, json?: unknown) =>
  Effect.flatMap(
    startInstance.fetch(path, { method, token: person.token, ...(json === undefined ? {} : { json }) }),
    (response) =>
      Effect.promise(async () => ({ status: response.status, body: JSON.parse(await response.text()) as Json }))
  )
