import { Effect, Schema } from "effect"
import { Filter } from "../../src/http/wire/Filter.ts"
import type { Status } from "../../src/http/wire/Status.ts"
import { settled } from "./Actors.ts"
import { call } from "./Api.ts"
import { type Person, TestServer } from "./Server.ts"

export const filtersPath = "/api/v2/filters"

let people = 0
export const newPerson = Effect.suspend(() =>
  TestServer.use(({ createPerson }) => createPerson(`filtering${++people}`))
)

export const follow = (follower: Person, other: Person) =>
  call("POST", `/api/v1/accounts/${other.accountId}/follow`, follower.token)

/** Posts, waits until fan-outs are done, and returns the id. */
export const post = (author: Person, status: string, more: Record<string, unknown> = {}) =>
  Effect.map(call("POST", "/api/v1/statuses", author.token, { status, ...more }), ({ body }): string => body.id).pipe(
    Effect.tap(() => settled)
  )

/** Returns the statuses of a list. */
export const shown = (viewer: Person, list: string) =>
  Effect.map(call("GET", list, viewer.token), ({ body }): ReadonlyArray<typeof Status.Type> => body)

/** Returns the texts of a list without mark-up. */
export const texts = (viewer: Person, list: string) =>
  Effect.map(shown(viewer, list), (statuses) => statuses.map(({ content }) => content.replace(/<[^>]*>/g, "")))

/** Creates a filter, for home by default. */
export const filter = (owner: Person, more: Record<string, unknown>) =>
  Effect.flatMap(
    call("POST", filtersPath, owner.token, { title: "a filter", context: ["home"], ...more }),
    ({ body, status }) =>
      status === 200
        ? Schema.decodeUnknownEffect(Filter, { onExcessProperty: "error" })(body)
        : Effect.die(body)
  )
