import { Effect, Schema } from "effect"
import { type Card, PersistedCard } from "../../cards/Card.ts"
import {
  descriptionCharactersMax,
  imageDescriptionCharactersMax,
  nameCharactersMax,
  titleCharactersMax,
  webUrl
} from "../../cards/CardTexts.ts"
import { frameIn, pixelsOf } from "../../cards/PlayerFrames.ts"
import { linkOf } from "../../cards/StatusLinks.ts"
import { line } from "../../html/TextLine.ts"
import { languageTag } from "../../instance/Languages.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { momentOf } from "../../runtime/Moments.ts"
import type { Step, TextRow } from "../Step.ts"
import { lacksPostHere } from "./ColumnSql.ts"
import * as ReviewSteps from "./ReviewSteps.ts"

const address = (text: string | null | undefined): string => webUrl(text ?? undefined, text ?? "")?.href ?? ""

/** Mastodon's types of cards. A player that this server cannot frame makes the card a link. */
const [photo, video] = ["1", "2"]

const cardOf = (row: TextRow, pageUrl: string): Card => {
  const frame = row["type"] === video
    ? frameIn(row["html"] ?? "", pageUrl, { width: row["width"], height: row["height"] })
    : undefined
  return {
    title: line(row["title"] ?? "", titleCharactersMax),
    description: line(row["description"] ?? "", descriptionCharactersMax),
    language: languageTag(row["language"] ?? "") ?? null,
    type: frame !== undefined ? "video" : row["type"] === photo ? "photo" : "link",
    authorName: line(row["author_name"] ?? "", nameCharactersMax),
    authorUrl: address(row["author_url"]),
    providerName: line(row["provider_name"] ?? "", nameCharactersMax),
    providerUrl: address(row["provider_url"]),
    html: frame?.html ?? "",
    width: pixelsOf(frame?.width ?? row["width"]),
    height: pixelsOf(frame?.height ?? row["height"]),
    embedUrl: address(row["embed_url"]),
    imageDescription: line(row["image_description"] ?? "", imageDescriptionCharactersMax),
    publishedAt: momentOf(row["published_at"]) ?? null
  }
}

const readCard = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))
/** Returns the columns of Mastodon's card as texts. */
const columnsOf = (json: string) =>
  Effect.map(Effect.orDie(readCard(json)), (card): TextRow =>
    Object.fromEntries(
      Object.entries(card).map(([name, value]) => [name, value === null ? null : String(value)])
    ))

/**
 * Reviews of links for trends: they change without their posts, with which the cards are copied. Several of Mastodon's
 * cards may be of one page, as with and without TLS.
 */
export const reviews = Effect.gen(function*() {
  const config = yield* ServerConfig
  const pageKeyOf = (url: string) => linkOf(config, url)?.pageKey
  const reviewed = yield* ReviewSteps.make("preview_cards", "url", pageKeyOf, "page_key")
  return {
    name: "reviews of links",
    table: "preview_cards",
    where: "t.trendable IS NOT NULL",
    columns: "id:bigint url",
    prepared: "page_key trendable:boolean reviewed_at:timestamptz",
    prepare: (rows) => reviewed(rows.map((row) => ({ ...row, ["page_key"]: pageKeyOf(row["url"] ?? "") ?? null }))),
    skips: ["NOT EXISTS (SELECT FROM preview_cards c WHERE c.url_key = staged.page_key)"],
    write: [`UPDATE preview_cards c SET trendable = s.trendable FROM staged s
      WHERE c.url_key = s.page_key AND c.trendable IS DISTINCT FROM s.trendable`],
    // All again: the first post of a page may have come after its review.
    changes: "unseen"
  } satisfies Step
})

/** Preview cards of posts. Their images are fetched when the link is posted again. */
export const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const prepared = Effect.fnUntraced(function*(row: TextRow) {
    const card = yield* columnsOf(row["card"] ?? "{}")
    const [link, posted] = [card["url"], row["posted_url"]].map((url) => linkOf(config, url ?? ""))
    const copied: TextRow = link === undefined ? { ...row, card: null, ["page_key"]: null } : {
      ...row,
      card: null,
      ["card_id"]: card["id"] ?? null,
      ["creator_id"]: card["author_account_id"] ?? null,
      trendable: card["trendable"] ?? null,
      ["card_created_at"]: card["created_at"] ?? null,
      ["card_updated_at"]: card["updated_at"] ?? null,
      ["page_key"]: link.pageKey,
      ["page_url"]: link.pageUrl,
      ["page_host"]: new URL(link.pageUrl).hostname,
      ["shown_url"]: posted?.url ?? link.url,
      site: link.site,
      details: yield* PersistedCard.encode(cardOf(card, link.pageUrl))
    }
    return copied
  })
  return {
    name: "preview cards",
    table: "statuses",
    needs: "preview_cards_statuses",
    // Mastodon shows the last card of a post. Posts are read in order, each with its card: a join of whole tables would be
    // repeated for each batch.
    joins: `JOIN LATERAL (SELECT to_jsonb(c) AS card, to_jsonb(l) ->> 'url' AS posted_url FROM preview_cards_statuses l
      JOIN preview_cards c ON c.id = l.preview_card_id WHERE l.status_id = t.id ORDER BY l.preview_card_id DESC LIMIT 1) x ON true`,
    where: "t.deleted_at IS NULL",
    columns: "id:bigint",
    computed: [["card", "x.card"], ["posted_url", "x.posted_url"]],
    prepared: `page_key page_url page_host shown_url site details card_id:bigint creator_id:bigint trendable:boolean
      card_created_at:timestamptz card_updated_at:timestamptz`,
    prepare: (rows) => Effect.forEach(rows, prepared),
    skips: [lacksPostHere("id")],
    rejects: [["page_key IS NULL", "the link of the preview card is no web address, or leads to this server"]],
    write: [
      `INSERT INTO preview_cards (id, url_key, url, site, fetched_at, details, page_host, creator_id, created_at, trendable)
        SELECT DISTINCT ON (page_key) card_id, page_key, page_url, site, card_updated_at, details::jsonb, page_host,
          (SELECT a.id FROM accounts a WHERE a.id = creator_id), card_created_at, trendable FROM staged ORDER BY page_key, card_id DESC
        ON CONFLICT DO NOTHING`,
      `INSERT INTO status_cards (status_id, card_id, url) SELECT s.id, c.id, s.shown_url FROM staged s
        JOIN preview_cards c ON c.url_key = s.page_key
        ON CONFLICT (status_id) DO UPDATE SET card_id = excluded.card_id, url = excluded.url`
    ],
    changes: true
  } satisfies Step
})
