import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import { parseId } from "../../../services/database/Ids.ts"
import type { Page } from "../../../services/database/Paging.ts"
import { TimelineAccess } from "../../../services/feeds/TimelineAccess.ts"
import { Timelines } from "../../../services/feeds/Timelines.ts"
import { lineOfHtml } from "../../../services/html/TextLine.ts"
import { Accounts } from "../../../services/identity/Accounts.ts"
import { isValid } from "../../../services/identity/Usernames.ts"
import { Instance } from "../../../services/instance/Instance.ts"
import { InstancePolicies } from "../../../services/instance/InstancePolicies.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import * as Urls from "../../../services/instance/Urls.ts"
import { type ClientError, RecordNotFound, Unauthorized } from "../../../services/runtime/Errors.ts"
import { momentOf } from "../../../services/runtime/Moments.ts"
import { AccountStatuses } from "../../../services/statuses/AccountStatuses.ts"
import { Tags } from "../../../services/statuses/Tags.ts"
import { isKnown } from "../../guard/EntityTags.ts"
import { ExpensiveReads } from "../../guard/ExpensiveReads.ts"
import * as Reply from "../../guard/Reply.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { statusRows } from "../../render/PageSizes.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { read } from "../../wire/Keys.ts"
import { closedTags, tagSelection } from "../hashtags/Selection.ts"
import { plainName, type ShownStatus } from "../status/StatusText.ts"
import { descriptionCharactersMax } from "../threads/PreviewTags.ts"
import { type Feed, itemsOf, updatedOf } from "./Feed.ts"
import { eachFormat, feedPath, type Format, formats } from "./Formats.ts"

/** Time for which readers and caches may keep a feed, in seconds. */
const feedSeconds = 300

type Shown = Omit<Feed, "self" | "next" | "items" | "updated"> & {
  readonly statuses: ReadonlyArray<ShownStatus>
  /** Id from which the next page continues; undefined on the last page. */
  readonly last: bigint | undefined
}

/** Returns the last id of a full page. */
const lastOf = ({ limit }: Page, ids: ReadonlyArray<bigint>): bigint | undefined =>
  ids.length < limit ? undefined : ids.at(-1)

const make = Effect.gen(function*() {
  const access = yield* TimelineAccess
  const accounts = yield* Accounts
  const config = yield* ServerConfig
  const instance = yield* Instance
  const policies = yield* InstancePolicies
  const published = yield* AccountStatuses
  const reads = yield* ExpensiveReads
  const statuses = yield* StatusViews
  const tags = yield* Tags
  const timelines = yield* Timelines
  const views = yield* AccountViews

  const respond = (format: Format, feed: Feed) =>
    Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
      const text = formats[format].write(feed)
      const tag = `"${hash("sha1", text, "base64url")}"`
      const common = {
        "cache-control": `public, max-age=${feedSeconds}`,
        etag: `W/${tag}`,
        "last-modified": feed.updated.toUTCString(),
        "content-security-policy": "default-src 'none'",
        "x-content-type-options": "nosniff"
      }
      const since = headers["if-none-match"] === undefined ? momentOf(headers["if-modified-since"]) : undefined
      return isKnown(headers, tag) ||
          (since !== undefined && Math.floor(feed.updated.getTime() / 1_000) * 1_000 <= since)
        ? HttpServerResponse.empty({ status: 304, headers: common })
        : HttpServerResponse.text(text, {
          contentType: `${formats[format].type}; charset=utf-8`,
          headers: common
        })
    })

  /** Serves a feed of what visitors may read, whoever asks: feed readers have no session. */
  const serve = (
    format: Format,
    closed: Effect.Effect<boolean>,
    show: (name: string, page: Page) => Effect.Effect<Shown, ClientError>
  ) =>
    Effect.gen(function*() {
      if (yield* closed) return yield* new Unauthorized({ reason: "invalid" })
      const { url } = yield* HttpServerRequest.HttpServerRequest
      const { name = "" } = yield* HttpRouter.params
      const maxId = parseId(new URLSearchParams(url.split("?")[1] ?? "").get("max_id"))
      const { last, statuses, ...shown } = yield* reads.within(show(name, { maxId, limit: statusRows }))
      const items = itemsOf(config, statuses)
      const path = feedPath(shown.home, format)
      return yield* respond(format, {
        ...shown,
        self: maxId === undefined ? path : `${path}?max_id=${maxId}`,
        next: last === undefined ? undefined : `${path}?max_id=${last}`,
        updated: updatedOf(items),
        items
      })
    }).pipe(Effect.catch((error: ClientError) => Effect.succeed(Reply.error(error))))

  const ofAccount = Effect.fnUntraced(function*(name: string, page: Page) {
    if (!isValid(name)) return yield* new RecordNotFound()
    const id = yield* accounts.lookup(name)
    const account = read(yield* views.renderOne(id))
    const selection = {
      onlyMedia: false,
      excludeReplies: true,
      excludeReblogs: true,
      excludeDirect: true,
      tagged: undefined
    }
    const ids = yield* published.page(undefined, id, selection, page)
    return {
      title: `${plainName(account)} (@${account.username}@${config.localDomain})`,
      description: lineOfHtml(account.note, descriptionCharactersMax),
      home: Urls.profile(config, account.username),
      icon: account.avatarStatic,
      statuses: (yield* statuses.render(undefined, ids, "permitted", "account")).map((one) => read(one)),
      last: lastOf(page, ids)
    }
  })

  const ofTag = Effect.fnUntraced(function*(written: string, page: Page) {
    const { name } = yield* tags.find(written)
    const selection = yield* access.narrow(undefined, "hashtagFeeds", tagSelection(name))
    const ids = selection === undefined ? [] : yield* timelines.tagged(undefined, selection, page)
    const { title } = yield* instance.about
    return {
      title: `#${name} · ${title}`,
      description: `#${name}`,
      home: Urls.tag(config, name),
      icon: undefined,
      statuses: (yield* statuses.render(undefined, ids, "permitted", "public")).map((one) => read(one)),
      last: lastOf(page, ids)
    }
  })

  return Layer.mergeAll(
    Layer.empty,
    ...eachFormat((format) =>
      Layer.merge(
        HttpRouter.add(
          "GET",
          `/@:name/feed.${format}`,
          serve(format, Effect.succeed(config.limitedFederation), ofAccount)
        ),
        HttpRouter.add("GET", `/tags/:name/feed.${format}`, serve(format, closedTags(policies), ofTag))
      )
    )
  )
})

/** Feeds of profiles and hashtags in RSS, Atom and JSON; paths as in GoToSocial. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([AccountViews.layer, ExpensiveReads.layer, StatusViews.layer])
)
