import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import { parseId } from "../../services/database/Ids.ts"
import type { Document } from "../../services/federation/documents/Vocabulary.ts"
import type { LocalName } from "../../services/instance/LocalNames.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { document, refused } from "./DocumentResponse.ts"
import { ownerIn } from "./OwnerPaths.ts"
import type { Requesters } from "./Requesters.ts"

/**
 * Builds the route of a local account's consents by number, for servers that verify them; a revoked one is not found.
 */
export const make = (
  requesters: Requesters["Service"],
  find: (giver: LocalName, id: bigint) => Effect.Effect<Document | undefined>
) => {
  const respond = Effect.gen(function*() {
    const { scope } = yield* requesters.current
    const params = yield* HttpRouter.params
    const id = parseId(params["id"])
    if (id === undefined) return yield* new RecordNotFound()
    const stamp = yield* find(ownerIn(params), id)
    return stamp === undefined ? yield* new RecordNotFound() : yield* document(stamp, scope)
  })
  return Effect.catch(respond, refused)
}
