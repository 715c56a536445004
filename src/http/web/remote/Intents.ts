import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import * as LocalUrls from "../../../services/discovery/LocalUrls.ts"
import { RemoteLookup } from "../../../services/federation/RemoteLookup.ts"
import { Accounts } from "../../../services/identity/Accounts.ts"
import { Handles } from "../../../services/identity/Handles.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { redirect } from "../../html/HtmlPage.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { profilePath, statusPath } from "../status/StatusText.ts"

/** Maximum characters of an address from another site. */
const addressCharactersMax = 2_048

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const config = yield* ServerConfig
  const handles = yield* Handles
  const lookup = yield* RemoteLookup
  const pages = yield* WebPages
  const statuses = yield* StatusViews
  const views = yield* AccountViews

  /** Returns our page of a profile or post that is named by its URL or handle. */
  const pathOf = Effect.fnUntraced(function*({ viewer }: MemberVisit, text: string) {
    const local = LocalUrls.parse(config, text)
    if (local !== undefined) {
      const profile = profilePath((yield* handles.find(local.name)).username)
      return local.kind === "account" ? profile : `${profile}/${local.id}`
    }
    if (!LocalUrls.isUrl(text)) {
      const known = yield* accounts.lookup(text).pipe(Effect.catch(() => Effect.undefined))
      if (known !== undefined) return profilePath(read(yield* views.renderOne(known)).acct)
    }
    const found = yield* lookup.resolve(viewer, text)
    if (found === undefined) return yield* new RecordNotFound()
    return found.kind === "account"
      ? profilePath(read(yield* views.renderOne(found.id)).acct)
      : statusPath(read(yield* statuses.renderOne(viewer, found.id)))
  })

  const interaction = pages.member(Effect.fnUntraced(function*(visit) {
    const given = visit.query.get("uri") ?? visit.query.get("acct") ?? ""
    const text = given.trim().replace(/^acct:/, "")
    if (text === "" || text.length > addressCharactersMax) return yield* new RecordNotFound()
    return redirect(visit.reader.way(yield* pathOf(visit, text)))
  }))

  /** Leads links of the schemes `web+mastodon:` and `web+ap:` to the page that they ask for. */
  const intent = pages.anyone(Effect.fnUntraced(function*({ query, reader: { way } }) {
    const url = URL.parse((query.get("uri") ?? "").slice(0, addressCharactersMax))
    if (url === null || (url.protocol !== "web+mastodon:" && url.protocol !== "web+ap:")) {
      return yield* new RecordNotFound()
    }
    const { host, pathname, protocol, search, searchParams } = url
    switch (host) {
      case "follow":
        return redirect(
          way(`/authorize_interaction?${new URLSearchParams({ uri: searchParams.get("uri") ?? "" })}`)
        )
      case "share":
        return redirect(way(`/share?${new URLSearchParams({ text: searchParams.get("text") ?? "" })}`))
      default:
        // `web+ap:` names an object by its URL without the scheme.
        if (protocol !== "web+ap:") return yield* new RecordNotFound()
        return redirect(
          way(`/authorize_interaction?${new URLSearchParams({ uri: `https://${host}${pathname}${search}` })}`)
        )
    }
  }))

  return Layer.mergeAll(
    HttpRouter.add("GET", "/authorize_interaction", interaction),
    HttpRouter.add("GET", "/intent", intent)
  )
})

/** `/authorize_interaction` and `/intent`: other sites send our members here to follow and reply. */
export const layer = Layer.unwrap(make).pipe(Layer.provide([AccountViews.layer, StatusViews.layer]))
