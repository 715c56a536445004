import { Effect } from "effect"
import { StatusId } from "../../services/database/Ids.ts"
import { idOf, typeOf } from "../../services/federation/documents/ForeignValues.ts"
import { mayPass, RemotePosts } from "../../services/federation/fetching/RemotePosts.ts"
import { KnownUris } from "../../services/federation/inbox/KnownUris.ts"
import { QuoteConsents } from "../../services/federation/inbox/QuoteConsents.ts"
import { RemoteQuotes } from "../../services/federation/inbox/RemoteQuotes.ts"
import * as LocalIds from "../../services/federation/LocalIds.ts"
import { ObjectFetcher } from "../../services/federation/ObjectFetcher.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { AccountActors } from "../account/core/AccountActors.ts"

/**
 * Verifies quotes of remote posts at their origin: fetches the quoted post and its author's consent. The consent must
 * be on the author's own server and name both posts (row 21). Built once per process.
 */
export const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const fetcher = yield* ObjectFetcher
  const posts = yield* RemotePosts
  const config = yield* ServerConfig
  const knownUris = yield* KnownUris
  const quotes = yield* RemoteQuotes
  const consents = yield* QuoteConsents

  /** Returns true if the consent's document confirms it and is on the author's server. */
  const holds = Effect.fnUntraced(
    function*(
      authorization: string,
      asked: { readonly uri: string; readonly quoted: string; readonly author: string }
    ) {
      if (URL.parse(authorization)?.origin !== URL.parse(asked.author)?.origin) return false
      const { document, id } = yield* fetcher.fetch(authorization)
      return id.href === authorization && typeOf(document, "QuoteAuthorization") !== undefined &&
        idOf(document["attributedTo"]) === asked.author && idOf(document["interactingObject"]) === asked.uri &&
        idOf(document["interactionTarget"]) === asked.quoted
    }
  )

  /** Verifies the consent to a visible quote, which ends if the author's server no longer confirms it. */
  const recheckConsent = Effect.fnUntraced(function*(statusId: bigint) {
    const found = yield* consents.find(statusId)
    if (found === undefined) return
    const { author, authorization, quoted, quotedAuthor, actorPath } = found
    const uri = found.uri ?? LocalIds.note(config, actorPath, statusId)
    const verdict = yield* Effect.catch(
      holds(authorization, { uri, quoted, author: quotedAuthor }),
      (error) => mayPass(error) ? Effect.fail(error) : Effect.succeed(false)
    )
    if (!verdict) yield* actors.tell(author, { _tag: "QuoteEnded", statusId: StatusId.make(statusId), authorization })
  })

  /** Fetches what a new quote refers to. */
  const checkNewQuote = Effect.fnUntraced(function*(statusId: bigint) {
    const first = yield* quotes.waiting(statusId)
    if (first === undefined) return
    const tell = (authorization?: { readonly uri: string; readonly holds: boolean }) =>
      actors.tell(first.author, {
        _tag: "QuoteKnown",
        statusId: StatusId.make(statusId),
        ...(authorization === undefined ? {} : { authorization })
      })
    if (first.missing !== null) {
      // The post may have been delivered in the meantime.
      if ((yield* knownUris.status(first.missing)) === undefined) yield* posts.refresh(first.missing, { asked: true })
      yield* tell()
    }
    const waiting = first.missing === null ? first : yield* quotes.waiting(statusId)
    if (waiting === undefined || waiting.authorization === null) return
    const { authorization, quoted, quotedAuthor: author, uri } = waiting
    if (quoted === null || author === null) return
    const verdict = yield* Effect.catch(
      holds(authorization, { uri, quoted, author }),
      (error) => mayPass(error) ? Effect.fail(error) : Effect.succeed(false)
    )
    yield* tell({ uri: authorization, holds: verdict })
  })

  return { checkNewQuote, recheckConsent }
})
