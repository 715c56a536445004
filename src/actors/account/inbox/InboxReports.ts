import { Effect } from "effect"
import { collectionAt } from "../../../services/discovery/LocalUrls.ts"
import { asText, type Foreign, idOf, idsOf, urlReader } from "../../../services/federation/documents/ForeignValues.ts"
import type { InboundSender } from "../../../services/federation/inbox/InboundSender.ts"
import { KnownUris } from "../../../services/federation/inbox/KnownUris.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { flagCommentCharactersMax, Flags } from "../../../services/moderation/Flags.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import { done, ignored } from "../core/Outcome.ts"
import type { Ownership } from "../core/Ownership.ts"

/**
 * Files reports of another server about a local account, inside a transaction of the signer's actor (S-011, row 20).
 */
export const make = Effect.gen(function*() {
  const flags = yield* Flags
  const intend = yield* IntentWriter.make
  const knownUris = yield* KnownUris
  const config = yield* ServerConfig
  const readUrl = urlReader(config.outboundAllow)

  const flag = Effect.fnUntraced(function*(own: Ownership, self: InboundSender, activity: Foreign) {
    // The id is taken verbatim: ids of one server may differ only in their fragments, as ours do.
    const uri = idOf(activity)
    if (uri === undefined || readUrl(uri)?.origin !== URL.parse(self.uri)?.origin) {
      return yield* ignored("an id of another server")
    }
    const named = idsOf(activity["object"])
    const posts = yield* knownUris.localStatuses(named)
    const [target = posts[0]?.accountId] = yield* knownUris.localAccounts(named)
    if (target === undefined) return yield* ignored("no local recipient")
    const id = yield* flags.file(own.accountId, {
      uri,
      target,
      statusIds: posts.map(({ id }) => id),
      collectionIds: named.flatMap((one) => collectionAt(config, one)?.id ?? []),
      comment: asText(activity["content"], flagCommentCharactersMax) ?? ""
    })
    if (id === undefined) return yield* ignored("already stored, or its server sent too many today")
    yield* intend(own, { _tag: "report", report: id })
    return done
  })
  return { flag }
})
