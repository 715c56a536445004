import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AnnualReports } from "../../services/annual/AnnualReports.ts"
import { ShareKeys } from "../../services/annual/ShareKeys.ts"
import { Accounts } from "../../services/identity/Accounts.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import type { Messages } from "../../services/languages/Messages.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { html } from "../html/Html.ts"
import { list, Posts } from "./Posts.ts"
import { PublicPages } from "./PublicPages.ts"

const make = Effect.gen(function*() {
  const { limitedFederation, localDomain } = yield* ServerConfig
  const accounts = yield* Accounts
  const keys = yield* ShareKeys
  const pages = yield* PublicPages
  const posts = yield* Posts
  const reports = yield* AnnualReports

  const page = Effect.gen(function*() {
    const { key = "", name = "", year: digits = "" } = yield* HttpRouter.params
    if (!/^\d{4}$/.test(digits) || !/^\w+$/.test(name)) return yield* new RecordNotFound()
    const year = Number(digits)
    const account = yield* accounts.lookup(name)
    if (!keys.opens(account, year, key)) return yield* new RecordNotFound()
    const { timeSeries, topHashtags, topStatuses, typeDistribution } = yield* reports.find(account, year)
    const { way, words } = yield* pages.reader
    const best = topStatuses.byReblogs ?? topStatuses.byFavourites ?? topStatuses.byReplies
    const shown = yield* posts.show(words, best === null ? [] : [BigInt(best)])
    const followers = timeSeries.reduce((sum, month) => sum + month.followers, 0)
    return yield* pages.respond({
      words,
      title: words.say("{year} in review: {account}", { year: digits, account: `@${name}@${localDomain}` }),
      body: html`
<dl class="figures">
${figure(words, typeDistribution.standalone, words.say("original posts"))}
${figure(words, typeDistribution.replies, words.say("replies"))}
${figure(words, typeDistribution.reblogs, words.say("boosts"))}
${figure(words, followers, words.say("new followers"))}
</dl>
${
        topHashtags.length === 0
          ? ""
          : html`<h2>${words.say("Hashtags")}</h2><ul class="plain">${
            topHashtags.map((tag) => html`<li><bdi>#${tag.name}</bdi> (${words.figure(tag.count)})</li>`)
          }</ul>`
      }
${shown.length === 0 ? "" : html`<h2>${words.say("Most popular post")}</h2>${list(shown)}`}
<p><a href="${way(`/@${name}`)}">${words.say("More from {account}", { account: `@${name}` })}</a></p>`
    })
  }).pipe(Effect.catchTags({ RecordNotFound: () => pages.notFound, Gone: () => pages.notFound }))

  return HttpRouter.add("GET", "/@:name/wrapstodon/:year/:key", pages.guarded(limitedFederation, page))
})

const figure = ({ figure }: Messages, value: number, label: string) =>
  html`<div><dt>${label}</dt><dd>${figure(value)}</dd></div>`

/** `/@name/wrapstodon/YEAR/KEY`: a member's annual report, for people with the link; shows only public posts. */
export const layer = Layer.unwrap(make)
