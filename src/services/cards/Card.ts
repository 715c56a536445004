import { Schema } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { persisted } from "../Persisted.ts"

/** What is shown of a page; everything in it was checked and cut to size. Texts are plain, "" where there is none. */
export const Card = Schema.Struct({
  title: Schema.String,
  description: Schema.String,
  language: Schema.NullOr(Schema.String),
  type: Schema.Literals(["link", "photo", "video"]),
  authorName: Schema.String,
  authorUrl: Schema.String,
  providerName: Schema.String,
  providerUrl: Schema.String,
  /** A frame of the page's own site, made by `playerFrame`; "" where there is nothing to play. */
  html: Schema.String,
  /** Pixels of the picture or the player; 0 where they are unknown. */
  width: Schema.Int,
  height: Schema.Int,
  embedUrl: Schema.String,
  imageDescription: Schema.String,
  /** Milliseconds since 1970. */
  publishedAt: Schema.NullOr(Schema.Number)
})
export type Card = typeof Card.Type

/** `preview_cards.details` */
export const PersistedCard = persisted(Card, 1)

/** The card of a status as it is stored. */
export const CardRecord = Schema.Struct({
  /** Decimal strings. */
  id: Schema.String,
  /** The account that the page names as its author. */
  creatorId: Schema.NullOr(Schema.String),
  /** That account says that the page's host names it rightly. */
  attributed: Schema.Boolean,
  /** The address as the status has it. */
  url: Schema.String,
  /** Null as long as there is nothing to show. */
  card: Schema.NullOr(Card),
  imageName: Schema.NullOr(Schema.String),
  blurhash: Schema.NullOr(Schema.String)
})
export type CardRecord = typeof CardRecord.Type

/** The record of a card `c` and the account `k` that it names, as JSON; `url` is the address that is shown, an expression. */
export const cardRecord = (sql: SqlClient, url: string): Fragment =>
  sql.literal(`json_build_object('id', c.id::text, 'url', ${url}, 'card', c.details, 'imageName', c.image_name,
    'blurhash', c.blurhash, 'creatorId', k.id::text, 'attributed', EXISTS (
      SELECT FROM unnest(k.attribution_domains) d WHERE domain_key(c.page_host) = domain_key(d)
        OR starts_with(domain_key(c.page_host), domain_key(d) || '.')))`)

/** Joins to cards `c` the account `k` that each names as its author. */
export const cardCreator = (sql: SqlClient): Fragment =>
  sql.literal("LEFT JOIN accounts k ON k.id = c.creator_id AND k.suspended_at IS NULL")
