import { Effect } from "effect"
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
import type { Step, TextRow } from "../Step.ts"
import { lacksPostHere } from "./Values.ts"

const address = (text: string | null | undefined): string => webUrl(text ?? undefined, text ?? "")?.href ?? ""

/** Mastodon's types of cards. A player that this server cannot frame makes the card a link. */
const [photo, video] = ["1", "2"]

const cardOf = (row: TextRow, pageUrl: string): Card => {
  const frame = row["type"] === video
    ? frameIn(row["html"] ?? "", pageUrl, { width: row["width"], height: row["height"] })
    : undefined
  const published = Date.parse(`${row["published_at"] ?? ""}Z`)
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
    publishedAt: Number.isFinite(published) ? published : null
  }
}

const ofCard = (column: string) => `to_jsonb(c) ->> '${column}'`

/** Preview cards of posts. Their images are fetched when the link is posted again. */
export const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const prepared = Effect.fnUntraced(function*(row: TextRow) {
    const [link, posted] = [row["card_url"], row["posted_url"]].map((url) => linkOf(config, url ?? ""))
    const made: TextRow = link === undefined ? { ...row, ["page_key"]: null } : {
      ...row,
      ["page_key"]: link.pageKey,
      ["page_url"]: link.pageUrl,
      ["page_host"]: new URL(link.pageUrl).hostname,
      ["shown_url"]: posted?.url ?? link.url,
      site: link.site,
      details: yield* PersistedCard.encode(cardOf(row, link.pageUrl))
    }
    return made
  })
  return {
    name: "preview cards",
    table: "statuses",
    needs: "preview_cards_statuses",
    joins: "JOIN preview_cards_statuses x ON x.status_id = t.id JOIN preview_cards c ON c.id = x.preview_card_id",
    // Of several cards of a post, the last one is shown.
    where: `t.deleted_at IS NULL AND x.preview_card_id = (
      SELECT max(y.preview_card_id) FROM preview_cards_statuses y WHERE y.status_id = t.id)`,
    columns: "id:bigint",
    computed: [
      ["card_id:bigint", "c.id"],
      ["card_url", "c.url"],
      ["posted_url", "to_jsonb(x) ->> 'url'"],
      ...[
        "title",
        "description",
        "language",
        "type",
        "html",
        "author_name",
        "author_url",
        "provider_name",
        "provider_url",
        "width",
        "height",
        "embed_url",
        "image_description",
        "published_at"
      ].map((name) => [name, ofCard(name)] as const),
      ["trendable:boolean", ofCard("trendable")],
      ["creator_id:bigint", ofCard("author_account_id")],
      ["card_created_at:timestamptz", "c.created_at"],
      ["card_updated_at:timestamptz", "c.updated_at"]
    ],
    prepared: "page_key page_url page_host shown_url site details",
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
