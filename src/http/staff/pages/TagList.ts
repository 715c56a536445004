import { Effect, Layer } from "effect"
import type { Page } from "../../../services/database/Paging.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { tagStates, TagWriter } from "../../../services/statuses/TagWriter.ts"
import { html } from "../../html/Html.ts"
import { button, checkbox, form, textField } from "./parts/Controls.ts"
import { pagedList } from "./parts/RowLists.ts"
import { filters, filterText, tabs } from "./parts/Tables.ts"
import { badge, definitions, moment, section } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { requireId, type Visit } from "./StaffVisit.ts"

const path = "/admin/tags"

const make = Effect.gen(function*() {
  const staff = yield* StaffPages
  const tags = yield* TagWriter

  const asked = Effect.fnUntraced(function*(visit: Visit) {
    const [found] = yield* tags.load([yield* requireId(visit)])
    return found ?? (yield* new RecordNotFound())
  })

  const list = staff.page({
    path: "/admin/tags",
    permission: "manageTaxonomies",
    show: Effect.fnUntraced(function*(visit) {
      const { query, words: { say }, words } = visit
      const tagQuery = {
        name: query.get("name")?.trim().replace(/^[#＃]/, "") || undefined,
        state: tagStates.find((one) => one === query.get("state"))
      }
      const source = { page: (page: Page) => tags.list(tagQuery, page), total: tags.total(tagQuery) }
      const list = yield* pagedList(visit, source, {
        caption: say("Hashtags"),
        empty: say("No hashtags match."),
        headings: [say("Hashtag"), say("State"), say("Reviewed")],
        cells: (tag) => [
          html`<a href="${path}/${String(tag.id)}">#<bdi>${tag.displayName}</bdi></a>`,
          html`${tag.usable ? "" : badge(say("Not usable"), "bad")}${
            tag.listable ? "" : html` ${badge(say("Not searchable"), "warn")}`
          }${tag.trendable === true ? html` ${badge(say("Can trend"), "good")}` : ""}${
            tag.trendable === false ? html` ${badge(say("Cannot trend"), "bad")}` : ""
          }`,
          moment(words, tag.reviewedAt)
        ]
      })
      return {
        title: say("Hashtags"),
        body: html`${
          tabs(visit, "state", [
            ["", say("All")],
            ["unreviewed", say("Unreviewed")],
            ["trendable", say("Can trend")],
            ["refused", say("Cannot trend")],
            ["unusable", say("Not usable")]
          ])
        }${filters(visit, filterText(visit, "name", say("Name begins with")))}${list}`
      }
    })
  })

  const one = staff.page({
    path: "/admin/tags/:id",
    permission: "manageTaxonomies",
    show: Effect.fnUntraced(function*(visit) {
      const { words: { say }, words } = visit
      const tag = yield* asked(visit)
      return {
        title: `#${tag.displayName}`,
        body: html`${
          section(
            say("Hashtag"),
            html`${definitions([[say("Reviewed"), moment(words, tag.reviewedAt)]])}${
              form(
                visit,
                html`${
                  textField(visit, {
                    name: "display_name",
                    label: say("Display name of the hashtag"),
                    hint: say("Only upper and lower case can be changed."),
                    value: tag.displayName
                  })
                }${checkbox(visit, { name: "usable", label: say("Posts can use it"), checked: tag.usable })}${
                  checkbox(visit, { name: "listable", label: say("Appears in search"), checked: tag.listable })
                }${
                  checkbox(visit, {
                    name: "trendable",
                    label: say("Can appear in trends"),
                    checked: tag.trendable === true
                  })
                }${button("save", say("Save"), "main")}`
              )
            }`
          )
        }<p class="row"><a href="/tags/${encodeURIComponent(tag.name)}">${
          say("Posts with this hashtag")
        }</a> <a href="/admin/measures?tag=${String(tag.id)}">${say("Statistics")}</a></p>`
      }
    }),
    acts: {
      save: {
        run: Effect.fnUntraced(function*(visit) {
          const { form: sent } = visit
          const before = yield* asked(visit)
          yield* tags.change(visit.by, before.id, {
            displayName: sent.get("display_name")?.trim() || undefined,
            usable: sent.get("usable") === "yes",
            listable: sent.get("listable") === "yes",
            trendable: sent.get("trendable") === "yes"
          })
          const flags = { usable: before.usable, listable: before.listable, trendable: before.trendable === true }
          return {
            notice: visit.words.say("The hashtag was changed."),
            undo: {
              path: visit.path,
              act: "save",
              fields: {
                ["display_name"]: before.displayName,
                ...Object.fromEntries(Object.entries(flags).filter(([, on]) => on).map(([name]) => [name, "yes"]))
              }
            }
          }
        })
      }
    }
  })
  return Layer.merge(list, one)
})

/** Hashtags: whether they may be used, searched and may trend. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(TagWriter.layer))
