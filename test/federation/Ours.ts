import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { TestServer } from "../support/Server.ts"

/** How often and how long at most an answer is asked for again, where another program's doing is waited for. */
const lookMillis = 50
const looksMax = 600

/** Asks until the answer is what is wanted; the last answer is told where it never is. */
export const eventually = Effect.fnUntraced(
  function*<A, E, R>(ask: Effect.Effect<A, E, R>, wanted: (answer: A) => boolean) {
    let last: A | undefined
    for (let look = 0; look < looksMax; look++) {
      last = yield* ask
      if (wanted(last)) return last
      yield* Effect.promise(() => sleep(lookMillis))
    }
    return yield* Effect.die(new Error(`it never came; last was ${JSON.stringify(last)}`))
  }
)

/** What tests read of statuses, accounts, relationships and notifications, all in one. */
export interface Wire {
  readonly id: string
  readonly uri: string
  readonly acct: string
  readonly content: string
  readonly type: string
  readonly account: Wire
  readonly status: Wire | undefined
  readonly reblog: Wire | null
  readonly in_reply_to_id: string | null
  readonly favourited: boolean
  readonly favourites_count: number
  readonly reblogs_count: number
  readonly following: boolean
  readonly requested: boolean
  readonly followed_by: boolean
  readonly followers_count: number
  readonly error: string | undefined
}

/** Somebody on our server, as an app of theirs sees it. */
export const someone = Effect.fnUntraced(function*(name: string) {
  const { baseUrl, createPerson, fetch } = yield* TestServer
  const { accountId, token } = yield* createPerson(name)
  const call = Effect.fnUntraced(function*<A>(method: string, path: string, json?: unknown) {
    const response = yield* fetch(path, { method, token, ...(json === undefined ? {} : { json }) })
    return (yield* Effect.promise(() => response.json())) as A
  })
  const get = <A = Wire>(path: string) => call<A>("GET", path)
  const post = <A = Wire>(path: string, json?: unknown) => call<A>("POST", path, json)
  const list = (path: string) => get<ReadonlyArray<Wire>>(path)
  return {
    id: `${baseUrl}/users/${name}`,
    accountId: String(accountId),
    get,
    post,
    list,
    put: (path: string, json: unknown) => call<Wire>("PUT", path, json),
    remove: (path: string) => call<Wire>("DELETE", path),
    home: list("/api/v1/timelines/home"),
    notifications: list("/api/v1/notifications"),
    relationship: (id: string) => Effect.map(list(`/api/v1/accounts/relationships?id[]=${id}`), ([first]) => first),
    /** The account of another server behind a handle. */
    find: (handle: string) =>
      Effect.map(
        get<{ readonly accounts: ReadonlyArray<Wire> }>(`/api/v2/search?resolve=true&q=${encodeURIComponent(handle)}`),
        ({ accounts: [first] }) => {
          if (first === undefined) throw new Error(`${handle} is not found`)
          return first
        }
      )
  }
})
