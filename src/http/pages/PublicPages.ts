import { Context, Effect, Layer } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { ExpensiveReads } from "../guard/ExpensiveReads.ts"
import * as Reply from "../guard/Reply.ts"
import { html } from "../html/Html.ts"
import { respond } from "../html/HtmlPage.ts"
import { mediaSources } from "../html/MediaSources.ts"
import { signInTo } from "../html/PagePaths.ts"
import { PublicFrame, type PublicPage } from "../html/PublicFrame.ts"
import { type PageReader, Visitors } from "../html/Visitors.ts"
import { publicStylePath } from "./PublicStyle.ts"

type Response = HttpServerResponse.HttpServerResponse

type Request = HttpServerRequest.HttpServerRequest
type Shown = Omit<PublicPage, "style">

/** Public pages in the frame of the web client, and the pages for missing ones. */
export class PublicPages extends Context.Service<PublicPages, {
  readonly respond: (page: Shown) => Effect.Effect<Response, never, Request>
  /** Renders a page without navigation that any site may show in a frame. */
  readonly embed: (page: Shown) => Effect.Effect<Response, never, Request>
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
      const frame = yield* PublicFrame
      const media = mediaSources(config)
      const places = yield* ExpensiveReads
      const visitors = yield* Visitors
      const show = (page: Shown) => frame.respond({ ...page, style: publicStylePath })

      /** Renders the page for members only; signing in leads back to `url`. */
      const closedPage = ({ way, words: { say }, words }: PageReader, url: string) =>
        show({
          words,
          title: say("Members only"),
          status: 401,
          body: html`<p>${say("This page is only visible to people with an account on this server.")}
<a href="${way(signInTo(url))}">${say("Sign in")}</a></p>`
        })
      return PublicPages.of({
        respond: show,
        embed: (page) =>
          Effect.map(
            visitors.reader,
            ({ server }) => respond({ ...page, server, style: publicStylePath, media, framed: true })
          ),
        reader: visitors.reader,
        notFound: Effect.flatMap(visitors.reader, ({ way, words: { say }, words }) =>
          show({
            words,
            title: say("Page not found"),
            status: 404,
            body: html`<p>${say("This page does not exist any more, never existed, or is not public.")}
<a href="${way("/")}">${say("Back to the front page")}</a></p>`
          })),
        gone: Effect.flatMap(visitors.reader, ({ way, words: { say }, words }) =>
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
              ([visitor, { url }]) => visitor.session === undefined ? closedPage(visitor, url) : placed
            )
            : placed
        }
      })
    })
  ).pipe(Layer.provide([Visitors.layer, ExpensiveReads.layer]))
}
