import { Effect } from "effect"
import { Collections } from "../../services/collections/Collections.ts"
import { RecordNotFound } from "../../services/Errors.ts"
import type { Viewer } from "../../services/Viewer.ts"
import type { Account } from "../wire/Account.ts"
import { type Ready, ready } from "../wire/Keys.ts"
import { AccountViews } from "./AccountViews.ts"

/**
 * The first member of that name is the account's own, before that of whom it moved to; within texts quotes are escaped. What
 * its server does not say, nobody can be told.
 */
const said = /"current_user":"(automatic|manual|denied|missing|unknown)"/

/**
 * Accounts that a reader looks for, with whether that reader may put them into a collection. In other places, as with
 * posts, accounts say what holds for everybody. Two queries a list, whatever is kept of the accounts.
 */
export const make = Effect.gen(function*() {
  const accounts = yield* AccountViews
  const collections = yield* Collections

  const render = Effect.fnUntraced(function*(viewer: Viewer, ids: ReadonlyArray<bigint>) {
    const texts = yield* accounts.byId(ids)
    const standings = viewer === undefined ? undefined : yield* collections.standings(viewer, ids)
    return ids.flatMap((id): ReadonlyArray<Ready<Account>> => {
      const [text, standing] = [texts.get(id), standings?.get(id)]
      if (text === undefined) return []
      if (standing === undefined) return [text]
      return [
        ready(
          text.replace(
            said,
            (as, everybody: string) =>
              everybody === "missing" || (everybody === "unknown" && standing === "denied")
                ? as
                : `"current_user":"${standing}"`
          )
        )
      ]
    })
  })
  return {
    render,
    renderOne: Effect.fnUntraced(function*(viewer: Viewer, id: bigint) {
      const [found] = yield* render(viewer, [id])
      return found ?? (yield* new RecordNotFound())
    })
  }
})
