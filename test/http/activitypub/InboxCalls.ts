import { Effect } from "effect"
import { json } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { OtherServer } from "./Sending.ts"

/* Helpers of inbox tests for local and remote accounts. */

/** Creates a remote account; `more` changes its actor document. */
export const there = (name: string, more: Record<string, unknown> = {}) =>
  OtherServer.use(({ actor }) => actor(name, more))

/** Returns the actor id of a local account. */
export const actorOf = ({ username }: Person) =>
  TestServer.use(({ baseUrl }) => Effect.succeed(`${baseUrl}/users/${username}`))

/** Returns a user's notifications, newest first, as `type name`. */
export const told = (by: Person) =>
  Effect.map(
    json(by, "/api/v1/notifications"),
    (all: ReadonlyArray<{ type: string; account: { acct: string } }>) =>
      all.map(({ account, type }) => `${type} ${account.acct.split("@")[0]}`)
  )

/** Returns the status of a user's newest notification. */
export const received = (by: Person) => Effect.map(json(by, "/api/v1/notifications"), ([first]) => first.status)

/** Makes fields that address a note to local accounts and mention them. */
export const mentioning = (...actors: ReadonlyArray<string>) => ({
  cc: actors,
  tag: actors.map((href) => ({ type: "Mention", href }))
})

/** Looks a remote account up by its handle. */
export const found = Effect.fnUntraced(function*(by: Person, name: string) {
  const { domain } = yield* OtherServer
  const handle = encodeURIComponent(`${name}@${domain}`)
  const { accounts: [account] } = yield* json(by, `/api/v2/search?type=accounts&resolve=true&q=${handle}`)
  return account
})
