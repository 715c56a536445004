import { Context, Effect, Layer } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { type Page, respond } from "./Document.ts"
import { html } from "./Html.ts"
import { publicStylePath } from "./PublicStyle.ts"
import { signInPath } from "./SignIn.ts"
import { Visitors } from "./Visitors.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Pages for everybody: a page without scripts and forms, and the pages that stand for one that is not there. */
export class PublicPages extends Context.Service<PublicPages, {
  readonly respond: (page: Pick<Page, "title" | "body" | "status">) => Response
  readonly notFound: Response
  readonly gone: Response
  /** The page, or where it is `closed` to strangers and the visitor has not signed in, one that says so. */
  readonly behind: <E, R>(
    closed: boolean,
    page: Effect.Effect<Response, E, R>
  ) => Effect.Effect<Response, E, R | HttpServerRequest.HttpServerRequest>
}>()("murmuration/http/pages/PublicPages") {
  static readonly layer = Layer.effect(
    PublicPages,
    Effect.gen(function*() {
      const { localDomain: server, mediaProxied, mediaUrl, publicUrl } = yield* ServerConfig
      const origin = new URL(mediaUrl).origin
      const media = [
        "'self'",
        ...(origin === publicUrl ? [] : [origin]),
        // Files of remote accounts are anywhere then.
        ...(mediaProxied ? [] : ["https:"])
      ].join(" ")
      const visitors = yield* Visitors
      const show = (page: Pick<Page, "title" | "body" | "status">) =>
        respond({
          ...page,
          server,
          style: publicStylePath,
          media
        })

      /** Who signs in comes back to the page at `url`. */
      const closedPage = (url: string) =>
        show({
          title: "This is for members",
          status: 401,
          body: html`<p>This server shows it to people who have an account here.
<a href="${signInPath}?${new URLSearchParams([["return_to", url]])}">Sign in</a></p>`
        })
      return PublicPages.of({
        respond: show,
        notFound: show({
          title: "There is nothing here",
          status: 404,
          body:
            html`<p>What was here is gone, never was, or is not for everybody. <a href="/">To the front page</a></p>`
        }),
        gone: show({
          title: "This account is gone",
          status: 410,
          body: html`<p>It was suspended or deleted. <a href="/">To the front page</a></p>`
        }),
        behind: (closed, page) =>
          closed
            ? Effect.flatMap(
              Effect.all([visitors.current, HttpServerRequest.HttpServerRequest]),
              ([{ session }, { url }]) => session === undefined ? Effect.succeed(closedPage(url)) : page
            )
            : page
      })
    })
  ).pipe(Layer.provide(Visitors.layer))
}
