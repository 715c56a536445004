import { Context, Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { everything, Notifications } from "../../../services/feeds/Notifications.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { type Html, html } from "../../html/Html.ts"
import { hasSecrets, noTransformHeaders, respond } from "../../html/HtmlPage.ts"
import { mediaSources } from "../../html/MediaSources.ts"
import { MemberFrame } from "../../html/MemberFrame.ts"
import { PublicFrame } from "../../html/PublicFrame.ts"
import { type Visitor, Visitors } from "../../html/Visitors.ts"
import { inSettings } from "../settings/SettingsNavigation.ts"
import { ClientScripts, memberScripts } from "./ClientScripts.ts"
import { documentOf } from "./Document.ts"
import { unreadMax } from "./Navigation.ts"
import { pageHeaders } from "./PageHeaders.ts"
import type { View, Visit } from "./Visit.ts"
import { visitOf } from "./Visiting.ts"

const make = Effect.gen(function*() {
  const config = yield* ServerConfig
  const notifications = yield* Notifications
  const scripts = yield* ClientScripts
  const visitors = yield* Visitors
  const media = mediaSources(config)

  /** Renders a view in the frame of the web; the response is for this visitor alone. */
  const framed = Effect.fnUntraced(function*(
    visit: Visit,
    view: View,
    more?: { readonly secret: boolean; readonly scripts: Html }
  ) {
    const { session } = visit
    const status = view.status ?? 200
    const text = documentOf({
      visit,
      view,
      unread: session === undefined ? 0 : yield* notifications.unread(session.accountId, everything, unreadMax),
      scripts: html`${scripts.tags(session === undefined ? [] : memberScripts)}${more?.scripts ?? ""}`,
      above: html``
    })
    const isSecret = more?.secret === true || hasSecrets(text)
    return HttpServerResponse.text(text, {
      status,
      contentType: "text/html; charset=utf-8",
      headers: {
        ...pageHeaders(visit, status, media),
        "cache-control": "private, no-store",
        ...(isSecret ? noTransformHeaders : {})
      }
    })
  })

  const member = MemberFrame.of({
    respond: (visitor, path, page) => {
      const { formToken, session } = visitor
      if (session === undefined) return Effect.succeed(visitor.remember(respond({ ...page, server: visitor.server })))
      const visit: Visit = {
        reader: visitor,
        viewer: session.accountId,
        session,
        translates: false,
        formToken,
        pathAndQuery: path,
        path,
        query: new URLSearchParams(),
        params: {}
      }
      const { status = 200 } = page
      const view = { title: page.title, ...inSettings(visit, page.body), status }
      const modules = page.modules?.map((module) => html`<script type="module" src="${module}"></script>`)
      return Effect.map(
        framed(visit, view, {
          secret: page.secret === true,
          scripts: html`${modules ?? ""}`
        }),
        visitor.remember
      )
    }
  })

  const withWords = (visitor: Visitor, words: Visitor["words"]): Visitor => ({ ...visitor, words })

  const open = PublicFrame.of({
    respond: Effect.fnUntraced(function*({ body, embedding, status = 200, style, title, words }) {
      const visitor = withWords(yield* visitors.current, words)
      const visit = yield* visitOf(visitor, {}, false)
      const head = html`${style === undefined ? "" : html`<link rel="stylesheet" href="${style}">`}${
        embedding === undefined ? "" : html`<link rel="alternate" type="application/json+oembed" href="${embedding}">`
      }`
      const response = yield* framed(visit, { title, body: html`<div class="prose">${body}</div>`, status, head })
      // Visitors get no cookie from a page without forms.
      return visitor.session === undefined ? response : visitor.remember(response)
    })
  })

  return Context.make(MemberFrame, member).pipe(Context.add(PublicFrame, open))
})

/** Provides the frames of members' and of public pages to pages outside of the web client. */
export const layer = Layer.effectContext(make).pipe(
  Layer.provide([ClientScripts.layer, Visitors.layer])
)
