import { Cause, Effect, Layer } from "effect"
import { HostDocuments, type WantedDocument } from "../../services/federation/HostDocuments.ts"
import { Unreachable } from "../../services/outbound/OutboundError.ts"
import { RemoteDomain } from "./Protocol.ts"

/** How long the actor of a host is waited for, in seconds: longer than any document takes. */
const askSecondsMax = 35

/** Documents by way of the actors of their hosts, wherever these live. */
export const layer = Layer.effect(
  HostDocuments,
  Effect.gen(function*() {
    const clientOf = yield* RemoteDomain.client
    return (wanted: WantedDocument) => {
      const { url } = wanted
      // The next try finds room, or an actor on another node.
      const busy = () => new Unreachable({ url, reason: "busy" })
      return clientOf(URL.parse(url)?.host ?? "").Fetch(wanted).pipe(
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
