import { Effect, FileSystem } from "effect"
import type { Dice } from "../../simulation/Seeded.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { call } from "../Calls.ts"

/** One of several concurrent requests. */
export interface RaceRequest {
  readonly by: Pick<Person, "token">
  readonly method: string
  readonly path: string
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Concurrent requests, and a check of their responses in the order of the requests; it returns undefined if all is
 * well.
 */
export interface Race {
  readonly requests: ReadonlyArray<RaceRequest>
  readonly check?: (statuses: ReadonlyArray<number>, bodies: ReadonlyArray<unknown>) => string | undefined
}

/** Maximum requests per race. */
const requestsMax = 12

const many = <A>(dice: Dice, make: () => A): ReadonlyArray<A> =>
  Array.from({ length: dice.between(4, requestsMax) }, make)

const postRequest = (by: Pick<Person, "token">, path: string, json: unknown = {}): RaceRequest => ({
  by,
  method: "POST",
  path,
  json
})

/** Actions between two people: few kinds, so that others do not repair their result. */
const between = (dice: Dice, one: Person, other: Person): ReadonlyArray<RaceRequest> =>
  Array.from({ length: dice.between(2, 5) }, (_, at) => {
    // Both people act; otherwise there is no race.
    const [by, whom] = at % 2 === 0 ? [one, other] : [other, one]
    const about = (verb: string) => postRequest(by, `/api/v1/accounts/${whom.accountId}/${verb}`)
    return dice.weighted<() => RaceRequest>([
      [6, () => about("follow")],
      [6, () => about("block")],
      [1, () => about("unblock")],
      [1, () => about("unfollow")],
      [1, () => about("mute")],
      [1, () => about("remove_from_followers")],
      [2, () => postRequest(by, `/api/v1/follow_requests/${whom.accountId}/authorize`)],
      [1, () => postRequest(by, `/api/v1/follow_requests/${whom.accountId}/reject`)],
      [2, () => ({
        by,
        method: "PATCH",
        path: "/api/v1/accounts/update_credentials",
        json: { locked: dice.chance(0.5) }
      })]
    ])()
  })

/** Makes pairs of people who act on each other, all at the same time. */
export const relations = (dice: Dice, people: ReadonlyArray<Person>): Race => {
  const order = people.toSorted(() => dice.next() - 0.5)
  return {
    requests: order.flatMap((one, at) => {
      const other = order[at + 1]
      return at % 2 === 1 || other === undefined ? [] : between(dice, one, other)
    })
  }
}

/** Races likes and boosts of a post with its author's edits, pins and deletions. */
export const aroundPost = (dice: Dice, author: Person, others: ReadonlyArray<Person>, id: string): Race => {
  const mayDelete = dice.chance(0.3)
  const of = (by: Person, verb: string) => postRequest(by, `/api/v1/statuses/${id}/${verb}`)
  return {
    requests: many(dice, () =>
      dice.weighted<() => RaceRequest>([
        [3, () => of(dice.pick(others), "favourite")],
        [3, () => of(dice.pick(others), "unfavourite")],
        [3, () => of(dice.pick(others), "reblog")],
        [3, () => of(dice.pick(others), "unreblog")],
        [1, () => of(dice.pick(others), "bookmark")],
        [1, () => of(dice.pick(others), "unbookmark")],
        [1, () => postRequest(dice.pick(others), "/api/v1/statuses", { status: "a reply", in_reply_to_id: id })],
        [2, () => of(author, dice.pick(["pin", "unpin"]))],
        [2, () => ({
          by: author,
          method: "PUT",
          path: `/api/v1/statuses/${id}`,
          json: { status: `edit ${dice.between(0, 9)}` }
        })],
        [mayDelete ? 2 : 0, () => ({ by: author, method: "DELETE", path: `/api/v1/statuses/${id}` })]
      ])())
  }
}

/** Races repeated votes for one or several options, and perhaps the end of the poll. */
export const votes = (dice: Dice, author: Person, voters: ReadonlyArray<Person>, id: string): Race => {
  const mayDelete = dice.chance(0.3)
  return {
    requests: many(dice, () =>
      mayDelete && dice.chance(0.1)
        ? { by: author, method: "DELETE", path: `/api/v1/statuses/${id}` }
        : postRequest(dice.pick(voters), `/api/v1/polls/${id}/votes`, {
          choices: dice.pick([[0], [1], [0, 1], [1, 1], [2]])
        }))
  }
}

const ids = (bodies: ReadonlyArray<unknown>): ReadonlySet<unknown> =>
  new Set(bodies.flatMap((body) => typeof body === "object" && body !== null && "id" in body ? [body.id] : []))

/** Sends the same post with the same key concurrently. */
export const sameKey = (dice: Dice, by: Person, name: string): Race => ({
  requests: many(dice, () => ({
    ...postRequest(by, "/api/v1/statuses", { status: name }),
    headers: { "idempotency-key": name }
  })),
  check: (statuses, bodies) =>
    ids(bodies).size === 1 || statuses.every((status) => status === 503) ? undefined : `posts: ${ids(bodies).size}`
})

/** Races several posts for one file. */
export const sameFile = (dice: Dice, by: Person, media: string): Race => ({
  requests: many(dice, () => postRequest(by, "/api/v1/statuses", { status: "with a file", media_ids: [media] })),
  check: (statuses) => {
    const succeeded = statuses.filter((status) => status === 200).length
    return succeeded === 1 || (succeeded === 0 && statuses.includes(503))
      ? undefined
      : `${succeeded} posts have the file`
  }
})

/** Revokes a token while it is used. */
export const revokedToken = (
  dice: Dice,
  token: string,
  app: { readonly client_id: string; readonly client_secret: string }
): Race => ({
  requests: [
    ...many(dice, () =>
      dice.pick([
        { by: { token }, method: "GET", path: "/api/v1/accounts/verify_credentials" },
        postRequest({ token }, "/api/v1/statuses", { status: "while I may" })
      ])),
    postRequest({ token: "" }, "/oauth/revoke", { token, client_id: app.client_id, client_secret: app.client_secret })
  ]
})

/** Sends all requests at once; returns each response with its body. */
export const run = ({ requests }: Race) =>
  Effect.forEach(
    requests,
    ({ by, headers, json, method, path }) =>
      call(method, path, by.token === "" ? undefined : by, json, headers === undefined ? {} : { headers }),
    { concurrency: "unbounded" }
  )

/** Returns the links in the newest e-mails to an address. */
export const linksTo = Effect.fnUntraced(function*(email: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = `${(yield* TestServer).variables["DATA_DIR"]}/mail`
  const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
  const letters = yield* Effect.forEach(names, (name) => fs.readFileString(`${folder}/${name}`))
  return letters.filter((text) => text.includes(`To: ${email}`)).flatMap((text) =>
    text.replace(/=\r?\n/g, "").replaceAll("=3D", "=").match(/reset_password_token=\S+/) ?? []
  )
})
