import type { CardRecord } from "../../services/cards/Card.ts"
import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"
import type { Account } from "../wire/Account.ts"
import { timestamp } from "../wire/Common.ts"
import { type JsonOf, none } from "../wire/Keys.ts"
import type { PreviewCard } from "../wire/PreviewCard.ts"
import { assembleCard, openCard } from "../wire/StatusJson.ts"

/** A status's preview card as it is cached. */
export interface PreparedCard {
  readonly id: bigint
  /** Result of `openCard`; undefined while there is nothing to show. */
  readonly body: string | undefined
  readonly author: { readonly name: string; readonly url: string } | undefined
  /** The account that the page names as its author; `attributed` is true if the account confirms it. */
  readonly creatorId: bigint | undefined
  readonly attributed: boolean
}

export const prepareCard = (config: ServerConfig["Service"], record: CardRecord): PreparedCard => {
  const { attributed, blurhash, card, imageName, url } = record
  const id = BigInt(record.id)
  const creatorId = record.creatorId === null ? undefined : BigInt(record.creatorId)
  if (card === null) return { id, body: undefined, author: undefined, creatorId, attributed }
  const { authorName, authorUrl, publishedAt, ...rest } = card
  const named = authorName !== "" || authorUrl !== "" || (attributed && creatorId !== undefined)
  return {
    id,
    body: openCard({
      ...rest,
      url,
      authorName,
      authorUrl,
      image: imageName === null ? null : Urls.file(config, imageName),
      blurhash,
      publishedAt: publishedAt === null ? null : timestamp(new Date(publishedAt))
    }),
    author: named ? { name: authorName, url: authorUrl } : undefined,
    creatorId,
    attributed
  }
}

/** Returns the account whose JSON is in the card. */
export const creatorOf = (card: PreparedCard | undefined): bigint | undefined =>
  card?.attributed === true && card.body !== undefined ? card.creatorId : undefined

/** Renders a card for a viewer who may see its status; undefined if there is nothing to show. */
export const composeCard = (
  viewer: Viewer,
  card: PreparedCard | undefined,
  accounts: ReadonlyMap<bigint, JsonOf<Account>>
): JsonOf<PreviewCard> | undefined => {
  if (card?.body === undefined) return undefined
  const creator = creatorOf(card)
  const account = creator === undefined ? undefined : accounts.get(creator)
  const missing = viewer === undefined ? undefined : card.creatorId === viewer && !card.attributed
  return assembleCard(card.body, card.author, account ?? none, missing)
}
