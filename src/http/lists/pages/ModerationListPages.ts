import { Effect, Layer } from "effect"
import { type ModerationList, ModerationLists } from "../../../services/lists/ModerationLists.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { type Html, html } from "../../html/Html.ts"
import { actButton, button, checkbox, form, select, textField } from "../../staff/pages/parts/Controls.ts"
import { wholeList } from "../../staff/pages/parts/RowLists.ts"
import { badge, definitions, moment, section } from "../../staff/pages/parts/Texts.ts"
import { StaffPages } from "../../staff/pages/StaffPages.ts"
import { requireId, type Visit } from "../../staff/pages/StaffVisit.ts"

const path = "/admin/moderation_lists"

const fields = (visit: Visit, list?: ModerationList): Html => {
  const { words: { say } } = visit
  return html`${
    textField(visit, { name: "name", label: say("Name"), value: list?.name ?? "", max: 100, required: true })
  }${textField(visit, { name: "url", type: "url", label: say("Address"), value: list?.url ?? "", required: true })}${
    select(visit, {
      name: "type",
      label: say("Kind"),
      value: list?.type ?? "csv",
      choices: [["csv", say("CSV file")], ["fires", say("FIRES dataset")]]
    })
  }${
    select(visit, {
      name: "list_action",
      label: say("Action for domains listed without one"),
      value: list?.action ?? "reject",
      choices: [["reject", say("Block server")], ["accept", say("Allow server")]]
    })
  }${
    textField(visit, {
      name: "priority",
      type: "number",
      label: say("Priority"),
      hint: say("If lists disagree, the one with the higher priority wins."),
      value: String(list?.priority ?? 0)
    })
  }${
    checkbox(visit, {
      name: "apply_automatically",
      label: say("Apply entries automatically"),
      hint: say("Otherwise all entries are suggested to staff."),
      checked: list?.applyAutomatically ?? false
    })
  }${
    checkbox(visit, {
      name: "retract_automatically",
      label: say("Undo automatically when the list removes an entry"),
      checked: list?.retractAutomatically ?? false
    })
  }${
    checkbox(visit, {
      name: "preserve_relationships",
      label: say("Only suggest entries that would remove follows of people here"),
      checked: list?.preserveRelationships ?? true
    })
  }${
    checkbox(visit, {
      name: "override_unattributed",
      label: say("Also change rules made by staff"),
      checked: list?.overrideUnattributed ?? false
    })
  }`
}

const wishIn = Effect.fnUntraced(function*({ form: sent }: Visit) {
  const priority = sent.get("priority")?.trim() || "0"
  if (!/^-?\d{1,9}$/.test(priority)) return yield* validationFailed("Position is invalid")
  const on = (name: string) => sent.get(name) === "yes"
  return {
    name: sent.get("name") ?? "",
    url: sent.get("url")?.trim() ?? "",
    type: sent.get("type") ?? "",
    action: sent.get("list_action") ?? "",
    priority: Number(priority),
    applyAutomatically: on("apply_automatically"),
    retractAutomatically: on("retract_automatically"),
    preserveRelationships: on("preserve_relationships"),
    overrideUnattributed: on("override_unattributed")
  }
})

const make = Effect.gen(function*() {
  const lists = yield* ModerationLists
  const staff = yield* StaffPages

  const stateOf = ({ words: { say }, words }: Visit, { error, syncedAt }: ModerationList): Html =>
    error !== null
      ? html`${badge(say("Could not be read"), "bad")}<span class="hint">${error}</span>`
      : syncedAt === null
      ? badge(say("Not read yet"), "warn")
      : html`${badge(say("Read"), "good")} ${moment(words, syncedAt)}`

  const page = staff.page({
    path: "/admin/moderation_lists",
    permission: "manageFederation",
    show: Effect.fnUntraced(function*(visit) {
      const { words: { figure, say } } = visit
      const listed = wholeList(visit, yield* lists.list, {
        caption: say("Moderation lists"),
        empty: say("This server subscribes to no lists."),
        headings: [say("List"), say("Priority"), say("Entries are applied"), say("State")],
        cells: (list) => [
          html`<a href="${path}/${String(list.id)}">${list.name}</a><span class="hint">${list.url}</span>`,
          figure(list.priority),
          list.applyAutomatically ? say("Automatically") : say("After review"),
          stateOf(visit, list)
        ]
      })
      return {
        title: say("Moderation lists"),
        body: html`<p class="row"><a href="/admin/moderation_suggestions">${say("List suggestions")}</a></p>${listed}${
          section(
            say("Subscribe to a list"),
            form(visit, html`${fields(visit)}${button("create", say("Subscribe"), "main")}`)
          )
        }`
      }
    }),
    acts: {
      create: {
        run: Effect.fnUntraced(function*(visit) {
          const { id } = yield* lists.create(visit.by, yield* wishIn(visit))
          return { notice: visit.words.say("The list will be read shortly."), to: `${path}/${id}` }
        })
      }
    }
  })

  const asked = (visit: Visit) => Effect.flatMap(requireId(visit), (id) => lists.find(id))
  const one = staff.page({
    path: "/admin/moderation_lists/:id",
    permission: "manageFederation",
    show: Effect.fnUntraced(function*(visit) {
      const { words: { say }, words } = visit
      const list = yield* asked(visit)
      return {
        title: list.name,
        body: html`${
          definitions([[say("State"), stateOf(visit, list)], [say("Since"), moment(words, list.createdAt)]])
        }<div class="row top">${actButton(visit, "sync", say("Read it now"))}${
          actButton(visit, "remove", say("Unsubscribe from the list"), { kind: "danger" })
        }</div>${
          section(say("List"), form(visit, html`${fields(visit, list)}${button("save", say("Save"), "main")}`))
        }<p><a href="${path}">${say("Moderation lists")}</a></p>`
      }
    }),
    acts: {
      save: {
        run: Effect.fnUntraced(function*(visit) {
          yield* lists.update(visit.by, yield* requireId(visit), yield* wishIn(visit))
          return { notice: visit.words.say("The list was changed and will be read again shortly.") }
        })
      },
      sync: {
        run: Effect.fnUntraced(function*(visit) {
          yield* lists.scheduleSync(yield* requireId(visit))
          return { notice: visit.words.say("The list will be read shortly.") }
        })
      },
      remove: {
        confirm: (visit) =>
          Effect.map(asked(visit), ({ name }) => ({
            title: visit.words.say("Unsubscribe from {name}?", { name }),
            text: visit.words.say("Its blocks are removed. Follows that they removed are not restored."),
            button: visit.words.say("Unsubscribe from the list"),
            danger: true
          })),
        run: Effect.fnUntraced(function*(visit) {
          yield* lists.remove(visit.by, yield* requireId(visit))
          return { notice: visit.words.say("The subscription was removed."), to: path }
        })
      }
    }
  })
  return Layer.merge(page, one)
})

/** Third-party blocklists that this server subscribes to. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(ModerationLists.layer))
