import { Cause, Effect, Layer } from "effect"
import { HostDocuments, type WantedDocument } from "../../services/federation/HostDocuments.ts"
import { Unreachable } from "../../services/outbound/OutboundError.ts"
import { RemoteDomain } from "./DomainProtocol.ts"

/** Timeout of a host's actor, in seconds: longer than any fetch takes. */
const askSecondsMax = 35

/** Fetches documents through their hosts' actors, on whichever node they run. */
export const layer = Layer.effect(
  HostDocuments,
  Effect.gen(function*() {
    const clientOf = yield* RemoteDomain.client
    return (request: WantedDocument) => {
      const { url } = request
      // A retry may find capacity, or the actor on another node.
      const busy = () => new Unreachable({ url, reason: "busy" })
      return clientOf(URL.parse(url)?.host ?? "").Fetch(request).pipe(
        Effect.catchTags({
          MailboxFull: busy,
          AlreadyProcessingMessage: busy,
          PersistenceError: busy,
          EntityNotAssignedToRunner: busy
        }),
        Effect.catchCauseIf(Cause.hasInterruptsOnly, busy),
        Effect.timeoutOrElse({
          duration: `${askSecondsMax} seconds`,
          orElse: () => new Unreachable({ url, reason: "timeout" })
        })
      )
    }
  })
)
