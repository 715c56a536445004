import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { sanitise } from "../../services/html/Sanitise.ts"
import { type AccountRecord, Accounts } from "../../services/identity/Accounts.ts"
import { picturesOf } from "../../services/identity/PictureAddresses.ts"
import { isValid } from "../../services/identity/Usernames.ts"
import { CustomEmojis } from "../../services/instance/CustomEmojis.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { Messages } from "../../services/languages/Messages.ts"
import { AccountStatuses } from "../../services/statuses/AccountStatuses.ts"
import { bounded } from "../../services/text/BoundedText.ts"
import { ActorDocuments } from "../activitypub/Actors.ts"
import { byType } from "../activitypub/DocumentResponse.ts"
import { parameters } from "../html/Forms.ts"
import { type Html, html, raw } from "../html/Html.ts"
import { subscribingPath } from "../html/PagePaths.ts"
import { statusRows } from "../render/PageSizes.ts"
import { type Finder, withEmojis } from "./EmojiText.ts"
import { cursorOf, older } from "./OlderLink.ts"
import { list, nameOf, Posts } from "./Posts.ts"
import { PublicPages } from "./PublicPages.ts"

const make = Effect.gen(function*() {
  const accounts = yield* Accounts
  const actors = yield* ActorDocuments
  const config = yield* ServerConfig
  const emojis = yield* CustomEmojis
  const pages = yield* PublicPages
  const posts = yield* Posts
  const published = yield* AccountStatuses

  const selection = {
    onlyMedia: false,
    excludeReplies: true,
    excludeReblogs: false,
    excludeDirect: true,
    tagged: undefined
  }

  const profile = Effect.gen(function*() {
    const { name = "", tag } = yield* HttpRouter.params
    if (!isValid(name)) return yield* pages.notFound
    const id = yield* accounts.lookup(name)
    const account = (yield* accounts.load([id])).find((record) => record.id === id)
    if (account === undefined || account.domain !== null) return yield* pages.notFound
    const reader = yield* pages.reader
    const { words } = reader
    const { pieces, say } = words
    const maxId = cursorOf((yield* parameters).get("max_id"))
    const ids = yield* published.page(undefined, id, { ...selection, tagged: tag }, { maxId, limit: statusRows })
    const pinned = maxId === undefined && tag === undefined
      ? yield* posts.show(words, yield* published.pinned(undefined, id))
      : []
    const last = ids.length === statusRows ? ids.at(-1) : undefined
    const shown = yield* posts.show(words, ids)
    return pages.respond({
      words,
      title: nameOf(account),
      body: html`
${head(config, words, account, yield* emojis.finder)}
${
        config.emailSubscriptions && account.emailSubscriptions
          ? html`<p><a href="${reader.way(subscribingPath(account.username))}">${say("Posts by email")}</a></p>`
          : ""
      }
${pinned.length === 0 ? "" : html`<h2>${say("Pinned")}</h2>${list(pinned)}`}
<h2>${tag === undefined ? say("Posts") : pieces("Posts tagged {tag}", { tag: html`<bdi>#${tag}</bdi>` })}</h2>
${shown.length === 0 ? html`<p class="soft">${say("There are no public posts yet.")}</p>` : list(shown)}
${older(reader, last)}`
    })
  }).pipe(
    Effect.catchTags({
      RecordNotFound: () => pages.notFound,
      Gone: () => pages.gone
    })
  )

  const document = Effect.flatMap(HttpRouter.params, ({ name = "" }) => actors.answer(name))
  const page = pages.guarded(config.limitedFederation, profile)
  return Layer.merge(
    HttpRouter.add("GET", "/@:name", byType(document, page)),
    HttpRouter.add("GET", "/@:name/tagged/:tag", page)
  )
})

/** Renders the profile; follower counts only if their owner does not hide them (row 60). */
const head = (
  config: ServerConfig["Service"],
  { month, say }: Messages,
  account: AccountRecord,
  named: Finder
): Html => {
  const pictures = picturesOf(config, account)
  return html`
<p class="soft">@${account.username}@${config.localDomain}${account.bot ? ` · ${say("automated")}` : ""}</p>
<img class="banner" src="${pictures.headerStatic}" alt="${account.headerDescription}">
<div class="who"><img src="${pictures.avatar}" alt="${account.avatarDescription}" width="88" height="88"></div>
${account.movedToId === null ? "" : html`<p class="problem">${say("This account has moved to another one.")}</p>`}
<div class="content" dir="auto">${withEmojis(raw(sanitise(bounded(account.noteHtml))), named)}</div>
${
    account.fields.length === 0
      ? ""
      : html`<dl class="fields">${
        account.fields.map(({ html: value, name }) =>
          html`<div><dt dir="auto">${name}</dt><dd dir="auto">${
            withEmojis(raw(sanitise(bounded(value))), named)
          }</dd></div>`
        )
      }</dl>`
  }
<p class="soft">${
    [
      say("{count, plural, one {# post} other {# posts}}", { count: account.statusesCount }),
      ...(account.hideCollections === true ? [] : [
        say("{count, plural, one {# follower} other {# followers}}", { count: account.followersCount }),
        say("{count, number} following", { count: account.followingCount })
      ]),
      say("here since {month}", { month: month(account.createdAt) })
    ].join(" · ")
  }</p>`
}

/**
 * `/@name`: a local account and its public posts, all of them or those with a hashtag; serves the account's document if
 * `Accept` asks for it.
 */
export const layer = Layer.unwrap(make)
