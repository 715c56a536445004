import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Changes } from "../../../services/caching/Changes.ts"
import { single } from "../../../services/caching/Single.ts"
import { parseId } from "../../../services/database/Ids.ts"
import { IndexableAccounts } from "../../../services/identity/IndexableAccounts.ts"
import { InstancePolicies } from "../../../services/instance/InstancePolicies.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import * as Urls from "../../../services/instance/Urls.ts"
import * as Reply from "../../guard/Reply.ts"
import { html } from "../../html/Html.ts"

/** Accounts in a part of the sitemap. */
const partRows = 5_000
/** Lifetime of the cached list of parts, in milliseconds. */
const partsMillisMax = 600_000
/** Time for which crawlers may keep these files, in seconds. */
const cacheSeconds = 3_600

/** Paths that are of no use to search engines: acts, files of other servers, and pages of one visitor. */
const disallowedPaths = [
  "/api/",
  "/auth/",
  "/oauth/",
  "/settings/",
  "/media_proxy/",
  "/interact",
  "/authorize_interaction"
]

const headers = { "cache-control": `public, max-age=${cacheSeconds}`, "x-content-type-options": "nosniff" }
const xml = (body: unknown) =>
  HttpServerResponse.text(`<?xml version="1.0" encoding="UTF-8"?>\n${String(body)}\n`, {
    contentType: "application/xml; charset=utf-8",
    headers
  })

const schema = "http://www.sitemaps.org/schemas/sitemap/0.9"

const make = Effect.gen(function*() {
  const accounts = yield* IndexableAccounts
  const config = yield* ServerConfig
  const policies = yield* InstancePolicies
  const map = `${config.publicUrl}/sitemap.xml`

  const robots = Effect.map(policies.current, ({ blockedCrawlers }) => {
    const blocked = blockedCrawlers.map((agent) => `User-agent: ${agent}\nDisallow: /\n`)
    const everybody = config.limitedFederation
      ? "User-agent: *\nDisallow: /\n"
      : `User-agent: *\n${disallowedPaths.map((path) => `Disallow: ${path}\n`).join("")}\nSitemap: ${map}\n`
    return HttpServerResponse.text([...blocked, everybody].join("\n"), {
      contentType: "text/plain; charset=utf-8",
      headers
    })
  })

  const parts = yield* single(
    { kinds: [], millisMax: partsMillisMax },
    Effect.map(accounts.parts(partRows), (ids) =>
      xml(
        html`<sitemapindex xmlns="${schema}">${
          ids.map((after) =>
            html`<sitemap><loc>${`${map}?${new URLSearchParams({ after: String(after) })}`}</loc></sitemap>`
          )
        }</sitemapindex>`
      ))
  )

  const part = (after: bigint) =>
    Effect.map(accounts.page(after, partRows), (found) =>
      xml(
        html`<urlset xmlns="${schema}">${
          found.map(({ lastStatusAt, username }) =>
            html`<url><loc>${Urls.profile(config, username)}</loc>${
              lastStatusAt === null ? "" : html`<lastmod>${lastStatusAt.toISOString()}</lastmod>`
            }</url>`
          )
        }</urlset>`
      ))

  const sitemap = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => {
    const given = new URLSearchParams(url.split("?")[1] ?? "").get("after")
    const after = parseId(given)
    if (config.limitedFederation || given !== null && after === undefined) {
      return Effect.succeed(Reply.plainError(404, "Not Found"))
    }
    return after === undefined ? parts : part(after)
  })

  return Layer.mergeAll(
    HttpRouter.add("GET", "/robots.txt", robots),
    HttpRouter.add("GET", "/sitemap.xml", sitemap)
  )
})

/** Files for crawlers: `/robots.txt`, by the agents that staff block, and a sitemap of the profiles that want it. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([Changes.layer, IndexableAccounts.layer]))
