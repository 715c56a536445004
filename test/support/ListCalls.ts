import { Effect } from "effect"
import { ask, idsOf } from "./Api.ts"
import type { Person } from "./Server.ts"

/* API calls for lists. */

export const path = "/api/v1/lists"

export const create = (by: Person, more: object = {}) =>
  Effect.map(ask(by, "POST", path, { title: "Friends", ...more }), ({ body }): string => body.id)
export const follow = (by: Person, whom: Person, more?: object) =>
  ask(by, "POST", `/api/v1/accounts/${whom.accountId}/follow`, more)
export const put = (by: Person, list: string, ...members: ReadonlyArray<Person>) =>
  ask(by, "POST", `${path}/${list}/accounts`, { account_ids: members.map(({ accountId }) => String(accountId)) })
export const timeline = (by: Person, list: string, query = "") => idsOf(by, `/api/v1/timelines/list/${list}${query}`)
/** Invalidates the user's feeds, so that they are rebuilt. */
export const forget = (by: Person, other: Person) => ask(by, "POST", `/api/v1/accounts/${other.accountId}/unmute`)
export const home = (by: Person) => idsOf(by, "/api/v1/timelines/home")
