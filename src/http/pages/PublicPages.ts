import { Context, Effect, Layer } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { ExpensiveReads } from "../guard/ExpensiveReads.ts"
import * as Reply from "../guard/Reply.ts"
import { html } from "../html/Html.ts"
import { type Page, respond } from "../html/HtmlPage.ts"
import { mediaSources } from "../html/MediaSources.ts"
import { signInPath } from "../html/PagePaths.ts"
import { type PageReader, Visitors } from "../html/Visitors.ts"
import { publicStylePath } from "./PublicStyle.ts"

type Response = HttpServerResponse.HttpServerResponse

type Shown = Pick<Page, "words" | "title" | "body" | "status" | "embedding" | "framed">

/** Public pages without scripts, and the pages for missing ones. */
export class PublicPages extends Context.Service<PublicPages, {
  readonly respond: (page: Shown) => Response
  readonly reader: Effect.Effect<PageReader, never, HttpServerRequest.HttpServerRequest>
  readonly notFound: Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest>
  readonly gone: Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest>
  /**
   * Serves a page within the limit of expensive reads. If it is `closed` to strangers and the visitor is not signed in,
   * a page says so instead.
   */
  readonly guarded: <E, R>(
    closed: boolean,
    page: Effect.Effect<Response, E, R>
  ) => Effect.Effect<Response, E, R | HttpServerRequest.HttpServerRequest>
}>()("murmuration/http/pages/PublicPages") {
  static readonly layer = Layer.effect(
    PublicPages,
    Effect.gen(function*() {
      const config = yield* ServerConfig
      const server = config.localDomain
      const media = mediaSources(config)
      const places = yield* ExpensiveReads
      const visitors = yield* Visitors
      const show = (page: Shown) =>
        respond({
          ...page,
          server,
          style: publicStylePath,
          media
        })

      /** Renders the page for members only; signing in leads back to `url`. */
      const closedPage = ({ way, words: { say }, words }: PageReader, url: string) =>
        show({
          words,
          title: say("Members only"),
          status: 401,
          body: html`<p>${say("This page is only visible to people with an account on this server.")}
<a href="${way(`${signInPath}?${new URLSearchParams([["return_to", url]])}`)}">${say("Sign in")}</a></p>`
        })
      return PublicPages.of({
        respond: show,
        reader: visitors.reader,
        notFound: Effect.map(visitors.reader, ({ way, words: { say }, words }) =>
          show({
            words,
            title: say("Page not found"),
            status: 404,
            body: html`<p>${say("This page does not exist any more, never existed, or is not public.")}
<a href="${way("/")}">${say("Back to the front page")}</a></p>`
          })),
        gone: Effect.map(visitors.reader, ({ way, words: { say }, words }) =>
          show({
            words,
            title: say("This account is no longer available"),
            status: 410,
            body: html`<p>${say("The account was suspended or deleted.")} <a href="${way("/")}">${
              say("Back to the front page")
            }</a></p>`
          })),
        guarded: (closed, page) => {
          const placed = Effect.catchTag(places.within(page), "Unavailable", () => Reply.unavailable)
          return closed
            ? Effect.flatMap(
              Effect.all([visitors.current, HttpServerRequest.HttpServerRequest]),
              ([visitor, { url }]) => visitor.session === undefined ? Effect.succeed(closedPage(visitor, url)) : placed
            )
            : placed
        }
      })
    })
  ).pipe(Layer.provide([Visitors.layer, ExpensiveReads.layer]))
}
