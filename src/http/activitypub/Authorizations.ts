import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { idMax } from "../../services/database/Ids.ts"
import type { Document } from "../../services/federation/documents/Vocabulary.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { document, refused } from "./DocumentResponse.ts"
import type { Requesters } from "./Requesters.ts"

/**
 * Builds the route of a local account's consents by number, for servers that verify them; a revoked one is not found.
 */
export const make = (
  requesters: Requesters["Service"],
  find: (username: string, id: bigint) => Effect.Effect<Document | undefined>
) => {
  const respond = Effect.gen(function*() {
    const { scope } = yield* requesters.current
    const { id = "", name = "" } = yield* HttpRouter.params
    if (!/^[0-9]{1,19}$/.test(id) || BigInt(id) > idMax) return yield* new RecordNotFound()
    const stamp = yield* find(name, BigInt(id))
    return stamp === undefined ? yield* new RecordNotFound() : yield* document(stamp, scope)
  })
  return Effect.catch(respond, refused)
}
