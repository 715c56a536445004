import { Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { html } from "../../html/Html.ts"
import { hasSecrets, noTransformHeaders, respond } from "../../html/HtmlPage.ts"
import { mediaSources } from "../../html/MediaSources.ts"
import { MemberFrame } from "../../html/MemberFrame.ts"
import { inSettings } from "../settings/SettingsNavigation.ts"
import { ClientScripts, memberScripts } from "./ClientScripts.ts"
import { documentOf } from "./Document.ts"
import { pageHeaders } from "./PageHeaders.ts"
import type { Visit } from "./Visit.ts"

/** Provides the frame of settings to pages outside of the web client. */
export const layer = Layer.effect(
  MemberFrame,
  Effect.gen(function*() {
    const config = yield* ServerConfig
    const scripts = yield* ClientScripts
    const media = mediaSources(config)

    return MemberFrame.of({
      respond: (visitor, path, page) => {
        const { formToken, session } = visitor
        if (session === undefined) return visitor.remember(respond(page))
        const visit: Visit = {
          reader: visitor,
          viewer: session.accountId,
          session,
          translates: false,
          formToken,
          here: path,
          path,
          query: new URLSearchParams(),
          params: {}
        }
        const status = page.status ?? 200
        const text = documentOf({
          visit,
          view: { title: page.title, ...inSettings(visit, page.body) },
          server: page.server,
          unread: 0,
          scripts: html`${scripts.tags(memberScripts)}${
            page.modules?.map((module) => html`<script type="module" src="${module}"></script>`) ?? ""
          }`,
          above: html``
        })
        return visitor.remember(HttpServerResponse.text(text, {
          status,
          contentType: "text/html; charset=utf-8",
          headers: {
            ...pageHeaders(visit, status, media),
            ...(page.secret === true || hasSecrets(text) ? noTransformHeaders : {})
          }
        }))
      }
    })
  })
).pipe(Layer.provide(ClientScripts.layer))
