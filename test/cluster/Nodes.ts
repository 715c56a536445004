import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Context, Effect, FileSystem, Layer, Redacted, Schedule } from "effect"
import * as Operator from "../../src/cli/Operator.ts"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { givenEmail } from "../../src/services/identity/RegistrationRules.ts"
import { Registrations } from "../../src/services/identity/Registrations.ts"
import { Tokens } from "../../src/services/oauth/Tokens.ts"
import { freePort } from "../support/ports.ts"
import * as Program from "../support/Program.ts"
import { allScopes, quick } from "../support/Server.ts"

export interface Account {
  readonly id: AccountId
  readonly username: string
  readonly token: string
}

/** Starts a cluster node as a process; completes when it serves requests. */
export const startNode = Effect.fnUntraced(function*(
  databaseUrl: string,
  redisUrl: string,
  others: Record<string, string> = {}
) {
  const fs = yield* FileSystem.FileSystem
  const port = yield* freePort
  const variables = {
    HOST: "127.0.0.1",
    PORT: String(port),
    PUBLIC_URL: "http://cluster.test",
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    CLUSTER_HOST: "127.0.0.1",
    CLUSTER_PORT: String(yield* freePort),
    DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "murmuration-node-" }),
    RATE_LIMITS: "off",
    // Tests of faults measure this promise.
    RESPONSE_SECONDS_MAX: "5",
    LOG_LEVEL: "error",
    ...others
  }
  const program = yield* Program.start("main", [], variables)
  yield* Program.printed(program, "Murmuration is at")
  return { ...program, baseUrl: `http://127.0.0.1:${port}`, variables }
}, Effect.provide(NodeServices.layer))

export type Node = Effect.Success<ReturnType<typeof startNode>>

/** Creates accounts and tokens with the command line, while the nodes run. */
export const makeAccounts = Effect.fnUntraced(
  function*(
    variables: Record<string, string>,
    names: ReadonlyArray<string>,
    scopes: ReadonlyArray<string> = allScopes
  ) {
    const config = ConfigProvider.layer(ConfigProvider.fromUnknown(variables))
    const services = yield* Layer.build(Layer.fresh(Operator.layerWith(quick).pipe(Layer.provide(config))))
    const registrations = Context.get(services, Registrations)
    const tokens = Context.get(services, Tokens)
    return yield* Effect.forEach(names, (username) =>
      Effect.gen(function*() {
        const id = yield* registrations.create({
          username,
          email: givenEmail(`${username}@example.org`),
          password: Redacted.make("correct horse battery staple"),
          approved: true,
          confirmed: true
        })
        const { secret } = yield* tokens.issue({ appId: undefined, accountId: id }, scopes)
        return { id, username, token: Redacted.value(secret) }
      }))
  },
  Effect.scoped
)

export interface Reply {
  readonly status: number
  readonly body: unknown
  readonly retryAfter: string | null
  readonly millis: number
}

export interface RequestOptions {
  readonly method?: string
  readonly form?: Record<string, string>
  /** Idempotency-Key of the request. */
  readonly key?: string
  /** Source address, as a trusted proxy reports it. */
  readonly address?: string
}

/** Sends one request. A broken connection, or a response that takes over ten seconds, is status 0. */
export const request = (
  node: Pick<Node, "baseUrl">,
  account: Pick<Account, "token">,
  path: string,
  options: RequestOptions = {}
): Effect.Effect<Reply> =>
  Effect.promise(async () => {
    const began = performance.now()
    const done = (status: number, body: unknown, retryAfter: string | null) => ({
      status,
      body,
      retryAfter,
      millis: performance.now() - began
    })
    try {
      const response = await fetch(node.baseUrl + path, {
        method: options.method ?? "GET",
        headers: {
          authorization: `Bearer ${account.token}`,
          ...(options.key === undefined ? {} : { "idempotency-key": options.key }),
          ...(options.address === undefined ? {} : { "x-forwarded-for": options.address })
        },
        signal: AbortSignal.timeout(10_000),
        ...(options.form === undefined ? {} : { body: new URLSearchParams(options.form) })
      })
      return done(response.status, await response.json(), response.headers.get("retry-after"))
    } catch {
      return done(0, null, null)
    }
  })

/**
 * Sends one request until it is neither refused with 503 nor without a response: on a busy machine a node refuses what
 * would take too long. A request that must not be done twice needs a key.
 */
export const requestUntilServed = (...sent: Parameters<typeof request>) =>
  Effect.repeat(request(...sent), {
    until: ({ status }) => status !== 503 && status !== 0,
    schedule: Schedule.spaced("1 second")
  })
