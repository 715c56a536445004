import { Clock, Effect, Layer } from "effect"
import { parseId } from "../../../services/database/Ids.ts"
import {
  type Filter,
  filterActions,
  filterContexts,
  filterKeywordCharactersMax,
  filterTitleCharactersMax
} from "../../../services/filters/Filter.ts"
import type { FilterChange, KeywordChange } from "../../../services/filters/FilterChanges.ts"
import { Filters } from "../../../services/filters/Filters.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { RecordNotFound, validationFailed } from "../../../services/runtime/Errors.ts"
import { hidden } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { StatusViews } from "../../render/StatusViews.ts"
import { filterIn } from "../../v1/FilterRoutes.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { feedOf } from "../status/ArticleFeed.ts"
import type { Filled } from "./Filled.ts"
import { checkBox, checkBoxes, choice, form, textArea, textField } from "./FormFields.ts"
import * as SettingPages from "./SettingPages.ts"

const path = "/settings/filters"
/** Durations that the form offers, in seconds. */
const durations = [1_800, 3_600, 21_600, 43_200, 86_400, 604_800] as const
/** Maximum filtered posts shown. */
const postsMax = 40

const contextLabels = ({ say }: Messages): Readonly<Record<typeof filterContexts[number], string>> => ({
  home: say("Home and lists"),
  notifications: say("Notifications"),
  public: say("Public timelines"),
  thread: say("Conversations"),
  account: say("Profiles")
})

const actionLabels = ({ say }: Messages): Readonly<Record<typeof filterActions[number], string>> => ({
  warn: say("Hide with a warning"),
  hide: say("Hide completely"),
  blur: say("Hide media with a warning")
})

/** Renders the fields of a filter, or of a new one. */
const fields = (visit: MemberVisit, filled: Filled, filter: Filter | undefined, now: number): Html => {
  const { words: { moment, say }, words } = visit.reader
  const [contexts, actions] = [contextLabels(words), actionLabels(words)]
  const expiresAt = filter?.expiresAt ?? null
  const ended = expiresAt !== null && expiresAt.getTime() <= now
  return html`${
    textField("title", say("Title"), filled.text("title", filter?.title ?? ""), {
      required: true,
      max: filterTitleCharactersMax
    })
  }
${
    checkBoxes(
      "contexts",
      say("Where it applies"),
      filled.all("contexts", filter?.contexts ?? filterContexts),
      filterContexts.map((context) => [context, contexts[context]])
    )
  }
${
    choice(
      "action",
      say("What happens to matching posts"),
      filled.text("action", filter?.action ?? "warn"),
      filterActions.map((action) => [action, actions[action]])
    )
  }
${
    choice("expires_in", say("Expires after"), filled.text("expires_in", expiresAt === null ? "" : "keep"), [
      ["", say("Never expires")],
      ...(expiresAt === null
        ? []
        : [
          [
            "keep",
            ended
              ? say("Ended on {moment}", { moment: moment(expiresAt) })
              : say("Ends on {moment}", { moment: moment(expiresAt) })
          ] as const
        ]),
      ...durations.map((seconds) =>
        [
          String(seconds),
          say("{minutes, plural, one {# minute} other {# minutes}}", { minutes: seconds / 60 })
        ] as const
      )
    ])
  }
${
    (filter?.keywords ?? []).map(({ id, keyword, wholeWord }) =>
      html`<fieldset><legend>${say("Keyword or phrase")}</legend><div class="row">${
        textField(`keyword_${id}`, say("Keyword or phrase"), filled.text(`keyword_${id}`, keyword), {
          max: filterKeywordCharactersMax
        })
      }${checkBox(`whole_${id}`, say("Whole word"), filled.isOn(`whole_${id}`, wholeWord))}${
        checkBox(`remove_${id}`, say("Remove"), filled.isOn(`remove_${id}`, false))
      }</div></fieldset>`
    )
  }
${
    textArea("keywords", say("New keywords or phrases"), filled.text("keywords", ""), {
      rows: 3,
      hint: say("One per line.")
    })
  }
${checkBox("whole", say("Match whole words only"), filled.isOn("whole", true))}`
}

