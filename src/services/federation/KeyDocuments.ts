import { Effect } from "effect"
import type { OutboundError } from "../outbound/OutboundError.ts"
import { keysMax } from "./documents/ForeignKeys.ts"
import { asForeign, asList, type Foreign, idOf } from "./documents/ForeignValues.ts"
import { type FetchedDocument, type Implausible, isTemporary, type ObjectFetcher } from "./ObjectFetcher.ts"

/** Maximum key documents fetched for one actor. */
const fetchedMax = 3

/** Returns the URL of a key that an actor only links to, at the actor's origin but outside its document. */
const addressOf = (key: unknown, actor: URL): string | undefined => {
  const url = asForeign(key)?.["publicKeyPem"] === undefined ? URL.parse(idOf(key) ?? "") : null
  return url !== null && url.origin === actor.origin && url.href.split("#")[0] !== actor.href ? url.href : undefined
}

/** Returns the key in a document: the document itself, or a member of an abridged actor. */
const keyIn = (document: Foreign, address: string): Foreign | undefined =>
  [document, ...asList(document["publicKey"])].map(asForeign).find((key) =>
    key?.["publicKeyPem"] !== undefined && idOf(key) === address
  )

/**
 * Returns an actor's document with its linked keys in full; each is fetched from a document of its own. A key that
 * cannot be found stays a link. `known` are documents that were already fetched. `foreignKeys` checks the owner.
 */
export const withKeys = Effect.fnUntraced(function*(
  fetcher: ObjectFetcher["Service"],
  found: FetchedDocument,
  known: ReadonlyArray<FetchedDocument> = []
): Effect.fn.Return<FetchedDocument, OutboundError | Implausible> {
  const listed = asList(found.document["publicKey"]).slice(0, keysMax)
  if (listed.every((key) => addressOf(key, found.id) === undefined)) return found
  let left = fetchedMax
  const keys: Array<unknown> = []
  for (const key of listed) {
    const address = addressOf(key, found.id)
    if (address === undefined || left-- <= 0) {
      keys.push(key)
      continue
    }
    const knownDocument = known.find(({ id }) => id.href === address)
    const keyDocument = knownDocument ?? (yield* Effect.catchIf(
      fetcher.fetch(address),
      (error) => !isTemporary(error),
      () => Effect.succeed(undefined)
    ))
    keys.push((keyDocument && keyIn(keyDocument.document, address)) ?? key)
  }
  return { id: found.id, document: { ...found.document, publicKey: keys } }
})
