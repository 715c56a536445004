import { html } from "../../html/Html.ts"
import type { JsonFeed } from "../../wire/JsonFeed.ts"
import { json } from "../../wire/Keys.ts"
import type { Feed } from "./Feed.ts"

/** Characters that XML 1.0 (section 2.2) does not allow, even escaped. */
const notXml = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu

const document = (body: ReturnType<typeof html>): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${String(body).replace(notXml, "")}\n`

/** RSS 2.0, with paging (RFC 5005) and files as enclosures and Media RSS. */
const rss = ({ description, home, icon, items, next, self, title, updated }: Feed): string =>
  document(
    html`<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
<title>${title}</title>
<description>${description}</description>
<link>${home}</link>
<atom:link rel="self" type="application/rss+xml" href="${self}"/>
${next === undefined ? "" : html`<atom:link rel="next" type="application/rss+xml" href="${next}"/>`}
${icon === undefined ? "" : html`<image><url>${icon}</url><title>${title}</title><link>${home}</link></image>`}
<lastBuildDate>${updated.toUTCString()}</lastBuildDate>
${
      items.map((item) =>
        html`<item>
<guid isPermaLink="false">${item.id}</guid>
<link>${item.url}</link>
<title>${item.title}</title>
<dc:creator>${item.author.name}</dc:creator>
<pubDate>${item.published.toUTCString()}</pubDate>
<description>${item.content}</description>
${item.files.slice(0, 1).map(({ type, url }) => html`<enclosure url="${url}" type="${type}" length="0"/>`)}
${
          item.files.map(({ title, type, url }) =>
            html`<media:content url="${url}" type="${type}"><media:description type="plain">${title}</media:description></media:content>`
          )
        }
${item.tags.map((tag) => html`<category>${tag}</category>`)}
</item>
`
      )
    }</channel></rss>`
  )

/** Atom (RFC 4287), with paging (RFC 5005). */
const atom = ({ description, home, icon, items, next, self, title, updated }: Feed): string =>
  document(
    html`<feed xmlns="http://www.w3.org/2005/Atom">
<id>${home}</id>
<title>${title}</title>
<subtitle>${description}</subtitle>
<updated>${updated.toISOString()}</updated>
<link rel="alternate" type="text/html" href="${home}"/>
<link rel="self" type="application/atom+xml" href="${self}"/>
${next === undefined ? "" : html`<link rel="next" type="application/atom+xml" href="${next}"/>`}
${icon === undefined ? "" : html`<icon>${icon}</icon>`}
${
      items.map((item) =>
        html`<entry>
<id>${item.id}</id>
<link rel="alternate" type="text/html" href="${item.url}"/>
<title>${item.title}</title>
<author><name>${item.author.name}</name><uri>${item.author.url}</uri></author>
<published>${item.published.toISOString()}</published>
<updated>${item.modified.toISOString()}</updated>
<content type="html">${item.content}</content>
${item.files.map(({ title, type, url }) => html`<link rel="enclosure" type="${type}" href="${url}" title="${title}"/>`)}
${item.tags.map((tag) => html`<category term="${tag}"/>`)}
</entry>
`
      )
    }</feed>`
  )

/** JSON Feed 1.1. */
const jsonFeed = ({ description, home, icon, items, next, self, title }: Feed): string =>
  json<JsonFeed>({
    version: "https://jsonfeed.org/version/1.1",
    title,
    description,
    homePageUrl: home,
    feedUrl: self,
    ...(next !== undefined && { nextUrl: next }),
    ...(icon !== undefined && { icon }),
    items: items.map((item) => ({
      id: item.id,
      url: item.url,
      title: item.title,
      contentHtml: item.content,
      datePublished: item.published.toISOString(),
      dateModified: item.modified.toISOString(),
      authors: [item.author],
      tags: item.tags,
      attachments: item.files.map(({ title, type, url }) => ({ url, mimeType: type, title }))
    }))
  })

export type Format = "rss" | "atom" | "json"

/** Media type and text of each format. */
export const formats: { readonly [Name in Format]: { readonly type: string; readonly write: (feed: Feed) => string } } =
  {
    rss: { type: "application/rss+xml", write: rss },
    atom: { type: "application/atom+xml", write: atom },
    json: { type: "application/feed+json", write: jsonFeed }
  }

const names: ReadonlyArray<Format> = ["rss", "atom", "json"]

/** Path of the feed of a page of a profile or hashtag. */
export const feedPath = (page: string, format: Format): string => `${page}/feed.${format}`

/** Renders the links by which browsers and readers find the feeds of a page. */
export const feedLinks = (page: string, title: string) =>
  html`${
    names.map((format) =>
      html`<link rel="alternate" type="${formats[format].type}" title="${title}" href="${feedPath(page, format)}">
`
    )
  }`

/** Calls `route` for each format. */
export const eachFormat = <A>(route: (format: Format) => A): ReadonlyArray<A> => names.map(route)
