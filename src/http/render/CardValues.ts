import type { CardRecord } from "../../services/cards/Card.ts"
import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"
import type { Viewer } from "../../services/Viewer.ts"
import type { Account } from "../wire/Account.ts"
import { timestamp } from "../wire/Common.ts"
import { none, type Ready } from "../wire/Keys.ts"
import type { PreviewCard } from "../wire/PreviewCard.ts"
import { assembleCard, openCard } from "../wire/StatusJson.ts"

/** The card of a status as it is kept ready. */
export interface ReadyCard {
  readonly id: bigint
  /** As `openCard` makes it; undefined as long as there is nothing to show. */
  readonly body: string | undefined
  readonly author: { readonly name: string; readonly url: string } | undefined
  /** The account that the page names as its author, and whether that account says the same. */
  readonly creatorId: bigint | undefined
  readonly attributed: boolean
}

export const readyCard = (config: ServerConfig["Service"], record: CardRecord): ReadyCard => {
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

/** The accounts whose JSON a card holds. */
export const creatorOf = (card: ReadyCard | undefined): bigint | undefined =>
  card?.attributed === true && card.body !== undefined ? card.creatorId : undefined

/** A card for somebody who may see its status; undefined where there is nothing to show. */
export const composeCard = (
  viewer: Viewer,
  card: ReadyCard | undefined,
  accounts: ReadonlyMap<bigint, Ready<Account>>
): Ready<PreviewCard> | undefined => {
  if (card?.body === undefined) return undefined
  const creator = creatorOf(card)
  const account = creator === undefined ? undefined : accounts.get(creator)
  const missing = viewer === undefined ? undefined : card.creatorId === viewer && !card.attributed
  return assembleCard(card.body, card.author, account ?? none, missing)
}
