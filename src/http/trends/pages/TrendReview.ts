import { Effect, Layer } from "effect"
import { type OffsetPage, offsetPageOf } from "../../../services/database/Paging.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { TagWriter } from "../../../services/statuses/TagWriter.ts"
import { LinkRecords } from "../../../services/trends/LinkRecords.ts"
import { TrendCandidates } from "../../../services/trends/TrendCandidates.ts"
import { TrendReviews, type TrendSubject } from "../../../services/trends/TrendReviews.ts"
import { type Html, html } from "../../html/Html.ts"
import { button } from "../../staff/pages/parts/Controls.ts"
import { eachChosen } from "../../staff/pages/parts/Each.ts"
import { ReportedPosts } from "../../staff/pages/parts/ReportedPosts.ts"
import {
  bulk,
  emptyList,
  pageOf,
  pager,
  rowCheckbox,
  rowsMax,
  table,
  tabs,
  total,
  urlWith
} from "../../staff/pages/parts/Tables.ts"
import { badge } from "../../staff/pages/parts/Texts.ts"
import { StaffPages } from "../../staff/pages/StaffPages.ts"
import { type Act, chosenIds, type Visit } from "../../staff/pages/StaffVisit.ts"

type Kind = "links" | "publishers" | "statuses" | "tags"

const kindOf = ({ query }: Visit): Kind =>
  (["statuses", "links", "publishers"] as const).find((one) => one === query.get("kind")) ?? "tags"

const subjectOf = (kind: Kind, id: bigint): TrendSubject =>
  kind === "tags"
    ? { kind: "tag", id }
    : kind === "statuses"
    ? { kind: "status", id }
    : kind === "links"
    ? { kind: "link", cardId: id }
    : { kind: "site", id }

const stretchIn = ({ query }: Visit): OffsetPage => {
  const offset = query.get("offset") ?? ""
  return offsetPageOf({ offset: /^\d{1,6}$/.test(offset) ? Number(offset) : 0 }, rowsMax)
}

