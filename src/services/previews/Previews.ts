import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Cards, type ClaimedCard } from "../cards/Cards.ts"
import { StoredFiles } from "../media/StoredFiles.ts"
import { briefCause } from "../outbound/BriefCause.ts"
import type { OutboundError } from "../outbound/OutboundError.ts"
import { continued } from "../runtime/TraceParents.ts"
import { CardPictures } from "./CardPictures.ts"
import { Creators } from "./Creators.ts"
import { Pages } from "./LinkedPages.ts"

/** Timeout of a page with its image and embed, in seconds; less than the lease of a claim. */
const previewSecondsMax = 75

/** Creates preview cards. */
export class Previews extends Context.Service<Previews, {
  /** Fetches a claimed page and stores the result. */
  readonly make: (claimed: ClaimedCard) => Effect.Effect<void, SqlError>
}>()("murmuration/services/previews/Previews") {
  static readonly layerNoDeps = Layer.effect(
    Previews,
    Effect.gen(function*() {
      const cards = yield* Cards
      const creators = yield* Creators
      const files = yield* StoredFiles
      const pages = yield* Pages
      const pictures = yield* CardPictures

      /** Fetches the image; undefined on failure, as it is optional. */
      const pictureAt = (url: string | undefined) =>
        url === undefined ? Effect.succeed(undefined) : pictures.fetch(url).pipe(
          Effect.catchCause((cause) =>
            Effect.as(Effect.logDebug("the image of a preview card was not fetched", briefCause(cause)), undefined)
          )
        )

      const fetched = Effect.fnUntraced(function*(claimed: ClaimedCard) {
        const { found, url } = yield* pages.read(claimed.url)
        if (found === undefined) return yield* cards.fail(claimed)
        const { card, creator, imageUrl } = found
        const [picture, creatorId] = yield* Effect.all([
          pictureAt(imageUrl),
          creator === undefined ? Effect.succeed(undefined) : creators.find(creator)
        ], { concurrency: 2 })
        // Photos and players have sizes of their own.
        const sized = picture === undefined || card.type !== "link"
          ? card
          : { ...card, width: picture.width, height: picture.height }
        const unheld = yield* cards.complete(claimed, {
          card: sized,
          pageHost: URL.parse(url)?.hostname ?? "",
          creatorId,
          imageUrl,
          picture
        }).pipe(Effect.onError(() => files.discard(picture === undefined ? [] : [picture.name])))
        yield* files.discard(unheld)
      })

      const waitOf = (error: OutboundError) =>
        error._tag === "ErrorResponse" ? (error.retryAfterSeconds ?? 0) * 1_000 : 0

      const make = (claimed: ClaimedCard) =>
        fetched(claimed).pipe(
          Effect.timeout(`${previewSecondsMax} seconds`),
          Effect.catchTags({
            TimeoutError: () => cards.retry(claimed),
            Unreachable: () => cards.retry(claimed),
            ErrorResponse: (error) =>
              error.status >= 500 || error.status === 429 || error.status === 408
                ? cards.retry(claimed, waitOf(error))
                : cards.fail(claimed),
            Refused: () => cards.fail(claimed)
          }),
          continued("Previews.make", claimed.traceParent, { tries: claimed.tries })
        )
      return Previews.of({ make })
    })
  )
}
