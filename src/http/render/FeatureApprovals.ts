import { Effect } from "effect"
import { Collections } from "../../services/collections/Collections.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import type { Account } from "../wire/Account.ts"
import { asJsonOf, type JsonOf } from "../wire/Keys.ts"
import { AccountViews } from "./AccountViews.ts"

/**
 * The first match belongs to the account itself, and precedes that of its `moved` account; quotes inside texts are
 * escaped. An approval that the account's server does not state stays unknown.
 */
const unknownApproval = /"current_user":"(automatic|manual|denied|missing|unknown)"/

/**
 * Renders accounts that a viewer looks up, with whether the viewer may add them to a collection. Elsewhere, as with
 * posts, accounts have the value for everyone. Takes two queries per list, even if all accounts are cached.
 */
export const make = Effect.gen(function*() {
  const accounts = yield* AccountViews
  const collections = yield* Collections

  const render = Effect.fnUntraced(function*(viewer: Viewer, ids: ReadonlyArray<bigint>) {
    const texts = yield* accounts.byId(ids)
    const standings = viewer === undefined ? undefined : yield* collections.standings(viewer, ids)
    return ids.flatMap((id): ReadonlyArray<JsonOf<Account>> => {
      const [text, standing] = [texts.get(id), standings?.get(id)]
      if (text === undefined) return []
      if (standing === undefined) return [text]
      return [
        asJsonOf(
          text.replace(
            unknownApproval,
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