const make = Effect.gen(function*() {
  const candidates = yield* TrendCandidates
  const links = yield* LinkRecords
  const posts = yield* ReportedPosts
  const reviews = yield* TrendReviews
  const staff = yield* StaffPages
  const tags = yield* TagWriter

  const waits = ({ words: { say } }: Visit, requiresReview: boolean): Html =>
    requiresReview ? badge(say("Pending review"), "warn") : badge(say("Reviewed"))
  const decided = ({ words: { say } }: Visit, trendable: boolean | null): Html =>
    trendable === null
      ? badge(say("Pending review"), "warn")
      : trendable
      ? badge(say("Can trend"), "good")
      : badge(say("Cannot trend"), "bad")

  const tagList = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    const found = yield* candidates.tags(stretchIn(visit))
    const known = new Map((yield* tags.load(found.map(({ id }) => id))).map((tag) => [tag.id, tag]))
    const rows = found.flatMap(({ id }) => {
      const tag = known.get(id)
      return tag === undefined ? [] : [[
        rowCheckbox(id, say("Select {name}", { name: tag.name })),
        html`<a href="/admin/tags/${String(id)}">#<bdi>${tag.displayName}</bdi></a>`,
        decided(visit, tag.trendable)
      ]]
    })
    return { count: rows.length, list: table([say("Selected"), say("Hashtag"), say("State")], rows, say("Hashtags")) }
  })

  const linkList = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { figure, say } } = visit
    const found = yield* candidates.links(stretchIn(visit))
    const records = new Map((yield* links.load(found.map(({ id }) => id))).map((link) => [link.id, link]))
    const rows = found.flatMap(({ id, requiresReview }) => {
      const link = records.get(id)
      if (link === undefined) return []
      const { card: { card, url }, history } = link
      const title = card?.title ?? url
      return [[
        rowCheckbox(id, say("Select {name}", { name: title })),
        html`<bdi>${title}</bdi><span class="hint">${url}</span>`,
        figure(history.reduce((sum, { accounts }) => sum + Number(accounts), 0)),
        waits(visit, requiresReview)
      ]]
    })
    return {
      count: rows.length,
      list: table([say("Selected"), say("Link"), say("People this week"), say("State")], rows, say("Links"))
    }
  })

  const statusList = Effect.fnUntraced(function*(visit: Visit) {
    const found = yield* candidates.statuses(stretchIn(visit))
    return { count: found.length, list: yield* posts.show(visit.words, found.map(({ id }) => id), true, true) }
  })

  const publisherList = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    const found = yield* candidates.publishers(pageOf(visit))
    const rows = found.map(({ id, site, trendable }) => [
      rowCheckbox(id, say("Select {name}", { name: site })),
      site,
      decided(visit, trendable)
    ])
    return {
      count: rows.length,
      list: html`${table([say("Selected"), say("Publisher"), say("State")], rows, say("Publishers"))}`,
      pages: pager(visit, found.map(({ id }) => id))
    }
  })

  const further = (visit: Visit, count: number): Html => {
    const { offset } = stretchIn(visit)
    const { words: { say } } = visit
    if (offset === 0 && count < rowsMax) return html``
    return html`<nav class="pager" aria-label="${say("Pages")}">${
      offset === 0
        ? ""
        : html`<a href="${urlWith(visit, { offset: String(Math.max(0, offset - rowsMax)) })}" rel="prev">${
          say("← Higher")
        }</a>`
    }${
      count < rowsMax
        ? ""
        : html`<a href="${urlWith(visit, { offset: String(offset + rowsMax) })}" rel="next">${say("Lower →")}</a>`
    }</nav>`
  }

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say } } = visit
    const kind = kindOf(visit)
    const totals = yield* candidates.totals
    const shown: { readonly count: number; readonly list: Html; readonly pages?: Html } = yield* kind === "tags"
      ? tagList(visit)
      : kind === "links"
      ? linkList(visit)
      : kind === "statuses"
      ? statusList(visit)
      : publisherList(visit)
    return {
      title: say("Trends"),
      body: html`${
        tabs(visit, "kind", [
          ["", say("Hashtags"), totals.tags],
          ["statuses", say("Posts"), totals.statuses],
          ["links", say("Links"), totals.links],
          ["publishers", say("Publishers"), totals.publishers]
        ])
      }<p class="soft">${
        kind === "publishers"
          ? say("Links of approved publishers need no review of their own.")
          : say("Ordered by rank. Rejected items are hidden from everyone.")
      }</p>${total(visit, totals[kind])}${
        shown.count === 0 ? emptyList(say("Nothing is trending at the moment.")) : bulk(
          visit,
          shown.list,
          html`${button("approve", say("Can trend"))}${button("reject", say("Cannot trend"), "danger")}${
            kind === "statuses" || kind === "links"
              ? html`${button("approveAll", ownersTexts[kind].approve(visit.words))}${
                button("rejectAll", ownersTexts[kind].reject(visit.words), "danger")
              }`
              : ""
          }`
        )
      }${shown.pages ?? further(visit, shown.count)}`
    }
  })

  const decides = (trendable: boolean): Act => ({
    run: (visit) =>
      eachChosen(
        visit,
        (id) => reviews.decide(visit.by, subjectOf(kindOf(visit), id), trendable),
        ({ say }, count) =>
          trendable
            ? say("{count, plural, one {# item} other {# items}} approved.", { count })
            : say("{count, plural, one {# item} other {# items}} rejected.", { count })
      )
  })
  /** Returns the authors or publishers of the chosen items. Hashtags have no owner, so they fail. */
  const ownersIn = Effect.fnUntraced(function*(visit: Visit) {
    const kind = kindOf(visit)
    const ids = chosenIds(visit)
    const owners = kind === "statuses" || kind === "links" ? yield* candidates.owners(kind, ids) : []
    return owners.length === 0 ? yield* validationFailed("Data can't be blank") : owners
  })

  const decideAllAct = (trendable: boolean): Act => ({
    confirm: (visit) =>
      Effect.map(ownersIn(visit), (owners) => {
        const { words: { list, say } } = visit
        const names = list(owners.map(({ label }) => label))
        return {
          title: trendable ? say("Approve everything from them?") : say("Reject everything from them?"),
          text: trendable
            ? say(
              "Everything from {names} can trend without review. You can change this at any time.",
              {
                names
              }
            )
            : say("Nothing from {names} can trend. You can change this at any time.", {
              names
            }),
          button: trendable ? say("Approve all") : say("Reject all"),
          danger: !trendable
        }
      }),
    run: Effect.fnUntraced(function*(visit) {
      const owners = yield* ownersIn(visit)
      yield* Effect.forEach(owners, ({ subject }) => reviews.decide(visit.by, subject, trendable), { discard: true })
      const { list, say } = visit.words
      const names = list(owners.map(({ label }) => label))
      return {
        notice: trendable
          ? say("Everything from {names} can trend.", { names })
          : say("Nothing from {names} can trend any more.", { names })
      }
    })
  })

  return staff.page({
    path: "/admin/trends",
    permission: "manageTaxonomies",
    show,
    acts: {
      approve: decides(true),
      reject: decides(false),
      approveAll: decideAllAct(true),
      rejectAll: decideAllAct(false)
    }
  })
})

/** Labels of the buttons that decide for all items of an owner. */
const ownersTexts = {
  statuses: {
    approve: ({ say }: Messages) => say("Approve all posts of these accounts"),
    reject: ({ say }: Messages) => say("Reject all posts of these accounts")
  },
  links: {
    approve: ({ say }: Messages) => say("Approve all links of these publishers"),
    reject: ({ say }: Messages) => say("Reject all links of these publishers")
  }
} as const

/** Trends, and candidates that await review by staff. */
export const layer = Layer.unwrap(make).pipe(
  Layer.provide([ReportedPosts.layer, TagWriter.layer, TrendCandidates.layer])
)