/** Returns the changes of a filter that a form asks for. */
const changeOf = Effect.fnUntraced(function*(sent: URLSearchParams, filter?: Filter) {
  const wish = sent.get("expires_in") ?? ""
  const seconds = durations.find((one) => String(one) === wish)
  if (seconds === undefined && !["", "keep"].includes(wish)) {
    return yield* validationFailed("Expires in is not included in the list")
  }
  const older = (filter?.keywords ?? []).map(({ id, keyword }): KeywordChange => ({
    id,
    keyword: sent.get(`keyword_${id}`) ?? keyword,
    wholeWord: sent.has(`whole_${id}`),
    remove: sent.has(`remove_${id}`)
  }))
  const added = (sent.get("keywords") ?? "").split(/\r?\n/).map((keyword) => keyword.trim()).filter((keyword) =>
    keyword !== ""
  ).map((keyword): KeywordChange => ({ keyword, wholeWord: sent.has("whole") }))
  const change: FilterChange = {
    title: sent.get("title") ?? "",
    contexts: sent.getAll("contexts"),
    action: sent.get("action") ?? "",
    expiresIn: wish === "keep" ? undefined : seconds ?? null,
    keywords: [...older, ...added]
  }
  return change
})

const make = Effect.gen(function*() {
  const filters = yield* Filters
  const page = yield* SettingPages.make
  const views = yield* StatusViews

  const removal = (visit: MemberVisit, filter: Filter) =>
    form(visit, hidden("id", String(filter.id)), {
      act: "remove",
      button: visit.reader.words.say("Delete"),
      danger: true,
      label: visit.reader.words.say("Delete the filter {title}", { title: filter.title })
    })

  const list = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    const { way, words: { list, say }, words } = visit.reader
    const now = yield* Clock.currentTimeMillis
    const [contexts, actions] = [contextLabels(words), actionLabels(words)]
    const all = yield* filters.list(visit.viewer)
    return html`<ul class="apps">${
      all.map((filter) =>
        html`<li><div class="row"><h2><a href="${way(`${path}/${filter.id}`)}" dir="auto">${filter.title}</a></h2>${
          removal(visit, filter)
        }</div>
<p>${actions[filter.action]} · ${list(filter.contexts.map((context) => contexts[context]))}${
          filter.expiresAt !== null && filter.expiresAt.getTime() <= now ? html` · ${say("Expired")}` : ""
        }</p>
<p>${say("{count, plural, one {# keyword} other {# keywords}}", { count: filter.keywords.length })} · ${
          say("{count, plural, one {# post} other {# posts}}", { count: filter.statuses.length })
        }</p></li>`
      )
    }</ul>
<h2>${say("New filter")}</h2>
${form(visit, fields(visit, filled, undefined, now), { act: "create", button: say("Create filter") })}`
  })

  const one = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    const { words: { say } } = visit.reader
    const now = yield* Clock.currentTimeMillis
    const filter = yield* filterIn(yield* filters.list(visit.viewer), parseId(visit.params["id"]) ?? 0n)
    const statuses = filter.statuses.slice(0, postsMax)
    const shown = yield* views.render(visit.viewer, statuses.map(({ statusId }) => statusId), "permitted")
    return html`${form(visit, fields(visit, filled, filter, now), { act: "save", button: say("Save changes") })}
${removal(visit, filter)}
${
      statuses.length === 0 ? "" : html`<h2>${say("Filtered posts")}</h2>
${yield* feedOf(visit, say("Filtered posts"), shown)}
<ul class="apps">${
        statuses.map((entry, at) =>
          html`<li>${
            form(visit, hidden("entry", String(entry.id)), {
              act: "removePost",
              button: say("Remove post {number} from the filter", { number: at + 1 })
            })
          }</li>`
        )
      }</ul>`
    }`
  })

  const remove = Effect.fnUntraced(function*({ reader: { words }, viewer }: MemberVisit, sent: URLSearchParams) {
    yield* filters.remove(viewer, parseId(sent.get("id")) ?? 0n)
    return { to: path, notice: words.say("The filter was deleted.") }
  })

  return Layer.mergeAll(
    page({
      path,
      title: ({ say }) => say("Filters"),
      show: list,
      acts: {
        create: Effect.fnUntraced(function*({ viewer }, sent) {
          const { id } = yield* filters.create(viewer, yield* changeOf(sent))
          return { to: `${path}/${id}` }
        }),
        remove
      }
    }),
    page({
      path: `${path}/:id`,
      title: ({ say }) => say("Filter"),
      show: one,
      acts: {
        save: Effect.fnUntraced(function*(visit, sent) {
          const id = parseId(visit.params["id"]) ?? 0n
          yield* filters.update(visit.viewer, (all) =>
            Effect.gen(function*() {
              const filter = yield* filterIn(all, id)
              return [filter, yield* changeOf(sent, filter)] as const
            }))
        }),
        remove,
        removePost: ({ viewer }, sent) => {
          const entry = parseId(sent.get("entry"))
          return entry === undefined ? Effect.fail(new RecordNotFound()) : filters.removeStatus(viewer, entry)
        }
      }
    })
  )
})

/** The member's filters: list, new filter, keywords, and filtered posts. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(StatusViews.layer))
