import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { addressesInHtml, addressesInText, collectionsAmong, firstLink, type StatusLink } from "../cards/StatusLinks.ts"
import { rowsOf } from "../database/Rows.ts"
import { type Meaning, type Mentioned, paragraphs } from "../html/Compose.ts"
import { normalise } from "../html/HashtagNames.ts"
import { markdown, markdownTokens } from "../html/Markdown.ts"
import { handle, tokens } from "../html/TextTokens.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import { traced } from "../runtime/Traced.ts"
import { bounded } from "../text/BoundedText.ts"
import type { ContentType } from "./StoredStatus.ts"

/** Maximum mentions and hashtags of a text; further ones stay plain text. */
const mentionsMax = 50
const hashtagsMax = 50

/** A rendered text: HTML, mentioned accounts, hashtags and links. */
export interface Draft {
  readonly html: string
  readonly mentionIds: ReadonlyArray<bigint>
  /** `name` is normalised, `displayName` is as first written. */
  readonly tags: ReadonlyArray<{ readonly name: string; readonly displayName: string }>
  readonly link: StatusLink | undefined
  /** URLs that may be of collections of accounts. */
  readonly collections: ReadonlyArray<string>
}

/** Account of a handle. */
export const NamedAccount = Schema.Struct({
  id: Schema.BigInt,
  username: Schema.String,
  domain: Schema.NullOr(Schema.String),
  url: Schema.NullOr(Schema.String)
})
export type NamedAccount = typeof NamedAccount.Type
const namedRows = rowsOf(NamedAccount)

/** Query for the accounts of handles, by `TextTokens.handle`; unknown ones are omitted. */
export const namedQuery = (sql: SqlClient.SqlClient, handles: ReadonlySet<string>) =>
  sql`SELECT id, username, domain, url FROM accounts
    WHERE (lower(username), lower(coalesce(domain, ''))) IN (
      SELECT split_part(h, '@', 1), split_part(h, '@', 2) FROM unnest(${[...handles]}::text[]) h)
    AND suspended_at IS NULL`
export const namedBy = (sql: SqlClient.SqlClient, handles: ReadonlySet<string>) => namedRows(namedQuery(sql, handles))

/** Names in a text: handles by `TextTokens.handle`, and hashtags. */
export type DraftNames = { readonly handles: ReadonlySet<string> } & Pick<Draft, "tags">

/** Tokeniser and renderer by content type. */
const tokensIn = { "text/plain": tokens, "text/markdown": markdownTokens }
const htmlOf = { "text/plain": paragraphs, "text/markdown": markdown }

/** Renders the texts of posts and profiles. */
export class Drafts extends Context.Service<Drafts, {
  readonly names: (text: string, contentType?: ContentType) => DraftNames
  /** Renders a text with its `names`, and the accounts of its handles in `named`. */
  readonly write: (
    text: string,
    names: DraftNames,
    named: ReadonlyArray<NamedAccount>,
    contentType?: ContentType
  ) => Draft
  /** Like `write`, but queries the accounts. */
  readonly compose: (text: string, contentType: ContentType) => Effect.Effect<Draft, SqlError>
  /** Returns the mentions and hashtags of a text, also for biographies and fields. */
  readonly meaning: (text: string) => Effect.Effect<Meaning & { readonly ids: ReadonlyArray<bigint> }, SqlError>
}>()("murmuration/services/statuses/Drafts") {
  static readonly layer = Layer.effect(
    Drafts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const tagUrl = (name: string) => Urls.tag(config, normalise(bounded(name)))

      const names = (text: string, contentType: ContentType = "text/plain"): DraftNames => {
        const handles = new Set<string>()
        const tags = new Map<string, string>()
        for (const token of tokensIn[contentType](text)) {
          if (token.kind === "mention" && handles.size < mentionsMax) {
            const domain = token.domain?.toLowerCase() === config.localDomain ? undefined : token.domain
            handles.add(handle(token.username, domain))
          } else if (token.kind === "hashtag" && tags.size < hashtagsMax) {
            const name = normalise(bounded(token.name))
            if (name !== "" && !tags.has(name)) tags.set(name, token.name)
          }
        }
        return { handles, tags: [...tags].map(([name, displayName]) => ({ name, displayName })) }
      }

      const meaningOf = (named: ReadonlyArray<NamedAccount>) => {
        const mentions = new Map<string, Mentioned>()
        for (const { domain, url, username } of named) {
          const known = { username, acct: Urls.acct({ username, domain }), url: url ?? Urls.profile(config, username) }
          mentions.set(handle(username, domain ?? undefined), known)
          if (domain === null) mentions.set(handle(username, config.localDomain), known)
        }
        return { mentions, tagUrl, ids: named.map(({ id }) => id) }
      }

      const write = (
        text: string,
        { tags }: DraftNames,
        named: ReadonlyArray<NamedAccount>,
        contentType: ContentType = "text/plain"
      ): Draft => {
        const found = meaningOf(named)
        const html = htmlOf[contentType](text, found)
        const addresses = contentType === "text/plain" ? addressesInText(text) : addressesInHtml(html)
        return {
          html,
          mentionIds: found.ids,
          tags,
          link: firstLink(config, addresses),
          collections: collectionsAmong(addresses)
        }
      }

      const find = ({ handles }: DraftNames): Effect.Effect<ReadonlyArray<NamedAccount>, SqlError> =>
        handles.size === 0 ? Effect.succeed([]) : namedBy(sql, handles)
      const meaning = traced("Drafts.meaning")((text: string) => Effect.map(find(names(text)), meaningOf))
      const compose = traced("Drafts.compose")((text: string, contentType: ContentType) => {
        const draftNames = names(text, contentType)
        return Effect.map(find(draftNames), (named) => write(text, draftNames, named, contentType))
      })
      return Drafts.of({ names, write, compose, meaning })
    })
  )
}
