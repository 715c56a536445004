import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { RecordNotFound } from "../../services/Errors.ts"
import { QuoteActivities } from "../../services/federation/outbox/QuoteActivities.ts"
import { idMax } from "../../services/Ids.ts"
import { document, refused } from "./DocumentResponse.ts"
import { Requesters } from "./Requesters.ts"

/** The consent of somebody here to be quoted, for servers that check it; what was taken back is not found. */
export const make = Effect.gen(function*() {
  const activities = yield* QuoteActivities
  const requesters = yield* Requesters
  const respond = Effect.gen(function*() {
    const { scope } = yield* requesters.current
    const { id = "", name = "" } = yield* HttpRouter.params
    if (!/^[0-9]{1,19}$/.test(id) || BigInt(id) > idMax) return yield* new RecordNotFound()
    const stamp = yield* activities.stamp(name, BigInt(id))
    return stamp === undefined ? yield* new RecordNotFound() : yield* document(stamp, scope)
  })
  return Effect.catch(respond, refused)
})
